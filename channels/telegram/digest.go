package telegram

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/channels/cardtext"
)

// OpenDigest sends the two messages that are to hold a digest: the first for its picture,
// and the second, a reply to it, for its text. If the second cannot be sent, the first is
// for the text, and there is no picture. The key is not used: a bot cannot look for what it
// sent.
func (c *Channel) OpenDigest(ctx context.Context, _ string, silent bool) (string, error) {
	chat, ok := c.place()
	if !ok {
		return "", &approval.RetryError{After: unpairedPause, Unsent: true, Err: errUnpaired}
	}
	p := &page{texts: c.textsFor(chat)}
	p.say("digest.coming", nil)
	first, err := c.send(ctx, chat, p, note{thread: c.topic, silent: silent})
	if p, ok := errors.AsType[*PlatformError](err); ok && p.MigrateTo != 0 {
		if err := c.moved(ctx, chat, p.MigrateTo); err != nil {
			return "", err
		}
	}
	if err != nil {
		return "", delivery(err)
	}
	second, err := c.send(ctx, chat, p, note{reply: first, thread: c.topic, silent: true})
	if err != nil {
		c.log.WarnContext(ctx, "a digest is sent without its picture", "error", err)
		return refTo(chat, first), nil
	}
	return digestRef(chat, second, first), nil
}

// ShowDigest writes the digest into its message, and then its picture into the other one.
// Only if the text is gone does it ask for new messages: the picture has not been shown by
// then, so that none comes twice.
func (c *Channel) ShowDigest(ctx context.Context, ref string, d report.Digest) error {
	chat, text, picture, ok := parseDigestRef(ref)
	if !ok {
		return approval.ErrGone
	}
	if err := delivery(c.edit(ctx, chat, text, digestPage(&page{texts: c.textsFor(chat)}, &d), "")); err != nil || picture == 0 {
		return err
	}
	err := delivery(c.showPicture(ctx, chat, picture, &d))
	if errors.Is(err, approval.ErrGone) {
		return nil // somebody deleted it; the text says everything
	}
	return err
}

// digestRef refers to the messages of a digest; picture is 0 if there is none.
func digestRef(chat int64, text, picture int) string {
	return refTo(chat, text) + ":" + strconv.Itoa(picture)
}

func parseDigestRef(ref string) (chat int64, text, picture int, ok bool) {
	if parts := strings.Split(ref, ":"); len(parts) == 3 {
		n, err := strconv.Atoi(parts[2])
		if err != nil {
			return 0, 0, 0, false
		}
		picture, ref = n, parts[0]+":"+parts[1]
	}
	chat, text, ok = parseRef(ref)
	return chat, text, picture, ok
}

// digest answers /digest.
func (l *loop) digest(ctx context.Context, m *message, day string) error {
	d, err := l.desk.Digest(ctx, day)
	if _, ok := errors.AsType[*report.DayError](err); ok {
		l.reply(ctx, m, "digest.usage", nil)
		return nil
	}
	if err != nil {
		return err
	}
	l.replyPage(ctx, m, digestPage(l.page(m), &d), "")
	l.later(ctx, laneOf(m.Chat.ID), func() { l.replyPicture(ctx, m, &d) })
	return nil
}

// digestPage writes the digest's lines, as many as fit, and counts the rest.
func digestPage(p *page, d *report.Digest) *page {
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

func (p *page) digestLine(l *report.DigestLine, further bool) *page {
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
