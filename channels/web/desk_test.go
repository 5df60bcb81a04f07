package web_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/channels/web"
	"github.com/metnos/vaglio/vaglio"
)

// desk is a small dispatcher in memory. It keeps the promises on which the inbox rests: one
// tap decides, the card follows from the state, and every change ticks.
type desk struct {
	// digest is every day's digest; nil means one with texts that others wrote.
	digest *report.Digest

	// voters are those who may decide; if nil, each person decides alone.
	voters   *approval.Electorate
	mu       sync.Mutex
	asks     []approval.Ask
	entries  []approval.Entry
	watchers map[chan struct{}]bool
	taps     []approval.Tap
	proposed []vaglio.Proposal
	answers  map[string]approval.Answer
	orders   []approval.Order
	edits    []approval.Editing
	brakes   []approval.Brake
	granted  []approval.Approval
	unread   approval.UnreadParts
	// fail, if set, is what every call returns.
	fail error
	// readings counts how often statistics were read.
	readings int
	// revealed counts how often masked values were read.
	revealed int
	// seers are the people to whom those were to be shown.
	seers []approval.Person
	// looked is what a judge agent did, if one did anything.
	looked *vaglio.Judgement
	// frozen makes every write fail the test.
	frozen *testing.T
}

func newDesk() *desk {
	return &desk{watchers: map[chan struct{}]bool{}, answers: map[string]approval.Answer{}}
}

func token(id approval.ID, ask approval.AskID, c approval.Choice) approval.Token {
	return approval.Token(fmt.Sprintf("TOKEN-%s-%s-%s", cmp.Or(string(id), "all"), ask, c))
}

func card(a approval.Ask) approval.Card {
	return approval.NewCard(a, web.Name, approval.NewMasker(approval.Secret{1}))
}

func (d *desk) Decide(ctx context.Context, t approval.Tap) (approval.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return approval.Receipt{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.written("Decide")
	d.taps = append(d.taps, t)
	if d.fail != nil {
		return approval.Receipt{}, d.fail
	}
	for i := range d.asks {
		voters := approval.Everybody()
		if d.voters != nil {
			voters = *d.voters
		}
		r, err := d.asks[i].Vote(t, voters, time.Now(), 10*time.Minute)
		if !errors.Is(err, approval.ErrNotFound) {
			d.tick()
			return r, err
		}
	}
	return approval.Receipt{}, fmt.Errorf("token: %w", approval.ErrNotFound)
}

func (d *desk) Waiting(context.Context) iter.Seq2[approval.Waiting, error] {
	d.mu.Lock()
	defer d.mu.Unlock()
	asks, fail := slices.Clone(d.asks), d.fail
	return func(yield func(approval.Waiting, error) bool) {
		if fail != nil {
			yield(approval.Waiting{}, fail)
			return
		}
		for _, a := range asks {
			if a.Waiting() && !yield(approval.Waiting{Ask: a.ID, Agent: a.Agent}, nil) {
				return
			}
		}
	}
}

func (d *desk) Card(_ context.Context, id approval.AskID, channel string) (approval.Card, error) {
	a, err := d.find(func(a *approval.Ask) bool { return a.ID == id && channel == web.Name })
	return d.guarded(card(a)), err
}

// guarded marks the cards that need a passkey if the voters hold one, and shows the digits
// that a yes on a chat takes from them.
func (d *desk) guarded(c approval.Card) approval.Card {
	if d.voters != nil {
		c.WantPasskey(d.voters, true)
		c.ShowDigits(d.voters, web.Name)
	}
	return c
}

// Reveal records who is shown what.
func (d *desk) Reveal(_ context.Context, id approval.AskID, by approval.Person, _ string) error {
	_, err := d.find(func(a *approval.Ask) bool { return a.ID == id })
	d.change(func() { d.seers = append(d.seers, by) })
	return err
}

func (d *desk) Revealed(_ context.Context, id approval.AskID, channel string) (approval.Card, error) {
	d.change(func() { d.revealed++ })
	a, err := d.find(func(a *approval.Ask) bool { return a.ID == id && channel == web.Name })
	return approval.NewRevealedCard(a, web.Name, approval.NewMasker(approval.Secret{1})), err
}

func (d *desk) Find(_ context.Context, id string) (approval.Ask, error) {
	return d.find(func(a *approval.Ask) bool {
		return string(a.ID) == id || a.Find(approval.ID(id)) != nil || len(id) > 3 && strings.HasPrefix(string(a.ID), id)
	})
}

// Why knows one veto, in a turn or in none, in addition to the asks.
func (d *desk) Why(ctx context.Context, id, channel string) (approval.Card, error) {
	for _, turn := range []string{"t-1", ""} {
		s := approval.Step{
			ID: "step/" + turn, Proposal: vaglio.Proposal{Agent: "bot", TurnID: turn, Executor: "shell_exec"},
			Verdict: &vaglio.Verdict{BlockedBy: vaglio.PhaseGuard, Rule: &vaglio.GuardRule{ID: "tree.root"}},
		}
		if string(approval.VetoID(s.ID)) == id {
			return approval.NewVetoCard(s, approval.NewMasker(approval.Secret{1})), nil
		}
	}
	a, err := d.Find(ctx, id)
	if err != nil {
		return approval.Card{}, err
	}
	return d.Card(ctx, a.ID, channel)
}

func (d *desk) find(is func(*approval.Ask) bool) (approval.Ask, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return approval.Ask{}, d.fail
	}
	for i := range d.asks {
		if is(&d.asks[i]) {
			a := d.asks[i]
			a.Approvals = slices.Clone(a.Approvals)
			return a, nil
		}
	}
	return approval.Ask{}, approval.ErrNotFound
}

