package agent_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/agent"
	"github.com/metnos/vaglio/vaglio/judge/budget"
	"github.com/metnos/vaglio/vaglio/judge/model"
	"github.com/metnos/vaglio/vaglio/judge/model/modeltest"
	"github.com/metnos/vaglio/vaglio/mask"
)

func masker() mask.Masker { return mask.New(func(b []byte) []byte { return b }) }

// script is a model that answers each request with a function.
type script struct {
	say   func(r *model.Request) (model.Reply, error)
	mu    sync.Mutex
	asked []model.Request
}

func (s *script) Complete(ctx context.Context, r model.Request) (model.Reply, error) {
	s.mu.Lock()
	s.asked = append(s.asked, r)
	s.mu.Unlock()
	if ctx.Err() != nil {
		return model.Reply{}, ctx.Err()
	}
	return s.say(&r)
}

// says returns a script that gives the answers in turn, and then repeats the last one.
func says(replies ...model.Reply) *script {
	var mu sync.Mutex
	return &script{say: func(*model.Request) (model.Reply, error) {
		mu.Lock()
		defer mu.Unlock()
		next := replies[0]
		if len(replies) > 1 {
			replies = replies[1:]
		}
		return next, nil
	}}
}

func verdict(score float64) model.Reply {
	return model.Reply{Text: fmt.Sprintf(`{"score":%v,"confidence":0.9,"reasoning":"r"}`, score), Usage: model.Usage{Input: 100, Output: 10}}
}

func calls(name, args string) model.Reply {
	return model.Reply{Calls: []model.ToolCall{{ID: "1", Name: name, Args: []byte(args)}}, Usage: model.Usage{Input: 100, Output: 10}}
}

// records keeps judgements in memory.
type records struct {
	mu  sync.Mutex
	all []vaglio.Judgement
	err error
}

func (r *records) Keep(_ context.Context, j vaglio.Judgement) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, j)
	return r.err
}

func (r *records) last() vaglio.Judgement { return r.all[len(r.all)-1] }

// folders is a workspace whose files are in memory. Its cmd.run records the commands instead of
// running them.
type folders struct {
	files map[string]string
	allow []string
	// refused lists tools that are offered, and refused.
	refused []string
	output  string
	err     error

	mu          sync.Mutex
	ran, opened []string
	closed      int
	block       bool
}

func (f *folders) Open(_ context.Context, at []string, _ *agent.Manifest) (agent.Workspace, error) {
	f.opened = at
	return f, f.err
}

func (f *folders) Tools() []agent.Tool {
	return []agent.Tool{tool{f, agent.ToolRun}, tool{f, agent.ToolRead}}
}
func (f *folders) Layer() string     { return "memory" }
func (f *folders) Refused() []string { return f.refused }
func (f *folders) Close() error      { f.closed++; return nil }

type tool struct {
	f    *folders
	name string
}

func (t tool) Name() string { return t.name }

func (t tool) Describe() agent.ToolSpec {
	return agent.ToolSpec{Text: "a tool", Args: strictjson.Value(`{"type":"object"}`)}
}

func (t tool) Run(ctx context.Context, args []byte) (agent.ToolResult, error) {
	var a struct {
		Command string `json:"command"`
		Path    string `json:"path"`
	}
	if err := strictjson.UnmarshalLoose(args, &a); err != nil {
		return agent.ToolResult{}, err
	}
	if t.f.block {
		<-ctx.Done()
		return agent.ToolResult{}, ctx.Err()
	}
	t.f.mu.Lock()
	defer t.f.mu.Unlock()
	if t.name == agent.ToolRead {
		text, ok := t.f.files[a.Path]
		if !ok {
			return agent.ToolResult{}, errors.New("no such file")
		}
		return agent.ToolResult{Text: text}, nil
	}
	if !slices.Contains(t.f.allow, a.Command) {
		return agent.ToolResult{}, fmt.Errorf("%q is not in the list", a.Command)
	}
	t.f.ran = append(t.f.ran, a.Command)
	return agent.ToolResult{Text: t.f.output}, nil
}

func allow(context.Context, vaglio.Proposal) (bool, string, error) { return false, "", nil }

