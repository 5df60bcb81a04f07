package policyfile

import (
	"errors"
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
		"ListAtTheTop":   {"- name: a\n", "p.yaml:1:"},
		"NothingButText": {"hello\n", "p.yaml:1:"},

		"NoType":        {"execution:\n  tool_validation:\n    - min_score: 0.5\n", "p.yaml:3:"},
		"UnknownType":   {"execution:\n  tool_validation:\n    - type: regex\n", `p.yaml:3:13: execution.tool_validation[0].type is "regex"`},
		"ScoreTooHigh":  {"execution:\n  tool_validation:\n    - type: effects\n      min_score: 1.5\n", "p.yaml:4:18: execution.tool_validation[0].min_score is not"},
		"ScoreNaN":      {"execution:\n  tool_validation:\n    - type: effects\n      min_score: .nan\n", "min_score is not a number from 0 to 1"},
		"NoAgent":       {"execution:\n  tool_validation:\n    - type: semantic\n      criteria: x\n", "lacks judge_agent"},
		"NoCriteria":    {"models: [{name: m, api: openai, model: m}]\njudge_agents: [{name: x, model: m}]\nexecution:\n  tool_validation:\n    - type: semantic\n      judge_agent: x\n", "lacks criteria"},
		"NoTime":        {"models: [{name: m, api: openai, model: m}]\njudge_agents: [{name: x, model: m}]\nexecution:\n  tool_validation:\n    - {type: semantic, judge_agent: x, criteria: y, timeout_seconds: 0}\n", "timeout_seconds is 0"},
		"AgentOfEffect": {"execution:\n  tool_validation:\n    - {type: effects, judge_agent: x}\n", "takes min_score and min_confidence only"},
		"NoReach":       {"programs:\n  bd: everywhere\n", `p.yaml:2:7: programs: bd reaches "everywhere"; want one of [workspace user`},
		"NoProgram":     {"programs:\n  ./bd: workspace\n", `p.yaml:2:9: programs: ./bd is not a program's name`},
		"ResumeHTTP":    {"resume_urls:\n  - https://a.example/x\n  - http://b.example\n", `p.yaml:3:5: resume_urls: entry 2 must begin with https://`},
		"ResumeQuery":   {"resume_urls: [https://a.example/?k=v]\n", `p.yaml:1:15: resume_urls: entry 1 must have no query`},
		"NoWorkspace":   {"workspaces:\n  - ~/app\n  - /etc/x\n", `p.yaml:3:5: workspaces: "/etc/x" is a home or a folder of the system`},
		"HomeWorkspace": {"workspaces: [/home/u]\n", `p.yaml:1:14: workspaces: "/home/u" is a home`},
		"RootWorkspace": {"workspaces: [/]\n", `p.yaml:1:14: workspaces: "/" is a home or a folder of the system`},
		"RelWorkspace":  {"workspaces: [src/app]\n", `p.yaml:1:14: workspaces: "src/app" is not an absolute path; begin it with / or ~/`},
		"UnknownField":  {"execution:\n  tool_validation:\n    - type: effects\n      min_scor: 1\n", `p.yaml:4:7: unknown field "min_scor"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("p.yaml", []byte(c.text), "/home/u")
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

// TestTheEdgesOfWhoMayDecide accepts what is just within the limits.
func TestTheEdgesOfWhoMayDecide(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"deadline: 1h, escalate: {after: 20m, to: quick}", "deadline: 24h, escalate: {after: 1m, to: quick}"},
		{"{name: usual,", "{name: usual, quorum: 1,"},
		{"channels: [telegram], approvers: [bob]", "match: true, approvers: [bob]"},
		{"channels: [telegram], approvers: [bob]", "match: true, channels: [telegram, web], approvers: [bob]"},
	} {
		text := strings.Replace(routed, c[0], c[1], 1)
		if _, err := Parse("p.yaml", []byte(text), "/home/u"); text == routed || err != nil {
			t.Errorf("%s: %v", c[1], err)
		}
	}
	for _, over := range []string{"24h1s", "59s"} {
		text := strings.Replace(routed, "deadline: 1h", "deadline: "+over, 1)
		if _, err := Parse("p.yaml", []byte(text), "/home/u"); err == nil || !strings.Contains(err.Error(), "between 1m and 24h") {
			t.Errorf("%s: %v", over, err)
		}
	}
}

func TestMistakesInWhoMayDecide(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, new, want string }{
		"NoSuchEffect": {"[delete, publish]", "[delte]", `approval: rule 1 asks for the effect "delte"; known: read, create, overwrite, delete`},
		"NoSuchReach":  {"[shared, public]", "[world]", `rule 1 asks for the reach "world"; known: workspace, user`},
		"NoQuorum":     {"quorum: 2", "quorum: 3", `route "careful" wants 3 people to allow and names 2`},
		"NoChannel":    {"channels: [telegram]", "channels: [pigeon]", `route "quick" goes to the channel "pigeon"; known: telegram, slack, web`},
		"LongDeadline": {"deadline: 1h", "deadline: 48h", `route "careful" has the deadline "48h", which is not a time between 1m and 24h`},
		"NoTime":       {"after: 20m", "after: soon", `route "careful" has the escalate.after "soon"`},
		"NoLastRule":   {"- {route: usual}", "", `rule 2 is the last one and has conditions`},
		"BlindDigits":  {"channels: [telegram]", "channels: [telegram], match: true", `route "quick" asks for digits that stand in the inbox, and does not go there: add "web"`},
		"NoRoutes":     {routed[strings.Index(routed, "  routes:"):], "", "approval.routes are none; leave approval out"},
		"UnknownKey":   {"separate: true", "seperate: true", `unknown field "seperate"`},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(routed, c.old, c.new, 1)
			_, err := Parse("p.yaml", []byte(text), "/home/u")
			if text == routed || err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one line with %q", err, c.want)
			}
		})
	}
}

// The example in the documentation is valid.
func TestTheDocumentedApprovers(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/approvers.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(doc), "```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	p, err := Parse("p.yaml", []byte(text), "/home/u")
	if err != nil || len(p.Routing.Routes) != 3 || p.CheckChannels(Chats{Telegram: true}) != nil {
		t.Errorf("got %+v, %v", p.Routing, err)
	}
	for _, name := range slices.Concat(effectKinds(), reachKinds()) {
		if !strings.Contains(string(doc), name) {
			t.Errorf("the effect or reach %s is not told", name)
		}
	}
}

func TestWhoMayDecideIsRead(t *testing.T) {
	t.Parallel()
	p, err := Parse("p.yaml", []byte(routed), "/home/u")
	if err != nil {
		t.Fatal(err)
	}
	c := approval.Case{Agent: "deployer", Effects: []string{"delete"}, Reaches: []string{"public"}}
	want := approval.Route{
		Name: "careful", Approvers: []string{"ann", "bob"}, Quorum: 2, Separate: true,
		Deadline: time.Hour, EscalateAfter: 20 * time.Minute, EscalateTo: "quick",
	}
	if got := p.Routing.For(c); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := TelegramIDs(&p.Routing); !slices.Equal(got, []int64{4711, 4712}) {
		t.Errorf("who is listened to on Telegram: %v", got)
	}
	if err := p.CheckChannels(Chats{Telegram: true}); err != nil {
		t.Errorf("with a bot: %v", err)
	}
	if err := p.CheckChannels(Chats{}); err == nil || !strings.Contains(err.Error(), "who is on none of the channels: web") {
		t.Errorf("without a bot: %v", err)
	}
	for _, deadline := range []string{"1m", "24h"} {
		if _, err := Parse("p.yaml", []byte(strings.Replace(routed, "deadline: 1h, escalate: {after: 20m, to: quick}", "deadline: "+deadline, 1)), "/home/u"); err != nil {
			t.Errorf("the deadline %s: %v", deadline, err)
		}
	}
	var b strings.Builder
	describeRouting(&b, &p.Routing)
	if want := "route      careful: ann, bob; 2 of them must allow; not the agent's own person alone; after 20m0s quick too\n"; !strings.HasPrefix(b.String(), want) {
		t.Errorf("in words:\n%s", b.String())
	}
}

// A policy's file is read whole or not at all: what is left of one that is too long could be a policy
// without its last rules.
func TestAPolicyFileIsReadWhole(t *testing.T) {
	t.Parallel()
	const good = "closed: true\n"
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		want string
	}{
		"whole":           {good, 0o600, ""},
		"as long":         {good + strings.Repeat("#", maxPolicy-len(good)), 0o600, ""},
		"too long":        {good + strings.Repeat("#", maxPolicy-len(good)) + "\nexecutors: [{name: a}]\n", 0o600, "is longer than 4194304 bytes"},
		"a mistake":       {"closd: true\n", 0o600, `policy.yaml:1:1: unknown field "closd"`},
		"anybody's":       {good, 0o666, "policy.yaml"},
		"it is not there": {"", 0, "policy.yaml: no such file"},
	} {
		path := filepath.Join(t.TempDir(), "policy.yaml")
		if c.mode != 0 {
			if err := errors.Join(os.WriteFile(path, []byte(c.text), c.mode), os.Chmod(path, c.mode)); err != nil {
				t.Fatal(err)
			}
		}
		p, err := Load(path, "/home/u")
		switch {
		case c.want != "":
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, want %q", name, err, c.want)
			}
		case err != nil || !p.Catalog.Closed() || string(p.Text()) != c.text || p.Path != path:
			t.Errorf("%s: %v; %q", name, err, p.Path)
		}
	}
	if p, err := Load("", "/home/u"); err != nil || p.Path != "" || p.Text() != nil {
		t.Errorf("without a file: %q, %v", p.Path, err)
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
	p, err := Parse("p.yaml", []byte(text), "/home/u")
	if err != nil {
		t.Fatal(err)
	}
	known := p.Catalog
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
		{"executors:\n  - name: a\n    args_schema: {type: strng}\n", `p.yaml:3:25: executor "a": args_schema/type is "strng"; it must be one of "array", "boolean"`},
		{"executors:\n  - name: a\n    capabilities: [{name: \"fs:read\", hint: [work]}]\n", `p.yaml:3:19: executor "a": capability "fs:read": hint "work" is not an absolute path`},
		{"executors:\n  - name: a\n    annotations: {readonlyHint: true}\n", `p.yaml:3:19: unknown field "readonlyHint"; did you mean "readOnlyHint"?`},
		{"execution:\n  tool_validation:\n    - {type: effects, min_score: high}\n", "p.yaml:3:34: this is a text; a number is wanted"},
		{"routes: []\n", `p.yaml:1:1: unknown field "routes"; it belongs under approval`},
		{"approval:\n  judge: []\n  closed: true\n", `p.yaml:3:3: unknown field "closed"; it belongs at the beginning of a line, under nothing`},
		{"approval:\n  rutes: []\n", `p.yaml:2:3: unknown field "rutes"; did you mean "routes"?`},
	} {
		text, want := tt[0], tt[1]
		_, err := Parse("p.yaml", []byte(text), "/home/u")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestAllMistakesOfAPolicyAreTold checks that mistakes of form and of meaning are reported
// together, in the order of the file.
func TestAllMistakesOfAPolicyAreTold(t *testing.T) {
	t.Parallel()
	const text = `closd: true
bogus: 1
programs:
  ./bd: workspace
executors:
  - name: a
    args_schema:
      properties:
        p: {type: strng, minLength: x, pattern: "("}
        q: {type: [string, nil]}
    skip_juge: true
  - name: [b]
  - {name: c, args_schema: {$ref: "http://127.0.0.1/x"}, capabilities: [{name: "fs:read", hint: [work]}]}
execution:
  tool_validation:
    - {type: effects, min_score: 2}
    - type: regex
approval:
  members:
    ann: [4711]
  routes:
    - {name: quick, channels: [pigeon], approvers: [anyone], deadline: 3s}
    - {name: quick, approvers: [anyone]}
  rules:
    - {effects: [delte, read], reaches: [world], route: slow}
`
	want := []string{
		`1:1: unknown field "closd"; did you mean "closed"?`,
		`2:1: unknown field "bogus"`,
		`4:9: programs: ./bd is not a program's name`,
		`9:19: executor "a": args_schema/properties/p/type is "strng"; it must be one of`,
		`9:37: executor "a": args_schema/properties/p/minLength is "x"; it must be of type integer, not string`,
		`9:49: executor "a": args_schema/properties/p/pattern is "("; it must be a valid regex`,
		`10:28: executor "a": args_schema/properties/q/type/1 is "nil"; it must be one of`,
		`11:5: unknown field "skip_juge"; did you mean "skip_judge"?`,
		`12:11: this is a list; a text is wanted`,
		`13:28: executor "c": args_schema refers to "http://127.0.0.1/x", another document`,
		`13:72: executor "c": capability "fs:read": hint "work" is not an absolute path`,
		`16:34: execution.tool_validation[0].min_score is not a number`,
		`17:13: execution.tool_validation[1].type is "regex"`,
		`20:10: approval: member "ann" has the id "4711"`,
		`22:7: approval: route "quick" goes to the channel "pigeon"`,
		`22:72: approval: route "quick" has the deadline "3s"`,
		`23:7: approval: route 2 is named "quick"`,
		`25:7: approval: rule 1 sends to "slow"`,
		`25:7: approval: rule 1 is the last one and has conditions`,
		`25:18: approval: rule 1 asks for the effect "delte"`,
		`25:42: approval: rule 1 asks for the reach "world"`,
	}
	_, err := Parse("p.yaml", []byte(text), "/home/u")
	if err == nil {
		t.Fatal("it is taken")
	}
	got := strings.Split(err.Error(), "\n")
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("missing: %s", want[i])
		case i >= len(want):
			t.Errorf("besides: %s", got[i])
		case !strings.HasPrefix(got[i], "METNOS_POLICY: p.yaml:"+want[i]):
			t.Errorf("got  %s\nwant %s", got[i], want[i])
		}
	}
}

