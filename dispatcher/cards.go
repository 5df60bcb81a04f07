package dispatcher

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/metnos/vaglio/approval"
)

// deliver makes the ask's card on the channel show the ask's state, and records that it
// does. It also sends a reminder if one is due, and tells people how the ask ended.
func (d *Dispatcher) deliver(ctx context.Context, ch Channel, id approval.AskID, e *delivery) error {
	if e.sent != nil {
		if err := d.record(ctx, ch, id, e); err != nil {
			return err
		}
	}
	ask, err := d.ask(ctx, string(id))
	if err != nil {
		return fmt.Errorf("dispatcher: read ask %s: %w", id, err)
	}
	shown := ask.On(ch.Name())
	if shown == nil {
		return nil
	}
	if shown.Stale(ask.View()) {
		if left := shown.PutOffFor(now()); left > 0 && !e.opened {
			return &approval.RetryError{After: left, Unsent: true, Shut: true, Err: errPutOff}
		}
		err := d.show(ctx, ch, ask, e)
		if retry, ok := errors.AsType[*approval.RetryError](err); ok && retry.Shut {
			err = d.putOff(ctx, ch, id, e, retry)
		}
		return err
	}
	if shown.Owes(&ask) {
		return d.tell(ctx, ch, ask, e)
	}
	return d.remind(ctx, ch, ask, e)
}

// errPutOff says that a card waits for a room that was shut before the daemon started.
var errPutOff = errors.New("the channel accepted no message at the last try")

// putOff records that the card's room accepts no messages, so that a room that stays shut
// is tried less and less often, even across restarts.
func (d *Dispatcher) putOff(ctx context.Context, ch Channel, id approval.AskID, e *delivery, shut *approval.RetryError) error {
	var pause time.Duration
	_, err := d.update(ctx, id, func(ask *approval.Ask) error {
		shown := ask.On(ch.Name())
		if e.opened {
			shown.Shut = nil
		}
		pause = shown.PutOff(shut.After, now())
		return nil
	})
	if err != nil {
		return fmt.Errorf("dispatcher: postpone the card of ask %s: %w", id, err)
	}
	return &approval.RetryError{After: pause, Unsent: shut.Unsent, Shut: true, Err: shut.Err}
}

// show amends the ask's message, or posts one if there is none.
func (d *Dispatcher) show(ctx context.Context, ch Channel, ask approval.Ask, e *delivery) error {
	card, shown := d.card(ask, ch), ask.On(ch.Name())
	s := sent{ref: shown.Ref, view: card.View}
	if f, ok := ch.(Finder); ok && s.ref == "" && shown.Begun != "" {
		if s.ref, ok = f.Found(ask.ID); ok {
			s.posted, s.routes = len(card.Items), len(card.Routes)
			if err := d.found(ctx, ch, ask.ID, s); err != nil {
				return err
			}
		}
	}
	if s.ref == "" {
		return d.post(ctx, ch, ask, e, false)
	}
	err := ch.Amend(ctx, s.ref, card)
	if (errors.Is(err, approval.ErrRepost) || errors.Is(err, approval.ErrGone)) && ask.Waiting() {
		return d.post(ctx, ch, ask, e, true)
	}
	return d.keep(ctx, ch, ask.ID, e, s, err)
}

// Opened says that there was a sign that a channel accepts messages: what found it shut is
// tried at once.
func (d *Dispatcher) Opened(channel string) {
	if c := d.outlets.deliverers[channel]; c != nil {
		c.open()
	}
}

// Look makes sure that people can see the card of an ask that waits on the channel: its
// message is written again, and one that somebody deleted is replaced. Look returns when
// the request is on disk, not when it is done. It does nothing if no such ask waits there.
func (d *Dispatcher) Look(ctx context.Context, id approval.AskID, channel string) error {
	_, err := d.update(ctx, id, func(ask *approval.Ask) error {
		shown := ask.On(channel)
		if shown == nil || !ask.Waiting() || shown.Ref == "" {
			return approval.ErrKeep
		}
		shown.View, shown.Gone = "", false
		return nil
	})
	if err != nil && !errors.Is(err, approval.ErrNotFound) {
		return fmt.Errorf("dispatcher: look for the card of ask %s: %w", id, err)
	}
	return nil
}

// Reveal records that a person is about to be shown the masked values of an ask's calls.
// Errors: [approval.ErrNotFound], or the store's.
func (d *Dispatcher) Reveal(ctx context.Context, id approval.AskID, by approval.Person, channel string) error {
	_, err := d.update(ctx, id, func(ask *approval.Ask) error {
		ask.Revealed = &approval.Act{By: by, Channel: channel, At: now()}
		return nil
	})
	if err != nil {
		return fmt.Errorf("dispatcher: note who is shown ask %s: %w", id, err)
	}
	return nil
}

// found records that a message belongs to the ask, before it is amended: the channel then
// forgets how it found the message, and after a crash in between another one would be
// posted while this one has buttons.
func (d *Dispatcher) found(ctx context.Context, ch Channel, id approval.AskID, s sent) error {
	_, err := d.update(ctx, id, func(ask *approval.Ask) error {
		shown := ask.On(ch.Name())
		shown.Ref, shown.Posted = s.ref, s.posted
		owesTheEnd(ch, shown)
		return nil
	})
	if err != nil {
		return fmt.Errorf("dispatcher: keep where the card of ask %s was found: %w", id, err)
	}
	return nil
}

