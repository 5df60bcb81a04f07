package slack_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/slack"
	"github.com/metnos/vaglio/channels/slack/slacktest"
	"github.com/metnos/vaglio/internal/race"
)

// buttons returns the number of buttons of each message in the channel.
func (w *world) buttons() (all []int) {
	w.t.Helper()
	synctest.Wait()
	for _, m := range w.server.Messages(home) {
		all = append(all, len(m.Buttons()))
	}
	return all
}

// TestOrphansLoseTheirButtons simulates a crash after a card was sent and before its
// reference was stored.
func TestOrphansLoseTheirButtons(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		kept := w.ask(command("make build"))
		lost := newAsk(t, denial("partial"), command("make clean"))
		for range 2 { // twice, as after two crashes
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

// TestAMessageThatMayHaveGotThere sends a message without getting an answer.
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

// TestManyOrphans has more orphans than one page of the channel's history holds.
func TestManyOrphans(t *testing.T) {
	race.Alone(t)
	if testing.Short() {
		t.Skip("draws hundreds of cards")
	}
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

// TestAnOrphanShowsTheEnd ends an ask elsewhere before its card is posted again: there is
// no newer card, so the newest orphan becomes the card.
func TestAnOrphanShowsTheEnd(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		before  bool // it ends before we are up again
		restart bool // we crash once more, after the buttons are gone
		pressed bool // somebody presses before we have looked
	}{
		"EndedWhileWeWereDown":   {before: true},
		"EndedAfterwards":        {},
		"EndedAndWeDiedOnceMore": {restart: true},
		"PressedToo":             {before: true, pressed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				lost := newAsk(t, denial("partial"), command("make clean"))
				for range 2 { // twice, as after two crashes
					if _, err := w.channel.Post(t.Context(), card(lost, slack.Name)); err != nil {
						t.Fatal(err)
					}
				}
				w.desk.Add(lost)
				elsewhere := approval.Tap{
					Ask: lost.ID, Choice: approval.ChoiceDeny, Channel: "telegram", By: approval.Person{ID: "telegram:1", Name: "Bob"},
				}
				end := func() {
					if _, err := w.desk.Decide(t.Context(), elsewhere); err != nil {
						t.Fatal(err)
					}
				}
				if !lost.Repost(slack.Name, approval.NewTokens(lost.PostTokens())) {
					t.Fatal("its buttons cannot be replaced")
				}
				if tt.before {
					end()
				}
				if tt.pressed {
					w.server.Fail("conversations.history", 1, slacktest.Fault{Code: 500})
				}
				w.build()
				w.start()
				if tt.pressed {
					older := w.server.Messages(home)[0]
					if _, err := w.server.Press(ann, home, older.TS, "Allow once"); err != nil {
						t.Fatal(err)
					}
					w.wants(w.whispered(ann), "Denied by Bob", "Your answer changed nothing")
				}
				if tt.restart {
					w.stop()
					w.build()
					end()
					w.start()
				}
				defer func() { w.stop() }()
				if !tt.before && !tt.restart {
					end()
				}
				time.Sleep(2 * time.Minute)
				older, newer := w.server.Messages(home)[0], w.server.Messages(home)[1]
				if want := home + ":" + newer.TS; lost.Cards[0].Ref != want {
					t.Fatalf("the ask's card is %q, not %s", lost.Cards[0].Ref, want)
				}
				if err := w.amend(lost); err != nil {
					t.Fatal(err)
				}
				w.wants(w.shown(lost).Shown(), "Denied by Bob")
				w.wants(older.Shown(), "A newer card has replaced this one.")
				if got := w.buttons(); got[0] != 0 || got[1] != 0 {
					t.Errorf("the messages have %v buttons", got)
				}
			})
		})
	}
}
