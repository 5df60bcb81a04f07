package client

import "time"

// Proposal is one call that an agent is about to make, as the API takes it.
type Proposal struct {
	// Session names the conversation, empty if there is none.
	Session string `json:"session_id,omitzero"`
	// TurnID names the conversation's turn, empty if there is none; Step counts the
	// calls in it, from 1.
	TurnID string `json:"turn_id,omitzero"`
	Step   int    `json:"step,omitzero"`
	// Intent is what the user asked the agent for.
	Intent string `json:"intent,omitzero"`
	// Executor is the name of the tool.
	Executor string `json:"executor"`
	// Args are the tool's arguments. Numbers are json.Number, so that none loses a
	// digit on the way.
	Args    map[string]any `json:"args"`
	Context Context        `json:"context,omitzero"`
}

// Context is what an agent says of the circumstances of a call.
type Context struct {
	// Mode is the client's permission mode, such as "plan".
	Mode string `json:"mode,omitzero"`
	// SubAgent is what the client calls the agent that its own one has started for a
	// part of the work, such as "Explore".
	SubAgent string `json:"sub_agent,omitzero"`
	// Capability is the class of the tool, such as "code:exec".
	Capability []string `json:"capability,omitzero"`
	// Critical false says that the tool only reads.
	Critical *bool `json:"critical,omitzero"`
	// Cwd is the folder in which the call would run.
	Cwd string `json:"cwd,omitzero"`
	// Roots are the folders that the user opened in the client, as the client
	// itself states them.
	Roots []string `json:"roots,omitzero"`
	// Client names the program that would make the call, one of those whose tools
	// vaglio knows.
	Client string `json:"client,omitzero"`
	// Concerns are why the caller itself wants a person to see the call.
	Concerns []Concern `json:"concerns,omitzero"`
	// Refusal is what the client's own gate said of a call that it refused.
	Refusal string `json:"refusal,omitzero"`
}

// Concern is a reason to ask that a call's arguments do not show.
type Concern string

// What may be reason to ask: of a tool, that the client itself refused the call or would
// ask its user about it, and that it tells what the call is about without what it takes.
// What it refused for good is only told of.
const (
	ToolChanged     Concern = "tool-changed"
	ToolDestructive Concern = "tool-destructive"
	ToolUnlisted    Concern = "tool-unlisted"
	ClientRefused   Concern = "client-refused"
	CallUntold      Concern = "call-untold"
	ClientAsks      Concern = "client-asks"
	ClientFinal     Concern = "client-final"
)

// ID names an approval.
type ID string

// Decision is what to do with a call.
type Decision string

// The decisions of an [Answer]. Whatever else stands there is no permission.
const (
	Allow   Decision = "allow"
	Deny    Decision = "deny"
	Pending Decision = "pending"
)

// Answer is what the daemon says of one proposed call.
type Answer struct {
	Decision Decision `json:"decision"`
	Verdict  Verdict  `json:"verdict"`
	// Text explains to the agent why the call does not run, or not yet.
	Text string `json:"text"`
	// Approval is there when a person was or is asked.
	Approval *Approval `json:"approval"`
	// Permit is there when a person allowed the call: it may run after the permit
	// was redeemed.
	Permit *Permit `json:"permit"`
	// Edited is there where a person denied the call as it was proposed, and wants it
	// in another form, which is to be proposed then.
	Edited *Edited `json:"edited"`
	// Question is there while a person wants to know something first.
	Question *Question `json:"question"`
}

// Question is what a person asks about a call that goes on waiting. The agent
// proposes the same call again, with its answer.
type Question struct {
	Words   string    `json:"words"`
	AskedAt time.Time `json:"asked_at"`
	// Repeated says that an earlier answer told of it.
	Repeated bool `json:"repeated"`
}

// Edited is a call in the form in which a person wants it.
type Edited struct {
	Executor string         `json:"executor"`
	Args     map[string]any `json:"args"`
	// Changed are the names of the arguments that differ.
	Changed  []string  `json:"changed"`
	EditedAt time.Time `json:"edited_at"`
	// LapsesAt is until when it is allowed; zero where nobody has to allow it.
	LapsesAt time.Time `json:"lapses_at"`
}

// Asked reports whether the answer holds a question that the agent was not told of.
func (a *Answer) Asked() bool {
	return a.Decision == Pending && a.Question != nil && !a.Question.Repeated
}

// Verdict is what the engine found.
type Verdict struct {
	Approved bool `json:"approved"`
	// BlockedBy is "guard", "judge" or empty.
	BlockedBy string `json:"blocked_by"`
	Reason    string `json:"reason"`
}

// Approval is how a question to a person stands.
type Approval struct {
	ID ID `json:"id"`
	// State is "pending", "allowed", "denied", "expired", "withdrawn",
	// "superseded", "spent", "lapsed", "succeeded", "failed" or "unknown".
	State string `json:"state"`
	// Words are the person's, for the agent.
	Words string `json:"words"`
}

// Permit is the right to run the call once.
type Permit struct {
	Permit   string    `json:"permit"`
	LapsesAt time.Time `json:"lapses_at"`
}

// Outcome is how the run of a permitted call ended.
type Outcome struct {
	Succeeded bool
	// NotRun says that nothing ran: the client refused what was permitted.
	NotRun bool
	// Detail says more, for the person who permitted it; at most 4,000 bytes.
	Detail string
}
