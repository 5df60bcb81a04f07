package telegram_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/telegram"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
	"github.com/metnos/vaglio/vaglio"
)

func TestFromPairingToTheFirstTap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.chat = w.server.Private(ann())
		w.start()
		a := newAsk(t, command("rm -rf ./build"))
		_, err := w.channel.Post(t.Context(), card(a))
		if retry, ok := errors.AsType[*approval.RetryError](err); !ok || retry.After == 0 {
			t.Fatalf("without a chat Post says %v", err)
		}
		code, _ := w.channel.NewCode()
		if m := w.say(ann(), 0, "/start WRONG"); !strings.Contains(m.Text, "wrong or has expired") || w.channel.Status().Paired {
			t.Errorf("a wrong code: %q", m.Text)
		}
		if m := w.say(ann(), 0, "/start "+strings.ToLower(code)); !strings.Contains(m.Text, "Paired") {
			t.Fatalf("the right code: %q\n%s", m.Text, w.log)
		}
		if !w.channel.Approves("telegram:4711") || w.channel.Approves("telegram:04711") || w.channel.Approves("4711") || w.channel.Approves("telegram:0") {
			t.Error("the right to decide does not follow the pairing")
		}
		w.server.Private(telegramtest.User{ID: 666})
		w.server.Say(telegramtest.User{ID: 666, FirstName: "Eve"}, 666, "/start "+code)
		synctest.Wait()
		if w.channel.Approves("telegram:666") {
			t.Error("a code was good twice")
		}
		a = w.ask(command("rm -rf ./build"))
		m := w.shown(a)
		if first, _, _ := strings.Cut(m.Text, "\n"); first != "🔸 Runs rm -rf ./build" {
			t.Errorf("a locked phone shows %q", first)
		}
		if d := cmp.Diff([]string{"Allow once", "Deny", "Deny with words…", "Ask…", "Why?"}, labels(m)); d != "" {
			t.Error(d)
		}
		if got := w.press(ann(), a, "Allow once"); got.Text != "Allowed once." || got.Alert {
			t.Errorf("the tap was answered %+v", got)
		}
		if s := w.desk.State(a); s != approval.Allowed {
			t.Errorf("the call is %s", s)
		}
		if err := w.amend(a); err != nil {
			t.Fatal(err)
		}
		if m := w.shown(a); len(m.Buttons()) != 0 || !strings.Contains(m.Text, "Allowed once by Ann (telegram:4711) at") {
			t.Errorf("after the decision the card is %q %v", m.Text, labels(m))
		}
		for code, want := range map[string]string{"": "What waits for you", "en": "What waits for you", "it": "Che cosa ti aspetta"} {
			if menu := w.server.Commands(code); len(menu) != 9 || menu[0].Description != want {
				t.Errorf("in language %q the menu is %v", code, menu)
			}
		}
	})
}

func TestPairingCodesAgeAndAreReplaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.chat = w.server.Private(ann())
		w.start()
		old, _ := w.channel.NewCode()
		code, _ := w.channel.NewCode()
		w.say(ann(), 0, "/start "+old)
		if w.channel.Status().Paired || old == code || len(code) != 12 {
			t.Errorf("a code that was replaced paired, or %q has not 60 random bits", code)
		}
		time.Sleep(telegram.CodeLives)
		synctest.Wait()
		w.say(ann(), 0, "/start "+code)
		if w.channel.Status().Paired {
			t.Error("a code paired after its time")
		}
	})
}

// TestAPairingThatCannotBeKept checks that a pairing takes effect once it is on disk, and
// that the code stays valid until then.
func TestAPairingThatCannotBeKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.chat = w.server.Private(ann())
		w.start()
		code, _ := w.channel.NewCode()
		w.memory.Fail(errors.New("disk full"))
		w.server.Say(ann(), w.chat, "/start "+code)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if w.channel.Status().Paired || w.channel.Approves("telegram:4711") || w.memory.Kept().Chat != 0 {
			t.Errorf("paired without a note: %+v", w.channel.Status())
		}
		for _, m := range w.server.Messages(w.chat) {
			if strings.Contains(m.Text, "Paired") {
				t.Errorf("told before it is kept: %q", m.Text)
			}
		}
		w.memory.Fail(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		if !w.channel.Status().Paired || !w.channel.Approves("telegram:4711") || w.memory.Kept().Chat != w.chat {
			t.Errorf("after the trouble: %+v\n%s", w.channel.Status(), w.log)
		}
	})
}

