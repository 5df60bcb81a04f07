package slack

import (
	"context"
	"errors"
	"fmt"
	"strings"

	slackapi "github.com/slack-go/slack"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
)

// maxFile is the largest attached file, in bytes; the platform accepts far more.
const maxFile = 45 << 20

// place is a message of ours: where it is, and the file in its thread that holds the whole
// card, if there is one, with the start of the file's SHA-256.
type place struct{ channel, ts, file, sum string }

func (m place) ref() string {
	ref := m.channel + ":" + m.ts
	if m.file != "" {
		ref += ":" + m.file + ":" + m.sum
	}
	return ref
}

// message identifies the message among those of all channels.
func (m place) message() string { return m.channel + ":" + m.ts }

func parseRef(ref string) (place, bool) {
	parts := strings.Split(ref, ":")
	if len(parts) < 2 || len(parts) > 4 || parts[0] == "" || parts[1] == "" {
		return place{}, false
	}
	m := place{channel: parts[0], ts: parts[1]}
	if len(parts) > 2 {
		m.file = parts[2]
	}
	if len(parts) > 3 {
		m.sum = parts[3]
	}
	return m, true
}

// Post shows the card. A card that does not fit is first shown without Allow; then the
// whole card is put into the thread, and only then Allow is offered. The reference names
// the channel, the message and the file.
func (at *Conversation) Post(ctx context.Context, card approval.Card) (string, error) {
	at.posting.RLock()
	defer at.posting.RUnlock()
	ref, err := at.post(ctx, card)
	if m, ok := parseRef(ref); ok {
		at.app.posted.first(m.message())
	}
	if retry, ok := errors.AsType[*approval.RetryError](err); ok && !retry.Unsent {
		at.app.mu.Lock()
		defer at.app.mu.Unlock()
		at.untidy = true
	}
	return ref, err
}

func (at *Conversation) post(ctx context.Context, card approval.Card) (string, error) {
	c := at.app
	v := c.viewOf(card)
	m := place{channel: at.id}
	var ts string
	err := c.show(ctx, v, func(p *page) (err error) {
		ts, err = c.send(ctx, m, p, v.Notification())
		return err
	})
	if at.noteTelling(err); err != nil {
		return "", delivery(err)
	}
	m.ts = ts
	if !v.overflows() {
		return m.ref(), nil
	}
	return at.complete(ctx, m, v)
}

// complete puts the whole card into the thread of its message, and then offers Allow. A
// temporary failure takes the message back, so that it is posted again; a file that can
// never be accepted leaves the card without Allow.
func (at *Conversation) complete(ctx context.Context, m place, v *cardView) (string, error) {
	c, short := at.app, m.ref()
	f := v.File()
	if len(f.Data) > maxFile {
		return short, nil
	}
	file, err := c.attach(ctx, m, v, f)
	if err == nil {
		at.noteFiling(true)
		m.file, m.sum = file, f.Sum[:16]
		err = c.update(ctx, m, v)
	}
	switch {
	case err == nil:
		return m.ref(), nil
	case means(err) == meansToken, says(err, "file_uploads_disabled", "not_allowed") || means(err) == meansShut && says(err, "restricted_action"):
		c.log.WarnContext(ctx, "a card's file cannot be added to its thread; its call can only be allowed in the inbox", "ask", v.Ask, "error", err)
		at.noteFiling(false)
		return short, nil
	}
	undone := c.do(ctx, "chat.delete", func(ctx context.Context) error {
		_, _, err := c.api.DeleteMessageContext(ctx, m.channel, m.ts)
		return err
	})
	failed := delivery(err)
	if retry, ok := errors.AsType[*approval.RetryError](failed); ok {
		return "", &approval.RetryError{After: retry.After, Unsent: undone == nil || says(undone, "message_not_found"), Err: err}
	}
	return "", failed
}

// attach puts the card's file into the thread and returns the file's id.
func (c *Channel) attach(ctx context.Context, m place, v *cardView, file cardtext.File) (id string, err error) {
	err = c.do(ctx, "files.upload", func(ctx context.Context) error {
		f, err := c.api.UploadFileContext(ctx, slackapi.UploadFileParameters{
			Content: string(file.Data), FileSize: len(file.Data), Filename: file.Name, Title: v.Texts.Plain("file.ask", map[string]any{"id": string(v.Ask)}),
			InitialComment: v.Caption(file.Sum).String(),
			Channel:        m.channel, ThreadTimestamp: m.ts,
		})
		if err == nil {
			id = f.ID
		}
		return err
	})
	return id, err
}

// Amend makes the message show the card. If its file lacks calls that have joined since,
// the card gets a new message.
func (at *Conversation) Amend(ctx context.Context, ref string, card approval.Card) error {
	m, ok := parseRef(ref)
	if !ok {
		return fmt.Errorf("slack: the reference is not vaglio's: %w", approval.ErrGone)
	}
	c := at.app
	v := c.viewOf(card)
	if 0 < card.Posted && card.Posted < len(card.Items) && v.Open > 0 && v.overflows() {
		return c.replace(ctx, m)
	}
	err := c.update(ctx, m, v)
	at.noteTelling(err)
	return delivery(err)
}

