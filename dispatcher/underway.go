package dispatcher

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
)

const (
	// judgedAtOnce is how many calls of a plan are judged concurrently.
	judgedAtOnce = 4
	// judgesWait is how long a caller who gives no wait waits for slow judges.
	judgesWait = 20 * time.Second
	// unclaimedFor is how long a verdict waits for a caller who was told to come back for
	// it, since that caller was last here: the other calls of its plan may take much longer
	// to judge.
	unclaimedFor = 2 * time.Minute
)

// flights are the calls that slow judges are judging, so that a repeat joins the first.
// Nothing of them survives the process: after that, every repeat is judged again.
type flights struct {
	mu  sync.Mutex
	all map[string]*flight
	wg  sync.WaitGroup
}

// flight is one judging, with its own lifetime: it ends when it is done, or when everybody
// who waited for it has left.
type flight struct {
	call   call
	err    error
	done   chan struct{}
	cancel context.CancelFunc
	// waiting is how many wait; expected says that one of them was told to come back;
	// claimed says that somebody has the outcome.
	waiting           int
	expected, claimed bool
	// left is when one of them last left, or when it was done.
	left time.Time
}

// slow reports whether a judge of the call may take long.
func (d *Dispatcher) slow(c *call) bool { return d.engine.Needed(c.Proposal.Executor).Slow }

// flightKey names the judging that a repeat joins: the same call of the same agent under
// the same key. Without a key there is none.
func flightKey(c *call) (string, error) {
	if c.Key == "" {
		return "", nil
	}
	form, err := strictjson.Canonical(c.Proposal)
	if err != nil {
		return "", fmt.Errorf("dispatcher: name a judging: %w", err)
	}
	return fmt.Sprintf("%s\x00%s\x00%x", c.Proposal.Agent, c.Key, sha256.Sum256(form)), nil
}

// board joins the judging of a call, or begins it.
func (d *Dispatcher) board(c *call) (string, *flight, error) {
	key, err := flightKey(c)
	if err != nil {
		return "", nil, err
	}
	f := &d.underway.flights
	f.mu.Lock()
	defer f.mu.Unlock()
	if found := f.all[key]; found != nil && key != "" {
		found.waiting++
		return key, found, nil
	}
	// The judging outlives the request that began it, for those who join.
	ctx, cancel := context.WithCancel(context.Background())
	begun := &flight{call: *c, done: make(chan struct{}), cancel: cancel, waiting: 1}
	if key != "" {
		if f.all == nil {
			f.all = make(map[string]*flight)
		}
		f.all[key] = begun
	}
	f.wg.Go(func() { d.fly(ctx, key, begun) })
	f.wg.Go(func() {
		select {
		case <-d.ending.begun:
			cancel()
		case <-begun.done:
		}
	})
	return key, begun, nil
}

// fly judges a call. If nobody comes back for the outcome, it is recorded as judged all the
// same.
func (d *Dispatcher) fly(ctx context.Context, key string, f *flight) {
	defer f.cancel()
	defer d.underway.begin(now())()
	f.err = d.judge(ctx, &f.call)
	d.underway.flights.left(f)
	close(f.done)
	for pause := d.underway.flights.pause(f); pause > 0; pause = d.underway.flights.pause(f) {
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
			continue
		case <-ctx.Done():
		case <-d.ending.begun:
		}
		timer.Stop()
		break
	}
	d.underway.flights.mu.Lock()
	if d.underway.flights.all[key] == f {
		delete(d.underway.flights.all, key)
	}
	lost := !f.claimed && f.err == nil
	d.underway.flights.mu.Unlock()
	if lost {
		if err := d.note(context.WithoutCancel(ctx), &f.call); err != nil {
			d.log.ErrorContext(ctx, "a step is missing from the turn log", "executor", f.call.Proposal.Executor, "error", err)
		}
	}
}

// left records that somebody was here for the outcome.
func (fs *flights) left(f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.left = time.Now()
}

// pause returns how long to keep an outcome before checking again whether somebody comes
// for it; 0 means that it need not be kept.
func (fs *flights) pause(f *flight) time.Duration {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	switch {
	case f.waiting > 0:
		return unclaimedFor
	case f.expected:
		return unclaimedFor - time.Since(f.left)
	}
	return 0
}

// leave stops waiting for a judging. The last one to leave ends it, unless somebody was
// told to come back.
func (d *Dispatcher) leave(f *flight, back bool) {
	d.underway.flights.mu.Lock()
	defer d.underway.flights.mu.Unlock()
	f.waiting--
	f.left = time.Now()
	f.expected = f.expected || back
	if f.waiting == 0 && !f.expected {
		f.cancel()
	}
}

// claim takes the outcome of a judging that is done.
func (d *Dispatcher) claim(key string, f *flight) (call, error) {
	d.underway.flights.mu.Lock()
	defer d.underway.flights.mu.Unlock()
	f.claimed = true
	if d.underway.flights.all[key] == f {
		delete(d.underway.flights.all, key)
	}
	f.waiting--
	f.cancel()
	return f.call, f.err
}

