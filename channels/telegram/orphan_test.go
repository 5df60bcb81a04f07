package telegram_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
)

// withButtons counts the messages of the chat that have buttons.
func (w *world) withButtons() (n int) {
	for _, m := range w.server.Messages(w.chat) {
		if len(m.Buttons()) > 0 {
			n++
		}
	}
	return n
}

// restart starts a new process over the same memory.
func (w *world) restart() {
	w.t.Helper()
	w.stop()
	w.start()
}

// TestAMessageThatNobodyKnowsOfHasNoButtons loses the platform's answer, so that the card
// is sent again.
func TestAMessageThatNobodyKnowsOfHasNoButtons(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		a := newAsk(t, command("make"))
		w.server.Fail("sendMessage", 1, telegramtest.Fault{Code: 502, Body: "<html>", After: true})
		_, err := w.channel.Post(t.Context(), card(a))
		retry, ok := errors.AsType[*approval.RetryError](err)
		if !ok || retry.Unsent {
			t.Fatalf("got %v", err)
		}
		if ref, ok := w.channel.Found(a.ID); ok {
			t.Errorf("found %q", ref)
		}
		w.restart()
		if _, err := w.channel.Post(t.Context(), card(a)); err != nil {
			t.Fatal(err)
		}
		all := w.server.Messages(w.chat)
		if len(all) != 2 || len(all[0].Buttons()) != 0 || len(all[1].Buttons()) != 5 || !strings.Contains(all[0].Text, "a newer card has them") {
			t.Errorf("the chat holds %+v", all)
		}
	})
}

// TestAMessageThatIsNotedIsGoneOnWith simulates a crash after a message was sent and before
// it got its buttons.
func TestAMessageThatIsNotedIsGoneOnWith(t *testing.T) {
	for name, through := range map[string]func(w *world, a *approval.Ask) error{
		"Posted": func(w *world, a *approval.Ask) error {
			_, err := w.channel.Post(w.t.Context(), card(a))
			return err
		},
		"Amended": func(w *world, a *approval.Ask) error {
			ref, _ := w.channel.Found(a.ID)
			return w.channel.Amend(w.t.Context(), ref, card(a))
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				for _, calls := range []string{"make", "echo " + strings.Repeat("long ", 2000)} {
					a := newAsk(t, command(calls))
					w.server.Fail("editMessageText", 1, telegramtest.Fault{Code: 500, Description: "Internal Server Error"})
					if _, err := w.channel.Post(t.Context(), card(a)); err == nil {
						t.Fatal("no error")
					}
					if w.withButtons() != 0 {
						t.Error("a message got buttons before its reference was known")
					}
					after := len(w.server.Messages(w.chat))
					w.restart()
					if err := through(w, a); err != nil {
						t.Fatal(err)
					}
					m := w.last()
					if len(w.server.Messages(w.chat)) != after || len(m.Buttons()) != 5 || strings.Contains(m.Text, "on their way") {
						t.Errorf("the chat ends with %+v", m)
					}
					w.server.Delete(w.chat, m.ID)
				}
			})
		})
	}
}

func TestWithoutItsNoteAMessageGetsNoButtons(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		w.memory.Fail(errors.New("disk full"))
		if _, err := w.channel.Post(t.Context(), card(newAsk(t, command("make")))); err == nil || w.withButtons() != 0 {
			t.Errorf("%v, %d messages with buttons", err, w.withButtons())
		}
	})
}

func TestADraftThatWasDeletedIsSentAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		a := newAsk(t, command("make"))
		w.server.Fail("editMessageText", 1, telegramtest.Fault{Code: 500, Description: "Internal Server Error"})
		_, _ = w.channel.Post(t.Context(), card(a))
		w.server.Delete(w.chat, w.last().ID)
		if _, err := w.channel.Post(t.Context(), card(a)); err == nil {
			t.Fatal("a card that is not there was posted")
		}
		if _, err := w.channel.Post(t.Context(), card(a)); err != nil || w.withButtons() != 1 {
			t.Errorf("%v, %d messages with buttons", err, w.withButtons())
		}
	})
}

func TestNotesAreForgottenWhenTheyAreNotNeeded(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		drafts := func() int {
			return len(w.memory.Kept().Drafts)
		}
		a := w.ask(command("make"), command("make test"))
		b := w.ask(command("echo "+strings.Repeat("long ", 2000)), command("make"))
		if n := drafts(); n != 2 {
			t.Errorf("%d drafts after two posts", n)
		}
		w.press(ann(), a, "Deny #1")
		w.press(ann(), b, "Deny #2")
		if err := errors.Join(w.amend(a), w.amend(b)); err != nil {
			t.Fatal(err)
		}
		if n := drafts(); n != 1 || !strings.Contains(w.shown(b).Text, "message that this one replies to") || labels(w.shown(b))[0] != "Allow #1 once" {
			t.Errorf("%d drafts, and half answered the card offers %v", n, labels(w.shown(b)))
		}
		w.press(ann(), b, "Deny #1")
		if err := w.amend(b); err != nil || drafts() != 0 {
			t.Errorf("%v, %d drafts at the end", err, drafts())
		}
	})
}

