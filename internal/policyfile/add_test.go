package policyfile_test

import (
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/policyfile"
)

// parsed returns the policy of a file, or the default one for "".
func parsed(t *testing.T, text string) policyfile.Policy {
	t.Helper()
	if text == "" {
		return policyfile.Default()
	}
	p, err := policyfile.Parse("p.yaml", []byte(text), "/home/u")
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

// routed is a policy with two routes.
const routed = `approval:
  routes:
    - {name: careful, approvers: [anyone]}
    - {name: quick, approvers: [anyone]}
  rules: # the first that fits
    # All that is lost.
    - {effects: [delete], route: careful}
    - {route: careful}
`

// TestARuleIsAddedAndAllElseStays checks that adding a rule is a single change to the file, with
// every other character in place.
func TestARuleIsAddedAndAllElseStays(t *testing.T) {
	t.Parallel()
	const comments = "# ours\nclosed: false # for now\n"
	for name, row := range map[string]struct{ text, rule, want string }{
		"into nothing":            {"", "tix=workspace", "programs:\n  tix: workspace\n"},
		"behind a file":           {comments, "tix=user", comments + "programs:\n  tix: user\n"},
		"without a last line end": {"closed: false", "tix=user", "closed: false\nprograms:\n  tix: user\n"},
		"below its key": {
			comments + "programs: # what we have\n  bd: shared # the board\nworkspaces: []\n", "tix=workspace",
			comments + "programs: # what we have\n  tix: workspace\n  bd: shared # the board\nworkspaces: []\n",
		},
		"the whole list":    {comments, "min_score=0.4", comments + "execution:\n  tool_validation:\n    - {type: effects, min_score: 0.4}\n"},
		"a score in place":  {"execution:\n  tool_validation: # judges\n    - {type: effects, min_score: 0.55} # strict\n", "min_score=0.4", "execution:\n  tool_validation: # judges\n    - {type: effects, min_score: 0.4} # strict\n"},
		"behind the type":   {"execution:\n  tool_validation:\n    - {type: effects}\n" + comments, "min_score=0.25", "execution:\n  tool_validation:\n    - {type: effects, min_score: 0.25}\n" + comments},
		"on a line":         {"execution:\n  tool_validation:\n    # the first\n    - type: effects\n      min_confidence: 0.1\n", "min_score=0.4", "execution:\n  tool_validation:\n    # the first\n    - type: effects\n      min_score: 0.4\n      min_confidence: 0.1\n"},
		"a score on a line": {"execution:\n  tool_validation:\n    - type: effects\n      min_score: 0.5 # è alto\n", "min_score=1", "execution:\n  tool_validation:\n    - type: effects\n      min_score: 1 # è alto\n"},
		"below spec":        {"spec:\n  execution:\n    tool_validation:\n      - {type: effects}\n", "min_score=0.6", "spec:\n  execution:\n    tool_validation:\n      - {type: effects, min_score: 0.6}\n"},
		"a route, first":    {routed, "route=quick agents=coder effects=publish,send", strings.Replace(routed, "    # All", "    - {agents: [coder], effects: [publish, send], route: quick}\n    # All", 1)},
		"a name of a sign":  {routed, "route=quick executors=mcp__a:b,true", strings.Replace(routed, "    # All", "    - {executors: [\"mcp__a:b\", \"true\"], route: quick}\n    # All", 1)},
		"rules on a line": {
			"approval:\n  routes:\n  - {name: quick, approvers: [anyone]}\n  rules:\n  - route: quick # all\n", "reaches=public route=quick",
			"approval:\n  routes:\n  - {name: quick, approvers: [anyone]}\n  rules:\n  - {reaches: [public], route: quick}\n  - route: quick # all\n",
		},
	} {
		p := parsed(t, row.text)
		rule, err := policyfile.ParseRule(strings.Fields(row.rule)...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		better, err := p.With(rule, "p.yaml", "/home/u")
		if err != nil || string(better.Text()) != row.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, better.Text(), row.want)
		}
	}
}

// TestARuleThatCannotStandThere checks that the error is one sentence, and that there is no policy.
func TestARuleThatCannotStandThere(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ text, rule, want string }{
		"no reach":          {"", "tix=everywhere", `tix reaches "everywhere"`},
		"no program":        {"", "./tix=workspace", "./tix is not a program's name"},
		"nothing":           {"", "=", "such as tix=workspace"},
		"two lines":         {"", "a: public\n  tix=workspace", "such as tix=workspace"},
		"there already":     {"programs:\n  tix: shared\n", "tix=workspace", "already listed under programs, as shared"},
		"one line":          {"programs: {bd: shared}\n", "tix=workspace", "put it there by hand"},
		"no number":         {"", "min_score=high", "a number from 0 to 1"},
		"too high":          {"", "min_score=1.5", "a number from 0 to 1"},
		"NaN":               {"", "min_score=NaN", "a number from 0 to 1"},
		"no judges":         {"execution:\n  tool_validation: []\n", "min_score=0.4", "put it there by hand"},
		"no route":          {routed, "route=fast agents=coder", `there is no route "fast"; known: careful, quick`},
		"no routes":         {"", "route=quick", "fits every call"},
		"none at all":       {"closed: false # no routes\n", "route=quick agents=coder", "the policy has no routes"},
		"every call":        {routed, "route=quick", "fits every call"},
		"no condition":      {routed, "route=quick users=ann", "users is not a condition; known: agents, effects, executors, reaches"},
		"no effect":         {routed, "route=quick effects=publis", `asks for the effect "publis"; known: read`},
		"an empty name":     {routed, "route=quick agents=", "agents names nothing"},
		"two routes":        {routed, "route=quick route=careful", "route stands there twice"},
		"a rule again":      {routed, "route=careful effects=delete", "rules already have it"},
		"rules in a line":   {"approval: {routes: [{name: quick, approvers: [anyone]}], rules: [{route: quick}]}\n", "route=quick agents=coder", "put it there by hand"},
		"a score besides":   {routed, "min_score=0.4 effects=publish", "only a route has conditions"},
		"an anchor's score": {"execution:\n  tool_validation:\n    - {type: effects, min_score: &x 0.5}\n", "min_score=0.4", "put it there by hand"},
	} {
		p := parsed(t, row.text)
		words := []string{row.rule}
		if strings.Contains(row.text, "routes") {
			words = strings.Fields(row.rule)
		}
		rule, err := policyfile.ParseRule(words...)
		if err == nil {
			_, err = p.With(rule, "p.yaml", "/home/u")
		}
		if err == nil || !strings.Contains(err.Error(), row.want) || strings.Count(err.Error(), "\n") > 0 {
			t.Errorf("%s: %v, want %q", name, err, row.want)
		}
	}
}
