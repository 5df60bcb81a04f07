package dispatcher

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher/read"
	"github.com/metnos/vaglio/vaglio"
)

// The turn log. Every step is stored before the agent learns of it: a refused or asked one
// as a record, on disk, and one that the judges let through in the journal.

// keepStep writes a step and returns when it is on disk. A denial by the guard goes into
// the history along with it.
func (d *Dispatcher) keepStep(ctx context.Context, s approval.Step) error {
	body, err := approval.EncodeStep(s)
	if err != nil {
		return err
	}
	seed := rand.Text()
	_, err = d.store.Update(ctx, approval.KindStep, s.ID, func(r approval.Record) (approval.Record, error) {
		kept, err := s, error(nil)
		if r.Exists() {
			kept, err = repeated(&r, &s)
		} else {
			r.ID, r.Body = s.ID, body
		}
		if err == nil && guarded(&s) {
			r.Leaves, err = d.leaves.Veto(&kept, s.At, seed)
		}
		return r, err
	})
	if err != nil {
		return fmt.Errorf("dispatcher: keep the turn log: %w", err)
	}
	d.watchers.tick()
	return nil
}

// repeated records in a step that it was judged again.
func repeated(r *approval.Record, again *approval.Step) (approval.Step, error) {
	first, err := approval.DecodeStep(r.Body)
	if err != nil {
		return first, err
	}
	first.Repeat(again)
	r.Body, err = approval.EncodeStep(first)
	return first, err
}

// passStep writes a step that the judges let through.
func (d *Dispatcher) passStep(ctx context.Context, s *approval.Step) error {
	s.Route = d.routeOf(s.Proposal).Name
	room, _ := d.underway.rooms.Get().(*[]byte)
	if room == nil {
		room = new([]byte)
	}
	e, written, err := read.EncodePassed((*room)[:0], s)
	if err == nil {
		err = d.store.Append(ctx, &e)
	}
	if cap(written) <= mostRoom {
		*room = written
		d.underway.rooms.Put(room)
	}
	if err != nil {
		return fmt.Errorf("dispatcher: keep the turn log: %w", err)
	}
	d.Journalled()
	d.watchers.tick()
	return nil
}

// mostRoom is the largest buffer for a step that is kept for the next one.
const mostRoom = 64 << 10

// sweepEvery is how often what is past its retention is dropped.
const sweepEvery = 24 * time.Hour

