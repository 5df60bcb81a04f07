package acp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/metnos/vaglio/gateway/client"
)

// gate answers as the test says, and records what it is asked.
type gate struct {
	mu       sync.Mutex
	answer   client.Answer
	proposed []client.Proposal
	did      []string
	waits    chan struct{}
}

func (g *gate) note(format string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.did = append(g.did, fmt.Sprintf(format, args...))
}

func (g *gate) Propose(_ context.Context, r client.Request) (client.Answer, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.proposed = append(g.proposed, r.Proposal)
	return g.answer, nil
}

func (g *gate) Await(ctx context.Context, _ client.ID, _ time.Duration) (client.Answer, error) {
	g.waits <- struct{}{}
	<-ctx.Done()
	return client.Answer{}, ctx.Err()
}

func (g *gate) Withdraw(_ context.Context, id client.ID) (client.Answer, error) {
	g.note("withdraw %s", id)
	return client.Answer{}, nil
}

func (g *gate) Redeem(context.Context, string, client.Proposal) error {
	g.note("redeem")
	return nil
}

func (g *gate) Report(_ context.Context, id client.ID, o client.Outcome) error {
	g.note("report %s %t", id, o.Succeeded)
	if o.NotRun {
		g.note("not run")
	}
	return nil
}

// world is an editor, the proxy and an agent.
type world struct {
	t                 *testing.T
	gate              *gate
	editor, agent     *io.PipeWriter
	atEditor, atAgent *bufio.Scanner
	done              chan error
}

func newWorld(t *testing.T, answer client.Answer) *world {
	t.Helper()
	fromEditor, editor := io.Pipe()
	toEditor, editorOut := io.Pipe()
	fromAgent, agent := io.Pipe()
	toAgent, agentOut := io.Pipe()
	w := &world{
		t: t, gate: &gate{answer: answer, waits: make(chan struct{}, 8)}, editor: editor, agent: agent,
		atEditor: bufio.NewScanner(toEditor), atAgent: bufio.NewScanner(toAgent), done: make(chan error, 1),
	}
	go func() {
		w.done <- Pass(t.Context(), Options{Gate: w.gate}, Streams{fromEditor, editorOut, fromAgent, agentOut})
	}()
	return w
}

func (w *world) write(to io.Writer, line string) {
	w.t.Helper()
	if _, err := io.WriteString(to, line+"\n"); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read(from *bufio.Scanner) string {
	w.t.Helper()
	if !from.Scan() {
		w.t.Fatal("nothing more is said")
	}
	return from.Text()
}

func (w *world) end() {
	w.t.Helper()
	w.agent.Close()
	if err := <-w.done; err != nil {
		w.t.Error(err)
	}
}

const allOptions = `[{"optionId":"always","kind":"allow_always"},{"optionId":"proceed_once","kind":"allow_once"},{"optionId":"never","kind":"reject_always"},{"optionId":"no","kind":"reject_once"}]`

func asks(call, options string) string {
	return `{"jsonrpc":"2.0","id":5,"method":"session/request_permission","params":{"sessionId":"s","toolCall":` + call + `,"options":` + options + `}}`
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	const command = `{"toolCallId":"c","title":"touch x","kind":"execute","rawInput":{"command":"touch x"}}`
	approved := client.Answer{Decision: client.Allow, Verdict: client.Verdict{Approved: true}}
	allowed := client.Answer{Decision: client.Allow, Permit: &client.Permit{Permit: "p"}, Approval: &client.Approval{ID: "a"}}
	denied := client.Answer{Decision: client.Deny, Text: "no"}
	for name, tc := range map[string]struct {
		gate          client.Answer
		call, options string
		want, did     string
	}{
		"approved":           {approved, command, allOptions, `"optionId":"proceed_once","outcome":"selected"`, ""},
		"allowed":            {allowed, command, allOptions, `"optionId":"proceed_once","outcome":"selected"`, "redeem"},
		"denied":             {denied, command, allOptions, `"optionId":"no","outcome":"selected"`, ""},
		"only-always":        {allowed, command, `[{"optionId":"always","kind":"allow_always"}]`, `{"outcome":"cancelled"}`, "redeem; report a false; not run"},
		"only-always-judged": {approved, command, `[{"optionId":"always","kind":"allow_always"}]`, `{"outcome":"cancelled"}`, ""},
		"no-rejecting":       {denied, command, `[{"optionId":"x","kind":"allow_once"}]`, `{"outcome":"cancelled"}`, ""},
		"lying-ids":          {denied, command, `[{"optionId":"reject_once","kind":"allow_once"}]`, `{"outcome":"cancelled"}`, ""},
		"strange":            {client.Answer{Decision: client.Allow}, command, allOptions, `"optionId":"no"`, ""},
		"duplicate-in-arg":   {approved, `{"kind":"execute","rawInput":{"command":"\u0000"}}`, allOptions, `{"outcome":"cancelled"}`, ""},
		"no-options":         {approved, command, `7`, `{"outcome":"cancelled"}`, ""},
		"about-nothing":      {approved, `{"toolCallId":"c","kind":"execute","rawInput":{}}`, allOptions, `{"outcome":"cancelled"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tc.gate)
			w.write(w.agent, asks(tc.call, tc.options))
			if got := w.read(w.atAgent); !strings.Contains(got, tc.want) || !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":5,"result":`) {
				t.Errorf("the agent got %s, want %s", got, tc.want)
			}
			w.end()
			if did := strings.Join(w.gate.did, "; "); did != tc.did {
				t.Errorf("the gate: %s, want %s", did, tc.did)
			}
		})
	}
}