func TestPressesAreAnsweredTruthfully(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		a := w.ask(command("rm -rf ./build"))
		eve := telegramtest.User{ID: 666, FirstName: "Eve"}
		if got := w.press(eve, a, "Allow once"); !got.Alert || !strings.Contains(got.Text, "not among those") || got.User != eve.ID {
			t.Errorf("a stranger is told %+v", got)
		}
		m := w.shown(a)
		if got := w.answer(w.server.PressData(ann(), w.chat, m.ID, "v1:NOSUCHTOKEN")); !strings.Contains(got.Text, "no longer works") {
			t.Errorf("an unknown token: %+v", got)
		}
		if got := w.answer(w.server.PressData(ann(), w.chat, m.ID, "allow")); !strings.Contains(got.Text, "no longer works") {
			t.Errorf("data of no kind: %+v", got)
		}
		other := w.server.Group(-77)
		if got := w.answer(w.server.PressData(ann(), other, 5, m.Buttons()[0].Data)); !strings.Contains(got.Text, "another chat") {
			t.Errorf("another chat: %+v", got)
		}
		if len(w.desk.Taps()) != 1 || w.desk.State(a) != approval.Pending {
			t.Errorf("the ask is %s after %d taps", w.desk.State(a), len(w.desk.Taps()))
		}
		w.desk.Fail(approval.ErrNoGrant)
		if got := w.press(ann(), a, "Allow once"); !got.Alert || !strings.Contains(got.Text, "cannot be granted") {
			t.Errorf("what is refused is told %+v", got)
		}
		w.desk.Fail(nil)
		if got := w.press(bob(), a, "Deny"); got.Text != "Denied." {
			t.Errorf("Bob is told %+v", got)
		}
		if got := w.press(ann(), a, "Allow once"); !got.Alert || !strings.Contains(got.Text, "Denied by Bob (telegram:4712) at") || !strings.Contains(got.Text, "changed nothing") {
			t.Errorf("who came second is told %+v", got)
		}
		if got := w.press(bob(), a, "Deny"); !strings.Contains(got.Text, "You have already answered this") {
			t.Errorf("who presses twice is told %+v", got)
		}
		b := w.ask(command("make"))
		time.Sleep(31 * time.Minute)
		if got := w.press(ann(), b, "Allow once"); !strings.Contains(got.Text, "It expired at") || w.desk.State(b) != approval.Expired {
			t.Errorf("after the deadline: %+v", got)
		}
	})
}

func TestWordsDenyAndNeverGrant(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		a := w.ask(command("rm -rf ./build"))
		if m := w.say(ann(), w.shown(a).ID, "yes, allow it"); !strings.Contains(m.Text, "Denied. Your words go") {
			t.Errorf("a reply is answered %q", m.Text)
		}
		if p := a.Approvals[0]; p.State != approval.Denied || p.Decision.Words != "yes, allow it" {
			t.Errorf("after a reply: %s %+v", p.State, p.Decision)
		}
		b := w.ask(command("make deploy"))
		w.press(ann(), b, "Deny with words…")
		prompt := w.last()
		if !prompt.Force || !strings.Contains(prompt.Text, string(b.ID)) || prompt.ReplyTo != w.shown(b).ID {
			t.Fatalf("Deny with words… opens %+v", prompt)
		}
		w.stop()
		w.start() // The prompt still means its ask after a restart.
		if m := w.say(ann(), prompt.ID, strings.Repeat("x", approval.MaxWords+1)); !strings.Contains(m.Text, "Nothing was decided: the words have") {
			t.Errorf("too many words: %q", m.Text)
		}
		if m := w.say(ann(), prompt.ID, ""); !strings.Contains(m.Text, "Only text") {
			t.Errorf("a picture: %q", m.Text)
		}
		w.say(ann(), prompt.ID, "use staging")
		if p := b.Approvals[0]; p.State != approval.Denied || p.Decision.Words != "use staging" {
			t.Errorf("after the prompt: %s %+v", p.State, p.Decision)
		}
		if m := w.say(ann(), prompt.ID, "and more"); !strings.Contains(m.Text, "You have already answered this") {
			t.Errorf("words for what is over: %q", m.Text)
		}
		c := w.ask(command("make"))
		for _, words := range []string{"yes", "allow", "/allow", "ok go ahead"} {
			w.say(ann(), 0, words)
		}
		if m := w.say(telegramtest.User{ID: 666}, w.shown(c).ID, "no"); !strings.Contains(m.Text, "works for somebody else") {
			t.Errorf("a stranger's words: %q", m.Text)
		}
		if s := w.desk.State(c); s != approval.Pending {
			t.Errorf("words that answer nothing made it %s", s)
		}
	})
}

