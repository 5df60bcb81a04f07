// Package answerstest models what people's answers mean together. Whatever agents and
// people observed of a gate, sequentially or concurrently, must be a history that one of
// the models could have produced.
package answerstest

import (
	"fmt"

	"github.com/anishathalye/porcupine"

	"github.com/metnos/vaglio/approval"
)

// Outcome is what somebody observed of a deed.
type Outcome int

// The outcomes. Lost means that the answer to a deed was cut off: it was done, or will be,
// or never.
const (
	Not Outcome = iota
	Did
	Lost
)

// Saw returns the outcome of a deed that was answered.
func Saw(did bool) Outcome {
	if did {
		return Did
	}
	return Not
}

// Deed is something that somebody does: "use", which is a call by an agent, or an action of
// a person on a card or a denial.
type Deed struct {
	What string
	Card int
}

// model builds a model from a step function, which says whether a deed has an effect in a
// state and what the state is afterwards.
func model[S comparable](begin S, step func(s S, d Deed) (did bool, after S)) porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{begin} },
		Step: func(state, input, output any) []any {
			s, _ := state.(S)
			d, _ := input.(Deed)
			saw, _ := output.(Outcome)
			did, after := step(s, d)
			switch {
			case saw == Lost && did:
				return []any{state, after}
			case saw == Lost:
				return []any{state}
			case saw == Saw(did):
				return []any{after}
			default:
				return nil
			}
		},
		DescribeOperation: func(input, output any) string { return fmt.Sprint(input, " ", output) },
	}
	return m.ToModel()
}

// held is the state of a grant and a brake together, as a person understands it: a number
// of calls that may still run, until something ends that.
type held struct {
	left   int
	braked bool
}

// GrantsAndBrakes is the model of grants and brakes: calls that a grant covers run at once,
// as many as it says, never while the brake holds, and never after either ended it. A
// person can "end" the grant, "stop", and "go".
func GrantsAndBrakes() porcupine.Model {
	return model(held{left: approval.DefaultUses - 1}, func(s held, d Deed) (bool, held) {
		switch d.What {
		case "use":
			if s.left == 0 || s.braked {
				return false, s
			}
			s.left--
			return true, s
		case "end":
			return s.left > 0, held{braked: s.braked}
		case "stop":
			return true, held{braked: true}
		default: // go
			return s.braked, held{left: s.left}
		}
	})
}

// kinds is the state of the denials of one kind: a bit for each that stands, and for each
// card that can no longer be answered.
type kinds struct{ stand, gone uint64 }

// DeniedKinds is the model of denials of a kind: a call of the kind is asked unless a
// denial of it stands, until that is lifted or its time is over. Each is given and lifted
// once. A person can "deny" the kind on a card and "lift" that; "expire" ends the time of
// everything before a card.
func DeniedKinds() porcupine.Model {
	return model(kinds{}, func(s kinds, d Deed) (bool, kinds) {
		bit := uint64(1) << d.Card
		switch d.What {
		case "use":
			return s.stand == 0, s
		case "deny":
			if s.gone&bit != 0 {
				return false, s
			}
			return true, kinds{s.stand | bit, s.gone | bit}
		case "lift":
			return s.stand&bit != 0, kinds{s.stand &^ bit, s.gone}
		default: // expire: every denial, and every card so far
			return true, kinds{gone: bit - 1}
		}
	})
}
