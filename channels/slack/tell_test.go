package slack_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/channels/slack"
	"github.com/metnos/vaglio/channels/slack/slacktest"
	"github.com/metnos/vaglio/templates"
)

// teller is a channel with threads.
type teller interface {
	Tell(ctx context.Context, ref string, c approval.Card, turn report.Counts, again bool) error
}

// ended returns an ask on the channel that Ann denied.
func (w *world) ended(name, line string) *approval.Ask {
	w.t.Helper()
	a := w.askOn([]string{name}, command(line))
	w.desk.Change(func() {
		tap := approval.Tap{Ask: a.ID, Choice: approval.ChoiceDeny, By: approval.Person{ID: "slack:" + ann, Name: "Ann"}, Channel: name, Words: "use the other folder"}
		if _, err := a.Decide(tap, time.Now(), time.Minute); err != nil {
			w.t.Fatal(err)
		}
	})
	return a
}

// below returns the messages in the thread of the ask's card.
func (w *world) below(a *approval.Ask, name string) (all []slacktest.Message) {
	w.t.Helper()
	channel, ts := stands(a, name)
	for _, m := range w.server.Messages(channel) {
		if m.ThreadTS == ts {
			all = append(all, m)
		}
	}
	return all
}

func TestTheEndIsToldInTheThread(t *testing.T) {
	inRoutedWorld(t, func(w *world) {
		for _, name := range []string{slack.Name, "slack:" + ops} {
			a := w.ended(name, "rm -rf ./build")
			turn := report.Counts{
				Judged: 9, Approved: 5, Guard: 1, Vetoed: 3,
				Fates: report.Fates{Allowed: 1, Denied: 2, Runs: report.Runs{Succeeded: 1}},
			}
			at := w.at(name).(teller)
			// Twice, as after a crash between the message and its mark.
			for _, again := range []bool{false, true} {
				if err := at.Tell(w.t.Context(), a.Cards[0].Ref, card(a, name), turn, again); err != nil {
					w.t.Fatal(err)
				}
			}
			all := w.below(a, name)
			if len(all) != 1 || len(all[0].Buttons()) != 0 {
				w.t.Fatalf("%s: the thread is %+v", name, all)
			}
			w.wants(all[0].Shown(), "Denied by Ann (slack:"+ann+")", "use the other folder",
				"The turn so far: 9 calls were judged: 5 passed, 1 refused by the guard, 3 by judges. ✅ 1 allowed once · 1 ran and worked 🚫 2 denied")
			w.wants(all[0].Text, "Runs rm -rf ./build", "Can be undone in part · stays in the workspace")
			w.onlyPlain(all[0].Blocks)
		}
	})
}

// TestTheTurnOfOneCallIsNotCounted has nothing to tell but the call.
func TestTheTurnOfOneCallIsNotCounted(t *testing.T) {
	inRoutedWorld(t, func(w *world) {
		a := w.ended(slack.Name, "make")
		if err := w.channel.Tell(w.t.Context(), a.Cards[0].Ref, card(a, slack.Name), report.Counts{Judged: 1, Vetoed: 1}, false); err != nil {
			w.t.Fatal(err)
		}
		if said := w.below(a, slack.Name)[0].Shown(); strings.Contains(said, "turn") {
			w.t.Errorf("it says %s", said)
		}
	})
}

// TestALongThreadIsLookedThrough puts the line after more than a page of talk, and lets
// somebody repeat it.
func TestALongThreadIsLookedThrough(t *testing.T) {
	inRoutedWorld(t, func(w *world) {
		a := w.ended(slack.Name, "make")
		channel, ts := stands(a, slack.Name)
		for range 450 {
			w.server.Say(eve, channel, ts, "talk")
		}
		for _, again := range []bool{true, true, true} {
			if err := w.channel.Tell(w.t.Context(), a.Cards[0].Ref, card(a, slack.Name), report.Counts{}, again); err != nil {
				w.t.Fatal(err)
			}
		}
		if n := len(w.below(a, slack.Name)); n != 451 {
			w.t.Errorf("%d messages in the thread", n)
		}
	})
}

// TestTellingHasAnEnd checks that telling ends whatever the platform answers.
func TestTellingHasAnEnd(t *testing.T) {
	inRoutedWorld(t, func(w *world) {
		a := w.ended(slack.Name, "make")
		tell := func(again bool) error {
			time.Sleep(time.Minute)
			return w.channel.Tell(w.t.Context(), a.Cards[0].Ref, card(a, slack.Name), report.Counts{}, again)
		}
		for _, c := range []struct {
			method, word string
			gone         bool
		}{
			{"chat.postMessage", "thread_not_found", true},
			{"chat.postMessage", "is_archived", true},
			{"chat.postMessage", "not_in_channel", true},
			{"chat.postMessage", "internal_error", false},
			{"conversations.replies", "thread_not_found", true},
			{"conversations.replies", "internal_error", false},
			{"conversations.replies", "channel_not_found", true},
		} {
			w.server.Fail(c.method, 1, slacktest.Fault{Error: c.word})
			err := tell(c.method == "conversations.replies")
			_, retry := errors.AsType[*approval.RetryError](err)
			if errors.Is(err, approval.ErrGone) != c.gone || retry == c.gone {
				w.t.Errorf("%s %s: %v", c.method, c.word, err)
			}
		}
		// If the app may not look, it tells the end again rather than not at all.
		w.server.Fail("conversations.replies", 1, slacktest.Fault{Error: "missing_scope"})
		if err := tell(true); err != nil || len(w.below(a, slack.Name)) != 1 {
			w.t.Errorf("got %v", err)
		}
		if err := w.channel.Tell(w.t.Context(), "nonsense", card(a, slack.Name), report.Counts{}, false); !errors.Is(err, approval.ErrGone) {
			w.t.Errorf("a reference that is none: %v", err)
		}
	})
}

func TestTheEndIsToldInItalian(t *testing.T) {
	inRoutedWorld(t, func(w *world) {
		w.stop()
		w.config.Lang = templates.Italian
		w.build()
		w.start()
		a := w.ended("slack:"+ops, "make")
		if err := w.at("slack:"+ops).(teller).Tell(w.t.Context(), a.Cards[0].Ref, card(a, slack.Name), report.Counts{Judged: 4, Approved: 3, Vetoed: 1}, false); err != nil {
			w.t.Fatal(err)
		}
		w.wants(w.below(a, "slack:"+ops)[0].Shown(), "Negata da Ann", "Il turno finora: 4 azioni giudicate: 3 passate")
	})
}
