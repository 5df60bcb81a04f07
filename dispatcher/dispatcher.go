// Package dispatcher keeps the life of a pending turn: it proposes a call to
// the engine, opens an approval when a judge denied it, shows cards, takes the
// answers in, wakes the turn that waits, redeems the permit once, and brings
// all of it back after a crash.
//
// The store is the only truth. A change is made by one Update, and everything
// that follows from it (a waiter that wakes, a card that turns final, a
// deadline that moves) follows from the committed record through the store's
// feed of changes, never from the intention to write it.
package dispatcher

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/history"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/vaglio"
)

// Dispatcher is the one place that moves approvals. It is safe for concurrent
// use. Waiters wake and cards move only while Run runs.
type Dispatcher struct {
	store     Store
	channels  map[string]Channel
	engine    *vaglio.Engine
	secret    approval.Secret
	masker    approval.Masker
	approvers map[string]bool
	mayDecide func(id string) bool
	deadlines Deadlines
	quiet     Quiet
	log       *slog.Logger

	routing approval.Routing
	traits  func(vaglio.Proposal) (effects, reaches []string)
	effect  func(vaglio.Proposal) (string, bool)

	waiters   waiters
	unread    unread
	denials   denials
	crowd     crowd
	watchers  watchers
	alarms    alarms
	reminders alarms
	escalated alarms
	couriers  map[string]*courier
	heralds   []*herald
	postmen   []*postman
	hours     *report.Hours
	quietDays bool
	steps     chan queuedStep
	underway  underway
	leaves    history.Writer
	history   *History
	// readers has a place for each that reads statistics.
	readers chan struct{}
	// began is when this process took up its work.
	began time.Time

	stopping chan struct{}
	stop     sync.Once
}

// Config is what a dispatcher is made of.
type Config struct {
	Store    Store
	Channels []Channel
	Engine   *vaglio.Engine
	// Secret keys fingerprints and permits. It must outlive the process.
	Secret approval.Secret
	// Approvers are the stable ids of those who may decide. Nobody else can.
	Approvers []string
	// MayDecide knows of further ones, such as people who paired while we run;
	// it may be nil. It is asked inside a change of the store, so it answers from
	// memory and never waits, for a disk, a network or the store itself.
	MayDecide func(id string) bool
	// Routing says who decides what, and where. The zero value lets each of the
	// approvers decide everything alone, on every plain channel. It must have passed
	// [approval.Routing.Check].
	Routing approval.Routing
	// Traits tells what a call would do, and how far that goes, for the routing's
	// rules; it may be nil.
	Traits func(vaglio.Proposal) (effects, reaches []string)
	// Effect names what a call would do and to what, in one form for every
	// spelling, or says that it cannot tell. Nil leaves equal calls alone to be
	// the same.
	Effect func(vaglio.Proposal) (effect string, known bool)
	// Deadlines left zero take their defaults.
	Deadlines Deadlines
	// Quiet are the hours in which people do not want to be disturbed.
	Quiet Quiet
	// Digest is when digests are sent; nil sends none.
	Digest *report.Hours
	// QuietDays says that a digest which has nothing to tell is not sent. Silence
	// then cannot be told from a channel that is broken.
	QuietDays bool
	// History signs the history and keeps it in bounds; nil leaves it as the store
	// grows it.
	History *History
	Log     *slog.Logger
}

// Deadlines bound how long each thing stands.
type Deadlines struct {
	// AskFor is how long an approval waits for a person.
	AskFor time.Duration
	// PermitFor is how long a permit can be redeemed.
	PermitFor time.Duration
	// DenialStands is how long an equal call gets a person's old denial.
	DenialStands time.Duration
}

// The defaults of [Deadlines]. Half an hour is what people need to come back
// to their phone; ten minutes cover an agent that restarts, and keep one that
// repeats itself from wearing a person down.
const (
	DefaultAskFor       = 30 * time.Minute
	DefaultPermitFor    = 10 * time.Minute
	DefaultDenialStands = 10 * time.Minute
)

