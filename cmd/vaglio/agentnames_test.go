package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/gateway/hook/hookmain"
	"github.com/metnos/vaglio/gateway/owner"
	"github.com/metnos/vaglio/internal/agents"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/internal/strictjson"
)

// newAgent adds an agent and returns its token.
func (s *served) newAgent(name string, flags ...string) string {
	s.h.t.Helper()
	r := s.h.run("", append([]string{"agent", "add", name}, flags...)...)
	if r.code != exitOK {
		s.h.t.Fatalf("vaglio agent add %s: %d %s", name, r.code, r.err)
	}
	return strings.TrimSpace(r.out)
}

// as calls the API at the TCP address with a token.
func (s *served) as(token, method, path, body string) reply {
	s.h.t.Helper()
	return s.send(http.DefaultClient, method, s.base+path, body, "Bearer "+token)
}

// TestAgentsAreToldApart checks that one agent cannot reach anything of another, by token or over
// the socket, and then replaces both tokens.
func TestAgentsAreToldApart(t *testing.T) {
	t.Parallel()
	h := newHome(t, "METNOS_JUDGE_THRESHOLD=0.75")
	s := h.serve()
	one, two := s.newAgent("deployer"), s.newAgent("coder")
	asked := s.as(one, "POST", "/v1/proposals", forcePush).answer(t)
	id := string(asked.Approval.ID)
	outcome := `{"succeeded":true}`
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/v1/approvals/" + id, ""},
		{"DELETE", "/v1/approvals/" + id, ""},
		{"POST", "/v1/approvals/" + id + "/outcome", outcome},
	} {
		if r := s.as(two, c.method, c.path, c.body); r.status != http.StatusNotFound {
			t.Errorf("another agent: %s %s gives %d %s, want 404", c.method, c.path, r.status, r.body)
		}
		if r := s.local(c.method, c.path, c.body); r.status != http.StatusNotFound {
			t.Errorf("the default agent: %s %s gives %d %s, want 404", c.method, c.path, r.status, r.body)
		}
	}
	if r := s.as(two, "POST", "/v1/proposals", forcePush).answer(t); r.Approval.ID.Ask() == asked.Approval.ID.Ask() {
		t.Error("two agents share an ask")
	}
	if out := h.run("", "pending"); !strings.Contains(out.out, "deployer") || !strings.Contains(out.out, "coder") {
		t.Errorf("the owner does not see whose the calls are:\n%s", out.out)
	}
	person := s.signIn(s.link)
	if r := person.post("/inbox/decide", buttons(t, person.get("/inbox/ask/"+id).body)["allow"]); r.status != http.StatusOK {
		t.Fatalf("allow: %d\n%s", r.status, r.body)
	}
	got := s.as(one, "GET", "/v1/approvals/"+id+"?wait=30s", "").answer(t)
	if got.Decision != approval.RulingAllow || got.Permit == nil {
		t.Fatalf("after the yes: %+v", got)
	}
	redeem := "/v1/permits/" + got.Permit.Permit + "/redeem"
	if r := s.as(two, "POST", redeem, forcePush); r.status != http.StatusNotFound {
		t.Errorf("another's permit gives %d %s, want 404", r.status, r.body)
	}
	r := h.run("", "agent", "rotate", "deployer")
	fresh := strings.TrimSpace(r.out)
	if r.code != exitOK || fresh == one {
		t.Fatalf("rotate: %+v", r)
	}
	if r := s.as(one, "POST", redeem, forcePush); r.status != http.StatusUnauthorized {
		t.Errorf("the old token gives %d, want 401", r.status)
	}
	if r := s.as(fresh, "POST", redeem, forcePush); r.status != http.StatusNoContent {
		t.Errorf("the new token gives %d %s, want 204", r.status, r.body)
	}
	waits := s.as(two, "POST", "/v1/proposals", forcePush).answer(t).Approval.ID
	if r := h.run("", "show", strings.ToUpper(string(waits))); r.code != exitOK || !strings.Contains(r.out, string(waits)) {
		t.Errorf("an id in capitals: %+v", r)
	}
	if r := h.run("", "agent", "remove", "coder"); r.code != exitOK {
		t.Errorf("remove: %+v", r)
	}
	if r := h.run("", "why", strings.ToUpper(string(waits))); !strings.Contains(r.out, "denied") || !strings.Contains(r.out, "this agent was removed") {
		t.Errorf("what a removed agent waits for: %+v", r)
	}
	if r := h.run("", "pending"); strings.Contains(r.out, "coder") {
		t.Errorf("a removed agent's call waits:\n%s", r.out)
	}
	if r := s.as(two, "GET", "/v1/turns/t-81", ""); r.status != http.StatusUnauthorized {
		t.Errorf("a removed agent gets %d, want 401", r.status)
	}
	s.stop()
	db, err := os.ReadFile(h.data("vaglio.db"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(db), fresh) || strings.Contains(s.log.String(), fresh) {
		t.Error("a token is kept")
	}
}

