// Package hook implements the gate's side of a coding agent's pre-tool hook: the client
// writes the call that it is about to make to our stdin, and obeys our stdout. Most clients
// also report how the call ended, for the person who allowed it to read.
//
// Nearly every client runs the tool when a hook is late, crashes or prints nothing. So this
// package denies on every failure, before the client's own time limit is over. Only a call
// that the judges approved gets no output: vaglio then has no objection, and the client's
// own rules apply. Nothing else may ever write to the process's stdout.
package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/metnos/vaglio/gateway/ask"
	"github.com/metnos/vaglio/gateway/client"
)

// Options configure one run of a hook.
type Options struct {
	// Client is the name of the coding agent, one of [Clients].
	Client string
	// Gate decides the call.
	Gate ask.Gate
	// In is what the client writes, normally stdin.
	In io.Reader
	// Out is what the client reads, normally stdout. If it is a file, the hook notices when its
	// reader goes away.
	Out io.Writer
	// Err is where clients that are denied by exit code read the reason, normally stderr; nil
	// drops it.
	Err io.Writer
	// Limit is how long the client waits for its hook; 0 means what the installation writes,
	// [LimitOf]. A client's own cap wins.
	Limit time.Duration
	// ApproveAllows reports calls that the judges approved as allowed, because a client that
	// runs without a person refuses what nobody allows.
	ApproveAllows bool
	// Notes is the folder for notes about running calls, which are needed to report how they
	// ended. If empty, none are kept.
	Notes string
	// Shadow, if not empty, is the folder in which calls are only recorded: each call passes,
	// and nobody is asked.
	Shadow string
	// Getenv looks up the environment variables in which some clients pass information; it may be
	// nil.
	Getenv func(string) string
}

const (
	// DefaultLimit is the limit to install for a client without a cap.
	DefaultLimit = time.Hour
	// longestMargin is the longest time before the limit at which the hook gives up waiting.
	longestMargin = 30 * time.Second
	// reportWithin bounds the report of a run, because the client waits for it.
	reportWithin = 5 * time.Second
)

// Run answers one event of the client. It writes a single complete answer in the client's own
// form, or nothing if there is no objection, and returns the exit code that goes with it.
// ctx ends when the process is told to stop; the question is then withdrawn.
//
// An error means that the answer could not be written. The process must then exit with status
// 2, which the clients take for a denial.
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
	answer := h.answer
	if o.Shadow != "" {
		answer = h.watch
	}
	r := answer(ctx, o.In)
	if o.Err != nil && r.err != "" {
		if _, err := io.WriteString(o.Err, r.err+"\n"); err != nil {
			return denied, fmt.Errorf("hook: write the reason: %w", err)
		}
	}
	if len(r.out) == 0 {
		return r.code, nil
	}
	if o.Shadow == "" && unheard(o.Out) {
		return denied, errors.New("hook: nobody reads the answer: stdout is closed")
	}
	if _, err := o.Out.Write(r.out); err != nil {
		return denied, fmt.Errorf("hook: write the answer: %w", err)
	}
	return r.code, nil
}

// unheard reports whether nobody reads out. If stdout is closed, a Go program gets the null
// device instead, which accepts everything.
func unheard(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil {
		return true
	}
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, null)
}

// denied is the exit code that most clients take for a denial.
const denied = 2

// margin returns the part of the limit that is reserved for answering.
func margin(limit time.Duration) time.Duration { return min(longestMargin, limit/6) }

// hook is one run of the hook.
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
	if e.skill && h.dialect.skill != nil {
		h.dialect = *h.dialect.skill
	}
	switch {
	case err != nil:
		return h.deny(err.Error())
	case e.kind == rejected:
		return h.refused(ctx, &e)
	case e.kind == wondering && h.dialect.settle != nil:
		return h.settle(ctx, &e)
	case e.kind != before:
		h.report(ctx, &e)
		return h.dialect.heard()
	}
	return h.propose(ctx, &e)
}

