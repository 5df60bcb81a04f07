// Package scripted is a model that follows a script, in the wire formats that coding agents
// speak: Anthropic's messages, OpenAI's responses and chat completions, Gemini's content. It
// proves, without a network or a login, that a real agent asks its hook before it runs a call.
package scripted

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/metnos/vaglio/internal/strictjson"
)

// Model answers the n-th request of a conversation with the n-th message of its script, and says
// "done" after the last one. It is an [http.Handler] and safe for concurrent use.
type Model struct {
	script [][]Call
	// delegated are the calls in a conversation that begins with the task.
	delegated []Call
	task      string

	mu      sync.Mutex
	results []string
	tools   []string
}

// Call is one tool call that the model makes.
type Call struct {
	// Tool is the tool's name as the client offers it.
	Tool string
	// Args are its arguments.
	Args map[string]any
	// Text is the input of a tool that takes plain text instead of JSON, such as Codex's
	// apply_patch; Args are then not sent.
	Text string
}

// New returns a model that makes the calls of one message after another.
func New(messages ...[]Call) *Model { return &Model{script: messages} }

// Delegate makes the model answer a conversation about task, which is a sub-agent's own, with
// these calls in one message. The task must be ASCII without quotes.
func (m *Model) Delegate(task string, calls ...Call) { m.task, m.delegated = task, calls }

// Results returns the results of the calls that the client sent last, in order.
func (m *Model) Results() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.results)
}

// Tools returns the names of all tools that the client offered, sorted and without duplicates.
func (m *Model) Tools() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.tools)
}

// maxBody is the maximum size of a request, in bytes: clients send the whole conversation and
// their tools' descriptions each time.
const maxBody = 64 << 20

// ServeHTTP answers in the wire format of the request, which the path tells.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	speak := formOf(r.URL.Path)
	if r.Method != http.MethodPost || speak == nil {
		// Clients can do without their other requests, such as for token counts or models.
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"input_tokens":1,"totalTokens":1,"object":"list","data":[],"models":[]}`)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var req map[string]any
	if err := strictjson.UnmarshalLoose(body, &req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	f := speak(req)
	f.delegated = m.task != "" && f.rounds == 0 && strings.Contains(string(body), m.task)
	f.whole = f.whole || strings.Contains(r.URL.Path, ":generateContent")
	calls := m.next(f)
	if f.whole {
		w.Header().Set("Content-Type", "application/json")
	} else {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	f.write(w, calls, !f.whole)
}

// form is one parsed request, and how to answer it.
type form struct {
	tools []string
	// rounds is how many messages with calls the model has sent before.
	rounds  int
	results []string
	// delegated says that the conversation begins with the delegated task.
	delegated bool
	// whole says that the answer must not be streamed.
	whole bool
	write func(w io.Writer, calls []Call, stream bool)
}

// next records what the request tells, and returns the calls to make now.
func (m *Model) next(f *form) []Call {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range f.tools {
		if !slices.Contains(m.tools, name) {
			m.tools = append(m.tools, name)
		}
	}
	slices.Sort(m.tools)
	if len(f.tools) == 0 {
		return nil // the client wants a title or a summary
	}
	if f.delegated {
		return m.delegated
	}
	if f.rounds == 0 && !m.offers(f.tools) {
		return nil // a side question with tools of its own
	}
	if len(f.results) >= len(m.results) {
		m.results = f.results
	}
	if f.rounds < len(m.script) {
		return m.script[f.rounds]
	}
	return nil
}

// offers reports whether the request offers a tool that the script calls. Some clients ask side
// questions with other tools.
func (m *Model) offers(tools []string) bool {
	return len(m.script) == 0 || slices.ContainsFunc(m.script[0], func(c Call) bool { return slices.Contains(tools, c.Tool) })
}

// formOf returns the reader for the wire format of a path, nil for none.
func formOf(path string) func(map[string]any) *form {
	switch {
	case strings.HasSuffix(path, "/messages"):
		return messages
	case strings.HasSuffix(path, "/responses"):
		return responses
	case strings.HasSuffix(path, "/chat/completions"):
		return completions
	case strings.HasSuffix(path, "enerateContent"):
		return content
	}
	return nil
}

// event writes one server-sent event. An empty name is left out.
func event(w io.Writer, name string, data any) {
	text, err := strictjson.Marshal(data)
	if err != nil {
		text = []byte(`{"error":"an event could not be written"}`)
	}
	if name != "" {
		_, _ = fmt.Fprintf(w, "event: %s\n", name)
	}
	_, _ = fmt.Fprintf(w, "data: %s\n\n", text)
}

// object is a JSON object.
type object = map[string]any

// list returns the elements of v that are objects.
func list(v any) []object {
	all, _ := v.([]any)
	var out []object
	for _, e := range all {
		if o, ok := e.(object); ok {
			out = append(out, o)
		}
	}
	return out
}

// str returns v if it is a string, else "".
func str(v any) string {
	s, _ := v.(string)
	return s
}

// text returns the text of a result, however it is nested.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, text(e))
		}
		return strings.Join(parts, "\n")
	case object:
		if s, ok := v["text"].(string); ok {
			return s
		}
	}
	out, err := strictjson.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(out)
}

// args returns the arguments as a string of JSON, as most wire formats carry them.
func (c *Call) args() string {
	if c.Args == nil {
		return "{}"
	}
	out, err := strictjson.Marshal(c.Args)
	if err != nil {
		return "{}"
	}
	return string(out)
}

// id returns the ID of the n-th call of a message. It is the same when a client asks again.
func id(round, n int) string { return fmt.Sprintf("call_%d_%d", round+1, n+1) }

// name returns the ID of a message: clients merge messages with the same ID.
func name(kind string, round int) string { return fmt.Sprintf("%s_%d", kind, round+1) }

const closing = "done"

// plain writes an answer without streaming it.
func plain(w io.Writer, answer object) {
	out, err := strictjson.Marshal(answer)
	if err != nil {
		out = []byte(`{"error":"the answer could not be written"}`)
	}
	_, _ = w.Write(out)
}
