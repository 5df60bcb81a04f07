// Package vaglio judges one proposed tool call, in a strict order that never mixes its two
// phases:
//
//	arguments against the schema → declared scope → reading → guard → judges, in order
//
// A failure of the first two is an error of shape or perimeter, not a verdict.
// The guard is binary and not up for debate. Judges grade in [0,1]; the first
// that rejects decides.
//
// The package does no I/O of its own: files, judges and the audit log are handed to it. What it
// caches of proposals saves work and never changes a verdict.
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
	// Elsewhere says that the call would run on another machine, whose files cannot be read
	// here. Like Agent, it is set by the gateway.
	Elsewhere bool `json:"elsewhere,omitzero"`
	// Session names the client's session, which may last for many turns; "" if the client
	// names none.
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

// Context describes the circumstances of a [Proposal]. What the catalog knows of an executor
// overrides what the caller claims here.
type Context struct {
	Mode string `json:"mode,omitzero"`
	// SubAgent is the client's name for the sub-agent that makes the call. It is shown to
	// people and decides nothing.
	SubAgent string `json:"sub_agent,omitzero"`
	Step     *int   `json:"step,omitzero"`
	// Capability is the declared class of the executor, such as "code:exec". Some callers
	// send a list; then every element counts.
	Capability Capabilities `json:"capability,omitzero"`
	// Critical false declares an executor that only reads.
	Critical *bool `json:"critical,omitzero"`
	// Cwd is the folder in which the call would run.
	Cwd string `json:"cwd,omitzero"`
	// Client names the program that would make the call, such as "claude-code". It must be a
	// client whose tools are known, or "" for none. A person is asked about calls of tools
	// that the client is not known to have.
	Client string `json:"client,omitzero"`
	// Mounts are the workspace's mounts, as paths the call would see.
	Mounts []string `json:"mounts,omitzero"`
	// Roots are the folders that the user opened in the client, as told by the client and not
	// by the model. They count only if Client is set.
	Roots []string `json:"roots,omitzero"`
	// Site is where the call may work. The engine sets it; it never comes from a
	// caller.
	Site *Site `json:"-"`
	// Clashes says that one call of a batch may run what another writes at the same time. The engine
	// sets it; it never comes from a caller.
	Clashes bool `json:"-"`
	// Running tells which running processes the session started. The engine sets it for the
	// judges; it never comes from a caller.
	Running *Running `json:"-"`
	// Concerns are the caller's own reasons to show the call to a person. They can only add a
	// question, never spare one.
	Concerns []Concern `json:"concerns,omitzero"`
	// Refusal is what the caller's own gate said when it refused the call.
	Refusal string `json:"refusal,omitzero"`
	// Known is what the catalog knows of the executor; nil when it is not
	// listed. The engine sets it for the judges; it never comes from a caller.
	Known *catalog.Executor `json:"-"`
	// Reading is the call's reading. The engine makes it from this very call and sets it for
	// the judges; it never comes from a caller.
	Reading *reading.Reading `json:"-"`
	// Turn is what happened earlier in the call's turn; nil if no judge needs it. The
	// dispatcher sets it from the turn log; it never comes from a caller.
	Turn *Turn `json:"-"`
}

// Turn is what is known of a turn before one of its calls is judged.
type Turn struct {
	// Earlier are the newest steps of the turn, at most [MaxEarlier], oldest first.
	Earlier []Earlier
	// Refused are the executors that had a call refused in this turn by schema, scope or
	// guard, each listed once.
	Refused []string
	// Known are the executors that the catalog lists.
	Known []string
}

// MaxEarlier is how many earlier steps of a turn the judges see.
const MaxEarlier = 20

// Earlier is a step of a turn that was judged before.
type Earlier struct {
	Step     int
	Executor string
	// Outcome is one word of vaglio's own, such as "approved" or "guard".
	Outcome string
}

// Capabilities is a string or a list of strings on the wire.
type Capabilities []string
