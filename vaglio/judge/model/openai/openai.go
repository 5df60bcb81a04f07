// Package openai asks models over OpenAI's chat API, which Ollama, llama.cpp, vLLM and Gemini also
// speak.
package openai

import (
	"context"
	"errors"

	sdk "github.com/sashabaranov/go-openai"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio/judge/model"
)

// Model is one model on one server. It is safe for concurrent use.
type Model struct {
	// complete asks the server. It is the only method of the library's client that we use, so that the
	// linker drops the others.
	complete func(context.Context, sdk.ChatCompletionRequest) (sdk.ChatCompletionResponse, error)
	at       model.Server
}

// New returns the model of a server.
func New(s model.Server) *Model {
	c := sdk.DefaultConfig(s.Key)
	c.BaseURL, c.HTTPClient = s.URL, s.HTTP()
	return &Model{sdk.NewClientWithConfig(c).CreateChatCompletion, s}
}

// Complete asks the model once.
func (m *Model) Complete(ctx context.Context, r model.Request) (model.Reply, error) {
	later := new(model.Later)
	answer, err := m.complete(context.WithValue(ctx, model.LaterKey(), later), m.request(&r))
	if err != nil {
		return model.Reply{}, m.told(ctx, err, later)
	}
	if len(answer.Choices) != 1 {
		return model.Reply{}, &model.Error{Fault: model.FaultReply}
	}
	choice := &answer.Choices[0]
	reply := model.Reply{
		Text:    choice.Message.Content,
		Refused: choice.Message.Refusal != "" || choice.FinishReason == sdk.FinishReasonContentFilter,
		Cut:     choice.FinishReason == sdk.FinishReasonLength,
		Usage:   model.Usage{Input: answer.Usage.PromptTokens, Output: answer.Usage.CompletionTokens},
	}
	for _, c := range choice.Message.ToolCalls {
		reply.Calls = append(reply.Calls, model.ToolCall{ID: c.ID, Name: r.ToolNamed(c.Function.Name), Args: []byte(c.Function.Arguments)})
	}
	return reply, nil
}

func (m *Model) told(ctx context.Context, err error, later *model.Later) error {
	if e, ok := errors.AsType[*sdk.APIError](err); ok && e.HTTPStatusCode != 0 {
		return model.OfStatus(e.HTTPStatusCode, later.After(), m.at.WithoutKey(err))
	}
	if e, ok := errors.AsType[*sdk.RequestError](err); ok && e.HTTPStatusCode != 0 {
		return model.OfStatus(e.HTTPStatusCode, later.After(), m.at.WithoutKey(err))
	}
	return model.OfCause(ctx, err)
}

func (m *Model) request(r *model.Request) sdk.ChatCompletionRequest {
	out := sdk.ChatCompletionRequest{Model: m.at.Model, MaxCompletionTokens: r.MaxTokens}
	out.Messages = append(out.Messages, sdk.ChatCompletionMessage{Role: sdk.ChatMessageRoleSystem, Content: r.System})
	for i := range r.Turns {
		out.Messages = append(out.Messages, messages(&r.Turns[i])...)
	}
	// Some servers cannot forbid calls, and some accept no schema together with tools.
	for _, t := range r.Tools {
		if r.NoCalls {
			break
		}
		out.Tools = append(out.Tools, sdk.Tool{
			Type:     sdk.ToolTypeFunction,
			Function: &sdk.FunctionDefinition{Name: model.WireName(t.Name), Description: t.Text, Parameters: raw(t.Args)},
		})
	}
	if len(r.Schema) > 0 {
		out.ResponseFormat = &sdk.ChatCompletionResponseFormat{
			Type:       sdk.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &sdk.ChatCompletionResponseFormatJSONSchema{Name: r.Name, Schema: raw(r.Schema), Strict: true},
		}
	}
	return out
}

// messages returns one turn's messages. On our side each tool result is a message of its own.
func messages(t *model.Turn) []sdk.ChatCompletionMessage {
	if t.Model {
		out := sdk.ChatCompletionMessage{Role: sdk.ChatMessageRoleAssistant, Content: t.Text}
		for _, c := range t.Calls {
			out.ToolCalls = append(out.ToolCalls, sdk.ToolCall{
				ID: c.ID, Type: sdk.ToolTypeFunction, Function: sdk.FunctionCall{Name: model.WireName(c.Name), Arguments: string(c.Args)},
			})
		}
		return []sdk.ChatCompletionMessage{out}
	}
	var out []sdk.ChatCompletionMessage
	for _, result := range t.Results {
		text := result.Quote.String()
		if result.Failed {
			text = "This tool call failed.\n" + text
		}
		out = append(out, sdk.ChatCompletionMessage{Role: sdk.ChatMessageRoleTool, ToolCallID: result.ID, Content: text})
	}
	if text := t.Framed(); text != "" {
		out = append(out, sdk.ChatCompletionMessage{Role: sdk.ChatMessageRoleUser, Content: text})
	}
	return out
}

// raw is JSON that the library writes unchanged.
type raw strictjson.Value

// MarshalJSON returns the JSON.
func (r raw) MarshalJSON() ([]byte, error) { return r, nil }
