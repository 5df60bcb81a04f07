package client

import "time"

// Proposal is a call that an agent is about to make, in the API's form.
type Proposal struct {
	// Session identifies the conversation, empty if there is none.
	Session string `json:"session_id,omitzero"`
	// TurnID identifies the turn within the conversation, empty if there is none. Step counts
	// the calls in it, from 1.
	TurnID string `json:"turn_id,omitzero"`
	Step   int    `json:"step,omitzero"`
	// Intent is what the user asked the agent for.
	Intent string `json:"intent,omitzero"`
	// Executor is the name of the tool.
	Executor string `json:"executor"`
	// Args are the tool's arguments. Numbers are json.Number, so that none loses precision.
	Args    map[string]any `json:"args"`
	Context Context        `json:"context,omitzero"`
}

// Context is what an agent says about the circumstances of a call.
type Context struct {
	// Mode is the client's permission mode, such as "plan".
	Mode string `json:"mode,omitzero"`
	// SubAgent is the client's name for the sub-agent that makes the call, such as "Explore".
	SubAgent string `json:"sub_agent,omitzero"`
	// Capability is the class of the tool, such as "code:exec".
	Capability []string `json:"capability,omitzero"`
	// Critical false says that the tool only reads.
	Critical *bool `json:"critical,omitzero"`
	// Cwd is the folder in which the call would run.
	Cwd string `json:"cwd,omitzero"`
	// Roots are the folders that the user opened in the client, as the client itself states
	// them.
	Roots []string `json:"roots,omitzero"`
	// Client names the program that would make the call, one of those whose tools vaglio knows.
	Client string `json:"client,omitzero"`
	// Concerns are the caller's own reasons why a person should see the call.
	Concerns []Concern `json:"concerns,omitzero"`
	// Refusal is what the client's own gate said when it refused the call.
	Refusal string `json:"refusal,omitzero"`
}

// Concern is a reason to ask that the call's arguments do not show.
type Concern string

// The concerns. The first three are about a tool. The client itself refused the call
// (ClientRefused), or would ask its user about it (ClientAsks); CallUntold says that the
// client describes the call without giving its arguments. A call that the client refused
// for good (ClientFinal) is only reported.
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

// The decisions of an [Answer]. Any other value is not permission.
const (
	Allow   Decision = "allow"
	Deny    Decision = "deny"
	Pending Decision = "pending"
)

// Answer is what the daemon says about one proposed call.
type Answer struct {
	Decision Decision `json:"decision"`
	Verdict  Verdict  `json:"verdict"`
	// Text tells the agent why the call does not run, or not yet.
	Text string `json:"text"`
	// Approval is set if a person was or is being asked.
	Approval *Approval `json:"approval"`
	// Permit is set if a person allowed the call: the call may run once the permit has been
	// redeemed.
	Permit *Permit `json:"permit"`
	// Edited is set if a person denied the call as proposed but wants it in another form, which
	// must then be proposed.
	Edited *Edited `json:"edited"`
	// Question is set while a person waits for the agent to answer something.
	Question *Question `json:"question"`
}

// Question is what a person asks about a call that stays pending. The agent answers by
// proposing the same call again with its answer.
type Question struct {
	Words   string    `json:"words"`
	AskedAt time.Time `json:"asked_at"`
	// Repeated says that an earlier answer already contained the question.
	Repeated bool `json:"repeated"`
}

// Edited is a call in the form that a person wants.
type Edited struct {
	Executor string         `json:"executor"`
	Args     map[string]any `json:"args"`
	// Changed are the names of the arguments that differ.
	Changed  []string  `json:"changed"`
	EditedAt time.Time `json:"edited_at"`
	// LapsesAt is when its permission ends; zero if it needs none.
	LapsesAt time.Time `json:"lapses_at"`
}

// Asked reports whether the answer holds a question that the agent has not seen before.
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

// Approval is the state of a question to a person.
type Approval struct {
	ID ID `json:"id"`
	// State is "pending", "allowed", "denied", "expired", "withdrawn",
	// "superseded", "spent", "lapsed", "succeeded", "failed" or "unknown".
	State string `json:"state"`
	// Words are the person's words for the agent.
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
	// NotRun says that nothing ran: the client refused the permitted call.
	NotRun bool
	// Detail says more, for the person who permitted the call; at most 4,000 bytes.
	Detail string
}
