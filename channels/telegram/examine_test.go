package telegram_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/channeltest"
	"github.com/metnos/vaglio/channels/platform"
	"github.com/metnos/vaglio/channels/telegram"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
	"github.com/metnos/vaglio/internal/race"
)

// wrong returns the problems among the findings, as "subject: text → remedy".
func wrong(t *testing.T, all []approval.Finding) []string {
	t.Helper()
	return channeltest.Wrong(t, all, "AAfake")
}

// changes returns the calls that change something, or could.
func changes(s *telegramtest.Server, from int) []string {
	var all []string
	for _, c := range s.Calls("")[from:] {
		switch c.Method {
		case "getMe", "getWebhookInfo", "getChat", "getChatMember":
		case "sendChatAction":
			if c.Params["action"] != "typing" {
				all = append(all, "sendChatAction "+c.Params["action"])
			}
		case "getUpdates":
			if c.Params["offset"] != "" || c.Params["allowed_updates"] != "" {
				all = append(all, "getUpdates with an offset or kinds")
			}
		default:
			all = append(all, c.Method)
		}
	}
	return all
}

const group = int64(-100200)

// inGroup moves the bot's home into a group with Ann and Bob.
func (w *world) inGroup() {
	w.chat = w.server.Group(group)
	w.server.Join(group, ann().ID, "member")
	w.server.Join(group, bob().ID, "administrator")
	w.config.Chat = group
}

func TestExamine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		arrange func(w *world)
		// running reports that the bot runs during the examination.
		running bool
		want    []string
	}{
		"Well":         {},
		"WellRunning":  {running: true},
		"WellInAGroup": {arrange: func(w *world) { w.inGroup() }},
		"WellInATopic": {arrange: func(w *world) {
			w.inGroup()
			w.server.Forum(group, 7)
			w.server.Join(group, ann().ID, "member")
			w.server.Join(group, bob().ID, "member")
			w.config.Topic = 7
		}},
		"TokenRevoked": {func(w *world) { w.server.Revoke(true) }, false, []string{"telegram token: Telegram refuses the bot token. → Take the current token from BotFather"}},
		"Unreachable":  {func(w *world) { w.server.Stop() }, false, []string{"telegram token: Telegram cannot be reached"}},
		"Proxy": {func(w *world) {
			w.server.Fail("getMe", 1, telegramtest.Fault{Code: 502, Body: "<html>bad gateway</html>"})
		}, false, []string{"telegram token: Telegram answers with errors: telegram: getMe: 502 the answer is not the platform's → Ask again later"}},
		"Unpaired": {func(w *world) { w.memory.Notes = telegram.Notes{} }, false, []string{"telegram pairing: Nobody has paired with the bot"}},
		"NobodyMayDecide": {func(w *world) { w.memory.Notes.Person, w.config.Approvers = 0, nil }, false, []string{
			"telegram pairing: Cards go to chat 4711, and nobody may decide there. → Run 'vaglio pair'",
		}},
		"Webhook": {func(w *world) { w.server.SetWebhook("https://other.example/hook/s3cret") }, false, []string{
			"telegram updates: The bot has a webhook at other.example, so presses go there. → Delete the webhook",
		}},
		"WebhookRunning": {func(w *world) { w.server.SetWebhook("https://other.example/hook") }, true, []string{
			"telegram updates: The bot has a webhook that is not ours, so its updates go elsewhere. → Delete the webhook",
		}},
		"NoSuchChat": {func(w *world) { w.config.Chat = -1 }, false, []string{"telegram chat: The chat that cards go to does not exist. → Correct METNOS_TELEGRAM_CHAT"}},
		"Blocked": {func(w *world) { w.server.Block(w.chat, "bot was blocked by the user") }, false, []string{
			"telegram chat: The chat that cards go to has shut the bot out. → Unblock the bot",
		}},
		"Kicked":   {func(w *world) { w.inGroup(); w.server.Block(group, "bot was kicked from the group chat") }, false, []string{"telegram chat: The chat that cards go to has shut the bot out."}},
		"Migrated": {func(w *world) { w.inGroup(); w.server.Migrate(group, -100300) }, false, []string{"telegram chat: The group became a supergroup with the number -100300. → Set METNOS_TELEGRAM_CHAT to -100300"}},
		"Mute": {func(w *world) { w.inGroup(); w.server.Join(group, telegramtest.BotID, "restricted") }, false, []string{
			"telegram chat: The chat that cards go to has shut the bot out.",
		}},
		"SomebodyLeft": {func(w *world) { w.inGroup(); w.server.Join(group, bob().ID, "left") }, false, []string{
			"telegram people: 4712 may decide, and cannot see the cards: not in the group. → Add them to the group",
		}},
		"TopicOfNone": {func(w *world) { w.inGroup(); w.config.Topic = 7 }, false, []string{"telegram chat: METNOS_TELEGRAM_TOPIC is set, and the chat has no topics."}},
		"TopicGone": {func(w *world) {
			w.inGroup()
			w.server.Forum(group, 8)
			w.server.Join(group, ann().ID, "member")
			w.server.Join(group, bob().ID, "member")
			w.config.Topic = 7
		}, false, []string{"telegram chat: The forum topic that cards go to does not exist, so they go to the chat itself. → Correct METNOS_TELEGRAM_TOPIC and start vaglio again."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.chat = w.server.Private(ann())
				w.memory.Notes = telegram.Notes{Chat: w.chat, Person: ann().ID}
				if c.arrange != nil {
					c.arrange(w)
				}
				w.look(t, c.running, c.want)
			})
		})
	}
}

