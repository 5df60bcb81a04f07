package dispatcher_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/store/storetest"
	"github.com/metnos/vaglio/vaglio"
)

// form is a body as a newer program would write it.
const form = `{"v":99,"ask":{"more":true}}`

// place puts a record into the store as it is.
func place(t *testing.T, store *storetest.Memory, kind approval.Kind, id string) {
	t.Helper()
	_, err := store.Update(t.Context(), kind, id, func(r approval.Record) (approval.Record, error) {
		r.ID, r.Body, r.Open = id, []byte(form), true
		return r, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// begin runs a dispatcher over the store, and returns it with its chat and log.
func begin(t *testing.T, store *storetest.Memory) (g *gate, c *chat, log func() string) {
	t.Helper()
	var mu sync.Mutex
	var text bytes.Buffer
	c = &chat{}
	g = running(t, dispatcher.Config{
		Store: store, Channels: []dispatcher.Channel{c},
		Log: slog.New(slog.NewTextHandler(writer(func(p []byte) (int, error) {
			mu.Lock()
			defer mu.Unlock()
			return text.Write(p)
		}), nil)),
	})
	return g, c, func() string {
		mu.Lock()
		defer mu.Unlock()
		return text.String()
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// TestAnAskThatCannotBeReadStopsNothing uses a store with, among others, a record that a
// newer program wrote and one whose bytes are not those that were written.
func TestAnAskThatCannotBeReadStopsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storetest.NewMemory()
		first, _, _ := begin(t, store)
		denied := first.propose(t, shell("make old"), 0)
		first.decide(t, denied.Approval.ID, approval.ChoiceDeny, "no")
		settle()
		first.end()
		place(t, store, approval.KindAsk, "newer")
		place(t, store, approval.KindAsk, "spoiled")
		store.Spoil(approval.KindAsk, "spoiled")
		place(t, store, approval.KindStep, "newer-step")

		g, c, log := begin(t, store)
		settle()
		if a := g.propose(t, shell("make old"), 0); a.Decision != approval.RulingDeny || a.Refusal.Words != "no" {
			t.Errorf("a denial behind them does not stand: %+v", a)
		}
		got := make(chan approval.Answer, 1)
		go func() { got <- g.propose(t, shell("make new"), time.Hour) }()
		settle()
		if n := len(c.seen()); n != 1 {
			t.Fatalf("%d cards were shown, want 1", n)
		}
		g.decide(t, g.pendingOn(t, "chat").Items[0].Approval, approval.ChoiceAllow, "")
		settle()
		if a := <-got; a.Decision != approval.RulingAllow {
			t.Errorf("the turn that waits got %+v", a)
		}
		late := g.propose(t, shell("make late"), 2*dispatcher.DefaultAskFor)
		if late.Approval.State != approval.Expired {
			t.Errorf("the deadline was not kept: %+v", late)
		}
		g.readsAll(t)
		time.Sleep(time.Hour)
		settle()
		for _, id := range []string{"ask=newer ", "ask=spoiled ", "id=newer-step "} {
			if n := strings.Count(log(), id); n != 1 {
				t.Errorf("%q was logged %d times, want once:\n%s", id, n, log())
			}
		}
		var named []string
		for _, u := range g.Unread() {
			named = append(named, string(u.Kind)+"/"+u.ID)
		}
		if fmt.Sprint(named) != "[ask/newer ask/spoiled step/newer-step]" {
			t.Errorf("Unread names %v", named)
		}
		g.oneIsUnread(t)
	})
}

// pendingOn returns the one card that waits.
func (g *gate) pendingOn(t *testing.T, channel string) approval.Card {
	t.Helper()
	for c, err := range g.Pending(t.Context(), channel) {
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	t.Fatal("no card waits")
	return approval.Card{}
}

// readsAll reads everything that lists records.
func (g *gate) readsAll(t *testing.T) {
	t.Helper()
	time.Sleep(24 * time.Hour)
	if digest, err := g.Digest(t.Context(), lastDay(t, g.Dispatcher)); err != nil || digest.Counts.Vetoed != 4 {
		t.Errorf("Digest: %+v, %v", digest.Counts, err)
	}
	if _, err := g.Statistics(t.Context(), report.Range{Days: 7}); err != nil {
		t.Errorf("Statistics: %v", err)
	}
	page, err := g.History(t.Context(), approval.Filter{})
	if err != nil || len(page.Entries) != 4 {
		t.Errorf("History: %d entries, %v", len(page.Entries), err)
	}
}

// oneIsUnread reads an unreadable ask in every way.
func (g *gate) oneIsUnread(t *testing.T) {
	t.Helper()
	for _, id := range []string{"newer", "spoiled"} {
		_, await := g.Await(t.Context(), agent, approval.ID(id+"-1"), 0)
		_, withdraw := g.Withdraw(t.Context(), agent, approval.ID(id+"-1"))
		_, find := g.Find(t.Context(), id)
		for name, err := range map[string]error{"Await": await, "Withdraw": withdraw, "Find": find} {
			if u, ok := errors.AsType[*approval.UnreadError](err); !ok || u.ID != id {
				t.Errorf("%s %s: %v", name, id, err)
			}
		}
	}
}

// TestAnAskThatIsDamagedLaterIsGivenUp damages the record of a waiting ask, with its card
// and its deadline.
func TestAnAskThatIsDamagedLaterIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c, log := begin(t, storetest.NewMemory())
		a := g.propose(t, shell("make a"), 0)
		settle()
		g.store.Spoil(approval.KindAsk, string(a.Approval.ID.Ask()))
		time.Sleep(2 * dispatcher.DefaultAskFor)
		b := g.propose(t, shell("make b"), time.Minute)
		if b.Decision != approval.RulingPending || len(c.seen()) != 2 {
			t.Errorf("the next ask: %+v, %d cards", b, len(c.seen()))
		}
		if n := strings.Count(log(), "level=ERROR"); n != 1 {
			t.Errorf("%d errors were logged, want 1:\n%s", n, log())
		}
		if h := g.Channels(); !h[0].OK() {
			t.Errorf("the channel is blamed: %+v", h)
		}
	})
}

