// Package modeltest is a model's server for tests: it speaks both wire formats of the adapters, and
// answers according to a script.
package modeltest

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
)

// API is a wire format.
type API string

// The wire formats.
const (
	OpenAI    API = "openai"
	Anthropic API = "anthropic"
)

// Step is what the server does with one request. The zero value answers with an empty text.
type Step struct {
	// Text and Calls are what the model says.
	Text  string
	Calls []Call
	// Refused and Length are ways in which the answer can end.
	Refused, Length bool
	// Input and Output are the token counts; 0 means 100 and 20.
	Input, Output int
	// Uncounted omits the token counts.
	Uncounted bool
	// Delay is the pause before the answer, as long as the request lives.
	Delay time.Duration
	// Status other than 0 and 200 is an error; RetryAfter is in seconds.
	Status, RetryAfter int
	// Raw is a body that replaces the wire format's.
	Raw string
	// CutAt breaks the connection after that many bytes of the body; 0 does not.
	CutAt int
	// Stream sends the answer as events although nobody asked for that.
	Stream bool
	// Away redirects to another address.
	Away string
}

// Call is a tool call that the model makes. Args may be anything.
type Call struct{ Name, Args string }

// Seen is a request as the server received it.
type Seen struct {
	// Path and Header are the request's; Body is its whole body.
	Path   string
	Header http.Header
	Body   string
	// System is the system prompt. Texts are the texts of all other messages, in order, including
	// tools' results.
	System string
	Texts  []string
	// Tools are the names on offer; Schema is what the answer must fit, if any.
	Tools  []string
	Schema string
}

// Said returns everything that the messages say.
func (s *Seen) Said() string { return strings.Join(s.Texts, "\n") }

// Server is a model's server on loopback. It is safe for concurrent use.
type Server struct {
	api   API
	http  *httptest.Server
	reply func(Seen) Step

	mu    sync.Mutex
	seen  []Seen
	gone  chan struct{}
	conns map[net.Conn]http.ConnState
}

// Start starts a server that does what reply returns for each request. It must be closed with Close.
func Start(api API, reply func(Seen) Step) *Server {
	s := &Server{api: api, reply: reply, gone: make(chan struct{}, 1024), conns: map[net.Conn]http.ConnState{}}
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.http.Config.ConnState = func(c net.Conn, state http.ConnState) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.conns[c] = state
	}
	s.http.Start()
	return s
}

// Steps returns a script for [Start]: one step after another, repeating the last one forever.
func Steps(steps ...Step) func(Seen) Step {
	var mu sync.Mutex
	return func(Seen) Step {
		mu.Lock()
		defer mu.Unlock()
		next := steps[0]
		if len(steps) > 1 {
			steps = steps[1:]
		}
		return next
	}
}

// Always returns a script for [Start] that answers every request with the same text.
func Always(text string) func(Seen) Step { return Steps(Step{Text: text}) }

// URL returns the address for an adapter.
func (s *Server) URL() string {
	if s.api == OpenAI {
		return s.http.URL + "/v1"
	}
	return s.http.URL
}

// Close stops the server and waits for it.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// Seen returns the requests so far.
func (s *Server) Seen() []Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Seen(nil), s.seen...)
}

// Gone receives a value when a client disconnects before its answer.
func (s *Server) Gone() <-chan struct{} { return s.gone }

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	seen := Seen{Path: r.URL.Path, Header: r.Header, Body: string(body)}
	if err := s.read(&seen, body); err != nil {
		http.Error(w, fmt.Sprintf(`{"error":{"type":"invalid_request_error","message":%q}}`, err), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.seen = append(s.seen, seen)
	s.mu.Unlock()
	step := s.reply(seen)
	if step.Delay > 0 {
		timer := time.NewTimer(step.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			s.gone <- struct{}{}
			return
		}
	}
	s.write(w, &step)
}

func (s *Server) write(w http.ResponseWriter, step *Step) {
	text := step.Raw
	switch {
	case step.Away != "":
		w.Header().Set("Location", step.Away)
		w.WriteHeader(http.StatusTemporaryRedirect)
		return
	case text != "":
	case step.Status != 0 && step.Status != http.StatusOK:
		text = `{"type":"error","error":{"type":"api_error","code":"x","message":"the server's own words"}}`
	case s.api == OpenAI:
		text = openAIAnswer(step)
	default:
		text = anthropicAnswer(step)
	}
	w.Header().Set("Content-Type", "application/json")
	if step.Stream {
		w.Header().Set("Content-Type", "text/event-stream")
		text = "event: message\ndata: " + text + "\n\n"
	}
	if step.RetryAfter > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(step.RetryAfter))
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(text)))
	if step.Status != 0 {
		w.WriteHeader(step.Status)
	}
	if step.CutAt > 0 {
		_, _ = io.WriteString(w, text[:min(step.CutAt, len(text))])
		panic(http.ErrAbortHandler)
	}
	_, _ = io.WriteString(w, text)
}

func quoted(v any) string {
	b, err := strictjson.Marshal(v)
	if err != nil {
		return "null"
	}
	return string(b)
}
