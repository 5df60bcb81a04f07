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
	"github.com/metnos/vaglio/approval/report"
)

// Desk stands in for the dispatcher behind the channel under test: one tap decides, only
// people who may decide can, and cards show the state.
type Desk struct {
	mu   sync.Mutex
	asks []*approval.Ask
	taps []approval.Tap
	// heard is when each of the taps came.
	heard   []time.Time
	won     int
	fail    error
	may     func(id string) bool
	held    <-chan struct{}
	decided func()
	masker  approval.Masker
	past    []approval.Entry
	digest  report.Digest
	takes   time.Duration
	vetoes  []approval.Step
	routing approval.Routing
	brakes  []approval.Brake
	// holder holds passkeys; empty means nobody.
	holder string
	// match says where digits are shown; zero means nowhere.
	match  approval.Match
	looked []approval.AskID
	opened []string
}

// permitFor is how long permits last in the suite.
const permitFor = 10 * time.Minute

// NewDesk returns a desk at which the people may decide whom may accepts; nil accepts
// everybody.
func NewDesk(may func(id string) bool) *Desk {
	return &Desk{may: may, masker: approval.NewMasker(approval.Secret{1})}
}

// Add puts asks on the desk.
func (d *Desk) Add(asks ...*approval.Ask) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asks = append(d.asks, asks...)
}

// Forget removes every ask from the desk.
func (d *Desk) Forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asks = nil
}

// Hold holds back every decision until the channel is closed; nil holds back none.
func (d *Desk) Hold(until <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held = until
}

// Then runs f after each committed decision; nil runs nothing.
func (d *Desk) Then(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.decided = f
}

// Decide takes a tap.
func (d *Desk) Decide(ctx context.Context, t approval.Tap) (approval.Receipt, error) {
	d.mu.Lock()
	held := d.held
	d.mu.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-ctx.Done():
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := errors.Join(d.fail, ctx.Err()); err != nil {
		return approval.Receipt{}, err
	}
	d.taps, d.heard = append(d.taps, t), append(d.heard, time.Now())
	if d.may != nil && !d.may(t.By.ID) {
		return approval.Receipt{}, approval.ErrNotApprover
	}
	for _, a := range d.asks {
		if t.Token == "" && t.Ask != a.ID {
			continue
		}
		r, err := a.Vote(t, d.electorate(), time.Now(), permitFor)
		if errors.Is(err, approval.ErrNotFound) {
			continue
		}
		if r.Won {
			d.won++
		}
		if d.decided != nil {
			d.decided()
		}
		return r, err
	}
	return approval.Receipt{}, approval.ErrNotFound
}

// Taps returns the taps that the desk took, in order.
func (d *Desk) Taps() []approval.Tap {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.taps)
}

// heardSince returns when the taps after the first n came.
func (d *Desk) heardSince(n int) []time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.heard[n:])
}

// failing reports whether every call fails.
func (d *Desk) failing() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.fail != nil
}

// Won returns how many taps decided something.
func (d *Desk) Won() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.won
}

// Pending yields the cards that wait.
func (d *Desk) Pending(_ context.Context, channel string) iter.Seq2[approval.Card, error] {
	d.mu.Lock()
	defer d.mu.Unlock()
	fail := d.fail
	var cards []approval.Card
	for _, a := range d.asks {
		if a.Waiting() {
			cards = append(cards, d.picture(a, channel))
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

// Waiting yields the asks that wait.
func (d *Desk) Waiting(ctx context.Context) iter.Seq2[approval.Waiting, error] {
	return func(yield func(approval.Waiting, error) bool) {
		for c, err := range d.Pending(ctx, "") {
			if !yield(approval.Waiting{Ask: c.Ask, Agent: c.Agent}, err) {
				return
			}
		}
	}
}

// Route sets the routing by which Awaits answers.
func (d *Desk) Route(r approval.Routing) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.routing = r
}

// Awaits reports whether the card waits for the person.
func (d *Desk) Awaits(c approval.Card, id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return c.Awaits(id, d.routing.Electorate(c.Routes, c.Agent, func(id string) (string, bool) {
		return d.routing.Human(id), d.may == nil || d.may(id)
	}).With(c.Handed))
}

// Look records that somebody may miss the card of an ask.
func (d *Desk) Look(_ context.Context, id approval.AskID, _ string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.looked = append(d.looked, id)
	return d.fail
}

// Looked returns the asks whose cards were looked for, in order.
func (d *Desk) Looked() []approval.AskID {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.looked)
}

// Opened records a sign that a channel accepts messages.
func (d *Desk) Opened(channel string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opened = append(d.opened, channel)
}

// Openings returns the channels that were reported to accept messages, in order.
func (d *Desk) Openings() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.opened)
}

