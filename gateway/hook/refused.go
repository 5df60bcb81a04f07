package hook

import (
	"context"
	"os"
	"path/filepath"

	"github.com/metnos/vaglio/gateway/ask"
	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/internal/strictjson"
)

// refused answers a call that the client's own gate refused. One that a person had
// allowed has ended with that. Any other is put to a person, and the model is told that
// it may make the call once more, which then waits for their answer; where the client has
// no means of that, the digest tells of the call. Whatever fails here, the client's
// refusal stands.
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

// settle answers what the client's own gate would ask its user. A call that a person has
// allowed needs no second yes; any other is put to people, and what they do not allow does
// not run.
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

// allowedNow reports whether a person has allowed the call just now, before the client's
// own gate looked at it. One yes answers that gate once. A gate that names the call may
// ask about a command that the call made up while it ran, which nobody has judged.
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

// settled is the file which says that the client's own gate was answered by a note.
func (h *hook) settled(note string) string { return filepath.Join(h.Notes, "settled."+note) }

// mark is the file which says that the client's own gate has refused an equal call of
// the session, so that a person is asked about the next; "" where there can be none.
func (h *hook) mark(e *event) string {
	args, err := strictjson.Canonical(e.proposal.Args)
	if h.Notes == "" || err != nil {
		return ""
	}
	return filepath.Join(h.Notes, "refused."+digest(e.proposal.Context.Client, e.session, e.proposal.Executor, string(args)))
}

// recall adds to a call that the client's own gate has refused one equal to it. It
// returns what to do once the call runs by a person's yes, which serves that call alone.
func (h *hook) recall(e *event) (ran func()) {
	mark := h.mark(e)
	why, err := os.ReadFile(mark) //nolint:gosec // Its name is a digest.
	if err != nil {
		return func() {}
	}
	e.proposal.Context.Concerns, e.proposal.Context.Refusal = []client.Concern{client.ClientRefused}, string(why)
	return func() { _ = os.Remove(mark) }
}
