package telegram_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/telegram"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
)

func TestAKillBetweenEffectAndOffsetDecidesOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		a := w.ask(command("rm -rf ./build"))
		ctx, kill := context.WithCancel(t.Context())
		w.stop()
		var err error
		if w.channel, err = telegram.New(t.Context(), w.config); err != nil {
			t.Fatal(err)
		}
		w.desk.Then(kill) // The process dies right after the commit.
		id, err := w.server.Press(ann(), w.chat, w.shown(a).ID, "Allow once")
		if err != nil {
			t.Fatal(err)
		}
		offset := w.memory.Notes.Offset
		if err := w.channel.Run(ctx, w.desk); err != nil {
			t.Fatal(err)
		}
		if w.memory.Notes.Offset != offset || w.server.Queued() != 1 || w.desk.Won() != 1 {
			t.Fatalf("after the kill: offset %d, %d queued, %d won", w.memory.Notes.Offset, w.server.Queued(), w.desk.Won())
		}
		w.desk.Then(nil)
		w.start()
		if got := w.answer(id); !strings.Contains(got.Text, "You have already answered this. ✅ Allowed once by Ann") {
			t.Errorf("the press was answered %+v", got)
		}
		if w.desk.Won() != 1 || w.desk.State(a) != approval.Allowed || w.memory.Notes.Offset == offset {
			t.Errorf("after the restart: %d won, %s, offset %d", w.desk.Won(), w.desk.State(a), w.memory.Notes.Offset)
		}
	})
}

// TestAKillWithinABatchRepeatsNoPress presses twice while vaglio is down, and kills the next
// process at the second press: the first is over, and is not heard or answered again.
func TestAKillWithinABatchRepeatsNoPress(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		a, b := w.ask(command("make a")), w.ask(command("make b"))
		ctx, kill := context.WithCancel(t.Context())
		w.stop()
		var err error
		if w.channel, err = telegram.New(t.Context(), w.config); err != nil {
			t.Fatal(err)
		}
		for _, ask := range []*approval.Ask{a, b} {
			if _, err := w.server.Press(ann(), w.chat, w.shown(ask).ID, "Allow once"); err != nil {
				t.Fatal(err)
			}
		}
		n := 0
		w.desk.Then(func() {
			if n++; n == 2 {
				kill()
			}
		})
		if err := w.channel.Run(ctx, w.desk); err != nil {
			t.Fatal(err)
		}
		if w.server.Queued() != 2 || w.desk.Won() != 2 {
			t.Fatalf("after the kill: %d queued, %d won", w.server.Queued(), w.desk.Won())
		}
		w.desk.Then(nil)
		w.start()
		time.Sleep(time.Second)
		if taps := len(w.desk.Taps()); taps != 3 || w.desk.Won() != 2 {
			t.Errorf("%d taps were heard, and %d decided", taps, w.desk.Won())
		}
	})
}

// TestATapInTimeThatIsHeardTooLate presses before the deadline, while vaglio is down until
// after it: nothing is allowed, and the person is told that, and not that nobody answered.
func TestATapInTimeThatIsHeardTooLate(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.ask(command("make"))
		w.stop()
		id, err := w.server.Press(ann(), w.chat, w.shown(a).ID, "Allow once")
		if err != nil {
			t.Fatal(err)
		}
		w.desk.Change(func() { a.Lapse(a.ExpiresAt) })
		w.start()
		if got := w.answer(id); w.desk.State(a) != approval.Expired || !strings.Contains(got.Text, "xpired") || strings.Contains(got.Text, "obody answered") {
			t.Errorf("the press made it %s and was answered %+v", w.desk.State(a), got)
		}
	})
}

func TestATapWhileDownIsHonoured(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		a, b := w.ask(command("make a")), w.ask(command("make b"))
		w.stop()
		if _, err := w.server.Press(ann(), w.chat, w.shown(a).ID, "Allow once"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Second) // too late to be answered, but not to be heard
		w.start()
		if s := w.desk.State(a); s != approval.Allowed {
			t.Errorf("the tap made it %s", s)
		}
		w.stop()
		if _, err := w.server.Press(ann(), w.chat, w.shown(b).ID, "Allow once"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(telegramtest.PressLives)
		w.start()
		if s := w.desk.State(b); s != approval.Pending {
			t.Errorf("a tap that the platform dropped made it %s", s)
		}
		if m := w.last(); !strings.Contains(m.Text, "1 ask still waits: please press again") {
			t.Errorf("nobody was told: %q", m.Text)
		}
		if got := w.press(ann(), b, "Allow once"); got.Text != "Allowed once." {
			t.Errorf("pressed again: %+v", got)
		}
	})
}

