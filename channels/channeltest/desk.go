package channeltest

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/metnos/vaglio/approval"
)

// Desk is the dispatcher behind the channel under test: one tap decides, only
// who may does, and what a card shows comes from the state.
type Desk struct {
	mu   sync.Mutex
	asks []*approval.Ask
	taps []approval.Tap
	fail error
	may  func(id string) bool
}

// permitFor is how long the permits of the suite last.
const permitFor = 10 * time.Minute

// NewDesk returns a desk at which those may decide whom may names.
func NewDesk(may func(id string) bool) *Desk { return &Desk{may: may} }

// Add puts an ask on the desk.
func (d *Desk) Add(a *approval.Ask) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asks = append(d.asks, a)
}

// Decide takes a tap.
func (d *Desk) Decide(ctx context.Context, t approval.Tap) (approval.Receipt, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := errors.Join(d.fail, ctx.Err()); err != nil {
		return approval.Receipt{}, err
	}
	d.taps = append(d.taps, t)
	if !d.may(t.By.ID) {
		return approval.Receipt{}, approval.ErrNotApprover
	}
	for _, a := range d.asks {
		if t.Token == "" && t.Ask != a.ID {
			continue
		}
		if r, err := a.Decide(t, time.Now(), permitFor); !errors.Is(err, approval.ErrNotFound) {
			return r, err
		}
	}
	return approval.Receipt{}, approval.ErrNotFound
}

// Pending yields the cards that wait.
func (d *Desk) Pending(_ context.Context, channel string) iter.Seq2[approval.Card, error] {
	d.mu.Lock()
	defer d.mu.Unlock()
	fail := d.fail
	var cards []approval.Card
	for _, a := range d.asks {
		if a.Waiting() {
			cards = append(cards, picture(a, channel))
		}
	}
	return func(yield func(approval.Card, error) bool) {
		if fail != nil {
			yield(approval.Card{}, fail)
			return
		}
		for _, c := range cards {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// Card returns the card of an ask.
func (d *Desk) Card(_ context.Context, id approval.AskID, channel string) (approval.Card, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, a := range d.asks {
		if a.ID == id {
			return picture(a, channel), d.fail
		}
	}
	return approval.Card{}, approval.ErrNotFound
}

// Find returns the ask that the beginning of an id names.
func (d *Desk) Find(_ context.Context, id string) (approval.Ask, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, a := range d.asks {
		if len(id) >= 4 && strings.HasPrefix(string(a.ID), id) {
			found := *a
			found.Approvals = slices.Clone(a.Approvals)
			return found, d.fail
		}
	}
	return approval.Ask{}, approval.ErrNotFound
}

// Fail makes every call fail, or none when err is nil.
func (d *Desk) Fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail = err
}

// change changes an ask as the dispatcher does.
func (d *Desk) change(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

// states are how the ask's calls stand.
func (d *Desk) states(a *approval.Ask) (all []approval.State) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range a.Approvals {
		all = append(all, a.Approvals[i].State)
	}
	return all
}

func picture(a *approval.Ask, channel string) approval.Card {
	return approval.NewCard(*a, channel, approval.NewMasker(approval.Secret{1}))
}

// Digest returns the digest of a day on which nothing happened.
func (d *Desk) Digest(context.Context, string) (approval.Digest, error) {
	return approval.Digest{}, nil
}
