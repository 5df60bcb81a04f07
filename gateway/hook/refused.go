package hook

import (
	"context"
	"os"
	"path/filepath"

	"github.com/metnos/vaglio/gateway/ask"
	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/internal/strictjson"
)

// refused handles a call that the client's own gate refused. If a person had allowed the call,
// it has ended, and refused reports that. Otherwise it puts the call to a person and tells the
// model that it may repeat the call, which then waits for the answer. If the client does not
// support that, the call only appears in the digest. If anything fails, the client's refusal
// stands.
func (h *hook) refused(ctx context.Context, e *event) reply {
	if h.report(ctx, e) {
		return h.dialect.heard()
	}
	ctx, cancel := context.WithTimeout(ctx, reportWithin)
	defer cancel()
	h.complete(e)
	if h.dialect.again == nil {
		e.proposal.Context.Concerns = []client.Concern{client.ClientFinal}
		_, _ = h.Gate.Propose(ctx, client.Request{Proposal: e.proposal, Key: "final:" + digest(e.key())})
		return h.dialect.heard()
	}
	mark := h.mark(e)
	if mark == "" || os.MkdirAll(h.Notes, 0o700) != nil {
		return h.dialect.heard()
	}
	e.proposal.Context.Concerns = []client.Concern{client.ClientRefused}
	a, err := h.Gate.Propose(ctx, client.Request{Proposal: e.proposal, Key: "refused:" + digest(e.key())})
	if err != nil || a.Decision == client.Deny || a.Approval == nil {
		return h.dialect.heard()
	}
	h.forget()
	if os.WriteFile(mark, []byte(e.proposal.Context.Refusal), 0o600) != nil {
		return h.dialect.heard()
	}
	return h.dialect.again()
}

// settle answers a question that the client's own gate would ask its user. A call that a person
// has just allowed needs no second yes. Any other goes through the gate, and what is not
// allowed there does not run.
func (h *hook) settle(ctx context.Context, e *event) reply {
	if h.allowedNow(e) {
		return h.dialect.settle(true, "")
	}
	h.complete(e)
	e.proposal.Context.Concerns = []client.Concern{client.ClientAsks}
	ctx, watch, leave := attend(ctx, h.Out)
	defer leave()
	r, err := ask.Ask(ctx, h.Gate, ask.Call{
		Proposal: e.proposal, Key: "asks:" + digest(e.key(), e.command()), Until: h.answerBy, Held: func(client.ID) { watch() },
	})
	if err != nil {
		r.Text, r.Run = "vaglio: this call did not run: the hook was stopped", false
	}
	if r.Run && e.call != "" {
		h.note(e, r.Approval)
	}
	return h.dialect.settle(r.Run, fit(r.Text))
}

// allowedNow reports whether a person has just allowed the call, before the client's own gate
// looked at it. One yes answers that gate once. If that gate names the call, its command must
// match too: a call may make up a command while it runs, which nobody has judged.
func (h *hook) allowedNow(e *event) bool {
	what, command := e.what(), e.command()
	for _, name := range h.names() {
		n, ok := h.read(name)
		same := what != "" && n.What == what || e.named && n.Call == e.call && command != "" && n.Command == command
		if !ok || n.Answered || n.Session != e.session || !same {
			continue
		}
		used, err := os.OpenFile(h.settled(name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			return used.Close() == nil
		}
	}
	return false
}

// settled returns the file that marks a note as used to answer the client's own gate.
func (h *hook) settled(note string) string { return filepath.Join(h.Notes, "settled."+note) }

// mark returns the file that marks an equal call of the session as refused by the client's own
// gate, so that a person is asked about the next one; "" if there can be none.
func (h *hook) mark(e *event) string {
	args, err := strictjson.Canonical(e.proposal.Args)
	if h.Notes == "" || err != nil {
		return ""
	}
	return filepath.Join(h.Notes, "refused."+digest(e.proposal.Context.Client, e.session, e.proposal.Executor, string(args)))
}

// recall tells the gate that the client's own gate refused an equal call before. It returns a
// function to call once a person's yes lets the call run, because that yes serves only this call.
func (h *hook) recall(e *event) (ran func()) {
	mark := h.mark(e)
	why, err := os.ReadFile(mark) //nolint:gosec // Its name is a digest.
	if err != nil {
		return func() {}
	}
	e.proposal.Context.Concerns, e.proposal.Context.Refusal = []client.Concern{client.ClientRefused}, string(why)
	return func() { _ = os.Remove(mark) }
}