// judgeSlowly judges the calls of a plan, some of which may take long, a few concurrently.
// It reports false if the wait ended first: nothing has come of the plan yet, and its
// callers come back for it.
func (d *Dispatcher) judgeSlowly(ctx context.Context, calls []call) (judged bool, err error) {
	wait := judgesWait
	for i := range calls {
		if calls[i].Wait > 0 {
			wait = calls[i].Wait
		}
	}
	timed, cancel := context.WithTimeoutCause(ctx, wait, errLate)
	defer cancel()
	keys, all := make([]string, len(calls)), make([]*flight, len(calls))
	var group errgroup.Group
	group.SetLimit(judgedAtOnce)
	for i := range calls {
		group.Go(func() (err error) {
			keys[i], all[i], err = d.ride(timed, &calls[i])
			return err
		})
	}
	err = group.Wait()
	if err == nil {
		return true, d.land(ctx, calls, keys, all)
	}
	late := errors.Is(context.Cause(timed), errLate) && ctx.Err() == nil && !d.stopped()
	for _, f := range all {
		if f != nil {
			d.leave(f, late && calls[0].Key != "")
		}
	}
	switch {
	case late:
		return false, nil
	case ctx.Err() != nil:
		return false, ctx.Err()
	}
	return false, err
}

// ride joins or begins the judging of a call, and waits for its end. The flight that it
// returns must be claimed or left.
func (d *Dispatcher) ride(ctx context.Context, c *call) (string, *flight, error) {
	if ctx.Err() != nil {
		return "", nil, ctx.Err()
	}
	key, f, err := d.board(c) //nolint:contextcheck // The judging outlives whoever began it.
	if err != nil {
		return "", nil, err
	}
	select {
	case <-f.done:
		return key, f, nil
	case <-ctx.Done():
		return key, f, ctx.Err()
	case <-d.ending.begun:
		return key, f, ErrStopping
	}
}

// land takes the outcomes. If several calls have mistakes, it reports that of the first
// one.
func (d *Dispatcher) land(ctx context.Context, calls []call, keys []string, all []*flight) error {
	var failed error
	good := make([]call, 0, len(calls))
	for i, f := range all {
		request := calls[i].Request
		c, err := d.claim(keys[i], f)
		c.Request = request
		calls[i] = c
		switch {
		case err == nil:
			good = append(good, c)
		case failed == nil:
			failed = &CallError{Index: i, Err: err}
		}
	}
	if failed != nil {
		return d.noteFailed(ctx, good, failed)
	}
	return nil
}

var errLate = errors.New("dispatcher: the judges took longer than the caller waits")

// unjudged answers the calls of a plan whose judges have not answered yet.
func (d *Dispatcher) unjudged(calls []call) []approval.Answer {
	answers := make([]approval.Answer, len(calls))
	for i := range answers {
		answers[i] = approval.Unjudged(d.engine.Kind())
	}
	return answers
}

// facts adds what the judges need to know about the call's turn.
func (d *Dispatcher) facts(ctx context.Context, p *vaglio.Proposal) error {
	if !d.engine.Needed(p.Executor).Turn {
		return nil
	}
	turn := &vaglio.Turn{Known: d.engine.Executors()}
	p.Context.Turn = turn
	if p.TurnID == "" {
		return nil
	}
	steps, err := d.Lately(ctx, p.Agent, p.TurnID)
	if err != nil {
		return err
	}
	// A call that is proposed again is not part of its own history.
	steps = slices.DeleteFunc(steps, func(s approval.Step) bool {
		return p.Step > 0 && s.Proposal.Step == p.Step && s.Proposal.Executor == p.Executor
	})
	for i := range steps {
		s := &steps[i]
		guarded := s.Verdict != nil && s.Verdict.BlockedBy == vaglio.PhaseGuard
		if (s.Verdict == nil || guarded) && !slices.Contains(turn.Refused, s.Proposal.Executor) {
			turn.Refused = append(turn.Refused, s.Proposal.Executor)
		}
	}
	for _, s := range steps[max(0, len(steps)-vaglio.MaxEarlier):] {
		e := approval.Entry{Step: s}
		turn.Earlier = append(turn.Earlier, vaglio.Earlier{Step: s.Proposal.Step, Executor: s.Proposal.Executor, Outcome: e.Outcome()})
	}
	return nil
}

// underway are the calls that may have a verdict which no record mentions yet: they are
// being judged, along with others of their plan, or wait for the disk.
type underway struct {
	// flights are the calls that slow judges are judging.
	flights flights

	mu    sync.Mutex
	calls map[*time.Time]struct{}
	// ended is closed when one of the calls ends, while somebody waits for that.
	ended chan struct{}
	// rooms are buffers for encoding their steps for the journal.
	rooms sync.Pool
}

// begin notes calls that start at an instant. The returned function must be called once,
// when the records mention them.
func (u *underway) begin(at time.Time) (end func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.calls == nil {
		u.calls = make(map[*time.Time]struct{})
	}
	u.calls[&at] = struct{}{}
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.calls, &at)
		if u.ended != nil {
			close(u.ended)
			u.ended = nil
		}
	}
}

// settled waits until the records mention every call that began before the instant, or
// until ctx ends.
func (u *underway) settled(ctx context.Context, before time.Time) {
	for {
		ended := u.wait(before)
		if ended == nil {
			return
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return
		}
	}
}

// wait returns a channel that is closed when a call ends, or nil if none began before the
// instant.
func (u *underway) wait(before time.Time) <-chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	for at := range u.calls {
		if at.Before(before) {
			if u.ended == nil {
				u.ended = make(chan struct{})
			}
			return u.ended
		}
	}
	return nil
}
