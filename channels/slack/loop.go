package slack

import (
	"context"
	"iter"
	"sync"
	"time"

	slackapi "github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/channels/platform"
)

// Desk is what the channel asks of the dispatcher.
type Desk interface {
	// Decide takes a tap. What it returns is on disk.
	Decide(ctx context.Context, t approval.Tap) (approval.Receipt, error)
	// Opened says that there was a sign that the channel with the name accepts messages.
	Opened(channel string)
	Cards
	Book
	cardtext.Orders
}

// Cards gives access to the cards of all asks, as the channel shows them.
type Cards interface {
	// Pending yields the cards that wait, oldest first.
	Pending(ctx context.Context, channel string) iter.Seq2[approval.Card, error]
	// Awaits reports whether a waiting card waits for the person with the qualified id. It
	// answers at once.
	Awaits(c approval.Card, id string) bool
	// Look makes sure that people can see the card of an ask that waits: a deleted message
	// is replaced.
	Look(ctx context.Context, id approval.AskID, channel string) error
	// Card returns the card of an ask.
	Card(ctx context.Context, id approval.AskID, channel string) (approval.Card, error)
	// Adopt makes a message that nobody knew of the card of an ask that ended before the
	// channel had one, and reports whether it did.
	Adopt(ctx context.Context, id approval.AskID, channel, ref string) (bool, error)
}

// Book is where the channel reads about the past.
type Book interface {
	// Find returns the ask that a person names.
	Find(ctx context.Context, id string) (approval.Ask, error)
	// History returns what was proposed and what became of it, newest first.
	History(ctx context.Context, f approval.Filter) (approval.Page, error)
	// Why returns the card that a person names, of an ask or of what was refused without
	// one.
	Why(ctx context.Context, id, channel string) (approval.Card, error)
	// Digest returns the digest that was due on a day; "" means the window that is not
	// over. A day without one gives a [*report.DayError].
	Digest(ctx context.Context, day string) (report.Digest, error)
}

// loop processes what people do.
type loop struct {
	*Channel
	desk    Desk
	working sync.WaitGroup
	// queue limits how many acts are accepted and not done, slots how many of them are
	// worked on at once. Presses have slots of their own: answering words may be slow.
	queue, slots, presses chan struct{}
	// kick asks for an immediate look.
	kick chan struct{}
}

const (
	// ackBy is when an act is acknowledged even if its effect is not committed: the
	// platform gives three seconds. Until then the acknowledgement waits for the commit, so
	// that a person whose act was lost with us sees a warning.
	ackBy = 2 * time.Second
	// workWithin is when an act whose effect cannot be stored is given up.
	workWithin = 20 * time.Second
	// maxAtOnce is how many presses, and how many other acts, are worked on at once,
	// maxTaken how many are accepted and not done.
	maxAtOnce, maxTaken = 32, 4096
	// lookEvery is the pause between two checks of the channel.
	lookEvery = 10 * time.Second
)

// act is something that a person did. One of press, command and event is set.
type act struct {
	// id is the same if the platform delivers the act again.
	id      string
	press   *slackapi.InteractionCallback
	command *slackapi.SlashCommand
	event   *slackevents.EventsAPIEvent
	ack     *ack
}

// ack acknowledges an act, once.
type ack struct {
	once sync.Once
	send func(payload any)
}

// give acknowledges with a payload, nil for none. It reports false if that was already
// done; the payload is then dropped.
func (a *ack) give(payload any) (first bool) {
	a.once.Do(func() { first = true; a.send(payload) })
	return first
}

func (c *Channel) loop(desk Desk) *loop {
	return &loop{
		Channel: c, desk: desk, queue: make(chan struct{}, maxTaken), slots: make(chan struct{}, maxAtOnce),
		presses: make(chan struct{}, maxAtOnce), kick: make(chan struct{}, 1),
	}
}

// Run processes what people do until ctx ends. Trouble with the platform does not end it:
// Health reports the trouble, and Run tries again after a pause.
func (c *Channel) Run(ctx context.Context, desk Desk) error {
	l := c.loop(desk)
	defer l.working.Wait()
	for failures := 0; ctx.Err() == nil; failures++ {
		err := l.introduce(ctx)
		if err == nil {
			break
		}
		pause := c.deaf(err, failures)
		c.log.WarnContext(ctx, "slack cannot be reached; trying again", "error", err, "pause", pause)
		platform.Sleep(ctx, pause)
	}
	l.working.Go(func() { l.look(ctx) })
	if c.config.AppToken == "" {
		l.receive(ctx)
		return nil
	}
	for n := range connections {
		l.working.Go(func() { l.keepSocket(ctx, n) })
	}
	<-ctx.Done()
	return nil
}

