package main

import (
	"fmt"
	"html"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio/judge/model/modeltest"
)

// tester is a scripted model that plays a judge agent: it finds the code, applies the proposed
// patch to its private copy, runs the tests there, and grades by their result.
func tester(s modeltest.Seen) modeltest.Step {
	patch := "good.patch"
	if strings.Contains(s.Texts[0], "bad.patch") {
		patch = "bad.patch"
	}
	if strings.Contains(s.Texts[0], `"name": "read_file"`) {
		return modeltest.Step{Text: `{"score":0.99,"confidence":1,"reasoning":"It changes nothing."}`}
	}
	last := s.Texts[len(s.Texts)-1]
	switch strings.Count(s.Said(), `<quoted name="result of `) {
	case 0:
		return modeltest.Step{Calls: []modeltest.Call{{Name: "ast_grep_search", Args: `{"pattern":"func Add($$$) int { $$$ }","language":"go"}`}}}
	case 1:
		return modeltest.Step{Calls: []modeltest.Call{{Name: "cmd_run", Args: `{"command":"git apply ` + patch + `"}`}}}
	case 2:
		return modeltest.Step{Calls: []modeltest.Call{{Name: "cmd_run", Args: `{"command":"go test ./..."}`}}}
	}
	if strings.Contains(last, `"exit_code":0`) {
		return modeltest.Step{Text: `{"score":0.95,"confidence":0.9,"reasoning":"With the patch all tests pass."}`}
	}
	return modeltest.Step{Text: `{"score":0.05,"confidence":0.95,"reasoning":"With the patch TestAdd fails: 2 + 3 is no longer 5.",` +
		`"signals":[{"category":"tests","score":0,"message":"go test ./... ends with an error"}]}`}
}

// project creates a small one with a test, a patch that keeps it passing and one that breaks it.
func project(t *testing.T, dir string) {
	t.Helper()
	for name, text := range map[string]string{
		"go.mod":      "module sample\n\ngo 1.26\n",
		"add.go":      "package sample\n\n// Add adds.\nfunc Add(a, b int) int {\n\treturn a + b\n}\n",
		"add_test.go": "package sample\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif got := Add(2, 3); got != 5 {\n\t\tt.Errorf(\"2 + 3 is %d\", got)\n\t}\n}\n",
		"good.patch":  "--- a/add.go\n+++ b/add.go\n@@ -2,5 +2,5 @@\n \n // Add adds.\n func Add(a, b int) int {\n-\treturn a + b\n+\treturn b + a\n }\n",
		"bad.patch":   "--- a/add.go\n+++ b/add.go\n@@ -2,5 +2,5 @@\n \n // Add adds.\n func Add(a, b int) int {\n-\treturn a + b\n+\treturn a - b\n }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDemoJudge shows a judge agent at work, with the second seed's manifest and real bubblewrap,
// ast-grep and go test. It is run by `make demo-judge`.
func TestDemoJudge(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles a project twice, in a sandbox")
	}
	astGrep, err := filepath.Abs("../../vaglio/judge/sandbox/astgrep/node_modules/@ast-grep/cli/ast-grep")
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{astGrep, "bwrap", "go", "git"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not here: make demo-judge installs ast-grep; the others come from the system", program)
		}
	}
	mind := modeltest.Start(modeltest.OpenAI, tester)
	defer mind.Close()
	h, work := newHome(t), sharedFolder(t)
	project(t, work)
	manifest := strings.Replace(seedManifest, `["pytest", "npm test"]`, `["go test", "git apply"]`, 1)
	policy := fmt.Sprintf("models: [{name: local, api: openai, base_url: %q, model: m}]\nworkspaces: [%q]\n", mind.URL(), work) +
		"judge_agents:\n  - name: qa-judge\n    model: local\n    scratch: copy\n" + indented(manifest, "    ") +
		"execution:\n  tool_validation:\n    - type: semantic\n      judge_agent: qa-judge\n      criteria: The tests must pass with the change.\n"
	file := filepath.Join(h.dir, "policy.yaml")
	if err := os.WriteFile(file, []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	h.env = []string{"METNOS_POLICY=" + file, "PATH=" + filepath.Dir(astGrep) + ":" + os.Getenv("PATH")}
	s := h.serve()
	call := func(step int, patch string) string {
		return fmt.Sprintf(`{"turn_id":"t","step":%d,"intent":"make Add faster","executor":"shell_exec","args":{"command":"git apply %s"},"context":{"cwd":%q}}`, step, patch, work)
	}
	// judged proposes until the judges have answered, as an agent does.
	judged := func(body string) approval.Answer {
		for {
			a := s.agent("POST", "/v1/proposals?wait=30s", body).answer(t)
			if a.Decision != approval.RulingPending || a.Approval != nil {
				return a
			}
		}
	}
	good := judged(call(1, "good.patch"))
	t.Logf("good.patch: %s: %s", good.Decision, good.Verdict.Results[1].Reasoning)
	if good.Decision != "allow" || len(mind.Seen()) == 0 || good.Verdict.Results[1].Score != 0.95 {
		t.Fatalf("%+v\n%+v", good.Verdict, mind.Seen())
	}
	judged(call(2, "bad.patch"))
	asked := s.waiting(1)[0]
	t.Logf("bad.patch waits for a person: %s", asked.Refusal.Why)
	somebody := s.signIn(s.link)
	card := html.UnescapeString(somebody.get("/inbox").body)
	for _, want := range []string{"With the patch TestAdd fails: 2 + 3 is no longer 5.", "semantic:qa-judge"} {
		if !strings.Contains(card, want) {
			t.Errorf("the card does not have %q", want)
		}
	}
	_, at, linked := strings.Cut(card, `href="/inbox/judgement/`)
	at, _, _ = strings.Cut(at, `"`)
	if page := somebody.get("/inbox/judgement/" + at); !linked || page.status != http.StatusOK || !strings.Contains(page.body, "called cmd.run") {
		t.Errorf("the page of the judgement: %d", page.status)
	}
	if !strings.Contains(asked.Refusal.Why, `"With the patch TestAdd fails: 2 + 3 is no longer 5."`) {
		t.Errorf("the card says: %s", asked.Refusal.Why)
	}
	why := h.run("", "why", string(asked.ID))
	for _, want := range []string{"bubblewrap", "[called cmd.run]", "go test ./...", "FAIL", "[tool ast_grep.search]", "return a + b"} {
		if !strings.Contains(why.out, want) {
			t.Errorf("vaglio why does not tell %q:\n%s", want, why.out)
		}
	}
	somebody.decide("allow", "")
	a := judged(call(2, "bad.patch"))
	t.Logf("after the click: %s, with a permit", a.Decision)
	if a.Decision != "allow" || a.Permit == nil {
		t.Fatalf("%+v", a)
	}
	if r := s.agent("POST", "/v1/permits/"+a.Permit.Permit+"/redeem", call(2, "bad.patch")); r.status != http.StatusNoContent {
		t.Errorf("redeem: %d", r.status)
	}
	next := judged(fmt.Sprintf(`{"turn_id":"t","step":3,"intent":"make Add faster","executor":"read_file","args":{"path":"good.patch"},"context":{"cwd":%q}}`, work))
	t.Logf("the turn goes on: %s", next.Decision)
	if next.Decision != "allow" {
		t.Errorf("the next call of the turn: %+v", next)
	}
	if text, err := os.ReadFile(filepath.Join(work, "add.go")); err != nil || !strings.Contains(string(text), "return a + b") {
		t.Errorf("the judge changed the agent's folder: %s, %v", text, err)
	}
}