// TestAStoreThatIsFullIsNoTroubleOfAChannel refuses every write for a while.
func TestAStoreThatIsFullIsNoTroubleOfAChannel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c, _ := begin(t, storetest.NewMemory())
		var posted atomic.Int32
		c.failingOn("post", &approval.RetryError{After: time.Second, Unsent: true, Err: errors.New("slow down")})
		g.propose(t, shell("make a"), 0)
		settle()
		c.mu.Lock()
		c.fail, c.posting = nil, func() { posted.Add(1); g.store.Break(approval.ErrFull) }
		c.mu.Unlock()
		time.Sleep(time.Minute)
		if n := posted.Load(); n != 1 {
			t.Fatalf("posted %d times", n)
		}
		if h := g.Channels(); !h[0].OK() {
			t.Errorf("the channel is blamed: %+v", h)
		}
		g.store.Break(nil)
	})
}

// TestManyUnreadRecordsAreCounted checks that a month of records of a newer program does
// not flood the log.
func TestManyUnreadRecordsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storetest.NewMemory()
		for i := range 100 {
			place(t, store, approval.KindAsk, fmt.Sprintf("newer-%03d", i))
		}
		g, _, log := begin(t, store)
		settle()
		if n := strings.Count(log(), "\n"); n != 21 || len(g.Unread()) != 100 {
			t.Errorf("%d lines were logged of %d records", n, len(g.Unread()))
		}
		if a := g.propose(t, vaglio.Proposal{Executor: "fs_read"}, 0); a.Decision != approval.RulingAllow {
			t.Errorf("got %+v", a)
		}
	})
}

// TestAHistoryBeginsOverWhatCannotBeRead puts a record of a newer program into the store
// before a history begins.
func TestAHistoryBeginsOverWhatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storetest.NewMemory()
		place(t, store, approval.KindAsk, "newer")
		p, err := signed(t, store, &dispatcher.History{Key: newKey(t)}, "")
		if err != nil {
			t.Fatal(err)
		}
		defer p.end()
		if kinds := leafKinds(t, store); kinds != "began" {
			t.Errorf("the history tells %q", kinds)
		}
		settle()
		if all := p.Unread(); len(all) != 1 || all[0].ID != "newer" {
			t.Errorf("%v are known not to be readable", all)
		}
	})
}
