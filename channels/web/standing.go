package web

import (
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
)

// standing says how a call stands, in words; the tone only colours them.
type standing struct {
	Word string
	// Tone is one of waiting, yes, no, done, bad, final and quiet.
	Tone string
	// Says completes the word to a sentence.
	Says string
	// At is when it came to stand so; zero when the answer's time says it, or
	// nothing does.
	At time.Time
	// Due says what will happen at Until; empty when nothing will.
	Due   string
	Until time.Time
	// Answer is the person's, and Verb what it did; nil when nobody answered.
	Answer *approval.Decision
	Verb   string
	// Words are the person's.
	Words string
	// Detail is the agent's report.
	Detail string
}

// fate is what the parts of a standing come from.
type fate struct {
	state     approval.State
	decision  *approval.Decision
	permit    *approval.Permit
	outcome   *approval.Outcome
	endedAt   time.Time
	expiresAt time.Time
}

// words gives each state its word, its tone and its sentence.
func words(s approval.State) (word, tone, says string) {
	switch s {
	case approval.Pending:
		return "Waiting for you", "waiting", "The call has not run. The agent waits for your answer."
	case approval.Allowed:
		return "Allowed once", "yes", "The agent may run exactly this call, once. It has not used the permit yet."
	case approval.Denied:
		return "Denied", "no", "The call did not run."
	case approval.Expired:
		return "Expired", "quiet", "Nobody answered in time. Nobody denied it either; the call did not run."
	case approval.Withdrawn:
		return "Withdrawn", "quiet", "The agent gave up before an answer. The call did not run."
	case approval.Superseded:
		return "Superseded", "quiet", "The agent proposed a changed call in its place. This one did not run."
	case approval.Spent:
		return "Permit used", "yes", "The agent has used the permit; the call may be running. It has not reported how it ended."
	case approval.Lapsed:
		return "Lapsed", "quiet", "You allowed it, but the agent did not use the permit in time. The call did not run."
	case approval.Succeeded:
		return "Ran: worked", "done", "The agent ran the call and reports that it worked."
	case approval.Failed:
		return "Ran: failed", "bad", "The agent ran the call and reports that it failed."
	case approval.Unknown:
		return "Ran: end unknown", "bad", "The permit was used, but how the call ended will not be known."
	default:
		return "Unclear", "bad", "The record is in a state that this page does not know: " + plain(s) + "."
	}
}

func (f fate) standing() standing {
	s := standing{At: f.endedAt, Answer: f.decision}
	s.Word, s.Tone, s.Says = words(f.state)
	switch f.state {
	case approval.Pending:
		s.At, s.Due, s.Until = time.Time{}, "It expires", f.expiresAt
	case approval.Allowed:
		if f.permit != nil {
			s.Due, s.Until = "The permit lapses", f.permit.LapsesAt
		}
	case approval.Spent, approval.Unknown:
		if f.permit != nil {
			s.At = f.permit.SpentAt
		}
	case approval.Succeeded, approval.Failed:
		if f.outcome != nil {
			s.At, s.Detail = f.outcome.At, f.outcome.Detail
		}
	case approval.Lapsed:
		if f.permit != nil {
			s.At = f.permit.LapsesAt
		}
	case approval.Denied, approval.Expired, approval.Withdrawn, approval.Superseded:
	}
	if s.Until.IsZero() {
		s.Due = ""
	}
	if f.decision != nil {
		s.Words, s.Verb = f.decision.Words, verb(f.decision)
		if s.At.Equal(f.decision.At) {
			s.At = time.Time{}
		}
	}
	return s
}

// verb says what a decision did.
func verb(d *approval.Decision) string {
	if d.Choice == approval.ChoiceAllow {
		return "Allowed once"
	}
	return "Denied"
}

// ruled says how a step stands that no person was asked about.
func ruled(s *approval.Step) standing {
	switch {
	case s.Verdict == nil:
		return standing{
			Word: "Not judged", Tone: "quiet", At: s.At,
			Says: "The call has a mistake in its form or leaves its declared scope, so vaglio was not asked. It did not run.",
		}
	case s.Verdict.Approved:
		return standing{Word: "Approved", Tone: "done", At: s.At, Says: "The judges let it pass. Nobody had to be asked."}
	case s.Verdict.BlockedBy == vaglio.PhaseGuard:
		return standing{
			Word: "Stopped by the guard", Tone: "final", At: s.At,
			Says: "This is final: the call did not run, and nobody can allow it.",
		}
	default:
		return standing{Word: "Refused by a judge", Tone: "no", At: s.At, Says: "The call did not run."}
	}
}