// newJudge returns a judge that asks m.
func newJudge(tb testing.TB, m model.Model, change func(*agent.Config)) (*agent.Judge, *records) {
	tb.Helper()
	kept := &records{}
	c := agent.Config{
		Manifest: agent.Manifest{Name: "qa", Model: model.NewClient(m, model.Options{Name: "m", Price: model.Price{Input: 1}}), Prompt: "You look after tests."},
		Criteria: "Is it right?", MinScore: 0.7, MinConfidence: 0.5, Masker: masker(), Guard: allow, Records: kept,
	}
	if change != nil {
		change(&c)
	}
	j, err := agent.New(c)
	if err != nil {
		tb.Fatal(err)
	}
	return j, kept
}

// with gives the judge tools in a workspace.
func with(f *folders) func(*agent.Config) {
	return func(c *agent.Config) {
		c.Workspaces = f
		c.Manifest.Tools = []agent.ToolUse{{Name: agent.ToolRun, Allow: f.allow}, {Name: agent.ToolRead}}
	}
}

func proposal() vaglio.Proposal {
	return vaglio.Proposal{
		Agent: "a", TurnID: "t", Step: 3, Intent: "fix the test", Executor: "edit_file",
		Args:    vaglio.Args{"path": "/srv/app/x.go", "content": "package x"},
		Context: vaglio.Context{Cwd: "/srv/app", Mounts: []string{"/srv/app", "/srv/data"}},
	}
}

func fault(err error) vaglio.Fault {
	e, _ := errors.AsType[*vaglio.JudgeError](err)
	if e == nil {
		return ""
	}
	return e.Class
}

// stricter lists rows of the seed that allow a score or confidence above 1. Here both are from 0 to
// 1, and nothing is clamped.
var stricter = map[string]bool{"judge_score_over_one": true, "judge_confidence_over_one": true}

func TestTheSeedsVerdicts(t *testing.T) {
	b, err := os.ReadFile("testdata/verdicts.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		ID            string  `json:"id"`
		Output        string  `json:"judge_output"`
		MinScore      float64 `json:"min_score"`
		MinConfidence float64 `json:"min_confidence"`
		Want          struct {
			Outcome    string  `json:"outcome"`
			Score      float64 `json:"score"`
			Confidence float64 `json:"confidence"`
		} `json:"expected_head_2026_05"`
	}
	if err := strictjson.UnmarshalLoose(b, &rows); err != nil || len(rows) < 20 {
		t.Fatal(len(rows), err)
	}
	for _, row := range rows {
		t.Run(row.ID, func(t *testing.T) {
			j, _ := newJudge(t, says(model.Reply{Text: row.Output}), nil)
			e, err := vaglio.New(vaglio.Config{Judges: []vaglio.Gate{{Judge: j, MinScore: row.MinScore, MinConfidence: row.MinConfidence}}, Home: "/home/u"})
			if err != nil {
				t.Fatal(err)
			}
			v, err := e.Judge(t.Context(), proposal())
			if err != nil {
				t.Fatal(err)
			}
			want := row.Want.Outcome == "allowed" && !stricter[row.ID]
			if v.Approved != want || want && (v.Score != row.Want.Score || v.Results[0].Confidence != row.Want.Confidence) {
				t.Errorf("%q: %+v, want %+v", row.Output, v, row.Want)
			}
		})
	}
}

