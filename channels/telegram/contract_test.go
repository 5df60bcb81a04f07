package telegram_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/channeltest"
	"github.com/metnos/vaglio/channels/telegram"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
)

func TestContract(t *testing.T) {
	channeltest.Run(t, func(t *testing.T, test func(*testing.T, channeltest.Harness)) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.chat = w.server.Private(ann())
			w.memory.notes = telegram.Notes{Chat: w.chat, Person: ann().ID}
			var err error
			if w.channel, err = telegram.New(t.Context(), w.config); err != nil {
				t.Fatal(err)
			}
			test(t, w.harness())
		})
	})
}

// harness is the world as the contract wants it.
func (w *world) harness() channeltest.Harness {
	_, secret, _ := strings.Cut(telegramtest.Token, ":")
	id := func(ref string) (n int) {
		_, rest, _ := strings.Cut(ref, ":")
		_, _ = fmt.Sscan(rest, &n)
		return n
	}
	return channeltest.Harness{
		Channel: w.channel, Facts: channeltest.Facts{TextLimit: telegramtest.MaxText, Files: true}, Secret: secret,
		Shown: func(ref string) channeltest.Picture {
			m, _ := w.server.Message(w.chat, id(ref))
			p := channeltest.Picture{Text: m.Text}
			for _, b := range m.Buttons() {
				switch verb, _, _ := strings.Cut(b.Text, " "); verb {
				case "Allow":
					p.Choices = append(p.Choices, approval.ChoiceAllow)
				case "Deny":
					p.Choices = append(p.Choices, approval.ChoiceDeny)
				}
			}
			if f, ok := w.server.Message(w.chat, m.ReplyTo); ok && f.File != nil {
				p.Files = append(p.Files, string(f.File.Data))
			}
			return p
		},
		Limit: func(after time.Duration) {
			w.server.Fail("", 1, telegramtest.Fault{Code: 429, Description: "Too Many Requests", RetryAfter: int(after / time.Second)})
		},
		Down: func(down bool) {
			if down {
				w.server.Stop()
			} else {
				w.server.Start()
			}
		},
		Fail:   func() { w.server.Fail("", 1, telegramtest.Fault{Code: 502, Body: "<html>" + secret}) },
		Remove: func(ref string) { w.server.Delete(w.chat, id(ref)) },
	}
}

// TestTheHarnessSeesButtons keeps the contract's view honest: a card's buttons
// are found by their words.
func TestTheHarnessSeesButtons(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.ask(command("make"), command("make test"))
		if got := w.harness().Shown(a.Cards[0].Ref).Choices; len(got) != 6 || !slices.Contains(got, approval.ChoiceAllow) {
			w.t.Errorf("got %v", got)
		}
	})
}
