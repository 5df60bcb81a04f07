package telegram

import (
	"context"
	"fmt"
	"strings"

	"github.com/metnos/vaglio/approval"
)

// update is one entry of the bot's queue, as far as it is read.
type update struct {
	Message  *message  `json:"message"`
	Callback *callback `json:"callback_query"`
}

type user struct {
	ID       int64  `json:"id"`
	IsBot    bool   `json:"is_bot"`
	First    string `json:"first_name"`
	Last     string `json:"last_name"`
	Username string `json:"username"`
}

type chat struct {
	ID   int64  `json:"id"`
	Type string `json:"type"`
}

type message struct {
	ID      int      `json:"message_id"`
	From    *user    `json:"from"`
	Chat    chat     `json:"chat"`
	Text    string   `json:"text"`
	ReplyTo *message `json:"reply_to_message"`
}

type callback struct {
	ID      string   `json:"id"`
	From    user     `json:"from"`
	Message *message `json:"message"`
	Data    string   `json:"data"`
}

// person is the sender as the approval knows them.
func (u *user) person() approval.Person {
	name := strings.TrimSpace(u.First + " " + u.Last)
	if name == "" {
		name = u.Username
	}
	return approval.Person{ID: fmt.Sprintf("%s:%d", Name, u.ID), Name: name}
}

// handle lets an update have its effect. An error means that it had none, and
// is to be tried again.
func (l *loop) handle(ctx context.Context, u *update) error {
	switch {
	case u.Callback != nil:
		return l.press(ctx, u.Callback)
	case u.Message != nil && u.Message.From != nil && !u.Message.From.IsBot:
		return l.read(ctx, u.Message)
	default:
		return nil
	}
}

// giveUp tells the person that an update will have no effect.
func (l *loop) giveUp(ctx context.Context, u *update) {
	switch {
	case u.Callback != nil:
		l.answer(ctx, u.Callback, english("tap.failed"), true)
	case u.Message != nil:
		l.reply(ctx, u.Message, "failed", nil)
	}
}

// reply answers a message with one of our texts. An answer that cannot be sent
// changes nothing that was decided.
func (l *loop) reply(ctx context.Context, m *message, ph phrase, values map[string]any) {
	p := &page{}
	p.say(ph, values)
	l.replyPage(ctx, m, p, "")
}

func (l *loop) replyPage(ctx context.Context, m *message, p *page, markup string) {
	if _, err := l.send(ctx, m.Chat.ID, p, note{reply: m.ID, markup: markup}); err != nil {
		l.log.WarnContext(ctx, "an answer could not be sent", "error", err)
	}
}
