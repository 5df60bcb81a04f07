package approval

import "github.com/metnos/vaglio/vaglio"

// Refusal is a denial explained: one structure for the agent and for the
// person, so that both read the same thing.
type Refusal struct {
	// Ran is always false: a refused call did not run. It is on the wire so
	// that an agent never has to guess.
	Ran bool `json:"ran"`
	// Final says that nobody can allow this call.
	Final bool         `json:"final"`
	Phase vaglio.Phase `json:"phase"`
	// Wanted is what was proposed, in one line.
	Wanted string `json:"wanted"`
	// Why is the denial's reason.
	Why string `json:"why"`
	// Rule is the guard rule, when the guard denied.
	Rule string `json:"rule,omitempty"`
	// Words are the person's, when a person denied.
	Words string `json:"words,omitempty"`
	// Alternatives say what can be done instead.
	Alternatives []string `json:"alternatives"`
}
