package slack_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/slack"
	"github.com/metnos/vaglio/channels/slack/slacktest"
	"github.com/metnos/vaglio/vaglio"
)

// Who and what there is in the workspace. Ann is listed, Bob is in the listed
// user group, Eve is neither.
const (
	home  = "C0000000001"
	other = "C0000000002"
	ann   = "U00000000A1"
	bob   = "U00000000B1"
	eve   = "U00000000E1"
	group = "S0000000001"
)

// desk is a small dispatcher in memory: one tap decides, and what a card shows
// comes from the state.
type desk struct {
	mu      sync.Mutex
	asks    []*approval.Ask
	taps    []approval.Tap
	won     int
	entries []approval.Entry
	// fail, when set, is what every call answers.
	fail error
	// slow is how long a digest takes.
	slow time.Duration
	// wait, when set, holds every decision back until it is closed.
	wait chan struct{}
}

func (d *desk) Decide(ctx context.Context, t approval.Tap) (approval.Receipt, error) {
	d.mu.Lock()
	wait := d.wait
	d.mu.Unlock()
	if wait != nil {
		select {
		case <-wait:
		case <-ctx.Done():
			return approval.Receipt{}, ctx.Err()
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return approval.Receipt{}, d.fail
	}
	d.taps = append(d.taps, t)
	for _, a := range d.asks {
		if t.Token == "" && t.Ask != a.ID {
			continue
		}
		r, err := a.Decide(t, time.Now(), 10*time.Minute)
		if errors.Is(err, approval.ErrNotFound) {
			continue
		}
		if r.Won {
			d.won++
		}
		return r, err
	}
	return approval.Receipt{}, approval.ErrNotFound
}

func (d *desk) Pending(_ context.Context, channel string) iter.Seq2[approval.Card, error] {
	d.mu.Lock()
	defer d.mu.Unlock()
	var cards []approval.Card
	for _, a := range d.asks {
		if a.Waiting() {
			cards = append(cards, card(a, channel))
		}
	}
	fail := d.fail
	return func(yield func(approval.Card, error) bool) {
		if fail != nil {
			yield(approval.Card{}, fail)
			return
		}
		for _, c := range cards {
			if !yield(c, nil) {
				return
			}
		}
	}
}

func (d *desk) Card(_ context.Context, id approval.AskID, channel string) (approval.Card, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, a := range d.asks {
		if a.ID == id {
			return card(a, channel), d.fail
		}
	}
	return approval.Card{}, approval.ErrNotFound
}

func (d *desk) Find(_ context.Context, id string) (approval.Ask, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, a := range d.asks {
		if len(id) >= 4 && strings.HasPrefix(string(a.ID), id) {
			return *a, d.fail
		}
	}
	return approval.Ask{}, approval.ErrNotFound
}

func (d *desk) History(context.Context, approval.Filter) (approval.Page, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return approval.Page{Entries: d.entries}, d.fail
}

// set changes the desk.
func (d *desk) set(change func(d *desk)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(d)
}

// state returns the state of an ask's first call.
func (d *desk) state(a *approval.Ask) approval.State {
	d.mu.Lock()
	defer d.mu.Unlock()
	return a.Approvals[0].State
}

// masker is shared: each one reads its rules once.
var masker = approval.NewMasker(approval.Secret{1})

func card(a *approval.Ask, channel string) approval.Card {
	return approval.NewCard(*a, channel, masker)
}

// memory is a Memory.
type memory struct {
	mu    sync.Mutex
	notes slack.Notes
}

func (m *memory) Load(context.Context) (slack.Notes, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.notes, nil
}

func (m *memory) Save(_ context.Context, n slack.Notes) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.notes = n
	return nil
}

// text is a log for several goroutines.
type text struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *text) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *text) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// world is a platform, a desk and the app between them.
type world struct {
	t       *testing.T
	server  *slacktest.Server
	desk    *desk
	hands   slack.Desk // the desk that the channel is given
	memory  *memory
	channel *slack.Channel
	log     *text
	config  slack.Config
	stop    func()
}

// inWorld runs a test in a bubble, with the app up over sockets.
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
	w := &world{t: t, server: slacktest.New(), desk: &desk{}, memory: &memory{}, log: &text{}, stop: func() {}}
	w.hands = w.desk
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
		API: "http://slack.test/api", Client: w.server.Client(), Dial: w.server.Dial, Memory: w.memory,
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

// discreet fails the test when a secret is in the log.
func (w *world) discreet() {
	w.t.Helper()
	for _, secret := range []string{slacktest.BotToken, slacktest.AppToken, slacktest.SigningSecret} {
		if strings.Contains(w.log.String(), secret) {
			w.t.Errorf("a secret is in the log:\n%s", w.log)
		}
	}
}

// denial is what a judge said of a call.
func denial(undo string) vaglio.Verdict {
	return vaglio.Verdict{
		Reason: "it deletes more than was asked for", JudgeKind: "effects", Score: 0.2, BlockedBy: vaglio.PhaseJudge,
		Results: []vaglio.GradientResult{{
			Judge: "effects", Score: 0.2, Confidence: 1, Reasoning: "it deletes more than was asked for",
			Signals:  []vaglio.Signal{{Category: "delete", Score: 0.2, Message: "removes ./build"}},
			Metadata: vaglio.Args{"effects": []any{map[string]any{"kind": "delete", "reversibility": undo, "reach": "workspace"}}},
		}},
	}
}

func command(line string) vaglio.Proposal {
	return vaglio.Proposal{Executor: "shell_exec", Args: vaglio.Args{"command": line}, Context: vaglio.Context{Cwd: "/home/ann/app"}}
}

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
	d, err := approval.JudgeDenial(v)
	if err != nil {
		t.Fatal(err)
	}
	o := approval.Opening{
		Agent: "coder", Intent: "clean the old build", TurnID: "t-1", Channels: []string{slack.Name},
		At: time.Now(), ExpiresAt: time.Now().Add(30 * time.Minute),
	}
	for i, p := range calls {
		o.Calls = append(o.Calls, approval.Call{Proposal: p, Denial: d, Fingerprint: approval.Fingerprint(fmt.Sprint("fp", i))})
	}
	a, err := approval.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return &a
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
	w.desk.set(func(d *desk) {
		a.Cards[0].Ref = ref
		d.asks = append(d.asks, a)
	})
	return a
}

// amend makes the ask's card show its state.
func (w *world) amend(a *approval.Ask) error {
	return w.channel.Amend(w.t.Context(), a.Cards[0].Ref, card(a, slack.Name))
}

// ts is the timestamp of a card's message.
func ts(a *approval.Ask) string { return strings.Split(a.Cards[0].Ref, ":")[1] }

// shown returns the ask's card as it stands in the channel.
func (w *world) shown(a *approval.Ask) slacktest.Message {
	w.t.Helper()
	m, ok := w.server.Message(home, ts(a))
	if !ok {
		w.t.Fatalf("the card %s is not there", a.Cards[0].Ref)
	}
	return m
}

// press presses a button of the ask's card and returns how that fared.
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

// wants fails the test when a text lacks a part.
func (w *world) wants(text string, parts ...string) {
	w.t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			w.t.Errorf("%q is not in:\n%s", p, text)
		}
	}
}
