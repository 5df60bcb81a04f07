// Package mcp is a proxy between an MCP client and its server, over stdio or HTTP, that asks
// the gate before each tools/call and resources/read. It forwards everything else unchanged, so that neither side
// loses what a later version of the protocol adds.
//
// A call that was not asked about never reaches the server. Neither does a call that cannot be
// parsed, that two readers could read differently, or that the client takes back.
package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/metnos/vaglio/gateway/ask"
	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/gateway/jsonrpc"
)

// Options configure a proxy for one server.
type Options struct {
	Gate ask.Gate
	// Name is the server's name in the client's configuration.
	Name string
	// Limit is how long the client waits for a call. 0 means what is known about the client,
	// or less than a minute for an unknown one.
	Limit time.Duration
	// Cwd is the folder in which the server works, empty if unknown.
	Cwd string
	// Pins remember how tools described themselves.
	Pins Pins
	// Log receives lines for the operator.
	Log io.Writer
}

const (
	// usualLimit is below the minute after which most clients give up on a call.
	usualLimit = 50 * time.Second
	// progressEvery is the interval at which a client is told that its call is held.
	progressEvery = 10 * time.Second
)

// limitOf returns how long a client with that name waits for a call, less a margin. The name is
// the client's own claim: with a false one it only harms its own wait.
func limitOf(name string) time.Duration {
	for known, limit := range map[string]time.Duration{
		"claude-code":      25 * time.Minute, // idle 30 min, on stdio
		"claude-ai":        usualLimit,
		"codex-mcp-client": 290 * time.Second, // tool_timeout_sec 300
		"gemini-cli":       590 * time.Second, // timeout 600000
		"qwen-cli":         590 * time.Second,
	} {
		if name == known || strings.HasPrefix(name, known+"-mcp-client") {
			return limit
		}
	}
	return usualLimit
}

// proxy is what the stdio and HTTP proxies share.
type proxy struct {
	Options
	tools  *toolset
	states *states
	// session identifies this run in the keys of calls.
	session string
	count   atomic.Int64
	// clientName is the client's name for itself.
	clientName atomic.Value
	// reports counts the outcomes that are being reported.
	reports sync.WaitGroup
	// every is [progressEvery], but shorter in tests.
	every time.Duration
	// learning is held while the tools are listed again.
	learning sync.Mutex
	// logging is held while a line is written.
	logging sync.Mutex
}

func newProxy(o Options) *proxy {
	if o.Log == nil {
		o.Log = io.Discard
	}
	p := &proxy{Options: o, tools: newToolset(o.Pins), states: newStates(), session: "mcp:" + o.Name + ":" + rand.Text(), every: progressEvery}
	if len(p.session) > 150 || strings.ContainsFunc(p.session, func(r rune) bool { return r < '!' || r > '~' }) {
		p.session = "mcp:" + rand.Text()
	}
	p.clientName.Store("")
	return p
}

func (p *proxy) log(format string, args ...any) {
	p.logging.Lock()
	defer p.logging.Unlock()
	_, _ = fmt.Fprintf(p.Log, "vaglio: "+format+"\n", args...)
}

// limit returns how long the client that makes the call waits.
func (p *proxy) limit(c *toolCall) time.Duration {
	name, _ := p.clientName.Load().(string)
	if c.client != "" {
		name = c.client
	}
	if p.Limit > 0 {
		return p.Limit - min(p.Limit/6, 10*time.Second)
	}
	return limitOf(name)
}

// asking is what a proxy does while the gate is asked about a call.
type asking struct {
	// held is called when the call starts to wait for a person. While it waits, tell gets the
	// notifications for the client; nil stands for a sign of life alone.
	held func()
	tell func(message []byte)
	// list requests a page of the server's tools.
	list func(ctx context.Context, cursor string) (jsonrpc.Message, error)
}

// callOf parses a call, and checks that the server gave its state for it.
func (p *proxy) callOf(m jsonrpc.Message) (*toolCall, error) {
	c, err := callOf(m)
	if err == nil && !p.states.fit(c) {
		return nil, errors.New(strangeState)
	}
	return c, err
}

