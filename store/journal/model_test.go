package journal

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/store/keyring"
)

// model is what a journal promises, in memory: the entries of each segment, and which key
// each is encrypted with.
type model struct {
	most     int64
	segments []*modelSegment // the last one takes entries
	last     uint64
}

type modelSegment struct {
	id      uint64
	size    int64
	entries []approval.JournalEntry
	keys    map[uint32]bool
}

func (s *modelSegment) times() (from, to time.Time) {
	for i, e := range s.entries {
		if i == 0 || e.At.Before(from) {
			from = e.At
		}
		if i == 0 || e.At.After(to) {
			to = e.At
		}
	}
	return from, to
}

func (m *model) newest() *modelSegment { return m.segments[len(m.segments)-1] }

func (m *model) begin() {
	id := uint64(1)
	if len(m.segments) > 0 {
		id = m.newest().id + 1
	}
	m.segments = append(m.segments, &modelSegment{id: id, size: 12, keys: map[uint32]bool{}})
}

func (m *model) append(e approval.JournalEntry, key uint32) {
	size := int64(8 + 24 + len(e.Key) + len(e.Note) + len(e.Body) + keyring.Overhead)
	s := m.newest()
	if from, _ := s.times(); len(s.entries) > 0 && (s.size+size > m.most || e.At.Sub(from) >= 24*time.Hour) {
		m.begin()
		s = m.newest()
	}
	m.last++
	e.Seq = m.last
	s.size += size
	s.entries = append(s.entries, e)
	s.keys[key] = true
}

// forget drops whole segments that are old. The last one makes room for an empty one.
func (m *model) forget(before time.Time) {
	old := func(s *modelSegment) bool {
		_, to := s.times()
		return len(s.entries) > 0 && to.Before(before)
	}
	if old(m.newest()) {
		m.begin()
	}
	m.segments = slices.DeleteFunc(m.segments, old)
}

// reopened continues in the last segment if it has room, and behind the newest entry.
func (m *model) reopened() {
	if m.newest().size >= m.most {
		m.begin()
	}
	m.last = 0
	for _, s := range m.stretches() {
		m.last = max(m.last, s.Last)
	}
}

func (m *model) read(span *approval.Span) (all []approval.JournalEntry) {
	for _, s := range m.segments {
		for _, e := range s.entries {
			if span.Holds(&e) && (span.Stretch == 0 || span.Stretch == s.id) {
				all = append(all, e)
			}
		}
	}
	if span.Newest {
		slices.Reverse(all)
	}
	return all
}

func (m *model) stretches() (all []approval.Stretch) {
	for _, s := range m.segments {
		one := approval.Stretch{ID: s.id}
		if one.From, one.To = s.times(); len(s.entries) > 0 {
			one.Last = s.entries[len(s.entries)-1].Seq
		}
		all = append(all, one)
	}
	return all
}

// modelRun has a journal and its model do the same.
type modelRun struct {
	t    *testing.T
	r    *rand.Rand
	dir  string
	l    *Log
	o    Options
	m    *model
	what string
}

var modelKeys = []string{"a", "turn-1", "turn-2", strings.Repeat("long", 50)}

func (r *modelRun) at() time.Time { return day.Add(time.Duration(r.r.IntN(60*24*60)) * time.Minute) }

func (r *modelRun) bytes(most int) []byte {
	b := make([]byte, r.r.IntN(most))
	for i := range b {
		b[i] = byte(r.r.Uint32())
	}
	return b
}

func (r *modelRun) append() {
	start, spread := r.at(), 1+r.r.IntN(2000)
	for range r.r.IntN(40) {
		e := approval.JournalEntry{
			At:  start.Add(time.Duration(r.r.IntN(spread)) * time.Minute),
			Key: modelKeys[r.r.IntN(len(modelKeys))], Note: r.bytes(80), Body: r.bytes(int(r.m.most / 15)),
		}
		if r.r.IntN(25) == 0 {
			e.Body = r.bytes(3 * groupBytes)
		}
		r.m.append(e, r.o.Keys.Newest())
		if err := r.l.Append(&e); err != nil || e.Seq != r.m.last {
			r.t.Fatalf("%s: number %d, want %d, %v", r.what, e.Seq, r.m.last, err)
		}
	}
}

func (r *modelRun) seal() {
	r.l.SealAll()
	used := map[uint32]bool{}
	for i, s := range r.m.segments {
		ending, other := sealedEnding, activeEnding
		if i == len(r.m.segments)-1 {
			ending, other = activeEnding, sealedEnding
			maps.Copy(used, s.keys)
		} else {
			used[r.o.Keys.Newest()] = true
		}
		if _, err := os.Stat(segmentPath(r.dir, s.id, ending)); err != nil {
			r.t.Errorf("%s: %v", r.what, err)
		}
		if _, err := os.Stat(segmentPath(r.dir, s.id, other)); err == nil {
			r.t.Errorf("%s: segment %d is there in both forms", r.what, s.id)
		}
	}
	if left, err := filepath.Glob(filepath.Join(r.dir, "*.new")); err != nil || len(left) > 0 {
		r.t.Fatalf("%s: left behind: %v, %v", r.what, left, err)
	}
	if got, err := r.l.Keys(); err != nil || !maps.Equal(got, used) {
		r.t.Errorf("%s: keys %v, want %v, %v", r.what, got, used, err)
	}
}

