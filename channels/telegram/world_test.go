package telegram_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/telegram"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
	"github.com/metnos/vaglio/vaglio"
)

// desk is a small dispatcher in memory: one tap decides, and what a card shows
// comes from the state.
type desk struct {
	mu   sync.Mutex
	asks []*approval.Ask
	taps []approval.Tap
	won  int
	// fail, when set, is what every call answers.
	fail error
	// decided runs after each decision was committed.
	decided func()
}

func (d *desk) Decide(_ context.Context, t approval.Tap) (approval.Receipt, error) {
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
		if d.decided != nil {
			d.decided()
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

// fails makes every call fail, or none.
func (d *desk) fails(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail = err
}

// state returns the state of an ask's first call.
func (d *desk) state(a *approval.Ask) approval.State {
	d.mu.Lock()
	defer d.mu.Unlock()
	return a.Approvals[0].State
}

func card(a *approval.Ask, channel string) approval.Card {
	return approval.NewCard(*a, channel, approval.NewMasker(approval.Secret{1}))
}

// memory is a Memory that can fail.
type memory struct {
	mu    sync.Mutex
	notes telegram.Notes
	fail  error
}

func (m *memory) Load(context.Context) (telegram.Notes, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.notes, nil
}

func (m *memory) Save(ctx context.Context, n telegram.Notes) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := errors.Join(m.fail, ctx.Err()); err != nil {
		return err
	}
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

// world is a platform, a desk and a bot between them.
type world struct {
	t       *testing.T
	server  *telegramtest.Server
	desk    *desk
	hands   telegram.Desk // what the bot hands taps to: desk, unless a test changes it
	memory  *memory
	channel *telegram.Channel
	chat    int64
	log     *text
	config  telegram.Config
	stop    func()
}

func ann() telegramtest.User { return telegramtest.User{ID: 4711, FirstName: "Ann"} }
func bob() telegramtest.User { return telegramtest.User{ID: 4712, FirstName: "Bob"} }

// inWorld runs a test in a bubble, with a bot that Ann has paired.
func inWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.chat = w.server.Private(ann())
		w.memory.notes = telegram.Notes{Chat: w.chat, Person: ann().ID}
		w.start()
		test(w)
	})
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, server: telegramtest.New(), desk: &desk{}, memory: &memory{}, log: &text{}}
	w.hands = w.desk
	w.server.Start()
	t.Cleanup(w.server.Stop)
	w.config = telegram.Config{
		Token: telegramtest.Token, API: "http://telegram.test", Client: w.server.Client(), Memory: w.memory,
		Approvers: []int64{bob().ID}, Log: slog.New(slog.NewTextHandler(w.log, nil)),
	}
	return w
}

// start runs a new process of the bot over the same memory.
func (w *world) start() {
	w.t.Helper()
	channel, err := telegram.New(w.t.Context(), w.config)
	if err != nil {
		w.t.Fatal(err)
	}
	w.desk.mu.Lock()
	w.channel = channel
	w.desk.mu.Unlock()
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := channel.Run(ctx, w.hands); err != nil {
			w.t.Error(err)
		}
	}()
	w.stop = func() { cancel(); <-done }
	w.t.Cleanup(w.stop)
	synctest.Wait()
}

// denial is what a judge said of a call.
func denial() vaglio.Verdict {
	return vaglio.Verdict{
		Reason: "it deletes more than was asked for", JudgeKind: "effects", Score: 0.2, BlockedBy: vaglio.PhaseJudge,
		Results: []vaglio.GradientResult{{
			Judge: "effects", Score: 0.2, Confidence: 1, Reasoning: "it deletes more than was asked for",
			Signals: []vaglio.Signal{{Category: "delete", Score: 0.2, Message: "removes ./build"}},
		}},
	}
}

func command(line string) vaglio.Proposal {
	return vaglio.Proposal{Executor: "shell_exec", Args: vaglio.Args{"command": line}, Context: vaglio.Context{Cwd: "/home/ann/app"}}
}

// newAsk opens an ask for the calls.
func newAsk(t testing.TB, calls ...vaglio.Proposal) *approval.Ask {
	t.Helper()
	d, err := approval.JudgeDenial(denial())
	if err != nil {
		t.Fatal(err)
	}
	o := approval.Opening{
		Agent: "coder", Intent: "clean the old build", TurnID: "t-1", Channels: []string{telegram.Name},
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
	a := newAsk(w.t, calls...)
	ref, err := w.channel.Post(w.t.Context(), card(a, telegram.Name))
	if err != nil {
		w.t.Fatal(err)
	}
	w.desk.mu.Lock()
	defer w.desk.mu.Unlock()
	a.Cards[0].Ref = ref
	w.desk.asks = append(w.desk.asks, a)
	return a
}

// amend makes the ask's card show its state.
func (w *world) amend(a *approval.Ask) error {
	return w.channel.Amend(w.t.Context(), a.Cards[0].Ref, card(a, telegram.Name))
}

// shown returns the ask's card as it stands in the chat.
func (w *world) shown(a *approval.Ask) telegramtest.Message {
	w.t.Helper()
	var chat int64
	var id int
	if _, err := fmt.Sscanf(a.Cards[0].Ref, "%d:%d", &chat, &id); err != nil {
		w.t.Fatal(err)
	}
	m, ok := w.server.Message(chat, id)
	if !ok {
		w.t.Fatalf("the card %s is not there", a.Cards[0].Ref)
	}
	return m
}

// press presses a button of the ask's card and returns the answer.
func (w *world) press(u telegramtest.User, a *approval.Ask, label string) telegramtest.Answer {
	w.t.Helper()
	m := w.shown(a)
	id, err := w.server.Press(u, m.Chat, m.ID, label)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.answer(id)
}

func (w *world) answer(id string) telegramtest.Answer {
	w.t.Helper()
	synctest.Wait()
	all := w.server.Answers()
	i := slices.IndexFunc(all, func(a telegramtest.Answer) bool { return a.ID == id })
	if i < 0 {
		w.t.Fatalf("the press was not answered\n%s", w.log)
	}
	return all[i]
}

// say sends a text and returns the last message of the chat.
func (w *world) say(u telegramtest.User, to int, words string) telegramtest.Message {
	w.t.Helper()
	w.server.Reply(u, w.chat, to, words)
	synctest.Wait()
	return w.last()
}

func (w *world) last() telegramtest.Message {
	w.t.Helper()
	all := w.server.Messages(w.chat)
	if len(all) == 0 {
		w.t.Fatal("the chat is empty")
	}
	return all[len(all)-1]
}

func labels(m telegramtest.Message) []string {
	var all []string
	for _, b := range m.Buttons() {
		all = append(all, b.Text)
	}
	return all
}
