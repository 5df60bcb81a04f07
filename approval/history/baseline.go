package history

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"iter"
	"slices"

	"github.com/metnos/vaglio/approval"
)

// Baseline records how approvals stood before a leaf, where the history does not tell: at
// its start, and where values were dropped. It can be computed from the records at any
// later time, because every change since then has a leaf.
type Baseline struct {
	// Approvals is the number of approvals.
	Approvals int    `json:"approvals"`
	Sum       string `json:"sum"`
	// Unread lists the asks whose records could not be read; the baseline leaves them out.
	Unread []string `json:"unread,omitempty"`
}

// maxUnread is how many asks a baseline may leave out; a leaf holds no more.
const maxUnread = 1000

// leavesOut reports whether the baseline leaves out an ask.
func (b *Baseline) leavesOut(id approval.AskID) bool { return slices.Contains(b.Unread, string(id)) }

// older reports whether any approvals are known to have existed before it.
func (b *Baseline) older() bool { return b.Approvals > 0 || len(b.Unread) > 0 }

// agrees reports whether both found the same approvals in the same state.
func (b *Baseline) agrees(with Baseline) bool {
	return b.Approvals == with.Approvals && b.Sum == with.Sum
}

// Records are the records that a history is checked against.
type Records interface {
	// List yields the records that match, in the query's order.
	List(ctx context.Context, q approval.Query) iter.Seq2[approval.Record, error]
}

// decoded yields the decoded records of a kind. For one that cannot be read it yields an
// [*approval.UnreadError] and goes on.
func decoded[T any](ctx context.Context, records Records, kind approval.Kind, decode func([]byte) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for r, err := range records.List(ctx, approval.Query{Kind: kind}) {
			var v T
			if err == nil {
				if v, err = decode(r.Body); err != nil {
					err = &approval.UnreadError{Kind: kind, ID: r.ID, Err: err}
				}
			}
			if !yield(v, err) {
				return
			}
		}
	}
}

// BaselineAt returns how the approvals stood before the leaf with index through. It may run
// while the history grows. Records that cannot be read are left out, named in the baseline,
// and passed to unread.
func BaselineAt(ctx context.Context, records Records, t Tree, through int64, unread func(error)) (Baseline, error) {
	// A change made after a record was read has a leaf, which is read below.
	var all []standing
	var without []string
	for ask, err := range decoded(ctx, records, approval.KindAsk, approval.DecodeAsk) {
		if u, ok := errors.AsType[*approval.UnreadError](err); ok {
			unread(u)
			without = append(without, u.ID)
			continue
		}
		if err != nil {
			return Baseline{}, fmt.Errorf("history: read the asks: %w", err)
		}
		for i := range ask.Approvals {
			s, err := standingOf(&ask, &ask.Approvals[i])
			if err != nil {
				return Baseline{}, err
			}
			all = append(all, s)
		}
	}
	if len(without) > maxUnread {
		return Baseline{}, fmt.Errorf("history: %d asks cannot be read, and a leaf names at most %d", len(without), maxUnread)
	}
	lives := newLives()
	for leaf, err := range t.Leaves(ctx, through) {
		if err != nil {
			return Baseline{}, fmt.Errorf("history: read the leaves: %w", err)
		}
		e, err := Decode(leaf.Value)
		if err != nil {
			return Baseline{}, err
		}
		lives.begin(&e)
	}
	s := newSummer()
	for i := range all {
		if before, ok := lives.before(all[i]); ok {
			s.add(before)
		}
	}
	b := s.baseline()
	b.Unread = without
	return b, nil
}

// standing is the state of an approval.
type standing struct {
	id    approval.ID
	state approval.State
	// content is the sum of an approval to which nothing more can happen.
	content string
}

func standingOf(a *approval.Ask, p *approval.Approval) (standing, error) {
	s := standing{id: p.ID, state: p.State}
	if !p.State.Final() {
		return s, nil
	}
	var err error
	s.content, err = sum("", sealOf(a, p))
	return s, err
}

// lives maps approvals to the states in which the leaves first found them.
type lives struct {
	from map[approval.ID]standing
}

func newLives() *lives { return &lives{make(map[approval.ID]standing)} }

// begin records an approval's first change of state or content.
func (l *lives) begin(e *Event) {
	if e.To == "" && e.Kind != ValuesDropped {
		return
	}
	if _, ok := l.from[e.Approval]; !ok {
		l.from[e.Approval] = standing{id: e.Approval, state: e.From, content: e.Content}
	}
}

// before returns how an approval stood before its first leaf, and whether it existed then.
func (l *lives) before(s standing) (standing, bool) {
	from, moved := l.from[s.id]
	switch {
	case !moved:
		return s, true
	case from.state == "":
		return s, false
	}
	return from, true
}

// summer computes a baseline. It must be given the approvals in the order in which they
// were asked.
type summer struct {
	n int
	h hash.Hash
}

func newSummer() *summer { return &summer{h: sha256.New()} }

func (s *summer) add(p standing) {
	s.n++
	s.h.Write(fmt.Appendf(nil, "%q %q %s\n", p.id, p.state, p.content))
}

func (s *summer) baseline() Baseline {
	return Baseline{Approvals: s.n, Sum: base64.RawURLEncoding.EncodeToString(s.h.Sum(nil))}
}
