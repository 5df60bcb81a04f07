// Package budget limits what judges that ask models may cost per day, and caches answers so that
// they need not be asked for twice.
package budget

import (
	"context"
	"fmt"
	"time"

	"github.com/metnos/vaglio/vaglio"
)

// Spent is what a day has used of its budget.
type Spent struct {
	Calls int `json:"calls"`
	// Cost is in millionths of the currency unit of the models' prices.
	Cost int64 `json:"cost"`
}

// Ledger stores what was spent, by day.
type Ledger interface {
	// Add adds to a day's spending and returns the sum. When it returns, the sum is on disk.
	Add(ctx context.Context, day string, by Spent) (Spent, error)
}

// Above says what happens above a budget.
type Above string

// What happens above a budget.
const (
	// Ask rejects the call: a person decides.
	Ask Above = "ask"
	// Rules lets the rules answer instead of the judge.
	Rules Above = "rules"
)

// Limits are the limits of a day.
type Limits struct {
	// Calls is how many calls are judged; 0 means no limit.
	Calls int
	// Cost is in the currency unit of the models' prices; 0 means no limit.
	Cost  float64
	Above Above
}

// Budget lets judges ask models as long as the day's budget lasts. It is safe for concurrent use. A
// nil Budget has no limit.
type Budget struct {
	limits Limits
	ledger Ledger
	zone   *time.Location
}

// New returns a budget whose days are those of the time zone.
func New(l Limits, ledger Ledger, zone *time.Location) *Budget {
	if l.Above == "" {
		l.Above = Ask
	}
	return &Budget{l, ledger, zone}
}

// Enter counts a call that is about to be judged, before anything is asked. Its error rejects the
// call: the budget is spent, or cannot be counted.
func (b *Budget) Enter(ctx context.Context) error {
	if b == nil {
		return nil
	}
	spent, err := b.ledger.Add(ctx, b.today(), Spent{Calls: 1})
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &vaglio.JudgeError{Fault: "what was spent today cannot be counted", Class: vaglio.FaultBudget, Err: err}
	}
	if b.limits.Calls > 0 && spent.Calls > b.limits.Calls {
		return b.over(fmt.Sprintf("today's budget of %d judged calls is spent", b.limits.Calls))
	}
	if b.limits.Cost > 0 && spent.Cost >= int64(b.limits.Cost*1e6) {
		return b.over(fmt.Sprintf("today's budget of %g for judging is spent", b.limits.Cost))
	}
	return nil
}

func (b *Budget) over(what string) error {
	class := vaglio.FaultBudget
	if b.limits.Above == Rules {
		class = vaglio.FaultInstead
	}
	return &vaglio.JudgeError{Fault: what, Class: class}
}

// Paid counts what an answer cost, even if the answer was of no use.
func (b *Budget) Paid(ctx context.Context, cost int64) error {
	if b == nil || cost == 0 {
		return nil
	}
	if _, err := b.ledger.Add(context.WithoutCancel(ctx), b.today(), Spent{Cost: cost}); err != nil {
		return &vaglio.JudgeError{Fault: "what it cost cannot be counted", Class: vaglio.FaultBudget, Err: err}
	}
	return nil
}

func (b *Budget) today() string { return time.Now().In(b.zone).Format(time.DateOnly) }
