package telegram_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
)

// TestCardsComeAtThePlatformsPace posts more cards than the platform accepts at once, to one
// person and to a group, and is never refused.
func TestCardsComeAtThePlatformsPace(t *testing.T) {
	t.Parallel()
	t.Run("Person", func(t *testing.T) {
		inWorld(t, func(w *world) {
			w.server.Pace()
			time.Sleep(time.Minute)
			if took := w.flood(45); took < 25*time.Second || took > 27*time.Second {
				w.t.Errorf("45 cards took %s", took)
			}
		})
	})
	t.Run("Group", func(t *testing.T) {
		inWorld(t, func(w *world) {
			w.stop()
			w.inGroup()
			w.start()
			w.server.Pace()
			time.Sleep(time.Minute)
			if took := w.flood(45); took < 160*time.Second || took > 165*time.Second {
				w.t.Errorf("45 cards took %s", took)
			}
		})
	})
}

// flood posts cards one after another, the way the dispatcher does, and returns how long
// that took. No call may be refused.
func (w *world) flood(n int) time.Duration {
	w.t.Helper()
	began, refused := time.Now(), w.server.Refused()
	for i := range n {
		a := newAsk(w.t, command(fmt.Sprint("make ", i)))
		for _, err := w.channel.Post(w.t.Context(), card(a)); err != nil; _, err = w.channel.Post(w.t.Context(), card(a)) {
			put, ok := errors.AsType[*approval.RetryError](err)
			if !ok || !put.Unsent || put.After <= 0 {
				w.t.Fatalf("card %d: %v", i, err)
			}
			time.Sleep(put.After)
		}
	}
	if n := w.server.Refused() - refused; n > 0 {
		w.t.Errorf("the platform refused %d calls", n)
	}
	return time.Since(began)
}

// TestAnAnswerWaitsForNoTurn presses a button, and writes, while more cards come than
// the chat accepts: the press, the card that shows what was decided, and the answer to the
// words come at once.
func TestAnAnswerWaitsForNoTurn(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.ask(command("make"))
		time.Sleep(time.Minute)
		for i := range 25 {
			other := newAsk(w.t, command(fmt.Sprint("make ", i)))
			go func() { _, _ = w.channel.Post(w.t.Context(), card(other)) }()
		}
		time.Sleep(time.Millisecond)
		began := time.Now()
		if got := w.press(ann(), a, "Allow once"); got.Text != "Allowed once." {
			w.t.Errorf("the press was answered %+v", got)
		}
		if err := w.amend(a); err != nil {
			w.t.Error(err)
		}
		said := w.say(ann(), 0, "/help")
		if took := time.Since(began); took > 100*time.Millisecond || !strings.Contains(said.Text, "/pending") {
			w.t.Errorf("the answers took %s; the words were answered %q", took, said.Text)
		}
		time.Sleep(time.Minute)
	})
}