// owesTheEnd records that people are to be told, next to a new message, how its ask ended.
func owesTheEnd(ch Channel, shown *approval.Shown) {
	if _, tells := ch.(Teller); tells && shown.Tell == "" {
		shown.Tell = approval.TellDue
	}
}

// post posts the ask's card. It first records that it will: if a card is later found
// without a reference, by this process or the next, there may be a message on the platform
// that nobody knows of, and its buttons are voided before another one is posted. So at most
// one message has live buttons, and that one is kept up to date.
func (d *Dispatcher) post(ctx context.Context, ch Channel, ask approval.Ask, e *delivery, anew bool) error {
	ask, err := d.begin(ctx, ch, ask, e, anew)
	if err != nil {
		return fmt.Errorf("dispatcher: begin to post ask %s: %w", ask.ID, err)
	}
	switch shown := ask.On(ch.Name()); {
	case shown.Ref != "" && !anew:
		return fmt.Errorf("dispatcher: ask %s was posted meanwhile", ask.ID)
	case !ask.Waiting() && shown.Ref != "":
		// It was over before the message was replaced, so the message shows the end.
		card := d.card(ask, ch)
		return d.keep(ctx, ch, ask.ID, e, sent{ref: shown.Ref, view: card.View}, ch.Amend(ctx, shown.Ref, card))
	case !ask.Waiting():
		// It was over before anybody saw it: there is nothing to tell, unless the channel
		// finds a message that a crash left; see [Dispatcher.Adopt].
		return d.keep(ctx, ch, ask.ID, e, sent{view: ask.View()}, nil)
	}
	card := d.card(ask, ch)
	ref, err := ch.Post(ctx, card)
	e.unsent = surelyUnsent(err)
	return d.keep(ctx, ch, ask.ID, e, sent{ref: ref, view: card.View, posted: len(card.Items), routes: len(card.Routes)}, err)
}

// begin records that a message for the ask is about to be posted.
func (d *Dispatcher) begin(ctx context.Context, ch Channel, ask approval.Ask, e *delivery, anew bool) (approval.Ask, error) {
	// Calls may join in the meantime.
	tokens := approval.NewTokens(ask.PostTokens() + 2*approval.MaxGathered)
	return d.update(ctx, ask.ID, func(ask *approval.Ask) error {
		shown := ask.On(ch.Name())
		if !ask.Waiting() || shown.Ref != "" && !anew {
			return approval.ErrKeep
		}
		if anew || shown.Begun != "" && !e.unsent {
			if !ask.Repost(ch.Name(), tokens) {
				return fmt.Errorf("dispatcher: too few tokens for ask %s", ask.ID)
			}
		} else if shown.Begun == ask.View() {
			return approval.ErrKeep
		}
		shown.Begun = ask.View()
		return nil
	})
}

// surelyUnsent reports whether an error of Post says that nothing was posted.
func surelyUnsent(err error) bool {
	retry, ok := errors.AsType[*approval.RetryError](err)
	return ok && retry.Unsent
}

// sent is what a channel shows of an ask.
type sent struct {
	ref    string
	view   approval.View
	gone   bool
	posted int // number of calls that a new message shows; 0 for an old one
	routes int // number of routes that a new message names
}

// keep records what the channel shows after a call that ended with err.
func (d *Dispatcher) keep(ctx context.Context, ch Channel, id approval.AskID, e *delivery, s sent, err error) error {
	// A message that cannot show the end of its ask is given up.
	s.gone = errors.Is(err, approval.ErrGone) || errors.Is(err, approval.ErrRepost)
	if err != nil && !s.gone {
		return err
	}
	e.sent = &s
	return d.record(ctx, ch, id, e)
}

// record stores what reached the platform. Until that succeeds, it is retried before
// anything else: a second message would be one too many.
func (d *Dispatcher) record(ctx context.Context, ch Channel, id approval.AskID, e *delivery) error {
	s := e.sent
	_, err := d.update(ctx, id, func(ask *approval.Ask) error {
		shown := ask.On(ch.Name())
		shown.Ref, shown.View, shown.Gone, shown.Shut = s.ref, s.view, s.gone, nil
		if s.posted > 0 {
			shown.Begun, shown.Posted = "", s.posted
			owesTheEnd(ch, shown)
			// A card this late is its own reminder.
			shown.Reminded = shown.Reminded || d.reminds(ask, now())
			shown.Routes = s.routes
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("dispatcher: keep what the card of ask %s shows: %w", id, err)
	}
	e.sent = nil
	return nil
}

// card returns the ask's card as the channel is to show it now.
func (d *Dispatcher) card(ask approval.Ask, ch Channel) approval.Card {
	card := approval.NewCard(ask, ch.Name(), d.masker())
	d.guard(&card, ch.Name())
	card.Silent = d.hours.Quiet.at(now())
	return card
}
