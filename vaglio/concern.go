package vaglio

import (
	"context"

	"github.com/metnos/vaglio/vaglio/wording"
)

// Concern is a gateway's reason to show a call to a person, whatever the judges say:
// something that the call's arguments do not show.
type Concern string

const (
	// ConcernChanged says that the tool describes itself differently from when it was first
	// seen, or last allowed by a person.
	ConcernChanged Concern = "tool-changed"
	// ConcernDestructive says that the tool declares itself destructive.
	ConcernDestructive Concern = "tool-destructive"
	// ConcernUnlisted says that the server does not list the tool.
	ConcernUnlisted Concern = "tool-unlisted"
	// ConcernRefused says that the agent's own gate has refused the call.
	ConcernRefused Concern = "client-refused"
	// ConcernFinal says the same of a call that the agent cannot repeat. Nobody is asked
	// about it, and the digest reports it.
	ConcernFinal Concern = "client-final"
	// ConcernUntold says that the agent describes the call but does not give its arguments.
	ConcernUntold Concern = "call-untold"
	// ConcernAsks says that the agent's own gate would ask its user.
	ConcernAsks Concern = "client-asks"
)

// Concerns returns all known concerns.
func Concerns() []Concern {
	return []Concern{ConcernChanged, ConcernDestructive, ConcernUnlisted, ConcernRefused, ConcernUntold, ConcernAsks, ConcernFinal}
}

// said words the concern for a person.
func (c Concern) said() wording.Clause {
	switch c {
	case ConcernChanged:
		return wording.Say("describes itself differently than before: what it is for or what it takes has changed")
	case ConcernDestructive:
		return wording.Say("says of itself that it destroys")
	case ConcernRefused, ConcernFinal:
		return wording.Say("was refused by the agent's own gate")
	case ConcernUntold:
		return wording.Say("is told in the agent’s words alone, not by what the tool is given")
	case ConcernAsks:
		return wording.Say("is one that the agent’s own gate asks about, too")
	default:
		return wording.Say("is not among the tools that its server lists")
	}
}

// concerned is a judge that rejects every call, so that a person is asked.
type concerned struct{}

// Kind is "declared".
func (concerned) Kind() string { return "declared" }

// Grade turns every concern into a signal against the call.
func (concerned) Grade(_ context.Context, p Proposal) (GradientResult, error) {
	r := GradientResult{Confidence: 1}
	for _, c := range p.Context.Concerns {
		said := wording.Sentence{c.said()}
		if (c == ConcernRefused || c == ConcernFinal) && p.Context.Refusal != "" {
			said = said.And(": “%s”", p.Context.Refusal)
		}
		text, _ := said.In(wording.English)
		r.Signals = append(r.Signals, Signal{Category: string(c), Message: text, Said: said})
	}
	if len(r.Signals) > 0 {
		r.Reasoning = "there is reason to ask that the arguments do not show: " + r.Signals[0].Message
	}
	return r, nil
}
