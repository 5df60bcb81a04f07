// Package acp is a proxy between an editor and a coding agent that speak the Agent Client
// Protocol. It sends each session/request_permission to the gate instead of the editor and
// passes everything else on unchanged. It sees only the calls that the agent asks about.
package acp

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/metnos/vaglio/gateway/ask"
	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/gateway/jsonrpc"
	"github.com/metnos/vaglio/internal/strictjson"
)

// Options configure a proxy.
type Options struct {
	Gate ask.Gate
	// Limit is how long a person may take to answer; 0 means an hour. The protocol sets no limit.
	Limit time.Duration
	// Log receives lines for the operator, because the protocol has no field for a reason.
	Log io.Writer
}

// Serve starts the agent and passes messages on until the agent exits. It returns the agent's
// exit code.
func Serve(ctx context.Context, o Options, args []string, in io.Reader, out, stderr io.Writer) (code int, err error) {
	return jsonrpc.Run(ctx, args, stderr, func(from io.Reader, to io.WriteCloser) error {
		return Pass(ctx, o, Streams{FromEditor: in, ToEditor: out, FromAgent: from, ToAgent: to})
	})
}

// Streams are the four streams the proxy reads and writes, one message per line.
type Streams struct {
	FromEditor io.Reader
	ToEditor   io.Writer
	FromAgent  io.Reader
	// ToAgent is closed once the editor's input has ended.
	ToAgent io.WriteCloser
}

// Pass passes messages on until the agent's output ends. It withdraws the questions that are
// still open at that point, when the editor's input ends, or when ctx is done.
func Pass(ctx context.Context, o Options, s Streams) error {
	if o.Log == nil {
		o.Log = io.Discard
	}
	if o.Limit <= 0 {
		o.Limit = time.Hour
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &proxy{
		Options: o, editor: jsonrpc.NewWriter(s.ToEditor), agent: jsonrpc.NewWriter(s.ToAgent), run: "acp:" + rand.Text(),
		opening: map[string]string{}, folders: map[string]string{}, held: map[*held]bool{}, ran: map[string]client.ID{}, told: map[string]toolCall{},
	}
	go func() { // It ends with the editor's input, which we cannot close ourselves.
		p.fromEditor(s.FromEditor)
		cancel()
		p.mu.Lock()
		p.over = true
		p.mu.Unlock()
		p.asked.Wait() // Let the agent hear that its questions were cancelled.
		if err := s.ToAgent.Close(); err != nil {
			p.log("the agent's input could not be closed: %v", err)
		}
	}()
	err := p.fromAgent(ctx, s.FromAgent)
	cancel()
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	p.asked.Wait()
	return err
}

// begin runs f in a goroutine, unless either side is gone. It reports whether it did.
func (p *proxy) begin(f func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		p.asked.Go(f)
	}
	return !p.over
}

type proxy struct {
	Options
	editor, agent *jsonrpc.Writer
	// run identifies this run of the proxy in the keys of calls.
	run   string
	count int
	asked sync.WaitGroup

	mu sync.Mutex
	// over is set once either side is gone.
	over bool
	// opening holds the working directories of sessions the editor has requested, by the key of
	// the request's id; folders holds those of open sessions, by session ID.
	opening, folders map[string]string
	// held holds the questions that wait for the gate.
	held map[*held]bool
	// ran holds the approvals of calls that a person allowed and that have not ended, by nameOf.
	ran map[string]client.ID
	// told holds what the agent has said about calls that have not ended, by nameOf.
	told map[string]toolCall
}

// held is an open question, identified by its session and the key of its request id.
type held struct {
	session, key string
	cancel       context.CancelFunc
}

// mostTold limits how many calls we remember in told. When it is reached, told is cleared, and
// a later question about a forgotten call is read on its own.
const mostTold = 1000

// takeBack cancels the questions for which meant returns true, and reports whether there were any.
func (p *proxy) takeBack(meant func(*held) bool) (some bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for h := range p.held {
		if meant(h) {
			some = true
			h.cancel()
		}
	}
	return some
}

func (p *proxy) log(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = fmt.Fprintf(p.Log, "vaglio: "+format+"\n", args...)
}

// fromEditor forwards what the editor writes, and notes the working directories of sessions.
func (p *proxy) fromEditor(r io.Reader) {
	_ = jsonrpc.NewReader(r).Each(func(line []byte) { // However the editor's input ended, it has ended.
		if m, err := jsonrpc.Parse(line); err == nil {
			p.note(m)
		}
		p.toAgent(line)
	}, p.toEditor)
}

