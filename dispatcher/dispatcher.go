// Package dispatcher manages the life of a pending turn: it proposes a call to the engine,
// opens an approval if a judge denied it, shows cards, takes the answers, wakes the turn
// that waits, redeems the permit once, and restores all of this after a crash.
//
// The store is the only truth. A change is made by one Update. Everything that follows from
// it, such as a waiter that wakes, a card that turns final or a deadline that moves,
// follows from the committed record through the store's feed of changes, never from the
// intention to write it.
package dispatcher

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/history"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/dispatcher/read"
	"github.com/metnos/vaglio/dispatcher/standing"
	"github.com/metnos/vaglio/vaglio"
)

// Dispatcher is the only place that moves approvals. It is safe for concurrent use. Waiters
// wake and cards move only while Run runs.
type Dispatcher struct {
	*read.Reader

	records *read.Records
	store   Store
	engine  *vaglio.Engine
	keys    keys

	deciders  Deciders
	effects   Effects
	deadlines Deadlines
	hours     Hours
	log       *slog.Logger

	waiters  waiters
	stand    stand
	limit    openLimit
	watchers watchers
	alarms   askAlarms
	outlets  outlets
	// underway are the calls that no record mentions yet.
	underway underway
	leaves   history.Writer
	history  *History
	ending   ending
}

// stand is what later calls are checked against: people's answers that still hold, what
// waits for an answer, and what the sessions did.
type stand struct {
	newest     standing.Newest
	denials    standing.Denials
	grants     standing.Grants
	allowances standing.Allowances
	brakes     standing.Brakes
	hosts      standing.Hosts
	sessions   sessions
}

// keys are the secrets that name calls and make permits; the latter may change.
type keys struct {
	names   approval.Secret
	permits atomic.Pointer[approval.Permits]
}

// Config configures a dispatcher.
type Config struct {
	Store    Store
	Channels []Channel
	Engine   *vaglio.Engine
	// Secret keys fingerprints, masks and, until [Dispatcher.Rekey], permits. It must
	// outlive the process.
	Secret   approval.Secret
	Deciders Deciders
	Effects  Effects
	// Deadlines that are zero take their defaults.
	Deadlines Deadlines
	Hours     Hours
	// History signs the history and limits its size; nil leaves it as the store grows it.
	History *History
	Log     *slog.Logger
}

// Deciders say who may decide what, and where they are asked.
type Deciders struct {
	// Approvers are the stable ids of those who may decide, in addition to those that
	// MayDecide and Routing know. Nobody else can.
	Approvers []string
	// MayDecide reports others who may decide, such as people who paired while we run; it
	// may be nil. It is called inside a change of the store, so it must answer from memory
	// and never block on a disk, a network or the store itself.
	MayDecide func(id string) bool
	// Known reports whether there is an agent of that name, which may then be stopped
	// before it ever asks; nil knows none, so that only agents that have asked can be
	// stopped.
	Known func(agent string) bool
	// Routing says who decides what, and where. The zero value lets each of the approvers
	// decide everything alone, on every plain channel. It must have passed
	// [approval.Routing.Check].
	Routing approval.Routing
	// Passkeys are required to allow serious calls once one is registered.
	Passkeys Passkeys
	// Match says between which surfaces a yes to the worst calls requires digits. Its
	// reader is given by their stable id; its secret and what shows cards are set by the
	// dispatcher.
	Match approval.Match
}

// Passkeys describe the passkeys that a person holds.
type Passkeys struct {
	// Holder is the stable id of the person.
	Holder string
	// Channel is where an assertion can be given.
	Channel string
	// Registered reports whether there is a passkey; nil means none. It is called like
	// MayDecide.
	Registered func() bool
}

// Effects determine what calls would do. Each field may be nil.
type Effects struct {
	// Traits returns what a call would do, and how far that reaches, for the routing's
	// rules.
	Traits func(vaglio.Proposal) (effects, reaches []string)
	// About returns what a call is about, which is what a denial or a grant of it covers.
	// If nil, only equal calls are the same.
	About func(vaglio.Proposal) approval.About
	// Name returns a name for what a call would do and to what, in one form for every
	// spelling, and whether that is known. If nil, only equal calls are the same.
	Name func(vaglio.Proposal) (effect string, known bool)
}

// Hours say when people are contacted by the clock.
type Hours struct {
	// Quiet are the hours in which people do not want to be disturbed.
	Quiet Quiet
	// Digest is when digests are sent; nil sends none.
	Digest *report.Hours
	// QuietDays says that a digest with nothing to tell is not sent. Silence then cannot be
	// told from a broken channel.
	QuietDays bool
}

// digests returns when digests are due, even if none is sent.
func (h *Hours) digests() report.Hours {
	if h.Digest == nil {
		return report.Hours{Zone: h.Quiet.Zone}
	}
	return *h.Digest
}

// night returns when people are not to be disturbed, as configured.
func (h *Hours) night() report.Night {
	if h.Quiet.From == h.Quiet.To {
		return report.DefaultNight()
	}
	return report.Night{From: h.Quiet.From, To: h.Quiet.To}
}

// ending is how the dispatcher releases those who wait.
type ending struct {
	begun chan struct{}
	once  sync.Once
}

