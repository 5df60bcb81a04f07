package read_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/dispatcher/read"
	"github.com/metnos/vaglio/vaglio"
)

// found returns the cursors of all pages of a search, and how many pages there are.
func (l *library) found(r *read.Reader, f approval.Filter) (all []uint64, pages int) {
	l.Helper()
	for {
		page, err := r.History(l.Context(), f)
		if err != nil {
			l.Fatal(err)
		}
		pages++
		for i := range page.Entries {
			all = append(all, page.Entries[i].Cursor)
		}
		if f.Before = page.Older; f.Before == 0 {
			return all, pages
		}
	}
}

// TestASearchFindsWhatFits compares searches with all steps, one by one, before the journal was
// counted, when it is, and when it has grown since: nothing that fits is left out.
func TestASearchFindsWhatFits(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		l := newLibrary(t)
		rng := rand.New(rand.NewPCG(seed, 11))
		n := 0
		grow := func() {
			for range 40 {
				if n++; rng.IntN(5) == 0 {
					l.step(fmt.Sprint("agent ", n%3), fmt.Sprint("turn ", n/4), n, "rm -rf /")
				} else {
					l.pass(n, time.Duration(rng.Int64N(int64(5*24*time.Hour))))
				}
			}
		}
		long := strings.Repeat("x", 2000)
		day := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -2)
		filters := []approval.Filter{
			{},
			{Limit: 7},
			{Agent: "agent 1"},
			{Agent: "agent 1", Limit: 3},
			{Agent: "agent"},
			{Agent: long},
			{Executor: "tool_3"},
			{Executor: "shell_exec"},
			{Agent: "agent 2", Executor: "tool_5"},
			{Agent: "nobody", Executor: "tool_5"},
			{Outcome: "approved"},
			{Outcome: "guard"},
			{Outcome: "denied"},
			{Outcome: "approved", Executor: "shell_exec"},
			{Since: day, Until: day.AddDate(0, 0, 1)},
			{Since: day, Agent: "agent 0"},
			{Until: day},
			{Text: "tool_6", Agent: "agent 0"},
		}
		check := func(when string) {
			t.Helper()
			all, _ := l.found(l.Reader, approval.Filter{Limit: 1_000_000})
			if len(all) != n {
				t.Fatalf("%s: %d of %d steps are there", when, len(all), n)
			}
			for _, f := range filters {
				var want []uint64
				page, err := l.History(t.Context(), approval.Filter{Limit: 1_000_000})
				if err != nil {
					t.Fatal(err)
				}
				for i := range page.Entries {
					if e := &page.Entries[i]; f.Fits(e) && f.Finds(e) {
						want = append(want, e.Cursor)
					}
				}
				if got, _ := l.found(l.Reader, f); !slices.Equal(got, want) {
					t.Errorf("%s, %+v: found %v, want %v", when, f, got, want)
				}
			}
		}
		grow()
		check("not counted yet")
		if _, err := l.Statistics(t.Context(), report.Range{Days: 9}); err != nil {
			t.Fatal(err)
		}
		check("counted")
		grow()
		check("grown since")
	}
}

// TestASearchReadsLittle counts what a search for one agent reads of many steps: their notes, but not
// what they are, and nothing where it is known that the agent did nothing. It ends after so many.
func TestASearchReadsLittle(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	const many = 250_000 // more than a page passes over
	s := approval.Step{At: time.Now().UTC(), Verdict: &vaglio.Verdict{Approved: true}}
	for n := range many {
		s.Proposal.Agent, s.Proposal.Executor = fmt.Sprint("agent ", n%3), "tool"
		if n == 10 {
			s.Proposal.Agent = "rare"
		}
		e, _, err := read.EncodePassed(nil, &s)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.store.Append(t.Context(), &e); err != nil {
			t.Fatal(err)
		}
	}
	shaky := &shaky{}
	r := l.over(shaky)
	if got, pages := l.found(r, approval.Filter{Agent: "rare"}); len(got) != 1 || pages != 2 || shaky.entries > 5 {
		t.Errorf("%d are found on %d pages, for which %d steps were decoded", len(got), pages, shaky.entries)
	}
	if _, err := r.Statistics(t.Context(), report.Range{Days: 2}); err != nil {
		t.Fatal(err)
	}
	counted := shaky.entries
	if got, pages := l.found(r, approval.Filter{Agent: "nobody"}); len(got) != 0 || pages != 1 || shaky.entries != counted {
		t.Errorf("of nobody %d are found on %d pages, for which %d entries were read", len(got), pages, shaky.entries-counted)
	}
}

// TestWhatJudgesHearOfATurnIsBounded reads the last steps of a turn that has many more, of both kinds.
func TestWhatJudgesHearOfATurnIsBounded(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	for n := range 3000 {
		if n%5 == 0 {
			l.step("coder", "endless", n, "rm -rf /")
			continue
		}
		s := approval.Step{At: time.Now().UTC(), Verdict: &vaglio.Verdict{Approved: true}, Proposal: vaglio.Proposal{Agent: "coder", TurnID: "endless", Step: n}}
		e, _, err := read.EncodePassed(nil, &s)
		if err == nil {
			err = l.store.Append(t.Context(), &e)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s := &shaky{}
	steps, err := l.over(s).Lately(t.Context(), "coder", "endless")
	if err != nil || len(steps) != 400 || s.entries > 201 {
		t.Fatalf("%d steps, %d of the journal read, %v", len(steps), s.entries, err)
	}
	for i := range 200 { // beyond that, only the rarer kind goes on
		if got, want := steps[len(steps)-1-i].Proposal.Step, 2999-i; got != want {
			t.Fatalf("the step at %d from the end is %d, want %d", i, got, want)
		}
	}
}
