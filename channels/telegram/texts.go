package telegram

import (
	"cmp"
	"context"
	"strings"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/templates"
)

type (
	// phrase names a text that a person reads.
	phrase = templates.Key
	// theirs is a text that somebody else wrote, ready to be seen.
	theirs = templates.Theirs
)

// textsFor returns the texts in the language of a chat.
func (c *Channel) textsFor(chat int64) *templates.Texts {
	lang, ok := c.notes.Now().Langs[chat]
	if !ok {
		lang = c.locale.Lang
	}
	return c.locale.In(lang)
}

// textsOf returns the texts for the answer to a press.
func (c *Channel) textsOf(q *callback) *templates.Texts {
	chat, _ := c.place()
	if q.Message != nil {
		chat = q.Message.Chat.ID
	}
	return c.textsFor(chat)
}

// page returns an empty page for an answer to a message.
func (c *Channel) page(m *message) *page { return &page{texts: c.textsFor(m.Chat.ID)} }

// speak sets the language of a chat.
func (l *loop) speak(ctx context.Context, m *message, tag string) error {
	lang, ok := templates.Language(tag)
	if !ok {
		l.reply(ctx, m, "lang.usage", nil)
		return nil
	}
	err := l.notes.Change(ctx, func(n *Notes) {
		if n.Langs == nil {
			n.Langs = map[int64]templates.Lang{}
		}
		n.Langs[m.Chat.ID] = lang
	})
	if err != nil {
		return err
	}
	l.reply(ctx, m, "lang.done", nil)
	return nil
}

// setMenus registers the commands: in the configured language, and in each one
// for the people whose app is set to it.
func (l *loop) setMenus(ctx context.Context) error {
	type entry struct {
		Command     string `json:"command"`
		Description string `json:"description"`
	}
	for _, code := range append([]templates.Lang{""}, templates.Langs()...) {
		texts := l.locale.In(cmp.Or(code, l.locale.Lang))
		var menu []entry
		for _, name := range []string{"pending", "why", "stop", "go", "grants", "digest", "status", "lang", "help"} {
			menu = append(menu, entry{name, texts.Plain(phrase("menu."+name), nil)})
		}
		params := tgbotapi.Params{"commands": marshal(menu)}
		if code != "" {
			params["language_code"] = string(code)
		}
		if _, err := l.api.call(ctx, "setMyCommands", params, callWithin); err != nil {
			return err
		}
	}
	return nil
}

// promptOf returns the ask that a prompt of ours of that kind names: below its text, on the
// last line. The language may have changed since. Empty means no prompt.
func (c *Channel) promptOf(text string, kind prompt) approval.AskID {
	for _, lang := range templates.Langs() {
		rest, ok := strings.CutPrefix(text, c.locale.In(lang).Plain(kind.says, nil)+"\n")
		if fields := strings.Fields(rest); ok && len(fields) > 0 {
			return approval.AskID(fields[len(fields)-1])
		}
	}
	return ""
}