// A malformed answer is asked for once more, and then rejected.
func TestMalformedVerdictsReject(t *testing.T) {
	all := modeltest.Malformed(t, `"confidence":0.9,"reasoning":"r"`)
	maps.Copy(all, map[string]string{
		"confidence_missing": `{"score":0.9,"reasoning":"r"}`, "confidence_text": `{"score":0.9,"confidence":"0.9","reasoning":"r"}`,
		"confidence_over": `{"score":0.9,"confidence":90,"reasoning":"r"}`, "confidence_negative": `{"score":0.9,"confidence":-0.1,"reasoning":"r"}`,
		"signals_null":     `{"score":0.9,"confidence":0.9,"reasoning":"r","signals":null}`,
		"signals_object":   `{"score":0.9,"confidence":0.9,"reasoning":"r","signals":{}}`,
		"signal_text":      `{"score":0.9,"confidence":0.9,"reasoning":"r","signals":["x"]}`,
		"signal_no_score":  `{"score":0.9,"confidence":0.9,"reasoning":"r","signals":[{"category":"a","message":"b"}]}`,
		"signal_of_95":     `{"score":0.9,"confidence":0.9,"reasoning":"r","signals":[{"category":"a","score":95,"message":"b"}]}`,
		"metadata_null":    `{"score":0.9,"confidence":0.9,"reasoning":"r","metadata":null}`,
		"metadata_text":    `{"score":0.9,"confidence":0.9,"reasoning":"r","metadata":"x"}`,
		"metadata_doubled": `{"score":0.9,"confidence":0.9,"reasoning":"r","metadata":{"a":1,"a":2}}`,
	})
	for id, text := range all {
		t.Run(id, func(t *testing.T) {
			m := says(model.Reply{Text: text})
			j, kept := newJudge(t, m, nil)
			r, err := j.Grade(t.Context(), proposal())
			if fault(err) != vaglio.FaultMalformed || r.Score != 0 || len(m.asked) != 2 || kept.last().Fault != vaglio.FaultMalformed {
				t.Errorf("%q: %+v, %v, asked %d times", text, r, err, len(m.asked))
			}
			m = says(model.Reply{Text: text}, verdict(0.9))
			j, _ = newJudge(t, m, nil)
			if r, err := j.Grade(t.Context(), proposal()); err != nil || r.Score != 0.9 || len(m.asked[1].Schema) == 0 {
				t.Errorf("mended: %+v, %v", r, err)
			}
		})
	}
}

