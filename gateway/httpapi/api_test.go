package httpapi

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
)

const (
	tokenA = "token-of-agent-a"
	tokenB = "token-of-agent-b"
)

// bench is the API over a fake gate, and the log that it writes.
type bench struct {
	gate *gate
	api  *API
	log  *bytes.Buffer
	url  string
	http *http.Client
}

func config(g *gate, log io.Writer) Config {
	return Config{
		Proposals: g, Permits: g, Turns: g,
		Tokens: names{tokenA: "a", tokenB: "b"},
		Ready:  func(context.Context) error { return nil },
		Log:    slog.New(slog.NewTextHandler(log, nil)),
	}
}

// serve runs the API on loopback and compares every exchange with the OpenAPI document.
func serve(t *testing.T, change func(*Config)) *bench {
	t.Helper()
	b := &bench{gate: newGate(), log: new(bytes.Buffer)}
	c := config(b.gate, b.log)
	if change != nil {
		change(&c)
	}
	var err error
	if b.api, err = New(c); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(nil)
	s.Config = NewServer(b.api.Network(), c.Log)
	s.Start()
	t.Cleanup(func() {
		s.Close()
		b.api.Drain(context.WithoutCancel(t.Context()))
	})
	b.url = s.URL
	b.http = &http.Client{Transport: &contract{t: t, next: s.Client().Transport, doc: openDocument(t)}}
	return b
}

// reply is a response.
type reply struct {
	status int
	header http.Header
	body   []byte
}

func (b *bench) do(t *testing.T, method, path, body string, header ...string) reply {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, b.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+tokenA)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Del(header[i])
		if header[i+1] != "" {
			r.Header.Set(header[i], header[i+1])
		}
	}
	resp, err := b.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, got}
}

func (r reply) answer(t *testing.T) approval.Answer {
	t.Helper()
	var a approval.Answer
	if r.status != http.StatusOK {
		t.Fatalf("status %d: %s", r.status, r.body)
	}
	if err := strictjson.UnmarshalLoose(r.body, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

func (r reply) problem(t *testing.T) problemError {
	t.Helper()
	var p problemError
	if err := strictjson.UnmarshalLoose(r.body, &p); err != nil {
		t.Fatalf("%v: %s", err, r.body)
	}
	return p
}

const (
	callOK    = `{"turn_id":"t-1","step":1,"executor":"ok","args":{"path":"/tmp/x"}}`
	callAsk   = `{"turn_id":"t-1","step":2,"intent":"clean","executor":"ask","args":{"n":12345678901234567890}}`
	callOther = `{"turn_id":"t-1","step":2,"intent":"clean","executor":"ask","args":{"n":12345678901234567891}}`
	callGuard = `{"turn_id":"t-1","step":3,"executor":"guarded","args":{}}`
)

func TestWholePath(t *testing.T) {
	b := serve(t, nil)
	if a := b.do(t, "POST", "/v1/proposals", callOK).answer(t); a.Decision != approval.RulingAllow || a.Permit != nil {
		t.Fatalf("an approved call: %+v", a)
	}
	if a := b.do(t, "POST", "/v1/proposals", callGuard).answer(t); a.Decision != approval.RulingDeny || !a.Refusal.Final || a.Approval != nil {
		t.Fatalf("a guard denial: %+v", a)
	}
	a := b.do(t, "POST", "/v1/proposals?wait=0s", callAsk, "Idempotency-Key", "k1").answer(t)
	if a.Decision != approval.RulingPending {
		t.Fatalf("a judge denial: %+v", a)
	}
	id := string(a.Approval.ID)
	if again := b.do(t, "POST", "/v1/proposals", callAsk, "Idempotency-Key", "k1").answer(t); again.Approval.ID != a.Approval.ID {
		t.Errorf("a repeat under the same key opened %s, want %s", again.Approval.ID, id)
	}
	done := make(chan reply)
	go func() { done <- b.do(t, "GET", "/v1/approvals/"+id+"?wait=5m", "") }()
	for b.gate.waiting() == 0 {
		b.do(t, "GET", "/healthz", "") // a round trip, until the waiter is there
	}
	b.gate.decide(a.Approval.ID, approval.Allowed)
	a = (<-done).answer(t)
	if a.Decision != approval.RulingAllow || a.Permit == nil {
		t.Fatalf("after the decision: %+v", a)
	}
	redeem := "/v1/permits/" + a.Permit.Permit + "/redeem"
	for _, step := range []struct {
		name, path, body string
		want             int
		header           []string
	}{
		{"another-call", redeem, callOther, 422, nil},
		{"another-agent", redeem, callAsk, 404, []string{"Authorization", "Bearer " + tokenB}},
		{"guard-denies", redeem, callGuard, 403, nil},
		{"outcome-too-early", "/v1/approvals/" + id + "/outcome", `{"succeeded":true}`, 409, nil},
		{"the-call", redeem, callAsk, 204, nil},
		{"spent", redeem, callAsk, 409, nil},
		{"outcome", "/v1/approvals/" + id + "/outcome", `{"succeeded":true,"detail":"d"}`, 204, nil},
		{"outcome-again", "/v1/approvals/" + id + "/outcome", `{"succeeded":false}`, 409, nil},
	} {
		if got := b.do(t, "POST", step.path, step.body, step.header...); got.status != step.want {
			t.Errorf("%s: status %d, want %d: %s", step.name, got.status, step.want, got.body)
		}
	}
	turn := b.do(t, "GET", "/v1/turns/t-1", "")
	if turn.status != 200 || !bytes.Contains(turn.body, []byte("12345678901234567890")) {
		t.Errorf("the turn log lost a digit: %d %s", turn.status, turn.body)
	}
}

func TestPlanIsAnsweredCallByCall(t *testing.T) {
	b := serve(t, nil)
	got := b.do(t, "POST", "/v1/plans", `{"calls":[`+callOK+","+callAsk+","+callGuard+`]}`)
	var out planAnswers
	if err := strictjson.UnmarshalLoose(got.body, &out); err != nil || len(out.Answers) != 3 {
		t.Fatalf("%v: %s", err, got.body)
	}
	for i, want := range []approval.Ruling{approval.RulingAllow, approval.RulingPending, approval.RulingDeny} {
		if out.Answers[i].Decision != want {
			t.Errorf("call %d: %s, want %s", i, out.Answers[i].Decision, want)
		}
	}
}

func TestWithdraw(t *testing.T) {
	b := serve(t, nil)
	a := b.do(t, "POST", "/v1/proposals", callAsk).answer(t)
	path := "/v1/approvals/" + string(a.Approval.ID)
	if got := b.do(t, "DELETE", path, "").answer(t); got.Approval.State != approval.Withdrawn {
		t.Errorf("state %s", got.Approval.State)
	}
	if got := b.do(t, "DELETE", path, ""); got.status != http.StatusConflict {
		t.Errorf("status %d, want 409", got.status)
	}
}

func TestAgentIsTheCredentials(t *testing.T) {
	b := serve(t, nil)
	// The fake refuses a proposal whose agent is not the authenticated one.
	b.do(t, "POST", "/v1/proposals", `{"agent":"root","executor":"ok","args":{}}`).answer(t)
}

// A request with two tokens is refused, because a proxy in front of us may have read the other one.
func TestTwoTokensAreRefused(t *testing.T) {
	b := serve(t, nil)
	for _, tokens := range [][]string{{tokenA, tokenB}, {tokenA, tokenA}, {tokenA, ""}} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", b.url+"/v1/turns/t-1", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		for _, token := range tokens {
			r.Header.Add("Authorization", "Bearer "+token)
		}
		resp, err := b.http.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%q: %d, want 401", tokens, resp.StatusCode)
		}
	}
}

