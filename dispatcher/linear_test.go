package dispatcher_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/store/storetest"
	"github.com/metnos/vaglio/vaglio"
)

// held is what a grant and a brake hold together, as a person understands it: a
// number of calls that may still run, until one of a few things ends that.
type held struct {
	left   int
	braked bool
}

// grantsAndBrakes is the model: calls that a grant covers run at once, as many as it
// says, never while the brake holds, and never after either ended it.
func grantsAndBrakes() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return held{left: approval.DefaultUses - 1} },
		Step: func(state, input, output any) (bool, any) {
			s, did := state.(held), output.(bool)
			may := s.left > 0 && !s.braked
			switch input.(string) {
			case "use":
				if did {
					s.left--
				}
				return did == may, s
			case "end":
				may, s.left = s.left > 0, 0
				return did == may, s
			case "stop":
				return did, held{braked: true}
			default: // go
				may, s.braked = s.braked, false
				return did == may, s
			}
		},
		DescribeOperation: func(input, output any) string { return fmt.Sprint(input, " ", output) },
	}
}

// kinds is what the denials of one kind hold together: those that stand, and the
// cards that are not there to be answered any more, a bit for each.
type kinds struct{ stand, gone uint64 }

// deed is what somebody does, and to which of the cards.
type deed struct {
	what string
	card int
}

// deniedKinds is the model: a call of the kind is refused as long as one denial of it
// stands, until that is lifted or its time is over; each is given and lifted once.
func deniedKinds() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return kinds{} },
		Step: func(state, input, output any) (bool, any) {
			s, in, did := state.(kinds), input.(deed), output.(bool)
			bit := uint64(1) << in.card
			switch in.what {
			case "use":
				return did == (s.stand == 0), s
			case "deny":
				may := s.gone&bit == 0
				if may {
					s.stand, s.gone = s.stand|bit, s.gone|bit
				}
				return did == may, s
			case "lift":
				may := s.stand&bit != 0
				s.stand &^= bit
				return did == may, s
			default: // expire: every denial, and every card so far
				return did, kinds{gone: bit - 1}
			}
		},
		DescribeOperation: func(input, output any) string { return fmt.Sprint(input, " ", output) },
	}
}

// TestGrantsAndBrakesAreAtomic has agents use a grant while people end it or pull the
// brake, with restarts between, and holds what each of them saw against the model.
func TestGrantsAndBrakesAreAtomic(t *testing.T) {
	for seed := range uint64(14) {
		others := []string{"end"}
		if seed%2 == 1 {
			others = []string{"stop", "go"}
		}
		inForce := func(t *testing.T, w *onlooker) {
			a := w.propose(t, push("main"), 0)
			if _, err := w.press(t, a.Approval.ID, approval.ChoiceHour); err != nil {
				t.Fatal(err)
			}
			w.rounds(t, seed, func(client int, random *rand.Rand) {
				what := "use"
				if random.IntN(6) == 0 {
					what = others[random.IntN(len(others))]
				}
				w.saw(client, what, func() bool {
					switch what {
					case "use":
						// Each is another call, and all of them would do the same.
						line := "git push" + strings.Repeat(" -v", int(w.calls.Add(1))) + " origin main"
						return w.tries(t, shell(line)).Permit != nil
					case "end":
						return w.orders(t, approval.VerbEnd, a.Approval.ID)
					default:
						return w.orders(t, approval.Verb(what), "")
					}
				})
			}, func() {})
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) { linear(t, grantsAndBrakes(), inForce) })
	}
}

// TestDeniedKindsAreAtomic has agents make other calls of a kind while people deny the
// kind on one card or another and lift that, with its time running out and restarts
// between.
func TestDeniedKindsAreAtomic(t *testing.T) {
	for seed := range uint64(14) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			linear(t, deniedKinds(), func(t *testing.T, w *onlooker) {
				var cards []approval.ID
				deal := func() {
					w.decide(t, w.propose(t, push("main"), 0).Approval.ID, approval.ChoiceDeny, "")
					for range 4 {
						cards = append(cards, w.propose(t, push(fmt.Sprint("release/", len(cards))), 0).Approval.ID)
					}
				}
				deal()
				expires := rand.New(rand.NewPCG(seed, 99))
				w.rounds(t, seed, func(client int, random *rand.Rand) {
					do := deed{what: "use"}
					if random.IntN(2) == 0 {
						// More often one of the newest: the others may have gone.
						do = deed{[]string{"deny", "lift"}[random.IntN(2)], len(cards) - 1 - random.IntN(4)}
					}
					w.saw(client, do, func() bool {
						switch do.what {
						case "use":
							a := w.tries(t, push(fmt.Sprint("release/1.", w.calls.Add(1))))
							return a.Decision == approval.RulingPending
						case "deny":
							r, err := w.press(t, cards[do.card], approval.ChoiceDenyKind)
							return err == nil && r.Won
						default:
							return w.orders(t, approval.VerbLift, cards[do.card])
						}
					})
				}, func() {
					if expires.IntN(3) > 0 {
						return
					}
					w.saw(0, deed{"expire", len(cards)}, func() bool { time.Sleep(approval.KindStands); return true })
					deal()
				})
			})
		})
	}
}

// onlooker holds a gate, and what each of several clients saw of it.
type onlooker struct {
	*gate
	clock, calls atomic.Int64
	mu           sync.Mutex
	history      []porcupine.Operation
}

// saw keeps what a client did, when, and whether that did it.
func (w *onlooker) saw(client int, what any, act func() bool) {
	called := w.clock.Add(1)
	did := act()
	returned := w.clock.Add(1)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.history = append(w.history, porcupine.Operation{ClientId: client, Input: what, Output: did, Call: called, Return: returned})
}

// tries proposes a call.
func (w *onlooker) tries(t *testing.T, p vaglio.Proposal) approval.Answer {
	a, err := w.Propose(t.Context(), agent, dispatcher.Request{Proposal: p})
	if err != nil {
		t.Errorf("propose: %v", err)
	}
	return a
}

// orders reports whether an order was followed.
func (w *onlooker) orders(t *testing.T, verb approval.Verb, id approval.ID) bool {
	_, err := w.order(t, approval.Order{Verb: verb, ID: string(id)})
	return err == nil
}

// rounds has four clients act twice, three times over, each time with the store
// opened anew by another process; between runs before that.
func (w *onlooker) rounds(t *testing.T, seed uint64, act func(client int, random *rand.Rand), between func()) {
	for round := range 3 {
		var wg sync.WaitGroup
		for client := range 4 {
			random := rand.New(rand.NewPCG(seed, uint64(10*round+client)))
			wg.Go(func() {
				for range 2 {
					act(client, random)
				}
			})
		}
		wg.Wait()
		between()
		w.end()
		w.gate = understanding(t, w.store.Reopen(), newFakeChannel())
		synctest.Wait()
	}
}

// linear runs a test in a bubble, and holds what its clients saw against the model.
func linear(t *testing.T, model porcupine.Model, run func(*testing.T, *onlooker)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &onlooker{gate: understanding(t, storetest.NewMemory(), newFakeChannel())}
		run(t, w)
		w.end()
		if !porcupine.CheckOperations(model, w.history) {
			for _, op := range w.history {
				t.Logf("%d: %v %v, %d to %d", op.ClientId, op.Input, op.Output, op.Call, op.Return)
			}
			t.Error("what they saw cannot have happened one after the other")
		}
		storetest.Asks(t, w.store)
	})
}
