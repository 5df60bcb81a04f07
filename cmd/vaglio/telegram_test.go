package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
)

var codeLine = regexp.MustCompile(`/start (\S+)`)

// chat is a Telegram on this machine, with Ann in a chat with the bot.
type chat struct {
	*telegramtest.Server
	t    testing.TB
	url  string
	ann  telegramtest.User
	chat int64
}

func newChat(t testing.TB) *chat {
	t.Helper()
	p := &chat{Server: telegramtest.New(), t: t, ann: telegramtest.User{ID: 4711, FirstName: "Ann"}}
	p.chat = p.Private(p.ann)
	web := httptest.NewServer(p.Server)
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	p.url = web.URL
	return p
}

// press has Ann press a button, and confirm if the card asks her to. It returns the press that
// counts.
func (p *chat) press(message int, label string) (id string, err error) {
	m, _ := p.Message(p.chat, message)
	for _, b := range m.Buttons() {
		if b.Text == label {
			return p.pressData(message, b.Data), nil
		}
	}
	return "", fmt.Errorf("message %d has no button %q but %v", message, label, m.Buttons())
}

// pressData presses a button whose data she still has.
func (p *chat) pressData(message int, data string) (id string) {
	id = p.PressData(p.ann, p.chat, message, data)
	if ask, sure := strings.CutPrefix(data, "s1:"); sure {
		_, token, _ := strings.Cut(ask, ":")
		id = p.PressData(p.ann, p.chat, message, "v1:"+token)
	}
	return id
}

// serve starts a daemon whose bot is on the platform.
func (p *chat) serve(h *home) *served {
	p.t.Helper()
	return h.start(func(c *exec.Cmd) { c.Args = append(c.Args, "--telegram-api", p.url) })
}

// await returns the first message that fits.
func (p *chat) await(what string, fits func(m telegramtest.Message) bool) telegramtest.Message {
	p.t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		for _, m := range p.Messages(p.chat) {
			if fits(m) {
				return m
			}
		}
		select {
		case <-deadline:
			p.t.Fatalf("no message %s among %+v", what, p.Messages(p.chat))
		case <-tick.C:
		}
	}
}

// pairCode waits for the code that the daemon prints, because it serves before the last line of its
// greeting is read.
func (s *served) pairCode() string {
	s.h.t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if m := codeLine.FindStringSubmatch(s.out.String()); m != nil {
			return m[1]
		}
		select {
		case <-deadline:
			s.h.t.Fatalf("no code in %s", s.out)
		case <-tick.C:
		}
	}
}

// digits waits for the card that shows digits for the inbox other than than.
func (p *chat) digits(than string) string {
	p.t.Helper()
	shown := regexp.MustCompile(`To allow it in the inbox, type these two digits there: ([1-9][0-9])\b`)
	var digits string
	p.await("with digits other than "+than, func(m telegramtest.Message) bool {
		is := shown.FindStringSubmatch(m.Text)
		if len(m.Buttons()) == 0 || is == nil {
			return false
		}
		digits = is[1]
		return digits != than
	})
	return digits
}

// pair sends the code that the daemon printed.
func (p *chat) pair(s *served) {
	p.t.Helper()
	p.Say(p.ann, p.chat, "/start "+s.pairCode())
	p.await("that pairs", func(m telegramtest.Message) bool { return strings.Contains(m.Text, "Paired.") })
}

// TestTelegramFromTheCodeToTheTap pairs, is asked, taps, and kills the daemon between the tap and
// its delivery.
func TestTelegramFromTheCodeToTheTap(t *testing.T) {
	t.Parallel()
	p := newChat(t)
	h := newHome(t, "METNOS_TELEGRAM_TOKEN="+telegramtest.Token, "METNOS_JUDGE_THRESHOLD=0.75")
	s := p.serve(h)
	p.pair(s)
	answer := s.agent("POST", "/v1/proposals", forcePush).answer(t)
	if answer.Decision != approval.RulingPending {
		t.Fatalf("the agent is told %+v", answer)
	}
	card := p.await("with buttons", func(m telegramtest.Message) bool { return len(m.Buttons()) > 0 })
	s.kill()
	if _, err := p.press(card.ID, "Allow once"); err != nil {
		t.Fatal(err)
	}
	s = p.serve(h)
	answer = s.agent("GET", "/v1/approvals/"+string(answer.Approval.ID)+"?wait=55s", "").answer(t)
	if answer.Decision != approval.RulingAllow || answer.Permit == nil {
		t.Errorf("after the tap the agent is told %+v\n%s", answer, s.log)
	}
	p.await("that is final", func(m telegramtest.Message) bool {
		return m.ID == card.ID && len(m.Buttons()) == 0 && strings.Contains(m.Text, "Allowed once by Ann")
	})
	if strings.Contains(s.out.String(), "/start") {
		t.Error("a code is printed though somebody paired")
	}
	s.stop()
	_, secret, _ := strings.Cut(telegramtest.Token, ":")
	if strings.Contains(s.log.String()+s.out.String(), secret) {
		t.Error("the token is in the output")
	}
}

