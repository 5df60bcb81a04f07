package telegram

import (
	"context"
	"errors"

	"github.com/metnos/vaglio/approval"
)

// Remind says beside a card that it still waits, and until when. It has no
// buttons, so that there is one place to answer; it is taken away when the card
// is over.
func (c *Channel) Remind(ctx context.Context, ref string, card approval.Card) error {
	chat, id, ok := parseRef(ref)
	if !ok {
		return approval.ErrGone
	}
	v, d := viewOf(card, c.textsFor(chat)), c.draft(card.Ask, chat)
	if v.open == 0 || d.Reminder != 0 {
		return nil
	}
	p := v.page()
	p.say("remind", map[string]any{"agent": theirs(v.who), "wanted": theirs(v.short()), "when": v.until})
	reminder, err := c.send(ctx, chat, p, note{reply: id, thread: c.topic, silent: card.Silent})
	if err != nil {
		return delivery(err)
	}
	// A reminder that cannot be noted stays behind; the dispatcher sends no second.
	d.Message, d.Reminder = id, reminder
	if err := c.keepDraft(ctx, d); err != nil {
		c.log.WarnContext(ctx, "a reminder could not be noted; it stays when the card is over", "ask", v.id, "error", err)
	}
	return nil
}

// maxRefused is the most characters of each text in a notice.
const maxRefused = 600

// Notify tells what the guard denied, as a message of its own without buttons:
// there is nothing to answer.
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

func noticePage(p *page, n *approval.Notice) *page {
	short := func(s string, most int) theirs {
		t, left := seeLine(s).first(most)
		if left > 0 {
			t += "…"
		}
		return theirs(t)
	}
	p.line("notice", map[string]any{"agent": theirs(nickname(n.Agent)), "wanted": short(n.Refusal.Wanted, maxRefused)})
	p.line("notice.final", map[string]any{"rule": short(n.Rule, 100)})
	if n.Count > 1 {
		p.line("notice.count", map[string]any{"n": n.Count, "first": n.First})
	}
	// Of a rule that is not known here, all is shown as it was told.
	if why := p.texts.Guard(n.Rule); why != "" {
		p.line("notice.why", map[string]any{"why": why})
	} else {
		p.line("notice.why", map[string]any{"why": short(n.Refusal.Why, maxRefused)})
	}
	if said, ok := p.texts.Told(n.Refusal.Alternatives...); ok && said != "" {
		p.line("notice.instead", map[string]any{"instead": said})
	} else if said != "" {
		p.line("notice.instead", map[string]any{"instead": short(said, maxRefused)})
	}
	return p
}
