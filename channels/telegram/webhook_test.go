package telegram_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/telegram"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
)

const hookAddress = "https://vaglio.test/telegram"

// lane is the route from the platform to the bot's handler.
type lane struct {
	w *world
	// broken makes every delivery fail on the way.
	broken atomic.Bool
	// deaf discards the answer after the bot has given it.
	deaf  atomic.Bool
	count atomic.Int64
	// slow is how long a delivery takes to arrive.
	slow atomic.Int64
}

func (l *lane) RoundTrip(r *http.Request) (*http.Response, error) {
	if l.broken.Load() {
		return nil, errors.New("no route to host")
	}
	l.count.Add(1)
	time.Sleep(time.Duration(l.slow.Load()))
	rec := httptest.NewRecorder()
	l.w.handler().ServeHTTP(rec, r)
	if l.deaf.Swap(false) {
		return nil, errors.New("connection reset")
	}
	return rec.Result(), nil
}

// handler returns the handler of the running process.
func (w *world) handler() (h http.Handler) {
	w.desk.Change(func() { h = w.channel.Webhook() })
	return h
}

// inHookWorld is inWorld with a bot that gets its updates by webhook.
func inHookWorld(t *testing.T, test func(w *world, l *lane)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.chat = w.server.Private(ann())
		w.memory.Notes = telegram.Notes{Chat: w.chat, Person: ann().ID}
		w.config.Webhook = hookAddress
		w.start()
		l := &lane{w: w}
		ctx, cancel := context.WithCancel(t.Context())
		var delivering sync.WaitGroup
		delivering.Go(func() { w.server.Deliver(ctx, l) })
		t.Cleanup(func() { cancel(); delivering.Wait() })
		synctest.Wait()
		test(w, l)
	})
}

func TestAWebhookBringsTapsWordsAndCommands(t *testing.T) {
	inHookWorld(t, func(w *world, _ *lane) {
		t := w.t
		set := w.server.Calls("setWebhook")
		if len(set) != 1 || set[0].Params["url"] != hookAddress || !strings.Contains(set[0].Params["allowed_updates"], "callback_query") || len(set[0].Params["secret_token"]) < 32 {
			t.Fatalf("setWebhook: %+v", set)
		}
		a := w.ask(command("make"))
		if got := w.press(ann(), a, "Allow once"); got.Text != "Allowed once." {
			t.Errorf("the tap was answered %+v", got)
		}
		b := w.ask(command("make b"))
		if m := w.say(ann(), w.shown(b).ID, "use staging"); !strings.Contains(m.Text, "Denied. Your words") {
			t.Errorf("words: %q", m.Text)
		}
		if m := w.say(ann(), 0, "/help"); !strings.Contains(m.Text, "/pending") {
			t.Errorf("/help: %q", m.Text)
		}
		if n := len(w.server.Calls("getUpdates")); n != 0 || w.server.Queued() != 0 || strings.Contains(w.log.String(), "no effect") {
			t.Errorf("%d polls, %d updates left: %s", n, w.server.Queued(), w.log)
		}
	})
}

