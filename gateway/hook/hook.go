// Package hook is the gate's side of a coding agent's pre-tool hook: the
// client writes the call that it is about to make to our stdin, and does what
// our stdout says.
//
// Nearly every client runs the tool when a hook is late, crashes or prints
// nothing, so this package says deny on every failure, and says it before the
// client's own limit is over. The one case without output is a call that the
// judges approved: vaglio then has no objection, and the client's own rules go
// on. Nothing else may ever write to the process's stdout.
package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/vaglio"
)

// Options say how one hook runs.
type Options struct {
	// Client is the name of the coding agent, one of [Clients].
	Client string
	// Gate answers the call.
	Gate Gate
	// In is what the client writes, normally stdin.
	In io.Reader
	// Out is what the client reads, normally stdout. When it is a file, the
	// hook notices that its reader went away.
	Out io.Writer
	// Limit is how long the client waits for its hook; 0 means [DefaultLimit].
	Limit time.Duration
}

// Gate is the agent's side of the gate; a *[client.Client] is one.
type Gate interface {
	Propose(ctx context.Context, r client.Request) (approval.Answer, error)
	Await(ctx context.Context, id approval.ID, wait time.Duration) (approval.Answer, error)
	Withdraw(ctx context.Context, id approval.ID) (approval.Answer, error)
	Redeem(ctx context.Context, permit string, call vaglio.Proposal) error
}

const (
	// DefaultLimit is the limit that [Settings] installs.
	DefaultLimit = time.Hour
	// longestMargin is how long before the limit the hook gives up waiting.
	longestMargin = 30 * time.Second
	// withdrawWithin bounds the last request of a hook whose client is gone.
	withdrawWithin = 2 * time.Second
)

// errGone says that nobody reads the hook's answer any more.
var errGone = errors.New("the client no longer waits for its hook")

// Run answers one call. It writes the client's own kind of answer to o.Out,
// once and whole, or nothing when the judges approved. ctx ends when the
// process is told to stop; the question is then withdrawn.
//
// An error means that the answer could not be told. The process must then exit
// with status 2, which the clients take for a denial.
func Run(ctx context.Context, o Options) error {
	d, err := dialectOf(o.Client)
	if err != nil {
		return err
	}
	if o.Limit <= 0 {
		o.Limit = DefaultLimit
	}
	h := &hook{dialect: d, gate: o.Gate, out: o.Out, answerBy: time.Now().Add(o.Limit - margin(o.Limit))}
	// Every step ends well before the limit, whatever the daemon does.
	ctx, cancel := context.WithDeadline(ctx, h.answerBy.Add(margin(o.Limit)/2))
	defer cancel()
	answer := h.answer(ctx, o.In)
	if len(answer) == 0 {
		return nil
	}
	if _, err := o.Out.Write(answer); err != nil {
		return fmt.Errorf("hook: write the answer: %w", err)
	}
	return nil
}

// margin is the time before the limit that is kept for answering.
func margin(limit time.Duration) time.Duration { return min(longestMargin, limit/4) }

// hook is one run.
type hook struct {
	dialect  dialect
	gate     Gate
	out      io.Writer
	answerBy time.Time
}

// answer returns what to write; nothing only when the judges approved.
func (h *hook) answer(ctx context.Context, in io.Reader) (out []byte) {
	defer func() {
		if v := recover(); v != nil {
			out = h.deny("its hook failed inside; please report it")
		}
	}()
	data, err := read(ctx, in)
	if err != nil {
		return h.deny("the call could not be read from the hook's input: " + err.Error())
	}
	c, err := h.dialect.decode(data)
	if err != nil {
		return h.deny(err.Error())
	}
	a, err := h.gate.Propose(ctx, client.Request{Proposal: c.proposal, Key: c.key})
	if err != nil {
		return h.deny(failure(err))
	}
	if a.Decision == approval.RulingPending {
		if a.Approval == nil {
			return h.deny("vaglio gave an answer that its hook does not understand")
		}
		return h.wait(ctx, c, a.Approval.ID)
	}
	return h.tell(ctx, c, a)
}

