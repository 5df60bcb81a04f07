package telegram

import (
	"context"
	"errors"
	"fmt"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
)

// Remind says next to a card that it still waits, and until when. It has no buttons, so
// that there is one place to answer. It is deleted when the card is over. A card that
// somebody deleted asks for a new message.
func (c *Channel) Remind(ctx context.Context, ref string, card approval.Card) error {
	chat, id, ok := parseRef(ref)
	if !ok {
		return approval.ErrGone
	}
	v, d := viewOf(card, c.textsFor(chat), c.edits), c.draft(card.Ask, chat)
	if v.Open == 0 || d.Reminder != 0 && d.Reminded.Equal(card.RemindAt) {
		return nil
	}
	c.dropReminder(ctx, &d) // a postponed reminder comes again
	p := &page{texts: v.Texts}
	p.write(v.Reminder())
	reminder, err := c.send(ctx, chat, p, note{reply: id, thread: c.topic, silent: card.Silent, strict: true})
	if p, ok := errors.AsType[*PlatformError](err); ok && p.unanswerable() {
		if err := c.dropDraft(ctx, v.Ask); err != nil {
			return err
		}
		return fmt.Errorf("%w: %w", approval.ErrRepost, p)
	}
	if err != nil {
		return delivery(err)
	}
	// A reminder that cannot be recorded stays; the dispatcher sends no second one.
	d.Message, d.Reminder, d.Reminded = id, reminder, card.RemindAt
	if err := c.keepDraft(ctx, d); err != nil {
		c.log.WarnContext(ctx, "a reminder could not be noted; it stays when the card is over", "ask", v.Ask, "error", err)
	}
	return nil
}

// Notify says what the guard denied, in a message of its own without buttons: there is
// nothing to answer.
func (c *Channel) Notify(ctx context.Context, n approval.Notice) error {
	chat, ok := c.place()
	if !ok {
		return &approval.RetryError{After: unpairedPause, Unsent: true, Err: errUnpaired}
	}
	_, err := c.send(ctx, chat, noticePage(&page{texts: c.textsFor(chat)}, &n), note{thread: c.topic, silent: n.Silent})
	if p, ok := errors.AsType[*PlatformError](err); ok && p.MigrateTo != 0 {
		if err := c.moved(ctx, chat, p.MigrateTo); err != nil {
			return err
		}
	}
	return delivery(err)
}

// Announce says what changed about the gate, in a message of its own.
func (c *Channel) Announce(ctx context.Context, a approval.Announcement) error { //nolint:gocritic // As the interface has it.
	chat, ok := c.place()
	if !ok {
		return &approval.RetryError{After: unpairedPause, Unsent: true, Err: errUnpaired}
	}
	p := &page{texts: c.textsFor(chat)}
	p.write(cardtext.Announcement(p.texts, &a))
	_, err := c.send(ctx, chat, p, note{thread: c.topic})
	if p, ok := errors.AsType[*PlatformError](err); ok && p.MigrateTo != 0 {
		if err := c.moved(ctx, chat, p.MigrateTo); err != nil {
			return err
		}
	}
	return delivery(err)
}

func noticePage(p *page, n *approval.Notice) *page {
	head, rest := cardtext.Notice(p.texts, n)
	p.write(head)
	p.text("\n")
	p.write(rest)
	return p
}
