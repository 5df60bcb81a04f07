package dispatcher

import (
	"context"
	"sync"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher/read"
)

// waiters are the turns that wait, by the ask they wait for. They only say whom to wake:
// what happened is read from the store.
type waiters struct {
	mu    sync.Mutex
	gates map[approval.AskID]*gate
}

// gate lets the waiters of one ask through, all at once.
type gate struct {
	shut    context.Context
	open    context.CancelFunc
	waiting int
}

// enter returns a context that ends at the ask's next change, and a function to leave. It
// must be called before the state is read, or a change between the two would be missed.
func (w *waiters) enter(id approval.AskID) (next context.Context, leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	g := w.gates[id]
	if g == nil {
		g = new(gate)
		g.shut, g.open = context.WithCancel(context.Background())
		if w.gates == nil {
			w.gates = make(map[approval.AskID]*gate)
		}
		w.gates[id] = g
	}
	g.waiting++
	return g.shut, func() { w.leave(id, g) }
}

func (w *waiters) leave(id approval.AskID, g *gate) {
	w.mu.Lock()
	defer w.mu.Unlock()
	g.waiting--
	if g.waiting == 0 && w.gates[id] == g {
		g.open()
		delete(w.gates, id)
	}
}

func (w *waiters) wake(id approval.AskID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if g := w.gates[id]; g != nil {
		g.open()
		delete(w.gates, id)
	}
}

func (w *waiters) wakeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, g := range w.gates {
		g.open()
	}
	clear(w.gates)
}

// Await returns the answer of an approval as soon as it no longer waits for a person or a
// person asks the agent something. If wait ends or the daemon stops first, it returns the
// current answer, or [ErrStopping] if the daemon stops and the answer can no longer be
// read. If ctx ends it returns ctx's error, and for an id that is unknown or another
// agent's it returns [approval.ErrNotFound].
func (d *Dispatcher) Await(ctx context.Context, agent string, id approval.ID, wait time.Duration) (*approval.Answer, error) {
	if err := d.await(ctx, agent, id, wait); err != nil {
		return nil, err
	}
	a, err := d.awaited(ctx, agent, id)
	if err != nil {
		return nil, err
	}
	return a, nil
}

// AwaitChange is [Dispatcher.Await] for those who keep no goroutine while they wait. It returns the
// answer as it stands. If that may still change, it has changed called, in a goroutine of its own,
// once it may have changed or the daemon stops: ask again then. Whoever no longer waits for that
// calls leave, which is nil if there is nothing to wait for.
func (d *Dispatcher) AwaitChange(ctx context.Context, agent string, id approval.ID, changed func()) (answer *approval.Answer, leave func(), err error) {
	next, out := d.waiters.enter(id.Ask())
	answer, err = d.awaited(ctx, agent, id)
	if err != nil || !answer.Waits() || d.stopped() {
		out()
		return answer, nil, err
	}
	forget := context.AfterFunc(next, changed) //nolint:contextcheck // The ask's change calls it, whatever ends ctx.
	return answer, func() { forget(); out() }, nil
}

// await waits until an approval no longer waits for a person, or the wait is over. It is a
// function of its own so that a parked turn has no room for answers on its stack.
func (d *Dispatcher) await(ctx context.Context, agent string, id approval.ID, wait time.Duration) error {
	until := time.NewTimer(wait)
	defer until.Stop()
	for {
		next, leave := d.waiters.enter(id.Ask())
		waits, err := d.looked(ctx, agent, id, wait)
		if err == nil && waits && !d.stopped() {
			waits, err = park(ctx, next, until.C)
		}
		leave()
		if err != nil || !waits || d.stopped() {
			return err
		}
	}
}

// looked is [Dispatcher.waits] for a turn that will wait for the given time. A stack that
// grew while a record was read stays large while the turn is parked, so the reading happens
// on another goroutine.
func (d *Dispatcher) looked(ctx context.Context, agent string, id approval.ID, wait time.Duration) (waits bool, err error) {
	if wait <= 0 {
		return d.waits(ctx, agent, id)
	}
	var panicked any
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { panicked = recover() }()
		waits, err = d.waits(ctx, agent, id)
	}()
	if <-done; panicked != nil {
		panic(panicked) // the caller that waits answers for it
	}
	return waits, err
}

// awaited returns the answer of an approval after the waiting. It is not inlined, so that
// its stack space is not part of a waiting turn's.
//
//go:noinline
func (d *Dispatcher) awaited(ctx context.Context, agent string, id approval.ID) (*approval.Answer, error) {
	a, err := d.read(ctx, agent, id)
	if err != nil && d.stopped() && !read.Nothing(err) && ctx.Err() == nil {
		err = ErrStopping // the next process can read it
	}
	return &a, err
}

// read returns the answer of an approval as it stands.
func (d *Dispatcher) read(ctx context.Context, agent string, id approval.ID) (approval.Answer, error) {
	ask, err := d.askOf(ctx, agent, id)
	if err != nil {
		return approval.Answer{}, err
	}
	answer := d.answer(ask.Find(id)).Questioned(ask.Asked()).Edited(ask, id)
	if q := answer.Question; q != nil && !q.Repeated {
		err = d.toldQuestion(ctx, ask.ID)
	}
	return answer, err
}

// waits reports whether the approval still waits for a person, and no person has asked
// anything that the agent was not told. It returns nothing else: a turn that is parked for
// an hour holds no record in memory.
func (d *Dispatcher) waits(ctx context.Context, agent string, id approval.ID) (bool, error) {
	ask, err := d.askOf(ctx, agent, id)
	if err != nil || ask.Find(id).State != approval.Pending {
		return false, err
	}
	q := ask.Asked()
	return q == nil || q.Told, nil
}

// park waits for the ask's next change, and reports false if the waiting ends without one.
func park(ctx, next context.Context, until <-chan time.Time) (changed bool, err error) {
	select {
	case <-next.Done():
		return true, nil
	case <-until:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// watchers want to know that something changed, whatever it was.
type watchers struct {
	mu  sync.Mutex
	all map[chan struct{}]bool
}

// tick notifies every watcher; one that has not taken its last tick gets no second one.
func (w *watchers) tick() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.all {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// Watch returns a channel that receives after changes, several at once as one, and is
// closed when ctx ends.
func (d *Dispatcher) Watch(ctx context.Context) <-chan struct{} {
	c := make(chan struct{}, 1)
	d.watchers.mu.Lock()
	if d.watchers.all == nil {
		d.watchers.all = make(map[chan struct{}]bool)
	}
	d.watchers.all[c] = true
	d.watchers.mu.Unlock()
	context.AfterFunc(ctx, func() {
		d.watchers.mu.Lock()
		defer d.watchers.mu.Unlock()
		delete(d.watchers.all, c)
		close(c)
	})
	return c
}