func TestTroubleIsToldAndPasses(t *testing.T) {
	for name, c := range map[string]struct {
		begin, end func(*telegramtest.Server)
		want       string
	}{
		"Webhook":   {func(s *telegramtest.Server) { s.SetWebhook("https://x.test") }, func(s *telegramtest.Server) { s.SetWebhook("") }, "webhook"},
		"Revoked":   {func(s *telegramtest.Server) { s.Revoke(true); s.Stop(); s.Start() }, func(s *telegramtest.Server) { s.Revoke(false) }, "refuses the bot token"},
		"Down":      {(*telegramtest.Server).Stop, (*telegramtest.Server).Start, "cannot be reached"},
		"BadProxy":  {fail(telegramtest.Fault{Code: 502, Body: "<html>Bad Gateway</html>"}), (*telegramtest.Server).Heal, "answers with errors"},
		"RateLimit": {fail(telegramtest.Fault{Code: 429, Description: "Too Many Requests: retry after 5", RetryAfter: 5}), (*telegramtest.Server).Heal, "asks for a pause"},
		"Conflict":  {fail(telegramtest.Fault{Code: 409, Description: "Conflict: terminated by other getUpdates request"}), (*telegramtest.Server).Heal, "Another program"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				if h, s := w.channel.Health(), w.channel.Status(); h.Problem != "" || s.Heard.IsZero() || !s.Paired {
					t.Fatalf("at the start: %+v", h)
				}
				a := w.ask(command("make"))
				c.begin(w.server)
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				if h := w.channel.Health(); !strings.Contains(h.Problem, c.want) || h.Remedy == "" || h.Since.IsZero() {
					t.Errorf("in trouble: %+v, want %q", h, c.want)
				}
				if n := len(w.server.Calls("getUpdates")); n > 40 {
					t.Errorf("%d polls in two minutes", n)
				}
				c.end(w.server)
				time.Sleep(6 * time.Minute)
				if h := w.channel.Health(); h.Problem != "" {
					t.Errorf("after it: %+v", h)
				}
				if got := w.press(ann(), a, "Deny"); got.Text != "Denied." {
					t.Errorf("after it a press is answered %+v", got)
				}
			})
		})
	}
}

func fail(f telegramtest.Fault) func(*telegramtest.Server) {
	return func(s *telegramtest.Server) { s.Fail("getUpdates", 1000, f); s.Stop(); s.Start() }
}

func TestRestartedIDsAreHeard(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		w.say(ann(), 0, "/status")
		w.server.RestartIDs(3)
		if m := w.say(ann(), 0, "/help"); !strings.Contains(m.Text, "/pending lists") {
			t.Errorf("after the ids restarted: %q", m.Text)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if w.memory.Notes.Offset != 4 || w.server.Queued() != 0 {
			t.Errorf("offset %d, %d queued", w.memory.Notes.Offset, w.server.Queued())
		}
	})
}

func TestStoreTroubleLosesNoTap(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		a := w.ask(command("make"))
		w.desk.Fail(errors.New("disk full"))
		id, err := w.server.Press(ann(), w.chat, w.shown(a).ID, "Allow once")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		w.desk.Fail(nil)
		time.Sleep(5 * time.Second)
		if got := w.answer(id); got.Text != "Allowed once." {
			t.Errorf("the press was answered %+v", got)
		}
		w.desk.Fail(errors.New("disk full"))
		id, err = w.server.Press(ann(), w.chat, w.shown(a).ID, "Deny")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(6 * time.Second)
		synctest.Wait()
		for _, x := range w.server.Answers() {
			if x.ID == id {
				t.Errorf("answered too early: %+v", x)
			}
		}
		time.Sleep(2 * time.Second)
		if got := w.answer(id); !strings.Contains(got.Text, "could not be saved") {
			t.Errorf("given up, the press is answered %+v", got)
		}
		w.desk.Fail(nil)
		if m := w.say(ann(), 0, "/help"); !strings.Contains(m.Text, "/pending lists") {
			t.Errorf("one update that cannot be kept blocks the rest: %q", m.Text)
		}
	})
}