// TestAHookWithATokenIsItsAgent runs the hook as an agent other than the user's.
func TestAHookWithATokenIsItsAgent(t *testing.T) {
	t.Parallel()
	h := newHome(t, "METNOS_JUDGE_THRESHOLD=0.75")
	s := h.serve()
	token := s.newAgent("coder")
	h.env = append(h.env, "METNOS_AGENT_TOKEN="+token)
	cmd := h.command(t.Context(), "hook", "claude-code")
	cmd.Stdin = strings.NewReader(hookCall)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if agent := s.waiting(1)[0].Agent; agent != "coder" {
		t.Errorf("the call is %s's", agent)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// TestAgentMistakes checks that each mistake is answered with one sentence and changes nothing.
func TestAgentMistakes(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	h := newHome(t)
	serving := newHome(t)
	s := serving.serve()
	s.newAgent("coder", "--uid", "4711")
	if r := h.run("", "agent", "add", "coder", "--uid", "4711"); r.code != exitOK {
		t.Fatalf("without a daemon: %+v", r)
	}
	file := filepath.Join(h.dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		args []string
		code int
		want string
	}{
		"exists":       {[]string{"add", "coder"}, exitFailed, `there is an agent "coder"`},
		"empty":        {[]string{"add", ""}, exitUsage, "needs <name>"},
		"owner":        {[]string{"add", "owner"}, exitFailed, "not for an agent"},
		"capitals":     {[]string{"add", "Coder"}, exitFailed, "lower-case"},
		"control":      {[]string{"add", "a\x1b[31m"}, exitFailed, "lower-case"},
		"long":         {[]string{"add", strings.Repeat("a", 41)}, exitFailed, "41 characters"},
		"uid taken":    {[]string{"add", "x", "--uid", "4711"}, exitFailed, `is the agent "coder"`},
		"uid ours":     {[]string{"add", "x", "--uid", strconv.Itoa(os.Geteuid())}, exitFailed, `is the agent "default"`},
		"uid nobody":   {[]string{"add", "x", "--uid", "65534"}, exitFailed, "could be anybody"},
		"uid words":    {[]string{"add", "x", "--uid", "joe"}, exitFailed, "not the number of a user"},
		"root":         {[]string{"add", "x", "--workspace", "/"}, exitFailed, "home"},
		"home":         {[]string{"add", "x", "--workspace", h.dir}, exitFailed, "home"},
		"homes":        {[]string{"add", "x", "--workspace", "/home"}, exitFailed, "--workspace"},
		"no folder":    {[]string{"add", "x", "--workspace", file}, exitFailed, "not a folder"},
		"nowhere":      {[]string{"add", "x", "--workspace", file + "/x"}, exitFailed, "--workspace"},
		"no routes":    {[]string{"add", "x", "--route", "release"}, exitFailed, "no routes"},
		"rotate none":  {[]string{"rotate", "x"}, exitFailed, "known: coder, default"},
		"remove none":  {[]string{"remove", "x"}, exitFailed, "known: coder, default"},
		"unknown verb": {[]string{"ad", "x"}, exitUsage, "knows no command"},
	} {
		for where, at := range map[string]*home{"serving": serving, "not serving": h} {
			if name == "home" && where == "serving" {
				continue // This is another agent's home.
			}
			r := at.run("", append([]string{"agent"}, tt.args...)...)
			if r.code != tt.code || !strings.Contains(r.err, tt.want) || strings.Count(strings.TrimSpace(r.err), "\n") > 1 {
				t.Errorf("%s, %s: got %d %q, want %d and %q", name, where, r.code, r.err, tt.code, tt.want)
			}
		}
	}
	for _, at := range []*home{serving, h} {
		if r := at.run("", "agent", "list"); strings.Count(r.out, "\n") != 3 {
			t.Errorf("something was half-done:\n%s", r.out)
		}
	}
}

// TestAnAgentIsAddedAsItsUserNamesIt checks that a workspace is below the folder of who adds the agent,
// not the daemon's, and that the default agent's file has the token that it is given.
func TestAnAgentIsAddedAsItsUserNamesIt(t *testing.T) {
	t.Parallel()
	for where, begin := range map[string]func(*home){"serving": func(h *home) { h.serve() }, "not serving": func(*home) {}} {
		h := newHome(t)
		begin(h)
		work := filepath.Join(h.dir, "src", "work")
		if err := os.MkdirAll(work, 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := h.command(t.Context(), "agent", "add", "coder", "--workspace", "work")
		cmd.Dir = filepath.Dir(work)
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", where, err, said)
		}
		if r := h.run("", "agent", "list"); !strings.Contains(r.out, work) {
			t.Errorf("%s: %s is not among\n%s", where, work, r.out)
		}
		if r := h.run("", "agent", "remove", "default"); r.code != exitOK {
			t.Fatalf("%s: %+v", where, r)
		}
		r := h.run("", "agent", "add", "default")
		if kept, err := os.ReadFile(h.data(datafolder.TokenFile)); r.code != exitOK || err != nil || strings.TrimSpace(string(kept)) != strings.TrimSpace(r.out) {
			t.Errorf("%s: %+v, and the file holds %q: %v", where, r, kept, err)
		}
		r = h.run("", "agent", "rotate", "default")
		if other := h.run("", "agent", "rotate", "coder"); r.code != exitOK || other.code != exitOK {
			t.Fatalf("%s: %+v %+v", where, r, other)
		}
		if kept, err := os.ReadFile(h.data(datafolder.TokenFile)); err != nil || strings.TrimSpace(string(kept)) != strings.TrimSpace(r.out) {
			t.Errorf("%s: after a rotation of both the file holds %q, not default's %s: %v", where, kept, r.out, err)
		}
		none := h.command(t.Context(), "agent", "add", "nowhere", "--workspace", "")
		none.Dir = cmd.Dir
		if said, err := none.CombinedOutput(); err == nil || strings.Contains(h.run("", "agent", "list").out, "nowhere") {
			t.Errorf("%s: a workspace without a name: %s", where, said)
		}
	}
}

// TestAStoreThatCannotBeOpenedChangesNoAgent checks that who adds one is told.
func TestAStoreThatCannotBeOpenedChangesNoAgent(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if err := os.MkdirAll(h.data(datafolder.StoreFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if r := h.run("", "agent", "add", "coder"); r.code != exitFailed || !strings.Contains(r.err, datafolder.StoreFile) || strings.Contains(r.err, "panic") {
		t.Errorf("%+v", r)
	}
}

// TestATokenOfTheConfigurationIsChangedThere checks that no other token takes its place: the daemon
// would not accept it after the next start.
func TestATokenOfTheConfigurationIsChangedThere(t *testing.T) {
	t.Parallel()
	for where, begin := range map[string]func(*home){"serving": func(h *home) { h.serve() }, "not serving": func(*home) {}} {
		h := newHome(t, "METNOS_AGENT_TOKEN="+strings.Repeat("x", 40))
		begin(h)
		if r := h.run("", "agent", "rotate", "default"); r.code != exitFailed || !strings.Contains(r.err, "is METNOS_AGENT_TOKEN; change it there") {
			t.Errorf("%s: %+v", where, r)
		}
		for _, line := range []string{"agent add coder", "agent rotate coder", "agent remove coder"} { // whose token it is not
			if r := h.run("", strings.Fields(line)...); r.code != exitOK {
				t.Errorf("%s, %s: %+v", line, where, r)
			}
		}
		var listed owner.AgentList
		r := h.run("", "agent", "list", "--json")
		if err := strictjson.Unmarshal([]byte(r.out), &listed); err != nil || len(listed.Agents) != 1 || listed.Agents[0].Name != agents.Default {
			t.Errorf("%s: %v in %s", where, err, r.out)
		}
	}
}

// TestAPolicyNamesAgentsThatThereAre starts under a policy whose agents are added and removed.
func TestAPolicyNamesAgentsThatThereAre(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	h := newHome(t, "METNOS_JUDGE_THRESHOLD=0.75")
	policy := filepath.Join(h.dir, "policy.yaml")
	text := `approval:
  members: {owner: ["web:owner"], ann: ["web:ann"]}
  agents: {deploier: owner, "*": owner}
  routes: [{name: all, approvers: [owner]}, {name: careful, approvers: [ann]}]
  rules:
    - {agents: [deployer], executors: [nothing], route: careful}
    - {route: all}
`
	write := func(text string) {
		if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(text)
	h.env = append(h.env, "METNOS_POLICY="+policy)
	if r := h.run("", "policy", "check", policy); r.code != exitOK || !strings.Contains(r.out, "unchecked  the agents deploier, deployer") {
		t.Errorf("without an instance: %+v", r)
	}
	if r := h.run("", "agent", "add", "deployer"); r.code != exitOK {
		t.Fatalf("%+v", r)
	}
	for _, args := range [][]string{{"policy", "check", policy}, {"serve"}} {
		r := h.run("", args...)
		if r.code == exitOK || !strings.Contains(r.err, `:3:`) || !strings.Contains(r.err, `did you mean "deployer"?`) {
			t.Errorf("%s: %d %s", args, r.code, r.err)
		}
	}
	write(strings.Replace(text, "deploier", "deployer", 1))
	if r := h.run("", "policy", "check", policy); r.code != exitOK || strings.Contains(r.out, "unchecked  the agents") {
		t.Errorf("a good policy: %+v", r)
	}
	s := h.serve()
	if r := h.run("", "agent", "remove", "deployer"); r.code != exitFailed || !strings.Contains(r.err, "remove it there first") {
		t.Errorf("removing a named agent: %+v", r)
	}
	if r := h.run("", "agent", "add", "x", "--route", "carefull"); r.code != exitFailed || !strings.Contains(r.err, "known: all, careful") {
		t.Errorf("a route that is none: %+v", r)
	}
	token := s.newAgent("own-route", "--route", "careful")
	for _, who := range []struct {
		token   string
		decides bool
	}{{s.agentToken(), true}, {token, false}} {
		asked := s.as(who.token, "POST", "/v1/proposals", forcePush).answer(t)
		person := s.signIn(strings.TrimSpace(h.run("", "inbox").out))
		form := buttons(t, person.get("/inbox/ask/"+string(asked.Approval.ID.Ask())).body)["allow"]
		if got := form != nil && person.post("/inbox/decide", form).status == http.StatusOK; got != who.decides {
			t.Errorf("the owner may decide: %t, want %t", got, who.decides)
		}
	}
}

// TestAnAgentIsStoppedByName stops an agent that never asked, and lets it go on. An unknown agent,
// or a stop of zero length, is refused.
func TestAnAgentIsStoppedByName(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.serve()
	token := s.newAgent("coder")
	for _, args := range [][]string{{"stop", "nobody"}, {"stop", "coder", "--for", "0s"}, {"go", "coder"}} {
		if r := h.run("", args...); r.code != exitFailed || r.out != "" {
			t.Errorf("%q: %d %s", args, r.code, r.out)
		}
	}
	if r := s.as(token, "POST", "/v1/proposals", forcePush).answer(t); r.Decision != approval.RulingPending {
		t.Errorf("before it is stopped: %+v", r)
	}
	s.newAgent("newcomer")
	for _, name := range []string{"newcomer", "coder"} {
		if r := h.run("", "stop", name, "--for", "1h", "--words", "not now"); r.code != exitOK {
			t.Errorf("stop %s: %d %s", name, r.code, r.err)
		}
	}
	if r := s.as(token, "POST", "/v1/proposals", forcePush).answer(t); r.Decision != approval.RulingDeny || r.Refusal.Words != "not now" {
		t.Errorf("while it is stopped: %+v", r)
	}
	if r := h.run("", "go"); r.code != exitOK || strings.Count(r.out, "\n") != 2 {
		t.Errorf("go: %d %q %s", r.code, r.out, r.err)
	}
}

// TestInstallNamesTheClient checks that a client installed where a daemon has run becomes an agent
// of its own, whose hook goes on with a new token and stops with the agent.
func TestInstallNamesTheClient(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	h := newHome(t)
	settings := filepath.Join(h.dir, ".claude", "settings.json")
	install := func() string {
		t.Helper()
		if r := h.run("", "install", "claude-code", "--yes"); r.code != exitOK {
			t.Fatalf("%d %s%s", r.code, r.out, r.err)
		}
		text, err := os.ReadFile(settings)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if text := install(); strings.Contains(text, "--agent") {
		t.Errorf("an agent of a daemon that never ran:\n%s", text)
	}
	s := h.serve()
	if r := h.run("no\n", "install", "claude-code"); r.code != exitFailed || strings.Contains(h.run("", "agent", "list").out, "claude-code") {
		t.Errorf("a no: %d %s%s", r.code, r.out, r.err)
	}
	for range 2 {
		if text := install(); !strings.Contains(text, "\"--agent\",\n") || !strings.Contains(text, "\"claude-code\"") || !strings.Contains(text, "\"--data\",\n") {
			t.Fatalf("%s", text)
		}
	}
	if r := h.run("", "agent", "list"); strings.Count(r.out, "claude-code") != 1 {
		t.Errorf("%s", r.out)
	}
	session := "s"
	hook := func() string {
		call := fmt.Sprintf(`{"session_id":"`+session+`","cwd":%q,"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git push --force origin main"},"tool_use_id":"u"}`, h.dir)
		r := h.run(call, "hook", "claude-code", "--limit", "1s", "--agent", "claude-code")
		return r.out + r.err
	}
	if said := hook(); !strings.Contains(said, "held as") {
		t.Fatal(said)
	}
	if agent := s.waiting(1)[0].Agent; agent != "claude-code" {
		t.Errorf("it is %s's", agent)
	}
	if r := h.run("", "agent", "rotate", "claude-code"); r.code != exitOK {
		t.Fatalf("%d %s%s", r.code, r.out, r.err)
	}
	if said := hook(); !strings.Contains(said, "held as") {
		t.Error(said)
	}
	kept := hookmain.TokenFile(h.data("."), "claude-code")
	if err := errors.Join(os.Remove(kept), os.MkdirAll(filepath.Join(kept, "full"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if r := h.run("", "agent", "rotate", "claude-code"); r.code != exitFailed { // the hook has the old token
		t.Errorf("a token that cannot be kept: %+v", r)
	}
	if err := os.RemoveAll(kept); err != nil {
		t.Fatal(err)
	}
	if r := h.run("", "agent", "remove", "claude-code"); r.code != exitOK {
		t.Fatalf("%d %s%s", r.code, r.out, r.err)
	}
	if said := hook(); !strings.Contains(said, `"deny"`) || strings.Contains(said, "held as") {
		t.Error(said)
	}
	session = "s2" // in the other one, what waited was denied
	if text := install(); !strings.Contains(text, "--agent") || !strings.Contains(hook(), "held as") {
		t.Error("it is not named anew")
	}
	if err := os.Remove(h.data("agents/claude-code.token")); err != nil {
		t.Fatal(err)
	}
	if said := hook(); !strings.Contains(said, `"deny"`) || !strings.Contains(said, "vaglio install") {
		t.Error(said)
	}
}
