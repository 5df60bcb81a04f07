package dispatcher_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/internal/race"
)

// TestAnOrphanDecidesNothing checks that a crash between the posting of a message and its
// recording leaves a message whose buttons decide nothing and say so. The card gets another
// message, whose buttons do decide.
func TestAnOrphanDecidesNothing(t *testing.T) {
	housed(t, func(t *testing.T, h *house) {
		a := h.askAndCrash()
		h.restart()
		settle()
		messages := h.chat.seen()
		if len(messages) != 2 {
			t.Fatalf("%d messages were posted", len(messages))
		}
		orphan, card := messages[0], messages[1]
		seq := func() uint64 {
			r, err := h.store.Get(t.Context(), approval.KindAsk, string(card.card.Ask))
			if err != nil {
				t.Fatal(err)
			}
			return r.Seq
		}
		before := seq()
		for _, c := range []approval.Choice{approval.ChoiceAllow, approval.ChoiceDeny} {
			if r := h.press(orphan, all, c); r.Won || !r.Replaced || r.Ask.ID != card.card.Ask {
				t.Errorf("%s on the orphan: %+v", c, r)
			}
		}
		if got := h.state(a.Approval.ID); got != approval.Pending || seq() != before {
			t.Fatalf("the orphan's button made it %s, and wrote %d", got, seq())
		}
		if r := h.press(card, all, approval.ChoiceAllow); !r.Won || r.Replaced {
			t.Errorf("the card: %+v", r)
		}
		settle()
		if m := h.chat.seen()[1]; len(m.card.Buttons) != 0 || m.card.Items[0].State != approval.Allowed {
			t.Errorf("the card shows %+v", m.card)
		}
	})
}

// TestOneMessageAtMostHasLiveButtons checks the same with a fault at every call of the
// store around the posting, before and after its commit, in one life and over a restart: at
// most one of all messages has buttons that decide, and that message becomes final.
func TestOneMessageAtMostHasLiveButtons(t *testing.T) {
	for n := range 40 {
		for _, late := range []bool{false, true} {
			housed(t, func(t *testing.T, h *house) {
				fault := errors.New("connection is cut")
				if late {
					h.store.FailLate(n+1, fault)
				} else {
					h.store.Fail(n+1, fault)
				}
				rs := []dispatcher.Request{inTurn("make a", 1), inTurn("make b", 2)}
				for _, r := range rs {
					_, _ = h.Propose(context.Background(), agent, r)
				}
				if n%3 == 0 {
					h.restart()
				}
				time.Sleep(5 * time.Second)
				synctest.Wait()
				messages, live := h.chat.seen(), 0
				for _, m := range messages {
					tap := approval.Tap{Token: m.card.Buttons[0].Token, By: owner, Channel: "chat"}
					r, err := h.Decide(t.Context(), tap)
					if errors.Is(err, fault) {
						r, err = h.Decide(t.Context(), tap)
					}
					if err != nil {
						t.Fatalf("fault %d late %v: a button of %s: %v", n, late, m.ref, err)
					}
					if !r.Replaced {
						live++
					}
				}
				if live > 1 || len(messages) > 0 && live == 0 {
					t.Errorf("fault %d late %v: %d of %d messages have live buttons", n, late, live, len(messages))
				}
				time.Sleep(time.Hour)
				synctest.Wait()
				if len(messages) > 0 {
					if last := h.chat.seen()[len(messages)-1]; len(last.card.Buttons) != 0 || last.card.Items[0].State == approval.Pending {
						t.Errorf("fault %d late %v: the last message shows %+v", n, late, last.card)
					}
				}
			})
		}
	}
}

