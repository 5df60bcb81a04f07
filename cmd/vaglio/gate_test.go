package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
)

// forcePush is a call that a person is asked about, whatever the user's intent.
const forcePush = `{"turn_id":"t-81","step":2,"intent":"clean up the history of main","executor":"shell_exec",
 "args":{"command":"git push --force origin main"},"context":{"mode":"local","capability":"code:exec","critical":true,"cwd":"/srv/app"}}`

// proposed is an answer still to come.
type proposed struct {
	reply reply
	err   error
	done  chan struct{}
}

// propose proposes [forcePush] in the background and waits until a person is asked.
func (s *served) propose() *proposed {
	s.h.t.Helper()
	p := &proposed{done: make(chan struct{})}
	token := s.agentToken()
	go func() {
		defer close(p.done)
		p.reply, p.err = trySend(context.WithoutCancel(s.h.t.Context()), http.DefaultClient,
			http.MethodPost, s.base+"/v1/proposals?wait=55s", forcePush, "Bearer "+token)
	}()
	return p
}

// answer waits for the answer.
func (p *proposed) answer(t testing.TB) approval.Answer {
	t.Helper()
	<-p.done
	if p.err != nil {
		t.Fatal(p.err)
	}
	return p.reply.answer(t)
}

func TestTheWholePath(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve()
	waits := s.propose()
	asked := s.waiting(1)[0]
	if asked.Command != "git push --force origin main" || asked.Intent != "clean up the history of main" {
		t.Errorf("the pending list shows %+v", asked)
	}
	s.signIn(s.link).decide("allow", "")
	a := waits.answer(t)
	if a.Decision != approval.RulingAllow || a.Permit == nil || a.Verdict.Approved {
		t.Fatalf("the waiting call got %+v, want allow with a permit", a)
	}
	redeem := "/v1/permits/" + a.Permit.Permit + "/redeem"
	other := strings.Replace(forcePush, "origin main", "origin release", 1)
	if r := s.agent("POST", redeem, other); r.status != http.StatusUnprocessableEntity {
		t.Errorf("redeeming for another call: %d %s, want 422", r.status, r.body)
	}
	if r := s.agent("POST", redeem, forcePush); r.status != http.StatusNoContent {
		t.Errorf("redeeming: %d %s, want 204", r.status, r.body)
	}
	if r := s.agent("POST", redeem, forcePush); r.status != http.StatusConflict {
		t.Errorf("redeeming again: %d %s, want 409", r.status, r.body)
	}
	id := string(a.Approval.ID)
	if r := s.agent("POST", "/v1/approvals/"+id+"/outcome", `{"succeeded":true,"detail":"removed"}`); r.status >= 300 {
		t.Errorf("reporting the outcome: %d %s", r.status, r.body)
	}
	why := s.h.run("", "why", id)
	for _, want := range []string{"git push --force origin main", "clean up the history of main", "effects", "web:owner", "Ran: worked"} {
		if !strings.Contains(why.out, want) {
			t.Errorf("why %s does not tell %q:\n%s%s", id, want, why.out, why.err)
		}
	}
	if r := s.h.run("", "pending"); r.out != "Nothing waits for you.\n" || r.code != 0 {
		t.Errorf("pending: %d %q", r.code, r.out+r.err)
	}
}

func TestTheWordsOfADenialReachTheAgent(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve()
	waits := s.propose()
	s.waiting(1)
	s.signIn(s.link).decide("deny", "only dist, please")
	a := waits.answer(t)
	if a.Decision != approval.RulingDeny || a.Refusal == nil || a.Refusal.Words != "only dist, please" || a.Permit != nil {
		t.Errorf("the waiting call got %+v, want deny with the words", a)
	}
}

func TestAnApprovedCallIsAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve()
	const call = `{"intent":"read the notes","executor":"read_file","args":{"path":"notes.md"}}`
	for name, r := range map[string]reply{
		"address": s.agent("POST", "/v1/proposals?wait=55s", call),
		"socket":  s.local("POST", "/v1/proposals?wait=55s", call),
	} {
		if a := r.answer(t); a.Decision != approval.RulingAllow || !a.Verdict.Approved || a.Approval != nil {
			t.Errorf("over the %s: got %+v, want allow", name, a)
		}
	}
}