// update makes a message show the card.
func (c *Channel) update(ctx context.Context, m place, v *cardView) error {
	if v.sum = m.sum; m.file != "" && m.sum == "" { // the form of an earlier release
		v.sum = v.File().Sum
	}
	return c.show(ctx, v, func(p *page) error { return c.edit(ctx, m, p, v.Notification()) })
}

// show offers the card to take as it is. If the platform refuses that, it offers less:
// nothing that folds, from then on, or a short version.
func (c *Channel) show(ctx context.Context, v *cardView, take func(p *page) error) error {
	p := v.fit()
	err := take(p)
	if means(err) == meansBlocks && p.folded {
		c.log.InfoContext(ctx, "slack accepts no block that folds here; cards show their arguments unfolded", "error", err, "problems", problems(err))
		c.flat.Store(true)
		v.folds = false
		err = take(v.fit())
	}
	if means(err) == meansBlocks {
		c.log.ErrorContext(ctx, "slack refuses the card's blocks; a short form is shown", "ask", v.Ask, "error", err, "problems", problems(err))
		err = take(v.cut(0, 0))
	}
	return err
}

// replace removes the buttons from a message, whose card gets a new one.
func (c *Channel) replace(ctx context.Context, m place) error {
	return c.giveUp(ctx, m, "")
}

// giveUp does the same and, if mark is not empty, adds a mark by which the message can be
// recognized as its ask's if nobody knows of it.
func (c *Channel) giveUp(ctx context.Context, m place, mark string) error {
	p := &page{texts: c.texts}
	p.say("replaced", nil)
	if mark != "" {
		p.name(mark)
	}
	err := final(c.edit(ctx, m, p, c.texts.Plain("replaced", nil)))
	if err != nil && !errors.Is(err, approval.ErrGone) {
		return err
	}
	return approval.ErrRepost
}

// Remind says in the card's thread, and also in the channel, that it still waits.
func (at *Conversation) Remind(ctx context.Context, ref string, card approval.Card) error {
	m, ok := parseRef(ref)
	if !ok {
		return approval.ErrGone
	}
	c := at.app
	v := c.viewOf(card)
	if v.Open == 0 {
		return nil
	}
	p := &page{texts: c.texts}
	said := v.Reminder()
	p.write(said)
	_, err := c.send(ctx, m, p, said.String(), slackapi.MsgOptionBroadcast())
	at.noteTelling(err)
	return final(err)
}

// Notify says what the guard denied, in a message of its own without buttons: there is
// nothing to answer.
func (c *Channel) Notify(ctx context.Context, n approval.Notice) error {
	p := &page{texts: c.texts}
	head, rest := cardtext.Notice(c.texts, &n)
	p.write(head)
	p.end()
	p.write(rest)
	_, err := c.send(ctx, place{channel: c.own.id}, p, head.String())
	c.own.noteTelling(err)
	return delivery(err)
}

// Announce says what changed about the gate, in a message of its own.
func (c *Channel) Announce(ctx context.Context, a approval.Announcement) error { //nolint:gocritic // As the interface has it.
	p := &page{texts: c.texts}
	said := cardtext.Announcement(c.texts, &a)
	p.write(said)
	_, err := c.send(ctx, place{channel: c.own.id}, p, said.String())
	c.own.noteTelling(err)
	return delivery(err)
}

// message returns what every message of ours has: blocks, a text for notifications in which
// nothing is markup, and no links that are unfurled.
func message(p *page, notice string) []slackapi.MsgOption {
	notice = strings.ToValidUTF8(cardtext.Clip(notice, maxNotice), "�")
	return []slackapi.MsgOption{
		slackapi.MsgOptionBlocks(p.done()...), slackapi.MsgOptionText(notice, true), slackapi.MsgOptionDisableMarkdown(),
		slackapi.MsgOptionDisableLinkUnfurl(), slackapi.MsgOptionDisableMediaUnfurl(),
	}
}

// send posts a message, in the thread of m if that is set, and returns its timestamp.
func (c *Channel) send(ctx context.Context, m place, p *page, notice string, more ...slackapi.MsgOption) (ts string, err error) {
	options := append(message(p, notice), more...)
	if m.ts != "" {
		options = append(options, slackapi.MsgOptionTS(m.ts))
	}
	if err := c.pace.turn(ctx, m.channel); err != nil {
		return "", &callError{"chat.postMessage", err}
	}
	err = c.under(ctx, messages(m.channel), func(ctx context.Context) error {
		_, ts, err = c.api.PostMessageContext(ctx, m.channel, options...)
		return err
	})
	return ts, err
}

func (c *Channel) edit(ctx context.Context, m place, p *page, notice string) error {
	return c.do(ctx, "chat.update", func(ctx context.Context) error {
		_, _, _, err := c.api.UpdateMessageContext(ctx, m.channel, m.ts, message(p, notice)...)
		return err
	})
}

// problems returns what the platform says is wrong with blocks: paths and limits.
func problems(err error) []string {
	if e, ok := errors.AsType[slackapi.SlackErrorResponse](err); ok {
		return e.ResponseMetadata.Messages
	}
	return nil
}
