package telegram

import (
	"context"
	"errors"
	"strconv"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/metnos/vaglio/internal/strictjson"
)

// note says how a message is sent.
type note struct {
	// reply is the message that it replies to, 0 for none.
	reply int
	// thread is the forum topic that it goes to, 0 for none.
	thread int64
	// markup is its keyboard, empty for none.
	markup string
	// silent makes it arrive without a sound.
	silent bool
	// strict refuses to reply to a message that somebody deleted.
	strict bool
	// answer says that it answers a person, who waits for no other message.
	answer bool
}

func (c *Channel) params(chat int64, p *page, n note) tgbotapi.Params {
	params := address(chat, n)
	params["text"], params["parse_mode"], params["link_preview_options"] = p.b.String(), "HTML", `{"is_disabled":true}`
	return params
}

// address returns the parameters of a message but for what it says.
func address(chat int64, n note) tgbotapi.Params {
	params := tgbotapi.Params{"chat_id": strconv.FormatInt(chat, 10)}
	if n.thread != 0 {
		params["message_thread_id"] = strconv.FormatInt(n.thread, 10)
	}
	if n.reply != 0 {
		params["reply_parameters"] = marshal(map[string]any{"message_id": n.reply, "allow_sending_without_reply": !n.strict})
	}
	if n.markup != "" {
		params["reply_markup"] = n.markup
	}
	if n.silent {
		params["disable_notification"] = "true"
	}
	return params
}

// send sends a message and returns its id.
func (c *Channel) send(ctx context.Context, chat int64, p *page, n note) (int, error) {
	return c.put(ctx, chat, c.params(chat, p, n), n.answer, func(params tgbotapi.Params) (strictjson.Value, error) {
		return c.api.call(ctx, "sendMessage", params, callWithin)
	})
}

// upload sends a document to where cards go, without a sound: the card that follows it
// makes one.
func (c *Channel) upload(ctx context.Context, chat int64, caption *page, file tgbotapi.FileBytes) (int, error) {
	params := c.params(chat, caption, note{thread: c.topic, silent: true})
	params["caption"] = params["text"]
	delete(params, "text")
	delete(params, "link_preview_options") // the platform accepts it only with a text
	return c.put(ctx, chat, params, false, func(params tgbotapi.Params) (strictjson.Value, error) {
		return c.api.upload(ctx, "sendDocument", params, "document", file, uploadWithin)
	})
}

// sendRich sends a rich message without buttons and without a sound.
func (c *Channel) sendRich(ctx context.Context, chat int64, message string) (int, error) {
	params := address(chat, note{thread: c.topic, silent: true})
	params["rich_message"] = message
	return c.put(ctx, chat, params, false, func(params tgbotapi.Params) (strictjson.Value, error) {
		return c.api.call(ctx, "sendRichMessage", params, callWithin)
	})
}

// sendWhole sends the whole card, without buttons and without a sound: a card with both
// follows. It is a rich message, or a document where that is too long for one or the server
// refuses those. From then on no rich message is tried, until the next start.
func (c *Channel) sendWhole(ctx context.Context, chat int64, v *cardView) (int, error) {
	if !c.plain.Load() {
		if message, fits := v.whole(); fits {
			id, err := c.sendRich(ctx, chat, message)
			if p, ok := errors.AsType[*PlatformError](err); !ok || !p.richless() {
				return id, err
			}
			if !c.plain.Swap(true) {
				c.log.InfoContext(ctx, "the Bot API server takes no rich messages: long cards get a file", "error", err)
			}
		}
	}
	caption := &page{texts: v.Texts}
	caption.write(v.Caption(v.sum))
	return c.upload(ctx, chat, caption, tgbotapi.FileBytes{Name: "ask-" + string(v.Ask) + ".txt", Bytes: v.data})
}

// put makes a call that creates a message, when it is its turn, and returns its id. If the topic does not exist
// the message goes to the chat itself: better in the wrong place than nowhere.
func (c *Channel) put(
	ctx context.Context, chat int64, params tgbotapi.Params, answer bool, call func(tgbotapi.Params) (strictjson.Value, error),
) (int, error) {
	if err := c.api.turn(ctx, chat, answer); err != nil {
		return 0, err
	}
	return c.putNow(chat, params, call)
}

// putNow is put without waiting for a turn.
func (c *Channel) putNow(chat int64, params tgbotapi.Params, call func(tgbotapi.Params) (strictjson.Value, error)) (int, error) {
	put := func() (strictjson.Value, error) { return call(params) }
	res, err := c.api.hush(chat, put)
	p, refused := errors.AsType[*PlatformError](err)
	if refused && params["message_thread_id"] != "" && p.topicless() {
		delete(params, "message_thread_id")
		if res, err = c.api.hush(chat, put); err == nil {
			c.closed(troubleTopic)
			return messageID(res)
		}
		p, refused = errors.AsType[*PlatformError](err)
	}
	if home, _ := c.place(); chat == home {
		switch {
		case refused && p.shut():
			c.closed(troubleShut)
		case refused && p.gone():
			c.closed(troubleGone)
		case err == nil:
			c.opened()
		}
	}
	if err != nil {
		return 0, err
	}
	return messageID(res)
}

// edit changes a message; without markup it removes the buttons. A server that refuses the
// newer kinds of buttons gets none of them from then on.
func (c *Channel) edit(ctx context.Context, chat int64, id int, p *page, markup string) error {
	try := func(markup string) error {
		params := c.params(chat, p, note{markup: markup})
		params["message_id"] = strconv.Itoa(id)
		_, err := c.api.hush(chat, func() (strictjson.Value, error) {
			return c.api.call(ctx, "editMessageText", params, callWithin)
		})
		return err
	}
	if c.older.Load() {
		return try(plain(markup))
	}
	err := try(markup)
	if p, ok := errors.AsType[*PlatformError](err); ok && p.buttonless() && plain(markup) != markup {
		c.older.Store(true)
		return try(plain(markup))
	}
	return err
}

func messageID(res strictjson.Value) (int, error) {
	var m struct {
		ID int `json:"message_id"`
	}
	if err := strictjson.UnmarshalLoose(res, &m); err != nil || m.ID == 0 {
		return 0, errors.New("telegram: the platform's answer names no message")
	}
	return m.ID, nil
}
