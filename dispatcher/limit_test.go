package dispatcher_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
)

// TestOpenAsksAreBoundedByAgent checks that an agent that asks too much is told so, and no
// other agent; nothing is stored about what was not asked.
func TestOpenAsksAreBoundedByAgent(t *testing.T) {
	housed(t, func(t *testing.T, h *house) {
		const most = 5
		h.SetMaxOpen(most)
		settle()
		var wg sync.WaitGroup
		var asked, refused atomic.Int32
		for i := range 4 * most {
			wg.Go(func() {
				_, err := h.Propose(t.Context(), agent, dispatcher.Request{Proposal: shell(fmt.Sprint("make ", i))})
				full, ok := errors.AsType[*dispatcher.LimitError](err)
				switch {
				case err == nil:
					asked.Add(1)
				case ok && full.Max == most:
					refused.Add(1)
				default:
					t.Errorf("Propose: %v", err)
				}
			})
		}
		wg.Wait()
		if asked.Load() != most || refused.Load() != 3*most {
			t.Errorf("%d were asked, %d refused", asked.Load(), refused.Load())
		}
		if _, err := h.Propose(t.Context(), "other", dispatcher.Request{Proposal: shell("make")}); err != nil {
			t.Errorf("another agent: %v", err)
		}
		n := 0
		again := func() error {
			n++
			_, err := h.Propose(t.Context(), agent, dispatcher.Request{Proposal: shell(fmt.Sprint("make more ", n))})
			return err
		}
		settle() // A card whose posting was cut off is posted again, and the first message decides nothing.
		h.restart()
		h.SetMaxOpen(most)
		settle()
		if err := again(); err == nil {
			t.Error("a restart forgot what waits")
		}
		if r := h.press(h.cardOf(agent), all, approval.ChoiceDeny); !r.Won {
			t.Errorf("the answer did not count: %+v", r)
		}
		settle()
		if err := again(); err != nil {
			t.Errorf("after an answer: %v", err)
		}
		if err := again(); err == nil {
			t.Error("one answer made room for two")
		}
		time.Sleep(dispatcher.DefaultAskFor)
		settle()
		if err := again(); err != nil {
			t.Errorf("after all expired: %v", err)
		}
	})
}

// cardOf returns a message of an ask of the agent.
func (h *house) cardOf(agent string) message {
	h.t.Helper()
	for _, m := range h.chat.seen() {
		if m.card.Agent == agent {
			return m
		}
	}
	h.t.Fatalf("no card is %s's", agent)
	return message{}
}

func TestChannelsTellHowTheyDo(t *testing.T) {
	housed(t, func(t *testing.T, h *house) {
		check := func(step string, ok bool, problem string) {
			t.Helper()
			all := h.Channels()
			if len(all) != 1 || all[0].Name != "chat" || all[0].OK() != ok || problem != "" && all[0].Problem != problem || !ok && all[0].Since.IsZero() {
				t.Errorf("%s: %+v", step, all)
			}
		}
		check("at the start", true, "")
		began := time.Now()
		h.chat.failingOn("post", errors.New("no network"))
		h.ask("make a", 1)
		settle()
		check("one failure", true, "")
		time.Sleep(10 * time.Second)
		check("several failures", false, "")
		if since := h.Channels()[0].Since; since.Sub(began) > time.Second {
			t.Errorf("it began at %v, failing since %v", began, since)
		}
		h.chat.mu.Lock()
		h.chat.health = approval.Health{Problem: "The token is refused.", Since: began}
		h.chat.mu.Unlock()
		check("what it says itself comes first", false, "The token is refused.")
		h.chat.mu.Lock()
		h.chat.health = approval.Health{}
		h.chat.mu.Unlock()
		h.chat.failing(nil)
		time.Sleep(time.Minute)
		check("it came back", true, "")
	})
}
