package telegram_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/templates"
)

// A chat chooses its language, and keeps it past a restart; a prompt made in
// the other language is still understood.
func TestAChatChoosesItsLanguage(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.ask(command("make deploy"))
		w.press(ann(), a, "Reply…")
		prompt := w.last()

		if m := w.say(ann(), 0, "/lang"); !strings.Contains(m.Text, "/lang it") {
			t.Errorf("without a language: %q", m.Text)
		}
		if m := w.say(ann(), 0, "/lang de"); !strings.Contains(m.Text, "/lang it") {
			t.Errorf("a language there is none of: %q", m.Text)
		}
		if m := w.say(ann(), 0, "/lang it"); m.Text != "D’ora in poi qui parlo italiano." {
			t.Errorf("changed: %q", m.Text)
		}
		b := w.ask(command("make install"))
		if m := w.shown(b); !strings.HasPrefix(m.Text, "🔸 coder: make install\nDa coder") || !slices.Equal(labels(m), []string{"Permetti una volta", "Nega", "Rispondi…", "Perché?"}) {
			t.Errorf("the card: %q %q", m.Text, labels(m))
		}
		w.stop()
		w.start()
		if got := w.press(ann(), b, "Permetti una volta"); got.Text != "Permesso una volta." {
			t.Errorf("after a restart the press is answered %q", got.Text)
		}
		if m := w.say(ann(), prompt.ID, "use make test"); m.Text != "Negato. Le tue parole vanno all’agente." {
			t.Errorf("a prompt in English is answered %q", m.Text)
		}
		if err := w.amend(a); err != nil {
			t.Fatal(err)
		}
		if m := w.shown(a); !strings.Contains(m.Text, "🚫 Negato da Ann (telegram:4711) alle 00:00 UTC: non è stato eseguito\nParole per l’agente: use make test") {
			t.Errorf("denied: %q", m.Text)
		}
	})
}

// The operator's language is that of chats that chose none.
func TestTheConfiguredLanguage(t *testing.T) {
	inWorld(t, func(w *world) {
		w.stop()
		w.config.Lang = templates.Italian
		w.start()
		if m := w.say(ann(), 0, "/pending"); m.Text != "Non ti aspetta nulla." {
			t.Errorf("answers %q", m.Text)
		}
		if m := w.server.Commands(""); len(m) != 6 || m[0].Description != "Che cosa ti aspetta" {
			t.Errorf("the menu: %v", m)
		}
	})
}
