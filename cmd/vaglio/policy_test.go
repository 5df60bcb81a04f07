package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
)

func TestPolicyMistakesSayWhere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"Empty":          {"", "p.yaml is empty"},
		"UnknownKey":     {"closed: true\nexecutor: []\n", `p.yaml:2:1: unknown field "executor"`},
		"UnknownInside":  {"executors:\n  - name: a\n    skip_juge: true\n", `p.yaml:3:5: unknown field "skip_juge"`},
		"DuplicateKey":   {"closed: true\nclosed: false\n", "p.yaml:2:1: "},
		"WrongType":      {"closed: perhaps\n", "p.yaml:1:9: "},
		"NotYAML":        {"executors: [\n", "p.yaml:1:"},
		"TwoDocuments":   {"closed: true\n---\nclosed: false\n", "p.yaml holds more than one document"},
		"NoName":         {"executors: [{shell: true}]\n", "p.yaml:1:13: "},
		"BadSchema":      {"executors: [{name: a, args_schema: {type: objekt}}]\n", "a"},
		"SameNameTwice":  {"executors: [{name: a}, {name: a}]\n", "a"},
		"SeveralAtOnce":  {"executors: [{name: a, args_schema: {type: objekt}}, {name: b}, {name: b}]\n", "; "},
		"ListAtTheTop":   {"- name: a\n", "p.yaml:1:"},
		"NothingButText": {"hello\n", "p.yaml:1:"},

		"NoType":        {"execution:\n  tool_validation:\n    - min_score: 0.5\n", "p.yaml:3:"},
		"UnknownType":   {"execution:\n  tool_validation:\n    - type: regex\n", `p.yaml:3:13: execution.tool_validation[0].type is "regex"`},
		"ScoreTooHigh":  {"execution:\n  tool_validation:\n    - type: effects\n      min_score: 1.5\n", "p.yaml:4:18: execution.tool_validation[0].min_score is not"},
		"ScoreNaN":      {"execution:\n  tool_validation:\n    - type: effects\n      min_score: .nan\n", "min_score is not a number from 0 to 1"},
		"NoAgent":       {"execution:\n  tool_validation:\n    - type: semantic\n      criteria: x\n", "lacks judge_agent"},
		"NoCriteria":    {"execution:\n  tool_validation:\n    - type: semantic\n      judge_agent: x\n", "lacks criteria"},
		"NoTime":        {"execution:\n  tool_validation:\n    - {type: semantic, judge_agent: x, criteria: y, timeout_seconds: 0}\n", "timeout_seconds is 0"},
		"AgentOfEffect": {"execution:\n  tool_validation:\n    - {type: effects, judge_agent: x}\n", "takes min_score and min_confidence only"},
		"NoReach":       {"programs:\n  bd: everywhere\n", `p.yaml:2:7: programs: bd reaches "everywhere"; want one of [workspace user`},
		"NoProgram":     {"programs:\n  ./bd: workspace\n", `p.yaml:2:9: programs: ./bd is no program's name`},
		"UnknownField":  {"execution:\n  tool_validation:\n    - type: effects\n      min_scor: 1\n", `p.yaml:4:7: unknown field "min_scor"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parsePolicy("p.yaml", []byte(c.text), "/home/u")
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one line with %q", err, c.want)
			}
		})
	}
}

// routed is a policy that says who may decide.
const routed = `
approval:
  members:
    ann: ["web:owner", "telegram:4711"]
    bob: ["telegram:4712"]
  agents: {"*": ann}
  routes:
    - {name: careful, approvers: [ann, bob], quorum: 2, separate: true, deadline: 1h, escalate: {after: 20m, to: quick}}
    - {name: quick, channels: [telegram], approvers: [bob]}
    - {name: usual, approvers: [anyone]}
  rules:
    - {agents: [deployer], effects: [delete, publish], reaches: [shared, public], route: careful}
    - {executors: [db_exec], route: quick}
    - {route: usual}
`

func TestMistakesInWhoMayDecide(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, new, want string }{
		"NoSuchEffect": {"[delete, publish]", "[delte]", `approval: rule 1 asks for the effect "delte"; there is read, create, overwrite, delete`},
		"NoSuchReach":  {"[shared, public]", "[world]", `rule 1 asks for the reach "world"; there is workspace, user`},
		"NoQuorum":     {"quorum: 2", "quorum: 3", `route "careful" wants 3 people to allow and names 2`},
		"NoChannel":    {"channels: [telegram]", "channels: [pigeon]", `route "quick" goes to the channel "pigeon"; there is telegram, slack, web`},
		"LongDeadline": {"deadline: 1h", "deadline: 48h", `route "careful" has the deadline "48h", which is no time between 1m and 24h`},
		"NoTime":       {"after: 20m", "after: soon", `route "careful" has the escalate.after "soon"`},
		"NoLastRule":   {"- {route: usual}", "", `rule 2 is the last one and has conditions`},
		"UnknownKey":   {"separate: true", "seperate: true", `unknown field "seperate"`},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(routed, c.old, c.new, 1)
			_, err := parsePolicy("p.yaml", []byte(text), "/home/u")
			if text == routed || err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one line with %q", err, c.want)
			}
		})
	}
}

// The example of the documentation is one.
func TestTheDocumentedApprovers(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/approvers.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(doc), "```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	p, err := parsePolicy("p.yaml", []byte(text), "/home/u")
	if err != nil || len(p.routing.Routes) != 3 || p.checkChannels(config{Telegram: telegramConfig{Token: "x"}}) != nil {
		t.Errorf("got %+v, %v", p.routing, err)
	}
	for _, name := range slices.Concat(effectKinds(), reachKinds()) {
		if !strings.Contains(string(doc), name) {
			t.Errorf("the effect or reach %s is not told", name)
		}
	}
}

