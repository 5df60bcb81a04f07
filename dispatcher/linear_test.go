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
	"github.com/metnos/vaglio/dispatcher/answerstest"
	"github.com/metnos/vaglio/store/storetest"
	"github.com/metnos/vaglio/vaglio"
)

// TestGrantsAndBrakesAreAtomic lets agents use a grant while people end it or apply the
// brake, with restarts in between, and checks what each of them saw against the model.
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
				w.saw(client, answerstest.Deed{What: what}, func() bool {
					switch what {
					case "use":
						// Each is a different call, but all have the same effect.
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
		t.Run(fmt.Sprint(seed), func(t *testing.T) { linear(t, answerstest.GrantsAndBrakes(), inForce) })
	}
}

// TestDeniedKindsAreAtomic lets agents make other calls of a kind while people deny the
// kind on one card or another and lift the denial, with the denial running out and restarts
// in between.
func TestDeniedKindsAreAtomic(t *testing.T) {
	for seed := range uint64(14) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			linear(t, answerstest.DeniedKinds(), func(t *testing.T, w *onlooker) {
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
					do := answerstest.Deed{What: "use"}
					if random.IntN(2) == 0 {
						// Prefer one of the newest, because the others may be gone.
						do = answerstest.Deed{What: []string{"deny", "lift"}[random.IntN(2)], Card: len(cards) - 1 - random.IntN(4)}
					}
					w.saw(client, do, func() bool {
						switch do.What {
						case "use":
							a := w.tries(t, push(fmt.Sprint("release/1.", w.calls.Add(1))))
							return a.Decision == approval.RulingPending
						case "deny":
							r, err := w.press(t, cards[do.Card], approval.ChoiceDenyKind)
							return err == nil && r.Won
						default:
							return w.orders(t, approval.VerbLift, cards[do.Card])
						}
					})
				}, func() {
					if expires.IntN(3) > 0 {
						return
					}
					w.saw(0, answerstest.Deed{What: "expire", Card: len(cards)}, func() bool { time.Sleep(approval.KindStands); return true })
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

// saw records what a client did, when, and whether it took effect.
func (w *onlooker) saw(client int, what answerstest.Deed, act func() bool) {
	called := w.clock.Add(1)
	did := act()
	returned := w.clock.Add(1)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.history = append(w.history, porcupine.Operation{ClientId: client, Input: what, Output: answerstest.Saw(did), Call: called, Return: returned})
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

// rounds lets four clients act twice, in three rounds. Each round ends with between, and
// then another process opens the store.
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

// linear runs a test in a bubble, and checks what its clients saw against the model.
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
