package mcp

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/gateway/jsonrpc"
	"github.com/metnos/vaglio/internal/strictjson"
)

// What is known about a client bounds how long its calls are held.
func TestLimits(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]time.Duration{
		"claude-code": 25 * time.Minute, "claude-ai": 50 * time.Second, "codex-mcp-client": 290 * time.Second, "gemini-cli": 590 * time.Second,
		"gemini-cli-mcp-client-x": 590 * time.Second, "qwen-cli": 590 * time.Second, "gemini-cli2": 50 * time.Second, "": 50 * time.Second,
	} {
		p := newProxy(Options{Pins: nobody{}})
		if got := p.limit(&toolCall{client: name}); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if p.clientName.Store(name); p.limit(&toolCall{}) != want || p.limit(&toolCall{client: "someone"}) != 50*time.Second {
			t.Errorf("%s as it introduced itself: %s, want %s", name, p.limit(&toolCall{}), want)
		}
	}
	for limit, want := range map[time.Duration]time.Duration{30 * time.Second: 25 * time.Second, time.Minute: 50 * time.Second, time.Hour: time.Hour - 10*time.Second} {
		if got := newProxy(Options{Limit: limit, Pins: nobody{}}).limit(&toolCall{client: "claude-code"}); got != want {
			t.Errorf("a limit of %s leaves %s, want %s", limit, got, want)
		}
	}
}

// A run is named after its server, unless that name cannot be part of a key.
func TestSessionsNames(t *testing.T) {
	t.Parallel()
	for name, shown := range map[string]bool{"srv": true, strings.Repeat("n", 119): true, strings.Repeat("n", 121): false, "a b": false, "!~": true, "é": false, "a\x7f": false} {
		session := newProxy(Options{Name: name, Pins: nobody{}}).session
		if strings.HasPrefix(session, "mcp:"+name+":") != shown || len(session) > 150 || !strings.HasPrefix(session, "mcp:") {
			t.Errorf("%q: %s", name, session)
		}
	}
	if a, b := newProxy(Options{Pins: nobody{}}), newProxy(Options{Pins: nobody{}}); a.session == b.session {
		t.Error("two runs have one name")
	}
}

// Two calls with the same id are never in progress at once, and a call can be taken back as long
// as the server does not have it.
func TestUnderway(t *testing.T) {
	t.Parallel()
	var c calls
	gone := 0
	cancel := func() { gone++ }
	u := c.enter("a", cancel)
	if u == nil || c.enter("a", cancel) != nil || c.enter("b", cancel) == nil {
		t.Fatal("a name is taken twice, or never")
	}
	if c.cancel("x") || !c.cancel("a") || gone != 1 || c.send(u, nil, "") || c.leave("a", u) {
		t.Error("a call that was taken back is sent, or answered")
	}
	u = c.enter("a", cancel)
	if !c.send(u, &toolCall{name: "t"}, "id") || c.cancel("a") {
		t.Error("a call that the server has is taken back")
	}
	c.takeBack()
	if c.hold(u); gone != 1 {
		t.Error("a call that the server has is taken back at the end")
	}
	if got, early := c.answered("a"); got != u || early || got.approval != "id" || got.call.name != "t" {
		t.Error("an answer does not find its call")
	}
	if got, early := c.answered("a"); got != nil || early {
		t.Error("an answer finds a call that was answered")
	}
	if got, early := c.answered("b"); got != nil || !early {
		t.Error("an answer to a call that the server never had is handed on")
	}
	if u = c.enter("c", cancel); !c.leave("c", u) || c.enter("c", cancel) == nil {
		t.Error("a call that was left is still there")
	}
	c = calls{}
	held, judged := c.enter("held", cancel), c.enter("judged", cancel)
	c.hold(held)
	gone = 0
	if c.takeBack(); gone != 1 || c.leave("held", held) || !c.leave("judged", judged) {
		t.Errorf("%d calls are taken back, and not just the one that waits", gone)
	}
	late := c.enter("late", cancel)
	if c.hold(late); gone != 2 {
		t.Error("a call that begins to wait when nobody reads is not taken back")
	}
	c.end()
	if c.enter("new", cancel) != nil || c.begin("new", cancel, func(*underway) { t.Error("it runs") }) {
		t.Error("a call begins when nobody is left to run it")
	}
}