// Card returns the card of an ask.
func (d *Desk) Card(_ context.Context, id approval.AskID, channel string) (approval.Card, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, a := range d.asks {
		if a.ID == id {
			return d.picture(a, channel), d.fail
		}
	}
	return approval.Card{}, approval.ErrNotFound
}

// Reveal records that a person is shown the masked values.
func (d *Desk) Reveal(_ context.Context, id approval.AskID, by approval.Person, channel string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, a := range d.asks {
		if a.ID == id {
			a.Revealed = &approval.Act{By: by, Channel: channel, At: time.Now()}
			return d.fail
		}
	}
	return approval.ErrNotFound
}

// Revealed returns the card with the masked values that decide what its calls do.
func (d *Desk) Revealed(_ context.Context, id approval.AskID, channel string) (approval.Card, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, a := range d.asks {
		if a.ID == id {
			return approval.NewRevealedCard(*a, channel, d.masker), d.fail
		}
	}
	return approval.Card{}, approval.ErrNotFound
}

// Adopt accepts the message as the card of an ask that ended without one.
func (d *Desk) Adopt(_ context.Context, id approval.AskID, channel, ref string) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, a := range d.asks {
		if s := a.On(channel); a.ID == id && s != nil && s.Ref == "" && !a.Waiting() {
			s.Ref = ref
			return true, d.fail
		}
	}
	return false, d.fail
}

// Find returns the ask whose id has the given prefix.
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

// Refuse puts steps on the desk that were refused without an ask.
func (d *Desk) Refuse(steps ...approval.Step) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.vetoes = append(d.vetoes, steps...)
}

// Why returns the card of an ask or of a veto.
func (d *Desk) Why(ctx context.Context, id, channel string) (approval.Card, error) {
	d.mu.Lock()
	for _, s := range d.vetoes {
		if string(approval.VetoID(s.ID)) == id {
			defer d.mu.Unlock()
			return approval.NewVetoCard(s, d.masker), d.fail
		}
	}
	d.mu.Unlock()
	a, err := d.Find(ctx, id)
	if err != nil {
		return approval.Card{}, err
	}
	return d.Card(ctx, a.ID, channel)
}

// Fail makes every call fail, or none if err is nil.
func (d *Desk) Fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail = err
}

// Change changes asks the way the dispatcher does.
func (d *Desk) Change(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

// State returns how the ask's first call stands.
func (d *Desk) State(a *approval.Ask) approval.State { return d.states(a)[0] }

// states returns how the ask's calls stand.
func (d *Desk) states(a *approval.Ask) (all []approval.State) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range a.Approvals {
		all = append(all, a.Approvals[i].State)
	}
	return all
}

// Picture returns the ask's card as it stands.
func (d *Desk) Picture(a *approval.Ask, channel string) approval.Card {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.picture(a, channel)
}

func (d *Desk) picture(a *approval.Ask, channel string) approval.Card {
	c, e := approval.NewCard(*a, channel, d.masker), d.electorate()
	c.WantPasskey(&e, false)
	c.ShowDigits(&e, channel)
	return c
}

// electorate lets each person decide alone, with a passkey if one is held.
func (d *Desk) electorate() approval.Electorate {
	e := approval.Everybody()
	e.Holder, e.Match = d.holder, d.match
	return e
}

// Reach makes the inbox reachable from everywhere: the worst calls require its digits on a
// chat, and a chat's digits in the inbox.
func (d *Desk) Reach() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.match = approval.Match{Channel: inbox, Reader: "web:owner", Reached: true, Secret: approval.Secret{2}}
}

// inbox and chat are the sides that show digits.
const inbox, chat = "web", "telegram"

// Hand makes somebody, away from the channel, the holder of a passkey.
func (d *Desk) Hand(holder string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.holder = holder
}
