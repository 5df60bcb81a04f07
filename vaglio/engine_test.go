package vaglio_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/internal/own"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/audit"
	"github.com/metnos/vaglio/vaglio/catalog"
	"github.com/metnos/vaglio/vaglio/judge"
)

// fake is a judge with a given answer.
type fake struct {
	kind  string
	grade func(ctx context.Context, p vaglio.Proposal) (vaglio.GradientResult, error)
}

func (f *fake) Kind() string { return f.kind }

func (f *fake) Grade(ctx context.Context, p vaglio.Proposal) (vaglio.GradientResult, error) {
	return f.grade(ctx, p)
}

func answers(kind string, score, confidence float64, reasoning string) *fake {
	return &fake{kind, func(context.Context, vaglio.Proposal) (vaglio.GradientResult, error) {
		return vaglio.GradientResult{Score: score, Confidence: confidence, Reasoning: reasoning}, nil
	}}
}

// forbidden returns a judge that must not be asked.
func forbidden(t *testing.T) *fake {
	return &fake{"forbidden", func(context.Context, vaglio.Proposal) (vaglio.GradientResult, error) {
		t.Error("the judge was asked")
		return vaglio.GradientResult{Score: 1, Confidence: 1}, nil
	}}
}

func build(t testing.TB, c vaglio.Config) *vaglio.Engine {
	t.Helper()
	if c.Home == "" {
		c.Home = home
	}
	e, err := vaglio.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func known(t *testing.T, executors ...catalog.Executor) *catalog.Catalog {
	t.Helper()
	c, err := catalog.New(catalog.Config{Executors: executors, Home: home})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func proposal(executor string, args vaglio.Args) vaglio.Proposal {
	return vaglio.Proposal{Executor: executor, Args: args}
}

// books records what is logged and counted.
type books struct {
	records []audit.Record
	faults  map[string]int
}

func (b *books) Faulted(judge, fault string) {
	if b.faults == nil {
		b.faults = map[string]int{}
	}
	b.faults[judge+" "+fault]++
}

func (b *books) Skipped(executor string) { b.Faulted("skipped", executor) }

func (b *books) Repeated() { b.Faulted("repeated", "") }

func (b *books) Append(r audit.Record) { b.records = append(b.records, r) }

func TestJudgesInOrder(t *testing.T) {
	gate := func(j vaglio.Judge, score, confidence float64) vaglio.Gate {
		return vaglio.Gate{Judge: j, MinScore: score, MinConfidence: confidence}
	}
	tests := map[string]struct {
		gates   []vaglio.Gate
		kind    string
		want    vaglio.Verdict
		results int
	}{
		"kind_speaks_for_all": {
			[]vaglio.Gate{gate(answers("a", .9, 1, "fine"), .5, 0), gate(answers("b", .6, 1, "meets"), .5, 0)},
			"b",
			vaglio.Verdict{Approved: true, JudgeKind: "b", Score: .6, Reason: "approved: score 0.60 (meets)"},
			2,
		},
		"first_is_the_default_kind": {
			[]vaglio.Gate{gate(answers("a", .9, 1, "fine"), .5, 0), gate(answers("b", .6, 1, ""), .5, 0)},
			"",
			vaglio.Verdict{Approved: true, JudgeKind: "a", Score: .9, Reason: "approved: score 0.90 (fine)"},
			2,
		},
		"first_rejection_decides": {
			[]vaglio.Gate{gate(answers("a", .2, 1, "x; y"), .3, 0), {Judge: forbidden(t), MinScore: .5, Timeout: time.Minute}},
			"a",
			vaglio.Verdict{JudgeKind: "a", Score: .2, BlockedBy: vaglio.PhaseJudge, Reason: "judge: score 0.20 < threshold 0.30 (x; y)"},
			1,
		},
		"first_rejection_asks_for_words": {
			[]vaglio.Gate{
				gate(answers("a", .2, 1, "x"), .3, 0), gate(answers("b", 1, 1, "fine"), .5, 0),
				gate(answers("broken", 7, 1, ""), .5, 0), gate(answers("c", .1, 1, "worse"), .5, 0),
			},
			"a",
			vaglio.Verdict{JudgeKind: "a", Score: .2, BlockedBy: vaglio.PhaseJudge, Reason: "judge: score 0.20 < threshold 0.30 (x)"},
			3,
		},
		"no_verdict_asks_for_none": {
			[]vaglio.Gate{gate(answers("a", 7, 1, "x"), .3, 0), gate(forbidden(t), .5, 0)},
			"a",
			vaglio.Verdict{JudgeKind: "a", BlockedBy: vaglio.PhaseJudge, Reason: "judge: no verdict from a: its score is not from 0 to 1"},
			1,
		},
		"later_rejection_asks_for_none": {
			[]vaglio.Gate{gate(answers("a", 1, 1, "x"), .3, 0), gate(answers("b", .1, 1, "no"), .5, 0), gate(forbidden(t), .5, 0)},
			"a",
			vaglio.Verdict{JudgeKind: "b", Score: .1, BlockedBy: vaglio.PhaseJudge, Reason: "judge: score 0.10 < threshold 0.50 (no)"},
			2,
		},
		"later_rejection_decides": {
			[]vaglio.Gate{gate(answers("a", 1, 1, ""), .3, 0), gate(answers("b", .1, 1, ""), .5, 0)},
			"a",
			vaglio.Verdict{JudgeKind: "b", Score: .1, BlockedBy: vaglio.PhaseJudge, Reason: "judge: score 0.10 < threshold 0.50 (no reasoning given)"},
			2,
		},
		"inclusive": {
			[]vaglio.Gate{gate(answers("a", .3, .4, "x"), .3, .4)},
			"a",
			vaglio.Verdict{Approved: true, JudgeKind: "a", Score: .3, Reason: "approved: score 0.30 (x)"},
			1,
		},
		"confidence": {
			[]vaglio.Gate{gate(answers("a", .9, .4, "guessing"), .3, .5)},
			"a",
			vaglio.Verdict{JudgeKind: "a", Score: .9, BlockedBy: vaglio.PhaseJudge, Reason: "judge: confidence 0.40 < threshold 0.50 (guessing)"},
			1,
		},
		"one_line": {
			[]vaglio.Gate{gate(answers("a", 0, 1, "two\nlines\u202e "+strings.Repeat("x", 999)), .3, 0)},
			"a",
			vaglio.Verdict{JudgeKind: "a", BlockedBy: vaglio.PhaseJudge, Reason: "judge: score 0.00 < threshold 0.30 (two lines  " + strings.Repeat("x", 288) + "…)"},
			1,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v, err := build(t, vaglio.Config{Judges: tt.gates, Kind: tt.kind}).Judge(t.Context(), proposal("x", nil))
			if err != nil {
				t.Fatal(err)
			}
			if len(v.Results) != tt.results || v.Results[0].Judge != tt.gates[0].Judge.Kind() {
				t.Errorf("results %+v", v.Results)
			}
			v.TS, v.Results = 0, nil
			if diff := cmp.Diff(tt.want, v); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBrokenJudgeRejects(t *testing.T) {
	type result = vaglio.GradientResult
	ok := result{Score: 1, Confidence: 1}
	tests := map[string]struct {
		grade func(ctx context.Context) (result, error)
		want  string
	}{
		"error":         {func(context.Context) (result, error) { return ok, errors.New("token s3cr3t") }, "it failed"},
		"own_words":     {func(context.Context) (result, error) { return ok, &vaglio.JudgeError{Fault: "the model\nrefused"} }, "the model refused"},
		"panic":         {func(context.Context) (result, error) { panic("s3cr3t") }, "it crashed"},
		"nan":           {func(context.Context) (result, error) { return result{Score: math.NaN(), Confidence: 1}, nil }, "its score is not from 0 to 1"},
		"percent":       {func(context.Context) (result, error) { return result{Score: 85, Confidence: 1}, nil }, "its score is not from 0 to 1"},
		"negative":      {func(context.Context) (result, error) { return result{Score: -.1, Confidence: 1}, nil }, "its score is not from 0 to 1"},
		"infinite":      {func(context.Context) (result, error) { return result{Score: math.Inf(1), Confidence: 1}, nil }, "its score is not from 0 to 1"},
		"confidence":    {func(context.Context) (result, error) { return result{Score: 1, Confidence: math.NaN()}, nil }, "its confidence is not from 0 to 1"},
		"confidence_90": {func(context.Context) (result, error) { return result{Score: 1, Confidence: 90}, nil }, "its confidence is not from 0 to 1"},
		"cancelled":     {func(context.Context) (result, error) { return ok, context.Canceled }, "it was cancelled"},
		"late":          {func(ctx context.Context) (result, error) { <-ctx.Done(); return result{}, ctx.Err() }, "it did not answer in time"},
		"late_but_fine": {func(ctx context.Context) (result, error) { <-ctx.Done(); return ok, nil }, "it did not answer in time"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var told bytes.Buffer
				log := &books{}
				e := build(t, vaglio.Config{
					Judges: []vaglio.Gate{
						{Judge: &fake{"broken", func(ctx context.Context, _ vaglio.Proposal) (result, error) { return tt.grade(ctx) }}, Timeout: time.Minute},
						{Judge: forbidden(t)},
					},
					Log: log, Logger: slog.New(slog.NewTextHandler(&told, nil)), Meter: log,
				})
				v, err := e.Judge(t.Context(), proposal("x", nil))
				if err != nil {
					t.Fatal(err)
				}
				if v.Approved || v.BlockedBy != vaglio.PhaseJudge || v.Score != 0 || v.JudgeKind != "broken" ||
					v.Reason != "judge: no verdict from broken: "+tt.want {
					t.Errorf("got %+v", v)
				}
				want := []result{{Judge: "broken", Reasoning: tt.want, Fault: v.Results[0].Fault}}
				if v.Results[0].Fault == "" || log.faults["broken "+string(v.Results[0].Fault)] != 1 {
					t.Errorf("the fault %q is counted as %v", v.Results[0].Fault, log.faults)
				}
				if diff := cmp.Diff(want, v.Results); diff != "" {
					t.Error(diff)
				}
				if told.Len() == 0 || len(log.records) != 1 || strings.Contains(log.records[0].Reason, "s3cr3t") {
					t.Errorf("told %q, logged %+v", told.String(), log.records)
				}
			})
		})
	}
}

// The gate says what a judge's tools reach, not the judge. What the judge did can be read
// even if it gave no verdict.
func TestWhatAJudgeReaches(t *testing.T) {
	for _, network := range []string{"", "open"} {
		for _, err := range []error{nil, errors.New("x"), context.DeadlineExceeded} {
			e := build(t, vaglio.Config{Judges: []vaglio.Gate{{Network: network, Judge: &fake{"j", func(context.Context, vaglio.Proposal) (vaglio.GradientResult, error) {
				return vaglio.GradientResult{Score: 1, Confidence: 1, Judgement: "j-1", Network: "claimed"}, err
			}}}}})
			v, failed := e.Judge(t.Context(), proposal("x", nil))
			if failed != nil || v.Approved != (err == nil) || v.Results[0].Network != network || v.Results[0].Judgement != "j-1" || v.Results[0].Fault == "" != (err == nil) {
				t.Errorf("%q, %v: %+v, %v", network, err, v, failed)
			}
		}
	}
}

func TestCallerGoesAway(t *testing.T) {
	log := &books{}
	ctx, cancel := context.WithCancel(t.Context())
	e := build(t, vaglio.Config{Log: log, Judges: []vaglio.Gate{
		{Judge: &fake{"a", func(context.Context, vaglio.Proposal) (vaglio.GradientResult, error) {
			cancel()
			return vaglio.GradientResult{Score: 1, Confidence: 1}, nil
		}}},
	}})
	if _, err := e.Judge(ctx, proposal("x", nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if len(log.records) != 0 {
		t.Error("no verdict was made, but one is logged")
	}
	if v, err := e.Judge(ctx, proposal("x", vaglio.Args{"p": "/root"})); err != nil || v.BlockedBy != vaglio.PhaseGuard {
		t.Errorf("the guard needs no time: %+v %v", v, err)
	}
}

func TestStrictOrder(t *testing.T) {
	log := &books{}
	e := build(t, vaglio.Config{
		Catalog: known(t, catalog.Executor{
			Name:         "fs_read",
			ArgsSchema:   map[string]any{"required": []any{"path"}},
			Capabilities: []catalog.Capability{{Name: "fs:read", Hint: []string{"/tmp/**"}}},
		}),
		Judges: []vaglio.Gate{{Judge: forbidden(t)}}, Log: log,
	})
	tests := map[string]struct {
		args vaglio.Args
		kind catalog.Kind
	}{
		"schema_before_scope": {vaglio.Args{"src": "/etc/shadow"}, catalog.KindSchema},
		"scope_before_guard":  {vaglio.Args{"path": "/etc/shadow"}, catalog.KindScope},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := e.Judge(t.Context(), proposal("fs_read", tt.args))
			if bad, ok := errors.AsType[*catalog.Error](err); !ok || bad.Kind != tt.kind {
				t.Errorf("got %v", err)
			}
		})
	}
	v, err := e.Judge(t.Context(), proposal("fs_read", vaglio.Args{"path": "/tmp/x", "note": "/tmp/../root"}))
	if err != nil || v.BlockedBy != vaglio.PhaseGuard || v.Score != 0 || v.JudgeKind != "forbidden" || v.Rule == nil || len(v.Results) != 0 {
		t.Errorf("guard before judges: %+v %v", v, err)
	}
	if len(log.records) != 1 || *log.records[0].BlockedBy != "guard" {
		t.Errorf("errors of shape and scope are not verdicts: %+v", log.records)
	}
}

// TestUnreadableIsNoVerdict holds that a call that cannot be read is sent back: not judged,
// not logged, and its words not repeated.
func TestUnreadableIsNoVerdict(t *testing.T) {
	log := &books{}
	e := build(t, vaglio.Config{Judges: []vaglio.Gate{{Judge: forbidden(t)}}, Log: log})
	endless := vaglio.Args{}
	endless["a/b"] = []any{map[string]any(endless)}
	nested := any("x")
	for range 10_000 {
		nested = []any{nested}
	}
	const end = "; nothing was judged and the call must not run: send one that can be read"
	for name, tt := range map[string]struct {
		args vaglio.Args
		want vaglio.ShapeError
		text string
	}{
		"line": {
			vaglio.Args{"command": "ls\nPASSWORD=hunter2 x 'y"},
			vaglio.ShapeError{Field: "/command", Line: 2, Col: 20, Excerpt: "… … '…", What: "reached EOF without closing quote `'`"},
			"line 2, column 20 cannot be read: reached EOF without closing quote `'` (… … '…)" + end,
		},
		"nested_line": {
			vaglio.Args{"runs": []any{map[string]any{"cmd": "fi"}}},
			vaglio.ShapeError{Field: "/runs", Line: 1, Col: 1, Excerpt: "fi", What: "`fi` can only be used to end an `if`"},
			"line 1, column 1 cannot be read: `fi` can only be used to end an `if` (fi)" + end,
		},
		"NUL":     {vaglio.Args{"l": []any{"a\x00b"}}, vaglio.ShapeError{Field: "/l/0", What: "a text holds a NUL character"}, "the arguments cannot be read: a text holds a NUL character" + end},
		"utf8":    {vaglio.Args{"s": []string{"\xed\xa0\x80"}}, vaglio.ShapeError{Field: "/s/0", What: "a text holds bytes that are not valid UTF-8"}, ""},
		"key":     {vaglio.Args{"a~": map[string]any{"\xff": 1}}, vaglio.ShapeError{Field: "/a~0", What: "a text holds bytes that are not valid UTF-8"}, ""},
		"kind":    {vaglio.Args{"x": struct{}{}}, vaglio.ShapeError{Field: "/x", What: "a value is of no kind that JSON knows"}, ""},
		"deep":    {vaglio.Args{"x": nested}, vaglio.ShapeError{Field: "/x" + strings.Repeat("/0", 128), What: "they nest deeper than 128 levels"}, ""},
		"endless": {endless, vaglio.ShapeError{Field: strings.Repeat("/a~1b/0", 64) + "/a~1b", What: "they nest deeper than 128 levels"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := e.Judge(t.Context(), proposal("shell_exec", tt.args))
			bad, ok := errors.AsType[*vaglio.ShapeError](err)
			if !ok {
				t.Fatalf("got %v", err)
			}
			if diff := cmp.Diff(tt.want, *bad); diff != "" {
				t.Error(diff)
			}
			if tt.text != "" && bad.Error() != tt.text {
				t.Errorf("it says %q", bad)
			}
			if _, denied, err := e.Guard(t.Context(), proposal("shell_exec", tt.args)); denied || err == nil {
				t.Errorf("the guard alone says %v %v", denied, err)
			}
		})
	}
	p := proposal("Bash", vaglio.Args{"command": []any{"git", "push", "--force"}})
	p.Context.Client = "claude-code"
	_, err := e.Judge(t.Context(), p)
	if bad, ok := errors.AsType[*vaglio.ShapeError](err); !ok || bad.Field != "/command" || bad.What != `"command" must be a text` {
		t.Errorf("a list as a client's command: %v", err)
	}
	if len(log.records) != 0 {
		t.Errorf("errors of shape are not verdicts: %+v", log.records)
	}
	if v, err := e.Judge(t.Context(), proposal("shell_exec", vaglio.Args{"command": "rm -rf /usr; echo 'x"})); err != nil || v.BlockedBy != vaglio.PhaseGuard {
		t.Errorf("a known crime before an unreadable rest: %+v %v", v, err)
	}
}

func TestCatalogWins(t *testing.T) {
	yes, no := true, false
	var got vaglio.Context
	spy := &fake{"spy", func(_ context.Context, p vaglio.Proposal) (vaglio.GradientResult, error) {
		got = p.Context
		return vaglio.GradientResult{Score: 1, Confidence: 1}, nil
	}}
	e := build(t, vaglio.Config{
		Catalog: known(
			t, catalog.Executor{Name: "writer", Critical: &yes, Capabilities: []catalog.Capability{{Name: "fs:write"}}},
			catalog.Executor{Name: "runner", Capabilities: []catalog.Capability{{Name: "code:exec"}}},
			catalog.Executor{Name: "Bash", Shell: true},
			catalog.Executor{Name: "trusted", SkipJudge: true, ArgsSchema: map[string]any{"required": []any{"a"}}},
		),
		Judges: []vaglio.Gate{{Judge: spy}},
	})
	claim := vaglio.Context{Critical: &no, Capability: vaglio.Capabilities{"none"}}
	p := vaglio.Proposal{Executor: "writer", Context: claim}
	if _, err := e.Judge(t.Context(), p); err != nil || !*got.Critical || !got.Capability.Has("fs:write") || got.Capability.Has("none") {
		t.Errorf("the judge saw %+v (%v)", got, err)
	}
	if got.Known == nil || got.Known.Name != "writer" {
		t.Errorf("the judge was told %+v of the executor", got.Known)
	}
	if *p.Context.Critical || !p.Context.Capability.Has("none") || p.Context.Known != nil {
		t.Error("the caller's own proposal was changed")
	}
	claim.Known = &catalog.Executor{Name: "stranger", Shell: true}
	if _, err := e.Judge(t.Context(), vaglio.Proposal{Executor: "stranger", Context: claim}); err != nil || *got.Critical || !got.Capability.Has("none") || got.Known != nil {
		t.Errorf("of a stranger the claim stands: %+v (%v)", got, err)
	}
	for _, executor := range []string{"runner", "Bash", "shell_exec"} {
		if _, denied, _ := e.Guard(t.Context(), proposal(executor, vaglio.Args{"command": "rm -rf /"})); !denied {
			t.Errorf("%s is a shell", executor)
		}
	}
	lied := vaglio.Proposal{Executor: "runner", Context: claim, Args: vaglio.Args{"command": "rm -rf /"}}
	if _, denied, _ := e.Guard(t.Context(), lied); !denied {
		t.Error("a claim cannot take what the catalog knows away")
	}
	stricter := vaglio.Proposal{Executor: "writer", Context: vaglio.Context{Capability: vaglio.Capabilities{"code:exec"}}, Args: vaglio.Args{"command": "rm -rf /"}}
	if _, denied, _ := e.Guard(t.Context(), stricter); !denied {
		t.Error("a claim may make the guard stricter")
	}
}

func TestSkipJudgeSkipsJudgesOnly(t *testing.T) {
	counted := &books{}
	e := build(t, vaglio.Config{
		Meter:   counted,
		Catalog: known(t, catalog.Executor{Name: "x", SkipJudge: true, ArgsSchema: map[string]any{"required": []any{"a"}}}),
		Judges:  []vaglio.Gate{{Judge: forbidden(t)}},
	})
	v, err := e.Judge(t.Context(), proposal("x", vaglio.Args{"a": "/tmp"}))
	if err != nil || !v.Approved || v.Score != 1 || v.JudgeKind != "forbidden" || v.BlockedBy != vaglio.PhaseNone {
		t.Errorf("got %+v %v", v, err)
	}
	if v, err = e.Judge(t.Context(), proposal("x", vaglio.Args{"a": "/root"})); err != nil || v.BlockedBy != vaglio.PhaseGuard {
		t.Errorf("got %+v %v", v, err)
	}
	if _, err = e.Judge(t.Context(), proposal("x", nil)); err == nil {
		t.Error("the schema was skipped")
	}
	if len(counted.faults) != 1 || counted.faults["skipped x"] != 1 {
		t.Errorf("counted %v", counted.faults)
	}
}

func TestLogHoldsKeysNeverValues(t *testing.T) {
	log := &books{}
	step := 1
	e := build(t, vaglio.Config{Judges: []vaglio.Gate{{Judge: judge.Rules(), MinScore: .3, Discreet: true}}, Log: log})
	_, err := e.Judge(t.Context(), vaglio.Proposal{
		Executor: "fs_read", Intent: "read the key",
		Args:    vaglio.Args{"path": "/x/.ssh/PASSWORD_segreto", "b": 1, "a": 2},
		Context: vaglio.Context{Mode: "x", Step: &step},
	})
	if err != nil || len(log.records) != 1 {
		t.Fatal(err, log.records)
	}
	guard := "guard"
	want := audit.Record{
		Reason:    `guard: forbidden path violated: pattern '(^|/)\\.ssh(/|$)' in args`,
		JudgeKind: "rule-based-v1", BlockedBy: &guard, Intent: "read the key", Executor: "fs_read",
		ArgsKeys: []string{"a", "b", "path"}, ContextKeys: []string{"mode", "step"},
	}
	got := log.records[0]
	if got.TS <= 0 {
		t.Error("no time")
	}
	got.TS = 0
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTimeIsSecondsSinceTheEpoch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the bubble's clock begins at midnight UTC 2000-01-01
		time.Sleep(1500 * time.Millisecond)
		v, err := newEngine(t, .3).Judge(t.Context(), proposal("x", nil))
		if err != nil || v.TS != 946684801.5 {
			t.Errorf("got %v %v", v.TS, err)
		}
	})
}

