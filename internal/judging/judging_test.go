package judging_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/judging"
	"github.com/metnos/vaglio/internal/policyfile"
	"github.com/metnos/vaglio/store/bolt"
	"github.com/metnos/vaglio/store/storetest"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge"
	"github.com/metnos/vaglio/vaglio/judge/budget"
	"github.com/metnos/vaglio/vaglio/judge/effects"
	"github.com/metnos/vaglio/vaglio/judge/model/modeltest"
	"github.com/metnos/vaglio/vaglio/mask"
)

func masker() mask.Masker { return mask.New(func(b []byte) []byte { return b }) }

// policy parses a policy.
func policy(t *testing.T, text string) policyfile.Policy {
	t.Helper()
	p, err := policyfile.Parse("p.yaml", []byte(text), "/home/u")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// config returns a configuration whose judges keep what they do in memory.
func config(t *testing.T, text string) judging.Config {
	t.Helper()
	return judging.Config{
		Kind: "rule-based-v1", Threshold: 0.3, Home: "/home/u", Policy: policy(t, text), Means: judging.Offline(masker()), Zone: time.UTC,
	}
}

// A day's spending is on disk before a call is judged, and still counts after a restart.
func TestWhatADaySpentOutlivesTheDaemon(t *testing.T) {
	dir := t.TempDir()
	add := func(by budget.Spent) budget.Spent {
		t.Helper()
		store, err := bolt.Open(filepath.Join(dir, "store.db"), bolt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		}()
		ledger := judging.Stored(store, masker()).Ledger
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if _, err := ledger.Add(t.Context(), "2026-11-22", by); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if other, err := ledger.Add(t.Context(), "2026-11-23", budget.Spent{}); err != nil || other != (budget.Spent{}) {
			t.Errorf("another day has %+v, %v", other, err)
		}
		sum, err := ledger.Add(t.Context(), "2026-11-22", budget.Spent{})
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	add(budget.Spent{Calls: 1})
	if sum := add(budget.Spent{Cost: 7}); sum != (budget.Spent{Calls: 20, Cost: 140}) {
		t.Errorf("after a restart %+v", sum)
	}
}

// The count of a newer vaglio is not overwritten, and calls are rejected.
func TestANewerLedgerIsLeftAlone(t *testing.T) {
	store := storetest.NewMemory()
	for _, body := range []string{`{"v":2,"spent":{"calls":3,"cost":4}}`, `{"v":1,"spent":{"calls":3,"cost":4},"more":1}`, `no`} {
		_, err := store.Update(t.Context(), approval.KindMeta, "judge-budget/d", func(r approval.Record) (approval.Record, error) {
			r.ID, r.Body = "judge-budget/d", []byte(body)
			return r, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := judging.Stored(store, masker()).Ledger.Add(t.Context(), "d", budget.Spent{Calls: 1}); err == nil {
			t.Errorf("%s is counted over", body)
		}
	}
}

// What a judge agent did is stored unchanged under its ID.
func TestJudgementsAreKept(t *testing.T) {
	store := storetest.NewMemory()
	want := vaglio.Judgement{ID: "j-1", Depth: 1, Judge: "semantic:qa", Transcript: []vaglio.Said{{By: "said", Text: "x"}}, Fault: vaglio.FaultTimeout}
	if err := judging.Stored(store, masker()).Records.Keep(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	r, err := store.Get(t.Context(), approval.KindJudgement, "j-1")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := approval.DecodeJudgement(r.Body); err != nil || got.Judge != want.Judge || got.Fault != want.Fault || len(got.Transcript) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

const twoAgents = `
judge_agents:
  - name: reaching
    model: local
    network: open
    tools: [{name: fs.read}]
  - name: above
    model: local
    tool_validation: [{type: semantic, judge_agent: reaching, criteria: c}, {type: effects}]
  - name: talking
    model: local
    network: open
judge_budget: {calls_per_day: 1, above: rules}
execution:
  tool_validation:
    - {type: effects}
    - {type: semantic, judge_agent: reaching, criteria: c, min_score: 0.9, min_confidence: 0.4, timeout_seconds: 7}
    - {type: semantic, judge_agent: above, criteria: c}
    - {type: semantic, judge_agent: talking, criteria: c}
`

// Gates returns the judge that the environment names, then the policy's, with the needs and the
// network of each.
func TestGates(t *testing.T) {
	mind := modeltest.Start(modeltest.OpenAI, modeltest.Always(`{"score":1,"confidence":1,"reasoning":"r","reason":"r"}`))
	defer mind.Close()
	models := "models: [{name: local, api: openai, base_url: \"" + mind.URL() + "\", model: m}]\n"
	c := config(t, models+twoAgents)
	c.DataDir = t.TempDir()
	gates, err := judging.Gates(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	kinds := ""
	for _, g := range gates {
		kinds += g.Judge.Kind() + " " + g.Network + "|"
		if thinks := strings.HasPrefix(g.Judge.Kind(), "semantic:"); thinks != (g.Needs == vaglio.Needs{Turn: true, Slow: true}) || thinks != (g.Instead != nil) {
			t.Errorf("%s: %+v", g.Judge.Kind(), g)
		}
	}
	if want := "rule-based-v1 |effects |semantic:reaching open|semantic:above open|semantic:talking |"; kinds != want {
		t.Errorf("the gates are %s, want %s", kinds, want)
	}
	if g := gates[2]; g.MinScore != 0.9 || g.MinConfidence != 0.4 || g.Timeout != 7*time.Second {
		t.Errorf("%+v", g)
	}
	all := judging.Thresholds(c)
	if all["semantic:reaching"] != 0.9 || all["semantic:above"] != 0.7 || all["rule-based-v1"] != 0.3 {
		t.Errorf("%v", all)
	}
	// The model judges the first call, and the rules the next ones: all share one budget.
	e, err := vaglio.New(vaglio.Config{Judges: gates[3:], Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"semantic:above", "rule-based-v1"} {
		v, err := e.Judge(t.Context(), vaglio.Proposal{Executor: "read_file", Args: vaglio.Args{"path": "/srv/app/x"}, Intent: "read_file x", Step: i + 1})
		if err != nil || v.Results[0].Judge != want {
			t.Errorf("call %d: %+v, %v", i, v, err)
		}
	}
	if n := len(mind.Seen()); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
}

// A server that counts no tokens is not free: its tokens are estimated, count towards the day's cost
// and the limits of a run, and are reported.
func TestAServerThatCountsNothingIsPaid(t *testing.T) {
	mind := modeltest.Start(modeltest.OpenAI, modeltest.Steps(modeltest.Step{Text: `{"score":1,"reason":"r"}`, Uncounted: true}))
	defer mind.Close()
	models := "models: [{name: local, api: openai, base_url: \"" + mind.URL() + "\", model: m, price: {input: 1, output: 1}}]\n"
	t.Run("cost", func(t *testing.T) {
		// A single answer may have used 4096 tokens, and so more than is left.
		c := config(t, models+"judge_budget: {cost_per_day: 0.004}\n")
		c.Kind = "llm-v1"
		gates, err := judging.Gates(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		for step, want := range []string{"", "today's budget of 0.004 for judging is spent"} {
			_, err := gates[0].Judge.Grade(t.Context(), vaglio.Proposal{TurnID: "t", Step: step, Executor: "x"})
			if told := fmt.Sprint(err); (err == nil) != (want == "") || err != nil && told != want {
				t.Errorf("call %d: %v", step, err)
			}
		}
		var text strings.Builder
		c.Means.Meters.WritePrometheus(&text)
		if !strings.Contains(text.String(), `vaglio_model_estimated_total{model="local"} 1`) {
			t.Errorf("the meters tell no estimate:\n%s", &text)
		}
	})
	t.Run("tokens", func(t *testing.T) {
		// Its answer has no confidence, and a second one would exceed its tokens.
		c := config(t, models+"judge_agents: [{name: qa, model: local, limits: {tokens: 4000}}]\n"+
			"execution: {tool_validation: [{type: semantic, judge_agent: qa, criteria: c}]}\n")
		gates, err := judging.Gates(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		_, err = gates[1].Judge.Grade(t.Context(), vaglio.Proposal{TurnID: "t", Step: 1, Executor: "x"})
		if want := "it used up its 4000 tokens without a verdict, counted by bytes, as its server does not count them"; fmt.Sprint(err) != want {
			t.Errorf("%v", err)
		}
	})
}

// llm-v1 needs a model, and it must be clear which one.
func TestTheFirstJudgeNeedsAModel(t *testing.T) {
	const two = "models: [{name: a, api: openai, model: m}, {name: b, api: openai, model: m}]\n"
	// Its minimum score is the policy's, else METNOS_JUDGE_THRESHOLD.
	for text, score := range map[string]float64{"{}": 0, two: 0, two + "llm: {model: b, min_score: 0.6}\n": 0.6, two + "llm: {model: b}\n": 0.3} {
		ok := score > 0
		c := config(t, text)
		c.Kind = "llm-v1"
		gates, err := judging.Gates(t.Context(), c)
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "METNOS_JUDGE_KIND: llm-v1 needs a model") {
			t.Errorf("%s: %v", text, err)
		}
		if ok && (gates[0].Judge.Kind() != "llm-v1" || gates[0].MinScore != score || judging.Thresholds(c)["llm-v1"] != score) {
			t.Errorf("%+v", gates)
		}
	}
}

// Calls that no model judges allocate no more than before there were judges that ask models: models,
// agents, a budget and meters exist, but cost nothing.
func TestWithoutModelsNothingIsAllocated(t *testing.T) {
	if raceDetector {
		t.Skip("allocations cannot be counted")
	}
	c := config(t, `
models: [{name: local, api: openai, base_url: "http://127.0.0.1:1/v1", model: m}]
judge_agents: [{name: qa, model: local}]
judge_budget: {calls_per_day: 1}
execution: {tool_validation: [{type: effects, min_score: 0.5}]}
`)
	wired, err := judging.Gates(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := effects.New(effects.Options{Home: c.Home})
	if err != nil {
		t.Fatal(err)
	}
	plain := []vaglio.Gate{
		{Judge: judge.Rules(), MinScore: c.Threshold, Discreet: true, Settled: true}, {Judge: reader, MinScore: 0.5, Reads: true, Settled: true},
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // Keeps the pools' contents.
	counts := func(config vaglio.Config) (all []float64) {
		config.Home = c.Home
		e, err := vaglio.New(config)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []vaglio.Proposal{
			{TurnID: "t", Step: 1, Intent: "read the notes", Executor: "read_file", Args: vaglio.Args{"path": "/srv/app/notes.md"}},
			{TurnID: "t", Step: 2, Intent: "publish", Executor: "shell_exec", Args: vaglio.Args{"command": "git push --force origin main"}},
			{TurnID: "t", Step: 3, Intent: "look", Executor: "read_file", Args: vaglio.Args{"path": "/etc/shadow"}},
		} {
			all = append(all, testing.AllocsPerRun(300, func() {
				if _, err := e.Judge(t.Context(), p); err != nil || e.Needed(p.Executor) != (vaglio.Needs{}) {
					t.Error("the judges need something, or fail: ", err)
				}
			}))
		}
		return all
	}
	before, now := counts(vaglio.Config{Judges: plain}), counts(vaglio.Config{Judges: wired, Meter: c.Means.Meters})
	if !slices.Equal(before, now) || slices.Contains(before, 0) {
		t.Errorf("%v allocations with the wiring of judges, %v without", now, before)
	}
}

// A judge agent sees what is in a workspace through its own tools and the guard, and nothing else.
func TestAJudgesFolders(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"app/notes.md": "the notes", "app/.ssh/id_rsa": "the key", "out/notes.md": "elsewhere"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) modeltest.Call {
		return modeltest.Call{Name: "fs_read", Args: `{"path":"` + filepath.Join(dir, name) + `"}`}
	}
	mind := modeltest.Start(modeltest.Anthropic, modeltest.Steps(
		modeltest.Step{Calls: []modeltest.Call{read("app/notes.md"), read("app/.ssh/id_rsa"), read("out/notes.md")}},
		modeltest.Step{Text: `{"score":1,"confidence":1,"reasoning":"r","signals":[]}`},
	))
	defer mind.Close()
	c := config(t, "models: [{name: local, api: anthropic, base_url: \""+mind.URL()+"\", model: m}]\nworkspaces: [\""+filepath.Join(dir, "app")+"\"]\n"+
		"judge_agents: [{name: qa, model: local, tools: [{name: fs.read}]}]\nexecution: {tool_validation: [{type: semantic, judge_agent: qa, criteria: c}]}\n")
	c.DataDir = t.TempDir()
	gates, err := judging.Gates(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	j := gates[1].Judge
	p := vaglio.Proposal{TurnID: "t", Step: 1, Executor: "read_file", Args: vaglio.Args{"path": "x"}, Context: vaglio.Context{Cwd: filepath.Join(dir, "app")}}
	if r, err := j.Grade(t.Context(), p); err != nil && strings.Contains(err.Error(), "sandbox") {
		t.Skip(err) // a kernel without namespaces and Landlock
	} else if err != nil || r.Score != 1 {
		t.Fatal(r, err)
	}
	said := mind.Seen()[1].Said()
	for text, want := range map[string]bool{"the notes": true, "the key": false, "elsewhere": false, "the guard forbids it": true, "is in none of the folders": true} {
		if strings.Contains(said, text) != want {
			t.Errorf("%q is said: %v\n%s", text, !want, said)
		}
	}
	p.Context.Mounts = []string{filepath.Join(dir, "out")}
	if _, err := j.Grade(context.WithoutCancel(t.Context()), p); err == nil || !strings.Contains(err.Error(), `the mount "`+filepath.Join(dir, "out")+`" is outside of the policy's workspaces`) {
		t.Errorf("a mount outside: %v", err)
	}
}
