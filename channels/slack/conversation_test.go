package slack_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/channeltest"
	"github.com/metnos/vaglio/channels/slack"
	"github.com/metnos/vaglio/channels/slack/slacktest"
	"github.com/metnos/vaglio/vaglio"
)

// Channels of routes.
const (
	ops    = "C0000000003"
	deploy = "C0000000004"
)

// routed opens the routes' channels, and builds the app with them.
func (w *world) routed() *world {
	w.t.Helper()
	for _, id := range []string{ops, deploy} {
		w.server.AddChannel(id, ann, bob, eve)
	}
	w.config.Others = []string{ops, deploy}
	w.build()
	return w
}

// inRoutedWorld runs a test in a bubble, with the app up in three channels.
func inRoutedWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t).routed()
		w.start()
		test(w)
		w.discreet()
	})
}

// at returns the app's channel with the name.
func (w *world) at(name string) channeltest.Channel {
	w.t.Helper()
	for _, at := range w.channel.Conversations() {
		if at.Name() == name {
			return at
		}
	}
	if name != slack.Name {
		w.t.Fatalf("there is no channel %s", name)
	}
	return w.channel
}

// askOn opens an ask on the channels, and posts its cards.
func (w *world) askOn(channels []string, calls ...vaglio.Proposal) *approval.Ask {
	w.t.Helper()
	a := newAsk(w.t, denial("partial"), calls...)
	moved := make([]approval.Shown, len(channels))
	for i, name := range channels {
		moved[i] = approval.Shown{Channel: name, Callbacks: map[approval.Token]approval.Callback{
			approval.NewToken(): {Approval: a.Approvals[0].ID, Choice: approval.ChoiceAllow},
			approval.NewToken(): {Approval: a.Approvals[0].ID, Choice: approval.ChoiceDeny},
		}}
	}
	a.Cards = moved
	for i, name := range channels {
		ref, err := w.at(name).Post(w.t.Context(), card(a, name))
		if err != nil {
			w.t.Fatal(err)
		}
		a.Cards[i].Ref = ref
	}
	w.desk.Add(a)
	return a
}

// stands returns the channel and the timestamp of the ask's card on the named channel.
func stands(a *approval.Ask, name string) (channel, ts string) {
	return split(a.On(name).Ref)
}

// pressAt presses a button of the ask's card on the channel.
func (w *world) pressAt(user string, a *approval.Ask, name, label string) {
	w.t.Helper()
	channel, ts := stands(a, name)
	if _, err := w.server.Press(user, channel, ts, label); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
}

func TestAChannelOfARoute(t *testing.T) {
	inRoutedWorld(t, func(w *world) {
		both := []string{"slack:" + ops, "slack:" + deploy}
		a := w.askOn(both, command("make"))
		for _, id := range []string{home, ops, deploy} {
			if n := len(w.server.Messages(id)); n != map[string]int{home: 0, ops: 1, deploy: 1}[id] {
				w.t.Errorf("%d messages in %s", n, id)
			}
		}
		w.pressAt(ann, a, "slack:"+ops, "Allow once")
		if tap := w.desk.Taps()[0]; tap.Channel != "slack:"+ops || tap.By.ID != "slack:"+ann || w.desk.Won() != 1 {
			w.t.Errorf("the tap is %+v", tap)
		}
		w.pressAt(bob, a, "slack:"+deploy, "Deny")
		w.wants(w.whispered(bob), "Ann (slack:"+ann+")")
		for _, name := range both {
			if err := w.at(name).Amend(w.t.Context(), a.On(name).Ref, card(a, name)); err != nil {
				w.t.Fatal(err)
			}
			channel, ts := stands(a, name)
			m, _ := w.server.Message(channel, ts)
			w.wants(m.Shown(), "Allowed once by Ann (slack:"+ann+")")
		}
	})
}

// TestWordsInAChannelOfARoute writes words in a thread and in a modal.
func TestWordsInAChannelOfARoute(t *testing.T) {
	inRoutedWorld(t, func(w *world) {
		name := "slack:" + ops
		a, b := w.askOn([]string{name}, command("make")), w.askOn([]string{name}, command("make"))
		channel, ts := stands(a, name)
		w.server.Say(eve, channel, ts, "no")
		w.server.Say(ann, home, ts, "a thread of another channel that has its timestamp")
		synctest.Wait()
		if w.desk.Won() != 0 {
			w.t.Fatalf("decided by %+v", w.desk.Taps())
		}
		w.server.Say(ann, channel, ts, "use the other folder")
		synctest.Wait()
		if d := a.Approvals[0].Decision; d == nil || d.Words != "use the other folder" || d.Channel != name {
			w.t.Errorf("decided is %+v", d)
		}
		w.pressAt(ann, b, name, "Deny with words…")
		if _, err := w.server.Submit(ann, map[string]string{"words": "not now"}); err != nil {
			w.t.Fatal(err)
		}
		synctest.Wait()
		if d := b.Approvals[0].Decision; d == nil || d.Words != "not now" || d.Channel != name {
			w.t.Errorf("decided is %+v", d)
		}
		if all := w.server.Ephemerals(); all[len(all)-1].Channel != ops {
			w.t.Errorf("it was answered in %s", all[len(all)-1].Channel)
		}
	})
}

