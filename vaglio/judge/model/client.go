package model

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"
	"golang.org/x/sync/semaphore"
)

const (
	// mostRetries is how often a request is retried.
	mostRetries = 2
	// firstPause is the pause before the first retry; it doubles each time.
	firstPause = 200 * time.Millisecond
	// After deadAfter consecutive failures, a server is not asked for restFor.
	deadAfter = 5
	restFor   = 15 * time.Second
	// defaultAtOnce is how many concurrent requests one server gets.
	defaultAtOnce = 4
)

// Client asks a model with care: only a few requests at a time, with retries if the server asks for
// them, and none while the server is down. It is safe for concurrent use, and implements [Model].
type Client struct {
	model   Model
	name    string
	price   Price
	meter   Meter
	turns   *semaphore.Weighted
	breaker *gobreaker.CircuitBreaker[Reply]
	// failing is when the server began to fail, in Unix nanoseconds; 0 if it works.
	failing atomic.Int64
}

// Options configure a [Client].
type Options struct {
	// Name is the model's name in the policy and in metrics.
	Name  string
	Price Price
	// AtOnce is the maximum number of concurrent requests; 0 means four.
	AtOnce int
	// Meter is told about every request; it may be nil.
	Meter Meter
}

// Price is what a model costs per million tokens, in the operator's own currency unit.
type Price struct{ Input, Output float64 }

// Of returns what a usage costs, in millionths of the currency unit.
func (p Price) Of(u Usage) int64 {
	return int64(p.Input*float64(u.Input) + p.Output*float64(u.Output) + 0.5)
}

// Exchange is one request to a server, for a [Meter].
type Exchange struct {
	Model string
	// Outcome is "ok", a [Fault], "timeout" or "cancelled".
	Outcome string
	Took    time.Duration
	Usage   Usage
	// Cost is in millionths of the currency unit.
	Cost int64
}

// Meter counts requests. It is safe for concurrent use.
type Meter interface{ Called(c Exchange) }

// NewClient returns a client of the model.
func NewClient(m Model, o Options) *Client {
	if o.AtOnce == 0 {
		o.AtOnce = defaultAtOnce
	}
	c := &Client{model: m, name: o.Name, price: o.Price, meter: o.Meter, turns: semaphore.NewWeighted(int64(o.AtOnce))}
	c.breaker = gobreaker.NewCircuitBreaker[Reply](gobreaker.Settings{
		Name: o.Name, MaxRequests: 1, Timeout: restFor,
		ReadyToTrip:  func(n gobreaker.Counts) bool { return n.ConsecutiveFailures >= deadAfter },
		IsSuccessful: func(err error) bool { return !deadly(err) },
		IsExcluded:   func(err error) bool { return errors.Is(err, context.Canceled) },
	})
	return c
}

// Price returns what the model costs.
func (c *Client) Price() Price { return c.price }

// Name returns the model's name in the policy.
func (c *Client) Name() string { return c.name }

// deadly reports whether an error means that the server is down. That includes a server that does
// not answer before a judge's time is up.
func deadly(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Fault == FaultUnreachable || e.Fault == FaultServer || e.Fault == FaultBusy
	}
	return errors.Is(err, context.DeadlineExceeded)
}

// Complete asks the model. If the server is down, it returns at once.
func (c *Client) Complete(ctx context.Context, r Request) (Reply, error) {
	if c.breaker.State() == gobreaker.StateOpen {
		return Reply{}, c.down(nil)
	}
	if err := c.turns.Acquire(ctx, 1); err != nil {
		return Reply{}, err
	}
	defer c.turns.Release(1)
	for try := 0; ; try++ {
		reply, err := c.once(ctx, r)
		e, told := errors.AsType[*Error](err)
		if !told || !e.again() || try == mostRetries || !c.rest(ctx, e.After, firstPause<<try) {
			return reply, err
		}
	}
}

// once makes one request, through the breaker and the meter.
func (c *Client) once(ctx context.Context, r Request) (Reply, error) {
	begun := time.Now()
	taken := new(traffic) // is counted
	watching := context.WithValue(ctx, trafficKey{}, taken)
	reply, err := c.breaker.Execute(func() (Reply, error) { return c.model.Complete(watching, r) })
	reply.Usage = taken.usage(reply.Usage, err, r.MaxTokens)
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		return Reply{}, c.down(err)
	}
	switch {
	case !deadly(err) && !errors.Is(err, context.Canceled):
		c.failing.Store(0)
	case deadly(err):
		c.failing.CompareAndSwap(0, begun.UnixNano())
	}
	if c.meter != nil {
		c.meter.Called(Exchange{c.name, outcome(err), time.Since(begun), reply.Usage, c.price.Of(reply.Usage)})
	}
	return reply, err
}

func (c *Client) down(cause error) error {
	since := time.Now()
	if at := c.failing.Load(); at != 0 {
		since = time.Unix(0, at)
	}
	if c.meter != nil {
		c.meter.Called(Exchange{Model: c.name, Outcome: string(FaultDown)})
	}
	return &Error{Fault: FaultDown, Since: since, Err: cause}
}

// rest pauses before a retry. It returns false if the pause would exceed ctx's deadline, or if ctx
// ends.
func (c *Client) rest(ctx context.Context, asked, pause time.Duration) bool {
	pause = max(asked, pause/2+rand.N(pause/2+1)) //nolint:gosec // It spreads retries, no more.
	if until, ok := ctx.Deadline(); ok && time.Until(until) <= pause {
		return false
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func outcome(err error) string {
	e, told := errors.AsType[*Error](err)
	switch {
	case err == nil:
		return "ok"
	case told:
		return string(e.Fault)
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	default:
		return "cancelled"
	}
}