func TestAWebhookUpdateActsOnce(t *testing.T) {
	inHookWorld(t, func(w *world, l *lane) {
		t := w.t
		a := w.ask(command("make"))
		l.deaf.Store(true) // The answer to the delivery is lost, so it comes again.
		if got := w.press(ann(), a, "Allow once"); got.Text != "Allowed once." {
			t.Errorf("the tap was answered %+v", got)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := l.count.Load(); n != 2 || len(w.server.Answers()) != 1 || len(w.desk.Taps()) != 1 || w.server.Queued() != 0 {
			t.Errorf("%d deliveries, %d answers, %d taps, %d left", n, len(w.server.Answers()), len(w.desk.Taps()), w.server.Queued())
		}
		// The next process knows it too.
		w.stop()
		w.start()
		l.deaf.Store(true)
		w.server.Say(ann(), w.chat, "/status")
		time.Sleep(500 * time.Millisecond)
		w.stop()
		w.start()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		answers := 0
		for _, m := range w.server.Messages(w.chat) {
			if strings.HasPrefix(m.Text, "Cards go to chat") {
				answers++
			}
		}
		if answers != 1 {
			t.Errorf("a command was answered %d times", answers)
		}
	})
}

func TestAWebhookSaysYesOnlyAfterTheCommit(t *testing.T) {
	inHookWorld(t, func(w *world, _ *lane) {
		t := w.t
		a := w.ask(command("make"))
		w.desk.Fail(errors.New("disk full"))
		id, err := w.server.Press(ann(), w.chat, w.shown(a).ID, "Allow once")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		if w.server.Queued() != 1 || !strings.Contains(w.log.String(), "a delivery has had no effect") {
			t.Fatalf("a delivery without effect was taken, or is not logged: %s", w.log)
		}
		w.desk.Fail(nil)
		time.Sleep(5 * time.Second)
		if got := w.answer(id); got.Text != "Allowed once." || w.desk.State(a) != approval.Allowed {
			t.Errorf("after the trouble: %+v, %s", got, w.desk.State(a))
		}
		// A bot that is not listening accepts nothing.
		b := w.ask(command("make b"))
		w.stop()
		if _, err := w.server.Press(ann(), w.chat, w.shown(b).ID, "Deny"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(40 * time.Second)
		if w.server.Queued() != 1 || w.desk.State(b) != approval.Pending {
			t.Errorf("%d queued, %s", w.server.Queued(), w.desk.State(b))
		}
		w.start()
		time.Sleep(80 * time.Second)
		synctest.Wait()
		if w.desk.State(b) != approval.Denied {
			t.Errorf("a press while we were down made it %s", w.desk.State(b))
		}
	})
}

func TestAWebhookRefusesWhatIsNotThePlatforms(t *testing.T) {
	inHookWorld(t, func(w *world, _ *lane) {
		t := w.t
		a := w.ask(command("make"))
		secret := w.server.Calls("setWebhook")[0].Params["secret_token"]
		press := `{"update_id":7777,"callback_query":{"id":"x","from":{"id":4711},"data":"` + w.shown(a).Buttons()[0].Data + `","message":{"message_id":11,"chat":{"id":4711}}}}`
		for name, c := range map[string]struct {
			method, secret, kind, body string
			want                       int
		}{
			"Get":         {"GET", secret, "application/json", "", 405},
			"Put":         {"PUT", secret, "application/json", press, 405},
			"NoSecret":    {"POST", "", "application/json", press, 401},
			"WrongSecret": {"POST", secret[:len(secret)-1], "application/json", press, 401},
			"Longer":      {"POST", secret + "x", "application/json", press, 401},
			"Token":       {"POST", telegramtest.Token, "application/json", press, 401},
			"Form":        {"POST", secret, "application/x-www-form-urlencoded", "a=b", 415},
			"NoKind":      {"POST", secret, "", press, 415},
			"NoJSON":      {"POST", secret, "application/json", "{", 400},
			"TwoDocs":     {"POST", secret, "application/json", "{} {}", 400},
			"Large":       {"POST", secret, "application/json", `{"a":"` + strings.Repeat("x", 1<<20) + `"}`, 413},
			"TooLarge":    {"POST", secret, "application/json", `{"message":{}}` + strings.Repeat(" ", 256<<10-13), 413},
			"NotTooLarge": {"POST", secret, "application/json", `{"message":{}}` + strings.Repeat(" ", 256<<10-14), 503},
			"NoID":        {"POST", secret, "application/json", `{"message":{}}`, 503},
		} {
			r := httptest.NewRequestWithContext(t.Context(), c.method, hookAddress, strings.NewReader(c.body))
			r.Header.Set("X-Telegram-Bot-Api-Secret-Token", c.secret)
			if c.kind != "" {
				r.Header.Set("Content-Type", c.kind)
			}
			rec := httptest.NewRecorder()
			w.handler().ServeHTTP(rec, r)
			if rec.Code != c.want || rec.Body.Len() != 0 {
				t.Errorf("%s: %d %q, want %d", name, rec.Code, rec.Body, c.want)
			}
		}
		if len(w.desk.Taps()) != 0 {
			t.Errorf("%d taps came through", len(w.desk.Taps()))
		}
		// The largest update that the platform makes is accepted.
		wide := strings.Repeat(`😀`, 4096)
		r := httptest.NewRequestWithContext(t.Context(), "POST", hookAddress, strings.NewReader(
			`{"update_id":7778,"message":{"message_id":5,"from":{"id":4711},"chat":{"id":4711,"type":"private"},"text":"`+wide+`","reply_to_message":{"message_id":4,"chat":{"id":4711},"text":"`+wide+`"}}}`))
		r.Header.Set("X-Telegram-Bot-Api-Secret-Token", secret)
		r.Header.Set("Content-Type", "application/json; charset=utf-8")
		rec := httptest.NewRecorder()
		if w.handler().ServeHTTP(rec, r); rec.Code != 200 {
			t.Errorf("the greatest update: %d", rec.Code)
		}
	})
}

func TestABotThatEndedLetsNoDeliveryWait(t *testing.T) {
	inHookWorld(t, func(w *world, _ *lane) {
		secret := w.server.Calls("setWebhook")[0].Params["secret_token"]
		w.stop()
		r := httptest.NewRequestWithContext(w.t.Context(), "POST", hookAddress, strings.NewReader(`{"update_id":9}`))
		r.Header.Set("X-Telegram-Bot-Api-Secret-Token", secret)
		r.Header.Set("Content-Type", "application/json")
		rec, began := httptest.NewRecorder(), time.Now()
		if w.handler().ServeHTTP(rec, r); rec.Code != 503 || time.Since(began) > 0 {
			w.t.Errorf("%d after %s", rec.Code, time.Since(began))
		}
	})
}

// TestABotThatIsBusyLetsADeliveryWait checks that a delivery that nobody accepts is sent
// back before the platform gives it up.
func TestABotThatIsBusyLetsADeliveryWait(t *testing.T) {
	inHookWorld(t, func(w *world, _ *lane) {
		idle, err := telegram.New(w.t.Context(), w.config)
		if err != nil {
			w.t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(w.t.Context(), "POST", hookAddress, strings.NewReader(`{"update_id":9}`))
		r.Header.Set("X-Telegram-Bot-Api-Secret-Token", w.server.Calls("setWebhook")[0].Params["secret_token"])
		r.Header.Set("Content-Type", "application/json")
		rec, began := httptest.NewRecorder(), time.Now()
		if idle.Webhook().ServeHTTP(rec, r); rec.Code != 503 || time.Since(began) != 25*time.Second {
			w.t.Errorf("%d after %s", rec.Code, time.Since(began))
		}
	})
}

func TestWithoutAWebhookNothingIsTaken(t *testing.T) {
	inWorld(t, func(w *world) {
		r := httptest.NewRequestWithContext(w.t.Context(), "POST", hookAddress, strings.NewReader(`{"update_id":1}`))
		r.Header.Set("Content-Type", "application/json")
		// Without an address there is no secret, not even one that could be computed.
		m := hmac.New(sha256.New, []byte(telegramtest.Token))
		m.Write([]byte("webhook\n"))
		r.Header.Set("X-Telegram-Bot-Api-Secret-Token", base64.RawURLEncoding.EncodeToString(m.Sum(nil)))
		rec := httptest.NewRecorder()
		if w.channel.Webhook().ServeHTTP(rec, r); rec.Code != 401 {
			w.t.Errorf("got %d", rec.Code)
		}
	})
}

func TestFromPollingToAWebhookAndBack(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		a, b, c := w.ask(command("make a")), w.ask(command("make b")), w.ask(command("make c"))
		w.press(ann(), a, "Deny")
		w.stop()
		w.config.Webhook = hookAddress
		w.start()
		ctx, cancel := context.WithCancel(t.Context())
		var delivering sync.WaitGroup
		delivering.Go(func() { w.server.Deliver(ctx, &lane{w: w}) })
		if got := w.press(ann(), b, "Deny"); got.Text != "Denied." {
			t.Errorf("by webhook: %+v", got)
		}
		cancel()
		delivering.Wait()
		// What waits for the webhook is not lost on the way back.
		id, err := w.server.Press(ann(), w.chat, w.shown(c).ID, "Deny")
		if err != nil {
			t.Fatal(err)
		}
		w.stop()
		w.config.Webhook = ""
		w.start()
		if got := w.answer(id); got.Text != "Denied." {
			t.Errorf("polling again: %+v", got)
		}
		if h := w.channel.Health(); h.Problem != "" || len(w.server.Calls("deleteWebhook")) != 1 {
			t.Errorf("after the way back: %+v, %d deletions", h, len(w.server.Calls("deleteWebhook")))
		}
		// A webhook that somebody else set is theirs.
		w.stop()
		w.server.SetWebhook("https://other.test")
		w.start()
		if h := w.channel.Health(); !strings.Contains(h.Problem, "webhook that is not ours") || len(w.server.Calls("deleteWebhook")) != 1 {
			t.Errorf("with somebody else's: %+v", h)
		}
	})
}

func TestWebhookTroubleIsToldAndPasses(t *testing.T) {
	for name, c := range map[string]struct {
		begin, end func(w *world, l *lane)
		want       string
	}{
		"Unreached": {
			func(w *world, l *lane) { l.broken.Store(true); w.server.Say(ann(), w.chat, "/status") },
			func(_ *world, l *lane) { l.broken.Store(false) }, "cannot deliver to the webhook: Connection refused",
		},
		"Taken": {
			func(w *world, _ *lane) { w.server.SetWebhook("https://other.test") },
			func(*world, *lane) {}, "Another program sets",
		},
		"Deleted": {
			func(w *world, _ *lane) { w.server.SetWebhook("") },
			func(*world, *lane) {}, "Another program sets",
		},
		"Unreadable": {
			func(w *world, _ *lane) {
				w.server.Fail("getWebhookInfo", 6, telegramtest.Fault{Code: 200, Body: `{"ok":true,"result":{"url":7}}`})
			},
			func(*world, *lane) {}, "",
		},
		"Down": {
			func(w *world, _ *lane) { w.server.Stop() },
			func(w *world, _ *lane) { w.server.Start() }, "cannot be reached",
		},
		"Revoked": {
			func(w *world, _ *lane) { w.server.Revoke(true) },
			func(w *world, _ *lane) { w.server.Revoke(false) }, "refuses the bot token",
		},
	} {
		t.Run(name, func(t *testing.T) {
			inHookWorld(t, func(w *world, l *lane) {
				t := w.t
				a := w.ask(command("make"))
				c.begin(w, l)
				time.Sleep(35 * time.Second)
				synctest.Wait()
				if h := w.channel.Health(); !strings.Contains(h.Problem, c.want) || h.Remedy == "" || h.Since.IsZero() || c.want != "Another program sets" && strings.Contains(h.Problem, "Another program") {
					t.Errorf("in trouble: %+v, want %q", h, c.want)
				}
				c.end(w, l)
				time.Sleep(6 * time.Minute)
				synctest.Wait()
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

func TestPressesLostOnTheWayToAWebhookAreTold(t *testing.T) {
	inHookWorld(t, func(w *world, l *lane) {
		t := w.t
		a := w.ask(command("make"))
		l.broken.Store(true)
		if _, err := w.server.Press(ann(), w.chat, w.shown(a).ID, "Allow once"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Minute)
		l.broken.Store(false)
		time.Sleep(6 * time.Minute)
		synctest.Wait()
		if m := w.last(); !strings.Contains(m.Text, "please press again") || w.desk.State(a) != approval.Pending {
			t.Errorf("the chat ends with %q, and the call is %s", m.Text, w.desk.State(a))
		}
	})
}

// TestADeliveryOnItsWayIsNoTrouble checks that a waiting delivery is not a trouble if none has
// failed, or if one has arrived since. The bot looks every half minute.
func TestADeliveryOnItsWayIsNoTrouble(t *testing.T) {
	for name, failed := range map[string]bool{"as yet": false, "any more": true} {
		t.Run(name, func(t *testing.T) {
			inHookWorld(t, func(w *world, l *lane) {
				if failed {
					l.broken.Store(true)
					w.server.Say(ann(), w.chat, "/status")
					time.Sleep(5 * time.Second)
					l.broken.Store(false)
					time.Sleep(10 * time.Second)
				}
				looks := len(w.server.Calls("getWebhookInfo"))
				l.slow.Store(int64(2 * time.Minute))
				w.server.Say(ann(), w.chat, "/status")
				for i := range 3 {
					time.Sleep(30 * time.Second)
					synctest.Wait()
					if h := w.channel.Health(); h.Problem != "" || w.server.Queued() != 1 || len(w.server.Calls("getWebhookInfo")) != looks+i+1 {
						w.t.Errorf("%d on their way, %d looks: %+v", w.server.Queued(), len(w.server.Calls("getWebhookInfo"))-looks, h)
					}
				}
			})
		})
	}
}

// TestAnOldFailureToDeliverIsForgotten checks that after a failure with nothing left to
// deliver, the trouble lasts five minutes.
func TestAnOldFailureToDeliverIsForgotten(t *testing.T) {
	inHookWorld(t, func(w *world, l *lane) {
		a := w.ask(command("make"))
		l.broken.Store(true)
		if _, err := w.server.Press(ann(), w.chat, w.shown(a).ID, "Allow once"); err != nil {
			w.t.Fatal(err)
		}
		// The last try comes 123 seconds later, and the press is given up after 150.
		for _, pause := range []time.Duration{420 * time.Second, time.Minute} {
			time.Sleep(pause)
			synctest.Wait()
			if h := w.channel.Health(); (h.Problem != "") != (pause > time.Minute) || w.server.Queued() != 0 {
				w.t.Errorf("after %s more: %+v, %d left", pause, h, w.server.Queued())
			}
		}
	})
}

// TestAWebhookIsNotedBeforeItIsSet checks that a webhook that cannot be recorded is not
// set, because nobody would ever remove it.
func TestAWebhookIsNotedBeforeItIsSet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.chat = w.server.Private(ann())
		w.memory.Notes = telegram.Notes{Chat: w.chat, Person: ann().ID}
		w.memory.Fail(errors.New("disk full"))
		w.config.Webhook = hookAddress
		w.start()
		if n := len(w.server.Calls("setWebhook")); n != 0 {
			t.Errorf("it was set %d times", n)
		}
		w.memory.Fail(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := len(w.server.Calls("setWebhook")); n != 1 || w.memory.Kept().Webhook != hookAddress {
			t.Errorf("after the trouble it was set %d times, and noted is %q", n, w.memory.Kept().Webhook)
		}
	})
}

// TestAWebhookThatIsRefused checks that a webhook refused by the platform is not mistaken
// for one that another program has set.
func TestAWebhookThatIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.chat = w.server.Private(ann())
		w.memory.Notes = telegram.Notes{Chat: w.chat, Person: ann().ID}
		w.config.Webhook = hookAddress
		w.server.Fail("setWebhook", 1, telegramtest.Fault{Code: 400, Description: "Bad Request: bad webhook: IP address 10.0.0.7 is reserved"})
		w.start()
		if h := w.channel.Health(); h.Problem == "" || strings.Contains(h.Problem, "Another program") {
			t.Errorf("refused: %+v", h)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if h := w.channel.Health(); h.Problem != "" || len(w.server.Calls("setWebhook")) != 2 {
			t.Errorf("tried again: %+v", h)
		}
	})
}

// TestAWebhookThatIsNotTaken checks that setting or removing a webhook is tried again if it
// fails.
func TestAWebhookThatIsNotTaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.chat = w.server.Private(ann())
		w.memory.Notes = telegram.Notes{Chat: w.chat, Person: ann().ID}
		w.config.Webhook = hookAddress
		w.server.Stop()
		w.start()
		time.Sleep(10 * time.Second)
		w.server.Start()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if n := len(w.server.Calls("setWebhook")); n != 1 || w.channel.Health().Problem != "" {
			t.Errorf("set %d times: %+v", n, w.channel.Health())
		}
		w.stop()
		w.config.Webhook = ""
		for _, method := range []string{"getWebhookInfo", "deleteWebhook"} {
			w.server.Fail(method, 1, telegramtest.Fault{Code: 500, Description: "Internal Server Error"})
		}
		w.start()
		if w.memory.Kept().Webhook != hookAddress {
			t.Error("it is forgotten before it was taken back")
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if n := len(w.server.Calls("deleteWebhook")); n != 2 || w.memory.Kept().Webhook != "" {
			t.Errorf("taken back %d times, and noted is %q", n, w.memory.Kept().Webhook)
		}
	})
}

// TestAWebhookThatCannotBeNotedIsTrouble checks that it is trouble if the bot cannot record
// when it last heard something, because lost presses could then go unnoticed later.
func TestAWebhookThatCannotBeNotedIsTrouble(t *testing.T) {
	inHookWorld(t, func(w *world, _ *lane) {
		w.memory.Fail(errors.New("disk full"))
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if h := w.channel.Health(); h.Problem == "" {
			w.t.Errorf("in trouble: %+v", h)
		}
		w.memory.Fail(nil)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if h := w.channel.Health(); h.Problem != "" || time.Since(w.memory.Kept().Heard) > time.Minute {
			w.t.Errorf("after it: %+v, heard at %s", h, w.memory.Kept().Heard)
		}
	})
}
