package read_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/dispatcher/read"
	"github.com/metnos/vaglio/store/storetest"
	"github.com/metnos/vaglio/vaglio"
)

// through returns a step that judges let through.
func through(turn string, n int) approval.Step {
	return approval.Step{
		At: time.Unix(1e9, 0).UTC(), Route: "all", Verdict: &vaglio.Verdict{Approved: true, TS: 1e9, Results: []vaglio.GradientResult{{Judge: "effects", Score: 0.5}}},
		Proposal: vaglio.Proposal{Agent: "coder", TurnID: turn, Step: n, Executor: "fs_read", Args: vaglio.Args{"path": "x"}},
	}
}

// let stores a step in the journal, with what change makes of its entry.
func (l *library) let(s approval.Step, change func(*approval.JournalEntry)) {
	l.Helper()
	e, _, err := read.EncodePassed(nil, &s)
	if err != nil {
		l.Fatal(err)
	}
	if change != nil {
		change(&e)
	}
	if err := l.store.Append(l.Context(), &e); err != nil {
		l.Fatal(err)
	}
}

// TestWhatOlderProgramsKeptIsRead checks the forms of ids, keys and notes: another one would lose
// what an older program stored, and take a repeat for another step.
func TestWhatOlderProgramsKeptIsRead(t *testing.T) {
	t.Parallel()
	s := through("t", 1)
	if id, err := read.StepID(&s); err != nil || id != "d2bab23972b235da6d9dc1ba/00000001-d486c62a56d3c5f8663fb560" {
		t.Errorf("the step is named %s, %v", id, err)
	}
	e, _, err := read.EncodePassed(nil, &s)
	const note = "\x01\x05coder\x01t\x07fs_read\x03all\x00\x00\x00\x00e\xcd\xcdA\x01\x07effects\x00\x00\x00\x00\x00\x00\xe0?"
	if err != nil || string(e.Note) != note || e.Key != read.TurnPrefix("coder", "t") {
		t.Errorf("its entry has the key %s and the note %q, %v", e.Key, e.Note, err)
	}
	s = through("", 1)
	if e, _, err := read.EncodePassed(nil, &s); err != nil || e.Key != "-/" {
		t.Errorf("without a turn its entry has the key %s, %v", e.Key, err)
	}
}

// TestADamagedNoteIsToldOnce cuts the note of a step off at each place, or has it begin as that of
// a later release: it is not counted, it is told what is wrong, and the others are counted.
func TestADamagedNoteIsToldOnce(t *testing.T) {
	t.Parallel()
	s := through("t", 1)
	whole, _, err := read.EncodePassed(nil, &s)
	if err != nil {
		t.Fatal(err)
	}
	later := append([]byte{2}, whole.Note[1:]...)
	damaged := map[string][]byte{"a later form": later}
	for n := range whole.Note {
		damaged[fmt.Sprint(n, " bytes")] = whole.Note[:n]
	}
	for name, note := range damaged {
		l := newLibrary(t)
		l.let(s, func(e *approval.JournalEntry) { e.Note = note })
		l.let(s, nil)
		n := 0
		records := read.NewRecords(l.store, slog.New(slog.DiscardHandler))
		for kept, err := range records.Passed(t.Context(), approval.Span{NotesOnly: true}) {
			if n++; err != nil || kept.Is.Proposal.Executor != "fs_read" || len(kept.Is.Verdict.Results) != 1 {
				t.Errorf("%s: %+v, %v", name, kept.Is, err)
			}
		}
		unread := records.Unread()
		form, isForm := (*approval.FormError)(nil), false
		if len(unread) == 1 {
			form, isForm = errors.AsType[*approval.FormError](unread[0].Err)
		}
		if n != 1 || len(unread) != 1 || isForm != (name == "a later form") {
			t.Errorf("%s: %d steps are read; unread are %+v, of another form %+v", name, n, unread, form)
		}
	}
}

// TestWhatIsNoVetoIsNotFound names steps that were let through, or have no verdict, as vetoes.
func TestWhatIsNoVetoIsNotFound(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	for id, verdict := range map[string]*vaglio.Verdict{"t/1": {Approved: true}, "t/2": nil} {
		body, err := approval.EncodeStep(approval.Step{ID: id, At: time.Now().UTC(), Verdict: verdict, Error: "x"})
		if err != nil {
			t.Fatal(err)
		}
		l.put(approval.KindStep, approval.Record{ID: id, Body: body})
		if c, err := l.Why(t.Context(), string(approval.VetoID(id)), "web"); !errors.Is(err, approval.ErrNotFound) {
			t.Errorf("%s: %+v, %v", id, c, err)
		}
	}
}