func TestKilledWhileACardWaits(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.serve()
	waits := s.propose()
	before := s.waiting(1)[0]
	s.kill()
	<-waits.done // its connection broke

	s = h.serve() // over the sockets that the dead one left
	after := s.waiting(1)[0]
	if after.ID != before.ID || !after.ExpiresAt.Equal(before.ExpiresAt) {
		t.Errorf("after the restart %s waits until %v, want %s until %v", after.ID, after.ExpiresAt, before.ID, before.ExpiresAt)
	}
	s.signIn(s.link).decide("allow", "")
	a := s.agent("POST", "/v1/proposals?wait=55s", forcePush).answer(t)
	if a.Decision != approval.RulingAllow || a.Permit == nil || a.Approval.ID != before.ID {
		t.Errorf("the repeated call got %+v, want the decision on %s", a, before.ID)
	}
	const crashed = "the daemon before did not end in order"
	s.logs(crashed)
	s.stop()
	s = h.serve()
	if s.stop(); strings.Contains(s.log.String(), crashed) {
		t.Errorf("an end in order passes for a crash:\n%s", s.log)
	}
}

func TestKilledRightAfterTheClickWasAcknowledged(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.serve()
	first := s.agent("POST", "/v1/proposals", forcePush).answer(t)
	if first.Decision != approval.RulingPending {
		t.Fatalf("got %+v, want pending", first)
	}
	s.signIn(s.link).decide("allow", "")
	s.kill()

	s = h.serve()
	a := s.agent("GET", "/v1/approvals/"+string(first.Approval.ID), "").answer(t)
	if a.Decision != approval.RulingAllow || a.Permit == nil {
		t.Errorf("after the restart the approval is %+v, want allowed", a)
	}
	if r := s.agent("POST", "/v1/permits/"+a.Permit.Permit+"/redeem", forcePush); r.status != http.StatusNoContent {
		t.Errorf("redeeming after the restart: %d %s, want 204", r.status, r.body)
	}
}

func TestOfManyClicksOneDecides(t *testing.T) {
	t.Parallel()
	const clicks = 200
	s := newHome(t).serve()
	waits := s.propose()
	s.waiting(1)
	p := s.signIn(s.link)
	forms := buttons(t, p.get("/inbox").body)
	choices := []string{"allow", "deny"}
	pages := make([]string, clicks)
	var all sync.WaitGroup
	for i := range clicks {
		form := maps.Clone(forms[choices[i%2]])
		all.Go(func() { pages[i] = p.post("/inbox/decide", form).body })
	}
	all.Wait()
	a := waits.answer(t)
	why := s.h.run("", "why", "--json", string(a.Approval.ID))
	if n := strings.Count(why.out, `"choice":`); n != 1 {
		t.Errorf("%d decisions, want 1: %s", n, why.out)
	}
	want := map[approval.Ruling]string{approval.RulingAllow: "allow", approval.RulingDeny: "deny"}[a.Decision]
	if want == "" || !strings.Contains(why.out, `"choice":"`+want+`"`) {
		t.Errorf("the agent was told %s, the record says %s", a.Decision, why.out)
	}
	if r := s.h.run("", "pending"); r.out != "Nothing waits for you.\n" {
		t.Errorf("after the clicks %q", r.out)
	}
}

// guardDenials returns the rows of the conformance table that the guard denies, as request bodies.
func guardDenials(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile("../../vaglio/testdata/conformance.json")
	if err != nil {
		t.Fatal(err)
	}
	var table map[string]any
	if err := strictjson.Unmarshal(b, &table); err != nil {
		t.Fatal(err)
	}
	rows, _ := table["metnos"].([]any)
	bodies := map[string]string{}
	for _, raw := range rows {
		row, _ := raw.(map[string]any)
		expected, _ := row["expected"].(map[string]any)
		if expected["blocked_by"] != "guard" {
			continue
		}
		body, err := strictjson.Marshal(map[string]any{
			"intent": row["intent"], "executor": row["executor"], "args": row["args"], "context": row["context"],
		})
		if err != nil {
			t.Fatal(err)
		}
		bodies[fmt.Sprint(row["id"])] = string(body)
	}
	if len(bodies) < 17 {
		t.Fatalf("the table has %d rows that the guard denies; the seed has a row for each of 17 patterns", len(bodies))
	}
	return bodies
}

