package approval_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/golden"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/operation"
)

// TestWhatAgentsRead compares every refusal that an agent can get with a golden file: the
// guard's, one for each effect of the judge, and one for each way in which an ask can end.
func TestWhatAgentsRead(t *testing.T) {
	t.Parallel()
	var text, form strings.Builder
	add := func(name string, r approval.Refusal) {
		b, err := strictjson.MarshalIndent(r)
		if err != nil {
			t.Fatal(err)
		}
		soundRefusal(t, name, r.Text())
		text.WriteString("=== " + name + "\n" + r.Text() + "\n\n")
		form.WriteString("// " + name + "\n" + string(b) + "\n")
	}
	add("guard", approval.Refuse(shell("rm -rf /"), guardDenies()))
	general := approval.Refuse(shell("x"), judgeDenies(0.2)).Alternatives
	// Something that could not be read is a signal, but not an effect.
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

// scoreLike matches a score as the structured form holds it.
var scoreLike = regexp.MustCompile(`\b[01]\.\d`)

// soundRefusal checks what holds for every refusal: it is short, says nothing twice, and
// contains no score.
func soundRefusal(t *testing.T, name, text string) {
	t.Helper()
	if n := utf8.RuneCountInString(text); n > 900 {
		t.Errorf("%s: the text has %d characters", name, n)
	}
	if score := scoreLike.FindString(text); score != "" || strings.Contains(text, `\\\\`) {
		t.Errorf("%s: the text has a score (%q) or four backslashes:\n%s", name, score, text)
	}
	said := map[string]bool{}
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "vaglio: "), "\n") {
		for sentence := range strings.SplitSeq(strings.TrimPrefix(line, "- "), ". ") {
			key := strings.ToLower(strings.Trim(sentence, ". "))
			if said[key] {
				t.Errorf("%s: %q is said twice:\n%s", name, key, text)
			}
			said[key] = true
		}
	}
	for _, part := range []string{"nobody can allow", "did not run", "in another spelling"} {
		if n := strings.Count(text, part); n > 1 {
			t.Errorf("%s: %q is said %d times:\n%s", name, part, n, text)
		}
	}
}