func (r *modelRun) forget() {
	// An instant at which a segment ends, or one behind it: only what is earlier goes.
	s := r.m.segments[r.r.IntN(1+len(r.m.segments)/2)]
	_, before := s.times()
	before = before.Add(time.Duration(r.r.IntN(2)))
	r.m.forget(before)
	if err := r.l.Forget(before); err != nil {
		r.t.Fatalf("%s: %v", r.what, err)
	}
}

func (r *modelRun) reopen() {
	if err := r.l.Close(); err != nil {
		r.t.Fatalf("%s: %v", r.what, err)
	}
	look := r.o
	look.ReadOnly = true
	r.l = open(r.t, r.dir, look)
	r.check()
	if err := r.l.Close(); err != nil {
		r.t.Fatalf("%s: %v", r.what, err)
	}
	r.m.reopened()
	r.l = open(r.t, r.dir, r.o)
}

func (r *modelRun) rotate() {
	if err := r.o.Keys.Rotate(); err != nil {
		r.t.Fatal(err)
	}
}

func (r *modelRun) span() (s approval.Span) {
	if r.r.IntN(2) == 0 {
		if s.Key = fmt.Sprint("nobody ", r.r.IntN(99)); r.r.IntN(3) > 0 {
			s.Key = modelKeys[r.r.IntN(len(modelKeys))]
		}
	}
	if r.r.IntN(3) == 0 {
		s.From = r.at()
	}
	if r.r.IntN(3) == 0 {
		s.To = r.at()
	}
	if r.r.IntN(4) == 0 {
		s.Before = r.r.Uint64N(r.m.last + 2)
	}
	if r.r.IntN(4) == 0 {
		s.Stretch = r.m.segments[r.r.IntN(len(r.m.segments))].id
	}
	s.Newest, s.NotesOnly = r.r.IntN(2) == 0, r.r.IntN(2) == 0
	return s
}

// check compares everything that can be asked of a journal.
func (r *modelRun) check() {
	r.t.Helper()
	spans := []approval.Span{{}, {Newest: true}, {NotesOnly: true, Newest: true}}
	for range 8 {
		spans = append(spans, r.span())
	}
	for _, span := range spans {
		got, unread := told(r.t, r.l, span)
		want := r.m.read(&span)
		if !slices.EqualFunc(got, want, func(a, b approval.JournalEntry) bool {
			return a.Seq == b.Seq && a.At.Equal(b.At) && a.Key == b.Key && bytes.Equal(a.Note, b.Note) && (span.NotesOnly || bytes.Equal(a.Body, b.Body))
		}) || len(unread) > 0 {
			r.t.Fatalf("%s, %+v: %d entries, want %d, unread %v", r.what, span, len(got), len(want), unread)
		}
	}
	got, want := r.l.Stretches(), r.m.stretches()
	if r.o.ReadOnly || len(got) < len(want) { // what only looks begins no segment
		want = want[:min(len(got), len(want))]
	}
	if !slices.EqualFunc(got, want, func(a, b approval.Stretch) bool {
		return a.ID == b.ID && a.Last == b.Last && a.From.Equal(b.From) && a.To.Equal(b.To) && a.Unread == nil
	}) {
		r.t.Fatalf("%s: stretches %+v, want %+v", r.what, got, want)
	}
}

// TestAJournalIsAsItsModel appends, seals, forgets, reopens and rotates keys at random, with
// times out of order: what is read, in which stretches, and which keys are in use is at
// every step what a list in memory says.
func TestAJournalIsAsItsModel(t *testing.T) {
	seeds := uint64(24)
	if testing.Short() {
		seeds = 4
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			most := []int64{6 << 10, 300 << 10}[seed%2] // the larger ones hold several groups
			r := &modelRun{
				t: t, r: rand.New(rand.NewPCG(seed, 5)), dir: filepath.Join(t.TempDir(), "journal"),
				o: Options{SegmentBytes: most, Keys: newKeys(t)}, m: &model{most: most},
			}
			r.l = open(t, r.dir, r.o)
			r.m.begin()
			steps := []struct {
				name string
				do   func()
			}{{"append", r.append}, {"append", r.append}, {"append", r.append}, {"seal", r.seal}, {"forget", r.forget}, {"reopen", r.reopen}, {"rotate", r.rotate}}
			for n := range 25 {
				step := steps[r.r.IntN(len(steps))]
				r.what = fmt.Sprintf("step %d, %s", n, step.name)
				step.do()
				r.check()
			}
		})
	}
}
