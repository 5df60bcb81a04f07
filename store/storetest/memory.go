package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/history"
)

// Memory is a store in memory: a fake for tests of a store's callers, under the same
// contract as the other stores. It is safe for concurrent use, also in a synctest bubble.
//
// It runs every change twice and uses the second result, so that an impure change is
// noticed.
type Memory struct {
	mu      sync.Mutex
	kept    *kept
	changed chan struct{} // closed and replaced by every change
	closed  bool
	calls   int
	faults  map[int]fault
	broken  error
}

// kept is what survives Reopen.
type kept struct {
	seq, tokens uint64
	records     map[approval.Kind]map[string]approval.Record
	spoiled     map[recordKey]bool
	leases      map[string]loan
	leaves      []history.Leaf
	journal     []approval.JournalEntry
	// forgot counts how often entries were dropped, which makes all stretches new ones.
	forgot uint64
}

type loan struct {
	holder string
	until  time.Time
	token  uint64
}

// fault is what is to go wrong with one call.
type fault struct {
	err error
	// late says that the call does its work before it fails.
	late bool
}

// ErrClosed says that the store was closed.
var ErrClosed = errors.New("memory is closed")

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{
		kept:    &kept{records: map[approval.Kind]map[string]approval.Record{}, spoiled: map[recordKey]bool{}, leases: map[string]loan{}},
		changed: make(chan struct{}),
		faults:  map[int]fault{},
	}
}

// Calls returns the number of calls so far: each Update, Drop, Get and Lease, and each List and
// Watch that was ranged over. A test that makes each of them fail in turn counts them
// first.
func (m *Memory) Calls() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls
}

// Fail makes the n-th call from now fail with err and do nothing; 1 is the next one.
func (m *Memory) Fail(n int, err error) { m.plan(n, fault{err: err}) }

// FailLate makes the n-th call from now do its work and nevertheless fail with err, like a
// connection that is cut between the commit and its answer. A reading call fails as with
// Fail.
func (m *Memory) FailLate(n int, err error) { m.plan(n, fault{err: err, late: true}) }

func (m *Memory) plan(n int, f fault) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.faults[m.calls+n] = f
}

// Break makes every call fail with err until it is called with nil. A waiting watch ends.
func (m *Memory) Break(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.broken = err
	m.tell()
}

// Close makes every call fail with [ErrClosed], and ends watches.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		m.closed = true
		m.tell()
	}
	return nil
}

// Reopen closes m and returns a store with its contents, as a restart would.
func (m *Memory) Reopen() *Memory {
	m.Close() //nolint:errcheck // It cannot fail.
	m.mu.Lock()
	defer m.mu.Unlock()
	again := NewMemory()
	again.kept = m.kept
	return again
}

// begin counts a call and returns what is to go wrong with it. m.mu must be held.
func (m *Memory) begin(ctx context.Context) (late, err error) {
	m.calls++
	f := m.faults[m.calls]
	delete(m.faults, m.calls)
	if err := cmp.Or(ctx.Err(), m.state()); err != nil {
		return nil, err
	}
	if f.late {
		return f.err, nil
	}
	return nil, f.err
}

func (m *Memory) state() error {
	if m.closed {
		return ErrClosed
	}
	return m.broken
}

// tell wakes all watches. m.mu must be held.
func (m *Memory) tell() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// Update implements [Store].
func (m *Memory) Update(ctx context.Context, kind approval.Kind, id string, change func(approval.Record) (approval.Record, error)) (approval.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	late, err := m.begin(ctx)
	if err := cmp.Or(kind.Check(), approval.CheckName("id", id), err, m.kept.unread(kind, id)); err != nil {
		return approval.Record{}, err
	}
	old := m.kept.records[kind][id]
	_, _ = old.Change(id, change) // it runs again below
	rec, err := old.Change(id, change)
	if errors.Is(err, approval.ErrKeep) {
		return old.Clone(), late
	}
	if err != nil {
		return approval.Record{}, err
	}
	if !rec.Drop {
		if err := m.free(kind, rec); err != nil {
			return approval.Record{}, err
		}
	}
	if err := m.kept.grow(rec.Leaves); err != nil {
		return approval.Record{}, err
	}
	if rec.Drop {
		delete(m.kept.records[kind], id)
		return approval.Record{}, late
	}
	rec.Leaves = nil
	m.kept.seq++
	rec.Seq = m.kept.seq
	if !old.Exists() {
		rec.Born = rec.Seq
	}
	if m.kept.records[kind] == nil {
		m.kept.records[kind] = map[string]approval.Record{}
	}
	m.kept.records[kind][id] = rec.Clone()
	m.tell()
	if late != nil {
		return approval.Record{}, late
	}
	return rec, nil
}

// Drop implements [Store].
func (m *Memory) Drop(ctx context.Context, kind approval.Kind, read []approval.Version) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	late, err := m.begin(ctx)
	if err := cmp.Or(kind.Check(), err); err != nil {
		return err
	}
	for _, v := range read {
		if r, ok := m.kept.records[kind][v.ID]; ok && r.Seq == v.Seq && m.kept.unread(kind, v.ID) == nil {
			delete(m.kept.records[kind], v.ID)
		}
	}
	return late
}