func TestWhoMayDecideIsRead(t *testing.T) {
	t.Parallel()
	p, err := parsePolicy("p.yaml", []byte(routed), "/home/u")
	if err != nil {
		t.Fatal(err)
	}
	c := approval.Case{Agent: "deployer", Effects: []string{"delete"}, Reaches: []string{"public"}}
	want := approval.Route{
		Name: "careful", Approvers: []string{"ann", "bob"}, Quorum: 2, Separate: true,
		Deadline: time.Hour, EscalateAfter: 20 * time.Minute, EscalateTo: "quick",
	}
	if got := p.routing.For(c); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := telegramIDs(&p.routing); !slices.Equal(got, []int64{4711, 4712}) {
		t.Errorf("who is listened to on Telegram: %v", got)
	}
	if err := p.checkChannels(config{Telegram: telegramConfig{Token: "x"}}); err != nil {
		t.Errorf("with a bot: %v", err)
	}
	if err := p.checkChannels(config{}); err == nil || !strings.Contains(err.Error(), "who is on no channel that there is: web") {
		t.Errorf("without a bot: %v", err)
	}
	var b strings.Builder
	describeRouting(&b, &p.routing)
	if want := "route      careful: ann, bob; 2 of them must allow; not the agent's own person alone; after 20m0s quick too\n"; !strings.HasPrefix(b.String(), want) {
		t.Errorf("in words:\n%s", b.String())
	}
}