// The errors that agents get.
var (
	// ErrSpent says that the permit has already run its one call.
	ErrSpent = errors.New("this permit is spent: it was good for one call")
	// ErrLapsed says that the permit was not redeemed in its window.
	ErrLapsed = errors.New("this permit has lapsed: propose the call again")
	// ErrOtherCall says that the call is not the one the person saw.
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

// PlanError says that a call of a plan belongs to another turn, or to another request of
// the user, than the calls before it. One card could not show both.
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

// New returns a dispatcher over the contents of the store.
func New(c Config) *Dispatcher {
	d := &Dispatcher{
		records:   read.NewRecords(c.Store, c.Log),
		store:     c.Store,
		engine:    c.Engine,
		keys:      keys{names: c.Secret},
		deciders:  c.Deciders,
		effects:   c.Effects,
		deadlines: c.Deadlines.orDefault(),
		hours:     c.Hours,
		history:   c.History,
		log:       c.Log,
		alarms:    newAskAlarms(),
		outlets:   newOutlets(c.Channels),
		ending:    ending{begun: make(chan struct{})},
	}
	d.Rekey(approval.Permits{Secret: c.Secret})
	d.Reader = read.New(read.Config{
		Records: d.records, Masker: d.masker(), Effect: c.Effects.Name, Hours: c.Hours.digests(), Night: c.Hours.night(), StepsKept: d.deadlines.steps(),
		Guard: d.guard, Human: d.deciders.Routing.Human,
	})
	d.leaves = history.NewWriter(d.masker().Mask)
	d.limit.most = MaxOpen
	d.stand.brakes.List = func(ctx context.Context) iter.Seq2[approval.Record, error] {
		return c.Store.List(ctx, approval.Query{Kind: approval.KindBrake})
	}
	return d
}

// Rekey makes and accepts permits under other secrets from now on.
func (d *Dispatcher) Rekey(p approval.Permits) { d.keys.permits.Store(&p) }

// masker returns a masker keyed by the instance's secret.
func (d *Dispatcher) masker() approval.Masker { return approval.NewMasker(d.keys.names) }

// Run follows the store's changes until ctx ends: it wakes waiters, keeps deadlines, posts
// and amends cards, and writes the turn log. It starts with every ask that an earlier
// process left open. It returns when all of its goroutines have, with the queued steps
// written.
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
	for _, c := range d.outlets.deliverers {
		part(func(ctx context.Context) error { return c.run(ctx, d) })
	}
	for _, h := range d.outlets.notifiers {
		part(func(ctx context.Context) error { return h.run(ctx, d) })
	}
	for _, a := range d.outlets.announcers {
		part(func(ctx context.Context) error { return a.run(ctx, d) })
	}
	for _, p := range d.outlets.digestSenders {
		part(func(ctx context.Context) error { return p.run(ctx, d) })
	}
	part(d.tickDigests)
	part(d.sweep)
	part(d.CountJournal)
	part(d.keepHistory)
	wg.Wait()
	d.Stop() // whoever is still judging is told to end
	d.underway.flights.wg.Wait()
	d.seal(context.WithoutCancel(ctx))
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// Stop releases every waiter with what it has and refuses new proposals, so that agents
// come back to the next process. It does not end Run.
func (d *Dispatcher) Stop() {
	d.ending.once.Do(func() { close(d.ending.begun) })
	d.waiters.wakeAll()
}

func (d *Dispatcher) stopped() bool {
	select {
	case <-d.ending.begun:
		return true
	default:
		return false
	}
}

// follow handles the open asks, then every change. If the store fails it tries again:
// whatever happened in the meantime is found there.
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
	// The feed starts at the birth of the newest ask, read before the open asks are: a
	// change that the listing misses comes after it.
	var after uint64
	for r, err := range d.store.List(ctx, approval.Query{Kind: approval.KindAsk, Newest: true, Limit: 1}) {
		if err != nil && d.records.Note(ctx, err) == nil {
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
	d.limit.forget()
	for ask, err := range d.records.Asks(ctx, approval.Query{Open: true}) {
		if err != nil {
			return fmt.Errorf("dispatcher: resume open asks: %w", err)
		}
		d.prune(ctx, &ask.Is)
		d.stand.newest.Wrote(ask.Is.ID, ask.Seq, func() { d.keepStanding(&ask.Is) })
		d.changed(&ask.Is)
	}
	for _, agent := range d.stand.denials.Agents() {
		d.deniedGrants(ctx, agent) // a crash may have come between the two
	}
	if err := d.stoppedGrants(ctx); err != nil { // here, too
		return err
	}
	for ask, err := range read.Readable(ctx, d.records, approval.KindAsk, d.store.Watch(ctx, approval.KindAsk, after), approval.DecodeAsk) {
		if err != nil {
			return fmt.Errorf("dispatcher: follow changes: %w", err)
		}
		d.stand.newest.Told(ask.Is.ID, ask.Seq, func() { d.keepStanding(&ask.Is) })
		d.changed(&ask.Is)
	}
	return errors.New("dispatcher: the store's feed of changes ended")
}

// changed makes everything that depends on an ask follow its committed state.
func (d *Dispatcher) changed(ask *approval.Ask) {
	d.waiters.wake(ask.ID)
	d.limit.follow(ask)
	if at := ask.NextDeadline(); !at.IsZero() {
		d.alarms.deadlines.set(ask.ID, at)
	}
	d.setReminder(ask)
	if !ask.EscalateAt.IsZero() && ask.Waiting() {
		d.alarms.escalations.set(ask.ID, ask.EscalateAt)
	}
	for i := range ask.Cards {
		shown := &ask.Cards[i]
		if c := d.outlets.deliverers[shown.Channel]; c != nil && (shown.Stale(ask.View()) || shown.Owes(ask) || shown.News(ask)) {
			c.take(ask.ID, ask.Agent)
		}
	}
	d.watchers.tick()
}