// wait waits for the person, for as long as the client is there.
func (h *hook) wait(ctx context.Context, c call, id approval.ID) []byte {
	attended, leave := attend(ctx, h.out)
	a, err := h.gate.Await(attended, id, max(0, time.Until(h.answerBy)))
	gone := context.Cause(attended)
	leave()
	switch {
	case errors.Is(gone, errGone), errors.Is(gone, context.Canceled):
		h.withdraw(ctx, id)
		return h.deny("the question " + string(id) + " was withdrawn, because the hook was stopped")
	case errors.Is(gone, context.DeadlineExceeded), err == nil && a.Decision == approval.RulingPending:
		return h.deny(fmt.Sprintf("held as %s, nobody answered yet; the same call may be proposed again", id))
	case err != nil:
		return h.deny(fmt.Sprintf("%s (held as %s; the same call may be proposed again)", failure(err), id))
	}
	return h.tell(ctx, c, a)
}

// withdraw takes the question back. Should that fail, the daemon notices by
// itself that nobody waits.
func (h *hook) withdraw(ctx context.Context, id approval.ID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawWithin)
	defer cancel()
	_, _ = h.gate.Withdraw(ctx, id)
}

// tell turns a decided answer into the client's words. Only two answers let
// the call run; what is neither is a denial, whatever it says.
func (h *hook) tell(ctx context.Context, c call, a approval.Answer) []byte {
	switch {
	case a.Decision == approval.RulingAllow && a.Permit == nil && a.Verdict.Approved:
		return nil
	case a.Decision == approval.RulingAllow && a.Permit != nil && a.Approval != nil:
		if err := h.gate.Redeem(ctx, a.Permit.Permit, c.proposal); err != nil {
			return h.deny("it was allowed, but its permit could not be redeemed: " + failure(err))
		}
		return h.allow(a.Approval)
	case a.Decision == approval.RulingDeny && a.Refusal != nil:
		return h.dialect.deny(h.dialect.fit(a.Refusal.Text()))
	case a.Decision == approval.RulingDeny:
		return h.deny("vaglio refused it without a reason")
	default:
		return h.deny("vaglio gave an answer that its hook does not understand")
	}
}

func (h *hook) allow(s *approval.Summary) []byte {
	said := ""
	if s.Words != "" {
		said = fmt.Sprintf("The person who allowed this one call says: %q", s.Words)
	}
	reason := fmt.Sprintf("A person allowed this call, once (vaglio %s).", s.ID)
	return h.dialect.allow(h.dialect.fit(reason), h.dialect.fit(said))
}

// deny says why the call does not run.
func (h *hook) deny(why string) []byte {
	return h.dialect.deny(h.dialect.fit("vaglio: this call did not run: " + why))
}

// failure explains an error of the gate in words for the agent.
func failure(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "vaglio did not answer in time"
	case errors.Is(err, context.Canceled):
		return "the hook was stopped"
	}
	if p, ok := errors.AsType[*client.ProblemError](err); ok && p.Field != "" {
		return p.Detail + " (" + p.Field + ")"
	}
	return err.Error()
}

// maxInput is the greatest size of what a client may write. It is above what
// the daemon takes, whose own refusal says more.
const maxInput = 4 << 20

// read reads in to its end. A client that never ends its input must not hold
// the hook beyond the limit, where the tool would run.
func read(ctx context.Context, in io.Reader) ([]byte, error) {
	f, _ := in.(*os.File)
	var b bytes.Buffer
	chunk := make([]byte, 64<<10)
	for b.Len() <= maxInput {
		if f != nil {
			if err := readable(ctx, f); err != nil {
				return nil, errors.New("it did not come to its end in time")
			}
		}
		n, err := in.Read(chunk)
		b.Write(chunk[:n])
		if errors.Is(err, io.EOF) {
			return b.Bytes(), nil
		}
		if err != nil {
			return nil, errors.New("it broke off")
		}
	}
	return nil, fmt.Errorf("it is larger than %d bytes", maxInput)
}

// attend returns a context that also ends, with [errGone], when nobody reads
// out any more. leave must be called; it waits for the watch to end.
func attend(ctx context.Context, out io.Writer) (attended context.Context, leave func()) {
	f, ok := out.(*os.File)
	if !ok {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if hungUp(ctx, f) {
			cancel(errGone)
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-done
	}
}
