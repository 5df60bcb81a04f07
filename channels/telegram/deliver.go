package telegram

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/templates"
)

const (
	// unpairedPause is how long a card waits before it looks for a chat again.
	unpairedPause = 10 * time.Second
	// shutPause is how long a card waits before it tries a chat again that accepts no
	// messages.
	shutPause = 2 * time.Minute
	// maxFile is the largest attached document, in bytes; the platform accepts 50 MB.
	maxFile = 45 << 20
)

// errUnpaired keeps cards waiting until somebody pairs.
var errUnpaired = errors.New("telegram: no chat is paired yet: send the bot /start with the pairing code")

// Post shows the card. The reference consists of the numbers of the chat and the message.
//
// What does not fit is sent first, in a message of its own, so that nobody is offered Allow
// before all of it is there. The card comes without buttons and gets them once its
// number is on disk: a crash in between leaves one without any, and a repeated Post
// continues where the last one stopped.
func (c *Channel) Post(ctx context.Context, card approval.Card) (string, error) {
	chat, ok := c.place()
	if !ok {
		return "", &approval.RetryError{After: unpairedPause, Unsent: true, Err: errUnpaired}
	}
	id, err := c.post(ctx, chat, card)
	if p, ok := errors.AsType[*PlatformError](err); ok && p.MigrateTo != 0 {
		if err := c.moved(ctx, chat, p.MigrateTo); err != nil {
			return "", err
		}
		chat = p.MigrateTo
		id, err = c.post(ctx, chat, card)
	}
	if err := delivery(err); err != nil {
		if errors.Is(err, approval.ErrGone) {
			err = &approval.RetryError{After: shutPause, Unsent: true, Shut: true, Err: err}
		}
		return "", err
	}
	return refTo(chat, id), nil
}

func (c *Channel) post(ctx context.Context, chat int64, card approval.Card) (int, error) {
	v, d := c.view(chat, card)
	d, err := c.attach(ctx, v, d)
	if err != nil {
		return 0, err
	}
	attached := d.File != 0
	if d.Message == 0 {
		p, _ := v.fit(attached, true)
		d.Message, err = c.send(ctx, chat, p, note{reply: d.File, thread: c.topic, silent: card.Silent})
		if err != nil {
			return 0, err
		}
		if err := c.keepDraft(ctx, d); err != nil {
			return 0, err
		}
	}
	err = delivery(c.amend(ctx, chat, d.Message, v, attached))
	if errors.Is(err, approval.ErrGone) {
		// Somebody deleted it before it had buttons.
		d.Message = 0
		return 0, errors.Join(&approval.RetryError{Unsent: true, Err: err}, c.keepDraft(ctx, d))
	}
	return d.Message, err
}

// view returns the card as the chat is to show it, and what is remembered about it. A file
// next to it may have been sent before the chat changed its language.
func (c *Channel) view(chat int64, card approval.Card) (*cardView, Draft) {
	v, d := viewOf(card, c.textsFor(chat), c.edits), c.draft(card.Ask, chat)
	if v.sum == "" || d.Sum == "" {
		return v, d
	}
	for _, lang := range templates.Langs() {
		if v.sum != d.Sum && cardtext.Read(card, c.locale.In(lang)).File().Sum == d.Sum {
			v.sum = d.Sum
		}
	}
	return v, d
}

// attach sends the whole card in a message of its own if the card's cannot hold it, and
// records that in the draft.
func (c *Channel) attach(ctx context.Context, v *cardView, d Draft) (Draft, error) {
	if v.sum == "" || v.sum == d.Sum && d.File != 0 {
		return d, nil
	}
	id, err := c.sendWhole(ctx, d.Chat, v)
	if err != nil {
		return d, err
	}
	d.File, d.Sum = id, v.sum
	return d, c.keepDraft(ctx, d)
}

