package telegram_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/telegram"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
)

// inForum runs a test with a group that has a topic for cards.
func inForum(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.chat = w.server.Forum(-100, 7, 8)
		w.config.Chat, w.config.Topic = -100, 7
		w.start()
		test(w)
	})
}

func TestCardsGoToTheTopicAndAnswersStayInTheirs(t *testing.T) {
	inForum(t, func(w *world) {
		t := w.t
		long := command("echo " + strings.Repeat("word ", 2000))
		a := w.ask(long)
		for _, m := range w.server.Messages(w.chat) {
			if m.Thread != 7 {
				t.Errorf("message %d is in topic %d", m.ID, m.Thread)
			}
		}
		if m := w.say(bob(), w.shown(a).ID, "no"); m.Thread != 7 || !strings.Contains(m.Text, "Denied.") {
			t.Errorf("the answer to a reply: %+v", m)
		}
		w.server.QueueRaw("message", map[string]any{
			"message_id": 900, "from": map[string]any{"id": bob().ID}, "text": "/help", "message_thread_id": 8, "is_topic_message": true,
			"chat": map[string]any{"id": w.chat, "type": "supergroup"},
		})
		synctest.Wait()
		if m := w.last(); m.Thread != 8 || !strings.Contains(m.Text, "/pending") {
			t.Errorf("the answer in another topic: %+v", m)
		}
	})
}

func TestWithoutItsTopicACardGoesToTheChat(t *testing.T) {
	for name, c := range map[string]struct{ begin, end func(s *telegramtest.Server) }{
		"Closed": {
			func(s *telegramtest.Server) { s.CloseTopic(-100, 7, true) },
			func(s *telegramtest.Server) { s.CloseTopic(-100, 7, false) },
		},
		"Deleted": {func(s *telegramtest.Server) { s.DeleteTopic(-100, 7) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			inForum(t, func(w *world) {
				t := w.t
				old := w.ask(command("make old"))
				c.begin(w.server)
				a := w.ask(command("make"))
				if m := w.shown(a); m.Thread != 0 || len(m.Buttons()) == 0 {
					t.Errorf("the card: %+v", m)
				}
				if h := w.channel.Health(); !strings.Contains(h.Problem, "forum topic") {
					t.Errorf("told %+v", h)
				}
				if got := w.press(bob(), a, "Deny"); got.Text != "Denied." {
					t.Errorf("a press there: %+v", got)
				}
				_, _ = old.Decide(approval.Tap{Ask: old.ID, Choice: approval.ChoiceDeny, By: approval.Person{ID: "web:owner"}}, time.Now(), time.Minute)
				if err := w.amend(old); (name == "Deleted") != errors.Is(err, approval.ErrGone) {
					t.Errorf("the card in the topic: %v", err)
				}
				if c.end == nil {
					return
				}
				c.end(w.server)
				if m := w.shown(w.ask(command("make more"))); m.Thread != 7 || w.channel.Health().Problem != "" {
					t.Errorf("afterwards the card is in topic %d, and %+v", m.Thread, w.channel.Health())
				}
			})
		})
	}
}

func TestAGroupThatBecameASupergroupIsFollowed(t *testing.T) {
	for name, waits := range map[string]bool{"Waiting": true, "Over": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.chat = w.server.Group(-100)
				w.memory.Notes = telegram.Notes{Chat: -100, Person: ann().ID}
				w.start()
				a := w.ask(command("make"), command("make test"))
				w.press(ann(), a, "Deny #1")
				if !waits {
					w.press(ann(), a, "Deny #2")
				}
				w.server.Migrate(-100, -200)
				synctest.Wait()
				if w.memory.Notes.Chat != -200 {
					t.Fatalf("the notes say %d", w.memory.Notes.Chat)
				}
				err := w.amend(a)
				all := w.server.Messages(-200)
				if waits {
					if !errors.Is(err, approval.ErrRepost) || len(all) != 0 {
						t.Errorf("a card that waits: %v, %d messages", err, len(all))
					}
				} else if !errors.Is(err, approval.ErrGone) || len(all) != 1 || !strings.Contains(all[0].Text, "Denied by Ann") || len(all[0].Buttons()) != 0 {
					t.Errorf("a card that is over: %v, %+v", err, all)
				}
				w.chat = -200
				if b := w.ask(command("make")); w.shown(b).Chat != -200 {
					t.Error("the next card went elsewhere")
				}
			})
		})
	}
}

// TestNobodyIsToldThatAMigrationCouldNotBeKept tells of a supergroup while nothing can be stored:
// nobody wrote anything there that could be answered.
func TestNobodyIsToldThatAMigrationCouldNotBeKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.chat = w.server.Group(-100)
		w.memory.Notes = telegram.Notes{Chat: -100, Person: ann().ID}
		w.start()
		defer w.stop()
		w.memory.Fail(errors.New("disk full"))
		w.server.Migrate(-100, -200)
		time.Sleep(5 * time.Minute)
		if n := len(w.server.Calls("sendMessage")); n != 0 || !strings.Contains(w.log.String(), "has had no effect yet") {
			t.Errorf("%d messages were sent; %s", n, w.log)
		}
		w.memory.Fail(nil)
		time.Sleep(5 * time.Minute)
		if at := w.memory.Kept().Chat; at != -200 {
			t.Errorf("the notes say %d", at)
		}
	})
}

func TestAMigrationThatNobodyToldIsNoticed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.chat = w.server.Group(-100)
		w.config.Chat = -100
		w.start()
		w.stop()
		w.server.Migrate(-100, -200)
		ref, err := w.channel.Post(t.Context(), card(newAsk(t, command("make"))))
		if err != nil || !strings.HasPrefix(ref, "-200:") || !strings.Contains(w.log.String(), "put its new id into the configuration") {
			t.Errorf("%q %v\n%s", ref, err, w.log)
		}
	})
}

// TestAChatThatShutsTheBotOutIsToldAndHeals checks what the bot's health says; the contract
// checks what happens to cards meanwhile.
func TestAChatThatShutsTheBotOutIsToldAndHeals(t *testing.T) {
	for name, c := range map[string]struct{ reason, want string }{
		"Blocked": {"bot was blocked by the user", "shut the bot out"},
		"Kicked":  {"bot was kicked from the group chat", "shut the bot out"},
		"Deleted": {"user is deactivated", "shut the bot out"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				w.server.Block(w.chat, c.reason)
				synctest.Wait()
				if h := w.channel.Health(); !strings.Contains(h.Problem, c.want) {
					t.Errorf("before anything was tried: %+v", h)
				}
				_, err := w.channel.Post(t.Context(), card(newAsk(t, command("make"))))
				if retry, ok := errors.AsType[*approval.RetryError](err); !ok || retry.After < time.Minute {
					t.Errorf("a card: %v", err)
				}
				w.server.Block(w.chat, "")
				synctest.Wait()
				if h := w.channel.Health(); h.Problem != "" {
					t.Errorf("let in again: %+v", h)
				}
			})
		})
	}
}

func TestAChatThatIsNotThereIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.config.Chat = -404
		w.start()
		_, err := w.channel.Post(t.Context(), card(newAsk(t, command("make"))))
		if retry, ok := errors.AsType[*approval.RetryError](err); !ok || !retry.Unsent {
			t.Errorf("got %v", err)
		}
		if h := w.channel.Health(); !strings.Contains(h.Problem, "does not exist") || !strings.Contains(h.Remedy, "METNOS_TELEGRAM_CHAT") {
			t.Errorf("told %+v", h)
		}
	})
}
