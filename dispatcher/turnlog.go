package dispatcher

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher/read"
	"github.com/metnos/vaglio/internal/strictjson"
)

// The turn log. A refused or asked step is on disk before the agent hears of
// it. A step that the judges approved is queued: nothing was acknowledged that
// rests on it, and the judge's answer need not wait for a disk.
const (
	// stepsQueued is how many steps may wait for the disk before Propose waits.
	stepsQueued = 4096
	// stepWriters write side by side, so that the store can put what they
	// write into one transaction.
	stepWriters = 64
)

// stepID places a step within its turn. A repeat of the very same step is noted
// with the first. One that tells anything else, another intent, a new approval or
// another outcome, stands beside it: an agent cannot write over what it did.
func stepID(c *call) (string, error) {
	p := c.Proposal
	if p.TurnID == "" {
		return "-/" + rand.Text(), nil
	}
	form, err := strictjson.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("dispatcher: name a step: %w", err)
	}
	h := sha256.New()
	h.Write(form)
	h.Write([]byte(c.asked))
	h.Write([]byte(c.verdict.BlockedBy))
	h.Write([]byte(c.step.Error))
	return read.TurnPrefix(p.Agent, p.TurnID) + fmt.Sprintf("%08d-%x", p.Step, h.Sum(nil)[:12]), nil
}

// keepStep writes a step and returns when it is on disk. A denial by the guard is
// in the history with it.
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

// repeated notes in the record of a step that it was judged again.
func repeated(r *approval.Record, again *approval.Step) (approval.Step, error) {
	first, err := approval.DecodeStep(r.Body)
	if err != nil {
		return first, err
	}
	first.Repeat(again)
	r.Body, err = approval.EncodeStep(first)
	return first, err
}

// stepQueue are the steps that wait for the disk.
type stepQueue struct {
	waiting chan queuedStep
	// underway are the calls that no record tells of yet, these among them.
	underway underway
}

// queuedStep is a step that waits for the disk. end is called when it is there.
type queuedStep struct {
	approval.Step

	end func()
}

// queueStep hands a step to the writers. It waits only when they lag far.
func (d *Dispatcher) queueStep(ctx context.Context, s approval.Step) error {
	end := d.steps.underway.begin(s.At) // The digest of that day is to tell of it.
	select {
	case d.steps.waiting <- queuedStep{s, end}:
		return nil
	case <-ctx.Done():
		end()
		return ctx.Err()
	}
}

// writeSteps writes queued steps until ctx ends, then what is still queued.
func (d *Dispatcher) writeSteps(ctx context.Context) error {
	var wg sync.WaitGroup
	for range stepWriters {
		wg.Go(func() {
			for {
				select {
				case s := <-d.steps.waiting:
					d.writeStep(ctx, s)
					continue
				default:
				}
				select {
				case s := <-d.steps.waiting:
					d.writeStep(ctx, s)
				case <-ctx.Done():
					return
				}
			}
		})
	}
	wg.Wait()
	return nil
}

func (d *Dispatcher) writeStep(ctx context.Context, s queuedStep) {
	defer s.end()
	// It takes a reading of the call, for which the agent need not wait.
	s.Route = d.routeOf(s.Proposal).Name
	if err := d.keepStep(context.WithoutCancel(ctx), s.Step); err != nil {
		d.log.ErrorContext(ctx, "a step is missing from the turn log", "executor", s.Proposal.Executor, "error", err)
	}
}

// sweepEvery is how often the turn log is swept.
const sweepEvery = 24 * time.Hour

// sweep drops steps that are older than the turn log keeps, and what the history
// keeps no longer, at the start and once a day.
func (d *Dispatcher) sweep(ctx context.Context) error {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		if err := d.dropSteps(ctx, time.Now().Add(-read.StepsKept)); err != nil && ctx.Err() == nil {
			d.log.ErrorContext(ctx, "the turn log could not be swept; trying again tomorrow", "error", err)
		}
		if err := d.dropLeaves(ctx); err != nil && ctx.Err() == nil {
			d.log.ErrorContext(ctx, "old values of the history could not be dropped; trying again tomorrow", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (d *Dispatcher) dropSteps(ctx context.Context, before time.Time) error {
	for s, err := range d.records.Steps(ctx, approval.Query{}) {
		if err != nil {
			return err
		}
		if !s.Is.At.Before(before) {
			return nil
		}
		_, err = d.store.Update(ctx, approval.KindStep, s.ID, func(now approval.Record) (approval.Record, error) {
			if now.Seq != s.Seq {
				return now, approval.ErrKeep
			}
			now.Drop = true
			return now, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
