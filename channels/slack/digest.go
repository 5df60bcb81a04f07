package slack

import (
	"context"
	"errors"
	"fmt"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/channels/cardtext"
)

// digestMark is the prefix of the id of the block that identifies a message opened for a
// digest; the digest's key follows.
const digestMark = "digest-"

// OpenDigest sends the message that is to hold a digest.
func (at *Conversation) OpenDigest(ctx context.Context, key string, _ bool) (string, error) {
	c := at.app
	p := &page{texts: c.texts}
	p.line("digest.coming", nil)
	p.name(digestMark + key)
	m := place{channel: at.id}
	ts, err := c.send(ctx, m, p, cardtext.Clip(c.texts.Plain("digest.coming", nil), maxNotice))
	if at.noteTelling(err); err != nil {
		return "", delivery(err)
	}
	m.ts = ts
	return m.ref(), nil
}

// FindDigest looks for the message that was opened with the key. It cannot tell if the app
// may not read the channel.
func (at *Conversation) FindDigest(ctx context.Context, key string) (string, bool, error) {
	c := at.app
	p := slackapi.GetConversationHistoryParameters{
		ChannelID: at.id, Limit: orphanPage, Oldest: fmt.Sprintf("%d.000000", time.Now().Add(-orphanAge).Unix()),
	}
	for range orphanPages {
		var page *slackapi.GetConversationHistoryResponse
		err := c.do(ctx, "conversations.history", func(ctx context.Context) (err error) {
			page, err = c.api.GetConversationHistoryContext(ctx, &p)
			return err
		})
		switch {
		case means(err) == meansToken:
			c.log.WarnContext(ctx, "the digest's message cannot be searched for; one that says the digest is being made may stay", "error", err)
			return "", false, nil
		case err != nil:
			return "", false, delivery(err)
		}
		for i := range page.Messages {
			m := &page.Messages[i]
			for _, b := range m.Blocks.BlockSet {
				if b.ID() == digestMark+key {
					return place{channel: at.id, ts: m.Timestamp}.ref(), true, nil
				}
			}
		}
		if p.Cursor = page.ResponseMetaData.NextCursor; p.Cursor == "" {
			break
		}
	}
	return "", false, nil
}

// ShowDigest writes the digest into its message, and puts its picture below it.
func (at *Conversation) ShowDigest(ctx context.Context, ref string, d report.Digest) error {
	m, ok := parseRef(ref)
	if !ok {
		return fmt.Errorf("slack: the reference is not vaglio's: %w", approval.ErrGone)
	}
	c := at.app
	p := digestPage(&page{texts: c.texts}, &d, maxText)
	err := c.edit(ctx, m, p, digestNotice(p, &d))
	if at.noteTelling(err); err != nil {
		return delivery(err)
	}
	if err := c.showPicture(ctx, m, &d); err != nil {
		return delivery(err)
	}
	if at != c.own {
		return nil
	}
	if err := c.notes.Change(ctx, func(n *Notes) { n.Digest = ref }); err != nil {
		c.log.WarnContext(ctx, "home tabs may lead to an older digest", "error", err)
	}
	return nil
}

// OpenDigest opens a digest in the app's own channel, like [Conversation.OpenDigest].
func (c *Channel) OpenDigest(ctx context.Context, key string, silent bool) (string, error) {
	return c.own.OpenDigest(ctx, key, silent)
}

// FindDigest looks in the app's own channel, like [Conversation.FindDigest].
func (c *Channel) FindDigest(ctx context.Context, key string) (string, bool, error) {
	return c.own.FindDigest(ctx, key)
}

// ShowDigest shows a digest, like [Conversation.ShowDigest].
func (c *Channel) ShowDigest(ctx context.Context, ref string, d report.Digest) error {
	return c.own.ShowDigest(ctx, ref, d)
}

// digestPage writes the digest's lines, as many as fit into the given amount of text, and
// counts the rest.
func digestPage(p *page, d *report.Digest, most int) *page {
	lines := d.Lines()
	for i := range lines {
		l := &lines[i]
		// A line is written to a page of its own to find out its size, and the size of the
		// remark that it and the rest are left out.
		line, cut := &page{texts: p.texts}, &page{texts: p.texts}
		line.write(cardtext.DigestLine(p.texts, l))
		cut.line("digest.cut", map[string]any{"n": len(lines) - i})
		if i > 0 && p.units+line.units+cut.units > most {
			p.line("digest.cut", map[string]any{"n": len(lines) - i})
			break
		}
		switch {
		case i == 0:
			p.header(cardtext.DigestLine(p.texts, l).String())
			continue
		case l.Head && len(p.blocks) < maxBlocks-1:
			p.flush()
		}
		p.write(cardtext.DigestLine(p.texts, l))
		p.end()
	}
	return p
}

// digestNotice is what a notification shows of a digest: which one it is, in one line, and
// nothing written by others.
func digestNotice(p *page, d *report.Digest) string {
	lines := d.Lines()
	return cardtext.Clip(cardtext.DigestLine(p.texts, &lines[0]).String(), maxNotice)
}

// digest answers /vaglio digest.
func (l *loop) digest(ctx context.Context, day string) (*page, error) {
	d, err := l.desk.Digest(ctx, day)
	if _, ok := errors.AsType[*report.DayError](err); ok {
		return l.page("digest.slack.usage"), nil
	}
	if err != nil {
		return nil, err
	}
	var p *page
	for _, most := range []int{maxAnswer, maxAnswer / 2, maxAnswer / 4} {
		if p = digestPage(&page{texts: l.texts}, &d, most); p.weight() <= maxAckBytes {
			break
		}
	}
	return p, nil
}
