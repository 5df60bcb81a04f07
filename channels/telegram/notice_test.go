package telegram_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/telegram"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
)

func TestAReminderLeadsToItsCardAndGoesWithIt(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		a := w.ask(command("rm -rf ./build"), command("make"))
		if err := w.channel.Remind(t.Context(), a.Cards[0].Ref, card(a)); err != nil {
			t.Fatal(err)
		}
		m := w.last()
		if !strings.HasPrefix(m.Text, "⏳ Runs rm -rf ./build, and 1 other call\nStill waiting for you. Answer on the card by ") || m.ReplyTo != w.shown(a).ID || len(m.Buttons()) != 0 || m.Silent {
			t.Errorf("the reminder: %+v", m)
		}
		n := len(w.server.Messages(w.chat))
		w.restart()
		if err := w.channel.Remind(t.Context(), a.Cards[0].Ref, card(a)); err != nil || len(w.server.Messages(w.chat)) != n {
			t.Errorf("reminded twice: %v", err)
		}
		w.press(ann(), a, "Deny #1")
		if err := w.amend(a); err != nil || len(w.server.Messages(w.chat)) != n {
			t.Errorf("half answered: %v, %d messages", err, len(w.server.Messages(w.chat)))
		}
		w.press(ann(), a, "Deny #2")
		if err := w.amend(a); err != nil || len(w.server.Messages(w.chat)) != n-1 {
			t.Errorf("answered: %v, %d messages", err, len(w.server.Messages(w.chat)))
		}
		if err := w.channel.Remind(t.Context(), a.Cards[0].Ref, card(a)); err != nil || len(w.server.Messages(w.chat)) != n-1 {
			t.Errorf("reminded of what is over: %v", err)
		}
	})
}

// TestAReminderOfADeletedCardBringsItBack checks that a reminder is not sent without its card: one
// that somebody deleted is posted again.
func TestAReminderOfADeletedCardBringsItBack(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		a := w.ask(command("make"))
		w.server.Delete(w.chat, w.shown(a).ID)
		n := len(w.server.Messages(w.chat))
		if err := w.channel.Remind(t.Context(), a.Cards[0].Ref, card(a)); !errors.Is(err, approval.ErrRepost) || len(w.server.Messages(w.chat)) != n {
			t.Errorf("reminded of a card that is not there: %v", err)
		}
		ref, err := w.channel.Post(t.Context(), card(a))
		if err != nil {
			t.Fatal(err)
		}
		a.Cards[0].Ref = ref
		if m := w.shown(a); len(m.Buttons()) == 0 {
			t.Errorf("posted again: %+v", m)
		}
	})
}

// TestAnEscalationIsNews checks that people are told next to the card who is asked, too, and
// reminded all the same later.
func TestAnEscalationIsNews(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		a := w.ask(command("make"))
		a.Routes = []approval.Active{{Route: "on-call", Quorum: 1}, {Route: "leads", Quorum: 1, Since: time.Now()}}
		for _, at := range []time.Time{time.Now(), time.Now().Add(time.Minute)} {
			c := card(a)
			c.RemindAt = at
			if err := w.channel.Remind(t.Context(), a.Cards[0].Ref, c); err != nil {
				t.Fatal(err)
			}
			m := w.last()
			if !strings.Contains(m.Text, "Now also asked: leads\nStill waiting for you.") || m.ReplyTo != w.shown(a).ID || m.Silent {
				t.Errorf("told: %+v", m)
			}
			w.press(ann(), a, "Why?")
		}
	})
}

func TestAReminderMeetsTrouble(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		a := w.ask(command("make"))
		w.server.Fail("sendMessage", 1, telegramtest.Fault{Code: 429, Description: "Too Many Requests", RetryAfter: 3})
		err := w.channel.Remind(t.Context(), a.Cards[0].Ref, card(a))
		if retry, ok := errors.AsType[*approval.RetryError](err); !ok || retry.After != 3*time.Second {
			t.Errorf("a pause: %v", err)
		}
		time.Sleep(3 * time.Second)
		w.server.Block(w.chat, "bot was blocked by the user")
		if err := w.channel.Remind(t.Context(), a.Cards[0].Ref, card(a)); !errors.Is(err, approval.ErrGone) {
			t.Errorf("blocked: %v", err)
		}
		if err := w.channel.Remind(t.Context(), "nonsense", card(a)); !errors.Is(err, approval.ErrGone) {
			t.Errorf("no reference: %v", err)
		}
	})
}

func TestQuietHoursMakeNoSound(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		for _, silent := range []bool{true, false} {
			a := newAsk(t, command("echo "+strings.Repeat("long ", 2000)))
			c := card(a)
			c.Silent = silent
			ref, err := w.channel.Post(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			all := w.server.Messages(w.chat)
			// The file never rings; the card that follows it does.
			if file, m := all[len(all)-2], all[len(all)-1]; !file.Silent || m.Silent != silent {
				t.Errorf("silent %v: the file %v, the card %v", silent, file.Silent, m.Silent)
			}
			if err := w.channel.Remind(t.Context(), ref, c); err != nil || w.last().Silent != silent {
				t.Errorf("the reminder: %v, silent %v", err, w.last().Silent)
			}
			if err := w.channel.Notify(t.Context(), approval.Notice{Agent: "coder", Silent: silent}); err != nil || w.last().Silent != silent {
				t.Errorf("the notice: %v, silent %v", err, w.last().Silent)
			}
		}
	})
}

func TestANoticeTellsAndOffersNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		n := approval.Notice{
			Agent: "coder\n🔸", Rule: "root.remove", Count: 3, First: time.Now(), Last: time.Now(),
			Refusal: approval.Refusal{
				Wanted: "shell_exec {\"command\":\"rm -rf / @ann https://evil.example\u202e\"}", Why: "it removes the root\n✅ Allowed",
				Alternatives: []string{"Name the folder.", "Do not repeat it."},
			},
		}
		if err := w.channel.Notify(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		m := w.last()
		for _, want := range []string{
			"🛑 coder··: shell_exec {\"command\":\"rm -rf / @ann", "rule root.remove", "nobody can allow it", "3 such calls since", "U+202E",
			"removes the root⟨newline⟩✅ Allowed", "Name the folder. Do not repeat it.",
		} {
			if !strings.Contains(m.Text, want) {
				t.Errorf("the notice lacks %q: %q", want, m.Text)
			}
		}
		if len(m.Buttons()) != 0 || m.Force {
			t.Errorf("the notice offers %v", labels(m))
		}
		for _, e := range m.Entities {
			if e.Type != "code" {
				t.Errorf("the notice has a %s: %q", e.Type, e.Of(m.Text))
			}
		}
		n.Count, n.Refusal.Wanted, n.Refusal.Why = 1, strings.Repeat("<&😀", 10000), strings.Repeat("why ", 10000)
		n.Rule, n.Agent, n.Refusal.Alternatives = strings.Repeat("r", 1000), strings.Repeat("a", 1000), []string{strings.Repeat("do ", 5000)}
		if err := w.channel.Notify(t.Context(), n); err != nil || strings.Contains(w.last().Text, "such call") {
			t.Errorf("a long one: %v", err)
		}
	})
}

func TestANoticeWaitsForAChat(t *testing.T) {
	t.Parallel()
	ch, err := telegram.New(t.Context(), newWorld(t).config)
	if err != nil {
		t.Fatal(err)
	}
	if retry, ok := errors.AsType[*approval.RetryError](ch.Notify(t.Context(), approval.Notice{})); !ok || retry.After == 0 {
		t.Error("a notice without a chat is lost")
	}
}
