package vaglio_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/catalog"
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