func TestCommands(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		if m := w.say(ann(), 0, "/pending"); m.Text != "Nothing waits for you." {
			t.Errorf("nothing waits: %q", m.Text)
		}
		var last *approval.Ask
		for i := range 20 {
			last = w.ask(command(fmt.Sprintf("make target-%d", i)))
		}
		if m := w.say(ann(), 0, "/pending@"+telegramtest.BotName); !strings.Contains(m.Text, "20 asks wait") || !strings.Contains(m.Text, "make target-14") || !strings.Contains(m.Text, "and 5 more") {
			t.Errorf("/pending: %q", m.Text)
		}
		if m := w.say(ann(), 0, "/why "+string(last.ID[:6])); !strings.Contains(m.Text, "effects: score 0.2,") || !strings.Contains(m.Text, "removes ./build") {
			t.Errorf("/why: %q", m.Text)
		}
		w.press(ann(), last, "Why?")
		if m := w.last(); !strings.Contains(m.Text, "removes ./build") || m.ReplyTo != w.shown(last).ID {
			t.Errorf("Why?: %+v", m)
		}
		for line, want := range map[string]string{
			"/why": "Send /why and the id", "/why zzzz": "No ask has this id", "/status": "2 people may decide: 4711, 4712",
			"/allow 52px": "Only the buttons of a card allow", "/pendng": "Did you mean /pending?", "/stopp": "Did you mean /stop?", "/xyzzy": "/pending lists what waits",
			"/help": "/pending lists what waits", "/start": "/pending lists", "hello": "reply to a card", "/start x": "wrong or has expired",
		} {
			if m := w.say(bob(), 0, line); !strings.Contains(m.Text, want) && line != "/start x" {
				t.Errorf("%s: %q, want %q", line, m.Text, want)
			}
		}
		before := w.last().ID
		if m := w.say(ann(), 0, "/pending@another_bot"); m.From.IsBot && m.ID > before+1 && !strings.Contains(m.Text, "reply to a card") {
			t.Errorf("a command for another bot: %q", m.Text)
		}
	})
}

func TestStatusTellsAll(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		w.ask(command("make"))
		m := w.say(ann(), 0, "/status")
		for _, want := range []string{"chat 4711", "1 ask waits", "last answered at", "first one expires at", "2 people may decide: 4711, 4712", "I poll Telegram"} {
			if !strings.Contains(m.Text, want) {
				t.Errorf("/status lacks %q: %q", want, m.Text)
			}
		}
		if strings.Contains(m.Text, "wrong") {
			t.Errorf("/status tells of trouble: %q", m.Text)
		}
		w.config.Topic = 7 // In a chat without topics.
		w.restart()
		w.ask(command("make b"))
		if m := w.say(ann(), 0, "/status"); !strings.Contains(m.Text, "Something is wrong since") || !strings.Contains(m.Text, "METNOS_TELEGRAM_TOPIC") {
			t.Errorf("/status in trouble: %q", m.Text)
		}
		w.say(ann(), 0, "/lang it")
		w.ask(command("make c"))
		if h := w.channel.Health(); !strings.Contains(h.Problem, "forum topic") {
			t.Errorf("the operator is told %q", h.Problem)
		}
		if m := w.say(ann(), 0, "/status"); !strings.Contains(m.Text, "L’argomento del forum") || !strings.Contains(m.Text, "Correggi METNOS_TELEGRAM_TOPIC") {
			t.Errorf("/status in trouble, in Italian: %q", m.Text)
		}
	})
}