// Outcomes are read from answers; an answer that asks for more has none.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]struct {
		o     client.Outcome
		ended bool
	}{
		`"error":{"code":1,"message":"x"}`:         {client.Outcome{Detail: "the server answered with an error"}, true},
		`"result":{"isError":true}`:                {client.Outcome{Detail: "the tool says that it failed"}, true},
		`"result":{"isError":1}`:                   {client.Outcome{Detail: "the server's answer could not be read"}, true},
		`"result":{}`:                              {client.Outcome{Succeeded: true}, true},
		`"result":{"resultType":"complete"}`:       {client.Outcome{Succeeded: true}, true},
		`"result":{"resultType":"input_required"}`: {client.Outcome{Succeeded: true}, false},
	} {
		m, err := jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":1,` + answer + `}`))
		if o, ended := outcomeOf(m); err != nil || o != want.o || ended != want.ended {
			t.Errorf("%s: %+v %v %v", answer, o, ended, err)
		}
	}
}

// The _meta of a call is read where possible, and refused where two readers could read it
// differently.
func TestWhatStandsBesideACall(t *testing.T) {
	t.Parallel()
	for params, want := range map[string]string{
		`{"name":"t","_meta":null}`:                                               "",
		`{"name":"t","arguments":null,"inputResponses":null}`:                     "",
		`{"name":"t","_meta":{"progressToken":"a"}}`:                              `token "a"`,
		`{"name":"t","_meta":{"progressToken":7}}`:                                `token 7`,
		`{"name":"t","_meta":{"progressToken":[7]}}`:                              "",
		`{"name":"t","_meta":{"ProgressToken":7}}`:                                "error",
		`{"name":"t","_meta":[]}`:                                                 "error",
		`{"name":"t","arguments":7}`:                                              "error",
		`{"name":7}`:                                                              "error",
		`{"name":""}`:                                                             "error",
		`{"name":"t","inputResponses":{"a":1}}`:                                   "answers",
		`{"name":"t","requestState":null}`:                                        "",
		`{"name":"t","_meta":{"` + metaClient + `":{"name":"codex"}}}`:            "client codex meta 1",
		`{"name":"t","_meta":{"` + metaClient + `":7}}`:                           "meta 1",
		`{"name":"t","_meta":{"` + metaProtocol + `":"x","` + metaCaps + `":{}}}`: "typed meta 2",
	} {
		m, err := jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`))
		if err != nil {
			t.Fatal(err)
		}
		c, err := callOf(m)
		var got []string
		switch {
		case err != nil:
			got = []string{"error"}
		default:
			if c.token != nil {
				got = append(got, "token "+string(c.token))
			}
			if c.client != "" {
				got = append(got, "client "+c.client)
			}
			if c.answers {
				got = append(got, "answers")
			}
			if c.typed {
				got = append(got, "typed")
			}
			if c.meta != nil {
				got = append(got, "meta "+string(rune('0'+len(c.meta))))
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %q, want %q (%v)", params, s, want, err)
		}
	}
	c := &toolCall{meta: map[string]strictjson.Value{metaProtocol: strictjson.Value(`"x"`)}}
	for cursor, want := range map[string]string{
		"":  `{"id":"i","jsonrpc":"2.0","method":"tools/list","params":{"_meta":{"` + metaProtocol + `":"x"}}}`,
		"p": `{"id":"i","jsonrpc":"2.0","method":"tools/list","params":{"_meta":{"` + metaProtocol + `":"x"},"cursor":"p"}}`,
	} {
		if got := string(c.listing("i", cursor)); got != want {
			t.Errorf("the tools are asked for by %s", got)
		}
	}
	if got := string((&toolCall{}).listing("i", "")); got != `{"id":"i","jsonrpc":"2.0","method":"tools/list","params":{}}` {
		t.Errorf("the tools are asked for by %s", got)
	}
}

// What is known about tools comes from one complete listing. Pages of an incomplete one do not
// count, and a tool that is listed twice with different descriptions is asked about.
func TestListings(t *testing.T) {
	t.Parallel()
	tools := newToolset(pins{})
	learn := func(page string, first bool) (string, bool) { return tools.learn(strictjson.Value(page), first) }
	if cursor, ok := learn(`{"tools":[{"name":"a"}],"nextCursor":"p2"}`, true); cursor != "p2" || !ok || tools.knows("a") {
		t.Error("half a listing counts")
	}
	if _, ok := learn(`{"tools":[{"name":"b"}]}`, false); !ok || !tools.knows("a") || !tools.knows("b") || tools.knows("c") {
		t.Error("a whole listing does not count")
	}
	if learn(`{"tools":[{"name":"c"}],"nextCursor":"p2"}`, true); !tools.knows("a") || tools.knows("c") {
		t.Error("what was known is lost before the next listing is whole")
	}
	if learn(`{"tools":[{"name":"d"}]}`, true); tools.knows("a") || tools.knows("c") || !tools.knows("d") {
		t.Error("pages of two listings are put together")
	}
	for _, page := range []string{``, `[]`, `{"tools":[{}]}`, `{"tools":[{"name":""}]}`, `{"tools":[{"name":1}]}`, `{"tools":[{"name":"a","Name":"b"}]}`, `{"tools":[{"name":"a","description":{"x":1,"x":2}}]}`} {
		var raw strictjson.Value
		if page != "" {
			raw = strictjson.Value(page)
		}
		if _, ok := tools.learn(raw, true); ok {
			t.Errorf("%q is taken for a listing", page)
		}
	}
	for page, want := range map[string]int{
		`{"tools":[{"name":"d"},{"name":"d"}]}`:                                            0,
		`{"tools":[{"name":"d","title":"x"}]}`:                                             1,
		`{"tools":[{"name":"d"},{"name":"d","title":"x"}]}`:                                2,
		`{"tools":[{"name":"d","more":"of it"}]}`:                                          0,
		`{"tools":[{"name":"d","annotations":{"destructiveHint":true}}]}`:                  2,
		`{"tools":[{"name":"d","annotations":{"destructiveHint":true,"x":1,"X":[null]}}]}`: 2,
	} {
		learn(page, true)
		if all, digests := tools.concerns("d"); len(all) != want || len(digests) != 1 {
			t.Errorf("%s: %v", page, all)
		}
	}
	tools.stale()
	if all, digests := tools.concerns("d"); len(all) != 1 || all[0] != client.ToolUnlisted || digests != nil || tools.knows("d") {
		t.Errorf("after a change: %v", all)
	}
	known := pins{}
	if tools = newToolset(known); len(known) != 0 {
		t.Fatal("something is known of no tool")
	}
	if tools.accept("x", nil); len(known) != 0 {
		t.Error("a tool that was never listed is accepted")
	}
}

// A listing that never ends is read for a limited number of pages.
func TestListingsThatDoNotEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, pages := newProxy(Options{Pins: pins{}}), 0
		p.learn(t.Context(), "x", func(_ context.Context, cursor string) (jsonrpc.Message, error) {
			if pages++; (cursor == "") != (pages == 1) {
				t.Errorf("page %d is asked for by %q", pages, cursor)
			}
			return jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":1,"result":{"tools":[],"nextCursor":"p"}}`))
		})
		if pages != mostPages {
			t.Errorf("%d pages are read", pages)
		}
		for _, page := range []string{`{"tools":[]}`, `{"tools":[{}],"nextCursor":"p"}`} {
			pages = 0
			p.learn(t.Context(), "x", func(context.Context, string) (jsonrpc.Message, error) {
				pages++
				return jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":1,"result":` + page + `}`))
			})
			if pages != 1 {
				t.Errorf("%s is the first of %d pages", page, pages)
			}
		}
		start := time.Now()
		p.learn(t.Context(), "x", func(ctx context.Context, _ string) (jsonrpc.Message, error) {
			<-ctx.Done()
			return jsonrpc.Message{}, ctx.Err()
		})
		if took := time.Since(start); took != learnWithin {
			t.Errorf("a server that does not answer is waited for %s", took)
		}
		var said strings.Builder
		p.Log = &said
		pages = 0
		p.learn(t.Context(), "x", func(context.Context, string) (jsonrpc.Message, error) {
			pages++
			return jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`))
		})
		if !strings.Contains(said.String(), "answered with an error") || pages != 1 {
			t.Errorf("%d pages: %s", pages, said.String())
		}
	})
}

// The greeting uses the client's protocol version, or a default if the client gives none.
func TestGreeting(t *testing.T) {
	t.Parallel()
	for params, want := range map[string]string{``: "2025-06-18", `{}`: "2025-06-18", `{"protocolVersion":1}`: "2025-06-18", `{"protocolVersion":"x"}`: "x"} {
		var raw strictjson.Value
		if params != "" {
			raw = strictjson.Value(params)
		}
		if got := string(greeting(raw)); !strings.Contains(got, `"protocolVersion":"`+want+`"`) {
			t.Errorf("%s: %s", params, got)
		}
	}
}

// A valid question is answered, an invalid one is refused, and a message that needs no answer gets
// none.
func TestApproversMessages(t *testing.T) {
	t.Parallel()
	g := newGate()
	var out strings.Builder
	in := strings.Join([]string{
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"approve"}}`,
		`{"jsonrpc":"2.0","id":2,"method":"ping"}`, `{"jsonrpc":`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"approve","arguments":{"tool_name":"x__ok"}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"approve","arguments":{"tool_name":"","input":{}}}}`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"approve","arguments":{"tool_name":"x__ok","input":{},"Tool_name":"x"}}}`,
		`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"approve"}}`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"approve","arguments":{"tool_name":"x__no","input":{}},"_meta":{"` + metaProtocol + `":"x"}}}`, "",
	}, "\n")
	if err := Approve(t.Context(), Options{Gate: g}, strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, want := range []string{`"id":2,"result":{}`, `-32700`, `need a tool_name`, `need a tool_name`, `its arguments: the object`, `its arguments: the object`, `"resultType":"complete"`} {
		if i >= len(lines) || !strings.Contains(lines[i], want) {
			t.Errorf("answer %d is not %s:\n%s", i, want, out.String())
		}
	}
	if len(lines) != 7 || len(g.proposed) != 1 {
		t.Errorf("%d answers, %d questions:\n%s", len(lines), len(g.proposed), out.String())
	}
	broken, w := io.Pipe()
	w.CloseWithError(io.ErrUnexpectedEOF)
	if err := Approve(t.Context(), Options{Gate: g}, broken, &out); err == nil {
		t.Error("messages that break off end in no error")
	}
}

// deaf is a gate that accepts no reports.
type deaf struct{ *gate }

func (deaf) Report(context.Context, client.ID, client.Outcome) error { return client.ErrNotRunning }

// Outcomes are reported for calls that a person was asked about, and reports that fail are logged.
func TestReports(t *testing.T) {
	t.Parallel()
	g := newGate()
	var said strings.Builder
	p := newProxy(Options{Gate: g, Pins: nobody{}, Log: &said})
	p.takenBack(t.Context(), "")
	p.takenBack(t.Context(), "a")
	p.reports.Wait()
	if did := g.did(); did != "report a succeeded=false notrun=true" || said.String() != "" {
		t.Errorf("%s; %s", did, said.String())
	}
	p.Gate = deaf{g}
	p.ended(t.Context(), "a", client.Outcome{})
	if p.reports.Wait(); !strings.Contains(said.String(), "could not tell how a ended") {
		t.Errorf("the operator reads %q", said.String())
	}
	said.Reset()
	closed, w := io.Pipe()
	closed.Close()
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if err := Approve(t.Context(), Options{Gate: g, Log: &said}, in, w); err != nil || !strings.Contains(said.String(), "could not be written to") {
		t.Errorf("%v; the operator reads %q", err, said.String())
	}
}

// leaver is a gate at which the client leaves while its permit is being redeemed.
type leaver struct {
	*gate
	leave func()
}

func (l *leaver) Redeem(ctx context.Context, permit string, p client.Proposal) error {
	l.leave()
	return l.gate.Redeem(ctx, permit, p)
}

// A call that its client takes back while it is being allowed does not run, and that is reported.
func TestTakenBackWhenAllowed(t *testing.T) {
	t.Parallel()
	l := &leaver{}
	w := newWorld(t, func(o *Options) { l.gate, _ = o.Gate.(*gate); o.Gate = l })
	left := make(chan bool)
	l.leave = func() {
		defer close(left)
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		w.next() // By now the cancellation has been read.
	}
	w.send(toolsCall("1", "hold"))
	<-w.gate.held
	w.gate.allow()
	<-left
	w.end()
	if did := w.gate.did(); did != "redeem; report a-1 succeeded=false notrun=true" || strings.Contains(w.server.lines(), "tools/call") {
		t.Errorf("the gate: %s; the server:\n%s", did, w.server.lines())
	}
}

// Of two allowed calls with the same state, one runs.
func TestOneStateOneRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.server.describe(aTool("hold_more", ""))
	made := func(id, state string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"hold_more","arguments":{}` + state + `}}`
	}
	w.send(made("1", ""))
	<-w.gate.held
	w.gate.allow()
	w.next()
	w.send(made("2", `,"requestState":"s"`), made("3", `,"requestState":"s"`))
	<-w.gate.held
	<-w.gate.held
	w.server.silence()
	w.gate.allow()
	w.gate.allow()
	refused := w.next()
	w.end()
	if !strings.Contains(refused, "is not one that the server gave") || strings.Count(w.gate.did(), "notrun=true") != 1 || strings.Count(w.server.lines(), `"requestState"`) != 1 {
		t.Errorf("%s\nthe gate: %s", refused, w.gate.did())
	}
}