// look examines the bot and compares the problems.
func (w *world) look(t *testing.T, running bool, want []string) {
	t.Helper()
	if running {
		w.start()
	} else {
		var err error
		if w.channel, err = telegram.New(t.Context(), w.config); err != nil {
			t.Fatal(err)
		}
	}
	from, notes := len(w.server.Calls("")), w.memory.Notes
	got := wrong(t, w.channel.Examine(t.Context(), !running))
	if running {
		w.stop()
	} else if did := changes(w.server, from); len(did) > 0 {
		t.Errorf("the look did %v", did)
	} else if w.memory.Notes.Offset != notes.Offset || !w.memory.Notes.Heard.Equal(notes.Heard) {
		t.Errorf("the look wrote notes: %+v", w.memory.Notes)
	}
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("wrong is\n%q, want\n%q", got, want)
	}
}

// TestExamineFindsNoRoomForPhotos checks that a group that forbids photos is mentioned, but
// not as a problem.
func TestExamineFindsNoRoomForPhotos(t *testing.T) {
	t.Parallel()
	for status, noted := range map[string]bool{"member": true, "administrator": false} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.inGroup()
			w.server.Join(group, telegramtest.BotID, status)
			w.server.BanPhotos(group, true)
			var err error
			if w.channel, err = telegram.New(t.Context(), w.config); err != nil {
				t.Fatal(err)
			}
			found := slices.ContainsFunc(w.channel.Examine(t.Context(), true), func(f approval.Finding) bool {
				return f.Grade == approval.Noted && strings.Contains(f.Text, "does not let the bot send photos")
			})
			if found != noted {
				t.Errorf("of the bot as a %s: %v", status, found)
			}
		})
	}
}

// TestExamineFindsAnotherPoller lets a program poll as most do: again after 3 s.
func TestExamineFindsAnotherPoller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.chat = w.server.Private(ann())
		w.memory.Notes = telegram.Notes{Chat: w.chat, Person: ann().ID}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for ctx.Err() == nil {
				r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://telegram.test/bot"+telegramtest.Token+"/getUpdates?timeout=50", http.NoBody)
				if err != nil {
					return
				}
				if res, err := w.server.Client().Do(r); err == nil {
					_ = res.Body.Close()
				}
				time.Sleep(3 * time.Second)
			}
		}()
		synctest.Wait()
		w.look(t, false, []string{"telegram updates: Another program polls with this bot's token"})
		stop()
		<-ended
	})
}

// TestExamineReadsTheClock changes the time that the platform reports.
func TestExamineReadsTheClock(t *testing.T) {
	t.Parallel()
	for off, want := range map[time.Duration][]string{
		0: nil, 25 * time.Second: nil, -25 * time.Second: nil,
		3 * time.Minute:   {"telegram clock: The clock of this machine is 3m0s behind Telegram's. → Let the system keep its time"},
		-40 * time.Second: {"telegram clock: The clock of this machine is 39s ahead of Telegram's."},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.chat = w.server.Private(ann())
			w.memory.Notes = telegram.Notes{Chat: w.chat, Person: ann().ID}
			w.config.Client = &http.Client{Transport: dated{w.server.Client().Transport, off}}
			w.look(t, false, want)
		})
	}
}

// dated makes answers report another time.
type dated struct {
	next http.RoundTripper
	off  time.Duration
}

func (d dated) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := d.next.RoundTrip(r)
	if err == nil {
		res.Header.Set("Date", time.Now().Add(d.off).UTC().Format(http.TimeFormat))
	}
	return res, err
}