func TestWhatIsProposed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, client.Answer{Decision: client.Deny, Text: "no"})
	w.write(w.editor, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/work","mcpServers":[]}}`)
	w.read(w.atAgent)
	w.write(w.agent, `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}`)
	w.read(w.atEditor)
	const told = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update",%s}}}`
	for _, row := range []struct {
		updates    []string
		call, want string
	}{
		{nil, `{"kind":"execute","rawInput":{"command":"ls","n":9007199254740993}}`, "acp__execute map[command:ls n:9007199254740993] [code:exec]"},
		{nil, `{"kind":"delete","rawInput":{"path":"x"}}`, "acp__delete map[path:x] []"},
		// The title alone may be the command, so the guard reads it, or only describe it.
		{nil, `{"kind":"execute","title":"rm -rf /","locations":[]}`, "acp__execute map[command:rm -rf /] [code:exec]call-untold"},
		{
			nil, `{"kind":"execute","title":"ls","content":[{"type":"content","content":{"type":"text","text":"in /work"}},{"type":"terminal","terminalId":"t"}]}`,
			"acp__execute map[command:ls description:in /work] [code:exec]call-untold",
		},
		{
			nil, `{"kind":"read","title":"Read id_rsa","locations":[{"path":"/home/u/.ssh/id_rsa"}]}`,
			"acp__tool_call map[paths:[/home/u/.ssh/id_rsa] title:Read id_rsa] []call-untold",
		},
		{nil, `{"kind":"edit","title":"Writing to a","locations":[{"path":"/work/a"}]}`, "acp__edit map[paths:[/work/a] title:Writing to a] []call-untold"},
		{nil, `{"kind":"other","title":"count","rawInput":["a"]}`, "acp__tool_call map[input:[a] title:count] []call-untold"},
		// An edit does nothing but give files their new contents.
		{
			nil, `{"kind":"edit","title":"Writing","content":[{"type":"diff","path":"/work/a","oldText":null,"newText":"x"},{"type":"diff","path":"/work/b","oldText":"y","newText":""}]}`,
			"acp__edit map[changes:[map[new_text:x path:/work/a] map[new_text: old_text:y path:/work/b]] title:Writing] []",
		},
		// What was told earlier counts until it is replaced or the call has ended.
		{
			[]string{`"toolCallId":"c","title":"Shell","kind":"execute","rawInput":{}`, `"toolCallId":"c","title":"ls","rawInput":{"command":"ls"}`},
			`{"toolCallId":"c","title":"Run"}`, "acp__execute map[command:ls] [code:exec]",
		},
		{nil, `{"toolCallId":"c","rawInput":{"command":"pwd"}}`, "acp__execute map[command:pwd] [code:exec]"},
		{
			[]string{`"toolCallId":"c","status":"completed"`, `"toolCallId":"d","kind":"edit","content":[{"type":"diff","path":"/work/a","newText":"x"}]`},
			`{"toolCallId":"c","title":"Run"}`, "acp__tool_call map[title:Run] []call-untold",
		},
		{nil, `{"toolCallId":"d","rawInput":{}}`, "acp__edit map[changes:[map[new_text:x path:/work/a]]] []"},
		// The draft of the protocol's second version.
		{
			nil, `null,"title":"May I?","description":"It lists","subject":{"type":"command","command":"rm -rf /","cwd":"/work"}`,
			"acp__tool_call map[explanation:It lists subject:map[command:rm -rf / cwd:/work type:command] title:May I?] []call-untold",
		},
	} {
		for _, u := range row.updates {
			w.write(w.agent, fmt.Sprintf(told, u))
			w.read(w.atEditor)
		}
		w.write(w.agent, asks(row.call, allOptions))
		w.read(w.atAgent)
		p := w.gate.proposed[len(w.gate.proposed)-1]
		got := fmt.Sprint(p.Executor, " ", p.Args, " ", p.Context.Capability)
		for _, c := range p.Context.Concerns {
			got += string(c)
		}
		if got != row.want || p.Context.Cwd != "/work" {
			t.Errorf("%s is proposed in %s as\n%s\nwant\n%s", row.call, p.Context.Cwd, got, row.want)
		}
	}
	w.end()
}

