package telegram_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/payloads"
	"github.com/metnos/vaglio/channels/telegram"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/templates"
)

// TestPayloads sends everything that the channel can say, in every language, and collects
// what was sent. If VAGLIO_PAYLOADS is set, the test writes it there for tsc.
func TestPayloads(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it draws many pictures; the plain run has it")
	}
	var all []payloads.Payload
	for _, lang := range templates.Langs() {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.config.Lang = lang
			w.server.Richer(lang != templates.English)
			w.chat = w.server.Private(ann())
			w.memory.Notes = telegram.Notes{Chat: w.chat, Person: ann().ID}
			w.start()
			w.sayAll()
			all = append(all, w.sent()...)
		})
	}
	for _, method := range []string{
		"sendMessage", "sendRichMessage", "editMessageText", "sendDocument", "sendPhoto", "editMessageMedia", "answerCallbackQuery", "getUpdates", "setMyCommands",
	} {
		if !slices.ContainsFunc(all, func(p payloads.Payload) bool { return strings.Contains(p.Type, `"`+method+`"`) }) {
			t.Errorf("nothing was sent by %s", method)
		}
	}
	payloads.Write(t, os.Getenv("VAGLIO_PAYLOADS"), "telegram.ts", `import type { Opts } from "@grammyjs/types";`, all)
}

// sayAll makes the channel say everything.
func (w *world) sayAll() {
	w.t.Helper()
	ctx := w.t.Context()
	payloads.Show(w.t, w.channel, telegram.Name, approval.ErrRepost, approval.ErrGone)
	ref, err := w.channel.OpenDigest(ctx, "day", false)
	if err == nil {
		err = w.channel.ShowDigest(ctx, ref, payloads.Digest(3))
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.ask(command(long))
	a, b := w.ask(command("make")), w.ask(command("make b"))
	m := w.shown(a)
	for _, button := range m.Buttons() {
		w.server.PressData(ann(), m.Chat, m.ID, button.Data)
		synctest.Wait()
	}
	for _, text := range []string{"/help", "/pending", "/why", "/why " + string(b.ID), "/status", "/digest", "/lang", "/start x", "hello"} {
		w.server.Reply(ann(), w.chat, 0, text)
		synctest.Wait()
	}
	w.server.Reply(ann(), w.chat, w.shown(b).ID, "no")
	synctest.Wait()
}

// sent returns what the platform was sent. Values travel as texts; numbers, booleans and
// JSON are checked as such.
func (w *world) sent() []payloads.Payload {
	texts := []string{"text", "caption", "parse_mode", "callback_query_id", "url", "secret_token", "language_code"}
	var all []payloads.Payload
	for _, c := range w.server.Calls("") {
		args := map[string]strictjson.Value{}
		for _, name := range slices.Sorted(maps.Keys(c.Params)) {
			value := strictjson.Value(c.Params[name])
			if slices.Contains(texts, name) || !value.IsValid() {
				quoted, err := strictjson.Marshal(c.Params[name])
				if err != nil {
					w.t.Fatal(err)
				}
				value = quoted
			}
			args[name] = value
		}
		if c.Method == "sendDocument" {
			args["document"] = strictjson.Value(`"the file"`)
		}
		if c.Method == "sendPhoto" {
			args["photo"] = strictjson.Value(`"the file"`)
		}
		raw, err := strictjson.Marshal(args)
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, payloads.Payload{Type: `Opts<string>["` + c.Method + `"]`, JSON: string(raw)})
	}
	return all
}
