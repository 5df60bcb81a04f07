package vaglio_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/catalog"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

func toolCalls(calls ...map[string]any) vaglio.Args {
	var list []any
	for _, c := range calls {
		list = append(list, c)
	}
	return vaglio.Args{"tool_calls": list}
}

func shellCall(text string) map[string]any {
	return map[string]any{"tool": "Bash", "parameters": map[string]any{"command": text}}
}

// The findings behind a batch's verdict are those of all its calls, the worst first, each beside its
// effect.
func TestABatchHasTheFindingsOfItsCalls(t *testing.T) {
	t.Parallel()
	e := engineAt(t, folderOf{"/home/u/app/a": ""})
	v, err := e.Judge(t.Context(), vaglio.Proposal{
		Executor: "batch", Args: toolCalls(shellCall("ls"), shellCall("npm publish"), shellCall("git push --force origin main")),
		Context: vaglio.Context{Cwd: "/home/u/app"},
	})
	if err != nil || v.Approved {
		t.Fatalf("%+v %v", v, err)
	}
	last := v.Results[len(v.Results)-1]
	effects, _ := last.Metadata["effects"].([]any)
	var kinds []string
	for i, s := range last.Signals {
		of, _ := effects[i].(map[string]any)
		if kinds = append(kinds, s.Category); of["kind"] != s.Category {
			t.Errorf("%s has the effect %v", s.Category, of)
		}
	}
	if len(kinds) != 3 || kinds[2] != "read" || !slices.IsSortedFunc(last.Signals, func(a, b vaglio.Signal) int { return int(100*a.Score) - int(100*b.Score) }) {
		t.Errorf("%+v", last.Signals)
	}
	if last.Score != last.Signals[0].Score || v.Score != last.Score {
		t.Errorf("%v of %v", v.Score, last.Signals)
	}
}

// A batch of no calls does nothing. What is no list of calls, or more than one, is an unknown tool.
func TestAnEmptyBatchPasses(t *testing.T) {
	t.Parallel()
	e := engineAt(t, folderOf{"/home/u/app/a": ""})
	for name, tt := range map[string]struct {
		executor string
		args     vaglio.Args
		passes   bool
	}{
		"empty":           {"batch", toolCalls(), true},
		"described":       {"batch", vaglio.Args{"tool_calls": []any{}, "description": "nothing to do"}, true},
		"nothing":         {"batch", vaglio.Args{}, false},
		"not a list":      {"batch", vaglio.Args{"tool_calls": "rm x"}, false},
		"more":            {"batch", vaglio.Args{"tool_calls": []any{}, "command": "git push --force"}, false},
		"in a batch":      {"batch", toolCalls(map[string]any{"tool": "batch", "parameters": map[string]any{"tool_calls": []any{}}}), false},
		"of a server":     {"mcp__x__batch", toolCalls(), false},
		"of another name": {"batch_delete", toolCalls(), false},
	} {
		v, err := e.Judge(t.Context(), vaglio.Proposal{Executor: tt.executor, Args: tt.args, Context: vaglio.Context{Cwd: "/home/u/app"}})
		if err != nil || v.Approved != tt.passes || tt.passes && !strings.Contains(v.Reason, "only reads") {
			t.Errorf("%s: %v %s %v", name, v.Approved, v.Reason, err)
		}
	}
}

// P1: the guard looks at a batch's calls again when it is redeemed.
func TestTheGuardAloneSeesTheCallsOfABatch(t *testing.T) {
	t.Parallel()
	e := engineAt(t, folderOf{"/home/u/app/a": ""})
	args := toolCalls(shellCall("ls"), map[string]any{"tool": "delete_file", "parameters": map[string]any{"path": "/home/u/.local/bin/vaglio"}})
	v, denied, err := e.Guard(t.Context(), vaglio.Proposal{Executor: "batch", Args: args, Context: vaglio.Context{Cwd: "/home/u/app"}})
	if err != nil || !denied || v.BlockedBy != vaglio.PhaseGuard {
		t.Errorf("%+v %v %v", v, denied, err)
	}
	args = toolCalls(shellCall("ls"))
	if _, denied, err := e.Guard(t.Context(), vaglio.Proposal{Executor: "batch", Args: args, Context: vaglio.Context{Cwd: "/home/u/app"}}); err != nil || denied {
		t.Errorf("%v %v", denied, err)
	}
}

