package telegram_test

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/templates"
)

// TestAChatChoosesItsLanguage checks that a chat's choice of language survives a restart,
// and that a prompt made in the other language is still understood.
func TestAChatChoosesItsLanguage(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.ask(command("make deploy"))
		w.press(ann(), a, "Deny with words…")
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
		if m := w.shown(b); !strings.HasPrefix(m.Text, "🔸 Esegue make install\n") || !slices.Equal(labels(m), []string{"Consenti una volta", "Nega", "Nega e spiega…", "Chiedi…", "Perché?"}) {
			t.Errorf("the card: %q %q", m.Text, labels(m))
		}
		w.stop()
		w.start()
		if got := w.press(ann(), b, "Consenti una volta"); got.Text != "Consentita una volta." {
			t.Errorf("after a restart the press is answered %q", got.Text)
		}
		if m := w.say(ann(), prompt.ID, "use make test"); m.Text != "Negata. Le tue parole vanno all’agente." {
			t.Errorf("a prompt in English is answered %q", m.Text)
		}
		if err := w.amend(a); err != nil {
			t.Fatal(err)
		}
		if m := w.shown(a); !strings.Contains(m.Text, "🚫 Negata da Ann (telegram:4711) alle 00:00 UTC: non è stata eseguita\nParole per l’agente: use make test") {
			t.Errorf("denied: %q", m.Text)
		}
	})
}

// TestTheConfiguredLanguage checks that chats that chose no language get the operator's.
func TestTheConfiguredLanguage(t *testing.T) {
	inWorld(t, func(w *world) {
		w.stop()
		w.config.Lang = templates.Italian
		w.start()
		if m := w.say(ann(), 0, "/pending"); m.Text != "Non ti aspetta nulla." {
			t.Errorf("answers %q", m.Text)
		}
		if m := w.server.Commands(""); len(m) != 9 || m[0].Description != "Che cosa ti aspetta" {
			t.Errorf("the menu: %v", m)
		}
	})
}

// TestACardKeepsItsFileInAnotherLanguage checks that a file sent in one language remains
// the card's file in another, until the card can no longer change.
func TestACardKeepsItsFileInAnotherLanguage(t *testing.T) {
	inWorld(t, func(w *world) {
		long := "echo " + strings.Repeat("0123456789 ", 1000)
		a := w.ask(command(long))
		file := w.server.Messages(w.chat)[0].File
		sum := sha256.Sum256(file.Data)
		hash := hex.EncodeToString(sum[:])[:16]
		shows := func(step, said, label string) {
			w.t.Helper()
			if err := w.amend(a); err != nil {
				w.t.Fatalf("%s: %v", step, err)
			}
			m := w.shown(a)
			if !strings.Contains(m.Text, said+hash) || (label == "") != (len(m.Buttons()) == 0) || label != "" && labels(m)[0] != label {
				w.t.Errorf("%s the card with the file %s is %q %v", step, hash, m.Text, labels(m))
			}
		}
		w.say(ann(), 0, "/lang it")
		shows("in Italian", "comincia con ", "Consenti una volta")
		w.press(ann(), a, "Consenti una volta")
		shows("allowed", "comincia con ", "")
		w.restart()
		a.Approvals[0].State = approval.Succeeded
		shows("done", "comincia con ", "")
		if len(w.memory.Notes.Drafts) != 0 {
			w.t.Errorf("of what is over is remembered %+v", w.memory.Notes.Drafts)
		}
		b := w.ask(command(long))
		m, _ := w.server.Message(w.chat, w.shown(b).ReplyTo)
		if text := string(m.File.Data); !strings.HasPrefix(text, "richiesta "+string(b.ID)+"\nagente:\n    coder\n") || !strings.Contains(text, "\ncomando:\n    echo 0123456789") {
			w.t.Errorf("the file in Italian: %.300s", text)
		}
	})
}
