package slack_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/slack"
	"github.com/metnos/vaglio/channels/slack/slacktest"
)

// TestOneMessageASecond posts more than the platform accepts at once, in two channels, and
// is never refused. Neither channel waits for the other.
func TestOneMessageASecond(t *testing.T) {
	inRoutedWorld(t, func(w *world) {
		w.server.Pace(time.Second)
		time.Sleep(time.Minute)
		began := time.Now()
		var both sync.WaitGroup
		for _, name := range []string{slack.Name, "slack:" + ops} {
			both.Go(func() {
				for i := range 10 {
					if _, err := w.at(name).Post(w.t.Context(), card(newAsk(w.t, denial("partial"), command(fmt.Sprint("make ", i))), name)); err != nil {
						w.t.Errorf("%s, card %d: %v", name, i, err)
					}
				}
			})
		}
		both.Wait()
		if took := time.Since(began); took < 9*time.Second || took > 10*time.Second {
			w.t.Errorf("ten messages in each of two channels took %s", took)
		}
		if n := len(w.server.Calls("chat.postMessage")); n != 20 {
			w.t.Errorf("it took %d calls", n)
		}
	})
}

// TestAPauseHoldsWhereTheLimitIs checks that a rate limit in one channel pauses only that
// channel.
func TestAPauseHoldsWhereTheLimitIs(t *testing.T) {
	inRoutedWorld(t, func(w *world) {
		post := func(name string) error {
			_, err := w.at(name).Post(w.t.Context(), card(newAsk(w.t, denial("partial"), command("make")), name))
			return err
		}
		limited := func(err error, after time.Duration) {
			w.t.Helper()
			if r, ok := errors.AsType[*approval.RetryError](err); !ok || r.After != after || !r.Unsent {
				w.t.Errorf("got %v, want a pause of %s", err, after)
			}
		}
		a := w.askOn([]string{"slack:" + ops}, command("make"))
		time.Sleep(time.Minute)
		w.server.Fail("chat.postMessage", 1, slacktest.Fault{Error: "ratelimited", Code: 429, RetryAfter: 20 * time.Second})
		limited(post("slack:"+ops), 20*time.Second)
		for _, name := range []string{slack.Name, "slack:" + deploy} {
			if err := post(name); err != nil {
				w.t.Errorf("%s: %v", name, err)
			}
		}
		if err := w.at("slack:"+ops).Amend(w.t.Context(), a.Cards[0].Ref, card(a, "slack:"+ops)); err != nil {
			w.t.Errorf("a card that is there: %v", err)
		}
		time.Sleep(5 * time.Second)
		before := len(w.server.Calls("chat.postMessage"))
		limited(post("slack:"+ops), 15*time.Second)
		if n := len(w.server.Calls("chat.postMessage")); n != before {
			w.t.Error("it was asked again in the pause")
		}
		time.Sleep(15 * time.Second)
		if err := post("slack:" + ops); err != nil {
			w.t.Errorf("after the pause: %v", err)
		}
		// Amendments are limited per workspace.
		w.server.Fail("chat.update", 1, slacktest.Fault{Error: "ratelimited", Code: 429, RetryAfter: 30 * time.Second})
		for _, name := range []string{"slack:" + ops, "slack:" + deploy} {
			limited(w.at(name).Amend(w.t.Context(), a.Cards[0].Ref, card(a, name)), 30*time.Second)
		}
	})
}

// TestALongQueueIsPutOff posts more messages to one channel than may wait for a turn.
func TestALongQueueIsPutOff(t *testing.T) {
	inRoutedWorld(t, func(w *world) {
		time.Sleep(time.Minute)
		var all sync.WaitGroup
		var mu sync.Mutex
		sent, off := 0, 0
		for range 20 {
			all.Go(func() {
				_, err := w.channel.Post(w.t.Context(), card(newAsk(w.t, denial("partial"), command("make")), slack.Name))
				mu.Lock()
				defer mu.Unlock()
				if r, ok := errors.AsType[*approval.RetryError](err); ok && r.Unsent && r.After >= 5*time.Second {
					off++
				} else if err == nil {
					sent++
				}
			})
		}
		all.Wait()
		synctest.Wait()
		if sent != 5 || off != 15 {
			w.t.Errorf("%d were sent and %d put off", sent, off)
		}
	})
}