// lenient approves every call, and counts them.
type lenient struct{ asked []string }

func (*lenient) Kind() string { return "lenient" }

func (l *lenient) Grade(_ context.Context, p vaglio.Proposal) (vaglio.GradientResult, error) {
	l.asked = append(l.asked, p.Executor)
	return vaglio.GradientResult{Score: 1, Confidence: 1}, nil
}

// A batch cannot do what the catalog keeps its calls from, and what it says of the batch alone spares
// no judge of them.
func TestTheCatalogCountsForTheCallsOfABatch(t *testing.T) {
	t.Parallel()
	c, err := catalog.New(catalog.Config{Home: "/home/u", Executors: []catalog.Executor{
		{Name: "batch", SkipJudge: true},
		{Name: "mail", ArgsSchema: map[string]any{"type": "object", "required": []any{"to"}}},
		{Name: "Bash"},
	}, Closed: true})
	if err != nil {
		t.Fatal(err)
	}
	j := &lenient{}
	e, err := vaglio.New(vaglio.Config{Catalog: c, Judges: []vaglio.Gate{{Judge: j}}, Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	judge := func(calls ...map[string]any) error {
		_, err := e.Judge(t.Context(), vaglio.Proposal{Executor: "batch", Args: toolCalls(calls...)})
		return err
	}
	for name, call := range map[string]map[string]any{
		"an unknown executor": {"tool": "other", "parameters": map[string]any{}},
		"another schema":      {"tool": "mail", "parameters": map[string]any{"body": "x"}},
	} {
		if _, is := errors.AsType[*catalog.Error](judge(shellCall("ls"), call)); !is {
			t.Errorf("%s is let through", name)
		}
	}
	j.asked = nil
	if err := judge(shellCall("ls"), map[string]any{"tool": "mail", "parameters": map[string]any{"to": "x"}}); err != nil || !slices.Equal(j.asked, []string{"Bash", "mail"}) {
		t.Errorf("%v %v", j.asked, err)
	}
}

// A permit for a batch is bound to what its calls run, also if their arguments are JSON in a text.
func TestABatchIsBoundToWhatItsCallsRun(t *testing.T) {
	t.Parallel()
	files := folderOf{"/home/u/app/ship.sh": "git push --force"}
	e := engineAt(t, files)
	p := vaglio.Proposal{
		Executor: "batch", Context: vaglio.Context{Cwd: "/home/u/app"},
		Args: toolCalls(shellCall("ls"), map[string]any{"tool": "Bash", "arguments": `{"command":"sh ship.sh"}`}),
	}
	v, err := e.Judge(t.Context(), p)
	if err != nil || v.Approved || !slices.ContainsFunc(v.Sources, func(s vaglio.Source) bool { return s.Path == "/home/u/app/ship.sh" }) {
		t.Fatalf("%+v %v", v, err)
	}
	files["/home/u/app/ship.sh"] = "git push --force origin main"
	if now := e.Sources(p); slices.Equal(now, v.Sources) {
		t.Errorf("another script is the same: %+v", now)
	}
}

// A permit for a batch is also bound to what its calls run and name in the folders in which other calls
// leave the shell, as nobody knows whether one shell runs them all; and to nothing else there.
func TestABatchIsBoundInTheFoldersThatItEnters(t *testing.T) {
	t.Parallel()
	const dir = "/home/u/app/"
	ask := shellCall("git push --force")
	for name, tt := range map[string]struct {
		calls   []map[string]any
		changed string // the file that another text is put into
		differs bool
	}{
		"script":           {[]map[string]any{shellCall("cd sub"), shellCall("bash x.sh"), ask}, "sub/x.sh", true},
		"entered later":    {[]map[string]any{shellCall("bash x.sh"), ask, shellCall("cd sub")}, "sub/x.sh", true},
		"script in script": {[]map[string]any{shellCall("cd sub"), shellCall("bash y.sh"), ask}, "sub/x.sh", true},
		"manifest":         {[]map[string]any{shellCall("cd sub && ls"), shellCall("kubectl apply -f k"), ask}, "sub/k/a.yaml", true},
		"named":            {[]map[string]any{shellCall("pushd sub"), shellCall("psql -f a.sql"), ask}, "sub/a.sql", true},
		"two folders":      {[]map[string]any{shellCall("cd sub"), shellCall("cd deep"), shellCall("bash x.sh"), ask}, "deep/x.sh", true},
		"not named":        {[]map[string]any{shellCall("cd sub"), shellCall("bash x.sh"), ask}, "sub/other.sh", false},
		"not entered":      {[]map[string]any{shellCall("(cd sub; ls)"), shellCall("bash x.sh"), ask}, "sub/x.sh", false},
		"by no shell":      {[]map[string]any{shellCall("cd sub"), {"tool": "Read", "parameters": map[string]any{"file_path": "x.sh"}}, ask}, "sub/x.sh", false},
	} {
		files := folderOf{
			dir + "x.sh": "ls", dir + "sub/x.sh": "ls -l", dir + "sub/y.sh": "sh x.sh", dir + "sub/k/a.yaml": "a: 1", dir + "sub/a.sql": "select 1",
			dir + "deep/x.sh": "ls", dir + "sub/other.sh": "ls",
		}
		e := engineAt(t, files)
		p := vaglio.Proposal{Executor: "batch", Args: toolCalls(tt.calls...), Context: vaglio.Context{Cwd: "/home/u/app"}}
		v, err := e.Judge(t.Context(), p)
		if err != nil || v.Approved {
			t.Fatalf("%s: %+v %v", name, v, err)
		}
		if now := e.Sources(p); !slices.Equal(now, v.Sources) {
			t.Errorf("%s: unchanged, %+v is %+v", name, v.Sources, now)
		}
		files[dir+tt.changed] += "\nwhoami"
		if now := e.Sources(p); slices.Equal(now, v.Sources) == tt.differs {
			t.Errorf("%s: bound to %+v", name, v.Sources)
		}
	}
}

// Calls that together do too much are sent back, before each of them is judged by all that the others
// did.
func TestABatchThatDoesTooMuchIsSentBack(t *testing.T) {
	t.Parallel()
	e := engineAt(t, folderOf{"/home/u/app/a": ""})
	var calls []map[string]any
	for range 40 {
		calls = append(calls, shellCall(strings.Repeat("echo a > b; ", 30)))
	}
	p := vaglio.Proposal{Executor: "batch", Args: toolCalls(calls...), Context: vaglio.Context{Cwd: "/home/u/app"}}
	if _, err := e.Judge(t.Context(), p); vaglio.Mistake(err) == nil {
		t.Errorf("%v", err)
	}
	p.Args = toolCalls(append(calls, shellCall("rm -rf ~"))...)
	if v, err := e.Judge(t.Context(), p); err != nil || v.BlockedBy != vaglio.PhaseGuard {
		t.Errorf("%+v %v", v, err)
	}
}

// movesTheGate are calls that only move the gate's program together.
func movesTheGate() []map[string]any {
	return []map[string]any{
		{"tool": "write_file", "parameters": map[string]any{"path": "/home/u/app/x.sh", "content": "mv $B/vaglio v\n"}},
		shellCall("B=/home/u/.local/bin bash x.sh"),
	}
}

// What the guard would deny in a session is denied in a batch, too, in whatever order its calls
// stand: that nobody knows what runs first is no reason to ask a person about it.
func TestABatchIsDeniedForWhatItsCallsDoTogether(t *testing.T) {
	t.Parallel()
	pair := movesTheGate()
	moves, runs := pair[0], pair[1]
	for name, calls := range map[string][]map[string]any{
		"written, then run":           {moves, runs},
		"run, then written":           {runs, moves},
		"among calls that pass":       {shellCall("ls"), moves, runs, shellCall("git diff")},
		"among calls that are asked":  {shellCall("npm publish"), moves, runs, shellCall("git push --force")},
		"apart":                       {runs, shellCall("git push --force"), moves},
		"beside another file that is": {moves, runs, {"tool": "write_file", "parameters": map[string]any{"path": "/home/u/app/y", "content": "y\n"}}},
	} {
		e := engineAt(t, folderOf{"/home/u/app/a": ""})
		v, err := e.Judge(t.Context(), vaglio.Proposal{Executor: "batch", Args: toolCalls(calls...), Context: vaglio.Context{Cwd: "/home/u/app"}})
		if err != nil || v.Approved || v.BlockedBy != vaglio.PhaseGuard || v.Rule == nil {
			t.Errorf("%s: %s %v", name, v.Reason, err)
		}
	}
}

// marks are what a judge gives calls, by their executors.
type marks map[string]vaglio.GradientResult

// gate asks for a score of at least a half, and some confidence.
func (m marks) gate(kind string) vaglio.Gate {
	return vaglio.Gate{MinScore: 0.5, MinConfidence: 0.5, Judge: &fake{kind, func(_ context.Context, p vaglio.Proposal) (vaglio.GradientResult, error) {
		r, ok := m[p.Executor]
		if !ok {
			return r, errors.New("not known")
		}
		return r, nil
	}}}
}

// The call that counts is the one that is kept from passing, whatever its score; of several, the one
// of the lowest score, and of equals the first.
func TestTheWorstCallOfABatchCounts(t *testing.T) {
	t.Parallel()
	mark := func(score, confidence float64) vaglio.GradientResult {
		return vaglio.GradientResult{Score: score, Confidence: confidence}
	}
	e := build(t, vaglio.Config{Judges: []vaglio.Gate{marks{
		"passes": mark(0.6, 1), "unsure": mark(0.9, 0), "low": mark(0.2, 1), "other_low": mark(0.2, 1),
	}.gate("model")}})
	for _, tc := range []struct {
		calls []string
		score float64
		told  string // what the reason says
	}{
		{[]string{"passes", "unsure"}, 0.9, "confidence"},
		{[]string{"unsure", "passes"}, 0.9, "confidence"},
		{[]string{"unsure", "low", "passes"}, 0.2, "score"},
		{[]string{"low", "unsure"}, 0.2, "score"},
		{[]string{"low", "broken"}, 0, "failed"},
		{[]string{"broken", "low"}, 0, "failed"},
	} {
		v, err := e.Judge(t.Context(), vaglio.Proposal{Executor: "batch", Args: toolCalls(named(tc.calls)...)})
		if err != nil || v.Approved || v.Score != tc.score || !strings.Contains(v.Reason, tc.told) {
			t.Errorf("%v: %s %v", tc.calls, v.Reason, err)
		}
	}
}

func named(names []string) (calls []map[string]any) {
	for _, n := range names {
		calls = append(calls, map[string]any{"tool": n, "parameters": map[string]any{"x": "1"}})
	}
	return calls
}

// A judge that fails gives no score, and what the guard denies has none, either: the denial counts.
func TestADenialCountsBeforeAJudgeThatFails(t *testing.T) {
	t.Parallel()
	weighs, err := effects.New(effects.Options{Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	pass := vaglio.GradientResult{Score: 1, Confidence: 1}
	e := build(t, vaglio.Config{
		Judges: []vaglio.Gate{marks{"write_file": pass, "Bash": pass}.gate("model"), {Judge: weighs, MinScore: effects.Threshold}},
		Home:   "/home/u", Files: folderOf{"/home/u/app/a": ""}, Workspaces: []string{"/home/u/app"}, Own: gateAt("/home/u"),
	})
	calls := slices.Concat(named([]string{"broken"}), movesTheGate())
	v, err := e.Judge(t.Context(), vaglio.Proposal{Executor: "batch", Args: toolCalls(calls...), Context: vaglio.Context{Cwd: "/home/u/app"}})
	if err != nil || v.BlockedBy != vaglio.PhaseGuard {
		t.Errorf("%s %v", v.Reason, err)
	}
}

// Beside the verdict stands what each judge says of the call that it likes least; of equals, of the
// first. Judges that were not asked about the worst call are not told of.
func TestABatchHasTheWorstAnswerOfEachJudge(t *testing.T) {
	t.Parallel()
	says := func(score float64, text string) vaglio.GradientResult {
		return vaglio.GradientResult{Score: score, Confidence: 1, Reasoning: text, Signals: []vaglio.Signal{{Category: text, Score: score}}}
	}
	e := build(t, vaglio.Config{Judges: []vaglio.Gate{
		marks{"a": says(0.6, "a1"), "b": says(0.9, "b1"), "c": says(0.2, "c1"), "d": says(0.2, "d1"), "e": says(0.6, "e1")}.gate("one"),
		marks{"a": says(0.9, "a2"), "b": says(0.1, "b2"), "c": says(0.9, "c2"), "d": says(0.9, "d2"), "e": says(0.6, "e2")}.gate("two"),
	}})
	for _, tc := range []struct{ calls, want []string }{
		{[]string{"a", "b"}, []string{"a1", "b2"}}, // the first judge says more of a, though b is the worst
		{[]string{"b", "a"}, []string{"a1", "b2"}},
		{[]string{"b", "a", "e"}, []string{"a1", "b2"}},
		{[]string{"b", "e", "a"}, []string{"e1", "b2"}},
		{[]string{"c", "d"}, []string{"c1", "c2"}},
		{[]string{"d", "c"}, []string{"d1", "d2"}},
	} {
		v, err := e.Judge(t.Context(), vaglio.Proposal{Executor: "batch", Args: toolCalls(named(tc.calls)...)})
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, r := range v.Results {
			said = append(said, r.Reasoning)
		}
		if !slices.Equal(said, tc.want) {
			t.Errorf("%v: %v, want %v", tc.calls, said, tc.want)
		}
	}
}

// However many calls a batch has, no more than twenty findings are told, and the worst are among them.
func TestABatchTellsTwentyFindings(t *testing.T) {
	t.Parallel()
	e := engineAt(t, folderOf{"/home/u/app/a": ""})
	var calls []map[string]any
	for range 30 {
		calls = append(calls, shellCall("ls"))
	}
	calls = append(calls, shellCall("git push --force origin main"))
	v, err := e.Judge(t.Context(), vaglio.Proposal{Executor: "batch", Args: toolCalls(calls...), Context: vaglio.Context{Cwd: "/home/u/app"}})
	if err != nil || v.Approved {
		t.Fatalf("%s %v", v.Reason, err)
	}
	told := v.Results[len(v.Results)-1].Signals
	if len(told) != 20 || told[0].Score != v.Score {
		t.Errorf("%d findings, the first %+v of %v", len(told), told[0], v.Score)
	}
}

// If the caller goes away while a batch is judged, there is no verdict.
func TestABatchWhoseCallerLeavesHasNoVerdict(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	e := build(t, vaglio.Config{Judges: []vaglio.Gate{{Judge: &fake{"model", func(ctx context.Context, _ vaglio.Proposal) (vaglio.GradientResult, error) {
		cancel()
		return vaglio.GradientResult{}, ctx.Err()
	}}}}})
	if v, err := e.Judge(ctx, vaglio.Proposal{Executor: "batch", Args: toolCalls(named([]string{"a", "b"})...)}); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v %v", v, err)
	}
}