// TestNoLookShowsTheToken makes every call of an examination fail in every way, with the
// token in what it says.
func TestNoLookShowsTheToken(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	for _, method := range []string{"getMe", "getWebhookInfo", "getUpdates", "getChat", "sendChatAction", "getChatMember"} {
		for _, code := range []int{400, 401, 403, 404, 409, 429, 500, 502} {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.inGroup()
				w.server.Fail(method, 3, telegramtest.Fault{Code: code, Description: "Bad: https://api.telegram.org/bot" + telegramtest.Token + "/" + method})
				var err error
				if w.channel, err = telegram.New(t.Context(), w.config); err != nil {
					t.Fatal(err)
				}
				got := wrong(t, w.channel.Examine(t.Context(), true))
				if method != "getChatMember" && len(got) == 0 || strings.Contains(w.log.String(), "AAfake") {
					t.Errorf("%s %d: nothing is wrong, or the log has the token\n%s", method, code, w.log)
				}
			})
		}
	}
}

func TestExamineAWebhook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.chat = w.server.Private(ann())
		w.memory.Notes = telegram.Notes{Chat: w.chat, Person: ann().ID}
		w.config.Webhook = hookAddress
		w.look(t, false, nil) // the next start sets it
		w.start()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		road := &lane{w: w}
		go func() { defer close(ended); w.server.Deliver(ctx, road) }()
		if got := wrong(t, w.channel.Examine(t.Context(), false)); len(got) != 0 {
			t.Errorf("a webhook that works: %q", got)
		}
		road.broken.Store(true)
		w.server.Say(ann(), w.chat, "/status")
		time.Sleep(time.Minute)
		got := wrong(t, w.channel.Examine(t.Context(), false))
		if len(got) != 1 || !strings.HasPrefix(got[0], "telegram updates: Telegram cannot deliver to the webhook: Connection refused") {
			t.Errorf("a webhook that is not reached: %q", got)
		}
		w.stop()
		stop()
		<-ended
	})
}

func TestATestCardComesBack(t *testing.T) {
	t.Parallel()
	for name, alone := range map[string]bool{"ThroughTheDaemon": false, "Alone": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { w := newWorld(t); w.rehearse(t, alone) })
		})
	}
}

// rehearse lets a stranger press a test card, and then Ann.
func (w *world) rehearse(t *testing.T, alone bool) {
	w.chat = w.server.Private(ann())
	w.memory.Notes = telegram.Notes{Chat: w.chat, Person: ann().ID}
	w.start()
	if alone {
		w.stop()
	}
	type end struct {
		by  approval.Person
		err error
	}
	ended := make(chan end, 1)
	go func() {
		by, err := w.channel.Rehearse(t.Context(), alone)
		ended <- end{by, err}
	}()
	synctest.Wait()
	card := w.last()
	stranger := telegramtest.User{ID: 999, FirstName: "Eve"}
	first, err := w.server.Press(stranger, w.chat, card.ID, "It is here")
	if err != nil {
		t.Fatal(err)
	}
	if got := w.answer(first); !strings.HasPrefix(got.Text, "You are not among those who may decide") {
		t.Errorf("a stranger is told %q", got.Text)
	}
	time.Sleep(time.Second)
	queued := w.server.Queued()
	second, err := w.server.Press(ann(), w.chat, card.ID, "It is here")
	if err != nil {
		t.Fatal(err)
	}
	got := <-ended
	if got.err != nil || got.by.ID != "telegram:4711" {
		t.Errorf("pressed by %+v, %v", got.by, got.err)
	}
	if a := w.answer(second); a.Text != "Your press came back." {
		t.Errorf("Ann is told %q", a.Text)
	}
	if m := w.last(); m.ID != card.ID || len(m.Buttons()) != 0 || !strings.Contains(m.Text, "The test worked: Ann (telegram:4711) pressed") {
		t.Errorf("the card says %q %v", m.Text, labels(m))
	}
	if alone && w.server.Queued() != queued+1 {
		t.Errorf("%d updates wait, want %d: the next start has to take them", w.server.Queued(), queued+1)
	}
	if len(w.desk.Taps()) != 0 {
		t.Errorf("the test decided %v", w.desk.Taps())
	}
	w.start() // takes what waits, and leaves the card as it is or says it is over
	if m := w.last(); len(m.Buttons()) != 0 || !strings.Contains(m.Text, "est") {
		t.Errorf("after the next start: %q", m.Text)
	}
}

func TestATestCardThatNobodyPresses(t *testing.T) {
	inWorld(t, func(w *world) {
		began := time.Now()
		_, err := w.channel.Rehearse(w.t.Context(), false)
		if !errors.Is(err, approval.ErrUntapped) || time.Since(began) != platform.RehearsalLives {
			w.t.Errorf("after %s: %v", time.Since(began), err)
		}
		if m := w.last(); len(m.Buttons()) != 0 || !strings.Contains(m.Text, "This test is over") {
			w.t.Errorf("the card says %q", m.Text)
		}
		w.memory.Notes = telegram.Notes{}
		w.stop()
		w.start()
		if _, err := w.channel.Rehearse(w.t.Context(), false); !errors.Is(err, approval.ErrUnpaired) {
			w.t.Errorf("unpaired: %v", err)
		}
	})
}