// ruleOn asks about a call of a server's tool, or a reading of a resource. The error is ctx's, and means that the client
// no longer wants an answer.
func (p *proxy) ruleOn(ctx context.Context, c *toolCall, a asking) (ask.Ruling, error) {
	concerns, digests := p.concerns(ctx, c, a)
	ruling, err := p.ask(ctx, c, client.Proposal{
		TurnID: p.session, Executor: "mcp__" + p.Name + "__" + c.name, Args: c.args,
		Context: client.Context{Cwd: p.Cwd, Concerns: concerns},
	}, a)
	if err == nil && ruling.Run && !p.states.spend(c) { // An equal call used the state first.
		p.ended(ctx, ruling.Approval, client.Outcome{NotRun: true, Detail: strangeState})
		ruling = ask.Ruling{Text: "vaglio: this call did not run: " + strangeState}
	}
	if err == nil && ruling.Run && ruling.Approval != "" {
		p.tools.accept(c.name, digests)
	}
	return ruling, err
}

// concerns returns the reasons to ask that lie in the tool that is called.
func (p *proxy) concerns(ctx context.Context, c *toolCall, a asking) (all []client.Concern, digests []string) {
	if c.reads {
		return nil, nil
	}
	if !p.tools.knows(c.name) {
		p.learn(ctx, c.name, a.list)
	}
	return p.tools.concerns(c.name)
}

// ask asks about a proposal on behalf of the call's client.
func (p *proxy) ask(ctx context.Context, c *toolCall, proposal client.Proposal, a asking) (ask.Ruling, error) {
	var telling sync.WaitGroup
	defer telling.Wait()
	ended := make(chan struct{})
	defer close(ended)
	return ask.Ask(ctx, p.Gate, ask.Call{
		Proposal: proposal, Until: time.Now().Add(p.limit(c)),
		Key: fmt.Sprintf("%s:%d", p.session, p.count.Add(1)),
		Held: func(id client.ID) {
			a.held()
			telling.Go(func() { p.progress(ctx, ended, c, id, a.tell) })
		},
	})
}

const (
	// learnWithin bounds listing the tools again, mostPages the pages of the list.
	learnWithin = 5 * time.Second
	mostPages   = 100
)

// learn lists the server's tools again. If that fails, the tool stays unlisted, and a person is
// asked.
func (p *proxy) learn(ctx context.Context, tool string, list func(ctx context.Context, cursor string) (jsonrpc.Message, error)) {
	p.learning.Lock()
	defer p.learning.Unlock()
	ctx, cancel := context.WithTimeout(ctx, learnWithin)
	defer cancel()
	cursor := ""
	for page := 0; page < mostPages && !p.tools.knows(tool); page++ {
		m, err := list(ctx, cursor)
		if err == nil && m.Error != nil {
			err = errors.New("the server answered with an error")
		}
		if err != nil {
			p.log("the server's tools could not be listed: %v", err)
			return
		}
		var ok bool
		if cursor, ok = p.tools.learn(m.Result, page == 0); !ok || cursor == "" {
			return
		}
	}
}

// progress tells the client at intervals that its call is held, if the client wants to know.
func (p *proxy) progress(ctx context.Context, ended <-chan struct{}, c *toolCall, id client.ID, tell func([]byte)) {
	ticks := time.NewTicker(p.every)
	defer ticks.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ended:
			return
		case <-ticks.C:
			tell(c.progressed(n, fmt.Sprintf("held as %s: waiting for a person", id)))
		}
	}
}

// ended reports how an allowed call ended, without blocking the messages.
func (p *proxy) ended(ctx context.Context, id client.ID, o client.Outcome) {
	if id == "" {
		return
	}
	p.reports.Go(func() {
		if err := ask.Report(ctx, p.Gate, id, o); err != nil {
			p.log("could not tell how %s ended: %v", id, err)
		}
	})
}

// takenBack reports that an allowed call did not run because its client took it back.
func (p *proxy) takenBack(ctx context.Context, id client.ID) {
	p.ended(ctx, id, client.Outcome{NotRun: true, Detail: "the client took the call back"})
}

// idTaken refuses a call whose id is in use.
const idTaken = "vaglio: the call did not run: its id belongs to a call that is not answered yet"

// answered notes the state that the server's response hands to the client, and reports how an
// allowed call ended.
func (p *proxy) answered(ctx context.Context, c *toolCall, id client.ID, m jsonrpc.Message) {
	p.states.given(c, m.Result)
	if id == "" { // No person was asked, so there is nobody to report to.
		return
	}
	if o, ended := outcomeOf(m); ended {
		p.ended(ctx, id, o)
	}
}
