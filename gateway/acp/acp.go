// Package acp stands between an editor and a coding agent that speak the Agent Client
// Protocol, and answers what the agent would ask its user: each
// session/request_permission goes to the gate instead of the editor. All else passes as
// it was written. It sees only what the agent asks about.
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

// Options say how a proxy works.
type Options struct {
	Gate ask.Gate
	// Limit is how long a person may take; 0 is an hour. The protocol has no limit.
	Limit time.Duration
	// Log takes lines for the operator: the protocol has no place for a reason.
	Log io.Writer
}

// Serve starts the agent and passes messages on until it ends. It returns the agent's
// exit code.
func Serve(ctx context.Context, o Options, args []string, in io.Reader, out, stderr io.Writer) (code int, err error) {
	return jsonrpc.Run(ctx, args, stderr, func(from io.Reader, to io.WriteCloser) error {
		return Pass(ctx, o, Streams{FromEditor: in, ToEditor: out, FromAgent: from, ToAgent: to})
	})
}

// Streams are the four ends between which the messages pass, one on a line.
type Streams struct {
	FromEditor io.Reader
	ToEditor   io.Writer
	FromAgent  io.Reader
	// ToAgent is closed when the editor has ended its side.
	ToAgent io.WriteCloser
}

// Pass passes messages on until the agent has ended its side. What is held then, when
// the editor is gone or when ctx ends, is taken back.
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
	go func() { // It ends with the editor's input, which nobody can end for it.
		p.fromEditor(s.FromEditor)
		cancel()
		p.mu.Lock()
		p.over = true
		p.mu.Unlock()
		p.asked.Wait() // The agent hears that its questions are taken back.
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

// begin runs f beside the messages. When either side is gone, it does not.
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
	// run names this run in the keys of calls.
	run   string
	count int
	asked sync.WaitGroup

	mu sync.Mutex
	// over says that either side is gone.
	over bool
	// opening are the folders of sessions that the editor has asked for, by the keys of
	// its requests; folders those of sessions.
	opening, folders map[string]string
	// held are the calls that are being asked about.
	held map[*held]bool
	// ran are calls that a person allowed, by session and call.
	ran map[string]client.ID
	// told is what the agent has told of calls that have not ended, likewise.
	told map[string]toolCall
}

// held is a question, by its session and the key of its id.
type held struct {
	session, key string
	cancel       context.CancelFunc
}

// mostTold is of how many calls what was told is remembered. Beyond that it is forgotten:
// a question about a call then tells what it tells itself.
const mostTold = 1000

// takeBack takes back the questions that are meant, and reports whether there are any.
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

// fromEditor hands on what the editor writes, and notes where sessions work.
func (p *proxy) fromEditor(r io.Reader) {
	_ = jsonrpc.NewReader(r).Each(func(line []byte) { // However the editor ended its side, it has.
		if m, err := jsonrpc.Parse(line); err == nil {
			p.note(m)
		}
		p.toAgent(line)
	}, p.toEditor)
}

// note takes what an editor's message tells of sessions.
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

// fromAgent hands on what the agent writes, and keeps its questions.
func (p *proxy) fromAgent(ctx context.Context, r io.Reader) error {
	if err := jsonrpc.NewReader(r).Each(func(line []byte) { p.said(ctx, line) }, nil); err != nil {
		return fmt.Errorf("acp: the agent's message %w", err)
	}
	return nil
}

// said takes one message of the agent's.
func (p *proxy) said(ctx context.Context, line []byte) {
	m, err := jsonrpc.Parse(line)
	if err != nil { // It could be a question that only the editor can read.
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
			return // The editor never had the question.
		}
	case "":
		p.opened(m)
	}
	p.toEditor(line)
}

// opened notes the folder of a session that the agent has opened.
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

// question asks about one call and answers the agent.
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

// notRun reports a call that was allowed where the agent takes no yes for one call:
// one that holds for later calls is not given in its place.
func (p *proxy) notRun(ctx context.Context, id client.ID) {
	const why = "the agent offers no answer that allows one call alone, so the call was not run"
	p.log("%s", why)
	if err := ask.Report(ctx, p.Gate, id, client.Outcome{NotRun: true, Detail: why}); err != nil {
		p.log("could not tell how %s ended: %v", id, err)
	}
}

// nameOf names a call among all.
func nameOf(session, call string) string { return session + "\x00" + call }

// before is what the agent has told of a call.
func (p *proxy) before(session, call string) toolCall {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.told[nameOf(session, call)]
}

// update notes what the agent tells of a call, and reports how one that was allowed has
// ended.
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
