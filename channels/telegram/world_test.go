package telegram_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/channeltest"
	"github.com/metnos/vaglio/channels/payloads"
	"github.com/metnos/vaglio/channels/telegram"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
	"github.com/metnos/vaglio/vaglio"
)

// memory stores the bot's notes.
type memory = channeltest.Memory[telegram.Notes]

// pictures draws cards. It is shared, because each desk reads its rules once.
var pictures = channeltest.NewDesk(nil)

func card(a *approval.Ask) approval.Card { return pictures.Picture(a, telegram.Name) }

// world is a platform, a desk and a bot between them.
type world struct {
	t       *testing.T
	server  *telegramtest.Server
	desk    *channeltest.Desk
	hands   telegram.Desk // takes the bot's taps: desk, unless a test changes it
	memory  *memory
	channel *telegram.Channel
	chat    int64
	log     *channeltest.Log
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
		w.memory.Notes = telegram.Notes{Chat: w.chat, Person: ann().ID}
		w.start()
		test(w)
	})
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, server: telegramtest.New(), desk: channeltest.NewDesk(nil), memory: &memory{}, log: &channeltest.Log{}}
	w.desk.Account(payloads.Digest(3), 0)
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
	w.desk.Change(func() { w.channel = channel })
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

func command(line string) vaglio.Proposal { return channeltest.Command(line) }

// newAsk opens an ask for the calls.
func newAsk(t testing.TB, calls ...vaglio.Proposal) *approval.Ask {
	t.Helper()
	return channeltest.Open(t, telegram.Name, channeltest.Denial(), calls...)
}

// ask opens an ask and posts its card.
func (w *world) ask(calls ...vaglio.Proposal) *approval.Ask {
	w.t.Helper()
	a := newAsk(w.t, calls...)
	w.post(a)
	return a
}

// askGrantable is like [world.ask], for a call that may be allowed several times.
func (w *world) askGrantable(call vaglio.Proposal) *approval.Ask {
	w.t.Helper()
	d, err := approval.JudgeDenial(channeltest.Denial())
	if err != nil {
		w.t.Fatal(err)
	}
	a, err := approval.Open(approval.Opening{
		Agent: "coder", TurnID: "t-1", Channels: []string{telegram.Name}, At: time.Now(), ExpiresAt: time.Now().Add(time.Hour),
		Calls: []approval.Call{{Proposal: call, Denial: d, Fingerprint: "fp", Grantable: "key"}},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.post(&a)
	return &a
}

// post posts an ask's first card.
func (w *world) post(a *approval.Ask) {
	w.t.Helper()
	ref, err := w.channel.Post(w.t.Context(), card(a))
	if err != nil {
		w.t.Fatal(err)
	}
	a.Cards[0].Ref = ref
	w.desk.Add(a)
}

// duplicate posts an ask's card again, as after a restored backup, and returns the message that it was.
func (w *world) duplicate(a *approval.Ask) telegramtest.Message {
	w.t.Helper()
	twin := w.shown(a)
	w.stop()
	w.memory.Notes.Drafts = nil
	w.start()
	ref, err := w.channel.Post(w.t.Context(), card(a))
	if err != nil || ref == a.Cards[0].Ref {
		w.t.Fatal(ref, err)
	}
	w.desk.Change(func() { a.Cards[0].Ref = ref })
	return twin
}

// amend makes the ask's card show its state.
func (w *world) amend(a *approval.Ask) error {
	return w.channel.Amend(w.t.Context(), a.Cards[0].Ref, card(a))
}

// shown returns the ask's card as it now stands in the chat.
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

// press presses a button of the ask's card, and returns the answer.
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

// say sends a text, and returns the last message of the chat.
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
