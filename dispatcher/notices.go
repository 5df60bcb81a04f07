package dispatcher

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
)

// notifier tells people on one channel what the guard denied: at once, and then at most
// once a minute for each rule and agent, with a count of what came in between. A denial
// costs no write of its own: what was last told is on disk, and what came after it is
// counted from the turn log at the next start.
type notifier struct {
	name    string
	channel Notifier

	mu   sync.Mutex
	by   map[origin]*tally
	kick chan struct{}
}

// origin is where denials come from.
type origin struct{ agent, rule string }

// tally is what is to be told of one origin, and what was.
type tally struct {
	// count denials, between first and last, have not been told yet.
	count       int
	first, last time.Time
	// step is the newest of them.
	step approval.Step
	// told is the newest denial that has been told.
	told time.Time
	// next is when the next notice may be sent.
	next  time.Time
	tries int
}

const (
	// noticeEvery is the least time between two notices of one origin.
	noticeEvery = time.Minute
	// noticedFor is how long what was told is remembered, and how far back a start looks
	// for what was not. Older denials are in the history.
	noticedFor = time.Hour
	// recountedSteps and recountedBytes limit how far back a start looks.
	recountedSteps = 5000
	recountedBytes = 16 << 20
)

func newNotifier(name string, n Notifier) *notifier {
	return &notifier{name: name, channel: n, by: make(map[origin]*tally), kick: make(chan struct{}, 1)}
}

// add counts a denial.
func (h *notifier) add(step approval.Step) {
	s, at := originOf(&step), step.At
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.by[s]
	if t == nil {
		t = &tally{}
		h.by[s] = t
	}
	if t.count++; t.count == 1 || at.Before(t.first) {
		t.first = at
	}
	if !at.Before(t.last) || t.count == 1 {
		t.last, t.step = at, step
	}
	h.wake()
}

// wake triggers a look for what is to be told.
func (h *notifier) wake() {
	select {
	case h.kick <- struct{}{}:
	default:
	}
}

// next removes and returns a notice that is due, or returns how long to wait for one. It
// forgets sources with nothing to tell or to remember.
func (h *notifier) next(now time.Time) (origin, tally, time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	nap := noticedFor
	for s, t := range h.by {
		left := t.next.Sub(now)
		switch {
		case t.count == 0 && now.Sub(t.told) >= noticedFor:
			delete(h.by, s)
		case t.count == 0:
		case left > 0:
			nap = min(nap, left)
		default:
			due := *t
			t.count = 0
			return s, due, 0
		}
	}
	return origin{}, tally{}, nap
}

// done records the result of telling. What was not told is told with the next notice.
func (h *notifier) done(s origin, due tally, err error) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.by[s]
	if err == nil {
		t.told, t.tries, t.next = due.last, 0, time.Now().Add(noticeEvery)
		return 0
	}
	pause := backoff(t.tries)
	if retry, ok := errors.AsType[*approval.RetryError](err); ok && retry.After > 0 {
		pause = retry.After
	}
	if t.count == 0 {
		t.last, t.step = due.last, due.step
	}
	t.count, t.first = t.count+due.count, due.first
	t.tries, t.next = t.tries+1, time.Now().Add(pause)
	return pause
}

// run tells what is to be told until ctx ends.
func (h *notifier) run(ctx context.Context, d *Dispatcher) error {
	d.recount(ctx, h)
	timer := time.NewTimer(noticedFor)
	defer timer.Stop()
	tries := 0
	for ctx.Err() == nil {
		again := noticedFor
		if err := d.tellBrakes(ctx, h.name, h.channel); err != nil && ctx.Err() == nil {
			again = backoff(tries)
			tries++
			d.log.WarnContext(ctx, "a brake could not be announced; trying again", "channel", h.name, "pause", again, "error", err)
		} else {
			tries = 0
		}
		s, due, nap := h.next(time.Now())
		if due.count > 0 {
			h.tell(ctx, d, s, due)
			continue
		}
		timer.Reset(min(nap, again))
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-h.kick:
		}
	}
	return nil
}

func (h *notifier) tell(ctx context.Context, d *Dispatcher, s origin, due tally) {
	step := d.masker().Step(due.step)
	err := h.channel.Notify(ctx, approval.Notice{
		Agent: s.agent, Rule: s.rule, Count: due.count, First: due.first, Last: due.last,
		Headline: step.Headline(), Call: approval.Line(step.Proposal), Refusal: *step.Refusal, Silent: d.hours.Quiet.at(time.Now()),
	})
	if errors.Is(err, approval.ErrGone) {
		err = nil // there is nobody to tell; the history has it
	}
	pause := h.done(s, due, err)
	if err == nil {
		err = d.keepNoticed(ctx, h)
	}
	if err != nil && ctx.Err() == nil {
		d.log.With("channel", h.name).WarnContext(ctx, "a guard notice failed; trying again", "denials", due.count, "pause", pause, "error", err)
	}
}

