package approval

import (
	"time"

	"github.com/metnos/vaglio/vaglio"
)

// Card is the channel-neutral picture of an ask. A channel chooses layout and
// markup; it adds no fact, leaves none out, and offers no button that is not
// here.
type Card struct {
	Ask   AskID
	Agent string
	// Intent is what the user asked the agent for; the agent relays it.
	Intent string
	TurnID string
	// Items has one entry for each call that the ask is about.
	Items []Item
	// Buttons that mean every waiting item; empty when nothing waits.
	Buttons   []Button
	OpenedAt  time.Time
	ExpiresAt time.Time
	// View is what this picture shows; the dispatcher records it as shown.
	View View
}

// Item is one call on a card. Its texts are raw: a channel passes each through
// [Reveal] before a person sees it. Secrets in them are masked already.
type Item struct {
	Approval ID
	State    State
	Executor string
	// Args is the call's whole arguments, as indented JSON in canonical key order.
	Args string
	// Command is set when the call is a shell command line: the line itself.
	Command string
	Cwd     string
	Mounts  []string
	Refusal Refusal
	Verdict vaglio.Verdict
	// Decision, Permit and Outcome are set when they happened.
	Decision *Decision
	Permit   *Permit
	Outcome  *Outcome
	EndedAt  time.Time
	// Buttons that mean this item alone; empty when it does not wait.
	Buttons []Button
}

// Button is one choice on a card.
type Button struct {
	Choice Choice
	Token  Token
}
