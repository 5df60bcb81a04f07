package dispatcher_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/history"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/store/storetest"
	"github.com/metnos/vaglio/vaglio"
)

func newKey(t testing.TB) history.Key {
	t.Helper()
	key, err := history.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// leafKinds returns the kinds of the leaves in their order.
func leafKinds(t *testing.T, s *storetest.Memory) (kinds string) {
	t.Helper()
	var all []string
	for l, err := range s.Leaves(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if l.Value == nil {
			all = append(all, "-")
			continue
		}
		e, err := history.Decode(l.Value)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(e.Kind))
	}
	return strings.Join(all, " ")
}

// TestTheHistoryTellsWhatHappens checks the leaves of each path through a dispatcher. What
// the judges let through leaves none.
func TestTheHistoryTellsWhatHappens(t *testing.T) {
	const allowed = "opened allowed"
	for name, tt := range map[string]struct {
		do   func(t *testing.T, g *gate)
		want string
	}{
		"approved": {func(t *testing.T, g *gate) {
			p := shell("ls")
			p.Executor = "fs_read"
			g.propose(t, p, 0)
		}, ""},
		"vetoed":       {func(t *testing.T, g *gate) { g.propose(t, shell("rm -rf /"), 0) }, "vetoed"},
		"vetoed again": {func(t *testing.T, g *gate) { g.propose(t, shell("rm -rf /"), 0); g.propose(t, shell("rm -rf /"), 0) }, "vetoed vetoed"},
		"expired":      {func(t *testing.T, g *gate) { g.propose(t, shell("make"), 2*time.Hour) }, "opened expired"},
		"equal call":   {func(t *testing.T, g *gate) { g.propose(t, shell("make"), 0); g.propose(t, shell("make"), 0) }, "opened"},
		"denied":       {func(t *testing.T, g *gate) { g.tap(t, g.propose(t, shell("make"), 0), approval.ChoiceDeny) }, "opened denied"},
		"denied twice": {func(t *testing.T, g *gate) {
			a := g.propose(t, shell("make"), 0)
			g.tap(t, a, approval.ChoiceDeny)
			g.tap(t, a, approval.ChoiceAllow)
		}, "opened denied"},
		"lapsed": {func(t *testing.T, g *gate) {
			g.tap(t, g.propose(t, shell("make"), 0), approval.ChoiceAllow)
			time.Sleep(time.Hour)
		}, allowed + " lapsed"},
		"vetoed at last": {func(t *testing.T, g *gate) { g.redeem(t, shell("rm -rf /")) }, allowed + " vetoed"},
		"withdrawn": {func(t *testing.T, g *gate) {
			a := g.propose(t, shell("make"), 0)
			if _, err := g.Withdraw(t.Context(), agent, a.Approval.ID); err != nil {
				t.Error(err)
			}
		}, "opened withdrawn"},
		"run": {func(t *testing.T, g *gate) {
			id := g.redeem(t, shell("make"))
			if err := g.Report(t.Context(), agent, id, approval.Outcome{Succeeded: true}); err != nil {
				t.Error(err)
			}
		}, allowed + " spent succeeded"},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, g *gate) {
				tt.do(t, g)
				synctest.Wait()
				if got := leafKinds(t, g.store); got != tt.want {
					t.Errorf("the history tells %q, want %q", got, tt.want)
				}
			})
		})
	}
}

// tap decides an approval.
func (g *gate) tap(t *testing.T, a approval.Answer, choice approval.Choice) {
	t.Helper()
	if _, err := g.Decide(t.Context(), approval.Tap{Ask: a.Approval.ID.Ask(), Choice: choice, By: owner, Channel: "fake"}); err != nil {
		t.Error(err)
	}
}

// redeem allows the call make, and redeems its permit for p.
func (g *gate) redeem(t *testing.T, p vaglio.Proposal) approval.ID {
	t.Helper()
	a := g.propose(t, shell("make"), 0)
	g.tap(t, a, approval.ChoiceAllow)
	a, err := g.Await(t.Context(), agent, a.Approval.ID, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	err = g.Redeem(t.Context(), agent, a.Permit.Permit, p)
	if _, vetoed := errors.AsType[*dispatcher.GuardError](err); err != nil && !vetoed {
		t.Fatal(err)
	}
	return a.Approval.ID
}

// signed runs a press whose history is signed.
func signed(t *testing.T, store *storetest.Memory, h *dispatcher.History, last string, papers ...dispatcher.Channel) (*press, error) {
	t.Helper()
	h.Tree = store
	var begun error
	p := printed(t, store, func(c *dispatcher.Config) {
		c.History, c.Hours.Digest, c.Channels = h, &report.Hours{Minute: 8 * 60}, append(c.Channels, papers...)
		begun = dispatcher.New(*c).BeginHistory(t.Context(), last)
	})
	return p, begun
}

// TestADigestKeepsItsCheckpoint lets a digest fail, and events happen until it is repeated:
// it must show the checkpoint of when it was made.
func TestADigestKeepsItsCheckpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, key, paper := storetest.NewMemory(), newKey(t), newPaper("one")
		var saved string
		p, err := signed(t, store, &dispatcher.History{Key: key, Save: func(text string) error { saved = text; return nil }}, "", paper)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // It is the first minute, in which nothing is due.
		first := ""
		paper.trouble = func(what string) error {
			if what == "show" {
				return errors.New("down")
			}
			return nil
		}
		time.Sleep(25 * time.Hour)
		r, err := store.Get(t.Context(), approval.KindMeta, "digest/one")
		if err != nil || !strings.Contains(string(r.Body), "checkpoint") {
			t.Fatalf("the record of the digest is %s, %v", r.Body, err)
		}
		for range 3 {
			if _, err := p.Propose(t.Context(), agent, dispatcher.Request{Proposal: shell("rm -rf /")}); err != nil {
				t.Fatal(err)
			}
		}
		paper.mu.Lock()
		paper.trouble = nil
		paper.mu.Unlock()
		time.Sleep(2 * time.Hour)
		all := paper.all()
		if len(all) == 0 {
			t.Fatal("no digest came")
		}
		first = all[0].Checkpoint
		c, err := history.OpenCheckpoint(first, key.Verifier())
		if err != nil || c.Size != 1 {
			t.Errorf("the digest shows %q: %+v, %v", first, c, err)
		}
		d, err := p.Digest(t.Context(), lastDay(t, p.Dispatcher))
		if err != nil {
			t.Fatal(err)
		}
		if c, err := history.OpenCheckpoint(d.Checkpoint, key.Verifier()); err != nil || c.Size != 4 || d.Checkpoint != saved {
			t.Errorf("asked for, it shows %q: %+v, %v; saved is %q", d.Checkpoint, c, err, saved)
		}
		for _, text := range []string{first, saved} {
			if err := history.Holds(t.Context(), store, text, key.Verifier()); err != nil {
				t.Error(err)
			}
		}
		r, err = store.Get(t.Context(), approval.KindMeta, "digest/one")
		if err != nil || strings.Contains(string(r.Body), "checkpoint") {
			t.Errorf("the record of the digest is still %s, %v", r.Body, err)
		}
		p.end()
	})
}

