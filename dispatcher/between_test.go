package dispatcher_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/store/storetest"
)

// meeting is a store in which something else happens just before an ask is first stored.
type meeting struct {
	*storetest.Memory

	before atomic.Pointer[func()]
}

func (s *meeting) Update(ctx context.Context, kind approval.Kind, id string, change func(approval.Record) (approval.Record, error)) (approval.Record, error) {
	if kind == approval.KindAsk {
		if _, err := s.Get(ctx, kind, id); err != nil {
			if f := s.before.Swap(nil); f != nil {
				(*f)()
			}
		}
	}
	return s.Memory.Update(ctx, kind, id, change)
}

// TestEqualCallsUnderABrake checks that of two equal calls at once, under a brake, both are
// told that the agent is stopped: neither gets an error.
func TestEqualCallsUnderABrake(t *testing.T) {
	meets(t, func(t *testing.T, g *gate, s *meeting) {
		if _, err := g.order(t, approval.Order{Verb: approval.VerbStop}); err != nil {
			t.Fatal(err)
		}
		call := pushIn("t-1", "main")
		call.Step = 1
		other := func() {
			if a := g.propose(t, call, 0); a.Decision != approval.RulingDeny {
				t.Errorf("the first: %s", a.Decision)
			}
		}
		s.before.Store(&other)
		if a := g.propose(t, call, 0); a.Decision != approval.RulingDeny {
			t.Errorf("the second: %s", a.Decision)
		}
	})
}

// meets runs a test in a bubble with a dispatcher that understands calls, over a store in
// which calls can meet.
func meets(t *testing.T, test func(t *testing.T, g *gate, s *meeting)) {
	t.Helper()
	understandingOver(t, func(m *storetest.Memory) *meeting { return &meeting{Memory: m} }, test)
}
