package dispatcher

import (
	"container/heap"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher/read"
)

// Deadlines are the time limits of a call.
type Deadlines struct {
	// AskFor is how long an approval waits for a person.
	AskFor time.Duration
	// PermitFor is how long a permit can be redeemed.
	PermitFor time.Duration
	// DenialStands is how long a person's denial answers calls that would do the same.
	DenialStands time.Duration
	// ValuesFor is how long the values of ended calls are kept. The turn log is kept for as
	// long, but no longer than [read.StepsKept].
	ValuesFor time.Duration
}

// steps is how long the turn log is kept.
func (d *Deadlines) steps() time.Duration { return min(d.ValuesFor, read.StepsKept) }

// The defaults of [Deadlines]. Half an hour lets people get back to their phone; ten
// minutes cover an agent that restarts, and keep one that repeats itself from wearing a
// person down.
const (
	DefaultAskFor       = 30 * time.Minute
	DefaultPermitFor    = 10 * time.Minute
	DefaultDenialStands = 10 * time.Minute
	DefaultValuesFor    = 30 * 24 * time.Hour
)

func (d Deadlines) orDefault() Deadlines {
	if d.AskFor == 0 {
		d.AskFor = DefaultAskFor
	}
	if d.PermitFor == 0 {
		d.PermitFor = DefaultPermitFor
	}
	if d.DenialStands == 0 {
		d.DenialStands = DefaultDenialStands
	}
	if d.ValuesFor == 0 {
		d.ValuesFor = DefaultValuesFor
	}
	return d
}

// alarms are the times at which something is due for an ask, soonest first. Only an ask's
// newest alarm counts; older ones are skipped when their time comes.
type alarms struct {
	mu     sync.Mutex
	queue  alarmQueue
	newest map[approval.AskID]time.Time
	// kick says that the soonest alarm is new.
	kick chan struct{}
}

// askAlarms are the alarms of each kind: an ask's deadline, its reminder, its escalation.
type askAlarms struct{ deadlines, reminders, escalations *alarms }

func newAlarms() *alarms { return &alarms{kick: make(chan struct{}, 1)} }

func newAskAlarms() askAlarms {
	return askAlarms{deadlines: newAlarms(), reminders: newAlarms(), escalations: newAlarms()}
}

// alarm is one deadline of one ask.
type alarm struct {
	ask approval.AskID
	// deadline is the time as stored: wall clock.
	deadline time.Time
	// rings is the same time on the monotonic clock, which nobody can set back. Whichever
	// clock gets there first is right: clock trouble may shorten a wait but never extend
	// it.
	rings time.Time
	// held postpones a repeat after the store failed; zero otherwise.
	held time.Time
}

// left returns how much longer the alarm waits.
func (a alarm) left(now time.Time) time.Duration {
	if !a.held.IsZero() {
		return a.held.Sub(now)
	}
	return min(a.rings.Sub(now), a.deadline.Round(0).Sub(now.Round(0)))
}

const (
	// longestNap limits how long it can go unnoticed that a machine slept: the monotonic
	// clock stops during sleep, the wall clock does not.
	longestNap = 30 * time.Second
	// pauseAfterFailure is the pause before the store is tried again.
	pauseAfterFailure = time.Second
)

// set sets the ask's deadline.
func (a *alarms) set(id approval.AskID, deadline time.Time) {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.newest == nil {
		a.newest = make(map[approval.AskID]time.Time)
	}
	if a.newest[id].Equal(deadline) {
		return
	}
	a.newest[id] = deadline
	a.push(alarm{ask: id, deadline: deadline, rings: now.Add(deadline.Sub(now))})
}

// hold rings an alarm again after a pause, unless a newer one was set.
func (a *alarms) hold(al alarm) {
	al.held = time.Now().Add(pauseAfterFailure)
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, newer := a.newest[al.ask]; !newer {
		a.newest[al.ask] = al.deadline
		a.push(al)
	}
}

func (a *alarms) push(al alarm) {
	heap.Push(&a.queue, al)
	if a.queue[0].ask == al.ask {
		select {
		case a.kick <- struct{}{}:
		default:
		}
	}
}

// next removes and returns an alarm that rings, or returns how long to wait.
func (a *alarms) next(now time.Time) (al alarm, rings bool, nap time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.queue) > 0 {
		al = a.queue[0]
		newest, ok := a.newest[al.ask]
		stale := !ok || !newest.Equal(al.deadline)
		if left := al.left(now); left > 0 && !stale {
			return alarm{}, false, min(left, longestNap)
		}
		heap.Pop(&a.queue)
		if !stale {
			delete(a.newest, al.ask)
			return al, true, 0
		}
	}
	return alarm{}, false, longestNap
}

// keepDeadlines ends whatever has waited too long.
func (d *Dispatcher) keepDeadlines(ctx context.Context) error {
	return d.alarms.deadlines.run(ctx, func(al alarm) {
		// An ask that cannot be read stays denied without a deadline.
		if err := d.lapse(ctx, al); err != nil && d.records.Note(ctx, err) == nil && ctx.Err() == nil {
			d.log.ErrorContext(ctx, "a deadline could not be kept; trying again", "ask", al.ask, "error", err)
			d.alarms.deadlines.hold(al)
		}
	})
}

// run passes each alarm that rings to ring, until ctx ends.
func (a *alarms) run(ctx context.Context, ring func(alarm)) error {
	timer := time.NewTimer(longestNap)
	defer timer.Stop()
	for ctx.Err() == nil {
		al, rings, nap := a.next(time.Now())
		if rings {
			ring(al)
			continue
		}
		timer.Reset(nap)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-a.kick:
		}
	}
	return nil
}

// lapse ends what the alarm rang for. A deadline that moved since then has its own alarm.
// The alarm is right even if the wall clock has been set back: the deadline itself then
// counts as now.
func (d *Dispatcher) lapse(ctx context.Context, al alarm) error {
	now := now()
	_, err := d.update(ctx, al.ask, func(ask *approval.Ask) error {
		at := ask.NextDeadline()
		if at.IsZero() || at.After(now) && at.After(al.deadline) {
			return approval.ErrKeep
		}
		ask.Lapse(later(at, now))
		return nil
	})
	if err != nil {
		return fmt.Errorf("dispatcher: keep the deadline of ask %s: %w", al.ask, err)
	}
	return nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// alarmQueue orders alarms for container/heap.
type alarmQueue []alarm

func (q alarmQueue) Len() int { return len(q) }

func (q alarmQueue) Less(i, j int) bool { return q[i].due().Before(q[j].due()) }

func (q alarmQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push implements heap.Interface.
func (q *alarmQueue) Push(x any) { *q = append(*q, x.(alarm)) } //nolint:errcheck // Only alarms are pushed.

// Pop implements heap.Interface.
func (q *alarmQueue) Pop() any {
	last := len(*q) - 1
	al := (*q)[last]
	*q = (*q)[:last]
	return al
}

// due is what the queue orders by: wall-clock time on both sides.
func (a alarm) due() time.Time {
	if !a.held.IsZero() {
		return a.held.Round(0)
	}
	return a.deadline.Round(0)
}