// The errors of the agent's side.
var (
	// ErrSpent says that the permit ran its one call already.
	ErrSpent = errors.New("this permit is spent: it was good for one call")
	// ErrLapsed says that the permit was not redeemed in its window.
	ErrLapsed = errors.New("this permit has lapsed: propose the call again")
	// ErrOtherCall says that the call is not the one that the person saw.
	ErrOtherCall = errors.New("this permit is for another call: only the call that was shown may run")
	// ErrStopping says that the daemon is shutting down.
	ErrStopping = errors.New("vaglio is restarting: come back with the same call")
)

// GuardError says that the guard denied a call when its permit was redeemed.
type GuardError struct{ Verdict vaglio.Verdict }

func (e *GuardError) Error() string { return e.Verdict.Reason }

// CallError says which call of a plan has a mistake.
type CallError struct {
	// Index counts the plan's calls from 0.
	Index int
	Err   error
}

func (e *CallError) Error() string { return fmt.Sprintf("call %d of the plan: %v", e.Index+1, e.Err) }

func (e *CallError) Unwrap() error { return e.Err }

// PlanError says that a call of a plan is of another turn, or of another
// request of the user, than the calls before it. One card could not show both.
type PlanError struct {
	// Index counts the plan's calls from 0.
	Index int
	// Field is the proposal's field that differs.
	Field string
}

func (e *PlanError) Error() string {
	return fmt.Sprintf("call %d of the plan has another %s than the calls before it: a plan has one turn and one intent",
		e.Index+1, e.Field)
}

// New returns a dispatcher over what the store holds.
func New(c Config) *Dispatcher {
	d := &Dispatcher{
		store:     c.Store,
		channels:  make(map[string]Channel, len(c.Channels)),
		engine:    c.Engine,
		secret:    c.Secret,
		masker:    approval.NewMasker(c.Secret),
		approvers: make(map[string]bool, len(c.Approvers)),
		mayDecide: c.MayDecide,
		routing:   c.Routing,
		traits:    c.Traits,
		effect:    c.Effect,
		deadlines: c.Deadlines.orDefault(),
		quiet:     c.Quiet,
		hours:     c.Digest,
		quietDays: c.QuietDays,
		history:   c.History,
		log:       c.Log,
		couriers:  make(map[string]*courier, len(c.Channels)),
		steps:     make(chan queuedStep, stepQueue),
		readers:   make(chan struct{}, statisticsReaders),
		stopping:  make(chan struct{}),
		began:     now(),
	}
	d.leaves = history.NewWriter(d.masker.Mask)
	d.crowd.most = MaxOpen
	for _, a := range []*alarms{&d.alarms, &d.reminders, &d.escalated} {
		a.kick = make(chan struct{}, 1)
	}
	for _, ch := range c.Channels {
		d.channels[ch.Name()] = ch
		d.couriers[ch.Name()] = newCourier(ch)
		if n, ok := ch.(Notifier); ok {
			d.heralds = append(d.heralds, newHerald(ch.Name(), n))
		}
		if g, ok := ch.(Digester); ok {
			d.postmen = append(d.postmen, &postman{ch.Name(), g, make(chan struct{}, 1)})
		}
	}
	for _, id := range c.Approvers {
		d.approvers[id] = true
	}
	return d
}

func (d Deadlines) orDefault() Deadlines {
	if d.AskFor == 0 {
		d.AskFor = DefaultAskFor
	}
	if d.PermitFor == 0 {
		d.PermitFor = DefaultPermitFor
	}
	if d.DenialStands == 0 {
		d.DenialStands = DefaultDenialStands
	}
	return d
}

