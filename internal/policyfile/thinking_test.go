package policyfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// thoughtful is a policy with judges that ask models; KEYS stands for the key files' folder.
const thoughtful = `
models:
  - {name: local, api: openai, base_url: "http://127.0.0.1:11434/v1", model: "qwen3:8b", price: {input: 0, output: 0}}
  - {name: far, api: anthropic, model: claude, price: {input: 3, output: 15}, key_file: KEYS/good}
llm: {model: local, min_score: 0.5, share_args: masked, timeout_seconds: 30}
judge_agents:
  - name: qa
    model: far
    prompt: You look after the tests.
    tools:
      - {name: cmd.run, allowlist: ["go test", pytest]}
      - {name: fs.read}
    network: none
    limits: {turns: 5, tokens: 9000}
    tool_validation:
      - {type: semantic, judge_agent: other, criteria: c}
  - name: other
    model: local
workspaces: [/srv/app, "~/work"]
judge_budget: {calls_per_day: 100, cost_per_day: 2.5, above: rules}
execution:
  tool_validation:
    - {type: semantic, judge_agent: qa, criteria: Is it right?}
`

// keys creates a folder with good and bad key files.
func keys(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"good": 0o600, "open": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("sk-good-key-of-the-test\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestMistakesInJudgesThatThink(t *testing.T) {
	t.Parallel()
	dir := keys(t)
	text := strings.ReplaceAll(thoughtful, "KEYS", dir)
	if _, err := Parse("p.yaml", []byte(text), "/home/u"); err != nil {
		t.Fatalf("the whole is refused: %v", err)
	}
	for name, c := range map[string]struct{ old, new, want string }{
		"UnknownAgent":   {"judge_agent: qa", "judge_agent: qb", `p.yaml:23:37: execution.tool_validation[0].judge_agent is "qb"; known: qa, other`},
		"UnknownBelow":   {"judge_agent: other", "judge_agent: third", `judge_agents[0].tool_validation[0].judge_agent is "third"; known: qa, other`},
		"UnknownModel":   {"model: far\n", "model: near\n", `p.yaml:8:12: judge_agents[0].model is "near"; known: local, far`},
		"NoModel":        {"llm: {model: local, ", "llm: {", `llm.model is missing; known: local, far`},
		"UnknownTool":    {"fs.read", "fs.write", `judge_agents[0].tools[1].name is "fs.write"; known: cmd.run, ast_grep.search, fs.read`},
		"UnknownKey":     {"network: none", "netwrok: none", `unknown field "netwrok"; did you mean "network"?`},
		"ToolTwice":      {"fs.read", "cmd.run, allowlist: [a]", `tools[1].name is "cmd.run", which is listed already`},
		"NoAllowlist":    {`allowlist: ["go test", pytest]`, "allowlist: []", `judge_agents[0].tools[0].allowlist is missing`},
		"AllowsShell":    {"pytest", `"pytest && rm -rf /"`, `allowlist[1] is "pytest && rm -rf /": it is more than plain words`},
		"AllowsPath":     {"pytest", "/tmp/pytest", "a program is named without its folder"},
		"AllowsNothing":  {"pytest", `" "`, "it is empty"},
		"OddNetwork":     {"network: none", "network: some", `network is "some"; it is none, or open`},
		"OddScratch":     {"network: none", "scratch: move", `scratch is "move"; it is none, or copy`},
		"TurnsTooMany":   {"turns: 5", "turns: 1000", "p.yaml:14:21: judge_agents[0].limits.turns is 1000; it is a number from 1 to 100"},
		"TurnsTooFew":    {"turns: 5", "turns: 0", "limits.turns is 0"},
		"TokensTooFew":   {"tokens: 9000", "tokens: 9", "limits.tokens is 9; it is a number from 1000"},
		"Circle":         {"  - name: other\n    model: local\n", "  - name: other\n    model: local\n    tool_validation: [{type: semantic, judge_agent: qa, criteria: c}]\n", "goes in a circle: qa → other → qa"},
		"Itself":         {"judge_agent: other", "judge_agent: qa", "goes in a circle: qa → qa"},
		"KeyForAll":      {dir + "/good", dir + "/open", "key_file cannot be used"},
		"NoKey":          {dir + "/good", dir + "/none", "key_file cannot be used"},
		"KeyRelative":    {dir + "/good", "good", "key_file is not an absolute path"},
		"FarAndPlain":    {"http://127.0.0.1:11434/v1", "http://example.org/v1", "p.yaml:3:42: models[0].base_url is not encrypted and on another machine"},
		"KeyInAddress":   {"http://127.0.0.1:11434/v1", "https://me:hunter2@example.org/v1", "a key belongs into key_file"},
		"NoAddress":      {"http://127.0.0.1:11434/v1", "127.0.0.1", "is not an address such as"},
		"OddAPI":         {"api: anthropic", "api: gemini", `models[1].api is "gemini"; it is openai`},
		"SameModel":      {"name: far", "name: local", `models[1].name is "local", which another one is named`},
		"SameAgent":      {"name: other", "name: qa", `judge_agents[1].name is "qa", which another one is named`},
		"OddName":        {"name: other", `name: "other one"`, "it is 1 to 64 letters"},
		"NegativePrice":  {"input: 3", "input: -3", "models[1].price.input is not a price"},
		"EndlessPrice":   {"output: 15", "output: .inf", "models[1].price.output is not a price"},
		"NoPrice":        {", price: {input: 0, output: 0}", "", "p.yaml:3:5: models[0].price is missing, so judge_budget.cost_per_day would not hold local"},
		"HalfAPrice":     {"{input: 3, output: 15}", "{output: 15}", "models[1].price.input is missing; give both sides"},
		"AllFree":        {"{input: 3, output: 15}", "{input: 0, output: 0}", "judge_budget.cost_per_day limits nothing, because all models are free: give calls_per_day"},
		"ScoreOfLLM":     {"min_score: 0.5", "min_score: 50", "llm.min_score is not a number from 0 to 1"},
		"ShareAll":       {"share_args: masked", "share_args: all", `llm.share_args is "all"; it is none`},
		"TimeOfLLM":      {"timeout_seconds: 30", "timeout_seconds: 0", "llm.timeout_seconds is 0"},
		"RelativeFolder": {"/srv/app", "srv", `workspaces: "srv" is not an absolute path`},
		"WholeMachine":   {"/srv/app", "/", "is a home or a folder of the system"},
		"WholeHome":      {"~/work", "~/", "is a home or a folder of the system"},
		"EmptyBudget":    {"calls_per_day: 100, cost_per_day: 2.5, ", "", "judge_budget bounds nothing"},
		"NoCalls":        {"calls_per_day: 100", "calls_per_day: 0", "judge_budget.calls_per_day is 0"},
		"NoCost":         {"cost_per_day: 2.5", "cost_per_day: .nan", "judge_budget.cost_per_day is not a number above 0"},
		"OddAbove":       {"above: rules", "above: pass", `judge_budget.above is "pass"; it is ask`},
	} {
		t.Run(name, func(t *testing.T) {
			broken := strings.Replace(text, c.old, c.new, 1)
			_, err := Parse("p.yaml", []byte(broken), "/home/u")
			if broken == text || err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "sk-good") {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if err != nil && !strings.HasPrefix(err.Error(), "METNOS_POLICY: p.yaml:") {
				t.Errorf("no place: %v", err)
			}
		})
	}
}

// Without a limit on cost, no price need be known.
func TestPriceIsAskedForByABoundOfCostAlone(t *testing.T) {
	t.Parallel()
	text := strings.ReplaceAll(thoughtful, "KEYS", keys(t))
	for _, cut := range []string{", price: {input: 0, output: 0}", ", price: {input: 3, output: 15}", ", cost_per_day: 2.5"} {
		text = strings.Replace(text, cut, "", 1)
	}
	p, err := Parse("p.yaml", []byte(text), "/home/u")
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Thinking.Models[1].Costs(); got.Input != 0 || got.Output != 0 {
		t.Errorf("costs %v", got)
	}
}

// The examples in docs/judges.md are valid policies.
func TestTheDocumentedJudges(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/judges.md")
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for i, part := range strings.Split(string(doc), "```yaml\n")[1:] {
		text, _, _ := strings.Cut(part, "```")
		all += text
		if p, err := Parse("p.yaml", []byte(all), "/home/u"); err != nil || i == 1 && (len(p.Thinking.JudgeAgents) != 1 || len(p.Judges) != 1) {
			t.Errorf("up to example %d: %v", i+1, err)
		}
	}
	if strings.Count(string(doc), "```yaml\n") != 2 {
		t.Error("the examples are others than they were")
	}
}

// Only the judges look at a shell's command, so no shell may skip them.
func TestNoShellSkipsTheJudges(t *testing.T) {
	t.Parallel()
	for executor, refused := range map[string]bool{
		"{name: x, shell: true, skip_judge: true}":                         true,
		"{name: x, capabilities: [{name: 'code:exec'}], skip_judge: true}": true,
		"{name: Bash, skip_judge: true}":                                   true,
		"{name: run_shell_command, skip_judge: true}":                      true,
		"{name: python, skip_judge: true}":                                 true,
		"{name: shell_exec, skip_judge: true}":                             true,
		"{name: Workflow, skip_judge: true}":                               true, // of Claude Code: a program under another key
		"{name: multi_tool_use.parallel, skip_judge: true}":                true,
		"{name: batch_get, skip_judge: true}":                              false,
		"{name: read_file, skip_judge: true}":                              false,
		"{name: now, skip_judge: true}":                                    false,
		"{name: web_search, skip_judge: true}":                             false,
		"{name: Bash}":                                                     false,
	} {
		_, err := Parse("p.yaml", []byte("executors:\n  - "+executor+"\n"), "/home/u")
		if refused != (err != nil && strings.Contains(err.Error(), "p.yaml:2:") && strings.Contains(err.Error(), "skip_judge is for what only reads")) {
			t.Errorf("%s: %v", executor, err)
		}
	}
}
