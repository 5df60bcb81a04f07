package dispatcher_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
)

// finder is a chat that stores on disk what it posts before the message has buttons.
type finder struct{ *chat }

func (f finder) Found(ask approval.AskID) (string, bool) {
	for _, m := range f.seen() {
		if m.card.Ask == ask {
			return m.ref, true
		}
	}
	return "", false
}

// askedAndKilled asks about a call, and breaks the store after the channel has posted its
// card and before that is recorded.
func (h *house) askedAndKilled(c *chat) approval.Answer {
	h.t.Helper()
	asked := make(chan struct{})
	c.posting = func() {
		<-asked
		c.mu.Lock()
		defer c.mu.Unlock()
		c.posting = nil
		h.store.Break(errors.New("killed"))
	}
	a := h.ask("make a", 1)
	close(asked)
	settle()
	return a
}

// TestAMessageThatIsFoundIsTheCards checks that a message left by a crash is not an orphan if
// its channel knows it: its buttons decide and it becomes final, even if somebody answers
// elsewhere before it is recorded.
func TestAMessageThatIsFoundIsTheCards(t *testing.T) {
	for name, elsewhere := range map[string]bool{"PressedThere": false, "AnsweredElsewhere": true} {
		t.Run(name, func(t *testing.T) {
			housed(t, func(t *testing.T, h *house) {
				f := finder{&chat{name: "finder"}}
				h.also = []dispatcher.Channel{f}
				h.restart()
				a := h.askedAndKilled(f.chat)
				f.failingOn("amend", &approval.RetryError{After: time.Minute, Err: errors.New("slow down")})
				h.restart()
				settle()
				if n := len(f.seen()); n != 1 {
					t.Fatalf("%d messages were posted", n)
				}
				from := f.seen()[0]
				if elsewhere {
					from = h.chat.seen()[len(h.chat.seen())-1]
				}
				if r := h.press(from, all, approval.ChoiceDeny); !r.Won || r.Replaced {
					t.Errorf("the press: %+v", r)
				}
				f.failing(nil)
				time.Sleep(2 * time.Minute)
				settle()
				all := f.seen()
				if len(all) != 1 || len(all[0].card.Buttons) != 0 || all[0].card.Items[0].State != approval.Denied || h.state(a.Approval.ID) != approval.Denied {
					t.Errorf("at the end there are %+v", all)
				}
			})
		})
	}
}

// TestAFoundMessageThatIsGoneIsPostedAgain checks that a found message that was deleted
// meanwhile is replaced.
func TestAFoundMessageThatIsGoneIsPostedAgain(t *testing.T) {
	housed(t, func(t *testing.T, h *house) {
		f := finder{&chat{name: "finder"}}
		h.also = []dispatcher.Channel{f}
		h.restart()
		h.askedAndKilled(f.chat)
		f.failingOn("amend", approval.ErrGone)
		h.restart()
		settle()
		messages := f.seen()
		if len(messages) != 2 {
			t.Fatalf("%d messages were posted", len(messages))
		}
		if r := h.press(messages[1], all, approval.ChoiceAllow); !r.Won {
			t.Errorf("the new message: %+v", r)
		}
	})
}

// forgetful forgets how to find a message once the message shows its card. The first time,
// everything is killed right after that.
type forgetful struct {
	finder
	amended *bool
	kill    func()
}

func (f forgetful) Found(ask approval.AskID) (string, bool) {
	if *f.amended {
		return "", false
	}
	return f.finder.Found(ask)
}

func (f forgetful) Amend(ctx context.Context, ref string, card approval.Card) error {
	err := f.finder.Amend(ctx, ref, card)
	if !*f.amended {
		*f.amended = true
		f.kill()
	}
	return err
}

// TestAFoundMessageIsKnownBeforeItIsAmended checks that a found message still belongs to
// the card if a crash follows right after it was amended, although the channel has
// forgotten it.
func TestAFoundMessageIsKnownBeforeItIsAmended(t *testing.T) {
	housed(t, func(t *testing.T, h *house) {
		up := make(chan struct{})
		f := forgetful{finder{&chat{name: "finder"}}, new(bool), func() {
			<-up
			h.store.Break(errors.New("killed again"))
		}}
		h.also = []dispatcher.Channel{f}
		h.restart()
		h.askedAndKilled(f.chat)
		h.restart()
		close(up)
		settle()
		h.restart()
		settle()
		messages := f.seen()
		if len(messages) != 1 {
			t.Fatalf("%d messages were posted", len(messages))
		}
		if r := h.press(messages[0], all, approval.ChoiceAllow); !r.Won || r.Replaced {
			t.Errorf("the press: %+v", r)
		}
	})
}
