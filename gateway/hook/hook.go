// Package hook is the gate's side of a coding agent's pre-tool hook: the
// client writes the call that it is about to make to our stdin, and does what
// our stdout says. Most clients also tell how the call ended, which the person
// who allowed it then reads.
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
	"net/http"
	"os"
	"time"

	"github.com/metnos/vaglio/gateway/client"
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
	// Err is where a client reads the reason that denies by an exit code, normally
	// stderr; nil leaves it out.
	Err io.Writer
	// Limit is how long the client waits for its hook; 0 means the one that the
	// installation writes, [LimitOf]. A client's own cap wins.
	Limit time.Duration
	// ApproveAllows has what the judges approved told as allowed: a client that
	// runs without a person refuses what nobody allows.
	ApproveAllows bool
	// Notes is the folder in which it is noted what runs, so that its end can be
	// told. Empty notes nothing.
	Notes string
	// Getenv looks up what some clients tell in the environment; nil is none.
	Getenv func(string) string
}

// Gate is the agent's side of the gate; a *[client.Client] is one.
type Gate interface {
	Propose(ctx context.Context, r client.Request) (client.Answer, error)
	Await(ctx context.Context, id client.ID, wait time.Duration) (client.Answer, error)
	Withdraw(ctx context.Context, id client.ID) (client.Answer, error)
	Redeem(ctx context.Context, permit string, call client.Proposal) error
	Report(ctx context.Context, id client.ID, o client.Outcome) error
}

const (
	// DefaultLimit is the limit that is installed where the client has no cap.
	DefaultLimit = time.Hour
	// longestMargin is how long before the limit the hook gives up waiting.
	longestMargin = 30 * time.Second
	// withdrawWithin bounds the last request of a hook whose client is gone, and
	// reportWithin the report of a run, for which the client waits.
	withdrawWithin, reportWithin = 2 * time.Second, 5 * time.Second
)

// attempts bounds how often equal calls may come first.
const attempts = 20

// errGone says that nobody reads the hook's answer any more.
var errGone = errors.New("the client no longer waits for its hook")

// Run answers one event of the client. It writes the client's own kind of answer,
// once and whole, or nothing when there is no objection, and returns the exit code
// that goes with it. ctx ends when the process is told to stop; the question is
// then withdrawn.
//
// An error means that the answer could not be told. The process must then exit
// with status 2, which the clients take for a denial.
func Run(ctx context.Context, o Options) (code int, err error) {
	d, err := dialectOf(o.Client)
	if err != nil {
		return denied, err
	}
	limit := d.limit(o.Limit)
	h := &hook{dialect: d, Options: o, answerBy: time.Now().Add(limit - margin(limit))}
	// Every step ends well before the limit, whatever the daemon does.
	ctx, cancel := context.WithDeadline(ctx, h.answerBy.Add(margin(limit)/2))
	defer cancel()
	r := h.answer(ctx, o.In)
	if o.Err != nil && r.err != "" {
		if _, err := io.WriteString(o.Err, r.err+"\n"); err != nil {
			return denied, fmt.Errorf("hook: write the reason: %w", err)
		}
	}
	if len(r.out) == 0 {
		return r.code, nil
	}
	if _, err := o.Out.Write(r.out); err != nil {
		return denied, fmt.Errorf("hook: write the answer: %w", err)
	}
	return r.code, nil
}

// denied is the exit code that most clients take for a denial.
const denied = 2

// margin is the time before the limit that is kept for answering.
func margin(limit time.Duration) time.Duration { return min(longestMargin, limit/6) }

// hook is one run.
type hook struct {
	dialect  dialect
	answerBy time.Time
	Options
}

// answer returns what to tell the client.
func (h *hook) answer(ctx context.Context, in io.Reader) (out reply) {
	defer func() {
		if v := recover(); v != nil {
			out = h.deny("its hook failed inside; please report it")
		}
	}()
	data, err := read(ctx, in)
	if err != nil {
		return h.deny("the call could not be read from the hook's input: " + err.Error())
	}
	e, err := h.dialect.decode(data, h.Getenv)
	switch {
	case err != nil:
		return h.deny(err.Error())
	case e.kind != before:
		h.report(ctx, &e)
		return h.dialect.heard()
	}
	return h.propose(ctx, &e)
}

// propose asks until the call is denied or its one permit is spent on it. A permit
// that an equal call has spent in the meantime is asked for anew: one yes serves
// one call.
func (h *hook) propose(ctx context.Context, e *event) reply {
	e.proposal.Session = e.session
	if h.Getenv != nil && h.dialect.name == "claude-code" {
		// Where the user opened the client: the model has no say in it.
		if root := h.Getenv("CLAUDE_PROJECT_DIR"); root != "" {
			e.proposal.Context.Roots = append(e.proposal.Context.Roots, root)
		}
	}
	for range attempts {
		if r, again := h.proposeOnce(ctx, e); !again {
			return r
		}
	}
	return h.deny("equal calls kept using up its permits; repeat the same call")
}