func TestStrangeUpdatesAreLeftOut(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		w.server.QueueRaw("poll", map[string]any{"id": "1"})
		w.server.QueueRaw("message", map[string]any{"message_id": "not a number"})
		w.server.QueueRaw("message", map[string]any{"message_id": 1, "chat": map[string]any{"id": w.chat}})
		w.server.QueueRaw("callback_query", map[string]any{"id": "q", "from": map[string]any{"id": ann().ID}, "data": "v1:x"})
		if m := w.say(ann(), 0, "/help"); !strings.Contains(m.Text, "/pending lists") {
			t.Errorf("got %q\n%s", m.Text, w.log)
		}
	})
}

func TestEveryCardReachesATrueEnd(t *testing.T) {
	for name, c := range map[string]struct {
		trouble func(w *world, id int)
		gone    bool
		again   bool
		notice  string
	}{
		"Same":    {func(*world, int) {}, false, false, ""},
		"Deleted": {func(w *world, id int) { w.server.Delete(w.chat, id) }, true, false, ""},
		"Frozen":  {func(w *world, id int) { w.server.Freeze(w.chat, id) }, true, false, "can no longer be updated"},
		"Blocked": {func(w *world, _ int) { w.server.Block(w.chat, "bot was blocked by the user") }, false, true, ""},
		"RateLimit": {func(w *world, _ int) {
			w.server.Fail("editMessageText", 1, telegramtest.Fault{Code: 429, Description: "Too Many Requests", RetryAfter: 7})
		}, false, true, ""},
		"Proxy": {func(w *world, _ int) {
			w.server.Fail("editMessageText", 1, telegramtest.Fault{Code: 502, Body: "<html>"})
		}, false, true, ""},
		"Down": {func(w *world, _ int) { w.server.Stop() }, false, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				a := w.ask(command("make"))
				if err := w.amend(a); err != nil {
					t.Fatalf("nothing changed, and Amend says %v", err)
				}
				id := w.shown(a).ID
				w.press(ann(), a, "Deny")
				c.trouble(w, id)
				err := w.amend(a)
				retry, again := errors.AsType[*approval.RetryError](err)
				if errors.Is(err, approval.ErrGone) != c.gone || again != c.again {
					t.Fatalf("Amend says %v", err)
				}
				if name == "RateLimit" {
					if retry.After != 7*time.Second {
						t.Errorf("after %s, want 7 s", retry.After)
					}
					if _, err := w.channel.Post(t.Context(), card(a)); err == nil || len(w.server.Calls("sendMessage")) != 1 {
						t.Error("a chat that asked for a pause was written to")
					}
					time.Sleep(7 * time.Second)
				}
				w.server.Start()
				w.server.Block(w.chat, "")
				if c.again {
					if err := w.amend(a); err != nil {
						t.Fatalf("afterwards Amend says %v", err)
					}
				}
				if c.notice != "" && (!strings.Contains(w.last().Text, c.notice) || !strings.Contains(w.last().Text, "Denied by Ann") || len(w.last().Buttons()) != 0) {
					t.Errorf("the notice: %q", w.last().Text)
				}
			})
		})
	}
}

func TestPairedNeedsAChatAndSomebodyWhoDecides(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		chat      int64
		approvers []int64
		notes     telegram.Notes
		want      bool
	}{
		"Nothing":       {0, nil, telegram.Notes{}, false},
		"ChatAlone":     {-100, nil, telegram.Notes{}, false},
		"ApproverAlone": {0, []int64{1}, telegram.Notes{}, false},
		"Configured":    {-100, []int64{1}, telegram.Notes{}, true},
		"PairedBefore":  {0, nil, telegram.Notes{Chat: 1, Person: 1}, true},
	} {
		ch, err := telegram.New(t.Context(), telegram.Config{
			Token: telegramtest.Token, Memory: &memory{Notes: c.notes}, Chat: c.chat, Approvers: c.approvers,
		})
		if err != nil || ch.Status().Paired != c.want {
			t.Errorf("%s: paired %v %v, want %v", name, ch.Status().Paired, err, c.want)
		}
	}
}

func TestABadTokenIsRefusedUnseen(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"", "nonsense", "123:short", "123456:AAAAAAAAAAAAAAAAAAAAAAAA\n", "123456:%s%s%sAAAAAAAAAAAAAAAAAAAAA"} {
		_, err := telegram.New(t.Context(), telegram.Config{Token: token, Memory: &memory{}})
		if !errors.Is(err, telegram.ErrToken) || token != "" && strings.Contains(err.Error(), token) {
			t.Errorf("%q: %v", token, err)
		}
	}
}
