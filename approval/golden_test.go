package approval_test

import (
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/golden"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/operation"
)

// TestWhatAgentsRead holds every refusal that an agent can get: of the guard,
// for each effect of the judge, and for each way in which an ask can end.
func TestWhatAgentsRead(t *testing.T) {
	t.Parallel()
	var text, form strings.Builder
	add := func(name string, r approval.Refusal) {
		b, err := strictjson.MarshalIndent(r)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString("=== " + name + "\n" + r.Text() + "\n\n")
		form.WriteString("// " + name + "\n" + string(b) + "\n")
	}
	add("guard", approval.Refuse(shell("rm -rf /"), guardDenies()))
	general := approval.Refuse(shell("x"), judgeDenies(0.2)).Alternatives
	// What could not be read is a signal, and no effect.
	for _, kind := range append([]operation.Kind{"unread"}, operation.Kinds()...) {
		v := judgeDenies(0.2)
		v.Results[0].Signals = []vaglio.Signal{{Category: string(kind), Score: 0.2, Message: "does it"}}
		r := approval.Refuse(shell("do "+string(kind)), v)
		if len(r.Alternatives) != 3 {
			t.Errorf("of the effect %s nothing is said: %q, as for any call: %q", kind, r.Alternatives, general)
		}
		add("effect "+string(kind), r)
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