// The payload has the seed's keys, and contains text of others only in frames.
func TestThePayload(t *testing.T) {
	m := says(verdict(1))
	j, _ := newJudge(t, m, nil)
	p := proposal()
	long := "/srv/" + strings.Repeat("p", 5000)
	p.Args = vaglio.Args{"command": "start " + strings.Repeat("c", 4000) + " end4k", "script": "head " + strings.Repeat("s", 9000) + " tail", "token": "ghp_0123456789abcdefghijABCDEFGHIJ012345"}
	p.Context.Turn = &vaglio.Turn{
		Earlier: []vaglio.Earlier{{Step: 1, Executor: "read_file", Outcome: "approved"}}, Refused: []string{"shell_exec"}, Known: []string{"read_file"},
	}
	if _, err := j.Grade(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	q := &m.asked[0].Turns[0]
	got := map[string]string{}
	for _, quote := range q.Quoted {
		got[quote.Name()] = quote.Text()
	}
	for key, wants := range map[string][]string{
		"task": {"fix the test"}, "available_tools": {`["read_file","edit_file"]`}, "worker_mounts": {`["/srv/app","/srv/data"]`},
		"policy_violations": {`["shell_exec"]`}, "tool_audit_history": {`[{"step":1,"tool_name":"read_file","status":"approved"}]`},
		"output":             {"Tool call request: edit_file"},
		"proposed_tool_call": {`"name": "edit_file"`, "start ccc", " end4k", "head sss", "sss tail", "of 9010 bytes are left out here"},
	} {
		for _, want := range wants {
			if !strings.Contains(got[key], want) {
				t.Errorf("%s is %.300q, want %q", key, got[key], want)
			}
		}
	}
	if !strings.Contains(q.Text, "semantic_judge_pre_execution_inner_loop") || !strings.Contains(q.Text, "Is it right?") || strings.Contains(q.Text, "fix the test") {
		t.Errorf("our part: %s", q.Text)
	}
	if strings.Contains(q.Framed(), "ghp_0123") {
		t.Error("a secret is shown")
	}
	m = says(verdict(1))
	j, _ = newJudge(t, m, nil)
	e, err := vaglio.New(vaglio.Config{Judges: []vaglio.Gate{{Judge: j}}, Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Judge(t.Context(), vaglio.Proposal{Executor: "read_file", Args: vaglio.Args{"path": long}}); err != nil || !strings.Contains(m.asked[0].Turns[0].Framed(), long) {
		t.Errorf("a path is cut: %v", err)
	}
	if !strings.Contains(m.asked[0].Turns[0].Framed(), "No objective available") {
		t.Error("a call without a task is judged as if it had one")
	}
}

// A judge investigates, and what it saw and did is recorded.
func TestAJudgeLooksBeforeItAnswers(t *testing.T) {
	f := &folders{files: map[string]string{"/srv/app/x.go": "package x // password=hunter2hunter2"}, allow: []string{"go test"}, output: "ok"}
	m := says(calls(agent.ToolRead, `{"path":"/srv/app/x.go"}`), calls(agent.ToolRun, `{"command":"go test"}`), verdict(0.9))
	j, kept := newJudge(t, m, with(f))
	r, err := j.Grade(t.Context(), proposal())
	if err != nil || r.Score != 0.9 || r.Judge != "semantic:qa" || r.Judgement == "" || !slices.Equal(f.ran, []string{"go test"}) || f.closed != 1 {
		t.Fatalf("%+v, %v, ran %v", r, err, f.ran)
	}
	if !slices.Equal(f.opened, []string{"/srv/app", "/srv/data"}) {
		t.Errorf("opened %v", f.opened)
	}
	k := kept.last()
	if k.ID != r.Judgement || k.Depth != 1 || k.Turns != 3 || k.Input != 300 || k.Cost != 300 || k.Layer != "memory" || k.Result == nil || k.Result.Score != 0.9 {
		t.Errorf("%+v", k)
	}
	var by []string
	all := ""
	for _, s := range k.Transcript {
		by, all = append(by, s.By), all+s.Text
	}
	if want := []string{"system", "asked", "called fs.read", "tool fs.read", "called cmd.run", "tool cmd.run", "said"}; !slices.Equal(by, want) {
		t.Errorf("transcript by %q, want %q", by, want)
	}
	if strings.Contains(all, "hunter2") || strings.Contains(m.asked[1].Turns[2].Results[0].Quote.Text(), "hunter2") {
		t.Error("a secret is in the transcript, or was shown")
	}
}

// The verdict says which tools the machine refuses, because the judge could not use them.
func TestRefusedToolsAreTold(t *testing.T) {
	signal := `{"category":"a","score":1,"message":"m"}`
	for _, own := range []int{0, 1, 20} {
		text := `{"score":0.9,"confidence":0.9,"reasoning":"r","signals":[` + strings.TrimSuffix(strings.Repeat(signal+",", own), ",") + `]}`
		for _, refused := range [][]string{nil, {agent.ToolRun, agent.ToolAstGrep}} {
			j, kept := newJudge(t, says(model.Reply{Text: text}), with(&folders{allow: []string{"true"}, refused: refused}))
			r, err := j.Grade(t.Context(), proposal())
			if err != nil || r.Score != 0.9 || len(kept.last().Result.Signals) != len(r.Signals) {
				t.Fatal(r, err)
			}
			told := len(r.Signals) > 0 && r.Signals[0].Message == "It could not use cmd.run, ast_grep.search: memory refuses that."
			if told != (refused != nil) || len(r.Signals) > 20 || len(r.Signals) < own {
				t.Errorf("%v is told as %+v", refused, r.Signals)
			}
		}
	}
}

// Only a manifest's own limits change how often a model is asked.
func TestTheDefaultTurns(t *testing.T) {
	look := calls(agent.ToolRead, `{"path":"/x"}`)
	m := says(look)
	j, _ := newJudge(t, m, with(&folders{files: map[string]string{"/x": "y"}}))
	// Twelve turns, and one to repair a malformed verdict.
	if _, err := j.Grade(t.Context(), proposal()); fault(err) != vaglio.FaultMalformed || len(m.asked) != 13 {
		t.Errorf("asked %d times: %v", len(m.asked), err)
	}
}

// A call that is too large is not shown in part, and costs nothing.
func TestACallThatIsTooLarge(t *testing.T) {
	for n, want := range map[int]vaglio.Fault{1000: "", 10_000: vaglio.FaultLimit} {
		m := says(verdict(1))
		j, kept := newJudge(t, m, nil)
		p := proposal()
		p.Args = vaglio.Args{}
		for i := range n {
			p.Args[fmt.Sprintf("argument number %d", i)] = "the value of it"
		}
		_, err := j.Grade(t.Context(), p)
		if fault(err) != want || (len(m.asked) == 0) != (want != "") || (len(kept.all) == 0) != (want != "") {
			t.Errorf("%d arguments: %v, asked %d times", n, err, len(m.asked))
		}
		if err != nil && !strings.Contains(err.Error(), "bytes, at most 262144") {
			t.Error(err)
		}
	}
}

// A tool's result is JSON; its escapes do not hide secrets from the masker.
func TestSecretsInToolResults(t *testing.T) {
	for _, secret := range []string{"ghp_0123456789abcdefghijABCDEFGHIJ012345", "AKIAQ3EGRX7LMN2PTU5V", "hunter2hunter2"} {
		text, err := strictjson.Marshal(map[string]any{"text": "# keys\n\t" + secret + "\nnext\npassword=" + secret + "\n", "bytes": 70})
		if err != nil {
			t.Fatal(err)
		}
		f := &folders{files: map[string]string{"/x": string(text)}, allow: []string{"go test"}, output: string(text)}
		if secret == "hunter2hunter2" { // only its name makes it a secret
			f.files["/x"] = `{"text":"a\npassword=hunter2hunter2\n"}`
			f.output = f.files["/x"]
		}
		m := says(calls(agent.ToolRead, `{"path":"/x"}`), calls(agent.ToolRun, `{"command":"go test"}`), verdict(0.9))
		j, kept := newJudge(t, m, with(f))
		if _, err := j.Grade(t.Context(), proposal()); err != nil {
			t.Fatal(err)
		}
		seen := fmt.Sprintf("%+v", m.asked[2].Turns) + fmt.Sprintf("%+v", kept.last().Transcript)
		if strings.Contains(seen, secret) || !strings.Contains(seen, "masked") {
			t.Errorf("%s is told: %s", secret, seen)
		}
	}
}

// The verdict is requested with the schema and without calls. The tools are still listed, because a
// server rejects results of tools that it was not told about.
func TestTheLastTurnIsForTheVerdict(t *testing.T) {
	f := &folders{files: map[string]string{"/x": "y"}}
	look := calls(agent.ToolRead, `{"path":"/x"}`)
	m := says(look, look, verdict(0.9))
	j, _ := newJudge(t, m, func(c *agent.Config) {
		with(f)(c)
		c.Manifest.Limits.Turns = 3
	})
	if r, err := j.Grade(t.Context(), proposal()); err != nil || r.Score != 0.9 {
		t.Fatal(r, err)
	}
	for i, last := range []bool{false, false, true} {
		q := &m.asked[i]
		if q.NoCalls != last || (len(q.Schema) > 0) != last || len(q.Tools) != 2 {
			t.Errorf("turn %d: %+v", i+1, q)
		}
	}
	// Tools that it calls anyway are not executed.
	m = says(look, look, look)
	j, kept := newJudge(t, m, func(c *agent.Config) {
		with(f)(c)
		c.Manifest.Limits.Turns = 2
	})
	if _, err := j.Grade(t.Context(), proposal()); fault(err) != vaglio.FaultMalformed {
		t.Error(err)
	}
	carried := 0
	for _, s := range kept.last().Transcript {
		if strings.HasPrefix(s.By, "tool ") {
			carried++
		}
	}
	if carried != 1 {
		t.Errorf("%d calls were carried out", carried)
	}
}

func TestWhatEndsAChildExecution(t *testing.T) {
	f := func() *folders {
		return &folders{files: map[string]string{"/x": "y"}, allow: []string{"true"}}
	}
	look := calls(agent.ToolRead, `{"path":"/x"}`)
	for name, c := range map[string]struct {
		m      *script
		change func(*agent.Config)
		want   vaglio.Fault
		says   string
	}{
		"turns":   {&script{say: func(*model.Request) (model.Reply, error) { return look, nil }}, with(f()), vaglio.FaultMalformed, "its answer is not a verdict"},
		"tokens":  {says(model.Reply{Calls: look.Calls, Usage: model.Usage{Input: 70_000}}), with(f()), vaglio.FaultLimit, "it used up its 64000 tokens"},
		"refused": {says(model.Reply{Refused: true}), nil, vaglio.FaultRefused, "declined"},
		"cut":     {says(model.Reply{Cut: true, Text: "{"}), nil, vaglio.FaultCut, "broke off"},
		"down": {&script{say: func(*model.Request) (model.Reply, error) {
			return model.Reply{}, &model.Error{Fault: model.FaultDown, Since: time.Now()}
		}}, nil, vaglio.FaultDown, "has failed since"},
		"mount":    {says(verdict(1)), with(&folders{err: &vaglio.JudgeError{Fault: `the mount "/etc" lies in no workspace`, Class: vaglio.FaultMount}}), vaglio.FaultMount, "/etc"},
		"sandbox":  {says(verdict(1)), with(&folders{err: errors.New("no namespaces")}), vaglio.FaultSandbox, "cannot be kept in a sandbox"},
		"records":  {says(verdict(1)), func(c *agent.Config) { c.Records = &records{err: errors.New("disk full")} }, vaglio.FaultFailed, "cannot be recorded"},
		"budget":   {says(verdict(1)), func(c *agent.Config) { c.Budget = budget.New(budget.Limits{Calls: 1}, spent{}, time.UTC) }, vaglio.FaultBudget, "budget of 1 judged calls is spent"},
		"no_calls": {says(calls("rm_everything", "{}"), calls(agent.ToolRead, "[1]"), calls(agent.ToolRead, `{"a":1,"a":2}`), verdict(1)), with(f()), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			j, kept := newJudge(t, c.m, c.change)
			r, err := j.Grade(t.Context(), proposal())
			// The ID of its record is returned as soon as that is stored, even without a verdict.
			if recorded := len(kept.all) > 0; (r.Judgement != "") != recorded || recorded && r.Judgement != kept.last().ID {
				t.Errorf("the judgement is %q of %+v", r.Judgement, kept.all)
			}
			if fault(err) != c.want || err != nil && (r.Score != 0 || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

type spent struct{}

func (spent) Add(context.Context, string, budget.Spent) (budget.Spent, error) {
	return budget.Spent{Calls: 99}, nil
}

// An agent that goes away, or a timeout, ends the child at once, and the record says so.
func TestAChildEndsWithItsCaller(t *testing.T) {
	for name, want := range map[string]vaglio.Fault{"late": vaglio.FaultTimeout, "gone": vaglio.FaultCancelled} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &folders{block: true}
				j, kept := newJudge(t, says(calls(agent.ToolRead, "{}")), with(f))
				ctx, cancel := context.WithCancel(t.Context())
				if name == "late" {
					ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
				} else {
					time.AfterFunc(time.Minute, cancel)
				}
				defer cancel()
				begun := time.Now()
				_, err := j.Grade(ctx, proposal())
				if !errors.Is(err, ctx.Err()) || time.Since(begun) != time.Minute || kept.last().Fault != want || f.closed != 1 {
					t.Errorf("%v after %s: %+v", err, time.Since(begun), kept.all)
				}
			})
		})
	}
}

// Judges judge each other's calls three deep, and no deeper.
func TestTheDepthOfJudges(t *testing.T) {
	f := &folders{files: map[string]string{"/x": "y"}}
	var below *agent.Judge
	var kept []*records
	for range 4 {
		m := says(calls(agent.ToolRead, `{"path":"/x"}`), verdict(1))
		j, k := newJudge(t, m, func(c *agent.Config) {
			with(f)(c)
			if below != nil {
				c.Gates = []vaglio.Gate{{Judge: below, MinScore: 0.7}}
			}
		})
		below, kept = j, append(kept, k)
	}
	if r, err := below.Grade(t.Context(), proposal()); err != nil || r.Score != 1 {
		t.Fatal(r, err)
	}
	if len(kept[0].all) != 0 || len(kept[1].all) != 1 || kept[1].last().Depth != 3 || kept[1].last().Parent != kept[2].last().ID {
		t.Errorf("%+v", kept)
	}
	all := ""
	for _, s := range kept[1].last().Transcript {
		all += s.Text
	}
	if !strings.Contains(all, "judge number 4 below each other") {
		t.Errorf("the third is not told: %s", all)
	}
}

// A judge's own calls pass the guard.
func TestTheGuardHoldsJudgesToo(t *testing.T) {
	f := &folders{files: map[string]string{"/home/u/.ssh/id_rsa": "the key"}}
	m := says(calls(agent.ToolRead, `{"path":"/home/u/.ssh/id_rsa"}`), verdict(1))
	e, err := vaglio.New(vaglio.Config{Judges: []vaglio.Gate{{Judge: &agent.Judge{}}}, Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	j, _ := newJudge(t, m, func(c *agent.Config) {
		with(f)(c)
		c.Guard = func(ctx context.Context, p vaglio.Proposal) (bool, string, error) {
			v, denied, err := e.Guard(ctx, p)
			return denied, v.Reason, err
		}
	})
	if _, err := j.Grade(t.Context(), proposal()); err != nil {
		t.Fatal(err)
	}
	result := m.asked[1].Turns[2].Results[0]
	if !result.Failed || !strings.Contains(result.Quote.Text(), "the guard forbids it") || strings.Contains(result.Quote.Text(), "the key") {
		t.Errorf("%+v", result)
	}
}

// A rejection holds for equal calls of a turn; after a pass, the judge is asked again.
func TestOnlyRejectionsAreKept(t *testing.T) {
	for score, want := range map[float64]int{0.1: 1, 0.9: 3} {
		// A judge that reads files, and one without tools.
		look := calls(agent.ToolRead, `{"path":"/x"}`)
		f := &folders{files: map[string]string{"/x": "y"}}
		looking := says(look, verdict(score), look, verdict(score), look, verdict(score))
		if j, kept := newJudge(t, looking, with(f)); true {
			for range 3 {
				if r, err := j.Grade(t.Context(), proposal()); err != nil || r.Score != score {
					t.Fatal(r, err)
				}
			}
			if len(looking.asked) != 2*want || len(kept.all) != want {
				t.Errorf("a score of %v by one that looks: asked %d times, want %d", score, len(looking.asked), 2*want)
			}
		}
		m := says(verdict(score))
		j, kept := newJudge(t, m, nil)
		for range 3 {
			if r, err := j.Grade(t.Context(), proposal()); err != nil || r.Score != score || r.Judgement != kept.last().ID {
				t.Fatal(r, err)
			}
		}
		if len(m.asked) != want || len(kept.all) != want {
			t.Errorf("a score of %v: asked %d times, want %d", score, len(m.asked), want)
		}
		p := proposal()
		p.Args["content"] = "package y"
		if _, err := j.Grade(t.Context(), p); err != nil || len(m.asked) != want+1 {
			t.Errorf("a changed call is not asked: %v", err)
		}
	}
}

// What a judge writes is bounded before it goes anywhere.
func TestAJudgesWordsAreBounded(t *testing.T) {
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	signal := `{"category":"` + strings.Repeat("c", 99) + `","score":1,"message":"` + secret + strings.Repeat(" m", 999) + `"}`
	text := `{"score":0.1,"confidence":1,"reasoning":"` + secret + strings.Repeat(" x", 9999) + `","signals":[` +
		strings.Repeat(signal+",", 99) + signal + `],"metadata":{"k":"` + secret + `"},"more":"ignored"}`
	j, kept := newJudge(t, says(model.Reply{Text: text}), nil)
	r, err := j.Grade(t.Context(), proposal())
	if err != nil || len([]rune(r.Reasoning)) > 1000 || len(r.Signals) > 20 || len([]rune(r.Signals[0].Message)) > 300 {
		t.Fatalf("%v, %d, %d", err, len(r.Reasoning), len(r.Signals))
	}
	for _, v := range []any{r, kept.last()} {
		if b, _ := strictjson.Marshal(v); strings.Contains(string(b), secret) {
			t.Errorf("the secret is in %T", v)
		}
	}
	long := says(calls(agent.ToolRead, `{"path":"/x"}`))
	j, kept = newJudge(t, long, with(&folders{files: map[string]string{"/x": strings.Repeat("line of a file\n", 99_999)}}))
	_, _ = j.Grade(t.Context(), proposal())
	size := 0
	for _, s := range kept.last().Transcript {
		size += len(s.By) + len(s.Text)
	}
	if size > 256<<10 || len(long.asked[1].Turns[2].Results[0].Quote.Text()) > 17<<10 {
		t.Errorf("a transcript of %d bytes", size)
	}
}
