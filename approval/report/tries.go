package report

import (
	"slices"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
)

// maxAttempts bounds the vetoed calls among which ways around a no are looked
// for: to name what a call does takes a reading of it.
const maxAttempts = 2000

// aim is what an agent wanted to come about, in one form for every spelling.
type aim struct{ agent, effect string }

// attempt is one vetoed call of an agent towards an aim.
type attempt struct {
	id   approval.ID
	call vaglio.Proposal
	at   time.Time
	// refused is since when the agent knew that it may not; zero where it was not
	// told so.
	refused time.Time
}

// Named makes the builder see the same aim in calls that are spelled in other
// ways: effect names what a call would do and to what. It comes before all
// records; without it, ways around what the guard refused are not seen.
func (b *DigestBuilder) Named(effect func(vaglio.Proposal) (string, bool)) { b.effect = effect }

// try takes a vetoed call in, with the effect where it is known already.
func (b *DigestBuilder) try(effect string, a attempt) {
	if b.tried >= maxAttempts {
		return
	}
	b.tried++
	if effect == "" && b.effect != nil {
		if named, known := b.effect(a.call); known {
			effect = named
		}
	}
	if effect == "" {
		return
	}
	to := aim{a.call.Agent, effect}
	b.aims[to] = append(b.aims[to], a)
}

// around counts, for each no after which its agent tried the same in other words
// and was vetoed again, in how many.
func (b *DigestBuilder) around() map[approval.ID]Workaround {
	found := make(map[approval.ID]Workaround)
	for to, all := range b.aims {
		slices.SortFunc(all, func(x, y attempt) int { return x.at.Compare(y.at) })
		first := slices.IndexFunc(all, func(a attempt) bool { return !a.refused.IsZero() })
		if first < 0 {
			continue
		}
		no := all[first]
		spellings := map[string]bool{approval.Wanted(no.call): true}
		for _, a := range all {
			if a.at.After(no.refused) {
				spellings[approval.Wanted(a.call)] = true
			}
		}
		if n := len(spellings) - 1; n > 0 {
			found[no.id] = Workaround{no.id, to.agent, b.tell(no.call), n}
		}
	}
	return found
}
