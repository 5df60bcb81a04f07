package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/metnos/vaglio/gateway/ask"
	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/gateway/jsonrpc"
	"github.com/metnos/vaglio/internal/strictjson"
)

// ApproveTool is the only tool of [Approve].
const ApproveTool = "approve"

// Approve serves a tool over stdio that Claude Code asks instead of its user: the one that
// --permission-prompt-tool names. Each question is about a call of another tool, and goes to
// the gate. Approve returns when the client's input ends.
func Approve(ctx context.Context, o Options, in io.Reader, out io.Writer) error {
	o.Pins = nobody{}
	a := &approver{proxy: newProxy(o), client: jsonrpc.NewWriter(out)}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer a.calls.end()
	defer a.calls.takeBack()
	err := jsonrpc.NewReader(in).Each(func(line []byte) {
		m, err := jsonrpc.Parse(line)
		if err != nil {
			a.answer(jsonrpc.Failure(jsonrpc.ID{}, jsonrpc.CodeParse, "vaglio: the message "+err.Error()))
			return
		}
		a.message(ctx, m)
	}, a.answer)
	if err != nil {
		return fmt.Errorf("mcp: read the client's messages: %w", err)
	}
	return nil
}

// nobody is the [Pins] of a proxy without a server.
type nobody struct{}

// Meet does nothing.
func (nobody) Meet(map[string]string) {}

// Fits reports true.
func (nobody) Fits(string, string) bool { return true }

// Accept does nothing.
func (nobody) Accept(string, string) {}

type approver struct {
	*proxy
	client *jsonrpc.Writer
	calls  calls
}

func (a *approver) answer(message []byte) {
	if message == nil {
		return
	}
	if err := a.client.Send(message); err != nil {
		a.log("the client could not be written to: %v", err)
	}
}

const approveTools = `{"tools":[{"name":"` + ApproveTool + `","description":"Asks a person whether a tool call may run.","inputSchema":` +
	`{"type":"object","required":["tool_name","input"],"properties":{"tool_name":{"type":"string"},"input":{"type":"object"},"tool_use_id":{"type":"string"}}}}]}`

// codeNoMethod is the JSON-RPC code for an unknown method.
const codeNoMethod = -32601

func (a *approver) message(ctx context.Context, m jsonrpc.Message) {
	switch {
	case m.Method == methodCancelled:
		a.calls.cancel(m.Cancels())
	case m.Method == "" || !m.ID.Given():
	case m.Method == methodInitialize:
		a.answer(jsonrpc.Response(m.ID, greeting(m.Params)))
	case m.Method == "ping":
		a.answer(jsonrpc.Response(m.ID, []byte(`{}`)))
	case m.Method == methodList:
		a.answer(jsonrpc.Response(m.ID, []byte(approveTools)))
	case m.Method == methodCall:
		a.call(ctx, m)
	default:
		a.answer(jsonrpc.Failure(m.ID, codeNoMethod, "there is no such method"))
	}
}

// greeting returns the answer to initialize, in the protocol version of the client.
func greeting(params strictjson.Value) []byte {
	var said struct {
		Version string `json:"protocolVersion"`
	}
	if params == nil || strictjson.UnmarshalLoose(params, &said) != nil || said.Version == "" {
		said.Version = "2025-06-18"
	}
	out, err := strictjson.Marshal(map[string]any{
		"protocolVersion": said.Version, "capabilities": map[string]any{"tools": map[string]any{}},
		"serverInfo": map[string]string{"name": "vaglio", "version": "1"},
	})
	if err != nil {
		return []byte(`{}`)
	}
	return out
}

func (a *approver) call(ctx context.Context, m jsonrpc.Message) {
	c, err := callOf(m)
	var q question
	if err == nil {
		q, err = questionOf(m, c)
	}
	if err != nil {
		a.answer(jsonrpc.Failure(m.ID, jsonrpc.CodeInvalid, "vaglio: the call does not run: "+err.Error()))
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	if !a.calls.begin(m.ID.Key(), cancel, func(u *underway) {
		defer cancel()
		c.client = claudeCode
		r, err := a.ask(ctx, c, client.Proposal{
			TurnID: a.session, Executor: q.tool, Args: q.args, Context: client.Context{Client: claudeCode, Cwd: a.Cwd},
		}, asking{held: func() { a.calls.hold(u) }, tell: a.answer})
		if a.calls.leave(m.ID.Key(), u) && err == nil {
			a.answer(q.answer(c, r))
		}
	}) {
		cancel()
		a.answer(jsonrpc.Failure(m.ID, jsonrpc.CodeInvalid, idTaken))
	}
}

// question is a call that Claude Code asks about.
type question struct {
	tool, use string
	input     strictjson.Value
	args      map[string]any
}

func questionOf(m jsonrpc.Message, c *toolCall) (question, error) {
	if c.name != ApproveTool {
		return question{}, errors.New("the only tool is " + ApproveTool)
	}
	params, err := jsonrpc.Object(m.Params)
	if err != nil {
		return question{}, err
	}
	args, err := jsonrpc.Object(params["arguments"], "tool_name", "input", "tool_use_id")
	if err != nil {
		return question{}, fmt.Errorf("its arguments: the object %w", err)
	}
	q := question{input: args["input"]}
	q.args, _ = c.args["input"].(map[string]any)
	q.tool, _ = c.args["tool_name"].(string)
	q.use, _ = c.args["tool_use_id"].(string)
	if q.tool == "" || q.args == nil {
		return q, errors.New("its arguments need a tool_name that is a string and an input that is an object")
	}
	return q, nil
}

// claudeCode is the client that makes the calls.
const claudeCode = "claude-code"

// answer tells Claude Code, in its own format, whether the call may run.
func (q question) answer(c *toolCall, r ask.Ruling) []byte {
	said := map[string]any{"behavior": "deny", "message": r.Text}
	if r.Run {
		said = map[string]any{"behavior": "allow", "updatedInput": q.input}
	}
	text, err := strictjson.MarshalLossy(said)
	result := map[string]any{"content": []any{map[string]any{"type": "text", "text": string(text)}}}
	if c.typed {
		result["resultType"] = "complete"
	}
	raw, wrong := strictjson.Marshal(result)
	if err != nil || wrong != nil {
		return c.refused("vaglio: this call did not run")
	}
	return jsonrpc.Response(c.id, raw)
}
