package history_test

import (
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/history"
	"github.com/metnos/vaglio/store/storetest"
	"github.com/metnos/vaglio/vaglio"
)

// TestWhatHappensVerifies lets asks live at random, drops values now and then, and verifies
// the history against everything.
func TestWhatHappensVerifies(t *testing.T) {
	t.Parallel()
	seeds := uint64(30)
	if testing.Short() {
		seeds = 10
	}
	kinds := map[history.Kind]int{}
	for seed := range seeds {
		w := newWorld(t, seed)
		var signed []string
		dropped := int64(0)
		for i := range 150 {
			w.live()
			switch {
			case i%40 == 20:
				signed = append(signed, w.sign())
			case i%60 == 50 && seed%2 == 0:
				dropped += w.random.Int64N(w.size() - dropped)
				w.drop(dropped)
			}
		}
		r := w.verify(signed...)
		for _, f := range r.Findings {
			t.Errorf("seed %d: leaf %d: %s", seed, f.Leaf, f.Text)
		}
		if len(r.Proved) != len(signed) || r.Dropped != dropped || r.Size != w.size() {
			t.Fatalf("seed %d: the report is %+v", seed, r)
		}
		count(t, w.store, kinds)
	}
	for _, k := range []history.Kind{
		history.Opened, history.Joined, history.Vote, history.Unvote, history.Escalated, history.Allowed, history.Denied, history.Expired,
		history.Withdrawn, history.Superseded, history.Spent, history.Lapsed, history.Succeeded, history.Failed, history.Unknown, history.Vetoed,
	} {
		if kinds[k] == 0 && !testing.Short() {
			t.Errorf("no leaf tells of %q", k)
		}
	}
}

// count counts the events by kind, and checks that they contain no secret.
func count(t *testing.T, s *storetest.Memory, kinds map[history.Kind]int) {
	t.Helper()
	for l, err := range s.Leaves(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if l.Value == nil {
			continue
		}
		e, err := history.Decode(l.Value)
		if err != nil {
			t.Fatal(err)
		}
		kinds[e.Kind]++
		if strings.Contains(string(l.Value), "secret") || strings.Contains(string(l.Value), "rm -r") {
			t.Errorf("a leaf shows what it should not: %s", l.Value)
		}
	}
}

// TestChangedRecordIsFound changes one thing in one record, and checks that it is found
// whatever it is.
func TestChangedRecordIsFound(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(a *approval.Ask, p *approval.Approval) bool{
		"state": func(_ *approval.Ask, p *approval.Approval) bool {
			changed := p.State != approval.Superseded
			p.State = approval.Superseded
			return changed
		},
		"args":        func(_ *approval.Ask, p *approval.Approval) bool { p.Proposal.Args["command"] = "ls"; return true },
		"intent":      func(a *approval.Ask, _ *approval.Approval) bool { a.Intent = "other"; return true },
		"agent":       func(a *approval.Ask, _ *approval.Approval) bool { a.Agent = "other"; return true },
		"fingerprint": func(_ *approval.Ask, p *approval.Approval) bool { p.Fingerprint = "other"; return true },
		"words": func(_ *approval.Ask, p *approval.Approval) bool {
			if p.Decision != nil {
				p.Decision.Words = "other"
			}
			return p.Decision != nil
		},
		"person": func(_ *approval.Ask, p *approval.Approval) bool {
			if p.Decision != nil {
				p.Decision.By.ID = "web:mallory"
			}
			return p.Decision != nil
		},
		"votes": func(_ *approval.Ask, p *approval.Approval) bool {
			p.Votes = append(p.Votes, approval.Vote{By: approval.Person{ID: "web:mallory"}, Route: "prod"})
			return true
		},
		"outcome": func(_ *approval.Ask, p *approval.Approval) bool {
			if p.Outcome != nil {
				p.Outcome.Succeeded = !p.Outcome.Succeeded
			}
			return p.Outcome != nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			for range 120 {
				w.live()
			}
			checkpoint := w.sign()
			for _, id := range w.asks {
				ask := w.ask(id)
				p := &ask.Approvals[len(ask.Approvals)-1]
				if !change(&ask, p) {
					continue
				}
				body, err := approval.EncodeAsk(ask)
				if err != nil {
					t.Fatal(err)
				}
				before := w.ask(id)
				w.put(approval.KindAsk, string(id), body, nil)
				r := w.verify(checkpoint)
				if r.Whole() || !strings.Contains(r.Findings[0].Text, string(ask.ID)) {
					t.Fatalf("found is %+v", r.Findings)
				}
				body, err = approval.EncodeAsk(before)
				if err != nil {
					t.Fatal(err)
				}
				w.put(approval.KindAsk, string(id), body, nil)
			}
			if r := w.verify(checkpoint); !r.Whole() {
				t.Errorf("with everything put back there is %v", r.Findings)
			}
		})
	}
}