func TestAllElsePasses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, client.Answer{})
	for _, line := range []string{`{ "jsonrpc":"2.0","id":0,"method":"initialize","params":{"x":1.50}}`, `not for us`} {
		w.write(w.editor, line)
		if got := w.read(w.atAgent); got != line {
			t.Errorf("the agent got %s", got)
		}
	}
	for _, line := range []string{`{"jsonrpc":"2.0","id":9,"method":"fs/read_text_file","params":{"path":"a"}, "later":1.0}`} {
		w.write(w.agent, `{"jsonrpc":"2.0","id":1,"method":"session/request_permission","Method":"x","params":{}}`) // dropped
		w.write(w.agent, line)
		if got := w.read(w.atEditor); got != line {
			t.Errorf("the editor got %s", got)
		}
	}
	w.end()
}

// An allowed call's outcome is reported once.
func TestTheOutcomeIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, client.Answer{Decision: client.Allow, Permit: &client.Permit{Permit: "p"}, Approval: &client.Approval{ID: "a"}})
	w.write(w.agent, asks(`{"toolCallId":"c","kind":"execute","rawInput":{"command":"x"}}`, allOptions))
	w.read(w.atAgent)
	for _, status := range []string{"in_progress", "failed", "completed"} {
		w.write(w.agent, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"`+status+`"}}}`)
		w.read(w.atEditor)
	}
	w.end()
	if did := strings.Join(w.gate.did, "; "); did != "redeem; report a false" {
		t.Errorf("the gate: %s", did)
	}
}

// A question is withdrawn when either side goes away or takes it back.
func TestTakenBack(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(w *world){
		"cancelled": func(w *world) {
			w.write(w.editor, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`)
			for range 2 { // the notice, and the answer to the question
				w.read(w.atAgent)
			}
		},
		"session-closed": func(w *world) {
			w.write(w.editor, `{"jsonrpc":"2.0","id":3,"method":"session/close","params":{"sessionId":"s"}}`)
			for range 2 {
				w.read(w.atAgent)
			}
		},
		"by-the-agent": func(w *world) { // The editor never saw the question, so it hears nothing of it.
			w.write(w.agent, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":5}}`)
			w.read(w.atAgent)
			w.write(w.agent, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":6}}`)
			if got := w.read(w.atEditor); !strings.Contains(got, `"requestId":6`) {
				w.t.Errorf("the editor got %s", got)
			}
		},
		"editor-gone": func(w *world) { w.editor.Close(); w.read(w.atAgent) },
		"agent-gone":  func(w *world) { w.agent.Close(); w.read(w.atAgent) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, client.Answer{Decision: client.Pending, Approval: &client.Approval{ID: "a"}})
			w.write(w.agent, asks(`{"kind":"execute","rawInput":{"command":"x"}}`, allOptions))
			<-w.gate.waits
			take(w)
			w.end()
			if did := strings.Join(w.gate.did, "; "); did != "withdraw a" {
				t.Errorf("the gate: %s", did)
			}
		})
	}
}
