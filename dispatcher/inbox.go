package dispatcher

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/metnos/vaglio/approval"
)

// Pending yields the card of every ask that waits for a person, oldest first,
// as the channel would show it.
func (d *Dispatcher) Pending(ctx context.Context, channel string) iter.Seq2[approval.Card, error] {
	return func(yield func(approval.Card, error) bool) {
		for r, err := range d.store.List(ctx, approval.Query{Kind: approval.KindAsk, Open: true}) {
			var ask approval.Ask
			if err == nil {
				ask, err = approval.DecodeAsk(r.Body)
			}
			if err == nil && !ask.Waiting() {
				continue
			}
			if !yield(approval.NewCard(ask, channel, d.masker), err) || err != nil {
				return
			}
		}
	}
}

// Card returns the card of an ask as the channel shows it.
func (d *Dispatcher) Card(ctx context.Context, id approval.AskID, channel string) (approval.Card, error) {
	ask, err := d.ask(ctx, string(id))
	if err != nil {
		return approval.Card{}, err
	}
	return approval.NewCard(ask, channel, d.masker), nil
}

// shortest is the fewest characters of an id that Find takes.
const shortest = 4

// Find returns the ask that a person names: by the ask's id, by an approval's,
// or by the first characters of either, four at least, where only one fits.
func (d *Dispatcher) Find(ctx context.Context, id string) (approval.Ask, error) {
	ask := approval.ID(id).Ask()
	if len(ask) < shortest {
		return approval.Ask{}, approval.ErrNotFound
	}
	var found approval.Ask
	n := 0
	for r, err := range d.store.List(ctx, approval.Query{Kind: approval.KindAsk, Prefix: string(ask), Limit: 2}) {
		if err != nil {
			return approval.Ask{}, fmt.Errorf("dispatcher: find an ask: %w", err)
		}
		if found, err = approval.DecodeAsk(r.Body); err != nil {
			return approval.Ask{}, err
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

// Why returns the card of what a person names, as the channel shows it: of an ask
// as Find has it, or of a step that was refused without one, by its
// [approval.VetoID] or the first characters of it, four at least after the mark.
func (d *Dispatcher) Why(ctx context.Context, id, channel string) (approval.Card, error) {
	if approval.IsVetoID(id) {
		return d.vetoed(ctx, id)
	}
	ask, err := d.Find(ctx, id)
	if err != nil {
		return approval.Card{}, err
	}
	return approval.NewCard(ask, channel, d.masker), nil
}

// vetoed looks a refused step up. People ask rarely, so there is no index: all that
// the turn log keeps is read.
func (d *Dispatcher) vetoed(ctx context.Context, id string) (approval.Card, error) {
	whole := len(approval.VetoID(""))
	if least := len(approval.VetoMark) + shortest; len(id) < least || len(id) > whole {
		return approval.Card{}, approval.ErrNotFound
	}
	var found *approval.Step
	for r, err := range d.store.List(ctx, approval.Query{Kind: approval.KindStep, Newest: true}) {
		if err != nil {
			return approval.Card{}, fmt.Errorf("dispatcher: look a veto up: %w", err)
		}
		if !strings.HasPrefix(string(approval.VetoID(r.ID)), id) {
			continue
		}
		s, err := approval.DecodeStep(r.Body)
		if err != nil {
			return approval.Card{}, err
		}
		if s.Verdict == nil || s.Verdict.Approved {
			continue
		}
		if found != nil {
			return approval.Card{}, approval.ErrNotFound
		}
		if s.ID = r.ID; len(id) == whole {
			return approval.NewVetoCard(s, d.masker), nil
		}
		found = &s
	}
	if found == nil {
		return approval.Card{}, approval.ErrNotFound
	}
	return approval.NewVetoCard(*found, d.masker), nil
}

const (
	// entriesAtOnce is how many entries History returns when not told.
	entriesAtOnce = 50
	// entriesRead and bytesRead bound how far one call of History looks for
	// entries that fit a filter.
	entriesRead = 5000
	bytesRead   = 16 << 20
)

// History returns what was proposed and what became of it, newest first. Its
// values are masked as on a card.
func (d *Dispatcher) History(ctx context.Context, f approval.Filter) (approval.Page, error) {
	if f.Limit <= 0 {
		f.Limit = entriesAtOnce
	}
	q := approval.Query{Kind: approval.KindStep, Newest: true, After: f.Before}
	var page approval.Page
	read, weight := 0, 0
	for r, err := range d.store.List(ctx, q) {
		if err != nil {
			return approval.Page{}, fmt.Errorf("dispatcher: read the history: %w", err)
		}
		if len(page.Entries) == f.Limit || read == entriesRead || weight >= bytesRead {
			return page, nil
		}
		read++
		weight += len(r.Body)
		e, err := d.entry(ctx, r)
		if err != nil {
			return approval.Page{}, err
		}
		if f.Fits(&e) {
			page.Entries = append(page.Entries, d.masker.Entry(e))
		}
		page.Older = r.Born
	}
	page.Older = 0
	return page, nil
}

// entry joins a step with its approval as it now stands.
func (d *Dispatcher) entry(ctx context.Context, r approval.Record) (approval.Entry, error) {
	s, err := approval.DecodeStep(r.Body)
	if err != nil {
		return approval.Entry{}, err
	}
	e := approval.Entry{Cursor: r.Born, Step: s}
	if s.Approval == "" {
		return e, nil
	}
	ask, err := d.ask(ctx, string(s.Approval.Ask()))
	if errors.Is(err, approval.ErrNotFound) {
		return e, nil
	}
	if err != nil {
		return e, fmt.Errorf("dispatcher: read approval %s: %w", s.Approval, err)
	}
	e.Approval = ask.Find(s.Approval)
	return e, nil
}
