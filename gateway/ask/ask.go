// Package ask takes one call through the gate on behalf of hooks and proxies: it proposes
// the call, waits for the decision, and redeems the permit before the call goes on. Every
// failure is a refusal.
package ask

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/metnos/vaglio/gateway/client"
)

// Gate is the agent's side of the gate; a *[client.Client] is one.
type Gate interface {
	Propose(ctx context.Context, r client.Request) (client.Answer, error)
	Await(ctx context.Context, id client.ID, wait time.Duration) (client.Answer, error)
	Withdraw(ctx context.Context, id client.ID) (client.Answer, error)
	Redeem(ctx context.Context, permit string, call client.Proposal) error
	Report(ctx context.Context, id client.ID, o client.Outcome) error
}

// Call is one call to ask about.
type Call struct {
	Proposal client.Proposal
	// Key identifies this call alone; at most [LongestKey] visible ASCII characters.
	Key string
	// Until is the time by which the agent must have an answer.
	Until time.Time
	// Held, if set, is called once when the call starts to wait for a person.
	Held func(id client.ID)
	// Answer, if set, returns what the agent has said since it was told that a person asked
	// something about the call, or "" if that is not known.
	Answer func(q client.Question) string
	// Edits says that the caller can make the call with other arguments than those proposed. If
	// a person edits the call, the edited form is then used instead.
	Edits bool
}

// Ruling is what became of a call.
type Ruling struct {
	// Run says that the call may run now, once.
	Run bool
	// Approval is the approval that a person was asked about, empty if nobody was asked.
	Approval client.ID
	// Text tells the agent why the call does not run.
	Text string
	// Words are what the person who allowed the call said.
	Words string
	// Edited are the arguments the call must run with if a person changed them; nil means those
	// that were proposed.
	Edited map[string]any
}

// LongestKey is the maximum length of a call's key. It leaves room for the number of a
// repeated attempt.
const LongestKey = 190

const (
	// withdrawWithin bounds withdrawing a question that nobody waits for any more.
	withdrawWithin = 2 * time.Second
	// reportWithin bounds reporting how a call ended.
	reportWithin = 5 * time.Second
	// attempts is how often a call is proposed when equal calls keep spending its permit.
	attempts = 5
)

// Ask takes the call through the gate until it is refused or its permit has been redeemed for
// it. If ctx is cancelled, Ask withdraws the question, since nobody wants the answer any more,
// and returns ctx's error. A deadline of ctx only limits how long the agent can wait for an
// answer.
func Ask(ctx context.Context, g Gate, c Call) (Ruling, error) {
	if tell := c.Held; tell != nil {
		var first sync.Once
		c.Held = func(id client.ID) { first.Do(func() { tell(id) }) }
	}
	for n := range attempts {
		key := c.Key
		if n > 0 { // An equal call has spent the permit: one yes covers one call.
			key += "." + strconv.Itoa(n)
		}
		r, again, err := once(ctx, g, c, key)
		if err != nil || !again {
			return r, err
		}
	}
	return refuse("equal calls kept using up its permits; repeat the same call"), nil
}

func once(ctx context.Context, g Gate, c Call, key string) (r Ruling, again bool, err error) {
	a, err := propose(ctx, g, c, key)
	if err != nil {
		return refuse(failure(err)), false, cancelled(ctx)
	}
	if a.Decision != client.Pending {
		return settle(ctx, g, c, a)
	}
	if a.Approval == nil || a.Approval.ID == "" {
		return refuse(strange), false, nil
	}
	id := a.Approval.ID
	if c.Held != nil {
		c.Held(id)
	}
	if !a.Asked() {
		a, err = g.Await(ctx, id, max(0, time.Until(c.Until)))
	}
	return awaited(ctx, g, c, id, a, err)
}

// awaited handles the answer after the wait for a person. If the person asked something, the
// question goes to the agent while the call stays pending.
func awaited(ctx context.Context, g Gate, c Call, id client.ID, a client.Answer, err error) (r Ruling, again bool, ended error) {
	switch {
	case cancelled(ctx) != nil:
		withdraw(ctx, g, id)
		return Ruling{Approval: id}, false, ctx.Err()
	case err != nil && ctx.Err() == nil:
		return held(failure(err), id), false, nil
	case err == nil && a.Asked():
		return Ruling{Approval: id, Text: a.Text}, false, nil
	case err != nil, a.Decision == client.Pending:
		return held("nobody has answered yet", id), false, nil
	}
	return settle(ctx, g, c, a)
}

