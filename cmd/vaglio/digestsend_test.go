package main

import (
	"net/http"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/metnos/vaglio/channels/slack/slacktest"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
	"github.com/metnos/vaglio/internal/race"
)

// TestADigestIsSentByHand sends a digest to both chats. The command prints where it was sent and
// which chats failed with which error, and never a token.
func TestADigestIsSentByHand(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	p, w := newChat(t), newWorkspace(t)
	h := newHome(t, slackEnv("METNOS_SLACK_APP_TOKEN="+slacktest.AppToken,
		"METNOS_TELEGRAM_TOKEN="+telegramtest.Token, "METNOS_TELEGRAM_CHAT=4711", "METNOS_TELEGRAM_APPROVERS=4711")...)
	var cut atomic.Bool
	bot := serveHandler(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if cut.Load() && strings.HasSuffix(r.URL.Path, "/sendMessage") {
			panic(http.ErrAbortHandler) // The client's error contains the address, and so the token.
		}
		p.ServeHTTP(w, r)
	}))
	s := h.start(func(c *exec.Cmd) { c.Args = append(c.Args, "--telegram-api", bot, "--slack-api", w.url+"/api") })
	w.await("a socket", func() bool { return w.Sockets() > 0 })
	there := func() (onTelegram, onSlack int) {
		for _, m := range p.Messages(p.chat) {
			onTelegram += strings.Count(m.Text, "Digest, ")
		}
		for _, m := range w.Messages(slackHome) {
			onSlack += strings.Count(m.Shown(), "Digest, ")
		}
		return onTelegram, onSlack
	}
	said := ""
	for i, tt := range []struct {
		name            string
		trouble         func()
		code            int
		out, err        string
		telegram, slack int
	}{
		{"all is well", func() {}, 0, "Sent on telegram, slack.\n", "", 1, 1},
		{"and again", func() {}, 0, "Sent on telegram, slack.\n", "", 1, 1},
		{"the bot was blocked", func() {
			p.Fail("sendMessage", 1, telegramtest.Fault{Code: 403, Description: "Forbidden: bot was blocked by the user"})
		}, 1, "Sent on slack.\n", "not sent on telegram: ", 0, 1},
		{"the connection is cut", func() { cut.Store(true) }, 1, "Sent on slack.\n", "not sent on telegram: ", 0, 1},
		{"and there again", func() { cut.Store(false) }, 0, "Sent on telegram, slack.\n", "", 1, 1},
		{"the channel was archived", func() { w.Archive(slackHome, true) }, 1, "Sent on telegram.\n", "not sent on slack: ", 1, 0},
		{"and nobody can be reached", func() { p.Fail("sendMessage", 1, telegramtest.Fault{Code: 502, Body: "Bad Gateway"}) }, 1, "", "not sent on telegram: ", 0, 0},
	} {
		tt.trouble()
		onTelegram, onSlack := there()
		r := h.run("", "digest", "--send")
		said += r.out + r.err
		nowTelegram, nowSlack := there()
		if r.code != tt.code || r.out != tt.out || !strings.Contains(r.err, tt.err) || nowTelegram-onTelegram != tt.telegram || nowSlack-onSlack != tt.slack {
			t.Errorf("%d: %s: %d %q %q; %d more on Telegram, %d on Slack\n%s", i, tt.name, r.code, r.out, r.err, nowTelegram-onTelegram, nowSlack-onSlack, s.log)
		}
	}
	s.stop()
	_, secret, _ := strings.Cut(telegramtest.Token, ":")
	for _, token := range []string{secret, slacktest.BotToken, slacktest.AppToken} {
		if strings.Contains(said+s.log.String()+s.out.String(), token) {
			t.Error("a token was told")
		}
	}
}
