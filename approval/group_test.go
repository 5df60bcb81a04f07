package approval_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
)

// grouped returns a routing with one route whose approvers are ann and a group, two of whom
// must allow.
func grouped(roster func(string) ([]string, bool)) approval.Routing {
	return approval.Routing{
		Members: []approval.Member{{Name: "ann", IDs: []string{"telegram:1", "slack:U1"}}},
		Routes:  []approval.Route{{Name: "team", Approvers: []string{"ann"}, Groups: []string{"slack:S1"}, Quorum: 2}},
		Rules:   []approval.Rule{{Route: "team"}},
		Roster:  roster,
	}
}

func TestAGroupOnARoute(t *testing.T) {
	r := grouped(nil)
	if err := r.Check([]string{"slack", "telegram"}); err != nil {
		t.Error(err)
	}
	if err := r.Check([]string{"telegram"}); err == nil || !strings.Contains(err.Error(), `names the group "slack:S1", which is on none of the channels`) {
		t.Errorf("without the group's channel: %v", err)
	}
}

// TestAVoteByAGroup lets U2 vote, changes who is in the group, and lets another person
// vote.
func TestAVoteByAGroup(t *testing.T) {
	both := []string{"slack:U1", "slack:U2"}
	for name, tt := range map[string]struct {
		members []string
		known   bool
		second  string
		want    approval.State
	}{
		"AsBefore":        {[]string{"slack:U2", "slack:U1"}, true, "telegram:1", approval.Allowed},
		"SamePersonAgain": {both, true, "slack:U2", approval.Pending},
		"Joined":          {append([]string{"slack:U3"}, both...), true, "telegram:1", approval.Pending},
		"Left":            {[]string{"slack:U1"}, true, "telegram:1", approval.Pending},
		// A group that cannot be read must not count, whatever else comes with it.
		"NotKnown":       {both, false, "telegram:1", approval.Pending},
		"ByTheUnknown":   {both, false, "slack:U2", approval.Pending},
		"OfNoGroup":      {both, true, "slack:U9", approval.Pending},
		"TwoOfTheGroup":  {append([]string{"slack:U3"}, both...), true, "slack:U3", approval.Pending},
		"NobodyIsLeft":   {nil, true, "telegram:1", approval.Pending},
		"OtherIDOfAGone": {nil, true, "slack:U2", approval.Pending},
	} {
		t.Run(name, func(t *testing.T) {
			members, known := both, true
			r := grouped(func(group string) ([]string, bool) {
				if group != "slack:S1" {
					t.Errorf("asked for %q", group)
				}
				return members, known
			})
			a := open(t, "make a")
			vote := func(id string) (approval.Receipt, error) {
				return a.Vote(approval.Tap{Ask: a.ID, Choice: approval.ChoiceAllow, By: approval.Person{ID: id}, Channel: "web"},
					voters(&r, "coder", "team"), start, time.Minute)
			}
			if got, err := vote("slack:U2"); err != nil || !got.Voted {
				t.Fatalf("the first vote: %+v, %v", got, err)
			}
			members, known = tt.members, tt.known
			if e := voters(&r, "coder", "team"); e.Unsure() == known {
				t.Errorf("unsure is %v", e.Unsure())
			}
			if _, err := vote(tt.second); err != nil && !errors.Is(err, approval.ErrNotApprover) {
				t.Fatal(err)
			}
			if p := a.Approvals[0]; p.State != tt.want {
				t.Errorf("it is %s, want %s", p.State, tt.want)
			}
		})
	}
}

// TestAGroupWithoutARoster checks that if nobody can tell who is in a group, its members do
// not count and the others vote.
func TestAGroupWithoutARoster(t *testing.T) {
	r := grouped(nil)
	e := voters(&r, "coder", "team")
	if !e.Unsure() || e.Permits("slack:U2") || !e.Permits("telegram:1") {
		t.Error("a group of which nothing is known counts")
	}
}