// propose proposes the call, and proposes it again with the agent's answer if a question is open.
func propose(ctx context.Context, g Gate, c Call, key string) (client.Answer, error) {
	r := client.Request{Proposal: c.Proposal, Key: key}
	a, err := g.Propose(ctx, r)
	if q := a.Question; err == nil && q != nil && q.Repeated && c.Answer != nil {
		if r.Answer = c.Answer(*q); r.Answer != "" {
			return g.Propose(ctx, r)
		}
	}
	return a, err
}

// settle turns a final answer into a ruling. Only an approval without a permit, or a permit
// that is redeemed, lets the call run; anything unrecognised is a refusal.
func settle(ctx context.Context, g Gate, c Call, a client.Answer) (r Ruling, again bool, err error) {
	switch {
	case a.Decision == client.Allow && a.Permit == nil && a.Verdict.Approved:
		return Ruling{Run: true}, false, cancelled(ctx)
	case a.Decision == client.Allow && a.Permit != nil && a.Approval != nil:
		return redeem(ctx, g, c, a)
	case a.Decision == client.Deny && c.takes(a.Edited):
		return reform(ctx, g, c, a)
	case a.Decision == client.Deny:
		return denied(a), false, nil
	default:
		return refuse(strange), false, nil
	}
}

// denied returns the refusal of a denied call.
func denied(a client.Answer) Ruling {
	if a.Text == "" {
		return refuse("vaglio refused it without a reason")
	}
	return Ruling{Text: a.Text}
}

// takes reports whether the caller can make the call in the form that a person edited.
func (c *Call) takes(e *client.Edited) bool {
	return c.Edits && e != nil && e.Args != nil && e.Executor == c.Proposal.Executor
}

// reform proposes the call as a person edited it. If the edited form may not run at once, the
// agent is told what the person wants.
func reform(ctx context.Context, g Gate, c Call, a client.Answer) (r Ruling, again bool, err error) {
	told := Ruling{Text: a.Text}
	form := c
	form.Edits, form.Proposal.Args = false, a.Edited.Args
	// A key of its own keeps the edited call apart from the original.
	b, err := g.Propose(ctx, client.Request{Proposal: form.Proposal, Key: c.Key + ".edited"})
	if err != nil || b.Decision != client.Allow {
		return told, false, cancelled(ctx)
	}
	if r, _, err = settle(ctx, g, form, b); err != nil || !r.Run {
		return told, false, err
	}
	r.Edited = form.Proposal.Args
	return r, false, nil
}

// redeem spends the permit of an allowed call. again reports that an equal call already spent it.
func redeem(ctx context.Context, g Gate, c Call, a client.Answer) (r Ruling, again bool, err error) {
	err = g.Redeem(ctx, a.Permit.Permit, c.Proposal)
	if p, ok := errors.AsType[*client.ProblemError](err); ok && p.Type == "/problems/spent" {
		return r, true, nil
	}
	if err != nil {
		return refuse("it was allowed, but its permit could not be redeemed: " + failure(err)), false, cancelled(ctx)
	}
	return Ruling{Run: true, Approval: a.Approval.ID, Words: a.Approval.Words}, false, nil
}

// cancelled returns ctx's error, unless that is only a deadline that has passed.
func cancelled(ctx context.Context) error {
	if err := ctx.Err(); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// strange explains an answer that must come from another version of the daemon.
const strange = "vaglio gave an answer that this version does not understand"

func refuse(why string) Ruling { return Ruling{Text: "vaglio: this call did not run: " + why} }

func held(why string, id client.ID) Ruling {
	r := refuse(fmt.Sprintf("held as %s: %s. Repeat the same call after the answer, which then counts for it once", id, why))
	r.Approval = id
	return r
}

// withdraw withdraws a question. If that fails, the question stays open until its deadline.
func withdraw(ctx context.Context, g Gate, id client.ID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawWithin)
	defer cancel()
	_, _ = g.Withdraw(ctx, id)
}

// Report tells the gate how the run of an allowed call ended. It does nothing if no person was
// asked. If it fails, the outcome stays unknown to the person.
func Report(ctx context.Context, g Gate, id client.ID, o client.Outcome) error {
	if id == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportWithin)
	defer cancel()
	return g.Report(ctx, id, o)
}

// failure explains an error of the gate to the agent.
func failure(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "vaglio did not answer in time"
	case errors.Is(err, context.Canceled):
		return "it was stopped"
	}
	p, ok := errors.AsType[*client.ProblemError](err)
	switch {
	case ok && p.TooLarge():
		return p.Detail + "; make the call smaller, such as by writing a long file in several parts"
	case ok && p.Field != "":
		return p.Detail + " (" + p.Field + ")"
	}
	return err.Error()
}
