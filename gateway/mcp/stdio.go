package mcp

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/metnos/vaglio/gateway/jsonrpc"
	"github.com/metnos/vaglio/internal/strictjson"
)

// Streams are the four streams that the proxy reads and writes, one message per line.
type Streams struct {
	// FromClient and ToClient are normally the process's stdin and stdout.
	FromClient io.Reader
	ToClient   io.Writer
	// FromServer and ToServer are the server's stdout and stdin. ToServer is closed once the
	// client's input has ended.
	FromServer io.Reader
	ToServer   io.WriteCloser
}

// Pass passes messages on until the server's output ends. It takes back the calls that are still
// held then, or when ctx ends. Its error says why the messages stopped.
func Pass(ctx context.Context, o Options, s Streams) error {
	return newPipe(o, s).pass(ctx, s)
}

// Serve starts the server and passes messages on until the server exits. It returns the server's
// exit code.
func Serve(ctx context.Context, o Options, args []string, in io.Reader, out, stderr io.Writer) (code int, err error) {
	return jsonrpc.Run(ctx, args, stderr, func(from io.Reader, to io.WriteCloser) error {
		return Pass(ctx, o, Streams{FromClient: in, ToClient: out, FromServer: from, ToServer: to})
	})
}

func newPipe(o Options, s Streams) *pipe {
	return &pipe{
		proxy: newProxy(o), client: jsonrpc.NewWriter(s.ToClient), server: jsonrpc.NewWriter(s.ToServer),
		own: map[string]chan jsonrpc.Message{},
	}
}

// pipe connects one client with one server.
type pipe struct {
	*proxy
	client, server *jsonrpc.Writer
	// calls are the client's calls, by the keys of their ids.
	calls calls

	mu sync.Mutex
	// own are our own requests to the server.
	own  map[string]chan jsonrpc.Message
	made int
}

func (p *pipe) pass(ctx context.Context, s Streams) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	served := make(chan error, 1)
	go func() { // It ends with the server, which the caller waits for.
		err := p.fromServer(ctx, s.FromServer)
		cancel() // Nobody is left to run the held calls.
		served <- err
	}()
	go p.fromClient(ctx, s) // It ends with the client's input, which we cannot close ourselves.
	err := <-served
	p.calls.end()
	p.reports.Wait()
	return err
}

// fromClient forwards what the client writes. When the client's input ends, the calls that wait
// for a person are taken back, and the others go on.
func (p *pipe) fromClient(ctx context.Context, s Streams) {
	_ = jsonrpc.NewReader(s.FromClient).Each(func(line []byte) { p.heard(ctx, line) }, p.answer) // However the client's input ended, it has ended.
	p.calls.takeBack()
	p.calls.asked.Wait()
	if err := s.ToServer.Close(); err != nil {
		p.log("the server's input could not be closed: %v", err)
	}
}

// heard handles one line from the client.
func (p *pipe) heard(ctx context.Context, line []byte) {
	batch, isBatch, err := jsonrpc.Batch(line)
	switch {
	case err != nil:
		p.answer(jsonrpc.Failure(jsonrpc.ID{}, jsonrpc.CodeParse, "vaglio: the message "+err.Error()))
	case isBatch: // Each is forwarded on its own: the protocol asks for no array in return.
		for _, one := range batch {
			p.message(ctx, one)
		}
	default:
		p.message(ctx, line)
	}
}

// message handles one message from the client.
func (p *pipe) message(ctx context.Context, raw []byte) {
	m, err := jsonrpc.Parse(raw)
	if err != nil {
		p.answer(jsonrpc.Failure(jsonrpc.ID{}, jsonrpc.CodeParse, "vaglio: the message "+err.Error()))
		return
	}
	if why := disguised(m.Method); why != "" {
		p.log("a message did not reach the server: %s", why)
		if m.ID.Given() {
			p.answer(jsonrpc.Failure(m.ID, jsonrpc.CodeInvalid, "vaglio: the message did not reach the server: "+why))
		}
		return
	}
	switch m.Method {
	case methodCall, methodRead:
		p.call(ctx, m, raw)
		return
	case methodCancelled:
		if p.calls.cancel(m.Cancels()) {
			return // The server never saw the call.
		}
	case methodList:
		p.tools.asks(m.ID.Key(), m)
	case methodInitialize:
		if info, err := jsonrpc.Object(m.Params, "clientInfo"); err == nil {
			p.clientName.Store(nameOf(info["clientInfo"]))
		}
	}
	p.forward(raw)
}

