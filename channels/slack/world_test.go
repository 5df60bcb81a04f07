package slack_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/channeltest"
	"github.com/metnos/vaglio/channels/payloads"
	"github.com/metnos/vaglio/channels/slack"
	"github.com/metnos/vaglio/channels/slack/slacktest"
	"github.com/metnos/vaglio/vaglio"
)

// The people and places of the workspace. Ann is listed, Bob is in the listed user group,
// and Eve is neither.
const (
	home  = "C0000000001"
	other = "C0000000002"
	ann   = "U00000000A1"
	bob   = "U00000000B1"
	eve   = "U00000000E1"
	group = "S0000000001"
)

// memory stores the app's notes.
type memory = channeltest.Memory[slack.Notes]

// pictures draws cards. It is shared, because each desk reads its rules once.
var pictures = channeltest.NewDesk(nil)

func card(a *approval.Ask, channel string) approval.Card { return pictures.Picture(a, channel) }

// world is a platform, a desk and the app between them.
type world struct {
	t       *testing.T
	server  *slacktest.Server
	desk    *channeltest.Desk
	hands   slack.Desk // the desk that the channel is given
	memory  *memory
	channel *slack.Channel
	log     *channeltest.Log
	config  slack.Config
	stop    func()
}

// inWorld runs a test in a bubble, with the app connected over sockets.
func inWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.start()
		test(w)
		w.discreet()
	})
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, server: slacktest.New(), desk: channeltest.NewDesk(nil), memory: &memory{}, log: &channeltest.Log{}, stop: func() {}}
	w.hands = w.desk
	w.desk.Account(payloads.Digest(3), 0)
	for id, name := range map[string]string{ann: "Ann", bob: "Bob", eve: "Eve"} {
		w.server.AddUser(slacktest.User{ID: id, Name: strings.ToLower(name), RealName: name})
	}
	w.server.SetGroup(group, bob)
	w.server.AddChannel(home, ann, bob, eve)
	w.server.AddChannel(other, ann)
	w.server.Start()
	t.Cleanup(func() { w.stop(); w.server.Stop() })
	w.config = slack.Config{
		BotToken: slacktest.BotToken, AppToken: slacktest.AppToken, Channel: home, Approvers: []string{ann, group},
		API: "http://slack.test/api", Client: w.server.Client(), Dial: w.server.Dial, Memory: w.memory, Edits: edits,
		Log: slog.New(slog.NewTextHandler(w.log, nil)),
	}
	w.build()
	return w
}

// build makes a new channel over the same memory.
func (w *world) build() {
	w.t.Helper()
	var err error
	if w.channel, err = slack.New(w.t.Context(), w.config); err != nil {
		w.t.Fatal(err)
	}
}

// start runs the channel.
func (w *world) start() {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := w.channel.Run(ctx, w.hands); err != nil {
			w.t.Error(err)
		}
	}()
	w.stop = func() { cancel(); <-done }
	time.Sleep(5 * time.Second)
	synctest.Wait()
}

// discreet fails the test if a secret is in the log.
func (w *world) discreet() {
	w.t.Helper()
	for _, secret := range []string{slacktest.BotToken, slacktest.AppToken, slacktest.SigningSecret} {
		if strings.Contains(w.log.String(), secret) {
			w.t.Errorf("a secret is in the log:\n%s", w.log)
		}
	}
}

// denial returns what a judge said about a call, and whether it can be undone.
func denial(undo string) vaglio.Verdict {
	v := channeltest.Denial()
	v.Results[0].Metadata = vaglio.Args{"effects": []any{map[string]any{"kind": "delete", "reversibility": undo, "reach": "workspace"}}}
	return v
}

func command(line string) vaglio.Proposal { return channeltest.Command(line) }

func commands(lines ...string) []vaglio.Proposal {
	var all []vaglio.Proposal
	for _, l := range lines {
		all = append(all, command(l))
	}
	return all
}

// newAsk opens an ask for the calls.
func newAsk(t testing.TB, v vaglio.Verdict, calls ...vaglio.Proposal) *approval.Ask {
	t.Helper()
	return channeltest.Open(t, slack.Name, v, calls...)
}

// ask opens an ask and posts its card.
func (w *world) ask(calls ...vaglio.Proposal) *approval.Ask {
	w.t.Helper()
	return w.post(newAsk(w.t, denial("partial"), calls...))
}

// post posts the card of an ask.
func (w *world) post(a *approval.Ask) *approval.Ask {
	w.t.Helper()
	ref, err := w.channel.Post(w.t.Context(), card(a, slack.Name))
	if err != nil {
		w.t.Fatal(err)
	}
	a.Cards[0].Ref = ref
	w.desk.Add(a)
	return a
}

// amend makes the ask's card show its state.
func (w *world) amend(a *approval.Ask) error {
	return w.channel.Amend(w.t.Context(), a.Cards[0].Ref, card(a, slack.Name))
}

// ts returns the timestamp of a card's message.
func ts(a *approval.Ask) string { return strings.Split(a.Cards[0].Ref, ":")[1] }

// shown returns the ask's card as it now stands in the channel.
func (w *world) shown(a *approval.Ask) slacktest.Message {
	w.t.Helper()
	m, ok := w.server.Message(home, ts(a))
	if !ok {
		w.t.Fatalf("the card %s is not there", a.Cards[0].Ref)
	}
	return m
}

// press presses a button of the ask's card, and returns the delivery.
func (w *world) press(user string, a *approval.Ask, label string) slacktest.Delivery {
	w.t.Helper()
	id, err := w.server.Press(user, home, ts(a), label)
	if err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
	return w.server.Delivery(id)
}

// whispered returns what a person was told last.
func (w *world) whispered(user string) string {
	w.t.Helper()
	synctest.Wait()
	last := ""
	for _, e := range w.server.Ephemerals() {
		if e.User == user {
			last = e.Text
		}
	}
	return last
}

// thread returns the messages below a card.
func (w *world) thread(a *approval.Ask) []slacktest.Message {
	w.t.Helper()
	synctest.Wait()
	var all []slacktest.Message
	for _, m := range w.server.Messages(home) {
		if m.ThreadTS == ts(a) {
			all = append(all, m)
		}
	}
	return all
}

// wants fails the test if a text lacks a part.
func (w *world) wants(text string, parts ...string) {
	w.t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			w.t.Errorf("%q is not in:\n%s", p, text)
		}
	}
}