func TestThePolicysJudges(t *testing.T) {
	t.Parallel()
	agents := "models: [{name: m, api: openai, model: m}]\njudge_agents: [{name: security-judge, model: m}, {name: a, model: m}]\n"
	semantic := agents + "execution:\n  tool_validation:\n    - type: semantic\n      judge_agent: security-judge\n" +
		"      criteria: |\n        Is it safe?\n      min_score: 0.85\n      min_confidence: 0.0\n      timeout_seconds: 300\n"
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"LeftOut":  {"closed: true\n", []string{"effects 0.5"}},
		"None":     {"execution: {tool_validation: []}\n", nil},
		"Stricter": {"execution: {tool_validation: [{type: effects, min_score: 0.8}]}\n", []string{"effects 0.8"}},
		"Semantic": {semantic, []string{"semantic 0.85"}},
		"Defaults": {agents + "execution: {tool_validation: [{type: semantic, judge_agent: a, criteria: b}]}\n", []string{"semantic 0.7"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Parse("p.yaml", []byte(c.text), "/home/u")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, v := range p.Judges {
				got = append(got, fmt.Sprintf("%s %v", v.Type, v.Threshold()))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// FuzzPolicy looks for a file that makes the reader panic, or return an error that does not name the
// file.
func FuzzPolicy(f *testing.F) {
	for _, seed := range []string{
		"", "closed: true\n", "executors: [{name: a, args_schema: {type: object}}]\n",
		"executors:\n  - name: a\n    capabilities: [{name: \"fs:read\", hint: [\"~/**\"]}]\n", "a: &x [*x]\n", "? [\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse("p.yaml", []byte(text), "/home/u")
		known := p.Catalog
		if (known == nil) == (err == nil) {
			t.Fatalf("a catalog %v and the error %v", known, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "METNOS_POLICY: p.yaml") {
			t.Errorf("the error %q does not name the file", err)
		}
	})
}
