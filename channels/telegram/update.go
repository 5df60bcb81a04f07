package telegram

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
)

// update is one entry of the bot's queue, as far as it is read. Other kinds, such as an
// edited message, have no effect.
type update struct {
	Message  *message  `json:"message"`
	Callback *callback `json:"callback_query"`
	Member   *member   `json:"my_chat_member"`
}

// wantedUpdates are the kinds of updates that the platform is asked for. Without this, the
// list would stay as another program set it.
const wantedUpdates = `["message","callback_query","my_chat_member"]`

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
	ID      int    `json:"message_id"`
	Thread  int64  `json:"message_thread_id"`
	InTopic bool   `json:"is_topic_message"`
	From    *user  `json:"from"`
	Chat    chat   `json:"chat"`
	Text    string `json:"text"`
	// Caption comes with a picture, a voice message or a file.
	Caption string   `json:"caption"`
	ReplyTo *message `json:"reply_to_message"`
	Markup  keys     `json:"reply_markup"`

	// Sender is set if somebody writes in the name of a chat.
	Sender *chat `json:"sender_chat"`
	// Origin and, from older servers, Date are set if the message was forwarded.
	Origin strictjson.Value `json:"forward_origin"`
	Date   int64            `json:"forward_date"`
	// Via is the bot that wrote the text for the sender.
	Via *user `json:"via_bot"`
	// MigrateTo is the supergroup that the group became.
	MigrateTo int64 `json:"migrate_to_chat_id"`
}

// personal reports whether a person wrote the message themselves: not a bot, not in the
// name of a group or a channel, and not by forwarding what somebody else wrote.
func (m *message) personal() bool {
	return m.From != nil && !m.From.IsBot && m.Sender == nil && m.Via == nil && len(m.Origin) == 0 && m.Date == 0
}

// said returns what the person wrote, even if it came with a picture.
func (m *message) said() string { return cmp.Or(m.Text, m.Caption) }

// has reports whether the message has a button with the data. The message comes from the
// platform, not from the person who presses.
func (m *message) has(data string) bool {
	return slices.ContainsFunc(slices.Concat(m.Markup.Rows...), func(b button) bool { return b.Data == data })
}

// topic returns the forum topic that the message is in, 0 for none.
func (m *message) topic() int64 {
	if m.InTopic {
		return m.Thread
	}
	return 0
}

// member is the bot's current status in a chat.
type member struct {
	Chat chat `json:"chat"`
	New  struct {
		Status string `json:"status"`
	} `json:"new_chat_member"`
}

type callback struct {
	ID      string   `json:"id"`
	From    user     `json:"from"`
	Message *message `json:"message"`
	Data    string   `json:"data"`
}

// person returns the sender in the form that approvals use.
func (u *user) person() approval.Person {
	name := strings.TrimSpace(u.First + " " + u.Last)
	if name == "" {
		name = u.Username
	}
	return approval.Person{ID: fmt.Sprintf("%s:%d", Name, u.ID), Name: name}
}

// handle lets an update have its effect, and reports whether it is one that is stored. An
// error means that it had none, and is to be tried again.
func (l *loop) handle(ctx context.Context, u *update) (kept bool, err error) {
	if l.opens(u) {
		l.desk.Opened(Name)
	}
	switch {
	case u.Callback != nil:
		return true, l.press(ctx, u.Callback)
	case u.Message != nil && u.Message.MigrateTo != 0:
		return true, l.moved(ctx, u.Message.Chat.ID, u.Message.MigrateTo)
	case u.Message != nil && u.Message.personal():
		return l.read(ctx, u.Message)
	default:
		return false, nil
	}
}

// giveUp tells the person that an update will have no effect.
func (l *loop) giveUp(ctx context.Context, u *update) {
	switch {
	case u.Callback != nil:
		l.refuse(ctx, u.Callback, "tap.failed")
	case u.Message != nil && u.Message.personal():
		l.reply(ctx, u.Message, "failed", nil)
	}
}

// reply answers a message with one of our texts. If the answer cannot be sent, that changes
// no decision.
func (l *loop) reply(ctx context.Context, m *message, ph phrase, values map[string]any) {
	p := l.page(m)
	p.say(ph, values)
	l.replyPage(ctx, m, p, "")
}

func (l *loop) replyPage(ctx context.Context, m *message, p *page, markup string) {
	lane := laneOf(m.Chat.ID)
	if m.personal() && !l.listed(m.From.ID) {
		lane = "strangers" // However many write, they leave room for those who decide.
	}
	l.later(ctx, lane, func() {
		if _, err := l.send(ctx, m.Chat.ID, p, note{reply: m.ID, thread: m.topic(), markup: markup, answer: true}); err != nil {
			l.log.WarnContext(ctx, "an answer could not be sent", "error", err)
		}
	})
}
