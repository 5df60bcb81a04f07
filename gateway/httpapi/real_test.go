package httpapi

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/store/bolt"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/catalog"
	"github.com/metnos/vaglio/vaglio/judge"
)

// These tests run the API over the real dispatcher, engine and store.

var owner = approval.Person{ID: "web:owner", Name: "owner"}

// instance is the gate of one process.
type instance struct {
	*bench
	dispatcher *dispatcher.Dispatcher
	secret     approval.Secret
	stop       func()
}

// start opens the store at the path and serves over it. stop shuts down in the order in which a
// daemon does.
func start(t testing.TB, path string, deadlines dispatcher.Deadlines) *instance {
	t.Helper()
	return startWith(t, path, deadlines, 0.75, catalog.Config{Closed: true, Executors: []catalog.Executor{
		{Name: "shell_exec", Shell: true},
		{Name: "fs_read", Critical: new(bool), Capabilities: []catalog.Capability{{Name: "fs:read", Hint: []string{"/srv/data/**"}}}, ArgsSchema: map[string]any{
			"type": "object", "required": []any{"path"}, "additionalProperties": false,
			"properties": map[string]any{"path": map[string]any{"type": "string"}},
		}},
	}})
}

// startWith is start with executors of the caller, and the score that their calls need.
func startWith(t testing.TB, path string, deadlines dispatcher.Deadlines, score float64, executors catalog.Config) *instance {
	t.Helper()
	home := filepath.Dir(path)
	executors.Home = home
	cat, err := catalog.New(executors)
	if err != nil {
		t.Fatal(err)
	}
	engine, err := vaglio.New(vaglio.Config{Catalog: cat, Judges: []vaglio.Gate{{Judge: judge.Rules(), MinScore: score}}, Home: home})
	if err != nil {
		t.Fatal(err)
	}
	store, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in := &instance{secret: approval.Secret{1}}
	in.dispatcher = dispatcher.New(dispatcher.Config{
		Store: store, Engine: engine, Secret: in.secret, Deciders: dispatcher.Deciders{Approvers: []string{owner.ID}},
		Deadlines: deadlines, Log: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- in.dispatcher.Run(ctx) }()
	c := config(nil, io.Discard)
	c.Proposals, c.Permits, c.Turns = in.dispatcher, in.dispatcher, in.dispatcher
	api, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(nil)
	s.Config = NewServer(api.Network(), c.Log)
	s.Start()
	in.bench = &bench{api: api, url: s.URL, http: &http.Client{Transport: &contract{t: t, next: s.Client().Transport, doc: openDocument(t)}}}
	stopped := false
	in.stop = func() {
		if stopped {
			return
		}
		stopped = true
		in.dispatcher.Stop()
		s.Close() // waits for the requests in progress
		api.Drain(ctx)
		cancel()
		if err := errors.Join(<-done, store.Close()); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(in.stop)
	return in
}

const (
	realAsk   = `{"turn_id":"t-81","step":2,"intent":"clean the old build","executor":"shell_exec","args":{"command":"make clean"},"context":{"mode":"local","capability":"code:exec","cwd":"/srv/app"}}`
	realOther = `{"turn_id":"t-81","step":2,"intent":"clean the old build","executor":"shell_exec","args":{"command":"make cleaner"},"context":{"mode":"local","capability":"code:exec","cwd":"/srv/app"}}`
	realRead  = `{"turn_id":"t-81","step":1,"executor":"fs_read","args":{"path":"/srv/data/x"}}`
	realRoot  = `{"turn_id":"t-81","step":3,"executor":"shell_exec","args":{"command":"rm -rf /"}}`
)

func (in *instance) decide(t *testing.T, id approval.ID, c approval.Choice) {
	t.Helper()
	r, err := in.dispatcher.Decide(t.Context(), approval.Tap{Ask: id.Ask(), Approval: id, Choice: c, By: owner, Channel: "web", Words: "go on"})
	if err != nil || !r.Won {
		t.Fatalf("decide: %+v %v", r, err)
	}
}

func TestRealWholePath(t *testing.T) {
	in := start(t, filepath.Join(t.TempDir(), "store"), dispatcher.Deadlines{})
	if a := in.do(t, "POST", "/v1/proposals", realRead).answer(t); a.Decision != approval.RulingAllow || a.Permit != nil {
		t.Fatalf("reading: %+v", a)
	}
	a := in.do(t, "POST", "/v1/proposals", realRoot).answer(t)
	if a.Decision != approval.RulingDeny || !a.Refusal.Final || a.Approval != nil || a.Verdict.BlockedBy != vaglio.PhaseGuard {
		t.Fatalf("deleting the root: %+v", a)
	}
	waited := make(chan reply)
	go func() { waited <- in.do(t, "POST", "/v1/proposals?wait=10m", realAsk) }()
	a = in.do(t, "POST", "/v1/proposals", realAsk).answer(t)
	if a.Decision != approval.RulingPending {
		t.Fatalf("a call that a judge denies: %+v", a)
	}
	path := "/v1/approvals/" + string(a.Approval.ID)
	in.decide(t, a.Approval.ID, approval.ChoiceAllow)
	woken := (<-waited).answer(t)
	if woken.Decision != approval.RulingAllow || woken.Permit == nil || woken.Approval.ID != a.Approval.ID || woken.Approval.Words != "go on" {
		t.Fatalf("the waiting call: %+v", woken)
	}
	redeem := "/v1/permits/" + woken.Permit.Permit + "/redeem"
	for _, step := range []struct {
		name, method, path, body string
		want                     int
		header                   []string
	}{
		{"other-args", "POST", redeem, realOther, 422, nil},
		{"guarded", "POST", redeem, realRoot, 403, nil},
		{"another-agents-permit", "POST", redeem, realAsk, 404, []string{"Authorization", "Bearer " + tokenB}},
		{"forged-permit", "POST", "/v1/permits/" + string(a.Approval.ID) + ".aaaa/redeem", realAsk, 404, nil},
		{"another-agents-approval", "GET", path, "", 404, []string{"Authorization", "Bearer " + tokenB}},
		{"another-agents-turn", "GET", "/v1/turns/t-81", "", 404, []string{"Authorization", "Bearer " + tokenB}},
		{"redeem", "POST", redeem, realAsk, 204, nil},
		{"spent", "POST", redeem, realAsk, 409, nil},
		{"withdraw-too-late", "DELETE", path, "", 409, nil},
		{"outcome", "POST", path + "/outcome", `{"succeeded":true}`, 204, nil},
		{"outcome-again", "POST", path + "/outcome", `{"succeeded":true}`, 409, nil},
		{"turn", "GET", "/v1/turns/t-81", "", 200, nil},
	} {
		if got := in.do(t, step.method, step.path, step.body, step.header...); got.status != step.want {
			t.Errorf("%s: status %d, want %d: %s", step.name, got.status, step.want, got.body)
		}
	}
}

func TestRealPlan(t *testing.T) {
	in := start(t, filepath.Join(t.TempDir(), "store"), dispatcher.Deadlines{})
	got := in.do(t, "POST", "/v1/plans", `{"calls":[`+realRead+","+realAsk+","+realRoot+`]}`, "Idempotency-Key", "plan-1")
	for _, want := range []string{`"decision":"allow"`, `"decision":"pending"`, `"decision":"deny"`} {
		if !strings.Contains(string(got.body), want) {
			t.Errorf("no %s in %s", want, got.body)
		}
	}
	got = in.do(t, "POST", "/v1/plans", `{"calls":[`+realRead+`,{"executor":"fs_read","args":{"path":7}}]}`)
	if p := got.problem(t); got.status != 422 || p.Type != "/problems/schema" || p.Field != "/calls/1/args/path" {
		t.Errorf("%d %+v", got.status, p)
	}
	got = in.do(t, "POST", "/v1/plans", `{"calls":[`+realAsk+`,{"intent":"something else","executor":"fs_read","args":{"path":"/srv/data/x"}}]}`)
	if p := got.problem(t); got.status != 400 || p.Field != "/calls/1/intent" {
		t.Errorf("a plan with two intents: %d %+v", got.status, p)
	}
}

func TestRealRefusalsOfShape(t *testing.T) {
	in := start(t, filepath.Join(t.TempDir(), "store"), dispatcher.Deadlines{})
	for _, tc := range []struct{ name, body, kind, field string }{
		{"unknown-executor", `{"executor":"hunter2","args":{}}`, "unknown-executor", "/executor"},
		{"schema", `{"executor":"fs_read","args":{"path":["hunter2"]}}`, "schema", "/args/path"},
		{"schema-required", `{"executor":"fs_read","args":{}}`, "schema", "/args"},
		{"scope", `{"executor":"fs_read","args":{"path":"/srv/hunter2"}}`, "scope", "/args/path"},
	} {
		got := in.do(t, "POST", "/v1/proposals", tc.body)
		p := got.problem(t)
		if got.status != 422 || p.Type != "/problems/"+tc.kind || !strings.HasPrefix(p.Field, tc.field) {
			t.Errorf("%s: %d %+v", tc.name, got.status, p)
		}
		if tc.name != "unknown-executor" && strings.Contains(string(got.body), "hunter2") {
			t.Errorf("%s repeats a value: %s", tc.name, got.body)
		}
	}
}

func TestRealExpiredApproval(t *testing.T) {
	in := start(t, filepath.Join(t.TempDir(), "store"), dispatcher.Deadlines{AskFor: time.Millisecond})
	a := in.do(t, "POST", "/v1/proposals?wait=10m", realAsk).answer(t)
	if a.Decision != approval.RulingDeny || a.Approval.State != approval.Expired || a.Refusal == nil {
		t.Fatalf("%+v", a)
	}
	if got := in.do(t, "GET", "/v1/approvals/"+string(a.Approval.ID)+"?wait=1s", "").answer(t); got.Approval.State != approval.Expired {
		t.Errorf("%+v", got)
	}
	got := in.do(t, "POST", "/v1/permits/"+in.secret.Permit(a.Approval.ID)+"/redeem", realAsk)
	if got.status != http.StatusGone {
		t.Errorf("status %d: %s", got.status, got.body)
	}
	oneSentence(t, got.problem(t))
}

func TestRealLapsedPermit(t *testing.T) {
	in := start(t, filepath.Join(t.TempDir(), "store"), dispatcher.Deadlines{PermitFor: time.Nanosecond})
	a := in.do(t, "POST", "/v1/proposals", realAsk).answer(t)
	in.decide(t, a.Approval.ID, approval.ChoiceAllow)
	got := in.do(t, "POST", "/v1/permits/"+in.secret.Permit(a.Approval.ID)+"/redeem", realAsk)
	if got.status != http.StatusGone {
		t.Errorf("status %d: %s", got.status, got.body)
	}
}

// TestRealRestart shuts the daemon down while an agent waits: the agent is told, and finds its
// decision with the next process.
func TestRealRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	in := start(t, path, dispatcher.Deadlines{})
	a := in.do(t, "POST", "/v1/proposals", realAsk).answer(t)
	waited := make(chan reply)
	go func() { waited <- in.do(t, "GET", "/v1/approvals/"+string(a.Approval.ID)+"?wait=10m", "") }()
	for in.api.slots.taken.Load() == 0 {
		in.do(t, "GET", "/healthz", "")
	}
	in.stop()
	if got := (<-waited).answer(t); got.Decision != approval.RulingPending {
		t.Errorf("the waiter was told %+v", got)
	}
	in = start(t, path, dispatcher.Deadlines{})
	in.decide(t, a.Approval.ID, approval.ChoiceDeny)
	got := in.do(t, "POST", "/v1/proposals?wait=10m", realAsk).answer(t)
	if got.Decision != approval.RulingDeny || got.Approval.ID != a.Approval.ID || got.Refusal.Words != "go on" {
		t.Errorf("the repeated call: %+v", got)
	}
}
