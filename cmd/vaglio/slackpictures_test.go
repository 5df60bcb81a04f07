package main

import (
	"fmt"
	"html/template"
	"path/filepath"
	"strings"
	"testing"

	"github.com/metnos/vaglio/channels/slack/slacktest"
)

// TestSlackPictures lets a daemon post a card to a team's channel, as the contact sheet shows it.
// With -pictures it draws the card; without, it checks that the picture exists.
func TestSlackPictures(t *testing.T) {
	t.Parallel()
	for _, sc := range scenes() {
		file := filepath.Join("..", "..", "docs", "pictures", "slack-"+sc.lang+".png")
		if *makePictures {
			drawPage(t, file, slackPage(), sc.onSlack(t))
		}
		isThere(t, file, maxPicture)
	}
}

// onSlack proposes two calls, denies one of them, and returns the channel's messages.
func (sc *scene) onSlack(t *testing.T) []slacktest.Message {
	t.Helper()
	w := newWorkspace(t)
	s := w.serve(newHome(t, slackEnv("METNOS_SLACK_APP_TOKEN="+slacktest.AppToken, "METNOS_LANG="+sc.lang, "METNOS_TZ="+sceneZone)...))
	defer s.stop()
	card := func(command, intent string) slacktest.Message {
		s.agent("POST", "/v1/proposals", fmt.Sprintf(
			`{"turn_id":%q,"step":1,"intent":%q,"executor":"shell_exec","args":{"command":%q},"context":{"capability":"code:exec","cwd":"/srv/app"}}`,
			command, intent, command)).answer(t)
		return w.card(func(m slacktest.Message) bool { return strings.Contains(m.Shown(), command) && len(m.Buttons()) > 0 })
	}
	denied := card("rm -rf ../backups/2019", sc.prune)
	w.await("a socket", func() bool { return w.Sockets() > 0 })
	buttons := denied.Buttons()
	if _, err := w.Press(slackAnn, slackHome, denied.TS, buttons[1].Text); err != nil {
		t.Fatal(err)
	}
	over := w.card(func(m slacktest.Message) bool { return m.TS == denied.TS && len(m.Buttons()) == 0 })
	return []slacktest.Message{over, card("git push --force origin main", sc.tidy)}
}

// kit draws blocks as the platform's app does: each by its type, with its contents in order.
func kit(v any) template.HTML {
	var b strings.Builder
	switch v := v.(type) {
	case []slacktest.Block:
		for _, e := range v {
			b.WriteString(string(kit(map[string]any(e))))
		}
	case []any:
		for _, e := range v {
			b.WriteString(string(kit(e)))
		}
	case map[string]any:
		b.WriteString(element(v))
	}
	return template.HTML(b.String())
}

// element draws one block, or an element of one.
func element(v map[string]any) string {
	inside := func(keys ...string) string {
		var b strings.Builder
		for _, k := range keys {
			b.WriteString(string(kit(v[k])))
		}
		return b.String()
	}
	kind, _ := v["type"].(string)
	switch text, _ := v["text"].(string); kind {
	case "plain_text", "text", "raw_text", "mrkdwn":
		return styled(text, v["style"])
	case "link":
		return "<i>" + template.HTMLEscapeString(text) + "</i>"
	case "button":
		style, _ := v["style"].(string)
		return `<span class="button ` + template.HTMLEscapeString(style) + `">` + inside("text") + "</span>"
	case "header":
		return "<h3>" + inside("text") + "</h3>"
	case "rich_text_preformatted":
		return "<pre>" + inside("elements") + "</pre>"
	case "rich_text_quote":
		return "<blockquote>" + inside("elements") + "</blockquote>"
	case "divider":
		return "<hr>"
	default:
		return `<div class="` + template.HTMLEscapeString(kind) + `">` + inside("title", "text", "fields", "elements", "child_blocks", "blocks", "accessory") + "</div>"
	}
}

// styled returns a text with its symbols drawn and its style as markup.
func styled(text string, style any) string {
	var b strings.Builder
	for _, r := range text {
		b.WriteString(glyph(string(r)))
	}
	said := b.String()
	set, _ := style.(map[string]any)
	for name, tag := range map[string]string{"bold": "b", "italic": "i", "code": "code"} {
		if on, _ := set[name].(bool); on {
			said = "<" + tag + ">" + said + "</" + tag + ">"
		}
	}
	return said
}

func slackPage() *template.Template {
	return template.Must(template.New("team").Funcs(template.FuncMap{"kit": kit}).Parse(`<!DOCTYPE html><meta charset="utf-8"><style>
body { margin: 0 }
#chat { width: 480px; padding: 10px 16px 16px; background: #fff; color: #1d1c1d; font: 14.5px/1.45 Lato, "Liberation Sans", "DejaVu Sans", sans-serif }
header { margin: 0 -16px 8px; padding: 2px 16px 9px; border-bottom: 1px solid #ddd; font-weight: 700; font-size: 16px }
article { display: grid; grid-template-columns: 36px 1fr; gap: 9px; padding: 7px 0 }
article > span { width: 36px; height: 36px; border-radius: 6px; background: #1f6b4a; color: #fff; display: grid; place-items: center; font-size: 18px }
h3 { margin: 2px 0; font-size: 17px; line-height: 1.3 } p { margin: 0 } hr { border: 0; border-top: 1px solid #ddd; margin: 8px 0 }
.section, .rich_text, .rich_text_section { margin: 2px 0; white-space: pre-wrap; overflow-wrap: anywhere }
.context { margin: 3px 0; color: #616061; font-size: 12.5px }
code, pre { font: 12px/1.5 "Liberation Mono", "DejaVu Sans Mono", monospace }
code { padding: 1px 3px; border: 1px solid #ddd; border-radius: 3px; background: #f8f8f8; color: #c01343 }
pre { margin: 4px 0; padding: 7px 8px; border: 1px solid #ddd; border-radius: 4px; background: #f8f8f8; white-space: pre-wrap; overflow-wrap: anywhere }
pre code { padding: 0; border: 0; color: inherit } blockquote { margin: 4px 0; padding-left: 11px; border-left: 4px solid #ddd; white-space: pre-wrap }
.actions { display: flex; flex-wrap: wrap; gap: 7px; margin: 7px 0 2px }
.button { padding: 4px 11px; border: 1px solid #bbb; border-radius: 4px; font-weight: 700; font-size: 13.5px }
.primary { background: #007a5a; border-color: #007a5a; color: #fff } .danger { background: #e01e5a; border-color: #e01e5a; color: #fff }
.container { margin: 4px 0; padding: 8px 10px; border: 1px solid #ddd; border-radius: 8px }
svg { width: 1.05em; height: 1.05em; vertical-align: -0.17em }
</style><div id="chat"><header># approvals</header>
{{range .}}<article><span>V</span><div><p><b>Vaglio</b></p>{{kit .Blocks}}</div></article>{{end}}</div>`))
}
