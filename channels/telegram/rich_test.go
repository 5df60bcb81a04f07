package telegram_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
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

// whole returns the message that the ask's card replies to.
func (w *world) whole(a *approval.Ask) telegramtest.Message {
	m, _ := w.server.Message(w.chat, w.shown(a).ReplyTo)
	return m
}

// TestARichMessageSparesTheFile follows a long card through all that happens to it. The card
// stays a message that every app shows, and what the rich message says is never changed.
func TestARichMessageSparesTheFile(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		w.server.Richer(true)
		short, a := w.ask(command("make")), w.ask(command(long))
		if m := w.shown(short); m.Rich || m.ReplyTo != 0 {
			t.Error("a short card comes with more")
		}
		all := w.server.Messages(w.chat)
		m, whole := w.shown(a), w.whole(a)
		if len(all) != 3 || all[1].ID != whole.ID || all[2].ID != m.ID || w.files() != 0 {
			t.Fatalf("the chat holds %+v", all)
		}
		if m.Rich || !slices.Contains(labels(m), "Allow once") || !strings.Contains(m.Text, "message that this one replies to") || !strings.HasPrefix(m.Text, "🔸 ") {
			t.Errorf("the card: rich %v, %v, %.300q", m.Rich, labels(m), m.Text)
		}
		if !whole.Rich || len(whole.Keyboard) != 0 || !whole.Silent || !strings.Contains(whole.Text, long) {
			t.Errorf("all of it: %+v", whole)
		}
		_, sum, _ := strings.Cut(whole.Text, "SHA-256 ")
		if !strings.Contains(m.Text, "begins with "+sum[:16]+".") {
			t.Errorf("%.100q is not what the card names: %q", whole.Text, m.Text[len(m.Text)-200:])
		}
		folded := slices.IndexFunc(whole.Entities, func(e telegramtest.Entity) bool { return e.Type == "details" })
		if folded < 0 || !strings.HasPrefix(whole.Entities[folded].Of(whole.Text), "command: 601 lines, 7,804 characters\n"+long) {
			t.Errorf("the call is not folded: %+v", whole.Entities)
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
		if m = w.shown(a); m.Rich || len(m.Buttons()) != 0 || !strings.Contains(m.Text, "Denied") {
			t.Errorf("decided: rich %v, %v, %.300q", m.Rich, labels(m), m.Text)
		}
		left := slices.ContainsFunc(w.memory.Kept().Drafts, func(d telegram.Draft) bool { return d.Ask == a.ID })
		if n := len(w.server.Messages(w.chat)); n != 3 || left || w.whole(a).Edited {
			t.Errorf("%d messages are left; it is remembered: %v", n, left)
		}
	})
}

// TestWordsForTheRichMessageAreForItsCard replies to what stands above the card.
func TestWordsForTheRichMessageAreForItsCard(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		w.server.Richer(true)
		a := w.ask(command(long))
		w.server.Reply(ann(), w.chat, w.whole(a).ID, "use make clean")
		synctest.Wait()
		if d := a.Approvals[0].Decision; a.Approvals[0].State != approval.Denied || d == nil || d.Words != "use make clean" {
			t.Errorf("the call is %s by %+v", a.Approvals[0].State, d)
		}
	})
}

// TestWithoutTheRichMessageThereIsNoCard fails whatever comes after it, and it itself: what is
// sent once is not sent again, and Allow never stands alone.
func TestWithoutTheRichMessageThereIsNoCard(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		w.server.Richer(true)
		c := card(newAsk(t, command(long)))
		fault := telegramtest.Fault{Code: http.StatusInternalServerError, Description: "Internal Server Error"}
		w.server.Fail("sendRichMessage", 1, fault)
		if _, err := w.channel.Post(t.Context(), c); err == nil || len(w.server.Messages(w.chat)) != 0 {
			t.Fatalf("a card without the rest was shown: %v", err)
		}
		w.server.Fail("sendMessage", 1, fault)
		for try := range 2 {
			if _, err := w.channel.Post(t.Context(), c); (err == nil) != (try == 1) {
				t.Fatalf("try %d: %v", try, err)
			}
			w.restart()
		}
		if all := w.server.Messages(w.chat); len(all) != 2 || !all[0].Rich || all[1].Rich || len(w.live()) != 1 {
			t.Errorf("the chat holds %+v", all)
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
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				refuse(w.server)
				for range 2 {
					a := w.ask(command(long))
					if m := w.shown(a); w.whole(a).File == nil || len(labels(m)) != 5 {
						t.Errorf("%v, %.300q", labels(m), m.Text)
					}
				}
				if n := len(w.server.Calls("sendRichMessage")); n != 1 || w.files() != 2 || len(w.live()) != 2 {
					t.Errorf("%d rich messages were tried; %d files, %d cards that can be answered", n, w.files(), len(w.live()))
				}
				w.server.Richer(true)
				w.restart()
				if !w.whole(w.ask(command(long))).Rich {
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
				if all := w.server.Messages(w.chat); len(all) != 2 || !all[0].Rich || len(w.live()) != 1 {
					t.Errorf("the chat holds %+v", all)
				}
			})
		})
	}
}

