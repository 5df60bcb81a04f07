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

// keepNotes is how long a note waits for its call to end.
const keepNotes = 48 * time.Hour

// noted is the note about a call that runs because a person allowed it, kept until the client
// reports how it ended. The file's name is made of the call and the approval.
type noted struct {
	ID      client.ID `json:"id"`
	Session string    `json:"session"`
	Agent   string    `json:"agent,omitzero"`
	Call    string    `json:"call,omitzero"`
	// What identifies the call by everything known about it, for events that do not name it.
	What string `json:"what,omitzero"`
	// Command identifies the call by its command line, for a gate that looks at nothing else.
	Command string `json:"command,omitzero"`
	// Answered says that the yes was given to the client's own gate.
	Answered bool `json:"answered,omitzero"`
}

// callName identifies a call the same way before and after it runs: by the client's own ID, or
// by everything known about it.
func (e *event) callName() string {
	if e.call != "" {
		return digest(e.proposal.Context.Client, e.session, "call", e.call)
	}
	return e.what()
}

// what returns a digest that is the same for equal calls of a session, "" if there is none.
func (e *event) what() string {
	args, err := strictjson.Canonical(e.proposal.Args)
	if err != nil {
		return ""
	}
	return digest(e.proposal.Context.Client, e.session, "args", e.proposal.Executor, string(args))
}

// command returns a digest that is the same for equal command lines of a session, "" if there
// is none.
func (e *event) command() string {
	line, ok := e.proposal.Args["command"].(string)
	if !ok || line == "" {
		return ""
	}
	return digest(e.proposal.Context.Client, e.session, "command", line)
}

// note records that the call runs now. If that fails, nobody will report how the call ended,
// and people see its outcome as unknown.
func (h *hook) note(e *event, id client.ID) {
	name := e.callName()
	data, err := strictjson.Marshal(noted{
		ID: id, Session: e.session, Agent: e.agent, Call: e.call, What: e.what(), Command: e.command(), Answered: e.kind == wondering,
	})
	if name == "" || err != nil || os.MkdirAll(h.Notes, 0o700) != nil {
		return
	}
	h.forget()
	file := filepath.Join(h.Notes, name+"."+digest(string(id))[:16])
	_ = os.WriteFile(file, data, 0o600)
	now := time.Now()
	_ = os.Chtimes(file, now, now) // the kernel gives files of one tick the same time
}

// forget removes the notes of calls whose end was never reported.
func (h *hook) forget() {
	all, _ := os.ReadDir(h.Notes)
	for _, f := range all {
		if info, err := f.Info(); err == nil && time.Since(info.ModTime()) > keepNotes {
			_ = os.Remove(filepath.Join(h.Notes, f.Name()))
		}
	}
}

// report tells the gate how a call ended. At the end of a turn, it also reports the calls that
// nothing was heard of: the client has not run them. If anything fails, the client goes on.
// report returns whether the event is about a call that a person had allowed.
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

// names returns the files of the notes, oldest first.
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

// first returns the file of a call's oldest note, "" if there is none.
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

// claim removes a note and returns it, so that only one process reports it.
func (h *hook) claim(name string) (noted, bool) {
	if name == "" {
		return noted{}, false
	}
	n, ok := h.read(name)
	_ = os.Remove(h.settled(name))
	return n, os.Remove(filepath.Join(h.Notes, name)) == nil && ok
}