// Run follows the store's changes until ctx ends: it wakes waiters, keeps
// deadlines, posts and amends cards, and writes the turn log. It first takes
// up every ask that an earlier process left open. It returns when all of its
// goroutines have, with the queued steps written.
func (d *Dispatcher) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	part := func(run func(context.Context) error) {
		wg.Go(func() {
			if err := run(ctx); err != nil {
				cancel(err)
			}
		})
	}
	part(d.follow)
	part(d.keepDeadlines)
	part(d.keepReminders)
	part(d.keepEscalations)
	for _, c := range d.couriers {
		part(func(ctx context.Context) error { return c.run(ctx, d) })
	}
	for _, h := range d.heralds {
		part(func(ctx context.Context) error { return h.run(ctx, d) })
	}
	for _, p := range d.postmen {
		part(func(ctx context.Context) error { return p.run(ctx, d) })
	}
	part(d.tickDigests)
	part(d.writeSteps)
	part(d.sweep)
	part(d.keepHistory)
	wg.Wait()
	d.seal(context.WithoutCancel(ctx))
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// Stop lets every waiter go with what it has and refuses new proposals, so
// that agents come back to the next process. It does not end Run.
func (d *Dispatcher) Stop() { d.stop.Do(func() { close(d.stopping) }) }

func (d *Dispatcher) stopped() bool {
	select {
	case <-d.stopping:
		return true
	default:
		return false
	}
}

// follow takes up the open asks, then every change. A store that fails is
// asked again: what happened meanwhile is found in it.
func (d *Dispatcher) follow(ctx context.Context) error {
	for ctx.Err() == nil {
		err := d.followOnce(ctx)
		if ctx.Err() != nil {
			break
		}
		d.log.ErrorContext(ctx, "the store's changes cannot be followed; trying again", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(pauseAfterFailure):
		}
	}
	return nil
}

func (d *Dispatcher) followOnce(ctx context.Context) error {
	// The feed is taken up from the birth of the newest ask, noted before the
	// open asks are read: a change that the reading misses comes after it.
	var after uint64
	for r, err := range d.store.List(ctx, approval.Query{Kind: approval.KindAsk, Newest: true, Limit: 1}) {
		if err != nil && d.noteUnread(ctx, err) == nil {
			return fmt.Errorf("dispatcher: find the newest ask: %w", err)
		}
		after = r.Born
		break
	}
	if err := d.recall(ctx); err != nil {
		return err
	}
	// What ended while nobody followed is not among the open asks.
	d.waiters.wakeAll()
	d.crowd.forget()
	for ask, err := range d.asks(ctx, approval.Query{Open: true}) {
		if err != nil {
			return fmt.Errorf("dispatcher: take up open asks: %w", err)
		}
		d.prune(ctx, &ask.is)
		d.changed(&ask.is)
	}
	for ask, err := range readable(ctx, d, approval.KindAsk, d.store.Watch(ctx, approval.KindAsk, after), approval.DecodeAsk) {
		if err != nil {
			return fmt.Errorf("dispatcher: follow changes: %w", err)
		}
		d.changed(&ask.is)
	}
	return errors.New("dispatcher: the store's feed of changes ended")
}

// changed lets everything that depends on an ask follow its committed state.
func (d *Dispatcher) changed(ask *approval.Ask) {
	d.denials.keep(ask, d.deadlines.DenialStands)
	d.waiters.wake(ask.ID)
	d.crowd.follow(ask)
	if at := ask.NextDeadline(); !at.IsZero() {
		d.alarms.set(ask.ID, at)
	}
	d.setReminder(ask)
	if !ask.EscalateAt.IsZero() && ask.Waiting() {
		d.escalated.set(ask.ID, ask.EscalateAt)
	}
	for i := range ask.Cards {
		shown := &ask.Cards[i]
		if c := d.couriers[shown.Channel]; c != nil && (shown.Stale(ask.View()) || shown.Owes(ask)) {
			c.take(ask.ID)
		}
	}
	d.watchers.tick()
}
