package web

import (
	"strings"
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
	votes     []approval.Vote
}

// said is a state's word, its tone and its sentence.
type said struct{ word, tone, says string }

// words gives each state its words.
func words(s approval.State) (word, tone, says string) {
	all := map[approval.State]said{
		approval.Pending:    {"Waiting for you", "waiting", "The call has not run. The agent waits for your answer."},
		approval.Allowed:    {"Allowed once", "yes", "The agent may run exactly this call, once. It has not used the permit yet."},
		approval.Denied:     {"Denied", "no", "The call did not run."},
		approval.Expired:    {"Expired", "quiet", "Nobody answered in time. Nobody denied it either; the call did not run."},
		approval.Withdrawn:  {"Withdrawn", "quiet", "The agent gave up before an answer. The call did not run."},
		approval.Superseded: {"Superseded", "quiet", "The agent proposed a changed call in its place. This one did not run."},
		approval.Spent:      {"Permit used", "yes", "The agent has used the permit; the call may be running. It has not reported how it ended."},
		approval.Lapsed:     {"Lapsed", "quiet", "It was allowed, but the agent did not use the permit in time. The call did not run."},
		approval.Succeeded:  {"Ran: worked", "done", "The agent ran the call and reports that it worked."},
		approval.Failed:     {"Ran: failed", "bad", "The agent ran the call and reports that it failed."},
		approval.Unknown:    {"Ran: end unknown", "bad", "The permit was used, but how the call ended will not be known."},
	}
	w, ok := all[s]
	if !ok {
		return "Unclear", "bad", "The record is in a state that this page does not know: " + plain(s) + "."
	}
	return w.word, w.tone, w.says
}

func (f fate) standing() standing {
	s := standing{At: f.moved(), Answer: f.decision}
	s.Word, s.Tone, s.Says = words(f.state)
	if f.state == approval.Pending && !f.expiresAt.IsZero() {
		s.Due, s.Until = "It expires", f.expiresAt
	}
	if f.state == approval.Pending && len(f.votes) > 0 {
		names := make([]string, 0, len(f.votes))
		for i := range f.votes {
			names = append(names, plain(f.votes[i].By.Name+" ("+f.votes[i].By.ID+")"))
		}
		s.Says = "The call has not run. Allowed so far by " + strings.Join(names, ", ") + "; more people must allow it."
	}
	if f.state == approval.Allowed && f.permit != nil {
		s.Due, s.Until = "The permit lapses", f.permit.LapsesAt
	}
	if f.outcome != nil {
		s.Detail = f.outcome.Detail
	}
	if d := f.decision; d != nil {
		s.Words, s.Verb = d.Words, verb(d)
		if s.At.Equal(d.At) {
			s.At = time.Time{}
		}
	}
	return s
}

// moved is when the call came to stand as it does; zero while it waits.
func (f fate) moved() time.Time {
	switch {
	case f.state == approval.Pending:
		return time.Time{}
	case f.outcome != nil:
		return f.outcome.At
	case f.permit != nil && f.state == approval.Lapsed:
		return f.permit.LapsesAt
	case f.permit != nil && !f.permit.SpentAt.IsZero():
		return f.permit.SpentAt
	default:
		return f.endedAt
	}
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
