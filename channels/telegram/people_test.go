package telegram_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/telegram"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
)

// TestOnlyAPersonsOwnWordsCount sends replies to a card that only look as if a listed
// person had written them.
func TestOnlyAPersonsOwnWordsCount(t *testing.T) {
	for name, change := range map[string]func(m map[string]any){
		"AnonymousAdmin": func(m map[string]any) { m["sender_chat"] = map[string]any{"id": -100, "type": "supergroup"} },
		"ChannelPost":    func(m map[string]any) { m["sender_chat"] = map[string]any{"id": -200, "type": "channel"} },
		"Forwarded":      func(m map[string]any) { m["forward_origin"] = map[string]any{"type": "hidden_user"} },
		"ForwardedOld":   func(m map[string]any) { m["forward_date"] = 1 },
		"ThroughABot":    func(m map[string]any) { m["via_bot"] = map[string]any{"id": 9, "is_bot": true} },
		"ABot":           func(m map[string]any) { m["from"] = map[string]any{"id": ann().ID, "is_bot": true} },
		"Nobody":         func(m map[string]any) { delete(m, "from") },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				a := w.ask(command("make"))
				code, _ := w.channel.NewCode()
				before := len(w.server.Messages(w.chat))
				for _, text := range []string{"no", "/start " + code, "/pending"} {
					m := map[string]any{
						"message_id": 900, "from": map[string]any{"id": ann().ID, "first_name": "Ann"}, "text": text,
						"chat":             map[string]any{"id": w.chat, "type": "private"},
						"reply_to_message": map[string]any{"message_id": w.shown(a).ID, "from": map[string]any{"id": telegramtest.BotID}, "chat": map[string]any{"id": w.chat}},
					}
					change(m)
					w.server.QueueRaw("message", m)
				}
				synctest.Wait()
				if s := w.desk.State(a); s != approval.Pending || len(w.server.Messages(w.chat)) != before {
					w.t.Errorf("the call is %s, and the chat holds %d messages, before %d", s, len(w.server.Messages(w.chat)), before)
				}
				if w.say(bob(), 0, "/start "+code); !w.channel.Approves("telegram:4712") {
					w.t.Error("the code was used up")
				}
			})
		})
	}
}

// TestStrangersLeaveRoomForWhoDecides checks that a crowd of strangers, each in a chat of their
// own, does not keep a press from being answered while the platform is slow.
func TestStrangersLeaveRoomForWhoDecides(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.ask(command("make"))
		w.server.Slow(30*time.Second, "sendMessage")
		for i := range int64(150) {
			stranger := telegramtest.User{ID: 9000 + i, FirstName: "Nobody"}
			w.server.Say(stranger, w.server.Private(stranger), "hello")
		}
		synctest.Wait()
		if got := w.press(ann(), a, "Deny"); w.desk.State(a) != approval.Denied || !strings.Contains(got.Text, "Denied") {
			t.Errorf("answered %q, and the call is %s", got.Text, w.desk.State(a))
		}
	})
}

func TestAnEditedMessageDecidesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.ask(command("make"))
		w.server.QueueRaw("edited_message", map[string]any{
			"message_id": 900, "from": map[string]any{"id": ann().ID}, "text": "no", "chat": map[string]any{"id": w.chat, "type": "private"},
			"reply_to_message": map[string]any{"message_id": w.shown(a).ID, "from": map[string]any{"id": telegramtest.BotID}, "chat": map[string]any{"id": w.chat}},
		})
		synctest.Wait()
		if s := w.desk.State(a); s != approval.Pending {
			w.t.Errorf("the call is %s", s)
		}
	})
}

func TestABotPressesInVain(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.ask(command("make"))
		m := w.shown(a)
		got := w.answer(w.server.PressData(telegramtest.User{ID: ann().ID, IsBot: true}, w.chat, m.ID, m.Buttons()[0].Data))
		if !strings.Contains(got.Text, "not among those") || w.desk.State(a) != approval.Pending {
			w.t.Errorf("told %q, and the call is %s", got.Text, w.desk.State(a))
		}
	})
}

func TestAGroupTellsAStrangerAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.chat = w.server.Group(-100)
		w.config.Chat, w.config.Approvers = -100, []int64{ann().ID, bob().ID}
		w.start()
		a := w.ask(command("make"))
		eve := telegramtest.User{ID: 666, FirstName: "Eve"}
		before := len(w.server.Messages(w.chat))
		for _, text := range []string{"/pending", "/status", "hello", "/start WRONGCODE"} {
			w.server.Say(eve, w.chat, text)
		}
		w.server.Reply(eve, w.chat, w.shown(a).ID, "no")
		synctest.Wait()
		if n := len(w.server.Messages(w.chat)); n != before+5 {
			t.Errorf("the group read %d answers to a stranger", n-before-5)
		}
		if got := w.press(eve, a, "Deny"); !got.Alert || got.User != eve.ID || !strings.Contains(got.Text, "not among those") {
			t.Errorf("a stranger who pressed is told %+v", got)
		}
		if w.desk.State(a) != approval.Pending || !strings.Contains(w.log.String(), "person=666") {
			t.Errorf("a stranger made it %s\n%s", w.desk.State(a), w.log)
		}
		if got := w.press(ann(), a, "Deny"); got.Text != "Denied." {
			t.Errorf("Ann is told %+v", got)
		}
		if got := w.press(bob(), a, "Allow once"); !strings.Contains(got.Text, "Denied by Ann (telegram:4711)") {
			t.Errorf("Bob, who came second, is told %+v", got)
		}
	})
}