// TestOneChannelHoldsUpNoOther breaks one channel after the other.
func TestOneChannelHoldsUpNoOther(t *testing.T) {
	inRoutedWorld(t, func(w *world) {
		for name, c := range map[string]struct {
			breaks, mend func()
			want         string
		}{
			"Archived": {func() { w.server.Archive(ops, true) }, func() { w.server.Archive(ops, false) }, "The channel " + ops + ", where cards are to go, is archived."},
			"Out":      {func() { w.server.Kick(ops, true) }, func() { w.server.Kick(ops, false) }, "The app is not in the channel " + ops},
		} {
			c.breaks()
			_, err := w.at("slack:"+ops).Post(w.t.Context(), card(newAsk(w.t, denial("partial"), command("make")), slack.Name))
			if r, ok := errors.AsType[*approval.RetryError](err); !ok || !r.Unsent {
				w.t.Errorf("%s: %v", name, err)
			}
			h := w.at("slack:" + ops).(*slack.Conversation).Health()
			w.wants(h.Problem, c.want)
			w.wants(h.Remedy, "METNOS_POLICY (approval.routes)")
			if h := w.channel.Health(); !h.OK() {
				w.t.Errorf("%s: the app's own channel has %+v", name, h)
			}
			w.askOn([]string{"slack:" + deploy}, command("make"))
			w.askOn([]string{slack.Name}, command("make"))
			found := w.channel.Examine(w.t.Context(), false)
			told := ""
			for _, f := range found {
				if f.Grade == approval.Wrong {
					told += f.Subject + ": " + f.Text + "\n"
				}
			}
			if !strings.HasPrefix(told, "slack channel "+ops+": "+c.want) || strings.Count(told, "\n") != 1 {
				w.t.Errorf("%s: the doctor finds %s", name, told)
			}
			c.mend()
			w.askOn([]string{"slack:" + ops}, command("make"))
			if h := w.at("slack:" + ops).(*slack.Conversation).Health(); !h.OK() {
				w.t.Errorf("%s, mended: %+v", name, h)
			}
		}
	})
}

// TestAwayIsToldWhereSomethingWaits restarts after a gap: only a channel in which something
// waits is told.
func TestAwayIsToldWhereSomethingWaits(t *testing.T) {
	inRoutedWorld(t, func(w *world) {
		w.askOn([]string{"slack:" + ops}, command("make"))
		w.askOn([]string{"slack:" + ops}, command("make"))
		w.stop()
		time.Sleep(10 * time.Minute)
		w.build()
		w.start()
		time.Sleep(15 * time.Second)
		all := w.server.Messages(ops)
		w.wants(all[len(all)-1].Shown(), "I could not listen between", "2 asks still wait")
		if n := len(w.server.Messages(home)) + len(w.server.Messages(deploy)); n != 0 {
			w.t.Errorf("%d messages where nothing waits", n)
		}
	})
}

// TestOrphansInChannelsOfRoutes simulates a crash after a card was sent and before its
// reference was stored.
func TestOrphansInChannelsOfRoutes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t).routed()
		name := "slack:" + ops
		kept := w.askOn([]string{name}, command("make"))
		if _, err := w.at(name).Post(t.Context(), card(kept, name)); err != nil {
			t.Fatal(err)
		}
		w.server.Archive(home, true) // which says nothing about the others
		w.build()
		w.start()
		defer w.stop()
		all := w.server.Messages(ops)
		if len(all) != 2 || len(all[0].Buttons()) == 0 || len(all[1].Buttons()) != 0 {
			t.Errorf("the messages are %+v", all)
		}
	})
}

// TestListsKnowAllChannels asks what waits, by command and in the home tab.
func TestListsKnowAllChannels(t *testing.T) {
	inRoutedWorld(t, func(w *world) {
		a := w.askOn([]string{"slack:" + ops}, command("make clean"))
		_, ts := stands(a, "slack:"+ops)
		link := slacktest.TeamURL + "archives/" + ops + "/p" + strings.ReplaceAll(ts, ".", "")
		id := w.server.Command(ann, home, "pending")
		synctest.Wait()
		if answer := string(w.server.Delivery(id).Answer); !strings.Contains(answer, link) {
			w.t.Errorf("%q is not in %s", link, answer)
		}
		w.server.OpenHome(ann)
		synctest.Wait()
		v, _ := w.server.Home(ann)
		if links := slacktest.Links(v.Blocks); len(links) != 1 || !strings.Contains(links[0], link) {
			w.t.Errorf("the home tab's links are %q", links)
		}
	})
}
