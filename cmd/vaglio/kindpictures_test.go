package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/metnos/vaglio/channels/slack/slacktest"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/internal/strictjson"
)

// maxKinds limits a picture of three cards.
const maxKinds = 120 << 10

// kind is a card of another kind than a plain command: what is proposed in one turn, and a text that
// its card shows.
type kind struct {
	intent, shows string
	calls         []map[string]any
}

// kinds are a payment, a script and a plan.
func (sc *scene) kinds() []kind {
	call := func(executor string, args map[string]any) map[string]any {
		return map[string]any{"executor": executor, "args": args}
	}
	shell := func(command string) map[string]any { return call("shell_exec", map[string]any{"command": command}) }
	script := "set -e\ncd /srv/app\n"
	for part := range strings.FieldsSeq("css js fonts images docs") {
		script += fmt.Sprintf("mkdir -p dist/%s\ncp -r src/%s dist/%s\n", part, part, part)
	}
	script += "rsync -a --delete dist/ web1.example.com:/var/www/\nssh web1.example.com sudo systemctl restart nginx"
	return []kind{
		{sc.rent, "IT60X0542811101000000123456", []map[string]any{call("wire_transfer", map[string]any{
			"amount": 1250, "currency": "EUR", "beneficiary": "Rossi S.r.l.", "iban": "IT60X0542811101000000123456", "reference": "12/2026",
		})}},
		{sc.site, "systemctl restart nginx", []map[string]any{shell(script)}},
		{sc.ship, "npm publish", []map[string]any{
			shell("git push origin v2.0"), shell("gh release create v2.0 --notes-file NEWS.md"), shell("npm publish --access public"),
		}},
	}
}

// proposeAll proposes the calls of each kind, each kind as a turn.
func (sc *scene) proposeAll(t *testing.T, s *served, shown func(k *kind)) {
	t.Helper()
	for n, k := range sc.kinds() {
		for i, c := range k.calls {
			c["turn_id"], c["step"], c["intent"] = fmt.Sprintf("kind-%d", n), i+1, k.intent
			c["context"] = map[string]any{"capability": "code:exec", "cwd": "/srv/app"}
			body, err := strictjson.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			s.agent("POST", "/v1/proposals", string(body)).answer(t)
		}
		shown(&k)
	}
}

// TestKindPictures lets a daemon post cards of a payment, a script and a plan to both chats. With
// -pictures it draws them; without, it checks that the pictures exist.
func TestKindPictures(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	for _, sc := range scenes() {
		for name, draw := range map[string]func(t *testing.T, file string){
			"kinds": sc.drawKinds, "slack-kinds": sc.drawSlackKinds, "long": sc.drawLong,
		} {
			file := filepath.Join("..", "..", "docs", "pictures", name+"-"+sc.lang+".png")
			if *makePictures {
				draw(t, file)
			}
			isThere(t, file, maxKinds)
		}
	}
}

// drawKinds draws the cards as Telegram shows them.
func (sc *scene) drawKinds(t *testing.T, file string) {
	t.Helper()
	p := newChat(t)
	s := p.serve(newHome(t, "METNOS_TELEGRAM_TOKEN="+telegramtest.Token, "METNOS_TELEGRAM_CHAT=4711",
		"METNOS_TELEGRAM_APPROVERS=4711", "METNOS_LANG="+sc.lang, "METNOS_TZ="+sceneZone))
	defer s.stop()
	var cards []telegramtest.Message
	sc.proposeAll(t, s, func(k *kind) {
		cards = append(cards, p.await("of "+k.intent, func(m telegramtest.Message) bool {
			return strings.Contains(m.Text, k.shows) && len(m.Buttons()) > len(k.calls)
		}))
	})
	drawPage(t, file, chatPage(), cards)
}

// drawLong draws a card whose call is too long for it, and the rich message before it.
func (sc *scene) drawLong(t *testing.T, file string) {
	t.Helper()
	p := newChat(t)
	p.Richer(true)
	s := p.serve(newHome(t, "METNOS_TELEGRAM_TOKEN="+telegramtest.Token, "METNOS_TELEGRAM_CHAT=4711",
		"METNOS_TELEGRAM_APPROVERS=4711", "METNOS_LANG="+sc.lang, "METNOS_TZ="+sceneZone))
	defer s.stop()
	script := "set -e\ncd /srv/app\n"
	for n := range 110 {
		script += fmt.Sprintf("psql shop -f migrations/%03d.sql >> migrate.log\n", n+1)
	}
	body, err := strictjson.Marshal(map[string]any{
		"executor": "shell_exec", "args": map[string]any{"command": script + "systemctl restart shop"}, "turn_id": "long", "step": 1, "intent": sc.site,
		"context": map[string]any{"capability": "code:exec", "cwd": "/srv/app"},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.agent("POST", "/v1/proposals", string(body)).answer(t)
	card := p.await("of a long call", func(m telegramtest.Message) bool { return len(m.Buttons()) > 0 })
	whole, ok := p.Message(p.chat, card.ReplyTo)
	if !ok || !whole.Rich {
		t.Fatalf("the card replies to %+v", whole)
	}
	drawPage(t, file, chatPage(), []telegramtest.Message{whole, card})
}

// drawSlackKinds draws the cards as Slack shows them.
func (sc *scene) drawSlackKinds(t *testing.T, file string) {
	t.Helper()
	w := newWorkspace(t)
	s := w.serve(newHome(t, slackEnv("METNOS_SLACK_APP_TOKEN="+slacktest.AppToken, "METNOS_LANG="+sc.lang, "METNOS_TZ="+sceneZone)...))
	defer s.stop()
	var cards []slacktest.Message
	sc.proposeAll(t, s, func(k *kind) {
		cards = append(cards, w.card(func(m slacktest.Message) bool {
			return strings.Contains(m.Shown(), k.shows) && len(m.Buttons()) > len(k.calls)
		}))
	})
	drawPage(t, file, slackPage(), cards)
}
