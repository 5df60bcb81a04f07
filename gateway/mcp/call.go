package mcp

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/gateway/jsonrpc"
	"github.com/metnos/vaglio/internal/strictjson"
)

// The methods that the proxy handles itself.
const (
	methodCall        = "tools/call"
	methodRead        = "resources/read"
	methodList        = "tools/list"
	methodInitialize  = "initialize"
	methodCancelled   = "notifications/cancelled"
	methodListChanged = "notifications/tools/list_changed"
	methodProgress    = "notifications/progress"
)

// The keys of a request's _meta that the proxy uses.
const (
	metaProtocol = "io.modelcontextprotocol/protocolVersion"
	metaClient   = "io.modelcontextprotocol/clientInfo"
	metaCaps     = "io.modelcontextprotocol/clientCapabilities"
)

// toolCall is the part of a tools/call, or of a resources/read, that the proxy uses.
type toolCall struct {
	id   jsonrpc.ID
	name string
	args map[string]any
	// reads says that it reads a resource; name is then the method.
	reads bool
	// token is the client's progress token, nil if it wants no progress notifications.
	token strictjson.Value
	// client is the client's name, if each of its requests states it.
	client string
	// state is the requestState that the client returns to the server, nil if there is none.
	// answers says that the client answers what the server asked for.
	state   *string
	answers bool
	// typed says that results must state their type.
	typed bool
	// meta is what our own requests on behalf of this client must contain.
	meta map[string]strictjson.Value
}

// disguised says why a method that is none of ours must not reach the server: a careless server
// may take it for one that we ask about. It returns "" for any other method.
func disguised(method string) string {
	if method == methodCall || method == methodRead {
		return ""
	}
	if strings.ContainsFunc(method, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "its method has other characters than visible ASCII"
	}
	letters := strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, method)
	for _, ours := range []string{methodCall, methodRead} {
		if strings.Contains(letters, strings.ReplaceAll(ours, "/", "")) {
			return "its method is not " + ours + ", and a server may take it for that"
		}
	}
	return ""
}

// callOf parses a call. Its error is for the client and contains no values.
func callOf(m jsonrpc.Message) (*toolCall, error) {
	if m.Method == methodRead {
		return readOf(m)
	}
	params, err := jsonrpc.Object(m.Params, "name", "arguments", "_meta", inputResponses, requestState)
	if err != nil {
		return nil, fmt.Errorf("its params: the object %w", err)
	}
	c := &toolCall{id: m.ID, args: map[string]any{}}
	if strictjson.UnmarshalLoose(params["name"], &c.name) != nil || c.name == "" {
		return nil, errors.New("its params have no name that is a string")
	}
	if raw, given := params["arguments"]; given && raw.Kind() != 'n' {
		if raw.Kind() != '{' {
			return nil, errors.New("its arguments are not an object")
		}
		if err := strictjson.Unmarshal(raw, &c.args); err != nil {
			return nil, fmt.Errorf("its arguments: %w", err)
		}
	}
	if err := c.goesOn(params[inputResponses], params[requestState]); err != nil {
		return nil, err
	}
	return c, c.about(params["_meta"])
}

// readOf parses a request for a resource. All that says what is read is an argument.
func readOf(m jsonrpc.Message) (*toolCall, error) {
	params, err := jsonrpc.Object(m.Params, "uri", "_meta", inputResponses, requestState)
	if err != nil {
		return nil, fmt.Errorf("its params: the object %w", err)
	}
	c := &toolCall{id: m.ID, name: methodRead, reads: true, args: map[string]any{}}
	for key, raw := range params {
		var v any
		if key == "_meta" || key == inputResponses || key == requestState {
			continue
		}
		if err := strictjson.Unmarshal(raw, &v); err != nil {
			return nil, fmt.Errorf("its params: %w", err)
		}
		c.args[key] = v
	}
	if uri, ok := c.args["uri"].(string); !ok || uri == "" {
		return nil, errors.New("its params have no uri that is a text")
	}
	if err := c.goesOn(params[inputResponses], params[requestState]); err != nil {
		return nil, err
	}
	return c, c.about(params["_meta"])
}

