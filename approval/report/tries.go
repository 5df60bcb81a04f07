package report

import (
	"slices"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/headline"
	"github.com/metnos/vaglio/vaglio"
)

// maxAttempts is the most vetoed calls that are searched for workarounds: to name what a
// call does, it must be read.
const maxAttempts = 2000

// aim is what an agent wanted to achieve, in one form for all spellings.
type aim struct{ agent, effect string }

// attempt is one vetoed call of an agent towards an aim.
type attempt struct {
	id   approval.ID
	call judgedCall
	at   time.Time
	// refused is when the agent learned that it may not; zero if it was not told.
	refused time.Time
}

// Named lets the builder recognize the same aim in calls that are spelled differently:
// effect names what a call would do, and to what. Call it before adding any records;
// without it, workarounds of guard denials are not detected.
func (b *DigestBuilder) Named(effect func(vaglio.Proposal) (string, bool)) { b.effect = effect }

// try takes a vetoed call, with its effect if that is already known.
func (b *DigestBuilder) try(effect string, a attempt) {
	if b.tried >= maxAttempts {
		return
	}
	b.tried++
	if effect == "" && b.effect != nil {
		if named, known := b.effect(a.call.Proposal); known {
			effect = named
		}
	}
	if effect == "" {
		return
	}
	to := aim{a.call.Agent, effect}
	b.aims[to] = append(b.aims[to], a)
}

// around returns, for each denial after which its agent tried the same in other words and
// was vetoed again, in how many other spellings it tried.
func (b *DigestBuilder) around() map[approval.ID]Workaround {
	found := make(map[approval.ID]Workaround)
	for to, all := range b.aims {
		slices.SortFunc(all, func(x, y attempt) int { return x.at.Compare(y.at) })
		first := slices.IndexFunc(all, func(a attempt) bool { return !a.refused.IsZero() })
		if first < 0 {
			continue
		}
		no := all[first]
		spellings := map[string]bool{approval.Wanted(no.call.Proposal): true}
		for _, a := range all {
			if a.at.After(no.refused) {
				spellings[approval.Wanted(a.call.Proposal)] = true
			}
		}
		if n := len(spellings) - 1; n > 0 {
			found[no.id] = b.workaround(no.id, to.agent, no.call, n)
		}
	}
	return found
}

// workaround describes a denied call that an agent kept trying.
func (b *DigestBuilder) workaround(id approval.ID, agent string, call judgedCall, tries int) Workaround {
	w := Workaround{ID: id, Agent: agent, Tries: tries}
	w.Wanted, w.Headline = b.tell(call)
	return w
}

// tell returns a call in one line and the headline of its card, both masked for people to
// read. Unless a judge says what follows from it, the headline of a command line says less
// than the line.
func (b *DigestBuilder) tell(c judgedCall) (line string, said *headline.Headline) {
	p, v := b.masker.Judged(c.Proposal, c.Verdict)
	h := headline.Of(p, v)
	if h.Consequence.Known() || approval.CommandLine(p) == "" {
		said = &h
	}
	return approval.Line(p), said
}
