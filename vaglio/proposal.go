// Package vaglio is the sieve between an agent and the world. It judges one
// proposed tool call in a strict order that never mixes its two phases:
//
//	arguments against the schema → declared scope → reading → guard → judges, in order
//
// A failure of the first two is an error of shape or perimeter, not a verdict.
// The guard is binary and not up for debate. Judges grade in [0,1]; the first
// that rejects decides.
//
// The package is pure but for a judge's model call and the audit log: it opens
// no network connection and keeps no state between proposals.
package vaglio

import (
	"github.com/metnos/vaglio/vaglio/catalog"
	"github.com/metnos/vaglio/vaglio/reading"
)

// Proposal is one call that an agent proposes, before anything has run.
type Proposal struct {
	// Agent names the proposing agent. The gateway sets it from the
	// credentials; what a caller writes here is never trusted.
	Agent string `json:"agent,omitzero"`
	// TurnID names the turn of the agent that the call belongs to.
	TurnID string `json:"turn_id,omitzero"`
	// Step counts the calls of a turn, from 1.
	Step int `json:"step,omitzero"`
	// Intent is the turn's query in the user's own words.
	Intent string `json:"intent,omitzero"`
	// Executor is the named tool that the agent wants to call (MCP: tool).
	Executor string `json:"executor"`
	// Args are the call's arguments.
	Args Args `json:"args"`
	// Context is what the caller declares about the circumstances.
	Context Context `json:"context,omitzero"`
}

// Args are a call's arguments as decoded from JSON: nil, bool, json.Number,
// string, []any and map[string]any, so that no integer loses a digit between
// what was proposed, what was shown and what runs.
type Args map[string]any

// Context is what is known about the circumstances of a [Proposal]. What the
// catalog knows of an executor wins over what the caller claims here.
type Context struct {
	Mode string `json:"mode,omitzero"`
	Step *int   `json:"step,omitzero"`
	// Capability is the declared class of the executor, such as "code:exec".
	// Some callers send a list; then every element counts.
	Capability Capabilities `json:"capability,omitzero"`
	// Critical false declares an executor that only reads.
	Critical *bool `json:"critical,omitzero"`
	// Cwd is the folder in which the call would run.
	Cwd string `json:"cwd,omitzero"`
	// Client names the program that would make the call, such as "claude-code",
	// one of those whose tools are known; "" is none. It selects what is known of
	// its tools, and a call of a tool that it is not known to have is asked.
	Client string `json:"client,omitzero"`
	// Mounts are the workspace's mounts, as paths the call would see.
	Mounts []string `json:"mounts,omitzero"`
	// Known is what the catalog knows of the executor; nil when it is not
	// listed. The engine sets it for the judges; it never comes from a caller.
	Known *catalog.Executor `json:"-"`
	// Reading is what the call was understood to say. The engine sets it for
	// the judges, made from this very call; it never comes from a caller.
	Reading *reading.Reading `json:"-"`
}

// Capabilities is a string or a list of strings on the wire.
type Capabilities []string
