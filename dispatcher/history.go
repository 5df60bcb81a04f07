package dispatcher

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/history"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
)

// History is what is needed to sign the history of approvals and to limit its size. What
// goes into the history is decided where asks and steps are written, independently of it.
type History struct {
	// Tree is the store's.
	Tree history.Tree
	// Key signs checkpoints.
	Key history.Key
	// Keep is how long leaves keep their values; 0 means for ever.
	Keep time.Duration
	// Save stores the newest checkpoint where an older copy of the store does not reach: in
	// a file beside it.
	Save func(checkpoint string) error

	mu sync.Mutex
	// saved is the size of the history that was last saved.
	saved int64
}

const (
	// historyRecord is the record that the history keeps about itself, apart from its
	// leaves.
	historyRecord = "history"
	// sealEvery is how often a history that grew is signed and saved, which limits how much
	// of it can be lost unnoticed with an older copy of the store.
	sealEvery = time.Minute
)

// historyBody is the body of that record.
type historyBody struct {
	Version int `json:"v"`
	// Key is the current verifier key.
	Key string `json:"key"`
}

// RollbackError says that the store is an older copy of itself, or that its history was
// rewritten.
type RollbackError struct {
	// Problem is what does not fit.
	Problem string
}

func (e *RollbackError) Error() string { return e.Problem }

// BeginHistory starts the history in a store that has none, and otherwise checks it against
// the checkpoint that was last saved; empty means none. A [*RollbackError] says that they
// do not fit. A leaf then records that and the history goes on, because the guard is needed
// in any case. Call it before Run and before the first proposal.
func (d *Dispatcher) BeginHistory(ctx context.Context, last string) error {
	size, err := d.history.Tree.TreeSize(ctx)
	if err != nil {
		return fmt.Errorf("dispatcher: read the history: %w", err)
	}
	body, err := d.historyBody(ctx)
	key := d.history.Key.Verifier()
	switch {
	case errors.Is(err, approval.ErrNotFound):
		baseline, err := d.baseline(ctx, size)
		if err != nil {
			return err
		}
		if err := d.tellHistory(ctx, history.Event{Kind: history.Began, At: now(), Baseline: &baseline, Key: key}); err != nil {
			return err
		}
		d.seal(ctx) // A start that fails later must not leave a history that nothing witnesses.
	case err != nil:
		return err
	case body.Key != key:
		d.log.WarnContext(ctx, "the key that signs the history has changed: the old one was lost or replaced", "before", body.Key, "now", key)
		if err := d.tellHistory(ctx, history.Event{Kind: history.Rekeyed, At: now(), Key: key}); err != nil {
			return err
		}
	}
	return d.compareHistory(ctx, last, body.Key)
}

// compareHistory checks the history against the checkpoint that was last saved. It was
// signed with the key then; an empty then means the current key.
func (d *Dispatcher) compareHistory(ctx context.Context, last, then string) error {
	if last == "" {
		if then != "" {
			d.log.WarnContext(ctx, "there is no checkpoint beside the store, so an older copy of the store would go unnoticed")
		}
		return nil
	}
	key := d.history.Key.Verifier()
	lost := history.Holds(ctx, d.history.Tree, last, cmp.Or(then, key))
	if _, ok := errors.AsType[*history.CheckpointError](lost); !ok {
		return lost
	}
	if err := d.tellHistory(ctx, history.Event{Kind: history.Restored, At: now(), Lost: last, Key: key}); err != nil {
		return err
	}
	return &RollbackError{lost.Error()}
}

// historyBody reads the record of the history.
func (d *Dispatcher) historyBody(ctx context.Context) (body historyBody, err error) {
	r, err := d.store.Get(ctx, approval.KindMeta, historyRecord)
	if err != nil {
		return body, err
	}
	if err := strictjson.Unmarshal(r.Body, &body); err != nil {
		return body, fmt.Errorf("dispatcher: read the record of the history: %w", err)
	}
	if body.Version != 1 {
		return body, errors.New("dispatcher: the record of the history is from a newer vaglio")
	}
	return body, nil
}

// tellHistory writes an event that is about no ask and no step.
func (d *Dispatcher) tellHistory(ctx context.Context, e history.Event) error { //nolint:gocritic // It is rare, and its own.
	leaves, err := d.leaves.Note(e, rand.Text())
	if err != nil {
		return err
	}
	return d.addLeaves(ctx, leaves)
}

// addLeaves writes leaves that belong to no other record.
func (d *Dispatcher) addLeaves(ctx context.Context, leaves [][]byte) error {
	body := historyBody{Version: 1}
	if d.history != nil {
		body.Key = d.history.Key.Verifier()
	}
	text, err := strictjson.Marshal(body)
	if err != nil {
		return fmt.Errorf("dispatcher: write to the history: %w", err)
	}
	_, err = d.store.Update(ctx, approval.KindMeta, historyRecord, func(r approval.Record) (approval.Record, error) {
		r.ID, r.Body, r.Leaves = historyRecord, text, leaves
		return r, nil
	})
	if err != nil {
		return fmt.Errorf("dispatcher: write to the history: %w", err)
	}
	return nil
}