// sweep drops what is past its retention, at the start and once a day: the turn log, what
// judge agents did, the values of approvals that ended, and those of the history.
func (d *Dispatcher) sweep(ctx context.Context) error {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		at := now()
		for _, part := range []struct {
			what string
			drop func() error
		}{
			{"the turn log", func() error { return d.dropSteps(ctx, at.Add(-d.deadlines.steps())) }},
			{"old judgements", func() error { return d.dropJudgements(ctx, at.Add(-d.deadlines.steps())) }},
			{"the values of calls that ended", func() error { return d.dropValues(ctx, at.Add(-d.deadlines.ValuesFor)) }},
			{"old values of the history", func() error { return d.dropLeaves(ctx) }},
		} {
			if err := part.drop(); err != nil && ctx.Err() == nil {
				d.log.ErrorContext(ctx, "old entries could not be dropped; trying again tomorrow", "what", part.what, "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// dropValues drops the values of approvals that ended before the instant. Their hashes
// stay, and the history records for each that its values were dropped.
func (d *Dispatcher) dropValues(ctx context.Context, before time.Time) error {
	var all errgroup.Group
	all.SetLimit(droppedAtOnce)
	err := func() error {
		for ask, err := range d.records.Asks(ctx, approval.Query{}) {
			if err != nil {
				return fmt.Errorf("dispatcher: find old values: %w", err)
			}
			if !ask.Is.DropValues(before, before) {
				continue // this copy is discarded: the record is changed below
			}
			all.Go(func() error {
				_, err := d.update(ctx, ask.Is.ID, func(a *approval.Ask) error {
					if !a.DropValues(before, now()) {
						return approval.ErrKeep
					}
					return nil
				})
				return err
			})
		}
		return nil
	}()
	return cmp.Or(all.Wait(), err)
}

// droppedAtOnce is how many records the store drops in one transaction: other writes wait
// for it.
const droppedAtOnce = 500

func (d *Dispatcher) dropSteps(ctx context.Context, before time.Time) error {
	if err := d.store.Forget(ctx, before); err != nil {
		return err
	}
	return d.dropOld(ctx, approval.KindStep, before)
}

// dropJudgements drops what judge agents did before the instant: it is kept as long as the
// steps that it belongs to.
func (d *Dispatcher) dropJudgements(ctx context.Context, before time.Time) error {
	return d.dropOld(ctx, approval.KindJudgement, before)
}

// dropOld drops the records of a kind from before the instant, unless they changed since
// they were read. Steps are listed in order, so the first one that stays ends it. While one
// batch is dropped, the next one is read; between two of them the store writes what waits.
func (d *Dispatcher) dropOld(ctx context.Context, kind approval.Kind, before time.Time) error {
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(1)
	var batch []approval.Version
	drop := func() {
		read := batch
		all.Go(func() error { return d.store.Drop(ctx, kind, read) })
		batch = nil
	}
	err := func() error {
		for r, err := range d.store.List(ctx, approval.Query{Kind: kind}) {
			if _, unread := errors.AsType[*approval.UnreadError](err); unread {
				continue // it is noted where records are read
			}
			if err != nil {
				return err
			}
			at, err := approval.KeptAt(kind, r.Body)
			if err == nil && !at.Before(before) && kind == approval.KindStep {
				return nil
			}
			if err == nil && at.Before(before) {
				batch = append(batch, approval.Version{ID: r.ID, Seq: r.Seq})
			}
			if len(batch) == droppedAtOnce {
				drop()
			}
		}
		return nil
	}()
	if len(batch) > 0 {
		drop()
	}
	return cmp.Or(all.Wait(), err)
}

// sessions are what the agents' sessions did through the gate. The truth is in the store's
// turn log and asks, which are read once, when the first call comes.
type sessions struct {
	vaglio.Sessions

	mu       sync.Mutex
	recalled bool
}

// mostRecalled is how many of the newest steps of the turn log are read.
const mostRecalled = 20_000

// factsOf returns what the session of a call did before.
func (d *Dispatcher) factsOf(ctx context.Context, p *vaglio.Proposal) vaglio.Facts {
	d.stand.sessions.mu.Lock()
	defer d.stand.sessions.mu.Unlock()
	if !d.stand.sessions.recalled {
		if err := d.recallSessions(ctx); err != nil {
			d.log.ErrorContext(ctx, "the sessions' past steps cannot be read; sessions start empty until they can", "error", err)
		} else {
			d.stand.sessions.recalled = true
		}
	}
	return d.stand.sessions.Facts(p)
}

// recallSessions loads what sessions did before this process began.
func (d *Dispatcher) recallSessions(ctx context.Context) error {
	oldest := time.Now().Add(-vaglio.FactsKept)
	var steps []approval.Step
	read := 0
	for s, err := range d.records.Passed(ctx, approval.Span{From: oldest, Newest: true}) {
		if err != nil {
			return fmt.Errorf("dispatcher: recall sessions: %w", err)
		}
		if read++; read > mostRecalled || s.Is.At.Before(oldest) {
			break
		}
		if len(s.Is.Did) > 0 {
			steps = append(steps, s.Is)
		}
	}
	for i := range slices.Backward(steps) {
		s := &steps[i]
		did := s.Did
		if slices.ContainsFunc(did, func(f vaglio.Fact) bool { return f.SHA256 != "" || f.Later }) {
			p := s.Proposal
			p.Facts = d.stand.sessions.Facts(&p)
			did = did.WithTexts(d.engine.Did(p)) // the proposal has the texts
		}
		d.stand.sessions.Note(&s.Proposal, s.At, did)
	}
	return d.recallRedeemed(ctx, oldest)
}

// recallRedeemed loads what people have allowed sessions to do since the instant.
func (d *Dispatcher) recallRedeemed(ctx context.Context, oldest time.Time) error {
	for ask, err := range d.records.Asks(ctx, approval.Query{Newest: true, Limit: mostRecalled}) {
		if err != nil {
			return fmt.Errorf("dispatcher: recall sessions: %w", err)
		}
		if ask.Is.OpenedAt.Before(oldest) {
			break
		}
		for i := range ask.Is.Approvals {
			if a := &ask.Is.Approvals[i]; slices.Contains([]approval.State{approval.Spent, approval.Succeeded, approval.Unknown}, a.State) {
				d.stand.sessions.Note(&a.Proposal, a.EndedAt, d.engine.Did(a.Proposal))
			}
		}
	}
	return nil
}