// TestRecordsTakenOutAndPutIn removes an ask and adds one, both among those that leaves
// tell of and among older ones, and checks that each change is found.
func TestRecordsTakenOutAndPutIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	for range 100 {
		w.live()
	}
	w.drop(w.size())
	for range 20 {
		w.live()
	}
	drop := func(id approval.AskID) {
		_, err := w.store.Update(t.Context(), approval.KindAsk, string(id), func(r approval.Record) (approval.Record, error) {
			r.Drop = true
			return r, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if r := w.verify(); !r.Whole() || r.Approvals == 0 {
		t.Fatalf("before it is %+v", r)
	}
	old := w.ask(w.asks[0])
	drop(old.ID)
	if r := w.verify(); r.Whole() || !strings.Contains(r.Findings[0].Text, "a record was taken out or put in") {
		t.Errorf("an old ask was taken out, and found is %v", r.Findings)
	}
	body, err := approval.EncodeAsk(old)
	if err != nil {
		t.Fatal(err)
	}
	w.put(approval.KindAsk, string(old.ID), body, nil) // It is younger now.
	if r := w.verify(); r.Whole() {
		t.Error("an old ask was put in again, and nothing was found")
	}
	w = newWorld(t, 3)
	last := w.open(1)
	drop(last)
	if r := w.verify(); r.Whole() || !strings.Contains(r.Findings[0].Text, "leaf 1 tells of approval "+string(last)) {
		t.Errorf("an ask was taken out, and found is %v", r.Findings)
	}
	w.veto()
	_, err = w.store.Update(t.Context(), approval.KindStep, "turn/00000001", func(r approval.Record) (approval.Record, error) {
		r.Body = []byte(strings.Replace(string(r.Body), "rm -rf /", "ls", 1))
		return r, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if r := w.verify(); len(r.Findings) != 2 || !strings.Contains(r.Findings[1].Text, "which the guard denied, was changed: it is not what leaf 2 left") {
		t.Errorf("a veto was changed, and found is %v", r.Findings)
	}
}

// TestOlderAsksAreInTheBaseline begins a history in a store that already has asks, lets
// these live on, and then changes one of them.
func TestOlderAsksAreInTheBaseline(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 5)
	for range 60 {
		w.live()
	}
	older := storetest.NewMemory() // with the same asks, but no history
	for r, err := range w.store.List(t.Context(), approval.Query{Kind: approval.KindAsk}) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := older.Update(t.Context(), approval.KindAsk, r.ID, func(approval.Record) (approval.Record, error) { return r, nil }); err != nil {
			t.Fatal(err)
		}
	}
	w.store = older
	w.note(history.Event{Kind: history.Began, Baseline: w.baseline(0), Key: w.key.Verifier()})
	for range 60 {
		w.live()
	}
	if r := w.verify(w.sign()); !r.Whole() || r.Approvals == 0 {
		t.Fatalf("unchanged it is %+v", r)
	}
	for _, id := range w.asks {
		ask := w.ask(id)
		if p := &ask.Approvals[0]; p.State == approval.Denied || p.State == approval.Withdrawn {
			p.State = approval.Expired
			body, err := approval.EncodeAsk(ask)
			if err != nil {
				t.Fatal(err)
			}
			w.put(approval.KindAsk, string(id), body, nil)
			break
		}
	}
	if r := w.verify(); len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Text, "the records of approvals that are older than leaf 0 are not as leaf 0 found them") {
		t.Errorf("found is %v", r.Findings)
	}
}

// TestALongNameKeepsNothingOut checks that an agent cannot keep an event out of the history
// with names as long as a book.
func TestALongNameKeepsNothingOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 6)
	id := w.open(1)
	w.change(id, func(a *approval.Ask) error {
		a.TurnID = strings.Repeat("é", approval.MaxLeaf)
		a.Approvals[0].Proposal.Executor = strings.Repeat("x", approval.MaxLeaf)
		return a.Withdraw(a.Approvals[0].ID, w.now)
	})
	if w.size() != 3 {
		t.Errorf("there are %d leaves", w.size())
	}
}

// dropValues drops the values of everything that ended at least an hour ago.
func (w *world) dropValues() (n int) {
	w.Helper()
	for _, id := range w.asks {
		if w.change(id, func(a *approval.Ask) error {
			if !a.DropValues(w.now.Add(-time.Hour), w.now) {
				return approval.ErrKeep
			}
			return nil
		}) {
			n++
		}
	}
	return n
}

// TestDroppedValuesVerify drops the values of approvals before and after the leaves about
// them lose theirs, and then puts something back.
func TestDroppedValuesVerify(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		w := newWorld(t, 100+seed)
		var signed []string
		for range 3 {
			for range 25 {
				w.live()
			}
			w.change(w.open(1), func(a *approval.Ask) error { return a.Withdraw(a.Approvals[0].ID, w.now) })
			signed = append(signed, w.sign())
			if seed%3 == 0 {
				w.drop(w.size() / 2)
			}
			w.now = w.now.Add(26 * time.Hour)
			if w.dropValues() == 0 {
				t.Fatal("nothing ended whose values could be dropped")
			}
			if seed%3 == 1 {
				w.drop(w.size() - 1)
			}
			if r := w.verify(signed...); !r.Whole() {
				t.Fatalf("seed %d: %v", seed, r.Findings)
			}
		}
		id := w.asks[len(w.asks)-1]
		ask := w.ask(id)
		if ask.Approvals[0].ValuesDropped.IsZero() {
			t.Fatal("the last ask has its values")
		}
		ask.Approvals[0].Proposal.Args = vaglio.Args{"command": "make tea"}
		body, err := approval.EncodeAsk(ask)
		if err != nil {
			t.Fatal(err)
		}
		w.put(approval.KindAsk, string(id), body, nil)
		if r := w.verify(signed...); r.Whole() {
			t.Errorf("seed %d: values that were put in pass unnoticed", seed)
		}
	}
}
