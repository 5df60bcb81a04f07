package approval_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/golden"
	"github.com/metnos/vaglio/vaglio"
)

// effectKinds are the effects judge's names, as its source has them.
func effectKinds(t *testing.T) []string {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), "../vaglio/judge/effects/effect.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	kinds := []string{"unread"} // what could not be read is a signal, and no effect
	ast.Inspect(tree, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Kind") && len(spec.Values) == 1 {
			if lit, ok := spec.Values[0].(*ast.BasicLit); ok {
				kind, err := strconv.Unquote(lit.Value)
				if err != nil {
					t.Fatal(err)
				}
				kinds = append(kinds, kind)
			}
		}
		return true
	})
	if len(kinds) < 20 {
		t.Fatalf("only %d effects were found in the judge's source", len(kinds))
	}
	return kinds
}

// TestWhatAgentsRead holds every refusal that an agent can get: of the guard,
// for each effect of the judge, and for each way in which an ask can end.
func TestWhatAgentsRead(t *testing.T) {
	t.Parallel()
	var text, form strings.Builder
	add := func(name string, r approval.Refusal) {
		b, err := json.Marshal(r, json.Deterministic(true), jsontext.WithIndent("  "))
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString("=== " + name + "\n" + r.Text() + "\n\n")
		form.WriteString("// " + name + "\n" + string(b) + "\n")
	}
	add("guard", approval.Refuse(shell("rm -rf /"), guardDenies()))
	general := approval.Refuse(shell("x"), judgeDenies(0.2)).Alternatives
	for _, kind := range effectKinds(t) {
		v := judgeDenies(0.2)
		v.Results[0].Signals = []vaglio.Signal{{Category: kind, Score: 0.2, Message: "does it"}}
		r := approval.Refuse(shell("do "+kind), v)
		if len(r.Alternatives) != 3 {
			t.Errorf("of the effect %s nothing is said: %q, as for any call: %q", kind, r.Alternatives, general)
		}
		add("effect "+kind, r)
	}
	for _, state := range []approval.State{
		approval.Denied, approval.Expired, approval.Withdrawn, approval.Superseded, approval.Spent, approval.Lapsed,
		approval.Succeeded, approval.Failed, approval.Unknown,
	} {
		a := open(t, "make deploy").Approvals[0]
		if a.State = state; state == approval.Denied {
			a.Decision = &approval.Decision{Choice: approval.ChoiceDeny, Words: "not today"}
		}
		add(string(state), approval.AfterDecision(a))
	}
	golden.Check(t, "testdata/refusals.txt", text.String())
	golden.Check(t, "testdata/refusals.json.txt", form.String())
}