// veto records the guard's denial at the redemption of a permit, which has no step in the
// turn log. The denial stands even if it cannot be recorded.
func (d *Dispatcher) veto(ctx context.Context, p vaglio.Proposal, id approval.ID, v vaglio.Verdict) error { //nolint:gocritic // As the caller has them.
	leaves, err := d.leaves.Veto(&approval.Step{Proposal: p, Verdict: &v, Approval: id}, now(), rand.Text())
	if err == nil {
		err = d.addLeaves(ctx, leaves)
	}
	if err != nil {
		d.log.ErrorContext(ctx, "a veto of the guard is missing from the history", "approval", id, "error", err)
	}
	return &GuardError{v}
}

// Checkpoint signs the history as it is now and saves the signed checkpoint. It returns ""
// if nobody signs.
func (d *Dispatcher) Checkpoint(ctx context.Context) (string, error) {
	h := d.history
	if h == nil {
		return "", nil
	}
	size, err := h.Tree.TreeSize(ctx)
	if err != nil {
		return "", fmt.Errorf("dispatcher: read the history: %w", err)
	}
	root, err := history.Root(ctx, h.Tree, size)
	if err != nil {
		return "", err
	}
	text, err := h.Key.Sign(size, root)
	if err != nil {
		return "", err
	}
	h.save(ctx, d, text, size)
	return text, nil
}

// save stores the newest checkpoint outside of the store. If that fails, the checkpoint is
// valid all the same.
func (h *History) save(ctx context.Context, d *Dispatcher, text string, size int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if size <= h.saved || h.Save == nil {
		return
	}
	if err := h.Save(text); err != nil {
		d.log.ErrorContext(ctx, "the newest checkpoint of the history could not be saved", "error", err)
		return
	}
	h.saved = size
}

// witness records a checkpoint for the digest that is being sent, so that a repeat shows
// the same one.
func (p *digestSender) witness(ctx context.Context, d *Dispatcher, body digestsBody, mine func(func(*digestsBody)) func(*digestsBody) error) (digestsBody, error) {
	if body.Checkpoint != "" || d.history == nil {
		return body, nil
	}
	checkpoint, err := d.Checkpoint(ctx)
	if err != nil {
		return body, err
	}
	return p.update(ctx, d, mine(func(b *digestsBody) { b.Checkpoint = checkpoint }))
}

// keepHistory signs and saves the history periodically.
func (d *Dispatcher) keepHistory(ctx context.Context) error {
	if d.history == nil {
		return nil
	}
	tick := time.NewTicker(sealEvery)
	defer tick.Stop()
	for {
		d.seal(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// seal signs and saves the history if it grew.
func (d *Dispatcher) seal(ctx context.Context) {
	h := d.history
	if h == nil {
		return
	}
	size, err := h.Tree.TreeSize(ctx)
	if err == nil {
		h.mu.Lock()
		same := size == h.saved
		h.mu.Unlock()
		if same {
			return
		}
		_, err = d.Checkpoint(ctx)
	}
	if err != nil && ctx.Err() == nil {
		d.log.ErrorContext(ctx, "the history cannot be signed; trying again", "error", err)
	}
}

// dropLeaves drops the values of leaves that have passed their retention. A leaf says so
// first: values missing without such a leaf were taken out.
func (d *Dispatcher) dropLeaves(ctx context.Context) error {
	h := d.history
	if h == nil || h.Keep <= 0 {
		return nil
	}
	from, through, err := d.oldLeaves(ctx, now().Add(-h.Keep))
	if err != nil || through <= from {
		return err
	}
	baseline, err := d.baseline(ctx, through)
	if err != nil {
		return err
	}
	e := history.Event{Kind: history.Dropped, At: now(), Baseline: &baseline, Through: through, Key: h.Key.Verifier()}
	if err := d.tellHistory(ctx, e); err != nil {
		return err
	}
	return h.Tree.DropLeaves(ctx, through)
}

// baseline returns how the approvals stood before a leaf, without those whose record cannot
// be read.
func (d *Dispatcher) baseline(ctx context.Context, through int64) (history.Baseline, error) {
	return history.BaselineAt(ctx, d.store, d.history.Tree, through, func(err error) { _ = d.records.Note(ctx, err) })
}

// oldLeaves returns the range of leaves with values that are older than an instant. A clock
// that was wrong for a while ends the range early, so that nothing goes too soon.
func (d *Dispatcher) oldLeaves(ctx context.Context, before time.Time) (from, through int64, err error) {
	from = -1
	for leaf, err := range d.history.Tree.Leaves(ctx, 0) {
		if err != nil {
			return 0, 0, fmt.Errorf("dispatcher: read the history: %w", err)
		}
		if leaf.Value == nil {
			continue
		}
		e, err := history.Decode(leaf.Value)
		if err != nil {
			return 0, 0, err
		}
		if from < 0 {
			from, through = leaf.Index, leaf.Index
		}
		if !e.At.Before(before) {
			return from, through, nil
		}
		through = leaf.Index + 1
	}
	return from, through, nil
}
