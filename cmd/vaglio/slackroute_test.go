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

// onChannels returns a policy whose only route leads to the channels.
func onChannels(channels ...string) string {
	return fmt.Sprintf("approval: {routes: [{name: team, channels: ['%s'], approvers: ['slack:%s']}], rules: [{route: team}]}\n",
		strings.Join(channels, "', '"), slackAnn)
}

// policy writes the policy file that the daemon reads.
func (h *home) policy(t testing.TB, text string) {
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

// TestARouteToChannelsOfSlack asks in two channels, is answered in one, and removes both from the
// policy while the other card still has its buttons.
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
	// The next card is shown in both, and the policy drops one of them. The kill may come before
	// the cards' places are stored: then other cards replace them.
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
				_, _ = w.Press(slackAnn, slackOps, m.TS, "Allow once") // another card may have taken its place
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