// introduce finds out who the app is, who may decide and the state of its channels.
func (l *loop) introduce(ctx context.Context) error {
	err := l.do(ctx, "auth.test", func(ctx context.Context) error {
		who, err := l.api.AuthTestContext(ctx)
		if err == nil {
			l.mu.Lock()
			l.self = self{who.TeamID, who.EnterpriseID, who.UserID, who.URL}
			l.hearing = platform.Trouble{}
			l.mu.Unlock()
		}
		return err
	})
	if err != nil {
		return err
	}
	l.lookUp(ctx, 0)
	for _, at := range l.all() {
		at.inspect(ctx)
	}
	return nil
}

// look keeps the user groups fresh, and records that people can be heard.
func (l *loop) look(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		l.lookUp(ctx, rosterEvery)
		for _, at := range l.all() {
			l.tidy(ctx, at)
		}
		l.mu.Lock()
		hears := l.config.AppToken == "" || l.up() > 0
		if hears {
			l.heardAt = time.Now()
		}
		l.mu.Unlock()
		if hears {
			if err := l.heard(ctx); err != nil && ctx.Err() == nil {
				l.log.ErrorContext(ctx, "the time of the last contact with slack cannot be saved", "error", err)
			}
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		case <-l.kick:
		}
	}
}

// take works on an act, unless it already did. A loop without a desk takes only presses of
// test cards, and acknowledges nothing else.
func (l *loop) take(ctx context.Context, a act) {
	if l.desk == nil && !a.rehearses() {
		return
	}
	if a.id != "" && !l.seen.first(a.id) {
		a.ack.give(nil)
		return
	}
	select {
	case l.queue <- struct{}{}:
	case <-ctx.Done():
		return
	}
	slots := l.slots
	if a.press != nil {
		slots = l.presses
	}
	l.working.Go(func() {
		defer func() { <-l.queue }()
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		defer func() { <-slots }()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), workWithin)
		defer cancel()
		timer := time.AfterFunc(ackBy, func() { a.ack.give(nil) })
		defer timer.Stop()
		if err := l.handle(ctx, &a); err != nil {
			l.log.ErrorContext(ctx, "what a person did on slack could not be handled", "error", err)
			// The platform redelivers an event that nobody acknowledged.
			l.seen.forget(a.id)
			if a.event != nil {
				return
			}
		}
		a.ack.give(nil)
	})
}

// handle lets an act have its effect.
func (l *loop) handle(ctx context.Context, a *act) error {
	switch {
	case a.press != nil && a.press.Type == slackapi.InteractionTypeBlockActions:
		return l.press(ctx, a)
	case a.press != nil && a.press.Type == slackapi.InteractionTypeViewSubmission:
		return l.submit(ctx, a)
	case a.command != nil:
		return l.obey(ctx, a)
	case a.event != nil:
		return l.hear(ctx, a)
	default:
		return nil
	}
}

// hear takes an event: words in a thread, a card that somebody deleted, or a look at the
// home tab.
func (l *loop) hear(ctx context.Context, a *act) error {
	switch e := a.event.InnerEvent.Data.(type) {
	case *slackevents.MessageEvent:
		if at := l.conversation(e.Channel); at != nil {
			at.opened()
			l.desk.Opened(at.name)
		}
		if ts := deleted(e); ts != "" {
			return l.lost(ctx, place{channel: e.Channel, ts: ts})
		}
		return l.words(ctx, e)
	case *slackevents.AppHomeOpenedEvent:
		if e.Tab != "home" {
			return nil
		}
		a.ack.give(nil)
		return l.home(ctx, person{id: e.User, team: a.event.TeamID})
	default:
		return nil
	}
}

// recent remembers the acts that were last taken. Its zero value is ready to use.
type recent struct {
	mu    sync.Mutex
	known map[string]bool
	order []string
}

// maxRecent is how many acts are remembered: far more than come in the minutes in which the
// platform redelivers one.
const maxRecent = 4096

// first reports whether the act is new, and remembers it.
func (r *recent) first(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[id] {
		return false
	}
	if r.known == nil {
		r.known = map[string]bool{}
	}
	if len(r.order) == maxRecent {
		delete(r.known, r.order[0])
		r.order = r.order[1:]
	}
	r.known[id] = true
	r.order = append(r.order, id)
	return true
}

// has reports whether the act is remembered.
func (r *recent) has(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known[id]
}

// forget lets an act that had no effect come again.
func (r *recent) forget(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.known, id)
}
