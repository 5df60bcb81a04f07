package main

import (
	"strings"
	"testing"

	"github.com/metnos/vaglio/channels/telegram/telegramtest"
	"github.com/metnos/vaglio/internal/race"
)

func TestPairPrintsAFreshCode(t *testing.T) {
	t.Parallel()
	p := newChat(t)
	h := newHome(t, "METNOS_TELEGRAM_TOKEN="+telegramtest.Token)
	if r := h.run("", "pair"); r.code != 1 || !strings.Contains(r.err, "no vaglio is serving") {
		t.Errorf("without a daemon: %d %s", r.code, r.err)
	}
	s := p.serve(h)
	old := s.pairCode()
	r := h.run("", "pair")
	fresh := codeLine.FindStringSubmatch(r.out)
	if r.code != 0 || fresh == nil || fresh[1] == old {
		t.Fatalf("got %d %q after %q", r.code, r.out, old)
	}
	p.Say(p.ann, p.chat, "/start "+old)
	p.await("that refuses", func(m telegramtest.Message) bool { return strings.Contains(m.Text, "wrong or has expired") })
	p.Say(p.ann, p.chat, "/start "+fresh[1])
	p.await("that pairs", func(m telegramtest.Message) bool { return strings.Contains(m.Text, "Paired.") })
	if r := h.run("", "pair"); !strings.Contains(r.out, "https://t.me/"+telegramtest.BotName+"?start=") {
		t.Errorf("the link is missing: %q", r.out)
	}
	s.stop()
}

func TestPairWithoutABot(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	h := newHome(t)
	s := h.serve()
	if r := h.run("", "pair"); r.code != 1 || !strings.Contains(r.err, "has no Telegram bot: start it with METNOS_TELEGRAM_TOKEN") {
		t.Errorf("got %d %q", r.code, r.err)
	}
	s.stop()
}
