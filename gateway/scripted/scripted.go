// Package scripted is a model that says what it was told to say, in the wire
// forms that coding agents speak: Anthropic's messages, OpenAI's responses and
// chat completions, Gemini's content. It proves, without a network or a login,
// that a real agent asks its hook before it runs a call.
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

// Model answers the n-th request of a conversation with the n-th message of its
// script, and says "done" when the script is over. It is an [http.Handler],
// safe for concurrent use.
type Model struct {
	script [][]Call
	// delegated are the calls in a conversation that begins with the task.
	delegated []Call
	task      string

	mu      sync.Mutex
	results []string
	tools   []string
}

// Call is one call of a tool that the model makes.
type Call struct {
	// Tool is the name of the tool as the client offers it.
	Tool string
	// Args are its arguments.
	Args map[string]any
	// Text is what a tool takes that takes no JSON but one text, as Codex's
	// apply_patch does; Args are then not sent.
	Text string
}

// New returns a model that makes the calls of one message after the other.
func New(messages ...[]Call) *Model { return &Model{script: messages} }

// Delegate has the model make the calls, in one message, for who comes with the task: a
// sub-agent, whose conversation is one of its own. The task is ASCII without quotes.
func (m *Model) Delegate(task string, calls ...Call) { m.task, m.delegated = task, calls }

// Results are the results of calls as the model saw them last, in the order in
// which it was shown them.
func (m *Model) Results() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.results)
}

// Tools are the names of the tools that the client offered, in order, each once.
func (m *Model) Tools() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.tools)
}

// maxBody is the greatest size of a request: clients send their whole
// conversation and their tools' descriptions each time.
const maxBody = 64 << 20

// ServeHTTP answers in the form in which it is asked, which the path tells.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	speak := formOf(r.URL.Path)
	if r.Method != http.MethodPost || speak == nil {
		// What clients ask besides, such as the number of tokens or the models
		// that there are, they can do without.
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

// form is one request, read, and how to answer it.
type form struct {
	tools []string
	// rounds is how many messages with calls the model has sent before.
	rounds  int
	results []string
	// delegated says that the conversation begins with the task that was delegated.
	delegated bool
	// whole says that the answer is wanted in one piece.
	whole bool
	write func(w io.Writer, calls []Call, stream bool)
}

// next keeps what the request tells and returns what to call now.
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
		return nil // a title or a summary is wanted
	}
	if f.delegated {
		return m.delegated
	}
	if f.rounds == 0 && !m.offers(f.tools) {
		return nil // a side question, with tools of its own
	}
	if len(f.results) >= len(m.results) {
		m.results = f.results
	}
	if f.rounds < len(m.script) {
		return m.script[f.rounds]
	}
	return nil
}

// offers reports whether the request offers a tool that the script calls: some
// clients ask small questions with other tools on the side.
func (m *Model) offers(tools []string) bool {
	return len(m.script) == 0 || slices.ContainsFunc(m.script[0], func(c Call) bool { return slices.Contains(tools, c.Tool) })
}

// formOf returns the reader of the form that a path belongs to, nil for none.
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

// event writes one server-sent event; a name of "" is left out.
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

// list returns the elements of a list that are objects.
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

// str returns a text, "" for what is none.
func str(v any) string {
	s, _ := v.(string)
	return s
}

// text returns what a result says, however it is nested.
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

// args returns the arguments as the JSON that most forms carry as a text.
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

// id names the n-th call of a message, so that it is the same when a client
// asks again.
func id(round, n int) string { return fmt.Sprintf("call_%d_%d", round+1, n+1) }

// name names a message: clients take two of one name for parts of one.
func name(kind string, round int) string { return fmt.Sprintf("%s_%d", kind, round+1) }

const closing = "done"

// plain writes an answer in one piece.
func plain(w io.Writer, answer object) {
	out, err := strictjson.Marshal(answer)
	if err != nil {
		out = []byte(`{"error":"the answer could not be written"}`)
	}
	_, _ = w.Write(out)
}
