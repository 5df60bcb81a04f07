package mcp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/internal/strictjson"
)

// gate is a gate that rules by the tool's name: "ok…" is approved, "no…" refused, and anything
// else, or any concern, is held until the test decides.
type gate struct {
	mu sync.Mutex
	// done lists what was asked of the gate, in order.
	done     []string
	proposed []client.Proposal
	keys     []string
	// decided holds a person's answers.
	decided   chan client.Answer
	redeeming error
	// held receives the approval of a call that waits.
	held chan client.ID
}

func newGate() *gate {
	return &gate{decided: make(chan client.Answer, 8), held: make(chan client.ID, 64)}
}

func (g *gate) note(format string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.done = append(g.done, fmt.Sprintf(format, args...))
}

func (g *gate) did() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return strings.Join(g.done, "; ")
}

func (g *gate) Propose(_ context.Context, r client.Request) (client.Answer, error) {
	g.mu.Lock()
	g.proposed, g.keys = append(g.proposed, r.Proposal), append(g.keys, r.Key)
	n := len(g.proposed)
	g.mu.Unlock()
	name := r.Proposal.Executor[strings.LastIndex(r.Proposal.Executor, "__")+2:]
	switch {
	case strings.HasPrefix(name, "away"):
		return client.Answer{}, client.ErrNotRunning
	case strings.HasPrefix(name, "odd"):
		return client.Answer{Decision: client.Allow}, nil
	case strings.HasPrefix(name, "no"):
		return client.Answer{Decision: client.Deny, Text: "the guard says no"}, nil
	case strings.HasPrefix(name, "ok") && len(r.Proposal.Context.Concerns) == 0:
		return client.Answer{Decision: client.Allow, Verdict: client.Verdict{Approved: true}}, nil
	}
	id := client.ID(fmt.Sprintf("a-%d", n))
	g.held <- id
	return client.Answer{Decision: client.Pending, Approval: &client.Approval{ID: id}}, nil
}

func (g *gate) Await(ctx context.Context, id client.ID, wait time.Duration) (client.Answer, error) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return client.Answer{}, ctx.Err()
	case a := <-g.decided:
		if a.Approval == nil {
			a.Approval = &client.Approval{ID: id}
		}
		return a, nil
	case <-timer.C:
		return client.Answer{Decision: client.Pending, Approval: &client.Approval{ID: id}}, nil
	}
}

func (g *gate) Withdraw(_ context.Context, id client.ID) (client.Answer, error) {
	g.note("withdraw %s", id)
	return client.Answer{}, nil
}

func (g *gate) Redeem(context.Context, string, client.Proposal) error {
	g.note("redeem")
	g.mu.Lock()
	defer g.mu.Unlock()
	err := g.redeeming
	g.redeeming = nil
	return err
}

func (g *gate) Report(_ context.Context, id client.ID, o client.Outcome) error {
	g.note("report %s succeeded=%t notrun=%t", id, o.Succeeded, o.NotRun)
	return nil
}

func (g *gate) allow() {
	g.decided <- client.Answer{Decision: client.Allow, Permit: &client.Permit{Permit: "p"}}
}

func (g *gate) deny(words string) {
	g.decided <- client.Answer{Decision: client.Deny, Text: "a person said: " + words}
}

// pins are pins in memory.
type pins map[string][]string

func (p pins) Meet(prints map[string]string) {
	for name, digest := range prints {
		if _, seen := p[name]; !seen {
			p[name] = []string{digest}
		}
	}
}
func (p pins) Fits(tool, digest string) bool { return slices.Contains(p[tool], digest) }
func (p pins) Accept(tool, digest string)    { p[tool] = append(p[tool], digest) }

// server is an MCP server that answers messages and records them.
type server struct {
	mu    sync.Mutex
	tools string // what it lists
	got   []string
	mute  bool // does not answer calls
}

func (s *server) lines() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.got, "\n")
}

func (s *server) describe(tools ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools = strings.Join(tools, ",")
}

// silence makes it answer no more calls.
func (s *server) silence() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mute = true
}

// aTool returns a tool in the form of a listing; more follows its schema.
func aTool(name, more string) string {
	return fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}%s}`, name, more)
}

// answer returns the answer to one message, "" if it needs none.
func (s *server) answer(line string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = append(s.got, line)
	var m struct {
		ID     strictjson.Value `json:"id"`
		Method string           `json:"method"`
		Params struct {
			Cursor string `json:"cursor"`
			Name   string `json:"name"`
		} `json:"params"`
	}
	if strictjson.UnmarshalLoose([]byte(line), &m) != nil || m.ID == nil || m.Method == "" {
		return ""
	}
	result := `{"content":[{"type":"text","text":"ran"}],"vendor":{"kept":1.50}}`
	switch {
	case m.Method == "tools/list" && m.Params.Cursor == "":
		result = `{"tools":[` + s.tools + `],"nextCursor":"p2"}`
	case m.Method == "tools/list":
		result = `{"tools":[` + aTool("ok_paged", "") + `]}`
	case m.Method == "tools/call" && s.mute:
		return ""
	case strings.Contains(m.Params.Name, "more"):
		result = `{"resultType":"input_required","inputRequests":{},"requestState":"s"}`
	case strings.Contains(m.Params.Name, "fails"):
		result = `{"content":[],"isError":true}`
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// world is a client, a proxy on stdio and a server.
type world struct {
	t      *testing.T
	gate   *gate
	server *server
	in     *io.PipeWriter
	out    chan string
	// toClient writes as the server.
	toClient *io.PipeWriter
	done     chan error
	log      strings.Builder
}

func newWorld(t *testing.T, change func(*Options)) *world {
	t.Helper()
	w := &world{t: t, gate: newGate(), server: &server{}, out: make(chan string, 64), done: make(chan error, 1)}
	w.server.describe(aTool("ok", ""), aTool("ok_more", ""), aTool("hold", ""), aTool("hold_fails", ""), aTool("no", ""), aTool("away", ""), aTool("odd", ""))
	o := Options{Gate: w.gate, Name: "srv", Pins: pins{}, Cwd: "/work", Log: &w.log}
	if change != nil {
		change(&o)
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	toR, toW := io.Pipe()
	fromR, fromW := io.Pipe()
	w.in, w.toClient = inW, fromW
	go func() {
		for lines := bufio.NewScanner(toR); lines.Scan(); {
			if a := w.server.answer(lines.Text()); a != "" {
				fmt.Fprintln(fromW, a)
			}
		}
		fromW.Close()
	}()
	go func() {
		defer close(w.out)
		for lines := bufio.NewScanner(outR); lines.Scan(); {
			w.out <- lines.Text()
		}
	}()
	go func() {
		err := Pass(t.Context(), o, Streams{inR, outW, fromR, toW})
		outW.Close()
		w.done <- err
	}()
	return w
}

func (w *world) send(lines ...string) {
	w.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(w.in, l+"\n"); err != nil {
			w.t.Fatal(err)
		}
	}
}

// next returns the next line for the client.
func (w *world) next() string {
	w.t.Helper()
	line, ok := <-w.out
	if !ok {
		w.t.Fatal("the proxy ended")
	}
	return line
}

// end ends the client's side and waits for the proxy.
func (w *world) end() {
	w.t.Helper()
	w.in.Close()
	if err := errors.Join(<-w.done); err != nil {
		w.t.Error(err)
	}
}

// toolsCall returns a tools/call.
func toolsCall(id, name string) string {
	return fmt.Sprintf(`{"jsonrpc": "2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":{"n":9007199254740993},"vendor":[1.50]},"later":true}`, id, name)
}