func TestStrangersAreHeardALittle(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		code, until := w.channel.NewCode()
		if d := time.Until(until); d != telegram.CodeLives {
			t.Errorf("the code lives %s", d)
		}
		eve := telegramtest.User{ID: 666, FirstName: "Eve"}
		home := w.server.Private(eve)
		for i := range 20 {
			w.server.Say(eve, home, fmt.Sprintf("/start GUESS%d", i))
		}
		w.server.Say(eve, home, "/start "+code)
		synctest.Wait()
		answers := 0
		for _, m := range w.server.Messages(home) {
			if m.From.IsBot {
				answers++
			}
		}
		if answers != 5 || w.channel.Approves("telegram:666") {
			t.Errorf("who guesses got %d answers, and may decide: %v", answers, w.channel.Approves("telegram:666"))
		}
		// Somebody else's guesses do not count against the owner.
		fresh := telegramtest.User{ID: 667, FirstName: "Cy"}
		own := w.server.Private(fresh)
		w.server.Say(fresh, own, "/start "+code)
		synctest.Wait()
		if !w.channel.Approves("telegram:667") || w.channel.Approves("telegram:4711") {
			t.Error("the right code did not put the new person in the old one's place")
		}
		time.Sleep(telegram.CodeLives)
		w.server.Say(eve, home, "hello")
		synctest.Wait()
		if all := w.server.Messages(home); !strings.Contains(all[len(all)-1].Text, "works for somebody else") {
			t.Error("after a while a stranger is not heard again")
		}
	})
}

func TestPairingBesideAConfiguredChatSaysWhereCardsGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.config.Chat = w.server.Group(-100)
		w.chat = w.server.Private(ann())
		w.start()
		code, _ := w.channel.NewCode()
		if m := w.say(ann(), 0, "/start "+code); !strings.Contains(m.Text, "another chat") {
			t.Errorf("told %q", m.Text)
		}
		if a := w.ask(command("make")); w.shown(a).Chat != -100 {
			t.Error("the card went elsewhere")
		}
	})
}

func TestAReplyOpensForWhoAskedForIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.chat = w.server.Group(-100)
		w.config.Chat, w.config.Approvers = -100, []int64{ann().ID, bob().ID}
		w.start()
		a := w.ask(command("make"))
		bobby := bob()
		bobby.FirstName = "Bob <b>\u202e"
		w.press(bobby, a, "Deny with words…")
		prompt := w.last()
		if !prompt.Force || !prompt.Selective || !strings.Contains(prompt.Text, "\nBob <b>⟨U+202E") {
			t.Errorf("the prompt: %+v", prompt)
		}
		for _, e := range prompt.Entities {
			if e.Type == "text_link" && e.URL != "tg://user?id=4712" {
				t.Errorf("the prompt mentions %q", e.URL)
			}
		}
		w.say(bob(), prompt.ID, "use staging")
		if s := w.desk.State(a); s != approval.Denied {
			t.Errorf("after the reply the call is %s", s)
		}
	})
}

func TestAReplyBesideTheCardCounts(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.ask(command("echo " + strings.Repeat("long ", 2000)))
		file := w.shown(a).ReplyTo
		if m := w.say(ann(), file, "too long"); !strings.Contains(m.Text, "Denied.") || w.desk.State(a) != approval.Denied {
			w.t.Errorf("a reply to the file: %q, %s", m.Text, w.desk.State(a))
		}
		b := w.ask(command("make"))
		if err := w.channel.Remind(w.t.Context(), b.Cards[0].Ref, card(b)); err != nil {
			w.t.Fatal(err)
		}
		if m := w.say(ann(), w.last().ID, "no"); !strings.Contains(m.Text, "Denied.") || w.desk.State(b) != approval.Denied {
			w.t.Errorf("a reply to the reminder: %q, %s", m.Text, w.desk.State(b))
		}
	})
}

func TestACardInTheOldChatStillCounts(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.ask(command("make"))
		code, _ := w.channel.NewCode()
		other := w.server.Group(-55)
		w.server.Say(ann(), other, "/start "+code)
		synctest.Wait()
		if w.memory.Notes.Chat != other {
			w.t.Fatalf("cards go to %d", w.memory.Notes.Chat)
		}
		if got := w.press(ann(), a, "Deny"); got.Text != "Denied." {
			w.t.Errorf("a press in the old chat: %+v", got)
		}
	})
}
