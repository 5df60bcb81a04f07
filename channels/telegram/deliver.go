package telegram

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/metnos/vaglio/approval"
)

// Post shows the card. What does not fit is attached first, so that nobody is
// offered Allow before all of it is there. The reference is the chat's and the
// message's number.
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
			c.log.WarnContext(ctx, "a card cannot be shown on telegram; it is in the inbox", "ask", card.Ask, "error", err)
		}
		return "", err
	}
	return fmt.Sprintf("%d:%d", chat, id), nil
}

func (c *Channel) post(ctx context.Context, chat int64, card approval.Card) (int, error) {
	v := viewOf(card, c.textsFor(chat))
	file, err := c.attach(ctx, chat, v)
	if err != nil {
		return 0, err
	}
	p, whole := v.fit(file != 0)
	id, err := c.send(ctx, chat, p, note{reply: file, markup: v.keyboard(whole)})
	if err == nil {
		c.mu.Lock()
		delete(c.attached, card.Ask)
		c.mu.Unlock()
	}
	return id, err
}

// attach sends the whole card as a document where the message cannot hold it,
// once, and returns the document's message or 0.
func (c *Channel) attach(ctx context.Context, chat int64, v *cardView) (int, error) {
	if !v.overflows() {
		return 0, nil
	}
	c.mu.Lock()
	id := c.attached[v.id]
	c.mu.Unlock()
	if id != 0 {
		return id, nil
	}
	data := v.file()
	if len(data) > maxFile {
		return 0, nil
	}
	caption := v.page()
	caption.say("file.hash", map[string]any{"id": theirs(v.id), "hash": theirs(sum(data))})
	params := c.params(chat, caption, note{})
	params["caption"] = params["text"]
	delete(params, "text")
	res, err := c.api.hush(chat, func() (jsontext.Value, error) {
		return c.api.upload(ctx, params, tgbotapi.FileBytes{Name: "ask-" + string(v.id) + ".txt", Bytes: data})
	})
	if err != nil {
		return 0, err
	}
	id, err = messageID(res)
	if err == nil {
		c.mu.Lock()
		c.attached[v.id] = id
		c.mu.Unlock()
	}
	return id, err
}

// Amend makes the message show the card. Where the message cannot be changed
// any more a new one says how the ask stands, and the old one is given up.
func (c *Channel) Amend(ctx context.Context, ref string, card approval.Card) error {
	chat, id, ok := parseRef(ref)
	if !ok {
		return fmt.Errorf("telegram: the reference is not one of ours: %w", approval.ErrGone)
	}
	v := viewOf(card, c.textsFor(chat))
	if 0 < card.Posted && card.Posted < len(card.Items) && v.open > 0 && v.overflows() {
		// Its file, if it has one, lacks what has joined since.
		return c.replace(ctx, chat, id)
	}
	err := c.amend(ctx, chat, id, v)
	p, ok := errors.AsType[*PlatformError](err)
	if !ok || !p.uneditable() && p.MigrateTo == 0 {
		return delivery(err)
	}
	if p.MigrateTo != 0 {
		if err := c.moved(ctx, chat, p.MigrateTo); err != nil {
			return err
		}
		chat, id = p.MigrateTo, 0
	}
	page, _ := v.fit(false)
	page.text("\n")
	page.say("moved", nil)
	if _, err := c.send(ctx, chat, page, note{reply: id}); err != nil {
		return delivery(err)
	}
	return fmt.Errorf("%w: %w", approval.ErrGone, p)
}

// replace takes the buttons off a message, whose card gets one of its own.
func (c *Channel) replace(ctx context.Context, chat int64, id int) error {
	p := &page{texts: c.textsFor(chat)}
	p.say("replaced", nil)
	params := c.params(chat, p, note{})
	params["message_id"] = strconv.Itoa(id)
	delete(params, "message_thread_id")
	_, err := c.api.hush(chat, func() (jsontext.Value, error) {
		return c.api.call(ctx, "editMessageText", params, callWithin)
	})
	if err := delivery(err); err != nil && !errors.Is(err, approval.ErrGone) {
		if p, ok := errors.AsType[*PlatformError](err); !ok || !p.uneditable() {
			return err
		}
	}
	return approval.ErrRepost
}

func (c *Channel) amend(ctx context.Context, chat int64, id int, v *cardView) error {
	// A card that overflows was posted with its file, unless the file was too
	// large for the platform.
	attached := v.overflows() && (v.open == 0 || len(v.file()) <= maxFile)
	p, whole := v.fit(attached)
	params := c.params(chat, p, note{markup: v.keyboard(whole)})
	params["message_id"] = strconv.Itoa(id)
	delete(params, "message_thread_id")
	_, err := c.api.hush(chat, func() (jsontext.Value, error) {
		return c.api.call(ctx, "editMessageText", params, callWithin)
	})
	return err
}

// note is how a message is sent.
type note struct {
	// reply is the message that it answers, 0 for none.
	reply int
	// markup is its keyboard, empty for none.
	markup string
}

func (c *Channel) params(chat int64, p *page, n note) tgbotapi.Params {
	params := tgbotapi.Params{
		"chat_id": strconv.FormatInt(chat, 10), "text": p.b.String(), "parse_mode": "HTML",
		"link_preview_options": `{"is_disabled":true}`,
	}
	if home, _ := c.place(); c.topic != 0 && chat == home {
		params["message_thread_id"] = strconv.FormatInt(c.topic, 10)
	}
	if n.reply != 0 {
		params["reply_parameters"] = marshal(map[string]any{"message_id": n.reply, "allow_sending_without_reply": true})
	}
	if n.markup != "" {
		params["reply_markup"] = n.markup
	}
	return params
}

// send sends a message and returns its id.
func (c *Channel) send(ctx context.Context, chat int64, p *page, n note) (int, error) {
	res, err := c.api.hush(chat, func() (jsontext.Value, error) {
		return c.api.call(ctx, "sendMessage", c.params(chat, p, n), callWithin)
	})
	if err != nil {
		return 0, err
	}
	return messageID(res)
}

func messageID(res jsontext.Value) (int, error) {
	var m struct {
		ID int `json:"message_id"`
	}
	if err := json.Unmarshal(res, &m); err != nil || m.ID == 0 {
		return 0, errors.New("telegram: the platform's answer names no message")
	}
	return m.ID, nil
}

func parseRef(ref string) (chat int64, id int, ok bool) {
	a, b, _ := strings.Cut(ref, ":")
	chat, err := strconv.ParseInt(a, 10, 64)
	if err != nil {
		return 0, 0, false
	}
	id, err = strconv.Atoi(b)
	return chat, id, err == nil
}