// A server's request is not the answer to a client's call with the same id.
func TestAServersRequestIsNoAnswer(t *testing.T) {
	t.Parallel()
	w := running(t)
	const request = `{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage"}`
	for _, line := range []string{request, `{"jsonrpc":"2.0","id":1,"result":{}}`} {
		if _, err := io.WriteString(w.toClient, line+"\n"); err != nil || w.next() != line {
			t.Errorf("%s does not pass: %v", line, err)
		}
	}
	w.end()
	if did := w.gate.did(); did != "redeem; report a-1 succeeded=true notrun=false" {
		t.Errorf("the gate: %s", did)
	}
}

// Calls run concurrently and one after another, each exactly once, and no goroutine is left over.
func TestCallsRunBesideTheMessages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c calls
		var ran atomic.Int32
		leave := make(chan struct{})
		for round := range 3 {
			for n := range 4 {
				key := fmt.Sprint(round, ".", n)
				if !c.begin(key, func() {}, func(u *underway) {
					ran.Add(1)
					<-leave
					c.leave(key, u)
				}) {
					t.Fatal(key)
				}
			}
			synctest.Wait()
			if got := ran.Load(); got != int32(4*(round+1)) {
				t.Errorf("%d calls run beside one another in round %d", got, round)
			}
			for range 4 {
				leave <- struct{}{}
			}
			c.asked.Wait()
		}
		c.end()
		c.end()
	})
}