// An ID that cannot be an approval's is reported as not found, whatever the request.
func TestWhatIsNoNameIsNotFound(t *testing.T) {
	b := serve(t, nil)
	for name, id := range map[string]string{
		"long": strings.Repeat("a", 20_000), "barely": strings.Repeat("a", approval.MaxName+1), "no ask": "-1",
	} {
		for _, c := range []struct{ method, path, body string }{
			{"GET", id, ""}, {"DELETE", id, ""}, {"POST", id + "/outcome", `{"succeeded":true}`},
		} {
			if got := b.do(t, c.method, "/v1/approvals/"+c.path, c.body); got.status != http.StatusNotFound {
				t.Errorf("%s: %s: %d %s, want 404", name, c.method, got.status, got.body)
			}
		}
	}
}

// While the judges are not done, the answer has no approval and says when to come back, for a
// call and for a plan that contains one.
func TestWhatIsStillJudgedComesBack(t *testing.T) {
	b := serve(t, nil)
	const judged = `{"turn_id":"t-1","step":4,"executor":"judged","args":{}}`
	got := b.do(t, "POST", "/v1/proposals?wait=1s", judged)
	if a := got.answer(t); a.Decision != approval.RulingPending || a.Approval != nil || a.Verdict.Approved || got.header.Get("Retry-After") != "1" {
		t.Errorf("%s, Retry-After %q", got.body, got.header.Get("Retry-After"))
	}
	got = b.do(t, "POST", "/v1/plans?wait=1s", `{"calls":[`+callOK+`,`+judged+`]}`)
	if got.status != http.StatusOK || got.header.Get("Retry-After") != "1" {
		t.Errorf("a plan: %d %s, Retry-After %q", got.status, got.body, got.header.Get("Retry-After"))
	}
	if got := b.do(t, "POST", "/v1/proposals?wait=1s", callOK); got.header.Get("Retry-After") != "" {
		t.Error("what is allowed is to come back")
	}
}

