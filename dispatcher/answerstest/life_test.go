package answerstest

import (
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/metnos/vaglio/approval"
)

// deed is one that began and ended at given times.
type deed struct {
	what     string
	card     int
	saw      Outcome
	from, to int64
}

// TestTheModelOfALifeCanFail gives it histories of a gate that works, and of gates that would do what
// ours must not.
func TestTheModelOfALifeCanFail(t *testing.T) {
	const ever = 1 << 62
	for name, row := range map[string]struct {
		deeds []deed
		holds bool
	}{
		"from its beginning to its end": {[]deed{
			{Look, 1, SawState(approval.Pending), 1, 2},
			{Redeem, 1, Not, 3, 4},
			{Allow, 1, Did, 5, 6},
			{Withdraw, 1, Not, 7, 8},
			{Works, 1, Not, 9, 10},
			{Redeem, 1, Did, 11, 12},
			{Redeem, 1, Not, 13, 14},
			{Works, 1, Did, 15, 16},
			{Fails, 1, Not, 17, 18},
			{Look, 1, SawState(approval.Succeeded), 19, 20},
		}, true},
		"two cards do not meet":                {[]deed{{Allow, 1, Did, 1, 2}, {Deny, 2, Did, 3, 4}, {Redeem, 1, Did, 5, 6}}, true},
		"withdrawn twice":                      {[]deed{{Withdraw, 1, Did, 1, 2}, {Withdraw, 1, Did, 3, 4}}, true},
		"at once, one of them":                 {[]deed{{Allow, 1, Not, 1, 10}, {Deny, 1, Did, 2, 9}, {Look, 1, SawState(approval.Denied), 11, 12}}, true},
		"cut off, and it happened":             {[]deed{{Allow, 1, Lost, 1, ever}, {Redeem, 1, Did, 3, 4}}, true},
		"cut off, and it did not":              {[]deed{{Allow, 1, Lost, 1, ever}, {Deny, 1, Did, 3, 4}}, true},
		"cut off, and it happened late":        {[]deed{{Allow, 1, Lost, 1, ever}, {Look, 1, SawState(approval.Pending), 3, 4}, {Redeem, 1, Did, 5, 6}}, true},
		"redeemed twice":                       {[]deed{{Allow, 1, Did, 1, 2}, {Redeem, 1, Did, 3, 9}, {Redeem, 1, Did, 4, 8}}, false},
		"redeemed, and once more after a kill": {[]deed{{Allow, 1, Did, 1, 2}, {Redeem, 1, Did, 3, 4}, {Redeem, 1, Lost, 5, ever}, {Redeem, 1, Did, 7, 8}}, false},
		"allowed and denied":                   {[]deed{{Allow, 1, Did, 1, 9}, {Deny, 1, Did, 2, 8}}, false},
		"an acknowledged yes is gone":          {[]deed{{Allow, 1, Did, 1, 2}, {Look, 1, SawState(approval.Pending), 3, 4}}, false},
		"an acknowledged yes is lost":          {[]deed{{Allow, 1, Did, 1, 2}, {Redeem, 1, Not, 3, 4}}, false},
		"run without a yes":                    {[]deed{{Redeem, 1, Did, 1, 2}}, false},
		"run although denied":                  {[]deed{{Deny, 1, Did, 1, 2}, {Redeem, 1, Did, 3, 4}}, false},
		"run although withdrawn":               {[]deed{{Withdraw, 1, Did, 1, 2}, {Allow, 1, Did, 3, 4}, {Redeem, 1, Did, 5, 6}}, false},
		"withdrawn although spent":             {[]deed{{Allow, 1, Did, 1, 2}, {Redeem, 1, Did, 3, 4}, {Withdraw, 1, Did, 5, 6}}, false},
		"reported before it ran":               {[]deed{{Allow, 1, Did, 1, 2}, {Works, 1, Did, 3, 4}}, false},
		"reported twice":                       {[]deed{{Allow, 1, Did, 1, 2}, {Redeem, 1, Did, 3, 4}, {Works, 1, Did, 5, 9}, {Fails, 1, Did, 6, 8}}, false},
		"the spent permit is back":             {[]deed{{Allow, 1, Did, 1, 2}, {Redeem, 1, Did, 3, 4}, {Look, 1, SawState(approval.Allowed), 5, 6}}, false},
		"a look sees what nobody did":          {[]deed{{Look, 1, SawState(approval.Denied), 1, 2}}, false},
		"a look sees no state":                 {[]deed{{Look, 1, SawState(approval.Expired), 1, 2}}, false},
	} {
		var history []porcupine.Operation
		for client, d := range row.deeds {
			history = append(history, porcupine.Operation{ClientId: client, Input: Deed{What: d.what, Card: d.card}, Output: d.saw, Call: d.from, Return: d.to})
		}
		if got := porcupine.CheckOperations(Lives(), history); got != row.holds {
			t.Errorf("%s: the model says %t", name, got)
		}
	}
}