func TestAPolicyIsKept(t *testing.T) {
	t.Parallel()
	const text = `
closed: true
executors:
  - name: read_file
    args_schema:
      type: object
      properties: {path: {type: string, maxLength: 100}, lines: {type: integer, minimum: 1}}
      required: [path]
      additionalProperties: false
    capabilities: [{name: "fs:read", hint: ["~/work/**"]}]
    critical: false
    skip_judge: true
    annotations: {title: Read a file, readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false}
`
	p, err := parsePolicy("p.yaml", []byte(text), "/home/u")
	if err != nil {
		t.Fatal(err)
	}
	known := p.catalog
	for name, c := range map[string]struct {
		executor string
		args     map[string]any
		want     string
	}{
		"Fits":         {"read_file", map[string]any{"path": "/home/u/work/a"}, ""},
		"OutsideScope": {"read_file", map[string]any{"path": "/srv/a"}, "path"},
		"Missing":      {"read_file", map[string]any{}, "path"},
		"Unknown":      {"read_file", map[string]any{"path": "/home/u/work/a", "x": "y"}, "x"},
		"NotListed":    {"write_file", map[string]any{}, "write_file"},
	} {
		t.Run(name, func(t *testing.T) {
			err := known.Check(c.executor, c.args, "")
			if c.want == "" && err != nil {
				t.Error(err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want an error about %q", err, c.want)
			}
		})
	}
	if ex, ok := known.Find("read_file"); !ok || ex.Critical == nil || *ex.Critical || !ex.SkipJudge ||
		ex.Annotations == nil || ex.Annotations.Title != "Read a file" || !*ex.Annotations.ReadOnlyHint || *ex.Annotations.DestructiveHint {
		t.Errorf("the catalog knows %+v", ex)
	}
}

func TestAPolicysMistakesSayWhereAndWhat(t *testing.T) {
	t.Parallel()
	for _, tt := range [][2]string{
		{"closed: true\nexecuters: []\n", `p.yaml:2:1: unknown field "executers"; did you mean "executors"?`},
		{"closed: true\nwhatever: 1\n", `p.yaml:2:1: unknown field "whatever"`},
		{"closed: maybe\n", "p.yaml:1:9: this is a text; true or false is wanted"},
		{"- a\n", "p.yaml:1:1: this is a list; a mapping is wanted"},
		{"executors: a\n", "p.yaml:1:12: this is a text; a list is wanted"},
		{"executors:\n  - name: [a]\n", "p.yaml:2:11: this is a list; a text is wanted"},
		{"executors:\n  - name: a\n  - shell: true\n", "p.yaml:3:10: executor 2 has no name; give it one"},
		{"executors:\n  - name: a\n  - name: a\n", `p.yaml:3:11: executor "a" is listed twice; list it once`},
		{"executors:\n  - name: a\n    args_schema: {type: strng}\n", `p.yaml:3:18: executor "a": args_schema is no JSON Schema`},
		{"executors:\n  - name: a\n    capabilities: [{name: \"fs:read\", hint: [work]}]\n", `p.yaml:3:19: executor "a": capability "fs:read": hint "work" is no absolute path`},
		{"executors:\n  - name: a\n    annotations: {readonlyHint: true}\n", `p.yaml:3:19: unknown field "readonlyHint"; did you mean "readOnlyHint"?`},
		{"execution:\n  tool_validation:\n    - {type: effects, min_score: high}\n", "p.yaml:3:34: this is a text; a number is wanted"},
		{"executors:\n  - shell: true\n  - shell: true\n", "executor 1 has no name; give it one; p.yaml:3:10: executor 2"},
	} {
		text, want := tt[0], tt[1]
		_, err := parsePolicy("p.yaml", []byte(text), "/home/u")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestThePolicysJudges(t *testing.T) {
	t.Parallel()
	semantic := "execution:\n  tool_validation:\n    - type: semantic\n      judge_agent: security-judge\n" +
		"      criteria: |\n        Is it safe?\n      min_score: 0.85\n      min_confidence: 0.0\n      timeout_seconds: 300\n"
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"LeftOut":  {"closed: true\n", []string{"effects 0.5"}},
		"None":     {"execution: {tool_validation: []}\n", nil},
		"Stricter": {"execution: {tool_validation: [{type: effects, min_score: 0.8}]}\n", []string{"effects 0.8"}},
		"Semantic": {semantic, []string{"semantic 0.85"}},
		"Defaults": {"execution: {tool_validation: [{type: semantic, judge_agent: a, criteria: b}]}\n", []string{"semantic 0.7"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := parsePolicy("p.yaml", []byte(c.text), "/home/u")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, v := range p.judges {
				got = append(got, fmt.Sprintf("%s %v", v.Type, v.minScore()))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	h := newHome(t)
	file := filepath.Join(h.dir, "semantic.yaml")
	if err := os.WriteFile(file, []byte(semantic), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := h.run("", "policy", "check", file); r.code != 0 || !strings.Contains(r.out, "semantic") {
		t.Errorf("check: exit code %d\n%s%s", r.code, r.out, r.err)
	}
	if r := h.run(approvedLine, "judge", "--policy", file); r.code != exitJudgeUsage || !strings.Contains(r.err, `judge agents such as "security-judge" cannot be run`) {
		t.Errorf("judge: exit code %d\n%s", r.code, r.err)
	}
}

// FuzzPolicy looks for a file that makes the reader panic, or complain without
// naming the file.
func FuzzPolicy(f *testing.F) {
	for _, seed := range []string{
		"", "closed: true\n", "executors: [{name: a, args_schema: {type: object}}]\n",
		"executors:\n  - name: a\n    capabilities: [{name: \"fs:read\", hint: [\"~/**\"]}]\n", "a: &x [*x]\n", "? [\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parsePolicy("p.yaml", []byte(text), "/home/u")
		known := p.catalog
		if (known == nil) == (err == nil) {
			t.Fatalf("a catalog %v and the error %v", known, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "METNOS_POLICY: p.yaml") {
			t.Errorf("the error %q does not name the file", err)
		}
	})
}
