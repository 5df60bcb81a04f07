package read_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/dispatcher/read"
	"github.com/metnos/vaglio/store/storetest"
	"github.com/metnos/vaglio/vaglio"
)

var errGone = errors.New("the disk is gone")

// shaky is a store of which one call fails, a list before or behind its first record.
type shaky struct {
	*storetest.Memory

	// failing is the number of the call that fails, from 1; calls is how many there were.
	failing, calls int
	late           bool
	// met says that the failure was looked at.
	met bool
	// unread is given before the journal's entries, if set.
	unread error
	// entries is how many entries were read.
	entries int
}

func (s *shaky) fails() bool {
	s.calls++
	return s.calls == s.failing
}

func (s *shaky) Get(ctx context.Context, kind approval.Kind, idOrKey string) (approval.Record, error) {
	if s.fails() {
		s.met = true
		return approval.Record{}, errGone
	}
	return s.Memory.Get(ctx, kind, idOrKey)
}

func (s *shaky) List(ctx context.Context, q approval.Query) iter.Seq2[approval.Record, error] {
	return brokenOff(s, s.Memory.List(ctx, q), s.fails())
}

func (s *shaky) Entries(ctx context.Context, span approval.Span) iter.Seq2[approval.JournalEntry, error] {
	fails := s.fails()
	return func(yield func(approval.JournalEntry, error) bool) {
		if s.unread != nil && !yield(approval.JournalEntry{}, s.unread) {
			return
		}
		for e, err := range brokenOff(s, s.Memory.Entries(ctx, span), fails) {
			s.entries++
			if !yield(e, err) {
				return
			}
		}
	}
}

func (s *shaky) Stretches(ctx context.Context) ([]approval.Stretch, error) {
	if s.fails() {
		s.met = true
		return nil, errGone
	}
	return s.Memory.Stretches(ctx)
}

func brokenOff[T any](s *shaky, list iter.Seq2[T, error], fails bool) iter.Seq2[T, error] {
	if !fails {
		return list
	}
	return func(yield func(T, error) bool) {
		for v, err := range list {
			if s.late && !yield(v, err) {
				return
			}
			break
		}
		s.met = true
		var none T
		yield(none, errGone)
	}
}

// over returns a reader of the library's records by way of a shaky store.
func (l *library) over(s *shaky) *read.Reader {
	s.Memory = l.store
	return read.New(read.Config{Records: read.NewRecords(s, slog.New(slog.DiscardHandler)), Masker: approval.NewMasker(approval.Secret{1}), Hours: report.Hours{Zone: time.UTC}})
}