func TestOwnFilesAreForbidden(t *testing.T) {
	e := build(t, vaglio.Config{Judges: []vaglio.Gate{{Judge: forbidden(t)}}, Own: own.Facts{Data: []string{"/srv/vaglio"}}})
	v, denied, _ := e.Guard(t.Context(), proposal("fs_read", vaglio.Args{"path": "/srv/./vaglio/store.db"}))
	if !denied || v.Rule.ID != "own.path" {
		t.Errorf("got %+v", v)
	}
	if v, denied, _ := e.Guard(t.Context(), proposal("fs_read", vaglio.Args{"path": "/srv/x"})); denied || v.Reason != "" {
		t.Errorf("got %+v", v)
	}
}

func TestNewTellsEveryMistake(t *testing.T) {
	_, err := vaglio.New(vaglio.Config{Judges: []vaglio.Gate{
		{}, {Judge: answers("a", 1, 1, ""), MinScore: 2}, {Judge: answers("b", 1, 1, ""), MinConfidence: math.NaN(), Timeout: -1},
	}})
	if err == nil || strings.Count(err.Error(), "\n") != 3 {
		t.Errorf("got %v", err)
	}
	for _, bad := range []string{"", "/", "data", "/.."} {
		if _, err := vaglio.New(vaglio.Config{Own: own.Facts{Data: []string{bad}}, Judges: []vaglio.Gate{{Judge: answers("a", 1, 1, "")}}}); err == nil {
			t.Errorf("own path %q is accepted", bad)
		}
	}
	_, err = vaglio.New(vaglio.Config{Kind: "llm-v1", Judges: []vaglio.Gate{{Judge: answers("a", 1, 1, "")}}})
	if err == nil || !strings.Contains(err.Error(), `no judge of kind "llm-v1"`) {
		t.Errorf("got %v", err)
	}
}

