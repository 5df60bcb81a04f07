package telegram_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/telegram"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
	"github.com/metnos/vaglio/vaglio"
)

// long is a command that a plain message cannot hold, and enormous one that no message can.
var (
	long     = strings.Repeat("make step &&\n", 600) + "make"
	enormous = strings.Repeat("make step &&\n", 3000) + "make"
)

// live returns the messages of the chat on which something can be pressed.
func (w *world) live() (all []telegramtest.Message) {
	for _, m := range w.server.Messages(w.chat) {
		if len(m.Buttons()) > 0 {
			all = append(all, m)
		}
	}
	return all
}

// files returns how many documents the chat has.
func (w *world) files() (n int) {
	for _, m := range w.server.Messages(w.chat) {
		if m.File != nil {
			n++
		}
	}
	return n
}

// TestALongCardIsOneRichMessage follows a card through all that happens to it.
func TestALongCardIsOneRichMessage(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		w.server.Richer(true)
		short, a := w.ask(command("make")), w.ask(command(long))
		if m := w.shown(short); m.Rich {
			t.Error("a short card is a rich message")
		}
		m := w.shown(a)
		if !m.Rich || w.files() != 0 || len(w.server.Messages(w.chat)) != 2 || !strings.Contains(m.Text, long) || !slices.Contains(labels(m), "Allow once") {
			t.Fatalf("rich %v, %d files, %d messages, %v: %.300q", m.Rich, w.files(), len(w.server.Messages(w.chat)), labels(m), m.Text)
		}
		if first, _, _ := strings.Cut(m.Text, "\n"); !strings.HasPrefix(first, "🔸 ") {
			t.Errorf("a locked phone shows %q", first)
		}
		folded := slices.IndexFunc(m.Entities, func(e telegramtest.Entity) bool { return e.Type == "details" })
		if folded < 0 || !strings.HasPrefix(m.Entities[folded].Of(m.Text), "Show all of it: 601 lines, 7,804 characters") || !strings.Contains(m.Entities[folded].Of(m.Text), long) {
			t.Errorf("the call is not folded: %+v", m.Entities)
		}
		if err := w.amend(a); err != nil {
			t.Error(err)
		}
		if err := w.channel.Remind(t.Context(), a.Cards[0].Ref, card(a)); err != nil || w.last().ReplyTo != m.ID {
			t.Errorf("the reminder: %v %+v", err, w.last())
		}
		w.restart()
		if told := w.press(ann(), a, "Deny"); !strings.Contains(told.Text, "Denied") {
			t.Errorf("told %q", told.Text)
		}
		if err := w.amend(a); err != nil {
			t.Fatal(err)
		}
		if m = w.shown(a); !m.Rich || len(m.Buttons()) != 0 || !strings.Contains(m.Text, "Denied") || !strings.Contains(m.Text, long) {
			t.Errorf("decided: rich %v, %v, %.300q", m.Rich, labels(m), m.Text)
		}
		left := slices.ContainsFunc(w.memory.Kept().Drafts, func(d telegram.Draft) bool { return d.Ask == a.ID })
		if n := len(w.server.Messages(w.chat)); n != 2 || left {
			t.Errorf("%d messages are left; it is remembered: %v", n, left)
		}
	})
}

// TestAServerWithoutRichMessagesGetsFiles is about each way in which a server can refuse one. The
// same Post delivers the card, and no further one asks.
func TestAServerWithoutRichMessagesGetsFiles(t *testing.T) {
	for name, refuse := range map[string]func(s *telegramtest.Server){
		"the method is not known": func(*telegramtest.Server) {},
		"the content is refused": func(s *telegramtest.Server) {
			s.Richer(true)
			s.Fail("sendRichMessage", 1, telegramtest.Fault{Code: http.StatusBadRequest, Description: "Bad Request: can't parse InputRichMessage"})
		},
		"the edit is refused": func(s *telegramtest.Server) {
			s.Richer(true)
			s.Fail("editMessageText", 1, telegramtest.Fault{Code: http.StatusBadRequest, Description: "Bad Request: message text is empty"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				refuse(w.server)
				for range 2 {
					a := w.ask(command(long))
					if m := w.shown(a); m.Rich || !strings.Contains(m.Text, "attached file") || len(labels(m)) != 5 {
						t.Errorf("rich %v, %v, %.300q", m.Rich, labels(m), m.Text)
					}
				}
				if n := len(w.server.Calls("sendRichMessage")); n != 1 || w.files() != 2 || len(w.live()) != 2 {
					t.Errorf("%d rich messages were tried; %d files, %d cards that can be answered", n, w.files(), len(w.live()))
				}
				w.server.Richer(true)
				w.restart()
				if m := w.shown(w.ask(command(long))); !m.Rich {
					t.Error("a new process does not try again")
				}
			})
		})
	}
}

// TestAPauseOrAFaultIsNoRefusal keeps the rich message for the next attempt.
func TestAPauseOrAFaultIsNoRefusal(t *testing.T) {
	for name, f := range map[string]telegramtest.Fault{
		"a pause": {Code: http.StatusTooManyRequests, Description: "Too Many Requests: retry after 7", RetryAfter: 7},
		"a fault": {Code: http.StatusInternalServerError, Description: "Internal Server Error"},
		"a page":  {Code: http.StatusNotFound, Body: "<html>not found"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				w.server.Richer(true)
				w.server.Fail("sendRichMessage", 1, f)
				a := newAsk(t, command(long))
				_, err := w.channel.Post(t.Context(), card(a))
				retry, ok := errors.AsType[*approval.RetryError](err)
				if !ok || f.RetryAfter > 0 && retry.After != 7*time.Second || len(w.server.Messages(w.chat)) != 0 {
					t.Fatalf("got %v and %d messages", err, len(w.server.Messages(w.chat)))
				}
				time.Sleep(8 * time.Second)
				if _, err := w.channel.Post(t.Context(), card(a)); err != nil {
					t.Fatal(err)
				}
				if all := w.server.Messages(w.chat); len(all) != 1 || !all[0].Rich || len(all[0].Buttons()) == 0 {
					t.Errorf("the chat holds %+v", all)
				}
			})
		})
	}
}

