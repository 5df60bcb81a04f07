package approval_test

import (
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
)

// TestWhoIsKnown knows the ids of members and those that a route names, but no names, and
// nobody else's id.
func TestWhoIsKnown(t *testing.T) {
	r := team()
	for id, known := range map[string]bool{
		"telegram:1": true, "slack:U1": true, "telegram:2": true, "slack:U3": true, "telegram:99": true,
		"": false, "ann": false, "prod": false, approval.Anyone: false, "telegram:3": false, "slack:1": false, "telegram:": false, ":1": false, "web:owner": false,
	} {
		if got := r.Knows(id); got != known {
			t.Errorf("%q is known: %v", id, got)
		}
	}
}

// TestNamesAndIDsOfMembers refuses each name and id that could be taken for another's.
func TestNamesAndIDsOfMembers(t *testing.T) {
	for name, wrong := range map[string]bool{"": true, approval.Anyone: true, "a:b": true, "telegram:1": true, "bob": true, "Bob": false, "anyones": false, "dan": false} {
		r := team()
		r.Members = append(r.Members, approval.Member{Name: name, IDs: []string{"telegram:5"}})
		if err := r.Check([]string{"slack", "telegram"}); (err != nil) != wrong {
			t.Errorf("a member called %q: %v", name, err)
		}
	}
	for id, wrong := range map[string]bool{"": true, "5": true, ":5": true, "telegram:": true, " telegram:5": true, "telegram:5 ": true, "telegram:1": true, "telegram:5": false} {
		r := team()
		r.Members = append(r.Members, approval.Member{Name: "dan", IDs: []string{id}})
		if err := r.Check([]string{"slack", "telegram"}); (err != nil) != wrong {
			t.Errorf("a member with the id %q: %v", id, err)
		}
	}
}

// TestWhatIsMissingIsEmpty gives a call without arguments and mounts the fingerprint of one
// whose lists are empty: a decoder makes either of them.
func TestWhatIsMissingIsEmpty(t *testing.T) {
	s := approval.Secret{1}
	seen := map[approval.Fingerprint]bool{}
	for _, args := range []vaglio.Args{nil, {}} {
		for _, mounts := range [][]string{nil, {}} {
			for _, sources := range [][]vaglio.Source{nil, {}} {
				got, err := s.Fingerprint(vaglio.Proposal{Executor: "x", Args: args, Context: vaglio.Context{Mounts: mounts}}, sources)
				if err != nil {
					t.Fatal(err)
				}
				seen[got] = true
			}
		}
	}
	if len(seen) != 1 {
		t.Errorf("%d fingerprints", len(seen))
	}
}