func TestWaitersAreBounded(t *testing.T) {
	b := serve(t, func(c *Config) { c.MaxWaiters = 1 })
	a := b.do(t, "POST", "/v1/proposals", callAsk).answer(t)
	path := "/v1/approvals/" + string(a.Approval.ID) + "?wait=10m"
	done := make(chan reply)
	go func() { done <- b.do(t, "GET", path, "") }()
	for b.gate.waiting() == 0 {
		b.do(t, "GET", "/healthz", "")
	}
	got := b.do(t, "GET", path, "")
	if got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
		t.Errorf("a second waiter: status %d, Retry-After %q", got.status, got.header.Get("Retry-After"))
	}
	got = b.do(t, "POST", "/v1/proposals?wait=10m", callAsk)
	if got.answer(t).Decision != approval.RulingPending || got.header.Get("Retry-After") == "" {
		t.Errorf("a proposal without a slot: %s, Retry-After %q", got.body, got.header.Get("Retry-After"))
	}
	if got := b.do(t, "POST", "/v1/proposals?wait=10m", callOK).answer(t); got.Decision != approval.RulingAllow {
		t.Errorf("an approved call must not need a slot: %+v", got)
	}
	scrape := string(b.do(t, "GET", "/metrics", "").body)
	for _, want := range []string{"vaglio_waiters 1\n", "vaglio_waiters_max 1\n", `vaglio_http_requests_total{route="GET /v1/approvals/{id}",code="503"} 1`, `vaglio_answers_total{decision="allow"} 1`} {
		if !strings.Contains(scrape, want) {
			t.Errorf("metrics lack %q:\n%s", want, scrape)
		}
	}
	b.gate.decide(a.Approval.ID, approval.Denied)
	if got := (<-done).answer(t); got.Decision != approval.RulingDeny {
		t.Errorf("the waiter got %s", got.Decision)
	}
	if got := b.do(t, "GET", path, "").answer(t); got.Decision != approval.RulingDeny {
		t.Errorf("a decided approval was answered %s", got.Decision)
	}
}

func TestDecidedIsToldWithoutASlot(t *testing.T) {
	b := serve(t, func(c *Config) { c.MaxWaiters = 1 })
	b.api.slots.taken.Store(1)
	a := b.do(t, "POST", "/v1/proposals", callAsk).answer(t)
	b.gate.decide(a.Approval.ID, approval.Allowed)
	if got := b.do(t, "GET", "/v1/approvals/"+string(a.Approval.ID)+"?wait=1m", "").answer(t); got.Permit == nil {
		t.Errorf("got %+v", got)
	}
}

func TestClientThatLeavesGivesItsPlaceBack(t *testing.T) {
	b := serve(t, nil)
	a := b.do(t, "POST", "/v1/proposals", callAsk).answer(t)
	ctx, cancel := context.WithCancel(t.Context())
	r, _ := http.NewRequestWithContext(ctx, "GET", b.url+"/v1/approvals/"+string(a.Approval.ID)+"?wait=10m", nil)
	r.Header.Set("Authorization", "Bearer "+tokenA)
	done := make(chan error)
	go func() {
		resp, err := b.http.Do(r)
		if err == nil {
			resp.Body.Close()
		}
		done <- err
	}()
	for b.gate.waiting() == 0 {
		b.do(t, "GET", "/healthz", "")
	}
	cancel()
	if err := <-done; err == nil {
		t.Error("the request went on")
	}
	for b.api.slots.taken.Load() != 0 || b.gate.waiting() != 0 {
		b.do(t, "GET", "/healthz", "")
	}
	if got := b.do(t, "GET", "/v1/approvals/"+string(a.Approval.ID), "").answer(t); got.Approval.State != approval.Pending {
		t.Errorf("the approval became %s", got.Approval.State)
	}
}

func TestStopTellsWaitersToComeBack(t *testing.T) {
	b := serve(t, nil)
	a := b.do(t, "POST", "/v1/proposals", callAsk).answer(t)
	done := make(chan reply)
	go func() { done <- b.do(t, "GET", "/v1/approvals/"+string(a.Approval.ID)+"?wait=10m", "") }()
	for b.gate.waiting() == 0 {
		b.do(t, "GET", "/healthz", "")
	}
	b.gate.stop()
	if got := (<-done).answer(t); got.Decision != approval.RulingPending {
		t.Errorf("the waiter got %s", got.Decision)
	}
	got := b.do(t, "POST", "/v1/proposals", callOK)
	if got.status != 503 || got.header.Get("Retry-After") != "1" {
		t.Errorf("a new proposal: %d, Retry-After %q", got.status, got.header.Get("Retry-After"))
	}
}

func TestPanicIsAFailureWithoutDetail(t *testing.T) {
	b := serve(t, nil)
	b.gate.panics = true
	got := b.do(t, "POST", "/v1/proposals", callOK)
	if got.status != 500 || bytes.Contains(got.body, []byte("secret")) {
		t.Errorf("%d %s", got.status, got.body)
	}
	if !strings.Contains(b.log.String(), "a call panicked") {
		t.Error("the panic is not in the log")
	}
}

func TestHTTP2WithoutTLS(t *testing.T) {
	b := serve(t, nil)
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	tr := &http.Transport{Protocols: p}
	t.Cleanup(tr.CloseIdleConnections)
	b.http = &http.Client{Transport: &contract{t: t, next: tr, doc: openDocument(t)}}
	resp, err := b.http.Get(b.url + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.ProtoMajor != 2 {
		t.Errorf("spoke %s", resp.Proto)
	}
	b.do(t, "POST", "/v1/proposals", callOK).answer(t)
}