// note records what a message of the editor says about sessions.
func (p *proxy) note(m jsonrpc.Message) {
	var about struct {
		Session string `json:"sessionId"`
		Cwd     string `json:"cwd"`
	}
	if m.Params == nil || strictjson.UnmarshalLoose(m.Params, &about) != nil {
		return
	}
	switch m.Method {
	case "session/cancel", "session/close", "session/delete":
		p.takeBack(func(h *held) bool { return h.session == about.Session })
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch m.Method {
	case "session/new", "session/fork":
		p.opening[m.ID.Key()] = about.Cwd
	case "session/load", "session/resume":
		p.folders[about.Session] = about.Cwd
	}
}

// fromAgent forwards what the agent writes, except its permission requests.
func (p *proxy) fromAgent(ctx context.Context, r io.Reader) error {
	if err := jsonrpc.NewReader(r).Each(func(line []byte) { p.said(ctx, line) }, nil); err != nil {
		return fmt.Errorf("acp: the agent's message %w", err)
	}
	return nil
}

// said handles one message from the agent.
func (p *proxy) said(ctx context.Context, line []byte) {
	m, err := jsonrpc.Parse(line)
	if err != nil { // It could be a question that only the editor can parse.
		p.log("a message of the agent was not handed on: it %v", err)
		return
	}
	switch m.Method {
	case "session/request_permission":
		p.question(ctx, m)
		return
	case "session/update":
		p.update(ctx, m)
	case "$/cancel_request":
		if key := m.Cancels(); p.takeBack(func(h *held) bool { return h.key == key }) {
			return // The editor never saw the question.
		}
	case "":
		p.opened(m)
	}
	p.toEditor(line)
}

// opened records the working directory of a session that the agent has just opened.
func (p *proxy) opened(m jsonrpc.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	cwd, asked := p.opening[m.ID.Key()]
	if !asked {
		return
	}
	delete(p.opening, m.ID.Key())
	var result struct {
		Session string `json:"sessionId"`
	}
	if m.Result != nil && strictjson.UnmarshalLoose(m.Result, &result) == nil {
		p.folders[result.Session] = cwd
	}
}

// question puts one call to the gate and sends the answer to the agent.
func (p *proxy) question(ctx context.Context, m jsonrpc.Message) {
	if !m.ID.Given() {
		p.log("a question of the agent without an id was not handed on")
		return
	}
	q, err := questionOf(m, p.before)
	if err != nil {
		p.log("a question of the agent was answered with no: %v", err)
		p.toAgent(jsonrpc.Response(m.ID, cancelled()))
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	h := &held{q.Session, m.ID.Key(), cancel}
	p.mu.Lock()
	p.held[h] = true
	p.count++
	key := fmt.Sprintf("%s:%d", p.run, p.count)
	cwd := p.folders[q.Session]
	p.mu.Unlock()
	begun := p.begin(func() {
		defer cancel()
		r, err := ask.Ask(ctx, p.Gate, ask.Call{Proposal: q.proposal(p.run, cwd), Key: key, Until: time.Now().Add(p.Limit)})
		answer, chosen := q.choose(r.Run)
		p.mu.Lock()
		delete(p.held, h)
		if err == nil && r.Run && chosen && r.Approval != "" {
			p.ran[nameOf(q.Session, q.Call.ID)] = r.Approval
		}
		p.mu.Unlock()
		switch {
		case err != nil:
			p.toAgent(jsonrpc.Response(m.ID, cancelled()))
			return
		case !r.Run:
			p.log("%s", strings.TrimPrefix(r.Text, "vaglio: "))
		case !chosen:
			p.notRun(ctx, r.Approval)
		}
		p.toAgent(jsonrpc.Response(m.ID, answer))
	})
	if !begun {
		cancel()
		p.toAgent(jsonrpc.Response(m.ID, cancelled()))
	}
}

// notRun reports that an allowed call did not run because the agent offers no option that
// allows a single call. An option that also covers later calls is never chosen instead.
func (p *proxy) notRun(ctx context.Context, id client.ID) {
	const why = "the agent offers no answer that allows one call alone, so the call was not run"
	p.log("%s", why)
	if err := ask.Report(ctx, p.Gate, id, client.Outcome{NotRun: true, Detail: why}); err != nil {
		p.log("could not tell how %s ended: %v", id, err)
	}
}

// nameOf returns the key of a call in ran and told.
func nameOf(session, call string) string { return session + "\x00" + call }

// before returns what the agent has said about a call so far.
func (p *proxy) before(session, call string) toolCall {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.told[nameOf(session, call)]
}

// update records what the agent says about a call, and reports to the gate how an allowed
// call ended.
func (p *proxy) update(ctx context.Context, m jsonrpc.Message) {
	var said struct {
		Session string `json:"sessionId"`
		Update  struct {
			toolCall

			Status string `json:"status"`
		} `json:"update"`
	}
	if m.Params == nil || strictjson.UnmarshalLoose(m.Params, &said) != nil || said.Update.ID == "" {
		return
	}
	name := nameOf(said.Session, said.Update.ID)
	ended := said.Update.Status == "completed" || said.Update.Status == "failed"
	p.mu.Lock()
	id := p.ran[name]
	switch {
	case ended:
		delete(p.ran, name)
		delete(p.told, name)
	default:
		if len(p.told) >= mostTold {
			clear(p.told)
		}
		p.told[name] = p.told[name].then(said.Update.toolCall)
	}
	p.mu.Unlock()
	if !ended || id == "" {
		return
	}
	p.begin(func() {
		if err := ask.Report(ctx, p.Gate, id, client.Outcome{Succeeded: said.Update.Status == "completed"}); err != nil {
			p.log("could not tell how %s ended: %v", id, err)
		}
	})
}

func (p *proxy) toEditor(message []byte) {
	if err := p.editor.Send(message); err != nil {
		p.log("the editor could not be written to: %v", err)
	}
}

func (p *proxy) toAgent(message []byte) {
	if err := p.agent.Send(message); err != nil {
		p.log("the agent could not be written to: %v", err)
	}
}
