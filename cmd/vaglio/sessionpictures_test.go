package main

import (
	"html/template"
	"regexp"
	"strings"

	"github.com/metnos/vaglio/channels/slack/slacktest"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
)

// panel is one step of a session as its platform shows it.
type panel struct{ Says, Page string }

// shows records a step for the picture: a message of a chat, or the body of an inbox page.
func (w *session) shows(says string, on *template.Template, what any) {
	w.t.Helper()
	if !*makePictures {
		return
	}
	switch m := what.(type) {
	case telegramtest.Message:
		what = []telegramtest.Message{m}
	case slacktest.Message:
		what = []slacktest.Message{m}
	}
	var page strings.Builder
	if err := on.Execute(&page, what); err != nil {
		w.t.Fatal(err)
	}
	// A panel is as wide as its column.
	w.panels = append(w.panels, panel{says, page.String() + "<style>#chat { width: auto }</style>"})
}

var (
	// styleIn finds the stylesheets of an inbox page, and scriptIn its scripts.
	styleIn  = regexp.MustCompile(`<link rel="stylesheet" href="([^"]+)">`)
	scriptIn = regexp.MustCompile(`<script[^>]*></script>`)
)

// inboxPage draws a page of the inbox with its style inlined and without its footer.
func (w *session) inboxPage() *template.Template {
	return template.Must(template.New("inbox").Funcs(template.FuncMap{"whole": func(page string) template.HTML {
		for _, href := range styleIn.FindAllStringSubmatch(page, -1) {
			page = strings.Replace(page, href[0], "<style>"+w.owner.get(href[1]).body+".foot, .skip { display: none }</style>", 1)
		}
		return template.HTML(scriptIn.ReplaceAllString(page, ""))
	}}).Parse(`{{whole .}}`))
}

// draw draws the session, each panel as a page of its own, so that styles do not affect other
// panels.
func (w *session) draw(file string) {
	w.t.Helper()
	if *makePictures {
		drawPage(w.t, file, sessionPage(), w.panels)
	}
	isThere(w.t, file, 5*maxPicture)
}

func sessionPage() *template.Template {
	return template.Must(template.New("session").Funcs(template.FuncMap{"nth": func(i int) int { return i + 1 }}).Parse(`<!DOCTYPE html><meta charset="utf-8"><style>
body { margin: 0 }
#chat { width: 1280px; padding: 16px; columns: 3; column-gap: 16px; background: #fff; font: 15px/1.4 "Liberation Sans", "DejaVu Sans", sans-serif; color: #1d1f1e }
figure { margin: 0 0 16px; break-inside: avoid } figcaption { font-weight: 700; margin-bottom: 5px }
iframe { display: block; box-sizing: border-box; width: 100%; border: 1px solid #dddad1; border-radius: 8px }
</style><div id="chat">
{{range $i, $p := .}}<figure><figcaption>{{nth $i}}. {{$p.Says}}</figcaption>
<iframe srcdoc="{{$p.Page}}" onload="this.style.height = this.contentDocument.documentElement.scrollHeight + 2 + 'px'" height="40"></iframe></figure>{{end}}
</div>`))
}