// TestAReaderMayStop stops after the first of several cards.
func TestAReaderMayStop(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	l.ask("first", approval.Pending, 2*time.Minute)
	l.ask("second", approval.Pending, time.Minute)
	for c, err := range l.Pending(t.Context(), "web") {
		if err != nil || c.Ask != "first" {
			t.Errorf("first comes %s, %v", c.Ask, err)
		}
		break
	}
	for w, err := range l.Waiting(t.Context()) {
		if err != nil || w.Ask != "first" {
			t.Errorf("first waits %s, %v", w.Ask, err)
		}
		break
	}
}

// TestAWholeNameIsNoDoubt finds an ask by its whole id although that begins another's.
func TestAWholeNameIsNoDoubt(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	l.ask("abcd", approval.Pending, time.Minute)
	l.ask("abcdefgh", approval.Pending, time.Minute)
	for _, id := range []string{"abcd", "abcd-1"} {
		if a, err := l.Find(t.Context(), id); err != nil || a.ID != "abcd" {
			t.Errorf("%s finds %s, %v", id, a.ID, err)
		}
	}
}

// TestTheHistoryMixesWhatPassedAndWhatWasRefused reads steps of the journal and of records, newest
// first, fifty at a time.
func TestTheHistoryMixesWhatPassedAndWhatWasRefused(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	var want []int
	for n := range 60 {
		if n%3 == 0 {
			l.step("coder", "t", n, "rm -rf /")
		} else {
			l.let(through("t", n), nil)
		}
		want = append(want, n)
	}
	slices.Reverse(want)
	page, err := l.History(t.Context(), approval.Filter{})
	if err != nil || len(page.Entries) != 50 || page.Older == 0 {
		t.Fatalf("a page has %d entries, older ones from %d, %v", len(page.Entries), page.Older, err)
	}
	rest, err := l.History(t.Context(), approval.Filter{Before: page.Older})
	if err != nil || rest.Older != 0 {
		t.Fatal(rest.Older, err)
	}
	var got []int
	for _, e := range append(page.Entries, rest.Entries...) {
		got = append(got, e.Step.Proposal.Step)
	}
	if !slices.Equal(got, want) {
		t.Errorf("it tells %v", got)
	}
}

// TestALongTurnIsNotCounted counts a turn of as many steps as are read for that, and not one of
// more. What has no turn is not one turn.
func TestALongTurnIsNotCounted(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	for n := range 1000 {
		l.let(through("t", n), nil)
	}
	a := approval.Ask{ID: "abcdefgh", Agent: "coder", TurnID: "t"}
	if c, err := l.TurnCounts(t.Context(), &a); err != nil || c.Judged != 1000 {
		t.Errorf("of 1000 are judged %d, %v", c.Judged, err)
	}
	l.let(through("t", 1001), nil)
	if c, err := l.TurnCounts(t.Context(), &a); err != nil || c != (report.Counts{}) {
		t.Errorf("of more are judged %d, %v", c.Judged, err)
	}
	a.TurnID = ""
	l.let(through("", 1), nil)
	if c, err := l.TurnCounts(t.Context(), &a); err != nil || c != (report.Counts{}) {
		t.Errorf("without a turn are judged %d, %v", c.Judged, err)
	}
}

// holed is a store of whose journal a part is lost.
type holed struct{ *storetest.Memory }

func (s holed) Stretches(ctx context.Context) ([]approval.Stretch, error) {
	all, err := s.Memory.Stretches(ctx)
	for i := range all {
		all[i].Unread = &approval.UnreadError{Kind: approval.KindStep, ID: fmt.Sprint("stretch ", all[i].ID), Err: errors.New("damaged")}
	}
	return all, err
}

// TestALostPartOfTheJournalIsTold counts what is left, and tells that something is lost.
func TestALostPartOfTheJournalIsTold(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	l.let(through("t", 1), nil)
	records := read.NewRecords(holed{l.store}, slog.New(slog.DiscardHandler))
	r := read.New(read.Config{Records: records, Masker: approval.NewMasker(approval.Secret{1}), Hours: report.Hours{Zone: time.UTC}})
	day := time.Unix(1e9, 0).UTC().Format(time.DateOnly)
	s, err := r.Statistics(t.Context(), report.Range{From: day, To: day})
	if unread := r.Unread(); err != nil || len(unread) == 0 || !strings.Contains(unread[0].ID, "stretch") {
		t.Errorf("%+v, %v; unread are %v", s, err, unread)
	}
}
