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
// no network connection, and what it keeps of proposals spares work, and changes
// no verdict.
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
	// Elsewhere says that the call would run on another machine, whose files are not
	// here. The gateway sets it, as it does Agent.
	Elsewhere bool `json:"elsewhere,omitzero"`
	// Session names the client's session, which may last for many turns; "" where
	// the client states none.
	Session string `json:"session_id,omitzero"`
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
	// Facts are what the session is known to have done. Whoever keeps the session
	// sets them; they never come from a caller.
	Facts Facts `json:"-"`
}

// Args are a call's arguments as decoded from JSON: nil, bool, json.Number,
// string, []any and map[string]any, so that no integer loses a digit between
// what was proposed, what was shown and what runs.
type Args map[string]any

// Context is what is known about the circumstances of a [Proposal]. What the
// catalog knows of an executor wins over what the caller claims here.
type Context struct {
	Mode string `json:"mode,omitzero"`
	// SubAgent is what the client calls the agent that its own one has started for a
	// part of the work; people are told it, and nothing goes by it.
	SubAgent string `json:"sub_agent,omitzero"`
	Step     *int   `json:"step,omitzero"`
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
	// Roots are the folders that the user opened in the client, as the client
	// states them, not the model. They count where Client is given.
	Roots []string `json:"roots,omitzero"`
	// Site is where the call may work. The engine sets it; it never comes from a
	// caller.
	Site *Site `json:"-"`
	// Running tells what of what runs the session started. The engine sets it for
	// the judges; it never comes from a caller.
	Running *Running `json:"-"`
	// Concerns are why the caller itself wants a person to see the call. They
	// can only add a question, never spare one.
	Concerns []Concern `json:"concerns,omitzero"`
	// Refusal is what the caller's own gate said of a call that it refused.
	Refusal string `json:"refusal,omitzero"`
	// Known is what the catalog knows of the executor; nil when it is not
	// listed. The engine sets it for the judges; it never comes from a caller.
	Known *catalog.Executor `json:"-"`
	// Reading is what the call was understood to say. The engine sets it for
	// the judges, made from this very call; it never comes from a caller.
	Reading *reading.Reading `json:"-"`
	// Turn is what happened before in the call's turn; nil where no judge needs
	// it. The dispatcher sets it from the turn log; it never comes from a caller.
	Turn *Turn `json:"-"`
}

// Turn is what is known of a turn before a call of it is judged.
type Turn struct {
	// Earlier are its newest steps, at most [MaxEarlier], oldest first.
	Earlier []Earlier
	// Refused are the executors of which a call was refused in this turn by its
	// schema, its scope or the guard, each once.
	Refused []string
	// Known are the executors that the catalog lists.
	Known []string
}

// MaxEarlier is how many steps of a turn the judges are told.
const MaxEarlier = 20

// Earlier is one step of a turn that was judged before.
type Earlier struct {
	Step     int
	Executor string
	// Outcome is one word of ours, such as "approved" or "guard".
	Outcome string
}

// Capabilities is a string or a list of strings on the wire.
type Capabilities []string