// TestAMessageIsNotPostedTwiceBecauseOfTheStore checks that a message that was posted and
// could not be recorded is recorded later, not posted again.
func TestAMessageIsNotPostedTwiceBecauseOfTheStore(t *testing.T) {
	housed(t, func(t *testing.T, h *house) {
		h.askAndCrash()
		time.Sleep(10 * time.Second)
		h.store.Break(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		messages := h.chat.seen()
		if len(messages) != 1 {
			t.Fatalf("%d messages were posted", len(messages))
		}
		if r := h.press(messages[0], all, approval.ChoiceDeny); !r.Won {
			t.Errorf("got %+v", r)
		}
	})
}

// TestButtonsAreReplacedOnlyInDoubt checks that buttons are replaced only if a message may
// exist.
func TestButtonsAreReplacedOnlyInDoubt(t *testing.T) {
	for name, tt := range map[string]struct {
		err      error
		sent     bool
		replaced bool
	}{
		"NoAnswer":        {errors.New("no answer"), true, true},
		"MaybeNotSent":    {&approval.RetryError{Err: errors.New("no answer")}, false, true},
		"SurelyNotSent":   {&approval.RetryError{Unsent: true, Err: errors.New("slow down")}, false, false},
		"SlowDownAndSent": {&approval.RetryError{After: time.Second, Err: errors.New("bad gateway")}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			housed(t, func(t *testing.T, h *house) {
				h.chat.failing(func(string) (bool, error) { return tt.sent, tt.err })
				a, err := h.Propose(t.Context(), agent, dispatcher.Request{Proposal: shell("make a")})
				if err != nil {
					t.Fatal(err)
				}
				first := h.onlyCardOn(t, "chat")
				settle()
				h.chat.failing(nil)
				time.Sleep(time.Minute)
				synctest.Wait()
				r, err := h.Decide(t.Context(), approval.Tap{Token: first.Buttons[0].Token, By: owner, Channel: "chat"})
				if err != nil || r.Replaced != tt.replaced || r.Won == tt.replaced {
					t.Errorf("the first buttons: %+v, %v", r, err)
				}
				if got := h.state(a.Approval.ID); (got == approval.Pending) != tt.replaced {
					t.Errorf("it is %s", got)
				}
			})
		})
	}
}