// TestACardThatGrewPastItsMessageGetsANewOne lets calls join that the card's file does not
// contain.
func TestACardThatGrewPastItsMessageGetsANewOne(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		small := w.ask(command("make"))
		grown := newAsk(t, command("make"), command("echo "+strings.Repeat("long ", 2000)))
		c := card(grown)
		c.Ask = small.ID
		if err := w.channel.Amend(t.Context(), small.Cards[0].Ref, c); !errors.Is(err, approval.ErrRepost) {
			t.Fatalf("got %v", err)
		}
		if m := w.shown(small); len(m.Buttons()) != 0 || !strings.Contains(m.Text, "newer card") {
			t.Errorf("the old message: %q %v", m.Text, labels(m))
		}
		ref, err := w.channel.Post(t.Context(), c)
		if err != nil || ref == small.Cards[0].Ref || w.withButtons() != 1 {
			t.Errorf("%q %v, %d messages with buttons", ref, err, w.withButtons())
		}
		if labels(w.last())[0] != "Allow all 2 once" {
			t.Errorf("the new message offers %v", labels(w.last()))
		}
	})
}

// TestADuplicateWithoutItsFileOffersNoYes presses a button of a duplicate whose calls wait on: the
// file with the calls stands next to the other message, so that here nobody can say yes to them.
func TestADuplicateWithoutItsFileOffersNoYes(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		a := w.ask(command(long), command("make"))
		twin := w.duplicate(a)
		press := func(label string) telegramtest.Message {
			if _, err := w.server.Press(ann(), w.chat, twin.ID, label); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			m, _ := w.server.Message(w.chat, twin.ID)
			return m
		}
		m := press("Deny #2")
		if said := strings.Join(labels(m), ", "); strings.Contains(said, "Allow") || !strings.Contains(said, "Deny") || strings.Contains(m.Text, "attached") {
			t.Errorf("the duplicate offers %s below %.300q", said, m.Text)
		}
		if m := press("Deny #1"); len(m.Buttons()) != 0 || !strings.Contains(m.Text, "Denied") || !strings.Contains(m.Text, "All of it is in the message") {
			t.Errorf("in the end the duplicate offers %v below %.300q", labels(m), m.Text)
		}
	})
}

// TestAPressOnAMessageThatIsNotTheCardsIsTruthful presses a button of a duplicate message,
// such as one that a restored backup does not know.
func TestAPressOnAMessageThatIsNotTheCardsIsTruthful(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		a := w.ask(command("make"))
		twin := w.duplicate(a)
		id, err := w.server.Press(ann(), w.chat, twin.ID, "Allow once")
		if err != nil {
			t.Fatal(err)
		}
		if got := w.answer(id); got.Text != "Allowed once." {
			t.Errorf("the twin's press was answered %+v", got)
		}
		if m, _ := w.server.Message(w.chat, twin.ID); len(m.Buttons()) != 0 || !strings.Contains(m.Text, "Allowed once by Ann") || strings.Contains(m.Text, "attached") {
			t.Errorf("the twin shows %q %v", m.Text, labels(m))
		}
		if strings.Contains(w.log.String(), "twin") {
			t.Errorf("the log tells of no trouble: %s", w.log)
		}
		w.server.Fail("editMessageText", 1, telegramtest.Fault{Code: 403, Body: `{"ok":false,"error_code":403,"description":"Forbidden"}`})
		w.answer(w.server.PressData(ann(), w.chat, twin.ID, twin.Buttons()[0].Data))
		if !strings.Contains(w.log.String(), "the twin of a card could not be brought up to date") {
			t.Errorf("nobody is told: %s", w.log)
		}
		// A press of an unknown button is answered so, and the button is removed.
		b := w.ask(command("make b"))
		w.desk.Forget()
		if got := w.press(ann(), b, "Deny"); !strings.Contains(got.Text, "no longer works") {
			t.Errorf("an unknown button: %+v", got)
		}
		synctest.Wait()
		if m := w.shown(b); len(m.Buttons()) != 0 {
			t.Errorf("it kept its buttons: %v", labels(m))
		}
	})
}

// TestAReplyMayBeFasterThanTheDispatcher replies to a card before anybody noted where it is.
func TestAReplyMayBeFasterThanTheDispatcher(t *testing.T) {
	inWorld(t, func(w *world) {
		a := newAsk(w.t, command("make"))
		w.desk.Add(a)
		if _, err := w.channel.Post(w.t.Context(), card(a)); err != nil {
			w.t.Fatal(err)
		}
		if m := w.say(ann(), w.last().ID, "not on a Friday"); a.Approvals[0].State != approval.Denied || strings.Contains(m.Text, "nothing was decided") {
			w.t.Errorf("the call is %s; the bot says %q", a.Approvals[0].State, m.Text)
		}
	})
}

// TestATwinThatIsPressedIsBroughtUpToDate presses a message that is not the one on record, or
// that was given up for gone: its button decides, and it then shows what was decided.
func TestATwinThatIsPressedIsBroughtUpToDate(t *testing.T) {
	for name, change := range map[string]func(card *approval.Shown){
		"another is on record": func(card *approval.Shown) { card.Ref = "4711:999" },
		"it is given up":       func(card *approval.Shown) { card.Gone = true },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				a := w.ask(command("make"))
				m := w.shown(a)
				w.desk.Change(func() { change(&a.Cards[0]) })
				if told := w.answer(w.server.PressData(ann(), w.chat, m.ID, m.Buttons()[0].Data)); told.Text != "Allowed once." {
					w.t.Errorf("%s: who presses it is told %+v", name, told)
				}
				synctest.Wait()
				if m, _ = w.server.Message(w.chat, m.ID); len(m.Buttons()) != 0 || !strings.Contains(m.Text, "Allowed") {
					w.t.Errorf("%s: it shows %v below %q", name, labels(m), m.Text)
				}
			})
		})
	}
}