// TestALostAnswerToARichMessageLeavesOneCard loses the platform's answer: the message that nobody
// knows of never gets buttons.
func TestALostAnswerToARichMessageLeavesOneCard(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		w.server.Richer(true)
		w.server.Fail("sendRichMessage", 1, telegramtest.Fault{Code: http.StatusBadGateway, Body: "<html>", After: true})
		a := newAsk(t, command(long))
		if _, err := w.channel.Post(t.Context(), card(a)); err == nil {
			t.Fatal("no error")
		}
		w.restart()
		if _, err := w.channel.Post(t.Context(), card(a)); err != nil {
			t.Fatal(err)
		}
		all := w.server.Messages(w.chat)
		if len(all) != 2 || len(all[0].Buttons()) != 0 || !strings.Contains(all[0].Text, "a newer card has them") || len(w.live()) != 1 || !all[1].Rich || w.files() != 0 {
			t.Errorf("the chat holds %d messages, %d that can be answered", len(all), len(w.live()))
		}
	})
}

// TestARichCardWhoseServerForgotIsReplaced changes the server under a card that is shown.
func TestARichCardWhoseServerForgotIsReplaced(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		w.server.Richer(true)
		waits, ends := w.ask(command(long)), w.ask(command("echo "+long))
		w.server.Richer(false)
		w.restart()
		w.desk.Change(func() {
			waits.Approvals[0].Votes = []approval.Vote{{By: approval.Person{ID: "telegram:4712", Name: "Bob"}, At: time.Now()}}
		})
		if err := w.amend(waits); !errors.Is(err, approval.ErrRepost) {
			t.Fatalf("got %v", err)
		}
		if m := w.shown(waits); len(m.Buttons()) != 0 || m.Text != "A newer card has replaced this one." {
			t.Errorf("the old card: %v %.200q", labels(m), m.Text)
		}
		if _, err := w.channel.Post(t.Context(), card(waits)); err != nil || w.files() != 1 {
			t.Errorf("%v, %d files", err, w.files())
		}
		w.press(ann(), ends, "Deny")
		if err := w.amend(ends); err != nil {
			t.Fatal(err)
		}
		if m := w.shown(ends); m.Rich || len(m.Buttons()) != 0 || !strings.Contains(m.Text, "Denied") || strings.Contains(m.Text, "attached") {
			t.Errorf("decided: %v %.600q", labels(m), m.Text)
		}
	})
}

// TestWhatIsConfirmedStaysRich presses a button that leads to others.
func TestWhatIsConfirmedStaysRich(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		w.server.Richer(true)
		a := w.finally(long)
		w.press(ann(), a, "Allow once")
		m := w.shown(a)
		if !m.Rich || !strings.Contains(m.Text, long) || !slices.Contains(labels(m), "Yes, allow: it cannot be undone") {
			t.Errorf("rich %v, %v", m.Rich, labels(m))
		}
	})
}

// TestWhatNoMessageHoldsGetsAFile is about cards beyond a rich message's limit, and about a plan
// that grows into a long one.
func TestWhatNoMessageHoldsGetsAFile(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		w.server.Richer(true)
		if m := w.shown(w.ask(command(enormous))); m.Rich || w.files() != 1 || !slices.Contains(labels(m), "Allow once") {
			t.Errorf("rich %v, %d files, %v", m.Rich, w.files(), labels(m))
		}
		a := w.ask(command("make a"))
		grown := newAsk(t, command("make a"), command(long))
		grown.ID, grown.Cards[0].Ref = a.ID, a.Cards[0].Ref
		if err := w.amend(grown); err != nil {
			t.Fatal(err)
		}
		if m := w.shown(grown); !m.Rich || !strings.Contains(m.Text, long) || !slices.Contains(labels(m), "Allow all 2 once") {
			t.Errorf("grown: rich %v, %v, %.200q", m.Rich, labels(m), m.Text)
		}
	})
}

// TestFilesAreFoldedInARichMessage shows the content of what a call runs.
func TestFilesAreFoldedInARichMessage(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		w.server.Richer(true)
		a := newAsk(t, command(long))
		for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
			a.Approvals[0].Verdict.Sources = append(a.Approvals[0].Verdict.Sources, vaglio.Source{
				Path: "/srv/" + name + ".sh", SHA256: strings.Repeat(name, 64),
			})
			a.Approvals[0].Heads = append(a.Approvals[0].Heads, "echo <b>"+name+"</b>\nexit")
		}
		ref, err := w.channel.Post(t.Context(), card(a))
		if err != nil {
			t.Fatal(err)
		}
		a.Cards[0].Ref = ref
		m := w.shown(a)
		if !m.Rich || !strings.Contains(m.Text, "Show what it runs or sends: 7 files") || !strings.Contains(m.Text, "/srv/g.sh, SHA-256 gggggggggggggggg\necho <b>g</b>\nexit") ||
			strings.Count(m.Text, "/srv/a.sh") != 1 {
			t.Errorf("rich %v: %s", m.Rich, m.Text[max(0, len(m.Text)-1500):])
		}
	})
}