// complete adds what the client tells outside of the call itself.
func (h *hook) complete(e *event) {
	e.proposal.Session = e.session
	if h.Getenv != nil && h.dialect.name == "claude-code" {
		// It is where the user opened the client: the model has no say in it.
		if root := h.Getenv("CLAUDE_PROJECT_DIR"); root != "" {
			e.proposal.Context.Roots = append(e.proposal.Context.Roots, root)
		}
	}
}

// propose takes the call through the gate, for as long as the client is there.
func (h *hook) propose(ctx context.Context, e *event) reply {
	h.complete(e)
	ran := h.recall(e)
	ctx, watch, leave := attend(ctx, h.Out)
	defer leave()
	r, err := ask.Ask(ctx, h.Gate, ask.Call{
		Proposal: e.proposal, Key: e.key(), Until: h.answerBy, Held: func(client.ID) { watch() },
		Edits:  h.dialect.edit != nil,
		Answer: func(q client.Question) string { return saidSince(e.transcript, q.AskedAt) },
	})
	switch {
	case err != nil && r.Approval != "":
		return h.deny("the question " + string(r.Approval) + " was withdrawn, because the hook was stopped")
	case err != nil:
		return h.deny("the hook was stopped")
	case !r.Run:
		return h.dialect.deny(fit(r.Text))
	case r.Edited != nil:
		h.note(e, r.Approval)
		ran()
		return h.edited(r)
	case r.Approval != "":
		h.note(e, r.Approval)
		ran()
		return h.allow(r)
	case h.ApproveAllows:
		return h.dialect.allow("vaglio's judges approved this call.", "")
	}
	return h.dialect.pass()
}

func (h *hook) allow(r ask.Ruling) reply {
	said := ""
	if r.Words != "" {
		said = fmt.Sprintf("The person who allowed this one call says: %q", r.Words)
	}
	reason := fmt.Sprintf("A person allowed this call, once (vaglio %s).", r.Approval)
	return h.dialect.allow(fit(reason), fit(said))
}

// edited allows the call in the form that a person wants, and tells the agent so.
func (h *hook) edited(r ask.Ruling) reply {
	said := "A person changed this call before it ran: it runs with other arguments than you proposed. Read its input."
	if r.Words != "" {
		said += fmt.Sprintf(" They say: %q", r.Words)
	}
	return h.dialect.edit(fit("A person changed this call, and allowed it in that form, once."), fit(said), r.Edited)
}

// deny denies the call and says why it does not run.
func (h *hook) deny(why string) reply {
	return h.dialect.deny(fit("vaglio: this call did not run: " + why))
}

// maxInput is the maximum size of the client's input, in bytes. It is larger than what the
// daemon accepts, because the daemon's own refusal explains more.
const maxInput = 4 << 20

// read reads in to its end. A client that never closes its input must not hold the hook
// beyond the limit, because the tool would then run.
func read(ctx context.Context, in io.Reader) ([]byte, error) {
	f, _ := in.(*os.File)
	var b bytes.Buffer
	for b.Len() <= maxInput {
		if f != nil {
			if err := readable(ctx, f); err != nil {
				return nil, errors.New("it was not complete in time")
			}
		}
		b.Grow(bytes.MinRead)
		room := b.AvailableBuffer()
		n, err := in.Read(room[:cap(room)])
		b.Write(room[:n])
		if errors.Is(err, io.EOF) {
			return b.Bytes(), nil
		}
		if err != nil {
			return nil, errors.New("it broke off")
		}
	}
	return nil, fmt.Errorf("it is larger than %d bytes", maxInput)
}

// attend returns a context that, once watch has been called, also ends when nobody reads out
// any more. The caller must call leave, which waits for the watch to end.
func attend(ctx context.Context, out io.Writer) (attended context.Context, watch, leave func()) {
	f, ok := out.(*os.File)
	if !ok {
		return ctx, func() {}, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watch = func() {
		watching.Go(func() {
			if hungUp(ctx, f) {
				cancel()
			}
		})
	}
	return ctx, watch, func() {
		cancel()
		watching.Wait()
	}
}
