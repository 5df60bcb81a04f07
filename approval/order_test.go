package approval_test

import (
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
)

// TestABrakeIsTheSameWhileItStandsAsItDid compares a brake with what became of it.
func TestABrakeIsTheSameWhileItStandsAsItDid(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	b := approval.Brake{Agent: "coder", At: at}
	released := approval.Brake{Agent: "coder", At: at, Released: &approval.Act{At: at}}
	for name, tt := range map[string]struct {
		other approval.Brake
		same  bool
	}{
		"itself":          {b, true},
		"told of":         {approval.Brake{Agent: "coder", At: at.In(time.FixedZone("", 3600)), Told: []string{"web"}}, true},
		"of another":      {approval.Brake{Agent: "deployer", At: at}, false},
		"pulled anew":     {approval.Brake{Agent: "coder", At: at.Add(1)}, false},
		"let go of since": {released, false},
	} {
		if got := b.Same(&tt.other); got != tt.same {
			t.Errorf("%s: the same: %t", name, got)
		}
		if got := tt.other.Same(&b); got != tt.same {
			t.Errorf("%s, the other way: the same: %t", name, got)
		}
	}
	if !released.Same(&released) {
		t.Error("what was let go is not the same as itself")
	}
}

// TestWhoMayDecideMayStop asks of people with and without a route.
func TestWhoMayDecideMayStop(t *testing.T) {
	t.Parallel()
	var plain approval.Routing
	routed := approval.Routing{Routes: []approval.Route{
		{Name: "one", Approvers: []string{"ann"}},
		{Name: "two", Approvers: []string{"bob"}},
	}}
	for _, tt := range []struct {
		r     *approval.Routing
		human string
		may   bool
	}{{&plain, "anybody", true}, {&plain, "", false}, {&routed, "ann", true}, {&routed, "bob", true}, {&routed, "carl", false}, {&routed, "", false}} {
		for _, agent := range []string{"", "coder"} {
			if got := tt.r.MayStop(tt.human, agent); got != tt.may {
				t.Errorf("%q stops %q, with %d routes: %t", tt.human, agent, len(tt.r.Routes), got)
			}
		}
	}
}
