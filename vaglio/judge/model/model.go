// Package model is what a judge needs from a language model: a single call that completes a
// conversation. A request's type separates what we say from what others wrote, so that no judge can
// mix them by mistake.
package model

import (
	"context"
	"strings"

	"github.com/metnos/vaglio/internal/strictjson"
)

// Model completes conversations. It keeps nothing between calls, and returns soon after ctx ends,
// with its connection closed. Its errors are of type [*Error], or ctx's own.
type Model interface {
	Complete(ctx context.Context, r Request) (Reply, error)
}

// Request is a conversation to complete.
type Request struct {
	// System is the system prompt. It is ours or the operator's: text from agents, files and tools
	// never goes here.
	System string
	// Turns are what was said so far, beginning and ending with our side.
	Turns []Turn
	// Tools are the tools that the model may call.
	Tools []Tool
	// NoCalls says that the tools were called before but must not be called now. A server may
	// still need their definitions.
	NoCalls bool
	// Schema is the JSON Schema that the answer must fit, under Name; empty means none. Servers
	// enforce it if they can; the caller must check the answer anyway.
	Schema strictjson.Value
	Name   string
	// MaxTokens limits the answer.
	MaxTokens int
}

// Turn is one side's contribution.
type Turn struct {
	// Model says that the model said it; otherwise we did.
	Model bool
	// Text is what was said. On our side it contains only our own words.
	Text string
	// Quoted is what others wrote, on our side.
	Quoted []Quote
	// Calls are the tool calls that the model made.
	Calls []ToolCall
	// Results answer the calls of the previous turn, on our side.
	Results []ToolResult
}

// Tool is something that the model may call.
type Tool struct {
	// Name is our name, such as "cmd.run"; [WireName] is the form that servers accept.
	Name string
	// Text says what the tool does, in our words.
	Text string
	// Args is the JSON Schema of the arguments, an object.
	Args strictjson.Value
}

// ToolCall is a call that the model wants. Nothing in it has been checked.
type ToolCall struct {
	ID   string
	Name string
	// Args is what the model wrote, which need not be JSON.
	Args []byte
}

// ToolResult is the result of a call.
type ToolResult struct {
	// ID is the ID of the call.
	ID string
	// Quote is what the tool returned.
	Quote Quote
	// Failed says that the tool did not do what was asked.
	Failed bool
}

// Reply is what the model said.
type Reply struct {
	// Text is empty if the model only called tools.
	Text  string
	Calls []ToolCall
	// Refused says that the model or its server declined to answer.
	Refused bool
	// Cut says that the answer was cut off at a token limit.
	Cut   bool
	Usage Usage
}

// Usage is what a call consumed, in tokens.
type Usage struct {
	Input, Output int
	// Estimated says that the server did not count everything, so that a part is estimated, never
	// too low.
	Estimated bool
}

// Total returns all tokens.
func (u Usage) Total() int { return u.Input + u.Output }

// WireName returns a tool's name in the form that servers accept, which have no dots.
func WireName(name string) string { return strings.ReplaceAll(name, ".", "_") }

// ToolNamed returns our name for a server's tool name, or the name unchanged.
func (r *Request) ToolNamed(wire string) string {
	for i := range r.Tools {
		if WireName(r.Tools[i].Name) == wire {
			return r.Tools[i].Name
		}
	}
	return wire
}