func (h *hook) proposeOnce(ctx context.Context, e *event) (r reply, again bool) {
	key := e.key()
	a, err := h.Gate.Propose(ctx, client.Request{Proposal: e.proposal, Key: key})
	if q := a.Question; err == nil && q != nil && q.Repeated {
		a, err = h.answerQuestion(ctx, e, key, a)
	}
	if err != nil {
		return h.deny(failure(err)), false
	}
	if a.Decision == client.Pending {
		if a.Approval == nil {
			return h.deny(strange), false
		}
		return h.held(ctx, e, a)
	}
	return h.tell(ctx, e, a)
}

// strange explains an answer that only another version of the daemon gives.
const strange = "vaglio gave an answer that its hook does not understand"

// wait waits for the person, for as long as the client is there.
func (h *hook) wait(ctx context.Context, e *event, id client.ID) (r reply, again bool) {
	attended, leave := attend(ctx, h.Out)
	a, err := h.Gate.Await(attended, id, max(0, time.Until(h.answerBy)))
	gone := context.Cause(attended)
	leave()
	switch {
	case errors.Is(gone, errGone), errors.Is(gone, context.Canceled):
		h.withdraw(ctx, id)
		return h.deny("the question " + string(id) + " was withdrawn, because the hook was stopped"), false
	case err == nil && a.Asked():
		return h.dialect.deny(h.dialect.fit(a.Text)), false
	case errors.Is(gone, context.DeadlineExceeded), err == nil && a.Decision == client.Pending:
		return h.deny(fmt.Sprintf("held as %s, because nobody has answered yet; repeat the same call after the answer, which then counts for it once", id)), false
	case err != nil:
		return h.deny(fmt.Sprintf("%s (held as %s; repeat the same call after the answer)", failure(err), id)), false
	}
	return h.tell(ctx, e, a)
}

// withdraw takes the question back. Should that fail, the daemon notices by
// itself that nobody waits.
func (h *hook) withdraw(ctx context.Context, id client.ID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawWithin)
	defer cancel()
	_, _ = h.Gate.Withdraw(ctx, id)
}

// tell turns a decided answer into the client's words. Only two answers let
// the call run; what is neither is a denial, whatever it says. It is asked again
// when another call has spent the permit.
func (h *hook) tell(ctx context.Context, e *event, a client.Answer) (r reply, again bool) {
	switch {
	case a.Decision == client.Allow && a.Permit == nil && a.Verdict.Approved:
		if h.ApproveAllows {
			return h.dialect.allow("vaglio's judges approved this call.", ""), false
		}
		return h.dialect.pass(), false
	case a.Decision == client.Allow && a.Permit != nil && a.Approval != nil:
		return h.redeem(ctx, e, a)
	case a.Decision == client.Deny && a.Text != "":
		return h.dialect.deny(h.dialect.fit(a.Text)), false
	case a.Decision == client.Deny:
		return h.deny("vaglio refused it without a reason"), false
	default:
		return h.deny(strange), false
	}
}

// redeem spends the permit on the call.
func (h *hook) redeem(ctx context.Context, e *event, a client.Answer) (r reply, again bool) {
	err := h.Gate.Redeem(ctx, a.Permit.Permit, e.proposal)
	if spent(err) {
		return reply{}, true
	}
	if err != nil {
		return h.deny("it was allowed, but its permit could not be redeemed: " + failure(err)), false
	}
	h.note(e, a.Approval.ID)
	return h.allow(a.Approval), false
}

// spent reports whether a permit was redeemed before.
func spent(err error) bool {
	p, ok := errors.AsType[*client.ProblemError](err)
	return ok && p.Type == "/problems/spent"
}

func (h *hook) allow(a *client.Approval) reply {
	said := ""
	if a.Words != "" {
		said = fmt.Sprintf("The person who allowed this one call says: %q", a.Words)
	}
	reason := fmt.Sprintf("A person allowed this call, once (vaglio %s).", a.ID)
	return h.dialect.allow(h.dialect.fit(reason), h.dialect.fit(said))
}

// deny says why the call does not run.
func (h *hook) deny(why string) reply {
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
	p, ok := errors.AsType[*client.ProblemError](err)
	switch {
	case ok && p.Status == http.StatusRequestEntityTooLarge:
		return p.Detail + "; make the call smaller, such as by writing a long file in several parts"
	case ok && p.Field != "":
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
