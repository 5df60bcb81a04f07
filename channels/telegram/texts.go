package telegram

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/platform"
	"github.com/metnos/vaglio/templates"
)

type (
	// phrase names a text that a person reads.
	phrase = templates.Key
	// theirs is text written by somebody else, ready to be shown.
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

// menuCommands returns the commands that the menu lists.
func menuCommands() []string {
	return []string{"pending", "why", "stop", "go", "grants", "digest", "status", "lang", "help"}
}

// longestMenuPause is the longest pause between two attempts to set the menu, unless the
// platform asks for more.
const longestMenuPause = time.Hour

// keepMenus sets the bot's menu, however long it takes. The menu is decoration, and the
// platform limits it strictly: nothing waits for it, least of all a press.
func (l *loop) keepMenus(ctx context.Context) {
	for failures := 0; ; failures++ {
		err := l.setMenus(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		pause := platform.Backoff(platform.FirstPause, longestMenuPause, failures)
		if p, ok := errors.AsType[*PlatformError](err); ok {
			pause = max(pause, p.RetryAfter)
		}
		l.log.WarnContext(ctx, "the bot's menu could not be set; everything else works", "error", err, "pause", pause)
		platform.Sleep(ctx, pause)
	}
}

// setMenus registers the commands: in the configured language, and in each other one for
// people whose app is set to it. It skips what is already registered.
func (l *loop) setMenus(ctx context.Context) error {
	type entry struct {
		Command     string `json:"command"`
		Description string `json:"description"`
	}
	l.mu.Lock()
	whole := []string{strconv.FormatInt(l.self.ID, 10)}
	l.mu.Unlock()
	var all []tgbotapi.Params
	for _, code := range append([]templates.Lang{""}, templates.Langs()...) {
		texts := l.locale.In(cmp.Or(code, l.locale.Lang))
		var menu []entry
		for _, name := range menuCommands() {
			menu = append(menu, entry{name, texts.Plain(phrase("menu."+name), nil)})
		}
		params := tgbotapi.Params{"commands": marshal(menu)}
		if code != "" {
			params["language_code"] = string(code)
		}
		whole = append(whole, string(code), params["commands"])
		all = append(all, params)
	}
	sum := sha256.Sum256([]byte(strings.Join(whole, "\n")))
	menu := hex.EncodeToString(sum[:])
	if l.notes.Now().Menu == menu {
		return nil
	}
	for _, params := range all {
		if _, err := l.api.call(ctx, "setMyCommands", params, callWithin); err != nil {
			return err
		}
	}
	return l.notes.Change(ctx, func(n *Notes) { n.Menu = menu })
}

// promptOf returns the ask that a prompt of ours of that kind names below its text, on the
// last line. The language may have changed since. Empty means that the text is not a prompt.
func (c *Channel) promptOf(text string, kind prompt) approval.AskID {
	for _, lang := range templates.Langs() {
		rest, ok := strings.CutPrefix(text, c.locale.In(lang).Plain(kind.says, nil)+"\n")
		if fields := strings.Fields(rest); ok && len(fields) > 0 {
			return approval.AskID(fields[len(fields)-1])
		}
	}
	return ""
}