func TestMistakesInTheBotsSettings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ env, want string }{
		"TokenOfAnotherKind": {"METNOS_TELEGRAM_TOKEN=hunter2", "METNOS_TELEGRAM_TOKEN: the token is not one of BotFather's"},
		"EmptyToken":         {"METNOS_TELEGRAM_TOKEN=", "METNOS_TELEGRAM_TOKEN: is set but empty"},
		"MissingFile":        {"METNOS_TELEGRAM_TOKEN_FILE=/nowhere/token", "METNOS_TELEGRAM_TOKEN_FILE: /nowhere/token: no such file"},
		"ChatByName":         {"METNOS_TELEGRAM_CHAT=@ann", `METNOS_TELEGRAM_CHAT: "@ann" is not a number`},
		"TopicAlone":         {"METNOS_TELEGRAM_TOPIC=7", "METNOS_TELEGRAM_TOPIC: is set without METNOS_TELEGRAM_CHAT"},
		"ApproverByName":     {"METNOS_TELEGRAM_APPROVERS=4711,ann", `METNOS_TELEGRAM_APPROVERS: "ann" is not a person's number`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newHome(t, c.env).run("", "serve")
			if r.code != 2 || strings.Count(r.err, "\n") != 1 || !strings.Contains(r.err, c.want) || strings.Contains(r.err, "hunter2") {
				t.Errorf("exit code %d, want 2 and one line with %q; got\n%s", r.code, c.want, r.err)
			}
		})
	}
	for value, want := range map[string]string{
		"http://v.example.org/telegram": "is not an address such as", "https://v.example.org:9443/telegram": "does not deliver to port 9443",
		"https://v.example.org/hook": "must end in /telegram", "https://u:p@v.example.org/telegram": "is not an address such as",
		"https://v.example.org/telegram?x=1": "is not an address such as",
	} {
		r := newHome(t, "METNOS_TELEGRAM_TOKEN="+telegramtest.Token, "METNOS_TELEGRAM_WEBHOOK="+value).run("", "serve")
		if r.code != 2 || !strings.Contains(r.err, "METNOS_TELEGRAM_WEBHOOK: ") || !strings.Contains(r.err, want) {
			t.Errorf("%s: %d %s", value, r.code, r.err)
		}
	}
	if r := newHome(t).run("", "serve", "--telegram-api", "nowhere"); r.code != 2 || !strings.Contains(r.err, "--telegram-api") {
		t.Errorf("a bad address: %d %s", r.code, r.err)
	}
}

// TestMistakesInAllChatsAreToldAtOnce checks that no mistake hides another, and that a start that
// fails by one leaves nothing behind.
func TestMistakesInAllChatsAreToldAtOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t, "METNOS_TZ=Rome", "METNOS_TELEGRAM_TOKEN=hunter2", "METNOS_SLACK_BOT_TOKEN=hunter2", "METNOS_SLACK_APP_TOKEN=hunter2",
		"METNOS_SLACK_CHANNEL=#ops", "METNOS_SLACK_APPROVERS=@ann,@bob")
	r := h.run("", "serve")
	for _, want := range []string{
		"METNOS_TZ: ", "METNOS_TELEGRAM_TOKEN: ", "METNOS_SLACK_BOT_TOKEN: ", "METNOS_SLACK_APP_TOKEN: ", "METNOS_SLACK_CHANNEL: ",
		`METNOS_SLACK_APPROVERS: "@ann"`, `METNOS_SLACK_APPROVERS: "@bob"`,
	} {
		if strings.Count(r.err, want) != 1 {
			t.Errorf("no line with %s", want)
		}
	}
	if r.code != 2 || strings.Count(r.err, "\n") != 7 || strings.Contains(r.err, "hunter2") {
		t.Errorf("%d %s", r.code, r.err)
	}
	if left, err := os.ReadDir(h.data(".")); err == nil {
		t.Errorf("it left %v", left)
	}
}

// toDaemon redirects requests for the public address to a daemon on this machine, as a proxy does.
type toDaemon struct{ base string }

func (d toDaemon) RoundTrip(r *http.Request) (*http.Response, error) {
	u, err := url.Parse(d.base)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = u.Scheme, u.Host
	return http.DefaultTransport.RoundTrip(r)
}

// TestTelegramByWebhook is asked and taps where the platform delivers by webhook.
func TestTelegramByWebhook(t *testing.T) {
	t.Parallel()
	p := newChat(t)
	h := newHome(t, "METNOS_TELEGRAM_TOKEN="+telegramtest.Token, "METNOS_JUDGE_THRESHOLD=0.75",
		"METNOS_TELEGRAM_WEBHOOK=https://vaglio.example.org/telegram")
	s := p.serve(h)
	ctx, cancel := context.WithCancel(t.Context())
	var delivering sync.WaitGroup
	delivering.Go(func() { p.Deliver(ctx, toDaemon{s.base}) })
	defer delivering.Wait()
	defer cancel()
	p.pair(s)
	answer := s.agent("POST", "/v1/proposals", forcePush).answer(t)
	card := p.await("with buttons", func(m telegramtest.Message) bool { return len(m.Buttons()) > 0 })
	if _, err := p.press(card.ID, "Allow once"); err != nil {
		t.Fatal(err)
	}
	answer = s.agent("GET", "/v1/approvals/"+string(answer.Approval.ID)+"?wait=55s", "").answer(t)
	if answer.Decision != approval.RulingAllow {
		t.Errorf("after the tap the agent is told %+v\n%s", answer, s.log)
	}
	if n := len(p.Calls("getUpdates")); n != 0 {
		t.Errorf("%d polls beside the webhook", n)
	}
	s.stop()
}
