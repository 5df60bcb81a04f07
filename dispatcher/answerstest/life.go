package answerstest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/metnos/vaglio/approval"
)

// observed is the outcome of a look that saw a state: it is apart from those of deeds.
const observed = Outcome(100)

// states are the states that the model knows, so that an outcome can name one.
func states() []approval.State {
	return []approval.State{
		approval.Pending, approval.Allowed, approval.Denied, approval.Withdrawn, approval.Spent, approval.Succeeded, approval.Failed,
	}
}

// SawState returns the outcome of a look.
func SawState(s approval.State) Outcome { return observed + Outcome(slices.Index(states(), s)) }

// The deeds on an ask of one call that the model of a life knows: a person's, and the agent's. To
// withdraw again what was withdrawn has that effect, too.
const (
	Allow    = "allow"
	Deny     = "deny"
	Withdraw = "withdraw"
	Redeem   = "redeem"
	Works    = "report that it worked"
	Fails    = "report that it failed"
	Look     = "look"
)

// move is the state that a deed leads to, if it may from a state. The table is the model's own: it is
// not derived from the one in the program, which is what it checks.
func move(what string, s approval.State) (after approval.State, can bool) {
	after, can = map[string]map[approval.State]approval.State{
		Allow:    {approval.Pending: approval.Allowed},
		Deny:     {approval.Pending: approval.Denied},
		Withdraw: {approval.Pending: approval.Withdrawn, approval.Withdrawn: approval.Withdrawn},
		Redeem:   {approval.Allowed: approval.Spent},
		Works:    {approval.Spent: approval.Succeeded},
		Fails:    {approval.Spent: approval.Failed},
	}[what][s]
	return after, can
}

// lived returns the states in which an ask may be after a deed of which somebody saw the outcome;
// none if nobody can have seen that.
func lived(s approval.State, what string, saw Outcome) []any {
	if what == Look {
		if saw == Lost || saw == SawState(s) {
			return []any{s}
		}
		return nil
	}
	after, can := move(what, s)
	switch {
	case saw == Lost && can:
		return []any{s, after}
	case saw == Lost, saw == Not && !can:
		return []any{s}
	case saw == Did && can:
		return []any{after}
	default:
		return nil
	}
}

// byCard splits a history into those of the cards, which do not meet.
func byCard(history []porcupine.Operation) [][]porcupine.Operation {
	by := map[int][]porcupine.Operation{}
	for _, op := range history {
		d, _ := op.Input.(Deed)
		by[d.Card] = append(by[d.Card], op)
	}
	return slices.Collect(maps.Values(by))
}

// Lives is the model of asks of one call each, from their proposal on: one of allow, deny and
// withdraw takes effect, the permit of what was allowed is spent once, and how that call ended is
// taken once. Whoever looks sees the state as it is.
func Lives() porcupine.Model {
	m := porcupine.NondeterministicModel{
		Partition: byCard,
		Init:      func() []any { return []any{approval.Pending} },
		Step: func(state, input, output any) []any {
			s, _ := state.(approval.State)
			d, _ := input.(Deed)
			saw, _ := output.(Outcome)
			return lived(s, d.What, saw)
		},
		DescribeOperation: func(input, output any) string { return fmt.Sprint(input, " ", output) },
	}
	return m.ToModel()
}
