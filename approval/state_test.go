package approval_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/approval"
)

// The states, the events and the edges of the design, written down a second time so that
// the table is compared with something other than itself.
var (
	states = []approval.State{
		"pending", "allowed", "denied", "expired", "withdrawn", "superseded",
		"spent", "lapsed", "succeeded", "failed", "unknown",
	}
	events = []approval.Event{
		"allow", "deny", "expire", "withdraw", "supersede",
		"redeem", "lapse", "succeed", "fail", "lose",
	}
	edges = map[string]approval.State{
		"pending allow":     "allowed",
		"pending deny":      "denied",
		"pending expire":    "expired",
		"pending withdraw":  "withdrawn",
		"pending supersede": "superseded",
		"allowed redeem":    "spent",
		"allowed lapse":     "lapsed",
		"spent succeed":     "succeeded",
		"spent fail":        "failed",
		"spent lose":        "unknown",
	}
)

// TestLeads compares Leads with the same edges.
func TestLeads(t *testing.T) {
	for _, from := range append(states, "") {
		for _, to := range append(states, "") {
			want := false
			for edge, end := range edges {
				state, _, _ := strings.Cut(edge, " ")
				want = want || state == string(from) && end == to
			}
			if got := from.Leads(to); got != want {
				t.Errorf("%q leads to %q: %t", from, to, got)
			}
		}
	}
}

func TestEveryStateAndEvent(t *testing.T) {
	for _, from := range append(states, "", "guard", "PENDING") {
		final := true
		for _, e := range append(events, "", "ALLOW", "resurrect") {
			a := approval.Approval{ID: "x-1", State: from}
			err := a.Move(e)
			want, ok := edges[string(from)+" "+string(e)]
			if ok {
				final = false
				if err != nil || a.State != want {
					t.Errorf("%s on %s gives %s, %v; want %s", e, from, a.State, err, want)
				}
				continue
			}
			if a.State != from {
				t.Errorf("%s on %s is refused and yet gives %s", e, from, a.State)
			}
			if diff := cmp.Diff(&approval.MoveError{ID: "x-1", State: from, Event: e}, err); diff != "" {
				t.Errorf("%s on %s (-want +got):\n%s", e, from, diff)
			}
		}
		if from.Final() != final {
			t.Errorf("%s.Final() is %v", from, !final)
		}
	}
}

// TestPictureShowsEveryState checks that the picture in the package comment shows every
// state, and that its arrows lead only to states that the table reaches.
func TestPictureShowsEveryState(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "approval.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	picture := drawing(f.Doc)
	for _, s := range states {
		if !strings.Contains(picture, string(s)) {
			t.Errorf("the picture lacks %s:\n%s", s, picture)
		}
	}
	for line := range strings.Lines(picture) {
		if _, target, ok := strings.Cut(line, "▶ "); ok {
			word, _, _ := strings.Cut(strings.TrimSpace(target), " ")
			reached := false
			for _, to := range edges {
				reached = reached || string(to) == word
			}
			if !reached {
				t.Errorf("the picture leads to %q, the table does not", word)
			}
		}
	}
}

func drawing(doc *ast.CommentGroup) string {
	var b strings.Builder
	for line := range strings.Lines(doc.Text()) {
		if strings.HasPrefix(line, "\t") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// TestFates checks that distinctions that people make, but states do not, have names of
// their own.
func TestFates(t *testing.T) {
	deadline := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for want, a := range map[string]approval.Approval{
		"failed":         {State: approval.Failed, Outcome: &approval.Outcome{}},
		"failed.unrun":   {State: approval.Failed, Outcome: &approval.Outcome{NotRun: true}},
		"lapsed":         {State: approval.Lapsed, Permit: &approval.Permit{}},
		"lapsed.revoked": {State: approval.Lapsed, Permit: &approval.Permit{Revoked: &approval.Act{}}},
		"spent":          {State: approval.Spent, Permit: &approval.Permit{}},
		"denied":         {State: approval.Denied, EndedAt: deadline.Add(-time.Hour), ExpiresAt: deadline},
		"expired":        {State: approval.Expired, EndedAt: deadline, ExpiresAt: deadline},
		"expired.clock":  {State: approval.Expired, EndedAt: deadline.Add(-time.Hour), ExpiresAt: deadline},
	} {
		if got := approval.Fate(a.State, a.Outcome, a.Permit, a.EndedAt, a.ExpiresAt); got != want {
			t.Errorf("%s is told as %s", want, got)
		}
	}
}
