package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/slack/slacktest"
)

// TestAUserGroupOnARoute asks two members of a user group, who are listed nowhere else.
func TestAUserGroupOnARoute(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	people := []string{"U00000000B1", "U00000000B2"}
	for _, id := range people {
		w.AddUser(slacktest.User{ID: id, Name: id, RealName: id})
	}
	w.AddChannel(slackHome, append(people, slackAnn)...)
	w.SetGroup("S0000000001", people...)
	h := newHome(t, slackEnv("METNOS_SLACK_APP_TOKEN="+slacktest.AppToken)...)
	policy := filepath.Join(h.dir, "policy.yaml")
	const text = "approval: {routes: [{name: team, approvers: ['slack:S0000000001'], quorum: 2}], rules: [{route: team}]}\n"
	if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "METNOS_POLICY="+policy)
	s := w.serve(h)
	w.await("a socket", func() bool { return w.Sockets() > 0 })
	answer := s.agent("POST", "/v1/proposals", forcePush).answer(t)
	card := w.card(func(m slacktest.Message) bool { return len(m.Buttons()) > 0 })
	for i, id := range append([]string{slackAnn}, people...) {
		told := len(w.Ephemerals())
		if _, err := w.Press(id, slackHome, card.TS, "Allow once"); err != nil {
			t.Fatal(err)
		}
		w.await("an answer to "+id, func() bool { return len(w.Ephemerals()) > told })
		now := s.agent("GET", "/v1/approvals/"+string(answer.Approval.ID), "").answer(t)
		if want := map[bool]approval.Ruling{true: approval.RulingAllow, false: approval.RulingPending}[i == 2]; now.Decision != want {
			t.Errorf("after %s the agent is told %s, want %s: %v", id, now.Decision, want, w.Ephemerals())
		}
	}
	s.stop()
}