// call asks about a call without blocking the messages that follow.
func (p *pipe) call(ctx context.Context, m jsonrpc.Message, raw []byte) {
	if !m.ID.Given() {
		p.log("a %s without an id was not handed on", m.Method)
		return
	}
	c, err := p.callOf(m)
	if err != nil {
		p.answer(jsonrpc.Failure(m.ID, jsonrpc.CodeInvalid, "vaglio: the call did not run: "+err.Error()))
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	if !p.calls.begin(m.ID.Key(), cancel, func(u *underway) {
		defer cancel()
		p.rule(ctx, c, u, raw)
	}) {
		cancel()
		p.answer(jsonrpc.Failure(m.ID, jsonrpc.CodeInvalid, idTaken))
	}
}

// rule asks about a call and acts on the ruling.
func (p *pipe) rule(ctx context.Context, c *toolCall, u *underway, raw []byte) {
	ruling, err := p.ruleOn(ctx, c, asking{
		held: func() { p.calls.hold(u) }, tell: p.answer,
		list: func(ctx context.Context, cursor string) (jsonrpc.Message, error) { return p.list(ctx, c, cursor) },
	})
	if err == nil && ruling.Run && p.calls.send(u, c, ruling.Approval) {
		p.forward(raw)
		return
	}
	wanted := p.calls.leave(c.id.Key(), u) && err == nil
	switch {
	case wanted:
		p.answer(c.refused(ruling.Text))
	case ruling.Run:
		p.takenBack(ctx, ruling.Approval)
	}
}

// fromServer forwards what the server writes, and notes what it says about its tools and about
// how calls ended.
func (p *pipe) fromServer(ctx context.Context, r io.Reader) error {
	err := jsonrpc.NewReader(r).Each(func(line []byte) {
		batch, ok, err := jsonrpc.Batch(line)
		if !ok || err != nil {
			batch = []strictjson.Value{strictjson.Value(line)}
		}
		for _, one := range batch {
			p.said(ctx, one)
		}
	}, nil)
	if err != nil {
		return fmt.Errorf("mcp: the server's message %w", err)
	}
	return nil
}

// said handles one message from the server. A message that cannot be parsed is forwarded for
// the client to reject, but nothing is learned from it.
func (p *pipe) said(ctx context.Context, raw []byte) {
	m, err := jsonrpc.Parse(raw) // A message that cannot be parsed has neither a method nor an id.
	if err != nil && strictjson.Value(raw).Kind() == '{' {
		p.tools.lost("")
	}
	if m.Method == methodListChanged {
		p.tools.stale()
	}
	if m.Method != "" || !m.ID.Given() {
		p.answer(raw)
		return
	}
	p.mu.Lock()
	waits, mine := p.own[m.ID.Key()]
	delete(p.own, m.ID.Key())
	p.mu.Unlock()
	u, early := p.calls.answered(m.ID.Key())
	switch {
	case early:
		p.log("the server answered a call that it never got; the answer was not handed on")
		return
	case mine:
		waits <- m
		return
	case p.tools.told(m.ID.Key(), m):
	case u != nil:
		p.answered(ctx, u.call, u.approval, m)
	}
	p.answer(raw)
}

// list requests a page of the server's tools.
func (p *pipe) list(ctx context.Context, c *toolCall, cursor string) (jsonrpc.Message, error) {
	p.mu.Lock()
	p.made++
	id := p.session + ":" + strconv.Itoa(p.made)
	key, answer := `"`+id, make(chan jsonrpc.Message, 1)
	p.own[key] = answer
	p.mu.Unlock()
	p.forward(c.listing(id, cursor))
	select {
	case m := <-answer:
		return m, nil
	case <-ctx.Done():
		p.mu.Lock()
		delete(p.own, key)
		p.mu.Unlock()
		return jsonrpc.Message{}, ctx.Err()
	}
}

// answer writes to the client, forward to the server. If either is gone, its output ends too,
// which ends the rest.
func (p *pipe) answer(message []byte) {
	if message == nil {
		return
	}
	if err := p.client.Send(message); err != nil {
		p.log("the client could not be written to: %v", err)
	}
}

func (p *pipe) forward(message []byte) {
	if err := p.server.Send(message); err != nil {
		p.log("the server could not be written to: %v", err)
	}
}
