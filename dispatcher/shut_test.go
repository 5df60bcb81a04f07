package dispatcher_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
)

// shut makes the chat reject changes of messages, and returns when they were tried.
func (c *chat) shut() (tried func() []time.Time) {
	var mu sync.Mutex
	var at []time.Time
	c.failing(func(kind string) (bool, error) {
		if kind != "amend" {
			return true, nil
		}
		mu.Lock()
		defer mu.Unlock()
		at = append(at, time.Now())
		return false, &approval.RetryError{After: 2 * time.Minute, Unsent: true, Shut: true, Err: errors.New("bot was kicked")}
	})
	return func() []time.Time {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(at)
	}
}

// gaps returns the pauses between moments, in minutes.
func gaps(at []time.Time) []int {
	out := []int{}
	for i := range at[min(1, len(at)):] {
		out = append(out, int(at[i+1].Sub(at[i]).Minutes()))
	}
	return out
}

// TestAShutRoomIsTriedEverLess checks that in a room that stays closed a card is tried less
// and less often, but at least once an hour, also after a restart, and at once when the
// platform says that the room is open.
func TestAShutRoomIsTriedEverLess(t *testing.T) {
	t.Parallel()
	housed(t, func(t *testing.T, h *house) {
		a := h.ask("git push", 1)
		settle()
		tries := h.chat.shut()
		if _, err := h.Decide(t.Context(), approval.Tap{Ask: a.Approval.ID.Ask(), Choice: approval.ChoiceDeny, By: owner, Channel: "web"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(24 * time.Hour)
		settle()
		got := gaps(tries())
		if want := []int{2, 4, 8, 16, 32, 60, 60}; len(got) > 30 || len(got) < len(want) || !slices.Equal(got[:len(want)], want) || slices.Max(got) > 60 {
			t.Fatalf("the room was tried after %v minutes", got)
		}
		before := len(tries())
		h.restart()
		settle()
		if len(tries()) != before {
			t.Errorf("the room was tried %d times at the start", len(tries())-before)
		}
		time.Sleep(time.Hour)
		settle()
		if len(tries()) != before+1 {
			t.Errorf("in the hour after the start it was tried %d times", len(tries())-before)
		}
		before = len(tries())
		h.restart()
		settle()
		h.Opened("chat")
		settle()
		if len(tries()) != before+1 {
			t.Errorf("when the room opened after a start it was tried %d times", len(tries())-before)
		}
		before = len(tries())
		h.Opened("elsewhere")
		settle()
		if len(tries()) != before {
			t.Error("another channel's room opened this one")
		}
		h.Opened("chat")
		settle()
		if len(tries()) != before+1 {
			t.Fatalf("when the room opened it was tried %d times", len(tries())-before)
		}
		time.Sleep(7 * time.Minute)
		settle()
		if got := gaps(tries()[before:]); !slices.Equal(got, []int{2, 4}) {
			t.Errorf("shut again, it was tried after %v minutes", got)
		}
		h.chat.failing(nil)
		h.Opened("chat")
		settle()
		if s := h.chat.messages[0].card.Items[0].State; s != approval.Denied {
			t.Errorf("the card shows %s after the room opened", s)
		}
	})
}

// TestOpenedWhileACardIsTried opens the room while a try is under way that the room still
// refuses: the next try must not wait.
func TestOpenedWhileACardIsTried(t *testing.T) {
	t.Parallel()
	housed(t, func(t *testing.T, h *house) {
		a := h.ask("git push", 1)
		settle()
		tried := 0
		h.chat.failing(func(kind string) (bool, error) {
			if kind != "amend" || tried > 0 {
				return true, nil
			}
			tried++
			time.Sleep(time.Second)
			h.Opened("chat")
			return false, &approval.RetryError{After: 2 * time.Minute, Unsent: true, Shut: true, Err: errors.New("bot was kicked")}
		})
		if _, err := h.Decide(t.Context(), approval.Tap{Ask: a.Approval.ID.Ask(), Choice: approval.ChoiceDeny, By: owner, Channel: "web"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		settle()
		if s := h.chat.messages[0].card.Items[0].State; tried != 1 || s != approval.Denied {
			t.Errorf("after %d tries the card shows %s", tried, s)
		}
	})
}

// TestASignOfAnOpenRoomHurriesNothingElse checks that a card that waits because the platform
// asked for a pause goes on waiting when people write in the room.
func TestASignOfAnOpenRoomHurriesNothingElse(t *testing.T) {
	t.Parallel()
	housed(t, func(t *testing.T, h *house) {
		a := h.ask("git push", 1)
		settle()
		var tried []time.Time
		h.chat.failing(func(kind string) (bool, error) {
			if kind != "amend" || len(tried) > 1 {
				return true, nil
			}
			tried = append(tried, time.Now())
			h.Opened("chat")
			return false, &approval.RetryError{After: 2 * time.Minute, Unsent: true, Err: errors.New("too many requests")}
		})
		if _, err := h.Decide(t.Context(), approval.Tap{Ask: a.Approval.ID.Ask(), Choice: approval.ChoiceDeny, By: owner, Channel: "web"}); err != nil {
			t.Fatal(err)
		}
		settle()
		h.Opened("chat")
		time.Sleep(5 * time.Minute)
		settle()
		if got := gaps(tried); !slices.Equal(got, []int{2}) {
			t.Errorf("it was tried after %v minutes", got)
		}
	})
}
