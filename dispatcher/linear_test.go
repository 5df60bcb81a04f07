package dispatcher_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/anishathalye/porcupine"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/store/storetest"
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

// TestGrantsAndBrakesAreAtomic has agents use a grant while people end it or pull the
// brake, with restarts between, and holds what each of them saw against the model.
func TestGrantsAndBrakesAreAtomic(t *testing.T) {
	for seed := range uint64(14) {
		others := []string{"end"}
		if seed%2 == 1 {
			others = []string{"stop", "go"}
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { atomicOnce(t, seed, others) })
		})
	}
}

func atomicOnce(t *testing.T, seed uint64, others []string) {
	store := storetest.NewMemory()
	g := understanding(t, store, newFakeChannel())
	a := g.propose(t, push("main"), 0)
	if _, err := g.press(t, a.Approval.ID, approval.ChoiceHour); err != nil {
		t.Fatal(err)
	}
	var clock, calls atomic.Int64
	var mu sync.Mutex
	var history []porcupine.Operation
	act := func(g *gate, client int, what string) {
		called := clock.Add(1)
		did := false
		switch what {
		case "use":
			// Each is another call, and all of them would do the same.
			line := "git push" + strings.Repeat(" -v", int(calls.Add(1))) + " origin main"
			b, err := g.Propose(t.Context(), agent, dispatcher.Request{Proposal: shell(line)})
			if err != nil {
				t.Errorf("propose: %v", err)
			}
			did = b.Permit != nil
		case "end":
			_, err := g.order(t, approval.Order{Verb: approval.VerbEnd, ID: string(a.Approval.ID)})
			did = err == nil
		default:
			_, err := g.order(t, approval.Order{Verb: approval.Verb(what)})
			did = err == nil
		}
		returned := clock.Add(1)
		mu.Lock()
		defer mu.Unlock()
		history = append(history, porcupine.Operation{ClientId: client, Input: what, Output: did, Call: called, Return: returned})
	}
	for round := range 3 {
		var wg sync.WaitGroup
		for client := range 4 {
			random := rand.New(rand.NewPCG(seed, uint64(10*round+client)))
			wg.Go(func() {
				for range 2 {
					what := "use"
					if random.IntN(6) == 0 {
						what = others[random.IntN(len(others))]
					}
					act(g, client, what)
				}
			})
		}
		wg.Wait()
		g.end()
		g = understanding(t, store, newFakeChannel())
		synctest.Wait()
	}
	g.end()
	if !porcupine.CheckOperations(grantsAndBrakes(), history) {
		for _, op := range history {
			t.Logf("%d: %v %v, %d to %d", op.ClientId, op.Input, op.Output, op.Call, op.Return)
		}
		t.Error("what they saw cannot have happened one after the other")
	}
	storetest.Asks(t, store)
}
