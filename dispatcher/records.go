package dispatcher

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/history"
	"github.com/metnos/vaglio/dispatcher/read"
)

// ask reads an ask by its id or one of its keys.
func (d *Dispatcher) ask(ctx context.Context, idOrKey string) (approval.Ask, error) {
	ask, err := d.records.Ask(ctx, idOrKey)
	if err != nil && !read.Nothing(err) {
		err = &storeError{err}
	}
	if err != nil || !overdue(&ask) {
		return ask, err
	}
	// Whoever reads it first ends it, so that nobody is told that it waits and later that
	// it had expired before.
	ended, err := d.update(ctx, ask.ID, func(ask *approval.Ask) error {
		if !ask.Lapse(now()) {
			return approval.ErrKeep
		}
		return nil
	})
	if err != nil {
		ask.Lapse(now())
		return ask, nil // the alarm tries again; what is over is over
	}
	return ended, nil
}

// overdue reports whether a deadline of the ask has passed.
func overdue(ask *approval.Ask) bool {
	at := ask.NextDeadline()
	return !at.IsZero() && !now().Before(at)
}

// storeError is trouble with the store, which must not be blamed on a channel.
type storeError struct{ err error }

func (e *storeError) Error() string { return e.err.Error() }

func (e *storeError) Unwrap() error { return e.err }

// approvalOf reads one approval of the agent. Another agent's approval is not found.
func (d *Dispatcher) approvalOf(ctx context.Context, agent string, id approval.ID) (*approval.Approval, error) {
	ask, err := d.askOf(ctx, agent, id)
	if err != nil {
		return nil, err
	}
	return ask.Find(id), nil
}

// askOf reads the ask that holds the approval of the agent.
func (d *Dispatcher) askOf(ctx context.Context, agent string, id approval.ID) (*approval.Ask, error) {
	ask, err := d.ask(ctx, string(id.Ask()))
	if err != nil {
		return nil, err
	}
	if ask.Agent != agent || ask.Find(id) == nil {
		return nil, approval.ErrNotFound
	}
	return &ask, nil
}

// update changes an existing ask in one compare-and-swap, and records in the history what
// happened to it. change may run more than once.
func (d *Dispatcher) update(ctx context.Context, id approval.AskID, change func(*approval.Ask) error) (approval.Ask, error) {
	var ask approval.Ask
	at, seed := now(), rand.Text()
	var refused error
	rec, err := d.store.Update(ctx, approval.KindAsk, string(id), func(r approval.Record) (out approval.Record, err error) {
		defer func() { refused = err }()
		if !r.Exists() {
			return r, approval.ErrNotFound
		}
		if ask, err = approval.DecodeAsk(r.Body); err != nil {
			return r, &approval.UnreadError{Kind: approval.KindAsk, ID: string(id), Err: err}
		}
		before := history.Remember(&ask)
		if err := change(&ask); err != nil {
			return r, err
		}
		if r.Leaves, err = d.leaves.Change(before, &ask, at, seed); err != nil {
			return r, err
		}
		return recordOf(r, ask)
	})
	if err != nil && refused == nil {
		err = &storeError{err}
	}
	if err == nil && refused == nil {
		d.stand.newest.Wrote(ask.ID, rec.Seq, func() { d.keepStanding(&ask) })
	}
	_ = d.records.Note(ctx, err) // it is noted there; the caller has err
	return ask, err
}

// create stores a new ask, and records it in the history. A [*approval.KeyError] says that
// an equal call is already asked.
func (d *Dispatcher) create(ctx context.Context, ask approval.Ask) error {
	leaves, err := d.leaves.Change(history.Before{}, &ask, ask.OpenedAt, rand.Text())
	if err != nil {
		return err
	}
	_, err = d.store.Update(ctx, approval.KindAsk, string(ask.ID), func(r approval.Record) (approval.Record, error) {
		if r.Exists() {
			return r, fmt.Errorf("dispatcher: ask %s exists", ask.ID)
		}
		r.Leaves = leaves
		return recordOf(r, ask)
	})
	return err
}

// recordOf puts the ask into r.
func recordOf(r approval.Record, ask approval.Ask) (approval.Record, error) {
	body, err := approval.EncodeAsk(ask)
	if err != nil {
		return r, err
	}
	r.ID, r.Body, r.Open, r.Keys = string(ask.ID), body, !ask.Done(), ask.Keys()
	return r, nil
}

// now returns the current time as it is stored: in UTC and without a monotonic reading, so
// that what a caller is told equals what is read back.
func now() time.Time { return time.Now().Round(0).UTC() }