// TestAGuardDenialAsksNobody proposes every call that the guard denies according to the conformance
// table, and looks for anything that could allow it.
func TestAGuardDenialAsksNobody(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve()
	for id, body := range guardDenials(t) {
		a := s.agent("POST", "/v1/proposals", body).answer(t)
		if a.Decision != approval.RulingDeny || a.Approval != nil || a.Permit != nil || a.Refusal == nil || !a.Refusal.Final {
			t.Errorf("%s: got %+v, want a final denial", id, a)
		}
	}
	s.waiting(0)
	p := s.signIn(s.link)
	for _, page := range []string{"/inbox", "/inbox/history"} {
		if f := buttons(t, p.get(page).body); len(f) != 0 {
			t.Errorf("%s has buttons: %v", page, f)
		}
	}
}

func TestAnAgentThatWaitsIsToldToComeBack(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.serve()
	waits := s.propose()
	s.waiting(1)
	s.stop()
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("the daemon ended with %d\n%s", code, s.log)
	}
	<-waits.done
	if waits.err != nil {
		t.Fatalf("the waiting call was cut: %v", waits.err)
	}
	if r := waits.reply; r.status == http.StatusOK {
		if a := r.answer(t); a.Decision != approval.RulingPending {
			t.Errorf("the waiting call got %+v, want pending", a)
		}
	} else if r.status != http.StatusServiceUnavailable || r.header.Get("Retry-After") == "" {
		t.Errorf("the waiting call got %d %s, want pending, or 503 with Retry-After", r.status, r.body)
	}
	for _, socket := range []string{"agent.sock", "admin.sock"} {
		if r := h.run("", "pending"); r.code != 1 || !strings.Contains(r.err, "vaglio serve") {
			t.Errorf("with no daemon and no %s: %d %s", socket, r.code, r.err)
		}
	}
	s = h.serve()
	s.waiting(1)
}

// TestMoreCallsThanDescriptors lets more agents wait than the process may have descriptors: those
// beyond the limit are told at once to come back.
func TestMoreCallsThanDescriptors(t *testing.T) {
	t.Parallel()
	const agents = 200
	h := newHome(t)
	s := h.start(func(cmd *exec.Cmd) {
		cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", "ulimit -n 256 && exec " + binary + " serve"}
	})
	token := "Bearer " + s.agentToken()
	replies := make(chan reply, agents)
	var all sync.WaitGroup
	for range agents {
		all.Go(func() {
			c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			r, err := trySend(t.Context(), c, http.MethodPost, s.base+"/v1/proposals?wait=55s", forcePush, token)
			if err == nil {
				replies <- r
			}
		})
	}
	turnedAway := <-replies // nobody has decided, so this one did not wait
	if turnedAway.status != http.StatusServiceUnavailable || turnedAway.header.Get("Retry-After") == "" {
		t.Errorf("the first answer is %d %s, want 503 with Retry-After", turnedAway.status, turnedAway.body)
	}
	// The owner's side has descriptors of its own.
	s.waiting(1)
	if r := h.run("", "inbox"); r.code != 0 {
		t.Errorf("while everything is taken, inbox says %d %s", r.code, r.err)
	}
	s.stop()
	all.Wait()
	close(replies)
	told := map[int]int{turnedAway.status: 1}
	for r := range replies {
		told[r.status]++
	}
	t.Logf("answers by status: %v", told)
	if told[http.StatusOK] == 0 || told[http.StatusServiceUnavailable] == 0 || told[http.StatusOK]+told[http.StatusServiceUnavailable] < agents/2 {
		t.Errorf("answers by status: %v, want some that waited and some that were told to come back", told)
	}
}
