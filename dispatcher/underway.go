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
	// judgedAtOnce is how many calls of a plan are judged side by side.
	judgedAtOnce = 4
	// judgesWait is how long a caller who states no wait waits for slow judges.
	judgesWait = 20 * time.Second
	// unclaimedFor is how long a verdict waits for the caller who was told to come
	// back for it, since that one was here last: the other calls of its plan may be
	// judged for much longer.
	unclaimedFor = 2 * time.Minute
)

// flights are the calls that slow judges judge now, so that a repeat joins the
// first. Nothing of them survives the process: every repeat is judged anew then.
type flights struct {
	mu  sync.Mutex
	all map[string]*flight
	wg  sync.WaitGroup
}

// flight is one judging, by its own clock: it ends when it is done, or when all
// who waited for it went away.
type flight struct {
	call   call
	err    error
	done   chan struct{}
	cancel context.CancelFunc
	// waiting is how many wait; expected says that one of them was told to come
	// back; claimed that somebody has the outcome.
	waiting           int
	expected, claimed bool
	// left is when one of them left last, or when it was done.
	left time.Time
}

// slow reports whether a judge of the call may take long.
func (d *Dispatcher) slow(c *call) bool { return d.engine.Needed(c.Proposal.Executor).Slow }

// flightKey names the judging that a repeat joins: the same call of the same
// agent under the same key. Without a key there is none.
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

// fly judges a call. What nobody comes back for is kept as judged all the same.
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

// left notes that somebody was here for the outcome.
func (fs *flights) left(f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.left = time.Now()
}

// pause is how long an outcome is kept before it is looked at again whether
// somebody comes for it; 0 is no longer.
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

// leave stops waiting for a judging. The last to leave ends it, unless somebody
// was told to come back.
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

// judgeSlowly judges the calls of a plan of which some may take long, a few side
// by side. It reports false when the wait was over first: then nothing came of the
// plan yet, and its callers come back for it.
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

// ride joins or begins the judging of a call, and waits for its end. What it
// returns has to be claimed or left.
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

// land takes over the outcomes. Of several mistakes the first call's is told.
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

// facts fills in what the judges need to know of the call's turn.
func (d *Dispatcher) facts(ctx context.Context, p *vaglio.Proposal) error {
	if !d.engine.Needed(p.Executor).Turn {
		return nil
	}
	turn := &vaglio.Turn{Known: d.engine.Executors()}
	p.Context.Turn = turn
	if p.TurnID == "" {
		return nil
	}
	steps, _, err := d.Steps(ctx, p.Agent, p.TurnID) // the newest are what counts
	if err != nil {
		return err
	}
	// A call that is put again is no history of its own.
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

// underway are the calls of which a verdict may be known that no record tells of
// yet: they are being judged, with others of their plan, or wait for the disk.
type underway struct {
	// flights are those that slow judges judge.
	flights flights

	mu    sync.Mutex
	calls map[*time.Time]struct{}
	// ended is closed when one of the calls ends, while somebody waits for that.
	ended chan struct{}
	// rooms are buffers in which steps of them are written that the journal takes.
	rooms sync.Pool
}

// begin notes calls of an instant. The function that it returns is called once,
// when the records tell of them.
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

// settled waits until the records tell of every call that began before the
// instant, or until ctx ends.
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

// wait returns what is closed when a call ends, or nil when none began before the
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
