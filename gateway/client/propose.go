package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
)

// typeStopping is the problem type of a daemon that is shutting down.
const typeStopping = "/problems/stopping"

// Request is one call to propose.
type Request struct {
	Proposal Proposal
	// Key is the idempotency key, 1 to 200 visible ASCII characters. If empty, the proposal's
	// turn and step identify the call.
	Key string
	// Wait is how long to wait for a person, at most 10 minutes.
	Wait time.Duration
	// Answer is the agent's answer to a question about the call, at most 2,000 characters.
	Answer string
	// ResumeURL is told how the call ended if it waits for a person and the caller does not
	// wait, that is, if Wait is 0. It must begin with an address listed under resume_urls in the
	// owner's policy.
	ResumeURL string
}

// proposed is the body of a proposal request.
type proposed struct {
	Proposal

	Answer string `json:"answer,omitzero"`
	Resume string `json:"resume_url,omitzero"`
}

// Propose proposes the call and returns the answer as it stands after at most r.Wait.
//
// If the daemon goes away, it may be restarting: Propose retries for up to 30 s, and the
// call's key lets it find what it asked before. A daemon that was never there gets 5 s.
// While the judges have not answered, Propose keeps asking until r.Wait is over, or without
// end if r.Wait is 0. A call with neither a key nor a turn and step is not proposed again
// after its connection broke, because the daemon may have taken it.
//
// Errors are [ErrNotRunning], [*ProblemError], [*TransportError] or ctx's.
func (c *Client) Propose(ctx context.Context, r Request) (Answer, error) {
	body, err := strictjson.Marshal(proposed{r.Proposal, r.Answer, r.ResumeURL})
	if err != nil {
		return Answer{}, fmt.Errorf("client: encode a proposal: %w", err)
	}
	var away absence
	for until := time.Now().Add(r.Wait); ; {
		wait := max(0, time.Until(until))
		x := exchange{what: "propose", method: "POST", path: "/v1/proposals" + query(wait), body: body, key: r.Key, wait: wait}
		a, err := c.answer(ctx, x)
		if err == nil && r.unjudged(&a) && (r.Wait == 0 || wait > 0) {
			if err = rest(ctx, judgesPause); err == nil {
				continue
			}
		}
		if err == nil || !r.again(err) {
			return a, err
		}
		if !away.pause(ctx, err) {
			return a, cmp.Or(ctx.Err(), err)
		}
	}
}

// again reports whether the call may be proposed again after err: the daemon is shutting
// down, or the connection failed. Any other problem from the daemon is its answer.
func (r *Request) again(err error) bool {
	if p, ok := errors.AsType[*ProblemError](err); ok {
		return p.Type == typeStopping
	}
	return errors.Is(err, ErrNotRunning) || r.keyed() && broken(err)
}

// judgesPause is the pause before asking again about a call whose judges have not answered
// yet. Their answer is then kept for the repeated call.
const judgesPause = time.Second

// unjudged reports whether the judges have not answered yet and a repeat would find their answer.
func (r *Request) unjudged(a *Answer) bool {
	return a.Decision == Pending && a.Approval == nil && r.keyed()
}

// keyed reports whether a repeat of the call finds the earlier one.
func (r *Request) keyed() bool { return r.Key != "" || r.Proposal.TurnID != "" && r.Proposal.Step > 0 }

// broken reports whether the connection ended before the answer did.
func broken(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || ok && op.Op != "dial" && !op.Timeout()
}

// absence tracks how long a daemon has been unreachable. Its zero value is ready to use.
type absence struct {
	since time.Time
	next  time.Duration
	met   bool // it answered at least once
}

// hope is how long to wait for the daemon. One that was never reached is probably not running.
func (a *absence) hope() time.Duration {
	const never = 5 * time.Second
	if a.met {
		return patience
	}
	return never
}

// pause waits until the daemon may be back. It returns false if that would be too late;
// err then explains more than ctx's error would.
func (a *absence) pause(ctx context.Context, err error) bool {
	now := time.Now()
	a.met = a.met || !errors.Is(err, ErrNotRunning)
	if a.since.IsZero() {
		a.since, a.next = now, firstPause
	}
	d := max(a.next, retryAfter(err))
	a.next = min(2*a.next, longestPause)
	end, bounded := ctx.Deadline()
	if now.Add(d).After(a.since.Add(a.hope())) || bounded && !now.Add(d).Before(end) {
		return false
	}
	return rest(ctx, d) == nil
}