// goesOn reads what a client sends to a server that asked for more.
func (c *toolCall) goesOn(responses, state strictjson.Value) error {
	if responses != nil && responses.Kind() != 'n' {
		var inputs any
		if _, taken := c.args[inputResponses]; taken || strictjson.Unmarshal(responses, &inputs) != nil {
			return errors.New("its inputResponses cannot be read, or an argument has that name too")
		}
		// What the server asked for in the meantime is part of what would run.
		c.args[inputResponses], c.answers = inputs, true
	}
	if state != nil && strictjson.UnmarshalLoose(state, &c.state) != nil {
		return errors.New("its requestState is not a text")
	}
	return nil
}

// inputResponses is the member with the client's answers to a server that asked for more
// before it goes on with a call. The client then makes the call again.
const inputResponses = "inputResponses"

// about reads the _meta of the parameters.
func (c *toolCall) about(raw strictjson.Value) error {
	if raw == nil || raw.Kind() == 'n' {
		return nil
	}
	meta, err := jsonrpc.Object(raw, "progressToken", metaProtocol, metaClient, metaCaps)
	if err != nil {
		return fmt.Errorf("its _meta: the object %w", err)
	}
	if token := meta["progressToken"]; token.Kind() == '"' || token.Kind() == '0' {
		c.token = token
	}
	c.client = nameOf(meta[metaClient])
	_, c.typed = meta[metaProtocol]
	for _, key := range []string{metaProtocol, metaClient, metaCaps} {
		if v, given := meta[key]; given {
			if c.meta == nil {
				c.meta = map[string]strictjson.Value{}
			}
			c.meta[key] = v
		}
	}
	return nil
}

// nameOf returns the name in a client's description of itself.
func nameOf(info strictjson.Value) string {
	var said struct {
		Name string `json:"name"`
	}
	if info == nil || strictjson.UnmarshalLoose(info, &said) != nil {
		return ""
	}
	return said.Name
}

// refused returns the response that tells the model why its call did not run.
func (c *toolCall) refused(text string) []byte {
	if c.reads {
		return jsonrpc.Failure(c.id, jsonrpc.CodeInvalid, text)
	}
	result := map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}, "isError": true}
	if c.typed {
		result["resultType"] = "complete"
	}
	raw, err := strictjson.MarshalLossy(result)
	if err != nil {
		raw = []byte(`{"content":[{"type":"text","text":"vaglio: this call did not run"}],"isError":true}`)
	}
	return jsonrpc.Response(c.id, raw)
}

// progressed returns the n-th progress notification for a held call, nil if the client wants
// none. Its steps are tiny, because the server's own values, which come later, must be greater.
func (c *toolCall) progressed(n int, text string) []byte {
	if c.token == nil {
		return nil
	}
	message, err := strictjson.MarshalLossy(text)
	if err != nil {
		return nil
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":{"progressToken":%s,"progress":%.6f,"message":%s}}`,
		methodProgress, c.token, float64(n)/1e6, message)
}

// listing returns a request for the server's tools on behalf of the call's client.
func (c *toolCall) listing(id, cursor string) []byte {
	params := map[string]any{}
	if cursor != "" {
		params["cursor"] = cursor
	}
	if c.meta != nil {
		params["_meta"] = c.meta
	}
	raw, err := strictjson.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": methodList, "params": params})
	if err != nil {
		return nil
	}
	return raw
}

// outcomeOf returns how a call ended according to its response, and whether it has ended: a
// server that asks the client for more, or goes on with it as a task, has not ended it.
func outcomeOf(m jsonrpc.Message) (o client.Outcome, ended bool) {
	if m.Error != nil {
		return client.Outcome{Detail: "the server answered with an error"}, true
	}
	var result struct {
		IsError bool   `json:"isError"`
		Type    string `json:"resultType"`
		// Task is what a server answers that goes on with the call by itself.
		Task strictjson.Value `json:"task"`
	}
	if strictjson.UnmarshalLoose(m.Result, &result) != nil {
		return client.Outcome{Detail: "the server's answer could not be read"}, true
	}
	if result.IsError {
		return client.Outcome{Detail: "the tool says that it failed"}, true
	}
	return client.Outcome{Succeeded: true}, result.Type != "input_required" && result.Task.Kind() != '{'
}
