// Package mcp stands between an MCP client and its server, over stdio or HTTP, and
// asks the gate before each tools/call. All else passes as it was written, so that
// neither side loses what a later version of the protocol adds.
//
// A call that was not asked about never reaches the server: what cannot be read,
// what two readers could read in two ways, and what the client takes back.
package mcp

import (
	"context"
	"crypto/rand"
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

// Options say for which server a proxy stands.
type Options struct {
	Gate ask.Gate
	// Name is what the server is called, as the client's configuration names it.
	Name string
	// Limit is how long the client waits for a call; 0 is what is known of the
	// client, and less than a minute for one that is not known.
	Limit time.Duration
	// Cwd is the folder in which the server works, empty if it is not known.
	Cwd string
	// Pins remember what tools said of themselves.
	Pins Pins
	// Log takes lines for the operator.
	Log io.Writer
}

const (
	// usualLimit is below the minute after which most clients give a call up.
	usualLimit = 50 * time.Second
	// progressEvery is how often a client is told that its call is held.
	progressEvery = 10 * time.Second
)

// limitOf is how long a client of that name waits for a call, less a margin. It is
// what the client says of itself: a false name costs only the client's own wait.
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

// proxy is what stdio and HTTP share.
type proxy struct {
	Options
	tools *toolset
	// session names this run in the keys of calls.
	session string
	count   atomic.Int64
	// clientName is what the client calls itself.
	clientName atomic.Value
	// reports are outcomes that are being told.
	reports sync.WaitGroup
	// every is [progressEvery], shorter in tests.
	every time.Duration
	// logging is held while a line is written.
	logging sync.Mutex
}

func newProxy(o Options) *proxy {
	if o.Log == nil {
		o.Log = io.Discard
	}
	p := &proxy{Options: o, tools: newToolset(o.Pins), session: "mcp:" + o.Name + ":" + rand.Text(), every: progressEvery}
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

// limit is how long the client that makes the call waits.
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

// ruleOn asks about a call. held is told when it begins to wait for a person, and tell
// gets the notifications for the client while it does. The error is ctx's: the client
// wants no answer.
func (p *proxy) ruleOn(ctx context.Context, c *toolCall, held func(), tell func(message []byte)) (ask.Ruling, error) {
	concerns, digest := p.tools.concerns(c.name)
	proposal := client.Proposal{
		TurnID: p.session, Executor: "mcp__" + p.Name + "__" + c.name, Args: c.args,
		Context: client.Context{Cwd: p.Cwd, Concerns: concerns},
	}
	watch, done := context.WithCancel(ctx)
	var telling sync.WaitGroup
	defer telling.Wait()
	defer done()
	ruling, err := ask.Ask(ctx, p.Gate, ask.Call{
		Proposal: proposal, Until: time.Now().Add(p.limit(c)),
		Key: fmt.Sprintf("%s:%d", p.session, p.count.Add(1)),
		Held: func(id client.ID) {
			held()
			telling.Go(func() { p.progress(watch, c, id, tell) })
		},
	})
	if err == nil && ruling.Run && ruling.Approval != "" {
		p.tools.accept(c.name, digest)
	}
	return ruling, err
}

// progress tells the client at intervals that its call is held, if it wants to hear.
func (p *proxy) progress(ctx context.Context, c *toolCall, id client.ID, tell func([]byte)) {
	ticks := time.NewTicker(p.every)
	defer ticks.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			tell(c.progressed(n, fmt.Sprintf("held as %s: waiting for a person", id)))
		}
	}
}

// ended reports how an allowed call ended, without holding up the messages.
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

// answered reports how an allowed call ended by the server's response.
func (p *proxy) answered(ctx context.Context, id client.ID, m jsonrpc.Message) {
	if o, ended := outcomeOf(m); ended {
		p.ended(ctx, id, o)
	}
}
