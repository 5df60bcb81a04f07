package web

import (
	"strings"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio"
)

// standing says in words how a call stands; Tone only colors them.
type standing struct {
	Word text
	// Tone is one of waiting, yes, no, done, bad, final and quiet.
	Tone string
	// Says completes the word to a sentence.
	Says text
	// At is when it came to stand like that; zero if the answer's time says it, or nothing
	// does.
	At time.Time
	// Due says what will happen at Until; empty if nothing will.
	Due   text
	Until time.Time
	// Answer is the person's, and Verb what it did; nil if nobody answered.
	Answer *approval.Decision
	Verb   text
	// Words are the person's.
	Words string
	// Detail is the agent's report.
	Detail string
}

// fate is what a standing is made from.
type fate struct {
	state     approval.State
	decision  *approval.Decision
	permit    *approval.Permit
	outcome   *approval.Outcome
	endedAt   time.Time
	expiresAt time.Time
	votes     []approval.Vote
}

// words gives each state its words and its tone.
func words(s approval.State) (word text, tone string, says text) {
	tones := map[approval.State]string{
		approval.Pending: "waiting", approval.Allowed: "yes", approval.Denied: "no", approval.Expired: "quiet",
		approval.Withdrawn: "quiet", approval.Superseded: "quiet", approval.Spent: "yes", approval.Lapsed: "quiet",
		approval.Succeeded: "done", approval.Failed: "bad", approval.Unknown: "bad",
	}
	tone, ok := tones[s]
	if !ok {
		return text{Key: "web.unclear"}, "bad", text{"web.unclear.says", templates.Values{"state": plain(s)}}
	}
	key := stateKey(string(s))
	return text{Key: key}, tone, text{Key: key + ".says"}
}

func stateKey(fate string) templates.Key { return templates.Key("web.state." + fate) }

func (f fate) standing() standing {
	s := standing{At: f.moved(), Answer: f.decision}
	s.Word, s.Tone, s.Says = words(f.state)
	if key := stateKey(approval.Fate(f.state, f.outcome, f.permit, f.endedAt, f.expiresAt)); key != stateKey(string(f.state)) {
		s.Word, s.Says = text{Key: key}, text{Key: key + ".says"}
	}
	s.Due, s.Until = f.due()
	if f.state == approval.Pending && len(f.votes) > 0 {
		names := make([]string, 0, len(f.votes))
		for i := range f.votes {
			names = append(names, plain(f.votes[i].By.Name+" ("+f.votes[i].By.ID+")"))
		}
		s.Says = text{"web.votes", templates.Values{"by": strings.Join(names, ", ")}}
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

// due returns what time will do to the call, and when; zero if nothing.
func (f fate) due() (what text, until time.Time) {
	switch {
	case f.state == approval.Pending && !f.expiresAt.IsZero():
		return text{Key: "web.due.expires"}, f.expiresAt
	case f.state == approval.Allowed && f.permit != nil:
		return text{Key: "web.lapses"}, f.permit.LapsesAt
	default:
		return text{}, time.Time{}
	}
}

// moved returns when the call came to stand as it does; zero while it waits.
func (f fate) moved() time.Time {
	switch {
	case f.state == approval.Pending:
		return time.Time{}
	case f.outcome != nil:
		return f.outcome.At
	case f.permit != nil && f.permit.Revoked != nil:
		return f.permit.Revoked.At
	case f.permit != nil && f.state == approval.Lapsed:
		return f.permit.LapsesAt
	case f.permit != nil && !f.permit.SpentAt.IsZero():
		return f.permit.SpentAt
	default:
		return f.endedAt
	}
}

// verb returns what a decision did.
func verb(d *approval.Decision) text {
	if d.Choice == approval.ChoiceAllow {
		return text{Key: "web.verb.allowed"}
	}
	return text{Key: "web.verb.denied"}
}

// ruled says how a step stands that no person was asked about.
func ruled(s *approval.Step) standing {
	switch {
	case s.Verdict == nil:
		return standing{
			Word: text{Key: "web.ruled.error"}, Tone: "quiet", At: s.At,
			Says: text{Key: "web.ruled.error.says"},
		}
	case s.Verdict.Approved:
		return standing{Word: text{Key: "web.ruled.approved"}, Tone: "done", At: s.At, Says: text{Key: "web.ruled.approved.says"}}
	case s.Verdict.BlockedBy == vaglio.PhaseGuard:
		return standing{
			Word: text{Key: "web.ruled.guard"}, Tone: "final", At: s.At,
			Says: text{Key: "web.ruled.guard.says"},
		}
	default:
		return standing{Word: text{Key: "web.ruled.judge"}, Tone: "no", At: s.At, Says: text{Key: "web.state.denied.says"}}
	}
}