func (d *desk) History(_ context.Context, f approval.Filter) (approval.Page, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return approval.Page{}, d.fail
	}
	var found approval.Page
	for _, e := range slices.Backward(d.entries) {
		if e.Step.Approval != "" {
			for i := range d.asks {
				if a := d.asks[i].Find(e.Step.Approval); a != nil {
					e.Approval = a
				}
			}
		}
		if f.Before != 0 && e.Cursor >= f.Before || !f.Fits(&e) || !f.Finds(&e) {
			continue
		}
		if len(found.Entries) == f.Limit {
			found.Older = found.Entries[f.Limit-1].Cursor
			break
		}
		found.Entries = append(found.Entries, e)
	}
	return found, nil
}

func (d *desk) Steps(_ context.Context, q approval.TurnQuery) (approval.TurnPage, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	page := approval.TurnPage{Unread: d.unread}
	for _, e := range d.entries {
		if e.Step.Proposal.Agent == q.Agent && e.Step.Proposal.TurnID == q.Turn && (q.Before == 0 || e.Cursor < q.Before) {
			page.Steps = append(page.Steps, e.Step)
		}
	}
	if n := len(page.Steps); n > 100 { // more than a page, for this test's desk
		page.Older = 100
	}
	return page, d.fail
}

func (d *desk) Watch(ctx context.Context) <-chan struct{} {
	c := make(chan struct{}, 1)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.watchers[c] = true
	context.AfterFunc(ctx, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.watchers, c)
		close(c)
	})
	return c
}

func (d *desk) Propose(_ context.Context, agent string, p vaglio.Proposal) (approval.Answer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.written("Propose")
	if p.Agent != agent {
		return approval.Answer{}, errors.New("the proposal names another agent")
	}
	d.proposed = append(d.proposed, p)
	a, ok := d.answers[p.Executor]
	if !ok {
		return a, &web.InputError{Err: errors.New(`field "/executor" names no tool of the catalog`)}
	}
	return a, nil
}

func (d *desk) written(what string) {
	if d.frozen != nil {
		d.frozen.Errorf("%s was called, though nothing may change", what)
	}
}

// tapped returns the taps so far.
func (d *desk) tapped() []approval.Tap {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.taps)
}

// lastTap returns the latest tap.
func (d *desk) lastTap() approval.Tap {
	taps := d.tapped()
	return taps[len(taps)-1]
}

// state returns the state of an approval.
func (d *desk) state(id approval.ID) approval.State {
	a, err := d.find(func(a *approval.Ask) bool { return a.Find(id) != nil })
	if err != nil {
		return ""
	}
	return a.Find(id).State
}

// tick tells the watchers; d.mu is held.
func (d *desk) tick() {
	for c := range d.watchers {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// change runs f on the desk and tells the watchers.
func (d *desk) change(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
	d.tick()
}

// Order records what was ordered.
func (d *desk) Order(_ context.Context, o approval.Order) (approval.Done, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return approval.Done{}, d.fail
	}
	if o.Agent == "nobody" {
		return approval.Done{}, &approval.OrderError{Key: approval.OrderAgent, Value: o.Agent}
	}
	d.orders = append(d.orders, o)
	return approval.Done{Order: o}, nil
}

// Granted returns the desk's grants.
func (d *desk) Granted(context.Context, string) ([]approval.Approval, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.granted, d.fail
}

// Brakes returns the desk's brakes.
func (d *desk) Brakes(context.Context) ([]approval.Brake, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.brakes, d.fail
}

// Edit changes a command, as a dispatcher would.
func (d *desk) Edit(_ context.Context, e approval.Editing) (approval.Edited, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return approval.Edited{}, d.fail
	}
	for i := range d.asks {
		p := d.asks[i].Find(e.ID)
		if p == nil {
			continue
		}
		m := approval.NewMasker(approval.Secret{1})
		now, changed, err := e.Change(p.Proposal, m)
		if err != nil {
			return approval.Edited{}, err
		}
		d.edits = append(d.edits, e)
		a := *p
		a.Proposal = now
		edited := approval.Edited{Was: approval.NewItem(*p, m), Now: approval.NewItem(a, m), Changed: changed, Print: "the-print", Done: e.Seen == "the-print"}
		if e.Seen != "" && !edited.Done {
			return edited, &approval.OrderError{Key: approval.OrderShown, Value: string(e.ID)}
		}
		return edited, nil
	}
	return approval.Edited{}, approval.ErrNotFound
}
