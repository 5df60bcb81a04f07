package dispatcher_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/store/storetest"
)

// chat is a channel on which every Post leaves a new message, as on a platform that does
// not detect repeats.
type chat struct {
	name     string // "chat" if empty
	mu       sync.Mutex
	messages []*message
	reminded []string
	notices  []approval.Notice
	// posting runs after the message is on the platform and before Post returns.
	posting func()
	// fail decides how the next calls of a kind end. sent reports whether the platform took
	// the call even if it failed.
	fail   func(kind string) (sent bool, err error)
	health approval.Health
}

// message is what people see: a card with the buttons it had last.
type message struct {
	ref  string
	card approval.Card
}

func (c *chat) Name() string { return cmp.Or(c.name, "chat") }

func (c *chat) Post(_ context.Context, card approval.Card) (string, error) {
	sent, err := c.verdict("post")
	if !sent {
		return "", err
	}
	c.mu.Lock()
	ref := fmt.Sprintf("m%d", len(c.messages)+1)
	c.messages = append(c.messages, &message{ref, card})
	posting := c.posting
	c.mu.Unlock()
	if posting != nil {
		posting()
	}
	return ref, err
}

func (c *chat) Amend(_ context.Context, ref string, card approval.Card) error {
	sent, err := c.verdict("amend")
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.messages {
		if m.ref == ref && sent {
			m.card = card
		}
	}
	return err
}

func (c *chat) Remind(_ context.Context, ref string, _ approval.Card) error {
	sent, err := c.verdict("remind")
	c.mu.Lock()
	defer c.mu.Unlock()
	if sent {
		c.reminded = append(c.reminded, ref)
	}
	return err
}

func (c *chat) Notify(_ context.Context, n approval.Notice) error {
	sent, err := c.verdict("notify")
	c.mu.Lock()
	defer c.mu.Unlock()
	if sent {
		c.notices = append(c.notices, n)
	}
	return err
}

func (c *chat) Health() approval.Health {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.health
}

func (c *chat) verdict(kind string) (bool, error) {
	c.mu.Lock()
	fail := c.fail
	c.mu.Unlock()
	if fail == nil {
		return true, nil
	}
	return fail(kind)
}

func (c *chat) failing(fail func(kind string) (bool, error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fail = fail
}

// failingOn makes one kind of call fail with err without any effect.
func (c *chat) failingOn(kind string, err error) {
	c.failing(func(k string) (bool, error) {
		if k == kind {
			return false, err
		}
		return true, nil
	})
}

// seen returns the messages as people see them now.
func (c *chat) seen() []message {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []message
	for _, m := range c.messages {
		all = append(all, *m)
	}
	return all
}

func (c *chat) told() ([]approval.Notice, []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.notices), slices.Clone(c.reminded)
}

// house is a dispatcher with a chat, over a store that outlives it.
type house struct {
	*gate

	chat  *chat
	also  []dispatcher.Channel
	quiet dispatcher.Quiet
	// routing takes effect at the next start.
	routing approval.Routing
	log     bytes.Buffer
	t       *testing.T
}

// housed runs a test in a bubble with a dispatcher and a chat.
func housed(t *testing.T, test func(t *testing.T, h *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &house{gate: &gate{store: storetest.NewMemory()}, chat: &chat{}, t: t}
		h.start()
		test(t, h)
		h.end()
		storetest.Asks(t, h.store.Reopen())
	})
}

// start starts a dispatcher, or another one after the last was killed.
func (h *house) start() {
	h.gate = running(h.t, dispatcher.Config{
		Store: h.store, Channels: append([]dispatcher.Channel{h.chat}, h.also...),
		Deciders: dispatcher.Deciders{Routing: h.routing}, Hours: dispatcher.Hours{Quiet: h.quiet},
		Log: slog.New(slog.NewTextHandler(io.MultiWriter(h.t.Output(), &h.log), nil)),
	})
}

// askAndCrash proposes a call, and breaks the store after the card is on the platform and
// before anything about it is recorded.
func (h *house) askAndCrash() approval.Answer {
	h.t.Helper()
	h.chat.failingOn("post", &approval.RetryError{After: time.Second, Unsent: true, Err: errors.New("slow down")})
	a, err := h.Propose(h.t.Context(), agent, dispatcher.Request{Proposal: shell("make a")})
	if err != nil {
		h.t.Fatal(err)
	}
	settle()
	h.chat.failing(nil)
	h.chat.mu.Lock()
	h.chat.posting = func() {
		h.chat.mu.Lock()
		defer h.chat.mu.Unlock()
		h.chat.posting = nil
		h.store.Break(errors.New("killed"))
	}
	h.chat.mu.Unlock()
	time.Sleep(time.Second)
	settle()
	return a
}

// restart starts a new dispatcher over what the store kept.
func (h *house) restart() {
	h.end()
	h.store.Break(nil)
	h.store = h.store.Reopen()
	h.start()
}

// press presses a button of a message as people saw it.
func (h *house) press(m message, item int, c approval.Choice) approval.Receipt {
	h.t.Helper()
	buttons := m.card.Buttons
	if item >= 0 {
		buttons = m.card.Items[item].Buttons
	}
	for _, b := range buttons {
		if b.Choice == c {
			r, err := h.Decide(h.t.Context(), approval.Tap{Token: b.Token, By: owner, Channel: "chat"})
			if err != nil {
				h.t.Errorf("Decide: %v", err)
			}
			return r
		}
	}
	h.t.Fatalf("no button %s in %+v", c, m.card)
	return approval.Receipt{}
}

// all stands for the buttons below a card.
const all = -1

// inTurn is a call of the turn t-1.
func inTurn(command string, step int) dispatcher.Request {
	p := shell(command)
	p.TurnID, p.Step = "t-1", step
	return dispatcher.Request{Proposal: p}
}

// ask proposes a call of the turn.
func (h *house) ask(command string, step int) approval.Answer {
	h.t.Helper()
	a, err := h.Propose(h.t.Context(), agent, inTurn(command, step))
	if err != nil {
		h.t.Fatalf("Propose: %v", err)
	}
	return a
}

func (h *house) state(id approval.ID) approval.State {
	h.t.Helper()
	a, err := h.Await(h.t.Context(), agent, id, 0)
	if err != nil {
		h.t.Fatalf("Await: %v", err)
	}
	return a.Approval.State
}

// settle lets a moment pass in which deliveries are made.
func settle() {
	time.Sleep(time.Millisecond)
	synctest.Wait()
}