// TestTheHistoryIsTakenUp starts over stores that do and do not match what was signed last.
func TestTheHistoryIsTakenUp(t *testing.T) {
	store, key, other := storetest.NewMemory(), newKey(t), newKey(t)
	begin := func(key history.Key, last string) error {
		t.Helper()
		return dispatcher.New(dispatcher.Config{
			Store: store, Engine: newEngine(t, &strict{}, nil), Log: slog.New(slog.DiscardHandler), History: &dispatcher.History{Tree: store, Key: key},
		}).BeginHistory(t.Context(), last)
	}
	sign := func(key history.Key, size int64) string {
		t.Helper()
		root, err := history.Root(t.Context(), store, min(size, 1))
		if err != nil {
			t.Fatal(err)
		}
		text, err := key.Sign(size, root)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for i, step := range []struct {
		key    history.Key
		last   string
		rolled string
		want   string
	}{
		{key, "", "", "began"},
		{key, "", "", "began"},
		{key, "sign", "", "began"},
		{key, "ahead", "had 9 when it was signed last: an older copy of the store was put back", "began restored"},
		{key, "nonsense", "it is not a checkpoint", "began restored restored"},
		{other, "sign", "", "began restored restored rekeyed"},
		{other, "sign", "signed with another key", "began restored restored rekeyed restored"},
	} {
		last := step.last
		switch last {
		case "sign":
			last = sign(key, 1)
		case "ahead":
			last = sign(key, 9)
		}
		err := begin(step.key, last)
		rolled, ok := errors.AsType[*dispatcher.RollbackError](err)
		if ok != (step.rolled != "") || ok && !strings.Contains(rolled.Problem, step.rolled) || !ok && err != nil {
			t.Errorf("start %d: %v, want %q", i, err, step.rolled)
		}
		if got := leafKinds(t, store); got != step.want {
			t.Errorf("start %d: the history tells %q, want %q", i, got, step.want)
		}
	}
}

// TestOldValuesAreDropped lets days pass with a history that keeps values for a week.
func TestOldValuesAreDropped(t *testing.T) {
	race.Alone(t)
	synctest.Test(t, func(t *testing.T) {
		store, key := storetest.NewMemory(), newKey(t)
		p, err := signed(t, store, &dispatcher.History{Key: key, Keep: 7 * 24 * time.Hour}, "")
		if err != nil {
			t.Fatal(err)
		}
		early, err := p.Checkpoint(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for day := range 20 {
			for _, command := range []string{"rm -rf /", fmt.Sprint("make ", day)} {
				if _, err := p.Propose(t.Context(), agent, dispatcher.Request{Proposal: shell(command)}); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(24 * time.Hour)
		}
		synctest.Wait() // this day's sweep is over
		storetest.Asks(t, store)
		kinds := strings.Fields(leafKinds(t, store))
		dropped := 0
		for dropped < len(kinds) && kinds[dropped] == "-" {
			dropped++
		}
		if left := len(kinds) - dropped; dropped < 30 || left < 7*3 || left > 9*4 {
			t.Errorf("the history tells %q", kinds)
		}
		if err := history.Holds(t.Context(), store, early, key.Verifier()); err != nil {
			t.Error(err)
		}
		p.end()
	})
}

// TestAVetoStandsWithoutItsLeaf breaks the store at a redemption that the guard denies.
func TestAVetoStandsWithoutItsLeaf(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		a := g.propose(t, shell("make"), 0)
		g.tap(t, a, approval.ChoiceAllow)
		a, err := g.Await(t.Context(), agent, a.Approval.ID, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		g.store.Fail(1, context.DeadlineExceeded)
		err = g.Redeem(t.Context(), agent, a.Permit.Permit, shell("rm -rf /"))
		if _, vetoed := errors.AsType[*dispatcher.GuardError](err); !vetoed {
			t.Errorf("the redemption ends with %v", err)
		}
	})
}