func TestALongCallIsAttachedWhole(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		line := "echo " + strings.Repeat("0123456789 ", 1000) + "THE END"
		a := w.ask(command(line))
		all := w.server.Messages(w.chat)
		file, m := all[0].File, all[1]
		if len(all) != 2 || file == nil || !strings.Contains(string(file.Data), line) {
			t.Fatalf("the file does not hold the call: %+v", all)
		}
		hash := sha256.Sum256(file.Data)
		if !strings.Contains(all[0].Text, hex.EncodeToString(hash[:])) {
			t.Errorf("the hash is not the file's: %q", all[0].Text)
		}
		if m.ReplyTo != all[0].ID || labels(m)[0] != "Allow once" || !strings.Contains(m.Text, "more characters") || strings.Contains(m.Text, "THE END") {
			t.Errorf("the card: %q %v", m.Text, labels(m))
		}
		w.press(ann(), a, "Deny")
		if err := w.amend(a); err != nil {
			t.Fatal(err)
		}
		if m := w.shown(a); len(m.Buttons()) != 0 || !strings.Contains(m.Text, "Denied by Ann") {
			t.Errorf("the final card: %q", m.Text)
		}
	})
}

func TestTheFileComesFirstAndOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		c := card(newAsk(t, command(strings.Repeat("long ", 2000))))
		w.server.Fail("sendDocument", 1, telegramtest.Fault{Code: 502, Body: "<html>"})
		if _, err := w.channel.Post(t.Context(), c); err == nil || len(w.server.Messages(w.chat)) != 0 {
			t.Fatalf("a card without its file was shown: %v", err)
		}
		w.server.Fail("sendMessage", 1, telegramtest.Fault{Code: 500, Description: "Internal Server Error"})
		for try := range 2 {
			if _, err := w.channel.Post(t.Context(), c); (err == nil) != (try == 1) {
				t.Fatalf("try %d: %v", try, err)
			}
		}
		if all := w.server.Messages(w.chat); len(all) != 2 || all[0].File == nil || all[1].File != nil {
			t.Errorf("the chat holds %+v", all)
		}
	})
}

func TestAPlanIsAnsweredOneByOneOrAtOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		a := w.ask(command("make"), command("make test"), command("make deploy"))
		want := []string{
			"Allow all 3 once", "Deny all 3", "Allow #1 once", "Deny #1", "Allow #2 once", "Deny #2", "Allow #3 once", "Deny #3", "Deny with words…", "Ask…", "Why?",
		}
		if d := cmp.Diff(want, labels(w.shown(a))); d != "" {
			t.Error(d)
		}
		w.press(ann(), a, "Deny #3")
		if err := w.amend(a); err != nil {
			t.Fatal(err)
		}
		m := w.shown(a)
		if d := cmp.Diff([]string{"Allow all 2 once", "Deny all 2", "Allow #1 once", "Deny #1", "Allow #2 once", "Deny #2", "Deny with words…", "Ask…", "Why?"}, labels(m)); d != "" {
			t.Error(d)
		}
		if !strings.Contains(m.Text, "2 of 3 calls still wait") || !strings.Contains(m.Text, "Denied by Ann") {
			t.Errorf("half answered: %q", m.Text)
		}
		w.press(ann(), a, "Allow all 2 once")
		for i, s := range []approval.State{approval.Allowed, approval.Allowed, approval.Denied} {
			if a.Approvals[i].State != s {
				t.Errorf("call %d is %s, want %s", i+1, a.Approvals[i].State, s)
			}
		}
	})
}

func TestTheGreatestPlanFits(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		var calls []vaglio.Proposal
		for i := range approval.MaxCalls {
			calls = append(calls, command(fmt.Sprintf("make step-%d", i)))
		}
		a := w.ask(calls...)
		m := w.shown(a)
		if d := cmp.Diff([]string{"Allow all 100 once", "Deny all 100", "Deny with words…", "Ask…", "Why?"}, labels(m)); d != "" {
			t.Error(d)
		}
		file := w.server.Messages(w.chat)[0].File
		if file == nil || !strings.Contains(string(file.Data), "make step-99") {
			t.Error("the plan is not attached whole")
		}
		w.press(ann(), a, "Allow all 100 once")
		if err := w.amend(a); err != nil {
			t.Fatal(err)
		}
		if m := w.shown(a); len(m.Buttons()) != 0 || !strings.Contains(m.Text, "Allowed once") {
			t.Errorf("the final card: %q", m.Text)
		}
	})
}
