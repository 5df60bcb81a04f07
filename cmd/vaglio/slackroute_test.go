package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/slack/slacktest"
)

const (
	slackOps    = "C0000000002"
	slackDeploy = "C0000000003"
)

// onChannels is a policy whose one route goes to the channels.
func onChannels(channels ...string) string {
	return fmt.Sprintf("approval: {routes: [{name: team, channels: ['%s'], approvers: ['slack:%s']}], rules: [{route: team}]}\n",
		strings.Join(channels, "', '"), slackAnn)
}

// A route to a channel of Slack's that is none, or that nothing reaches, is told
// in a sentence.
func TestRoutesToChannelsOfSlack(t *testing.T) {
	t.Parallel()
	on := config{Slack: slackConfig{BotToken: "x", Channel: slackHome}}
	for name, c := range map[string]struct {
		channels []string
		c        config
		wrong    string
		want     []string
	}{
		"One":      {[]string{"slack:" + slackOps}, on, "", []string{"slack:" + slackOps}},
		"Several":  {[]string{"slack:" + slackOps, "web", "slack"}, on, "", []string{"slack:" + slackOps, "web", "slack"}},
		"ItsOwn":   {[]string{"slack:" + slackHome}, on, "", []string{"slack"}},
		"OwnTwice": {[]string{"slack:" + slackHome, "slack"}, on, `goes to the channel "slack" twice`, nil},
		"Twice":    {[]string{"slack:" + slackOps, "slack:" + slackOps}, on, `goes to the channel "slack:C0000000002" twice`, nil},
		"ByName":   {[]string{"slack:#ops"}, on, `route "team" goes to the channel "slack:#ops"; a channel of Slack's is named by its id, such as "slack:C0123456789"`, nil},
		"APerson":  {[]string{"slack:" + slackAnn}, on, "is named by its id", nil},
		"Bare":     {[]string{slackOps}, on, `goes to the channel "C0000000002"; there is`, nil},
		"Off":      {[]string{"slack:" + slackOps}, config{}, `goes to the channel "slack:C0000000002"; there is web`, nil},
		"Telegram": {[]string{"telegram:4711"}, on, `goes to the channel "telegram:4711"; there is`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := parsePolicy("p.yaml", []byte(onChannels(c.channels...)), "/home/u")
			if err == nil {
				err = p.checkChannels(c.c)
			}
			if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
				t.Fatalf("got %v, want %q", err, c.wrong)
			}
			if err == nil && !slices.Equal(p.routing.Routes[0].Channels, c.want) {
				t.Errorf("it goes to %q, want %q", p.routing.Routes[0].Channels, c.want)
			}
		})
	}
}

// policy writes the policy file that the daemon reads.
func (h *home) policy(t *testing.T, text string) {
	t.Helper()
	path := filepath.Join(h.dir, "policy.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "METNOS_POLICY="+path)
}

// message waits for a message of a channel that fits.
func (w *workspace) message(channel string, fits func(m slacktest.Message) bool) (found slacktest.Message) {
	w.t.Helper()
	w.await("a message in "+channel, func() bool {
		all := w.Messages(channel)
		i := slices.IndexFunc(all, fits)
		if i >= 0 {
			found = all[i]
		}
		return i >= 0
	})
	return found
}

func hasButtons(m slacktest.Message) bool { return len(m.Buttons()) > 0 }

// TestARouteToChannelsOfSlack asks in two channels, is answered in one, and takes
// both out of the policy while the other card still has its buttons.
func TestARouteToChannelsOfSlack(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	w.AddChannel(slackOps, slackAnn)
	w.AddChannel(slackDeploy, slackAnn)
	h := newHome(t, slackEnv("METNOS_SLACK_APP_TOKEN="+slacktest.AppToken)...)
	h.policy(t, onChannels("slack:"+slackOps, "slack:"+slackDeploy))
	s := w.serve(h)
	w.await("a socket", func() bool { return w.Sockets() > 0 })
	answer := s.agent("POST", "/v1/proposals", forcePush).answer(t)
	card, other := w.message(slackOps, hasButtons), w.message(slackDeploy, hasButtons)
	w.Kick(slackDeploy, true)
	if _, err := w.Press(slackAnn, slackOps, card.TS, "Allow once"); err != nil {
		t.Fatal(err)
	}
	got := s.agent("GET", "/v1/approvals/"+string(answer.Approval.ID)+"?wait=55s", "").answer(t)
	if got.Decision != approval.RulingAllow {
		t.Errorf("the agent is told %+v", got)
	}
	final := func(ts string) func(m slacktest.Message) bool {
		return func(m slacktest.Message) bool {
			return m.TS == ts && !hasButtons(m) && strings.Contains(m.Shown(), "Allowed once by Ann")
		}
	}
	w.message(slackOps, final(card.TS))
	if n := len(w.Messages(slackHome)); n != 0 {
		t.Errorf("%d messages in the app's own channel", n)
	}
	// The next card is shown in both, and the policy forgets one of them. The kill
	// may come before it is kept where the cards stand: then others take their place.
	w.Kick(slackDeploy, false)
	second := s.agent("POST", "/v1/proposals", strings.ReplaceAll(forcePush, "main", "next")).answer(t)
	w.message(slackOps, hasButtons)
	w.message(slackDeploy, func(m slacktest.Message) bool { return hasButtons(m) && m.TS > other.TS })
	s.kill()
	w.await("the end of its sockets", func() bool { return w.Sockets() == 0 })
	h.policy(t, onChannels("slack:"+slackOps))
	s = w.serve(h)
	w.await("a socket", func() bool { return w.Sockets() > 0 })
	w.await("the decision", func() bool {
		for _, m := range w.Messages(slackOps) {
			if hasButtons(m) {
				_, _ = w.Press(slackAnn, slackOps, m.TS, "Allow once") // another may have taken its place
			}
		}
		return s.agent("GET", "/v1/approvals/"+string(second.Approval.ID), "").answer(t).Decision == approval.RulingAllow
	})
	for _, id := range []string{slackOps, slackDeploy} {
		w.message(id, func(m slacktest.Message) bool {
			return strings.Contains(m.Shown(), "origin next") && strings.Contains(m.Shown(), "Allowed once by Ann")
		})
		w.await("no buttons in "+id, func() bool { return !slices.ContainsFunc(w.Messages(id), hasButtons) })
	}
	s.stop()
}
