package budget_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/budget"
)

// days is a ledger in memory that may fail.
type days struct {
	mu   sync.Mutex
	all  map[string]budget.Spent
	fail error
	// ended counts additions whose context had ended.
	ended int
}

func (d *days) Add(ctx context.Context, day string, by budget.Spent) (budget.Spent, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if ctx.Err() != nil {
		d.ended++
		return budget.Spent{}, ctx.Err()
	}
	if d.fail != nil {
		return budget.Spent{}, d.fail
	}
	if d.all == nil {
		d.all = map[string]budget.Spent{}
	}
	s := d.all[day]
	s.Calls, s.Cost = s.Calls+by.Calls, s.Cost+by.Cost
	d.all[day] = s
	return s, nil
}

func class(err error) vaglio.Fault {
	if e, ok := errors.AsType[*vaglio.JudgeError](err); ok {
		return e.Class
	}
	return ""
}

// However many ask at once, no more pass than the budget allows.
func TestNoMorePassThanTheBudgetHas(t *testing.T) {
	for above, want := range map[budget.Above]vaglio.Fault{"": vaglio.FaultBudget, budget.Ask: vaglio.FaultBudget, budget.Rules: vaglio.FaultInstead} {
		b := budget.New(budget.Limits{Calls: 10, Above: above}, &days{}, time.UTC)
		var passed, refused atomic.Int32
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				switch err := b.Enter(t.Context()); {
				case err == nil:
					passed.Add(1)
				case class(err) == want && err.Error() == "today's budget of 10 judged calls is spent":
					refused.Add(1)
				default:
					t.Errorf("%q: %v", above, err)
				}
			})
		}
		all.Wait()
		if passed.Load() != 10 || refused.Load() != 90 {
			t.Errorf("%q: %d passed, %d were refused", above, passed.Load(), refused.Load())
		}
	}
}

// A payment counts from the next call on, and a day begins at midnight in its zone.
func TestADaysCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		zone := time.FixedZone("east", 5*60*60)
		ledger := &days{}
		b := budget.New(budget.Limits{Cost: 2.5}, ledger, zone)
		for i, paid := range []int64{1_000_000, 1_499_999, 1, 0} {
			if err := b.Enter(t.Context()); (err != nil) != (i == 3) || err != nil && err.Error() != "today's budget of 2.5 for judging is spent" {
				t.Errorf("call %d: %v", i, err)
			}
			if err := b.Paid(t.Context(), paid); err != nil {
				t.Error(err)
			}
		}
		// The bubble's clock starts at midnight UTC, which is five o'clock there.
		time.Sleep(19*time.Hour - time.Second)
		if err := b.Enter(t.Context()); class(err) != vaglio.FaultBudget {
			t.Errorf("a second before midnight: %v", err)
		}
		time.Sleep(time.Second)
		if err := b.Enter(t.Context()); err != nil || len(ledger.all) != 2 {
			t.Errorf("on the next day: %v, %v", err, ledger.all)
		}
	})
}

// What cannot be counted is not judged. The cost of a call counts even if its agent is gone.
func TestWhatCannotBeCounted(t *testing.T) {
	ledger := &days{fail: errors.New("disk full at /secret")}
	b := budget.New(budget.Limits{Calls: 10}, ledger, time.UTC)
	if err := b.Enter(t.Context()); class(err) != vaglio.FaultBudget {
		t.Error(err)
	}
	if err := b.Paid(t.Context(), 7); class(err) != vaglio.FaultBudget {
		t.Error(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Enter(gone); !errors.Is(err, context.Canceled) || class(err) != "" {
		t.Error(err)
	}
	ledger.fail, ledger.ended = nil, 0
	if err := b.Paid(gone, 7); err != nil || ledger.ended != 0 || ledger.all[time.Now().UTC().Format(time.DateOnly)].Cost != 7 {
		t.Errorf("%v, %+v", err, ledger)
	}
	var none *budget.Budget
	if err := errors.Join(none.Enter(t.Context()), none.Paid(t.Context(), 1e9)); err != nil {
		t.Error(err)
	}
}

// An answer is reused for ten minutes, in the same turn only, and only for exactly what was shown.
func TestAnswersAreKeptForTenMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a budget.Answers
		key, ok := budget.KeyOf("turn", "a", "bc")
		if !ok {
			t.Fatal("a turn has no key")
		}
		if _, ok := a.Find(key); ok {
			t.Error("there is an answer to what was never asked")
		}
		a.Keep(key, vaglio.GradientResult{Score: 0.1, Reasoning: "no"})
		for name, shown := range map[string][]string{
			"other turn": {"urn", "ta", "bc"}, "other parts": {"turn", "ab", "c"}, "one part": {"turn", "abc"}, "more": {"turn", "a", "bc", ""}, "fewer": {"turn", "a"},
		} {
			other, _ := budget.KeyOf(shown[0], shown[1:]...)
			if _, ok := a.Find(other); ok {
				t.Errorf("%s: the answer is given to it", name)
			}
		}
		time.Sleep(10 * time.Minute)
		if r, ok := a.Find(key); !ok || r.Score != 0.1 {
			t.Errorf("after ten minutes: %+v, %v", r, ok)
		}
		time.Sleep(time.Nanosecond)
		if _, ok := a.Find(key); ok {
			t.Error("it is kept for longer than ten minutes")
		}
		if _, ok := budget.KeyOf("", "a", "bc"); ok {
			t.Error("a call without a turn has a key")
		}
	})
}

// Many answers use bounded memory: expired ones make room, others stay.
func TestAnswersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a budget.Answers
		keep := func(name string, n int) (found int) {
			for i := range n {
				key, _ := budget.KeyOf("t", name, fmt.Sprint(i))
				a.Keep(key, vaglio.GradientResult{})
			}
			for i := range n {
				key, _ := budget.KeyOf("t", name, fmt.Sprint(i))
				if _, ok := a.Find(key); ok {
					found++
				}
			}
			return found
		}
		if n := keep("first", 5000); n != 4096 {
			t.Errorf("%d are kept", n)
		}
		time.Sleep(11 * time.Minute)
		if n := keep("second", 4096); n != 4096 {
			t.Errorf("%d of the next are kept", n)
		}
	})
}