// TestReplacedButtonsAreBounded checks that an outage in which the outcome of every try is
// unknown keeps the ask's record within bounds, and that its card gets through afterwards.
func TestReplacedButtonsAreBounded(t *testing.T) {
	race.Alone(t)
	housed(t, func(t *testing.T, h *house) {
		h.chat.failing(func(string) (bool, error) {
			return true, &approval.RetryError{After: 4 * time.Second, Err: errors.New("no answer")}
		})
		a, err := h.Propose(t.Context(), agent, dispatcher.Request{Proposal: shell("make a")})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(25 * time.Minute)
		h.chat.failing(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		r, err := h.store.Get(t.Context(), approval.KindAsk, string(a.Approval.ID.Ask()))
		messages := h.chat.seen()
		if err != nil || len(r.Keys) > 400 || len(messages) < 300 {
			t.Fatalf("%d messages, %d keys, %v", len(messages), len(r.Keys), err)
		}
		for _, m := range []message{messages[0], messages[len(messages)-2]} {
			r, err := h.Decide(t.Context(), approval.Tap{Token: m.card.Buttons[0].Token, By: owner, Channel: "chat"})
			if err == nil && !r.Replaced || err != nil && !errors.Is(err, approval.ErrNotFound) {
				t.Errorf("a button of %s: %+v, %v", m.ref, r, err)
			}
		}
		if r := h.press(messages[len(messages)-1], all, approval.ChoiceAllow); !r.Won {
			t.Errorf("the last message: %+v", r)
		}
	})
}

// TestACardIsPostedAnew checks that a channel whose message cannot show the card any more
// gets a new message, as long as somebody can still answer.
func TestACardIsPostedAnew(t *testing.T) {
	housed(t, func(t *testing.T, h *house) {
		h.ask("make a", 1)
		settle()
		h.chat.failingOn("amend", approval.ErrRepost)
		b := h.ask("make b", 2)
		settle()
		messages := h.chat.seen()
		if len(messages) != 2 || len(messages[1].card.Items) != 2 {
			t.Fatalf("got %+v", messages)
		}
		if r := h.press(messages[0], all, approval.ChoiceAllow); !r.Replaced {
			t.Errorf("the old message: %+v", r)
		}
		h.press(messages[1], all, approval.ChoiceDeny)
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := len(h.chat.seen()); n != 2 {
			t.Errorf("%d messages were posted", n)
		}
		ask, err := h.Find(t.Context(), string(b.Approval.ID))
		if err != nil || !ask.On("chat").Gone || !ask.Done() {
			t.Errorf("a message that cannot show the end: %+v, %v", ask.On("chat"), err)
		}
	})
}

// TestACardThatIsLookedForComesBack checks that a card that somebody looks for is written
// again, and that one whose message is gone comes back with new buttons, as often as
// necessary. What is over is left alone.
func TestACardThatIsLookedForComesBack(t *testing.T) {
	housed(t, func(t *testing.T, h *house) {
		a := h.ask("make a", 1)
		settle()
		look := func(want int, when string) {
			t.Helper()
			if err := h.Look(t.Context(), a.Approval.ID.Ask(), "chat"); err != nil {
				t.Fatalf("%s: %v", when, err)
			}
			settle()
			if n := len(h.chat.seen()); n != want {
				t.Fatalf("%s: %d messages were posted, want %d", when, n, want)
			}
		}
		look(1, "it is there")
		h.chat.failingOn("amend", approval.ErrGone)
		look(2, "it was deleted")
		look(3, "and its successor, too")
		messages := h.chat.seen()
		if r := h.press(messages[0], all, approval.ChoiceAllow); !r.Replaced {
			t.Errorf("the deleted message: %+v", r)
		}
		h.chat.failing(nil)
		if r := h.press(messages[2], all, approval.ChoiceDeny); !r.Won {
			t.Errorf("the card that came back: %+v", r)
		}
		settle()
		h.chat.failingOn("amend", approval.ErrGone)
		look(3, "it is over")
		if err := h.Look(t.Context(), "nobody", "chat"); err != nil {
			t.Errorf("an unknown ask: %v", err)
		}
	})
}

// TestAnOrphanIsAdopted checks that if an ask ends elsewhere before its card is posted
// again, its only message on the channel is the orphan, which shows the end once the
// channel has found it.
func TestAnOrphanIsAdopted(t *testing.T) {
	housed(t, func(t *testing.T, h *house) {
		a := h.askAndCrash()
		h.chat.failingOn("post", &approval.RetryError{After: time.Minute, Unsent: true, Err: errors.New("slow down")})
		h.restart()
		settle()
		adopt := func(want bool, when string) {
			t.Helper()
			adopted, err := h.Adopt(t.Context(), a.Approval.ID.Ask(), "chat", "m1")
			if err != nil || adopted != want {
				t.Errorf("%s: adopted %v, %v", when, adopted, err)
			}
			settle()
		}
		adopt(false, "it waits")
		if _, err := h.Decide(t.Context(), approval.Tap{Ask: a.Approval.ID.Ask(), Choice: approval.ChoiceDeny, By: owner, Channel: "cli"}); err != nil {
			t.Fatal(err)
		}
		adopt(false, "a post is due")
		h.chat.failing(nil)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if n := len(h.chat.seen()); n != 1 {
			t.Fatalf("%d messages were posted", n)
		}
		adopt(true, "it ended unseen")
		if m := h.chat.seen()[0]; len(m.card.Buttons) != 0 || m.card.Items[0].State != approval.Denied {
			t.Errorf("the orphan shows %+v", m.card)
		}
		adopt(false, "it has a card")
		if _, err := h.Adopt(t.Context(), "nobody", "chat", "m1"); !errors.Is(err, approval.ErrNotFound) {
			t.Errorf("an unknown ask: %v", err)
		}
	})
}

// TestAMessageThatGaveWayForNothing checks that a message that was to be replaced still
// shows the end if its ask ends before that, because then no other message comes.
func TestAMessageThatGaveWayForNothing(t *testing.T) {
	housed(t, func(t *testing.T, h *house) {
		a := h.ask("make a", 1)
		settle()
		h.chat.failing(func(kind string) (bool, error) {
			if kind != "amend" {
				return true, nil
			}
			h.chat.failing(nil)
			_, err := h.Decide(t.Context(), approval.Tap{Ask: a.Approval.ID.Ask(), Choice: approval.ChoiceDeny, By: owner, Channel: "cli"})
			return false, errors.Join(approval.ErrRepost, err)
		})
		h.ask("make b", 2)
		settle()
		time.Sleep(time.Hour)
		synctest.Wait()
		messages := h.chat.seen()
		if len(messages) != 1 {
			t.Errorf("%d messages were posted", len(messages))
		}
		for _, m := range messages {
			if len(m.card.Buttons) != 0 || len(m.card.Items) != 2 || m.card.Items[0].State != approval.Denied {
				t.Errorf("%s shows %+v", m.ref, m.card)
			}
		}
	})
}

// onlyCardOn returns the one card that waits, as the channel shows it.
func (h *house) onlyCardOn(t *testing.T, channel string) approval.Card {
	t.Helper()
	for c, err := range h.Pending(t.Context(), channel) {
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	t.Fatal("no card waits")
	return approval.Card{}
}
