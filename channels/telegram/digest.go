package telegram

import (
	"context"
	"errors"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
)

// OpenDigest sends the message that is to hold a digest. The key is of no use
// here: a bot cannot look for what it sent.
func (c *Channel) OpenDigest(ctx context.Context, _ string, silent bool) (string, error) {
	chat, ok := c.place()
	if !ok {
		return "", &approval.RetryError{After: unpairedPause, Unsent: true, Err: errUnpaired}
	}
	p := &page{texts: c.textsFor(chat)}
	p.say("digest.coming", nil)
	id, err := c.send(ctx, chat, p, note{thread: c.topic, silent: silent})
	if p, ok := errors.AsType[*PlatformError](err); ok && p.MigrateTo != 0 {
		if err := c.moved(ctx, chat, p.MigrateTo); err != nil {
			return "", err
		}
	}
	if err != nil {
		return "", delivery(err)
	}
	return refTo(chat, id), nil
}

// ShowDigest writes the digest into its message.
func (c *Channel) ShowDigest(ctx context.Context, ref string, d approval.Digest) error {
	chat, id, ok := parseRef(ref)
	if !ok {
		return approval.ErrGone
	}
	return delivery(c.edit(ctx, chat, id, digestPage(&page{texts: c.textsFor(chat)}, &d), ""))
}

// digest answers /digest.
func (l *loop) digest(ctx context.Context, m *message, day string) error {
	d, err := l.desk.Digest(ctx, day)
	if _, ok := errors.AsType[*approval.DayError](err); ok {
		l.reply(ctx, m, "digest.usage", nil)
		return nil
	}
	if err != nil {
		return err
	}
	l.replyPage(ctx, m, digestPage(l.page(m), &d), "")
	return nil
}

// digestPage writes the digest's lines, as many as fit, and counts the others.
func digestPage(p *page, d *approval.Digest) *page {
	lines := d.Lines()
	for i := range lines {
		line := p.digestLine(&lines[i], i > 0)
		cut := &page{texts: p.texts}
		cut.text("\n")
		cut.say("digest.cut", map[string]any{"n": len(lines) - i})
		if p.units+line.units+cut.units > maxText || p.entities+line.entities > maxEntities {
			p.join(cut)
			break
		}
		p.join(line)
	}
	return p
}

func (p *page) digestLine(l *approval.DigestLine, further bool) *page {
	line := &page{texts: p.texts}
	if further && l.Head {
		line.text("\n")
	}
	if further {
		line.text("\n")
	}
	line.write(cardtext.DigestLine(p.texts, l))
	return line
}