// TestEveryFailureOfTheStoreIsTold lets each call to the store fail in turn: no number and
// no list is told that lacks what could not be read.
func TestEveryFailureOfTheStoreIsTold(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	l.ask("abcdefgh", approval.Pending, time.Minute)
	veto := string(approval.VetoID(l.step("agent 1", "turn 1", 1, "rm -rf /")))
	l.joins("agent 1", "turn 1", 2, "abcdefgh-1")
	for n := range 20 {
		l.pass(n, time.Minute)
	}
	for name, reading := range map[string]func(*read.Reader) error{
		"a digest": func(r *read.Reader) error {
			_, err := r.DigestOf(t.Context(), l.OpenWindow(), read.Telling{})
			return err
		},
		"verdicts": func(r *read.Reader) error {
			_, err := r.DigestOf(t.Context(), l.OpenWindow(), read.Telling{Each: func(report.Judgement) {}})
			return err
		},
		"statistics": func(r *read.Reader) error {
			_, err := r.Statistics(t.Context(), report.Range{Days: 2})
			return err
		},
		"the history": func(r *read.Reader) error {
			_, err := r.History(t.Context(), approval.Filter{})
			return err
		},
		"a turn": func(r *read.Reader) error {
			_, err := r.Turn(t.Context(), approval.TurnQuery{Agent: "agent 1", Turn: "turn 1"})
			return err
		},
		"a turn's counts": func(r *read.Reader) error {
			_, err := r.TurnCounts(t.Context(), &approval.Ask{Agent: "agent 1", TurnID: "turn 1"})
			return err
		},
		"an ask":  func(r *read.Reader) error { _, err := r.Why(t.Context(), "abcde", "web"); return err },
		"a veto":  func(r *read.Reader) error { _, err := r.Why(t.Context(), veto, "web"); return err },
		"a card":  func(r *read.Reader) error { _, err := r.Card(t.Context(), "abcdefgh", "web"); return err },
		"reveals": func(r *read.Reader) error { _, err := r.Revealed(t.Context(), "abcdefgh", "web"); return err },
		"who waits": func(r *read.Reader) error {
			for _, err := range r.Waiting(t.Context()) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"what waits": func(r *read.Reader) error {
			for _, err := range r.Pending(t.Context(), "web") {
				if err != nil {
					return err
				}
			}
			return nil
		},
	} {
		whole := shaky{}
		if err := reading(l.over(&whole)); err != nil || whole.calls == 0 {
			t.Errorf("%s: %v after %d calls", name, err, whole.calls)
		}
		for n := range 2 * whole.calls {
			s := shaky{failing: n/2 + 1, late: n%2 == 1}
			if err := reading(l.over(&s)); errors.Is(err, errGone) != s.met || !s.met && !s.late {
				t.Errorf("%s, the call %d of %d fails, late %t: %v", name, s.failing, whole.calls, s.late, err)
			}
		}
	}
}

// TestWhatCannotBeReadHidesNothingElse checks counts and lists beside records that are
// damaged or gone: these are told, and all others counted.
func TestWhatCannotBeReadHidesNothingElse(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	l.ask("readable", approval.Denied, time.Second)
	l.joins("agent 0", "turn 0", 1, "readable-1")
	l.put(approval.KindAsk, approval.Record{ID: "damaged", Body: []byte(`{"v":`)})
	l.joins("agent 1", "turn 1", 1, "damaged-1")
	l.joins("agent 1", "turn 1", 2, "gone-1")
	l.pass(5, time.Second)
	for _, note := range [][]byte{{9}, {1, 200}, append([]byte{1}, strings.Repeat("\xff", 11)...)} { // of another form, cut, and too long
		if err := l.store.Append(t.Context(), &approval.JournalEntry{At: time.Now(), Key: "x/", Note: note, Body: []byte("x")}); err != nil {
			t.Fatal(err)
		}
	}
	r := l.over(&shaky{unread: &approval.UnreadError{Kind: approval.KindStep, ID: "journal of old", Err: errors.New("damaged")}})
	steps := map[int]int{}
	for _, of := range []read.Telling{{}, {Each: func(j report.Judgement) { steps[j.Step]++ }}} {
		d, err := r.DigestOf(t.Context(), l.OpenWindow(), of)
		if err != nil || d.Counts.Judged != 5 || d.Counts.Approved != 1 || d.Counts.Fates.Repeated != 3 {
			t.Errorf("the digest counts %+v, %v", d.Counts, err)
		}
	}
	if steps[5] != 1 { // of the journal, with all that it says
		t.Errorf("the verdicts are of steps %v", steps)
	}
	if page, err := r.History(t.Context(), approval.Filter{}); err != nil || len(page.Entries) != 4 || page.Entries[1].Approval != nil {
		t.Errorf("the history is %+v, %v", page, err)
	} else if of := page.Entries[3].Approval; of == nil || of.ID != "readable-1" || of.State != approval.Denied {
		t.Errorf("what became of the first step is %+v", of)
	}
	whole := l.over(&shaky{})
	if c, err := whole.TurnCounts(t.Context(), &approval.Ask{Agent: "agent 2", TurnID: "turn 1"}); err != nil || c.Judged != 1 {
		t.Errorf("the turn counts %+v, %v", c, err)
	}
	if c, err := whole.TurnCounts(t.Context(), &approval.Ask{Agent: "agent 1", TurnID: "turn 1"}); err != nil || c.Fates.Repeated != 2 {
		t.Errorf("the turn counts %+v, %v", c, err)
	}
	if c, err := r.TurnCounts(t.Context(), &approval.Ask{Agent: "agent 2", TurnID: "turn 1"}); err != nil || c != (report.Counts{}) {
		t.Errorf("of a turn that cannot be read as a whole counts are told: %+v, %v", c, err)
	}
	if got := len(r.Unread()); got != 5 {
		t.Errorf("%d records are told as unread: %v", got, r.Unread())
	}
}

// TestTheJournalIsReadOnce checks that what was counted is not read again.
func TestTheJournalIsReadOnce(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	s := &shaky{}
	r := l.over(s)
	for round, want := range []int{15 + 1, 15 + 1 + 1, 15 + 1 + 1 + 10 + 1 + 1} { // each time the oldest is looked up, too
		for n := range []int{15, 0, 10}[round] {
			l.pass(n, time.Hour)
		}
		if _, err := r.Statistics(t.Context(), report.Range{Days: 30}); err != nil || s.entries > want {
			t.Errorf("round %d: %d entries were read, want at most %d: %v", round, s.entries, want, err)
		}
	}
}

// TestAReadingThatBreaksOffIsMadeUpFor lets the store fail in the middle of what is new: the next
// reading counts it once.
func TestAReadingThatBreaksOffIsMadeUpFor(t *testing.T) {
	t.Parallel()
	of := report.Range{Days: 30}
	for failing := 1; ; failing++ {
		l := newLibrary(t)
		s := &shaky{late: true}
		r := l.over(s)
		for n := range 10 {
			l.pass(n, time.Hour)
			if n != 4 {
				continue
			}
			if _, err := r.Statistics(t.Context(), of); err != nil {
				t.Fatal(err)
			}
		}
		s.calls, s.failing = 0, failing
		if _, err := r.Statistics(t.Context(), of); s.met != errors.Is(err, errGone) {
			t.Errorf("call %d fails: %v", failing, err)
		}
		s.failing = 0
		want, errWant := l.Statistics(t.Context(), of)
		got, err := r.Statistics(t.Context(), of)
		want.Window, got.Window = report.Window{}, report.Window{} // they end now
		if diff := cmp.Diff(want, got); err != nil || errWant != nil || diff != "" {
			t.Errorf("call %d failed: %v, %v, %s", failing, errWant, err, diff)
		}
		if !s.met {
			return
		}
	}
}

// TestOldRecordsEndAReadingOnlyBehindTheNew checks that however many old records there are,
// the new ones are counted.
func TestOldRecordsEndAReadingOnlyBehindTheNew(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	for n := range 1100 { // more than end a reading
		l.ask(fmt.Sprint("old", n), approval.Denied, 40*24*time.Hour)
	}
	l.ask("today", approval.Pending, time.Second)
	for n := range 1100 { // as many that are new end none
		l.ask(fmt.Sprint("new", n), approval.Denied, time.Second)
	}
	l.ask("later", approval.Pending, time.Second)
	d, err := l.DigestOf(t.Context(), l.OpenWindow(), read.Telling{})
	if err != nil || d.Counts.Judged != 1102 {
		t.Errorf("the digest counts %+v, %v", d.Counts, err)
	}
	s, err := l.Statistics(t.Context(), report.Range{Days: 2})
	if err != nil || s.Counts.Judged != 1102 {
		t.Errorf("statistics count %+v, %v", s.Counts, err)
	}
}

// joins stores a step of a turn that names an approval.
func (l *library) joins(agent, turn string, n int, id approval.ID) {
	l.Helper()
	s := approval.Step{
		ID: read.TurnPrefix(agent, turn) + string(id), At: time.Now().UTC(), Approval: id,
		Proposal: vaglio.Proposal{Agent: agent, TurnID: turn, Step: n, Executor: "shell_exec"},
		Verdict:  &vaglio.Verdict{BlockedBy: vaglio.PhaseJudge},
	}
	body, err := approval.EncodeStep(s)
	if err != nil {
		l.Fatal(err)
	}
	l.put(approval.KindStep, approval.Record{ID: s.ID, Body: body})
}

// TestWhatIsMissingIsTold damages a part of the journal, between two times: whoever reads a turn
// that may have been in it is told, and so are digests and statistics of that time, and no others.
func TestWhatIsMissingIsTold(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	l.step("coder", "refused", 1, "rm -rf /")
	l.pass(5, time.Minute)
	at := time.Now().UTC()
	part := func(from, to time.Time) *shaky {
		return &shaky{unread: &approval.UnreadError{Kind: approval.KindStep, ID: "1.seg", From: from, To: to, Err: errors.New("damaged")}}
	}
	old, ancient := at.Add(-20*24*time.Hour), at.Add(-90*24*time.Hour)
	for name, row := range map[string]struct {
		s                *shaky
		turn, open, week bool
		begins           time.Time
	}{
		"nothing is missing":         {s: &shaky{}},
		"the last hours":             {part(at.Add(-time.Minute), at), true, true, true, at.Add(-time.Minute)},
		"some weeks ago":             {part(old, old.Add(time.Hour)), true, false, false, old},
		"longer ago than it is kept": {part(ancient, ancient.Add(time.Hour)), false, false, false, at},
		"nobody knows":               {part(time.Time{}, time.Time{}), true, true, true, at.Add(-read.StepsKept)},
	} {
		r := l.over(row.s)
		for turn, n := range map[string]int{"refused": 1, "unknown": 0} {
			log, err := r.Turn(t.Context(), approval.TurnQuery{Agent: "coder", Turn: turn})
			if known := n > 0 || row.turn; errors.Is(err, approval.ErrNotFound) == known || len(log.Steps) != n || (len(log.Unread) == 1) != row.turn {
				t.Errorf("%s, the turn %s: %+v, %v", name, turn, log, err)
			}
			for _, u := range log.Unread {
				if u.Part != "1.seg" || u.From.Sub(row.begins).Abs() > time.Minute || u.To.Before(u.From) {
					t.Errorf("%s: missing is %+v", name, u)
				}
			}
		}
		w := report.Window{From: at.Add(-time.Hour), To: at}
		for _, of := range []read.Telling{{}, {Each: func(report.Judgement) {}}} {
			d, err := r.DigestOf(t.Context(), w, of)
			if told := fmt.Sprint(d.Lines()); err != nil || (len(d.Unread) == 1) != row.open || strings.Contains(told, "1.seg") != row.open {
				t.Errorf("%s: the digest lacks %+v, %v: %s", name, d.Unread, err, told)
			}
		}
		s, err := r.Statistics(t.Context(), report.Range{Days: 7})
		if err != nil || (len(s.Unread) == 1) != row.week {
			t.Errorf("%s: the statistics lack %+v, %v", name, s.Unread, err)
		}
	}
}