// Amend makes the message show the card. If that is impossible, a card that waits asks for
// a new message, and one that is over gets a message that says how it ended.
func (c *Channel) Amend(ctx context.Context, ref string, card approval.Card) error {
	chat, id, ok := parseRef(ref)
	if !ok {
		return fmt.Errorf("telegram: the reference is not vaglio's: %w", approval.ErrGone)
	}
	v, d := c.view(chat, card)
	attached := v.attached(d)
	if v.sum != "" && !attached {
		// The file next to the message, if there is one, is not for these calls.
		return c.replace(ctx, chat, id, card.Ask)
	}
	err := c.amend(ctx, chat, id, v, attached)
	if p, ok := errors.AsType[*PlatformError](err); ok {
		switch {
		case p.uneditable() || p.MigrateTo != 0:
			return c.instead(ctx, chat, id, v, p)
		case p.Code == http.StatusForbidden:
			// The message still exists, and shows the old state until the chat lets the bot
			// in again.
			return &approval.RetryError{After: shutPause, Unsent: true, Shut: true, Err: err}
		}
	}
	if err = delivery(err); err != nil && !errors.Is(err, approval.ErrGone) {
		return err
	}
	return errors.Join(err, c.settle(ctx, v, d))
}

// dropReminder deletes the reminder of a card, if there is one.
func (c *Channel) dropReminder(ctx context.Context, d *Draft) {
	if d.Reminder == 0 {
		return
	}
	_, err := c.api.call(ctx, "deleteMessage", tgbotapi.Params{
		"chat_id": strconv.FormatInt(d.Chat, 10), "message_id": strconv.Itoa(d.Reminder),
	}, callWithin)
	if err != nil {
		c.log.WarnContext(ctx, "a reminder could not be deleted", "ask", d.Ask, "error", err)
	}
	d.Reminder, d.Reminded = 0, time.Time{}
}

// settle forgets what is no longer needed about a card whose message the dispatcher knows,
// and deletes the reminder of a card that is over.
func (c *Channel) settle(ctx context.Context, v *cardView, d Draft) error {
	if v.Open > 0 && (d.File != 0 || d.Reminder != 0) {
		return nil
	}
	c.dropReminder(ctx, &d)
	if d.File != 0 && !v.Over() {
		// The card will show its end too, and name this file.
		return c.keepDraft(ctx, d)
	}
	return c.dropDraft(ctx, v.Ask)
}

// instead does what it can for a card whose message can no longer be changed.
func (c *Channel) instead(ctx context.Context, chat int64, id int, v *cardView, why *PlatformError) error {
	if why.MigrateTo != 0 {
		if err := c.moved(ctx, chat, why.MigrateTo); err != nil {
			return err
		}
		chat, id = why.MigrateTo, 0
	}
	if err := c.dropDraft(ctx, v.Ask); err != nil {
		return err
	}
	if v.Open > 0 {
		return fmt.Errorf("%w: %w", approval.ErrRepost, why)
	}
	p, _ := v.fit(false, false)
	p.text("\n")
	p.say("moved", nil)
	if _, err := c.send(ctx, chat, p, note{reply: id, thread: c.topic}); err != nil {
		return delivery(err)
	}
	return fmt.Errorf("%w: %w", approval.ErrGone, why)
}

// replace removes the buttons from a message, whose card gets a new one.
func (c *Channel) replace(ctx context.Context, chat int64, id int, ask approval.AskID) error {
	if err := c.dropDraft(ctx, ask); err != nil {
		return err
	}
	if err := c.strip(ctx, chat, id, "replaced"); err != nil {
		return err
	}
	return approval.ErrRepost
}

// strip leaves a message without buttons, showing one of our texts. A message that can no
// longer be changed stays as it is.
func (c *Channel) strip(ctx context.Context, chat int64, id int, ph phrase) error {
	p := &page{texts: c.textsFor(chat)}
	p.say(ph, nil)
	err := delivery(c.edit(ctx, chat, id, p, ""))
	if errors.Is(err, approval.ErrGone) {
		return nil
	}
	return err
}

// amend writes the card and its buttons into the message.
func (c *Channel) amend(ctx context.Context, chat int64, id int, v *cardView, attached bool) error {
	p, whole := v.fit(attached, false)
	return c.edit(ctx, chat, id, p, v.keyboard(whole))
}

func refTo(chat int64, id int) string { return fmt.Sprintf("%d:%d", chat, id) }

func parseRef(ref string) (chat int64, id int, ok bool) {
	a, b, _ := strings.Cut(ref, ":")
	chat, err := strconv.ParseInt(a, 10, 64)
	if err != nil {
		return 0, 0, false
	}
	id, err = strconv.Atoi(b)
	return chat, id, err == nil
}