func BenchmarkJudgePath(b *testing.B) {
	benchmark(b, vaglio.Proposal{Executor: "fs_read", Intent: "read my notes in /tmp/n.txt", Args: vaglio.Args{"path": "/tmp/n.txt"}})
}

func BenchmarkJudgeShell(b *testing.B) {
	benchmark(b, vaglio.Proposal{
		Executor: "shell_exec", Intent: "show the last commits", Args: vaglio.Args{"command": "git log --oneline -n 20 && ls -la /tmp"},
		Context: vaglio.Context{Capability: vaglio.Capabilities{"code:exec"}, Cwd: "/home/u/app"},
	})
}

func benchmark(b *testing.B, p vaglio.Proposal) {
	e := newEngine(b, .3)
	b.ReportAllocs()
	for b.Loop() {
		if v, err := e.Judge(b.Context(), p); err != nil || !v.Approved {
			b.Fatal(v, err)
		}
	}
}

// P8: a judge's reasoning may name an argument's value. The audit log holds no values, so for
// such a judge it holds the signals' categories.
func TestTheAuditLogHoldsNoJudgesWords(t *testing.T) {
	said := vaglio.GradientResult{
		Score: .2, Confidence: 1, Reasoning: "It deletes /home/u/diary.",
		Signals: []vaglio.Signal{{Category: "delete"}, {Category: "delete"}, {Category: "/home/u/diary"}, {Category: "send"}},
	}
	for name, tt := range map[string]struct {
		gate   vaglio.Gate
		silent bool
		want   string
	}{
		"Rejected":      {vaglio.Gate{MinScore: .5}, false, "judge: score 0.20 < threshold 0.50 (delete, send)"},
		"Doubted":       {vaglio.Gate{MinConfidence: 1}, true, "judge: confidence 0.00 < threshold 1.00 (said in the turn log)"},
		"Approved":      {vaglio.Gate{}, false, "approved: score 0.20 (delete, send)"},
		"DiscreetJudge": {vaglio.Gate{MinScore: .5, Discreet: true}, false, "judge: score 0.20 < threshold 0.50 (It deletes /home/u/diary.)"},
	} {
		t.Run(name, func(t *testing.T) {
			log := new(books)
			tt.gate.Judge = &fake{"j", func(context.Context, vaglio.Proposal) (vaglio.GradientResult, error) {
				if tt.silent {
					return vaglio.GradientResult{Score: .2, Reasoning: "/home/u/diary"}, nil
				}
				return said, nil
			}}
			e := build(t, vaglio.Config{Judges: []vaglio.Gate{tt.gate}, Log: log})
			v, err := e.Judge(t.Context(), proposal("fs_delete", vaglio.Args{"path": "/home/u/diary"}))
			if err != nil || !strings.Contains(v.Reason, "/home/u/diary") {
				t.Errorf("the verdict's reason is %q, %v: it should hold the judge's words", v.Reason, err)
			}
			if len(log.records) != 1 || log.records[0].Reason != tt.want {
				t.Errorf("logged %+v\nwant the reason %q", log.records, tt.want)
			}
		})
	}
}
