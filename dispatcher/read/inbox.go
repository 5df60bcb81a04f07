package read

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/metnos/vaglio/approval"
)

// Pending yields the card of every ask that waits for a person, oldest first, as the
// channel would show it.
func (r *Reader) Pending(ctx context.Context, channel string) iter.Seq2[approval.Card, error] {
	return func(yield func(approval.Card, error) bool) {
		for ask, err := range r.open(ctx) {
			if !yield(r.guarded(approval.NewCard(ask, channel, r.masker), channel), err) || err != nil {
				return
			}
		}
	}
}

// Waiting yields every ask that waits for a person, oldest first. It makes no cards, which
// takes most of the time of Pending.
func (r *Reader) Waiting(ctx context.Context) iter.Seq2[approval.Waiting, error] {
	return func(yield func(approval.Waiting, error) bool) {
		for ask, err := range r.open(ctx) {
			if !yield(approval.Waiting{Ask: ask.ID, Agent: ask.Agent}, err) {
				return
			}
		}
	}
}

// open yields the asks that wait, oldest first.
func (r *Reader) open(ctx context.Context) iter.Seq2[approval.Ask, error] {
	return func(yield func(approval.Ask, error) bool) {
		for ask, err := range r.records.Asks(ctx, approval.Query{Open: true}) {
			if err == nil {
				ask.Is.Lapse(now())
			}
			if err == nil && !ask.Is.Waiting() {
				continue
			}
			if !yield(ask.Is, err) || err != nil {
				return
			}
		}
	}
}

// Card returns the card of an ask as the channel shows it.
func (r *Reader) Card(ctx context.Context, id approval.AskID, channel string) (approval.Card, error) {
	ask, err := r.ask(ctx, string(id))
	if err != nil {
		return approval.Card{}, err
	}
	return r.guarded(approval.NewCard(ask, channel, r.masker), channel), nil
}

// Revealed returns the card of an ask for a person who wants to see the values that decide
// what its calls do, see [approval.NewRevealedCard].
func (r *Reader) Revealed(ctx context.Context, id approval.AskID, channel string) (approval.Card, error) {
	ask, err := r.ask(ctx, string(id))
	if err != nil {
		return approval.Card{}, err
	}
	return r.guarded(approval.NewRevealedCard(ask, channel, r.masker), channel), nil
}

func (r *Reader) guarded(c approval.Card, channel string) approval.Card {
	if r.guard != nil {
		r.guard(&c, channel)
	}
	return c
}

// shortest is the fewest characters of an id that Find accepts.
const shortest = 4

// Find returns the ask that a person names: by the ask's id, by an approval's, or by the
// first characters of either, at least four, if only one fits.
func (r *Reader) Find(ctx context.Context, id string) (approval.Ask, error) {
	ask := approval.ID(approval.Typed(id)).Ask()
	if len(ask) < shortest {
		return approval.Ask{}, approval.ErrNotFound
	}
	var found approval.Ask
	n := 0
	for stored, err := range r.records.store.List(ctx, approval.Query{Kind: approval.KindAsk, Prefix: string(ask), Limit: 2}) {
		if found, err = decoded(ctx, r.records, recordKey{approval.KindAsk, stored.ID}, &stored, err, approval.DecodeAsk); err != nil {
			return approval.Ask{}, fmt.Errorf("read: find an ask: %w", err)
		}
		if n++; found.ID == ask {
			return found, nil
		}
	}
	if n != 1 {
		return approval.Ask{}, approval.ErrNotFound
	}
	return found, nil
}

// Why returns the card of what a person names, as the channel shows it: an ask, as in Find,
// or a step that was refused without one, by its [approval.VetoID] or the first characters
// of that, at least four after the mark.
func (r *Reader) Why(ctx context.Context, id, channel string) (approval.Card, error) {
	if id = approval.Typed(id); approval.IsVetoID(id) {
		return r.vetoed(ctx, id)
	}
	ask, err := r.Find(ctx, id)
	if err != nil {
		return approval.Card{}, err
	}
	return r.guarded(approval.NewCard(ask, channel, r.masker), channel), nil
}

// vetoed looks up a refused step. People ask rarely, so there is no index: it reads
// everything that the turn log keeps.
//
//nolint:cyclop // One step after the other; each may end it.
func (r *Reader) vetoed(ctx context.Context, id string) (approval.Card, error) {
	whole := len(approval.VetoID(""))
	if least := len(approval.VetoMark) + shortest; len(id) < least || len(id) > whole {
		return approval.Card{}, approval.ErrNotFound
	}
	var found *approval.Step
	for stored, err := range r.records.store.List(ctx, approval.Query{Kind: approval.KindStep, Newest: true}) {
		named := stored.ID != "" && strings.HasPrefix(string(approval.VetoID(stored.ID)), id)
		if !named && (err == nil || r.records.Note(ctx, err) != nil) {
			continue
		}
		s, err := decoded(ctx, r.records, recordKey{approval.KindStep, stored.ID}, &stored, err, approval.DecodeStep)
		if err != nil {
			return approval.Card{}, fmt.Errorf("read: look a veto up: %w", err)
		}
		if s.Verdict == nil || s.Verdict.Approved {
			continue
		}
		if found != nil {
			return approval.Card{}, approval.ErrNotFound
		}
		if s.ID = stored.ID; len(id) == whole {
			return approval.NewVetoCard(s, r.masker), nil
		}
		found = &s
	}
	if found == nil {
		return approval.Card{}, approval.ErrNotFound
	}
	return approval.NewVetoCard(*found, r.masker), nil
}

// entry joins a step with its approval as it stands now.
func (r *Reader) entry(ctx context.Context, s Kept[approval.Step]) (approval.Entry, error) {
	e := approval.Entry{Cursor: s.Born, Step: s.Is}
	if s.Is.Approval == "" {
		return e, nil
	}
	ask, err := r.ask(ctx, string(s.Is.Approval.Ask()))
	if Nothing(err) {
		return e, nil
	}
	if err != nil {
		return e, fmt.Errorf("read: read approval %s: %w", s.Is.Approval, err)
	}
	e.Approval = ask.Find(s.Is.Approval)
	return e, nil
}
