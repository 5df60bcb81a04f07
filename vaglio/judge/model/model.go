// Package model is what a judge needs of a language model: one call that
// completes a conversation. What we say and what others wrote are told apart in
// the type of a request, so that no judge can mix them by mistake.
package model

import (
	"context"
	"strings"

	"github.com/metnos/vaglio/internal/strictjson"
)

// Model completes conversations. It keeps nothing between calls, and ends soon
// after ctx does, with its connection closed. Its errors are of type [*Error] or
// ctx's own.
type Model interface {
	Complete(ctx context.Context, r Request) (Reply, error)
}

// Request is a conversation to complete.
type Request struct {
	// System is what the model is told to be. It is ours or the operator's: text
	// of agents, files and tools never goes here.
	System string
	// Turns are what was said so far, beginning and ending with our side.
	Turns []Turn
	// Tools may be called by the model.
	Tools []Tool
	// NoCalls says that the tools were called before and may not be called now. A
	// server may want to be told of them all the same.
	NoCalls bool
	// Schema is the JSON Schema that the answer must fit, under Name; empty asks
	// for none. Servers that can hold the model to it do; a caller checks all the
	// same.
	Schema strictjson.Value
	Name   string
	// MaxTokens bounds the answer.
	MaxTokens int
}

// Turn is one side's contribution.
type Turn struct {
	// Model says that the model said it; else we did.
	Model bool
	// Text is what was said. On our side it is ours alone.
	Text string
	// Quoted is what others wrote, on our side.
	Quoted []Quote
	// Calls are the tools that the model called.
	Calls []ToolCall
	// Results answer the calls of the turn before, on our side.
	Results []ToolResult
}

// Tool is something that the model may call.
type Tool struct {
	// Name is ours, such as "cmd.run"; [WireName] is what servers take.
	Name string
	// Text says what the tool does, in our words.
	Text string
	// Args is the JSON Schema of the arguments, an object.
	Args strictjson.Value
}

// ToolCall is a call that the model wants. Nothing of it was checked.
type ToolCall struct {
	ID   string
	Name string
	// Args is what the model wrote, which need not be JSON.
	Args []byte
}

// ToolResult is what a call gave.
type ToolResult struct {
	// ID is the call's.
	ID string
	// Quote is what the tool said.
	Quote Quote
	// Failed says that the tool did not do what was asked.
	Failed bool
}

// Reply is what the model said.
type Reply struct {
	// Text is empty where the model only called tools.
	Text  string
	Calls []ToolCall
	// Refused says that the model or its server declined to answer.
	Refused bool
	// Cut says that the answer broke off at a limit of tokens.
	Cut   bool
	Usage Usage
}

// Usage is what a call took, in tokens.
type Usage struct {
	Input, Output int
	// Estimated says that the server did not count all of it, so that some is
	// estimated, never too low.
	Estimated bool
}

// Total is all of it.
func (u Usage) Total() int { return u.Input + u.Output }

// WireName is a tool's name as servers take it: they know no dots.
func WireName(name string) string { return strings.ReplaceAll(name, ".", "_") }

// ToolNamed gives the name of ours that a server's name stands for, or the name
// as it is.
func (r *Request) ToolNamed(wire string) string {
	for i := range r.Tools {
		if WireName(r.Tools[i].Name) == wire {
			return r.Tools[i].Name
		}
	}
	return wire
}
