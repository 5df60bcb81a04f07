package dispatcher_test

import (
	"context"
	"errors"
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

// crossing is a store in which something else happens just before an ask is changed.
type crossing struct {
	*storetest.Memory

	before atomic.Pointer[func() error]
}

func (s *crossing) Update(ctx context.Context, kind approval.Kind, id string, change func(approval.Record) (approval.Record, error)) (approval.Record, error) {
	if kind == approval.KindAsk {
		if f := s.before.Swap(nil); f != nil {
			if err := (*f)(); err != nil {
				return approval.Record{}, err
			}
		}
	}
	return s.Memory.Update(ctx, kind, id, change)
}

// TestABrakeIsReleasedOnce has a second person release a brake while the first one's release still
// ends a grant that the stop could not end. The brake was then released by the second alone.
func TestABrakeIsReleasedOnce(t *testing.T) {
	understandingOver(t, func(kept *storetest.Memory) *crossing { return &crossing{Memory: kept} }, func(t *testing.T, g *gate, s *crossing) {
		first := g.propose(t, push("main"), 0)
		if _, err := g.press(t, first.Approval.ID, approval.ChoiceHour); err != nil {
			t.Fatal(err)
		}
		settle() // the card's update is written
		full := errors.New("the disk is full")
		fails := func() error { return full }
		s.before.Store(&fails)
		if _, err := g.order(t, approval.Order{Verb: approval.VerbStop}); !errors.Is(err, full) {
			t.Fatalf("the stop: %v", err)
		}
		second := func() error {
			_, err := g.order(t, approval.Order{Verb: approval.VerbGo})
			return err
		}
		s.before.Store(&second)
		done, err := g.order(t, approval.Order{Verb: approval.VerbGo})
		if order, ok := errors.AsType[*approval.OrderError](err); !ok || order.Key != approval.OrderRunning || len(done.Brakes) != 0 {
			t.Errorf("the first: %+v, %v", done.Brakes, err)
		}
		if s.before.Load() != nil {
			t.Error("the second did not come in between")
		}
	})
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

// TestAStopReachesTheUseOfAGrantUnderWay checks that a stop of everything that is pulled
// between the counting of a grant's use and the use itself leaves no permit behind.
func TestAStopReachesTheUseOfAGrantUnderWay(t *testing.T) {
	meets(t, func(t *testing.T, g *gate, s *meeting) {
		first := g.propose(t, push("main"), 0)
		if _, err := g.press(t, first.Approval.ID, approval.ChoiceHour); err != nil {
			t.Fatal(err)
		}
		a, err := g.Await(t.Context(), agent, first.Approval.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		redeem(t, g, a.Permit.Permit, push("main"), nil)
		stop := func() {
			if _, err := g.order(t, approval.Order{Verb: approval.VerbStop, All: true}); err != nil {
				t.Error(err)
			}
		}
		s.before.Store(&stop)
		if use := g.propose(t, push("main"), 0); use.Permit != nil || use.Decision != approval.RulingDeny {
			t.Errorf("after the stop: %s, permit %t", use.Decision, use.Permit != nil)
		}
	})
}

// meets runs a test in a bubble with a dispatcher that understands calls, over a store in
// which calls can meet.
func meets(t *testing.T, test func(t *testing.T, g *gate, s *meeting)) {
	t.Helper()
	understandingOver(t, func(m *storetest.Memory) *meeting { return &meeting{Memory: m} }, test)
}
