package hook

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/internal/strictjson"
)

// keepNotes is how long a note waits for the end of its run.
const keepNotes = 48 * time.Hour

// noted is what is kept of a call that runs by a person's yes, until the client
// tells how it ended. The file is named by the call and by the approval.
type noted struct {
	ID      client.ID `json:"id"`
	Session string    `json:"session"`
	Agent   string    `json:"agent,omitzero"`
	Call    string    `json:"call,omitzero"`
	// What is made of all that is known of the call, for events that do not name it.
	What string `json:"what,omitzero"`
	// Command is made of the call's command line, for a gate that looks at nothing else.
	Command string `json:"command,omitzero"`
	// Answered says that the yes was the answer to the client's own gate.
	Answered bool `json:"answered,omitzero"`
}

// callName names a call as both its events do: by the client's own name, or by all
// that is known of it.
func (e *event) callName() string {
	if e.call != "" {
		return digest(e.proposal.Context.Client, e.session, "call", e.call)
	}
	return e.what()
}

// what is equal for equal calls of a session, "" where there is none.
func (e *event) what() string {
	args, err := strictjson.Canonical(e.proposal.Args)
	if err != nil {
		return ""
	}
	return digest(e.proposal.Context.Client, e.session, "args", e.proposal.Executor, string(args))
}

// command is what is equal for equal command lines of a session, "" where there is none.
func (e *event) command() string {
	line, ok := e.proposal.Args["command"].(string)
	if !ok || line == "" {
		return ""
	}
	return digest(e.proposal.Context.Client, e.session, "command", line)
}

// note keeps that the call runs now. Where that fails its end is not told, which
// people read as such.
func (h *hook) note(e *event, id client.ID) {
	name := e.callName()
	data, err := strictjson.Marshal(noted{
		ID: id, Session: e.session, Agent: e.agent, Call: e.call, What: e.what(), Command: e.command(), Answered: e.kind == wondering,
	})
	if name == "" || err != nil || os.MkdirAll(h.Notes, 0o700) != nil {
		return
	}
	h.forget()
	_ = os.WriteFile(filepath.Join(h.Notes, name+"."+digest(string(id))[:16]), data, 0o600)
}

// forget removes notes of runs whose end was never told.
func (h *hook) forget() {
	all, _ := os.ReadDir(h.Notes)
	for _, f := range all {
		if info, err := f.Info(); err == nil && time.Since(info.ModTime()) > keepNotes {
			_ = os.Remove(filepath.Join(h.Notes, f.Name()))
		}
	}
}

// report tells how a call ended, or, at the end of a turn, of which calls nothing
// was heard: the client has not run them. Whatever fails here, the client goes on.
// It reports whether the call of the event was one that a person had allowed.
func (h *hook) report(ctx context.Context, e *event) (allowed bool) {
	if h.Notes == "" || e.later {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, reportWithin)
	defer cancel()
	if e.kind != ended {
		n, ok := h.claim(h.first(e.callName()))
		if ok {
			_ = h.Gate.Report(ctx, n.ID, e.outcome)
		}
		return ok
	}
	for _, name := range h.names() {
		n, ok := h.read(name)
		if !ok || n.Session != e.session || n.Agent != e.agent {
			continue
		}
		o, known := endOf(e.transcript, n.Call)
		if !known {
			o = client.Outcome{NotRun: true, Detail: "The agent's turn ended, and its client had not run the call: its own rules refuse it."}
		}
		if n, ok = h.claim(name); ok {
			_ = h.Gate.Report(ctx, n.ID, o)
		}
	}
	return false
}

// names are the files of the notes, the oldest first.
func (h *hook) names() []string {
	all, _ := os.ReadDir(h.Notes)
	type dated struct {
		name string
		at   time.Time
	}
	var notes []dated
	for _, f := range all {
		if info, err := f.Info(); err == nil && info.Mode().IsRegular() {
			notes = append(notes, dated{f.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(notes, func(a, b dated) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.name, b.name)) })
	names := make([]string, len(notes))
	for i := range notes {
		names[i] = notes[i].name
	}
	return names
}

// first is the oldest note of a call, "" if there is none.
func (h *hook) first(call string) string {
	for _, name := range h.names() {
		if call != "" && strings.HasPrefix(name, call+".") {
			return name
		}
	}
	return ""
}

func (h *hook) read(name string) (noted, bool) {
	var n noted
	data, err := os.ReadFile(filepath.Join(h.Notes, name)) //nolint:gosec // The name is from the folder itself.
	return n, err == nil && strictjson.UnmarshalLoose(data, &n) == nil && n.ID != ""
}

// claim takes a note, so that one report alone is made of it.
func (h *hook) claim(name string) (noted, bool) {
	if name == "" {
		return noted{}, false
	}
	n, ok := h.read(name)
	_ = os.Remove(h.settled(name))
	return n, os.Remove(filepath.Join(h.Notes, name)) == nil && ok
}
