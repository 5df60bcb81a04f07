package mcp

import (
	"errors"
	"fmt"

	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/gateway/jsonrpc"
	"github.com/metnos/vaglio/internal/strictjson"
)

// The methods that a proxy looks into.
const (
	methodCall        = "tools/call"
	methodList        = "tools/list"
	methodInitialize  = "initialize"
	methodCancelled   = "notifications/cancelled"
	methodListChanged = "notifications/tools/list_changed"
	methodProgress    = "notifications/progress"
)

// The keys that clients write beside a request's parameters.
const (
	metaProtocol = "io.modelcontextprotocol/protocolVersion"
	metaClient   = "io.modelcontextprotocol/clientInfo"
	metaCaps     = "io.modelcontextprotocol/clientCapabilities"
)

// toolCall is one tools/call as far as it matters here.
type toolCall struct {
	id   jsonrpc.ID
	name string
	args map[string]any
	// token is what the client wants its progress told under, nil if it does not.
	token strictjson.Value
	// client is what the client calls itself, where each request says so.
	client string
	// state is what the client brings back of an answer that wanted more, nil if it brings
	// nothing; answers says that it says what was wanted.
	state   *string
	answers bool
	// typed says that results tell of which type they are.
	typed bool
	// meta is what a request of our own in this client's place must hold.
	meta map[string]strictjson.Value
}

// callOf reads a call. Its error is for the client and holds no value.
func callOf(m jsonrpc.Message) (*toolCall, error) {
	params, err := jsonrpc.Object(m.Params, "name", "arguments", "_meta", inputResponses, requestState)
	if err != nil {
		return nil, fmt.Errorf("its params: the object %w", err)
	}
	c := &toolCall{id: m.ID, args: map[string]any{}}
	if strictjson.UnmarshalLoose(params["name"], &c.name) != nil || c.name == "" {
		return nil, errors.New("its params have no name that is a text")
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

// goesOn reads what a client brings to a server that wanted more.
func (c *toolCall) goesOn(responses, state strictjson.Value) error {
	if responses != nil && responses.Kind() != 'n' {
		var inputs any
		if _, taken := c.args[inputResponses]; taken || strictjson.Unmarshal(responses, &inputs) != nil {
			return errors.New("its inputResponses cannot be read, or are an argument's name too")
		}
		// What a server has asked for in the meantime is part of what would run.
		c.args[inputResponses], c.answers = inputs, true
	}
	if state != nil && strictjson.UnmarshalLoose(state, &c.state) != nil {
		return errors.New("its requestState is not a text")
	}
	return nil
}

// inputResponses are what a client has to say to a server that wanted more before it
// goes on with a call, which is then made again.
const inputResponses = "inputResponses"

// about reads what stands beside the parameters.
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

// nameOf is the name in a client's description of itself.
func nameOf(info strictjson.Value) string {
	var said struct {
		Name string `json:"name"`
	}
	if info == nil || strictjson.UnmarshalLoose(info, &said) != nil {
		return ""
	}
	return said.Name
}

// refused is the response that tells the model why its call did not run.
func (c *toolCall) refused(text string) []byte {
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

// progressed is the n-th notification that a held call makes no progress yet, nil if
// the client wants none. Its steps are small: the server's own, which come later,
// must be greater.
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

// listing is a request for the server's tools, in the place of the call's client.
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

// outcomeOf says how a call ended by the response to it, and whether it did: a server
// that wants more from the client first has not ended it.
func outcomeOf(m jsonrpc.Message) (o client.Outcome, ended bool) {
	if m.Error != nil {
		return client.Outcome{Detail: "the server answered with an error"}, true
	}
	var result struct {
		IsError bool   `json:"isError"`
		Type    string `json:"resultType"`
	}
	if strictjson.UnmarshalLoose(m.Result, &result) != nil {
		return client.Outcome{Detail: "the server's answer could not be read"}, true
	}
	if result.IsError {
		return client.Outcome{Detail: "the tool says that it failed"}, true
	}
	return client.Outcome{Succeeded: true}, result.Type != "input_required"
}
