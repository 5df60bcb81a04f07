package dispatcher_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
)

// TestEveryMessageFailsOnce lets each message to a channel fail once, in turn, with and without
// having arrived: posting, changing, reminding, telling. P6: what was decided stands, the agent gets
// it, and in the end a message of each ask shows its end and offers nothing; no other one decides.
func TestEveryMessageFailsOnce(t *testing.T) {
	faults := map[string]struct {
		sent bool
		err  error
	}{
		"it did not arrive":                {false, errors.New("no network")},
		"its answer was lost":              {true, errors.New("connection reset")},
		"it comes too fast":                {false, &approval.RetryError{After: 5 * time.Second, Unsent: true, Err: errors.New("slow down")}},
		"it arrived, and comes too fast":   {true, &approval.RetryError{After: 5 * time.Second, Err: errors.New("slow down")}},
		"the message is gone":              {false, approval.ErrGone},
		"the message cannot show the card": {false, approval.ErrRepost},
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n, over := 1, false; !over; n++ {
				housed(t, func(t *testing.T, h *house) {
					var mu sync.Mutex
					calls, struck := 0, ""
					h.chat.failing(func(kind string) (bool, error) {
						mu.Lock()
						defer mu.Unlock()
						if calls++; calls != n || kind == "post" && (errors.Is(fault.err, approval.ErrGone) || errors.Is(fault.err, approval.ErrRepost)) {
							return true, nil
						}
						struck = kind
						return fault.sent, fault.err
					})
					denied, left := h.ask("make a", 1).Approval, h.ask("make b", 2).Approval
					if _, err := h.Propose(t.Context(), agent, dispatcher.Request{Proposal: shell("rm -rf /")}); err != nil {
						t.Fatal(err)
					}
					time.Sleep(20 * time.Minute) // people are reminded
					if _, err := h.Decide(t.Context(), approval.Tap{Ask: denied.ID.Ask(), Approval: denied.ID, Choice: approval.ChoiceDeny, By: owner, Channel: "chat"}); err != nil {
						t.Fatal(err)
					}
					time.Sleep(6 * time.Hour)
					settle()
					mu.Lock()
					over = calls < n
					mu.Unlock()
					h.ended(struck, denied.ID, approval.Denied)
					h.ended(struck, left.ID, approval.Expired)
				})
			}
		})
	}
}

// ended fails the test unless an approval ended so, one message shows that, and no message decides
// anything.
func (h *house) ended(struck string, id approval.ID, as approval.State) {
	h.t.Helper()
	a, err := h.Await(h.t.Context(), agent, id, 0)
	if err != nil || a.Approval.State != as {
		h.t.Errorf("after the failure of %s, %s is %s, want %s, %v", struck, id, a.Approval.State, as, err)
	}
	ask, err := h.Find(h.t.Context(), string(id))
	if err != nil {
		h.t.Fatal(err)
	}
	shows := 0
	for _, m := range h.chat.seen() {
		if m.card.Ask != ask.ID {
			continue
		}
		if len(m.card.Buttons) == 0 && m.card.View == ask.View() {
			shows++
		}
		for _, b := range m.card.Buttons {
			if r, err := h.Decide(h.t.Context(), approval.Tap{Token: b.Token, By: owner, Channel: "chat"}); err == nil && r.Won {
				h.t.Errorf("after the failure of %s, a button of the message %s decides", struck, m.ref)
			}
		}
	}
	if shows == 0 && !ask.On("chat").Gone {
		h.t.Errorf("after the failure of %s, no message shows that %s is %s: %s", struck, id, as, strings.TrimSpace(h.log.String()))
	}
}
