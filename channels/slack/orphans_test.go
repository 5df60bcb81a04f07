package slack_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/slack"
	"github.com/metnos/vaglio/channels/slack/slacktest"
)

// buttons are how many buttons each message of the channel has.
func (w *world) buttons() (all []int) {
	w.t.Helper()
	synctest.Wait()
	for _, m := range w.server.Messages(home) {
		all = append(all, len(m.Buttons()))
	}
	return all
}

// TestOrphansLoseTheirButtons dies between sending a card and keeping where it
// stands.
func TestOrphansLoseTheirButtons(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		kept := w.ask(command("make build"))
		lost := newAsk(t, denial("partial"), command("make clean"))
		for range 2 { // twice, as if we had died twice
			if _, err := w.channel.Post(t.Context(), card(lost, slack.Name)); err != nil {
				t.Fatal(err)
			}
		}
		w.desk.Add(lost)
		w.build()
		w.start()
		defer w.stop()
		if got := w.buttons(); got[0] == 0 || got[1] != 0 || got[2] != 0 {
			t.Errorf("the messages have %v buttons", got)
		}
		w.press(ann, kept, "Allow once")
		if w.desk.Won() != 1 {
			t.Error("the card that is known decides nothing")
		}
		ref, err := w.channel.Post(t.Context(), card(lost, slack.Name))
		if err != nil {
			t.Fatal(err)
		}
		w.desk.Change(func() { lost.Cards[0].Ref = ref })
		time.Sleep(5 * time.Minute)
		if got := w.buttons(); got[3] == 0 {
			t.Errorf("the new card is taken for an orphan: %v", got)
		}
	})
}

// TestAMessageThatMayHaveGotThere is sent and not answered.
func TestAMessageThatMayHaveGotThere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.start()
		defer w.stop()
		a := newAsk(t, denial("partial"), command("make clean"))
		w.desk.Add(a)
		w.server.Fail("chat.postMessage", 1, slacktest.Fault{Code: 500, After: true})
		if _, err := w.channel.Post(t.Context(), card(a, slack.Name)); err == nil {
			t.Fatal("a message that was not answered is there")
		}
		w.server.Fail("conversations.history", 1, slacktest.Fault{Code: 500})
		if got := w.buttons(); got[0] == 0 {
			t.Fatalf("the messages have %v buttons", got)
		}
		time.Sleep(5 * time.Minute)
		if got := w.buttons(); got[0] != 0 {
			t.Errorf("the messages have %v buttons", got)
		}
		if calls := len(w.server.Calls("conversations.history")); calls > 4 {
			t.Errorf("it looked %d times", calls)
		}
	})
}

// TestManyOrphans are more than one page of the channel's history.
func TestManyOrphans(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var gone *approval.Ask
		for range 250 {
			gone = newAsk(t, denial("partial"), command("make clean"))
			if _, err := w.channel.Post(t.Context(), card(gone, slack.Name)); err != nil {
				t.Fatal(err)
			}
		}
		w.build()
		w.start()
		defer w.stop()
		for i, n := range w.buttons() {
			if n != 0 {
				t.Fatalf("message %d has %d buttons", i, n)
			}
		}
	})
}
