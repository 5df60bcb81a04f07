// Package anthropic asks models over Anthropic's own API, the one through which Anthropic's servers
// enforce a schema. It is written out here because the vendor's library is larger than the rest of
// vaglio together.
package anthropic

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio/judge/model"
)

// version is the version of the API that we use.
const version = "2023-06-01"

// Model is one model on one server. It is safe for concurrent use.
type Model struct {
	http *http.Client
	at   model.Server
}

// New returns the model of a server.
func New(s model.Server) *Model {
	s.URL = strings.TrimRight(s.URL, "/") + "/v1/messages"
	return &Model{s.HTTP(), s}
}

// request is the body of a request.
type request struct {
	Model     string         `json:"model"`
	MaxTokens int            `json:"max_tokens"`
	System    []block        `json:"system"`
	Messages  []message      `json:"messages"`
	Tools     []toolSpec     `json:"tools,omitempty"`
	Choice    *toolChoice    `json:"tool_choice,omitempty"`
	Output    *outputSetting `json:"output_config,omitempty"`
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

// block is a piece of a message, of type text, tool_use or tool_result.
type block struct {
	Type      string           `json:"type"`
	Text      string           `json:"text,omitempty"`
	ID        string           `json:"id,omitempty"`
	Name      string           `json:"name,omitempty"`
	Input     strictjson.Value `json:"input,omitempty"`
	ToolUseID string           `json:"tool_use_id,omitempty"`
	Content   []block          `json:"content,omitempty"`
	IsError   bool             `json:"is_error,omitzero"`
}

type toolSpec struct {
	Name        string           `json:"name"`
	Description string           `json:"description"`
	InputSchema strictjson.Value `json:"input_schema"`
}

type toolChoice struct {
	Type string `json:"type"`
}

type outputSetting struct {
	Format struct {
		Type   string           `json:"type"`
		Schema strictjson.Value `json:"schema"`
	} `json:"format"`
}

// answer is the body of a response.
type answer struct {
	Type       string  `json:"type"`
	Role       string  `json:"role"`
	StopReason string  `json:"stop_reason"`
	Content    []block `json:"content"`
	Usage      struct {
		Input      int `json:"input_tokens"`
		Output     int `json:"output_tokens"`
		CacheWrite int `json:"cache_creation_input_tokens"`
		CacheRead  int `json:"cache_read_input_tokens"`
	} `json:"usage"`
}

// Complete asks the model once.
func (m *Model) Complete(ctx context.Context, r model.Request) (model.Reply, error) {
	a, err := m.send(ctx, &r)
	if err != nil {
		return model.Reply{}, err
	}
	reply := model.Reply{
		Refused: a.StopReason == "refusal",
		Cut:     a.StopReason == "max_tokens" || a.StopReason == "model_context_window_exceeded",
		Usage:   model.Usage{Input: a.Usage.Input + a.Usage.CacheWrite + a.Usage.CacheRead, Output: a.Usage.Output},
	}
	var text strings.Builder
	for i := range a.Content {
		switch b := &a.Content[i]; b.Type {
		case "text":
			text.WriteString(b.Text)
		case "tool_use":
			reply.Calls = append(reply.Calls, model.ToolCall{ID: b.ID, Name: r.ToolNamed(b.Name), Args: b.Input})
		}
	}
	reply.Text = text.String()
	return reply, nil
}

// send sends the request and decodes the response.
func (m *Model) send(ctx context.Context, r *model.Request) (*answer, error) {
	body, err := strictjson.Marshal(m.request(r))
	if err != nil {
		return nil, &model.Error{Fault: model.FaultRequest, Err: err}
	}
	later := new(model.Later)
	req, err := http.NewRequestWithContext(context.WithValue(ctx, model.LaterKey(), later), http.MethodPost, m.at.URL, bytes.NewReader(body))
	if err != nil {
		return nil, &model.Error{Fault: model.FaultRequest, Err: err}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", version)
	if m.at.Key != "" {
		req.Header.Set("X-Api-Key", m.at.Key)
	}
	res, err := m.http.Do(req)
	if err != nil {
		return nil, model.OfCause(ctx, err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	switch {
	case res.StatusCode != http.StatusOK:
		return nil, model.OfStatus(res.StatusCode, later.After(), errors.New(http.StatusText(res.StatusCode)))
	case err != nil:
		return nil, model.OfCause(ctx, err)
	}
	var a answer
	if err := strictjson.UnmarshalLoose(text, &a); err != nil || a.Type != "message" || a.Role != "assistant" {
		return nil, &model.Error{Fault: model.FaultReply, Err: err}
	}
	return &a, nil
}

func (m *Model) request(r *model.Request) *request {
	out := &request{Model: m.at.Model, MaxTokens: r.MaxTokens, System: []block{{Type: "text", Text: r.System}}}
	for i := range r.Turns {
		out.Messages = append(out.Messages, messageOf(&r.Turns[i]))
	}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, toolSpec{model.WireName(t.Name), t.Text, t.Args})
	}
	// A conversation with tool calls is refused without the tools' definitions.
	if r.NoCalls && len(r.Tools) > 0 {
		out.Choice = &toolChoice{"none"}
	}
	if len(r.Schema) > 0 {
		out.Output = &outputSetting{}
		out.Output.Format.Type, out.Output.Format.Schema = "json_schema", r.Schema
	}
	return out
}

func messageOf(t *model.Turn) message {
	out := message{Role: "user"}
	text := t.Framed()
	if t.Model {
		out.Role, text = "assistant", t.Text
	}
	for _, result := range t.Results {
		out.Content = append(out.Content, block{
			Type: "tool_result", ToolUseID: result.ID, Content: []block{{Type: "text", Text: result.Quote.String()}}, IsError: result.Failed,
		})
	}
	if strings.TrimSpace(text) != "" { // The server refuses a block of whitespace.
		out.Content = append(out.Content, block{Type: "text", Text: text})
	}
	for _, c := range t.Calls {
		out.Content = append(out.Content, block{Type: "tool_use", ID: c.ID, Name: model.WireName(c.Name), Input: c.Args})
	}
	return out
}