// free returns a [*approval.KeyError] if a name of rec belongs to another record.
func (m *Memory) free(kind approval.Kind, rec approval.Record) error {
	for id, other := range m.kept.records[kind] {
		if id == rec.ID {
			continue
		}
		if slices.Contains(other.Keys, rec.ID) {
			return &approval.KeyError{Key: rec.ID, HeldBy: id}
		}
		for _, k := range rec.Keys {
			if k == id || slices.Contains(other.Keys, k) {
				return &approval.KeyError{Key: k, HeldBy: id}
			}
		}
	}
	return nil
}

// Get implements [Store].
func (m *Memory) Get(ctx context.Context, kind approval.Kind, idOrKey string) (approval.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	late, err := m.begin(ctx)
	if err := cmp.Or(kind.Check(), err, late); err != nil {
		return approval.Record{}, err
	}
	if r, ok := m.kept.records[kind][idOrKey]; ok {
		return m.kept.read(kind, r)
	}
	for _, r := range m.kept.records[kind] {
		if slices.Contains(r.Keys, idOrKey) {
			return m.kept.read(kind, r)
		}
	}
	return approval.Record{}, approval.ErrNotFound
}

// List implements [Store].
func (m *Memory) List(ctx context.Context, q approval.Query) iter.Seq2[approval.Record, error] {
	return func(yield func(approval.Record, error) bool) {
		ids, err := m.match(ctx, q)
		left := len(ids)
		if q.Limit > 0 {
			left = min(left, q.Limit)
		}
		for _, id := range ids {
			if err != nil || left == 0 {
				break
			}
			var r approval.Record
			var ok bool
			// Each record is read when its turn comes.
			if r, ok, err = m.look(ctx, q, id); err != nil || !ok {
				continue
			}
			r, unread := m.read(q.Kind, r)
			if !yield(r, unread) {
				return
			}
			if unread == nil {
				left--
			}
		}
		if err != nil {
			yield(approval.Record{}, err)
		}
	}
}

// match returns the ids of the records that the query may show, in its order.
func (m *Memory) match(ctx context.Context, q approval.Query) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	late, err := m.begin(ctx)
	if err := cmp.Or(q.Check(), err, late); err != nil {
		return nil, err
	}
	var all []approval.Record
	for id, r := range m.kept.records[q.Kind] {
		behind := q.After == 0 || q.Newest && r.Born < q.After || !q.Newest && r.Born > q.After
		if strings.HasPrefix(id, q.Prefix) && behind {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b approval.Record) int {
		if q.Newest {
			a, b = b, a
		}
		if q.Prefix != "" {
			return cmp.Compare(a.ID, b.ID)
		}
		return cmp.Compare(a.Born, b.Born)
	})
	ids := make([]string, len(all))
	for i, r := range all {
		ids[i] = r.ID
	}
	return ids, nil
}

func (m *Memory) look(ctx context.Context, q approval.Query, id string) (approval.Record, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := cmp.Or(ctx.Err(), m.state()); err != nil {
		return approval.Record{}, false, err
	}
	r, ok := m.kept.records[q.Kind][id]
	return r.Clone(), ok && (r.Open || !q.Open), nil
}

// Watch implements [Store]. It ends without an error when ctx does.
func (m *Memory) Watch(ctx context.Context, kind approval.Kind, after uint64) iter.Seq2[approval.Record, error] {
	return func(yield func(approval.Record, error) bool) {
		m.mu.Lock()
		late, err := m.begin(ctx)
		m.mu.Unlock()
		err = cmp.Or(kind.Check(), err, late)
		for ctx.Err() == nil {
			var page []approval.Record
			var news <-chan struct{}
			if err == nil {
				page, news, err = m.since(kind, after)
			}
			if err != nil {
				yield(approval.Record{}, err)
				return
			}
			for _, r := range page {
				if ctx.Err() != nil || !yield(m.read(kind, r)) {
					return
				}
				after = r.Seq
			}
			if len(page) > 0 {
				continue
			}
			select {
			case <-news:
			case <-ctx.Done():
			}
		}
	}
}

// since returns what changed after the sequence number, and a channel that the next change
// closes.
func (m *Memory) since(kind approval.Kind, after uint64) ([]approval.Record, <-chan struct{}, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.state(); err != nil {
		return nil, nil, err
	}
	var page []approval.Record
	for _, r := range m.kept.records[kind] {
		if r.Seq > after {
			page = append(page, r.Clone())
		}
	}
	slices.SortFunc(page, func(a, b approval.Record) int { return cmp.Compare(a.Seq, b.Seq) })
	return page, m.changed, nil
}

// Lease implements [Store].
func (m *Memory) Lease(ctx context.Context, name, holder string, ttl time.Duration) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	late, err := m.begin(ctx)
	if err := cmp.Or(approval.CheckName("lease", name), approval.CheckName("holder", holder), err); err != nil {
		return 0, err
	}
	if ttl < 0 {
		return 0, &approval.RecordError{Field: "ttl", Problem: fmt.Sprintf("is %v", ttl)}
	}
	now := time.Now()
	l := m.kept.leases[name]
	held := now.Before(l.until)
	if held && l.holder != holder {
		return 0, &approval.LeaseError{Holder: l.holder, Until: l.until}
	}
	if !held {
		m.kept.tokens++
		l.token = m.kept.tokens
	}
	m.kept.leases[name] = loan{holder, now.Add(ttl), l.token}
	if late != nil {
		return 0, late
	}
	return l.token, nil
}