// TestALostAnswerToARichMessageLeavesOneCard loses the platform's answer: it is sent again, and
// one card follows.
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
		if len(all) != 3 || !all[0].Rich || !all[1].Rich || all[2].ReplyTo != all[1].ID || len(w.live()) != 1 || w.files() != 0 {
			t.Errorf("the chat holds %d messages, %d that can be answered", len(all), len(w.live()))
		}
	})
}

// TestAServerThatForgotRichMessagesKeepsTheCards changes the server under cards that are shown.
func TestAServerThatForgotRichMessagesKeepsTheCards(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		w.server.Richer(true)
		a := w.finally(long)
		w.server.Richer(false)
		w.restart()
		w.press(ann(), a, "Allow once")
		if m := w.shown(a); !slices.Contains(labels(m), "Yes, allow: it cannot be undone") {
			t.Errorf("it is not asked again: %v", labels(m))
		}
		w.press(ann(), a, "Yes, allow: it cannot be undone")
		if err := w.amend(a); err != nil {
			t.Fatal(err)
		}
		if m := w.shown(a); len(m.Buttons()) != 0 || !strings.Contains(m.Text, "Allowed") || len(w.server.Messages(w.chat)) != 2 {
			t.Errorf("decided: %v %.600q", labels(m), m.Text)
		}
	})
}

// TestWhatNoMessageHoldsGetsAFile is about what is beyond a rich message's limit, and about a plan
// that grows into a long one.
func TestWhatNoMessageHoldsGetsAFile(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		w.server.Richer(true)
		if a := w.ask(command(enormous)); w.whole(a).File == nil || !slices.Contains(labels(w.shown(a)), "Allow once") {
			t.Errorf("%d files, %v", w.files(), labels(w.shown(a)))
		}
		a := w.ask(command("make a"))
		grown := newAsk(t, command("make a"), command(long))
		grown.ID, grown.Cards[0].Ref = a.ID, a.Cards[0].Ref
		if err := w.amend(grown); !errors.Is(err, approval.ErrRepost) || len(w.shown(grown).Buttons()) != 0 {
			t.Fatalf("got %v, %v", err, labels(w.shown(grown)))
		}
		ref, err := w.channel.Post(t.Context(), card(grown))
		if err != nil {
			t.Fatal(err)
		}
		grown.Cards[0].Ref = ref
		if m := w.shown(grown); !w.whole(grown).Rich || !strings.Contains(w.whole(grown).Text, long) || !slices.Contains(labels(m), "Allow all 2 once") {
			t.Errorf("grown: %v, %.200q", labels(m), m.Text)
		}
	})
}

// TestTheLimitOfARichMessageIsKept looks for the longest call that one takes.
func TestTheLimitOfARichMessageIsKept(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		w.server.Richer(true)
		var rich, files int
		for n := range 8 {
			if w.whole(w.ask(command(strings.Repeat("é", 32_700-50*n)))).Rich {
				rich++
			} else {
				files++
			}
		}
		if n := len(w.server.Calls("sendRichMessage")); rich == 0 || files == 0 || n != rich {
			t.Errorf("%d rich messages, %d were tried, %d files", rich, n, files)
		}
	})
}

// TestFilesThatRunAreInTheRichMessage shows the content of what a call runs.
func TestFilesThatRunAreInTheRichMessage(t *testing.T) {
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
		if m := w.whole(a); !m.Rich || !strings.Contains(m.Text, "/srv/g.sh, SHA-256 gggggggggggggggg\nits first lines:\necho <b>g</b>\nexit") {
			t.Errorf("rich %v: %s", m.Rich, m.Text[max(0, len(m.Text)-1500):])
		}
	})
}