// noticed passes a step that the guard denied to the notifiers.
func (d *Dispatcher) noticed(s approval.Step) {
	if !guarded(&s) {
		return
	}
	for _, h := range d.outlets.notifiers {
		h.add(s)
	}
}

// guarded reports whether the guard denied the step.
func guarded(s *approval.Step) bool {
	return s.Verdict != nil && s.Verdict.BlockedBy == vaglio.PhaseGuard && s.Refusal != nil
}

// originOf returns where a denial came from.
func originOf(s *approval.Step) origin {
	return origin{s.Proposal.Agent, cmp.Or(s.Refusal.Rule, string(vaglio.PhaseGuard))}
}

// recount counts what an earlier process denied and did not tell. It reads the turn log
// back to the last notices, an hour at most.
func (d *Dispatcher) recount(ctx context.Context, h *notifier) {
	if err := d.recountSteps(ctx, h); err != nil && ctx.Err() == nil {
		d.log.WarnContext(ctx, "guard denials from before the start cannot be reported", "channel", h.name, "error", err)
	}
}

func (d *Dispatcher) recountSteps(ctx context.Context, h *notifier) error {
	since, err := d.readNoticed(ctx, h)
	if err != nil || since.IsZero() {
		return err
	}
	read, weight := 0, 0
	for s, err := range d.records.Steps(ctx, approval.Query{Newest: true}) {
		if err != nil {
			return fmt.Errorf("dispatcher: read the turn log: %w", err)
		}
		if read++; read > recountedSteps || weight > recountedBytes {
			return nil
		}
		weight += len(s.Body)
		if s.Is.At.Before(since) {
			return nil
		}
		// This process counts its own denials.
		if guarded(&s.Is) && s.Is.At.Before(d.outlets.began) {
			h.catchUp(s.Is)
		}
	}
	return nil
}

// catchUp counts a denial of an earlier process, unless it was told.
func (h *notifier) catchUp(s approval.Step) {
	h.mu.Lock()
	t := h.by[originOf(&s)]
	told := t != nil && !s.At.After(t.told)
	h.mu.Unlock()
	if !told {
		h.add(s)
	}
}

// noticedBody is the record of the guard denials that a channel was last told about.
type noticedBody struct {
	Version int `json:"v"`
	// Since is when the record was started: nothing older is told.
	Since time.Time     `json:"since"`
	Told  []noticedLine `json:"told"`
}

// noticedLine is one origin of denials, and the newest of them that was told.
type noticedLine struct {
	Agent string    `json:"agent"`
	Rule  string    `json:"rule"`
	At    time.Time `json:"at"`
}

func (h *notifier) record() string { return "noticed/" + h.name }

// readNoticed loads what was last told, and returns from when on to look for denials, or
// the zero time if nothing can be missing because the channel is new.
func (d *Dispatcher) readNoticed(ctx context.Context, h *notifier) (time.Time, error) {
	r, err := d.store.Get(ctx, approval.KindMeta, h.record())
	if errors.Is(err, approval.ErrNotFound) {
		return time.Time{}, d.keepNoticed(ctx, h)
	}
	if err != nil {
		return time.Time{}, err
	}
	var body noticedBody
	if err := strictjson.Unmarshal(r.Body, &body); err != nil {
		return time.Time{}, err
	}
	if body.Version != 1 {
		return time.Time{}, errors.New("dispatcher: what was noticed is from a newer vaglio")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range body.Told {
		s := origin{l.Agent, l.Rule}
		if h.by[s] == nil {
			h.by[s] = &tally{}
		}
		h.by[s].told, h.by[s].next = l.At, l.At.Add(noticeEvery)
	}
	return later(body.Since, d.outlets.began.Add(-noticedFor)), nil
}

// keepNoticed stores what was told.
func (d *Dispatcher) keepNoticed(ctx context.Context, h *notifier) error {
	h.mu.Lock()
	told := []noticedLine{}
	for s, t := range h.by {
		if !t.told.IsZero() {
			told = append(told, noticedLine{s.agent, s.rule, t.told})
		}
	}
	h.mu.Unlock()
	_, err := d.store.Update(ctx, approval.KindMeta, h.record(), func(r approval.Record) (approval.Record, error) {
		body := noticedBody{Version: 1, Since: d.outlets.began}
		if r.Exists() {
			if err := strictjson.Unmarshal(r.Body, &body); err != nil {
				return r, err
			}
		}
		body.Told = told
		var err error
		r.ID = h.record()
		r.Body, err = strictjson.Marshal(body)
		return r, err
	})
	if err != nil {
		return fmt.Errorf("dispatcher: keep what was noticed: %w", err)
	}
	return nil
}
