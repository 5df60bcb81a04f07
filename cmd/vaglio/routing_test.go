package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
)

// TestTwoPeopleOnTwoChannels has one person allow in the inbox and another on Telegram, with a kill
// in between, and looks at both cards.
func TestTwoPeopleOnTwoChannels(t *testing.T) {
	t.Parallel()
	p := newChat(t)
	h := newHome(t, "METNOS_TELEGRAM_TOKEN="+telegramtest.Token, "METNOS_JUDGE_THRESHOLD=0.75")
	policy := filepath.Join(h.dir, "policy.yaml")
	if err := os.WriteFile(policy, []byte(`
approval:
  members: {owner: ["web:owner"], ann: ["telegram:4711"]}
  agents: {"*": owner}
  routes: [{name: two, approvers: [owner, ann], quorum: 2, separate: true}]
  rules: [{route: two}]
`), 0o600); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "METNOS_POLICY="+policy)
	s := p.serve(h)
	p.pair(s)
	answer := s.agent("POST", "/v1/proposals", forcePush).answer(t)
	s.signIn(s.link).decide("allow", "")
	if got := s.agent("GET", "/v1/approvals/"+string(answer.Approval.ID), "").answer(t); got.Decision != approval.RulingPending || got.Permit != nil {
		t.Fatalf("after one yes the agent is told %+v", got)
	}
	s.kill()
	s = p.serve(h)
	card := p.await("with buttons and the first yes", func(m telegramtest.Message) bool {
		return len(m.Buttons()) > 0 && strings.Contains(m.Text, "1 of 2 have allowed it: owner (web:owner)")
	})
	if _, err := p.press(card.ID, "Allow once"); err != nil {
		t.Fatal(err)
	}
	got := s.agent("GET", "/v1/approvals/"+string(answer.Approval.ID)+"?wait=55s", "").answer(t)
	if got.Decision != approval.RulingAllow || got.Permit == nil {
		t.Errorf("after both the agent is told %+v\n%s", got, s.log)
	}
	p.await("that is final", func(m telegramtest.Message) bool { return m.ID == card.ID && len(m.Buttons()) == 0 })
	if page := s.signIn(s.link).get("/inbox/ask/" + string(answer.Approval.ID.Ask())); len(buttons(t, page.body)) != 0 || !strings.Contains(page.body, "Allowed once") {
		t.Errorf("the inbox does not show the end:\n%s", page.body)
	}
}

// TestARouteThatNobodyCanSatisfyStopsTheStart names a person whom no channel reaches.
func TestARouteThatNobodyCanSatisfyStopsTheStart(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	policy := filepath.Join(h.dir, "policy.yaml")
	const text = "approval: {members: {bob: ['telegram:4712']}, routes: [{name: quick, approvers: [bob]}], rules: [{route: quick}]}\n"
	if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "METNOS_POLICY="+policy)
	r := h.run("", "serve")
	if r.code != 2 || r.out != "" || !strings.Contains(r.err, "who is on none of the channels: web") {
		t.Errorf("exit code %d, %q %q", r.code, r.out, r.err)
	}
}

// TestReadyzTellsOfTheBot serves with a bot whose token is refused.
func TestReadyzTellsOfTheBot(t *testing.T) {
	t.Parallel()
	p := newChat(t)
	h := newHome(t, "METNOS_TELEGRAM_TOKEN=471100:"+strings.Repeat("wrong", 8))
	s := p.serve(h)
	deadline := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	told := func(r reply) bool {
		return r.status == http.StatusOK && strings.Contains(r.body, `"status":"degraded"`) && strings.Contains(r.body, `"name":"web","ok":true`) &&
			strings.Contains(r.body, `"name":"telegram","ok":false,"problem":"Telegram`) && !strings.Contains(r.body, "wrongwrong")
	}
	for {
		r := s.agent("GET", "/readyz", "")
		if told(r) {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("readyz says %d %s", r.status, r.body)
		case <-tick.C:
		}
	}
}
