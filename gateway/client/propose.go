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

// typeStopping is the type of the problem that a daemon answers with while it
// ends.
const typeStopping = "/problems/stopping"

// Request is one call to propose.
type Request struct {
	Proposal Proposal
	// Key is the idempotency key, 1 to 200 visible ASCII characters; empty
	// leaves it to the proposal's turn and step.
	Key string
	// Wait is how long to wait for a person, at most 10 minutes.
	Wait time.Duration
	// Answer is what the agent says to a question about the call, at most 2,000
	// characters.
	Answer string
	// ResumeURL is told how the call ended, where it waits for a person and nobody
	// waits here: Wait is 0 then. It begins with an address that the owner's policy
	// lists under resume_urls.
	ResumeURL string
}

// proposed is the body of a proposal.
type proposed struct {
	Proposal

	Answer string `json:"answer,omitzero"`
	Resume string `json:"resume_url,omitzero"`
}

// Propose proposes the call and returns the answer as it is after at most
// r.Wait. A daemon that goes away may be in the middle of a restart: Propose asks
// again for up to 30 s, and the call's key lets it come back to what it asked. One
// that was not there from the start is hoped for 5 s.
// Judges that take longer are asked again, without end where r.Wait is 0.
// A call without a key, or a turn and a step, whose connection was cut is not
// proposed again, for the daemon may have taken it.
// Errors: [ErrNotRunning], [*ProblemError], [*TransportError], ctx's.
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

// again reports whether the call may be proposed once more after the error: the
// daemon is ending, or the connection came to nothing. What the daemon answered
// otherwise is the answer.
func (r *Request) again(err error) bool {
	if p, ok := errors.AsType[*ProblemError](err); ok {
		return p.Type == typeStopping
	}
	return errors.Is(err, ErrNotRunning) || r.keyed() && broken(err)
}

// judgesPause lies before a call is put again whose judges have not answered yet:
// what they say by then is waiting for it.
const judgesPause = time.Second

// unjudged reports whether the judges have not answered, and would be met again.
func (r *Request) unjudged(a *Answer) bool {
	return a.Decision == Pending && a.Approval == nil && r.keyed()
}

// keyed reports whether a repeat finds what was asked before.
func (r *Request) keyed() bool { return r.Key != "" || r.Proposal.TurnID != "" && r.Proposal.Step > 0 }

// broken reports whether the connection ended before the answer did.
func broken(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || ok && op.Op != "dial" && !op.Timeout()
}

// absence is the time in which a daemon is away. Its zero value is ready.
type absence struct {
	since time.Time
	next  time.Duration
	met   bool // it was there before it went
}

// hope is how long a daemon may stay away: most that were never met do not run.
func (a *absence) hope() time.Duration {
	const never = 5 * time.Second
	if a.met {
		return patience
	}
	return never
}

// pause rests until the daemon may be back. It reports false when that is too
// late: err then says more than the end of ctx would.
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
