package approval

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Order is what a person asks of the gate besides answering a card.
type Order struct {
	Verb Verb
	// ID names what it is about: an ask, an approval, or the beginning of one.
	ID string
	// Agent is whom a brake is for; empty is every agent.
	Agent string
	// For is how long a brake holds; 0 is until somebody lets go. For a reminder it
	// is how long that is put off; 0 is [DefaultSnooze].
	For time.Duration
	// All says that a brake also stops what nobody would be asked about, and takes
	// back the permits that are not spent.
	All bool
	// Words go to the agent: why it is stopped, or a question.
	Words string
	// To is the name or id of whom an ask is handed over to.
	To      string
	By      Person
	Channel string
}

// Verb is what is ordered.
type Verb string

// The verbs of orders. Nothing of them allows a call.
const (
	// VerbStop pulls the brake: what waits is denied, and what would be asked.
	VerbStop Verb = "stop"
	// VerbGo lets a stopped agent go on.
	VerbGo Verb = "go"
	// VerbLift takes a standing denial back for the time to come.
	VerbLift Verb = "lift"
	// VerbEnd ends a grant.
	VerbEnd Verb = "end"
	// VerbRevoke takes a permit back that is not spent.
	VerbRevoke Verb = "revoke"
	// VerbAsk asks the agent something about an ask that waits.
	VerbAsk Verb = "ask"
	// VerbSnooze puts the reminder of an ask off.
	VerbSnooze Verb = "snooze"
	// VerbHand hands an ask over to another approver.
	VerbHand Verb = "hand"
)

// Span takes a time as people write one, such as 10m. The error is an [*OrderError] with
// what they wrote, where it is none.
func (o *Order) Span(text string) error {
	span, err := time.ParseDuration(text)
	switch {
	case err == nil && span > 0:
		o.For = span
		return nil
	case o.Verb == VerbSnooze:
		return &OrderError{Key: OrderSnooze, Value: text}
	default:
		return &OrderError{Key: OrderTime, Value: text}
	}
}

// Done is what an order did, as it is on disk.
type Done struct {
	Order Order
	// Brakes are those that were pulled or let go.
	Brakes []Brake
	// Denied is how many calls the brake denied, Ended how many grants it ended,
	// Revoked how many permits it took back.
	Denied, Ended, Revoked int
	// Until is when people are reminded of what was snoozed.
	Until time.Time
	// Approval is the approval that the order was about, as it stands now.
	Approval *Approval
}

// OrderError says why an order was not followed. Nothing changed.
type OrderError struct {
	// Key names the reason, for texts in any language.
	Key string
	// Value is what the reason is about.
	Value string
}

// The reasons for which an order is not followed.
const (
	// OrderAgent is for an agent that there is not, and that never asked.
	OrderAgent = "agent"
	// OrderRunning is for one that is not stopped.
	OrderRunning = "running"
	// OrderNothing is for a thing that is over, or was none.
	OrderNothing = "nothing"
	// OrderTime is for a time that no brake can have.
	OrderTime = "time"
	// OrderWords is for a question without words.
	OrderWords = "words"
	// OrderAsked is for a second question before the first is answered, and
	// OrderRounds for one too many.
	OrderAsked  = "asked"
	OrderRounds = "rounds"
	// OrderSnooze is for a time after which nothing is left to be reminded of.
	OrderSnooze = "snooze"
	// OrderPerson is for whom nobody knows as an approver, OrderSelf for oneself, and
	// OrderHand for one whom the route would have to name.
	OrderPerson = "person"
	OrderSelf   = "self"
	OrderHand   = "hand"
	// OrderArgument is for an argument that cannot be changed, OrderLong and
	// OrderMasked for a text that it cannot have, OrderUnchanged for an edit that
	// changes nothing, and OrderUnread for one that cannot be read or judged.
	OrderArgument  = "argument"
	OrderLong      = "long"
	OrderMasked    = "masked"
	OrderUnchanged = "unchanged"
	OrderUnread    = "unread"
	// OrderGuard is for an edit that the guard refuses, OrderSame for one that is
	// asked or answered already, OrderShown for one that is not as it was shown, and
	// OrderSeveral where one person is not enough.
	OrderGuard   = "guard"
	OrderSame    = "same"
	OrderShown   = "shown"
	OrderSeveral = "several"
	// OrderDigits is for an edit into what is allowed with digits.
	OrderDigits = "digits"
	// OrderCaller is for what came from below an agent's program, OrderLineage from
	// where that cannot be seen, and OrderTerminal from no terminal.
	OrderCaller   = "caller"
	OrderLineage  = "lineage"
	OrderTerminal = "terminal"
	// OrderUnseen is for an allowance of what was not shown as it is now, and
	// OrderName for one that was not confirmed with the agent's name.
	OrderUnseen = "unseen"
	OrderName   = "name"
	// OrderObscured is for an allowance of what a masked value decides, which a
	// terminal does not show.
	OrderObscured = "obscured"
	// OrderPasskey is for an allowance that needs a passkey, which a terminal has none of.
	OrderPasskey = "passkey"
)

func (e *OrderError) Error() string {
	text := cmp.Or(e.text(), "%q is over already, or nothing that this could be done to: nothing changed")
	if !strings.Contains(text, "%") {
		return text
	}
	return fmt.Sprintf(text, e.Value)
}

// text is the sentence of the reason, with a verb where the value stands; empty
// for [OrderNothing].
func (e *OrderError) text() string {
	return map[string]string{ //nolint:gosec // Sentences, of which one says "a masked value".
		OrderAgent:     "there is no agent %q, and none of that name ever asked for anything: nothing was stopped",
		OrderRunning:   "%q is not stopped: nothing changed",
		OrderTime:      "%q is no time that a brake can hold: say 30m, 1h or 8h, at most 7 days",
		OrderWords:     "a question needs words: nothing was asked",
		OrderAsked:     "the agent has not answered the last question about %s yet: nothing was asked",
		OrderRounds:    "%s was asked about " + strconv.Itoa(MaxQuestions) + " times, which is all there is: allow it, or deny it with words",
		OrderSnooze:    "%q is no time for which its reminder can be put off: say 10m or 1h, before its deadline; nothing changed",
		OrderPerson:    "%q is no approver's name or id: nothing was handed over",
		OrderSelf:      "%q has it already: nothing was handed over",
		OrderHand:      "more people than one have to allow this, and %q is none of them: nothing was handed over",
		OrderCaller:    "%q is above the command, which is an agent's program: nothing changed",
		OrderLineage:   "what is above the command cannot be seen: nothing changed",
		OrderTerminal:  "the command has no terminal: nothing changed",
		OrderUnseen:    "%s was not shown at this terminal as it is now: nothing was allowed",
		OrderObscured:  "a masked value decides what %s does, and only the inbox can show it: nothing was allowed",
		OrderPasskey:   "%s may not be undone, or reaches others, and needs a passkey, in the inbox: nothing was allowed",
		OrderName:      "it cannot be undone, and was not confirmed with %q: nothing was allowed",
		OrderArgument:  "%q is no argument that can be changed: nothing changed",
		OrderLong:      "%q has more characters than can be handed to the agent: nothing changed",
		OrderMasked:    "%q would hold a secret, which does not go to an agent: nothing changed",
		OrderUnchanged: "%s is as it was proposed: allow it, or deny it",
		OrderUnread:    "%s: nothing changed",
		OrderGuard:     "the guard refuses it so: %s; nothing changed",
		OrderSame:      "%s is asked or answered already in this form: nothing changed",
		OrderShown:     "%s is not as it was shown any more: look at it again; nothing changed",
		OrderDigits:    "%s would take the digits of a number match in this form: deny it, and say what to do; nothing changed",
		OrderSeveral:   "%s needs more people than one: deny it, and say what to do; nothing changed",
	}[e.Key]
}

// Brake stops an agent, or every agent: what waits for people is denied, and so
// is what would be put to them, until somebody lets go or its time is over. It
// only ever denies.
type Brake struct {
	// Agent is who is stopped; [Everyone] stops all.
	Agent   string    `json:"agent"`
	By      Person    `json:"by"`
	Channel string    `json:"channel"`
	At      time.Time `json:"at"`
	// Until is when it lets go by itself; zero is never.
	Until time.Time `json:"until,omitzero"`
	// All says that what the judges approve is stopped, too.
	All bool `json:"all,omitempty"`
	// Words are for the agent.
	Words string `json:"words,omitempty"`
	// Released is set when a person let go.
	Released *Act `json:"released,omitempty"`
	// Told are the channels on which people were told how it stands.
	Told []string `json:"told,omitempty"`
}

// Same reports whether it is the same brake, standing as the other one does.
func (b *Brake) Same(o *Brake) bool {
	return b.Agent == o.Agent && b.At.Equal(o.At) && (b.Released == nil) == (o.Released == nil)
}

// Everyone stands for all agents in a brake.
const Everyone = "*"

// MaxBrake is the longest time for which a brake holds by itself. Longer than
// that it holds until somebody lets go.
const MaxBrake = 7 * 24 * time.Hour

// BrakeEvent moves a brake.
type BrakeEvent string

// The events of a brake.
const (
	Pull    BrakeEvent = "pull"
	Release BrakeEvent = "release"
	Elapse  BrakeEvent = "elapse"
)

// BrakeState is how a brake stands.
type BrakeState string

// The states of a brake.
const (
	BrakeOff BrakeState = "off"
	BrakeOn  BrakeState = "on"
)

// brakes is the state table. A pair that is not listed is refused.
var brakes = map[BrakeState]map[BrakeEvent]BrakeState{
	BrakeOff: {Pull: BrakeOn},
	BrakeOn:  {Pull: BrakeOn, Release: BrakeOff, Elapse: BrakeOff},
}

// Then returns the state after an event, and whether the event is possible.
func (s BrakeState) Then(e BrakeEvent) (BrakeState, bool) {
	to, ok := brakes[s][e]
	return to, ok
}

// State returns how the brake stands at that moment. A clock that was set back
// never lets go.
func (b *Brake) State(at time.Time) BrakeState {
	if b.At.IsZero() || b.Released != nil || !b.Until.IsZero() && !at.Before(b.Until) {
		return BrakeOff
	}
	return BrakeOn
}

// Holds reports whether it stops at that moment.
func (b *Brake) Holds(at time.Time) bool { return b.State(at) == BrakeOn }

// Decision is the denial of one call by the brake.
func (b *Brake) Decision(at time.Time) Decision {
	return Decision{Choice: ChoiceDeny, By: b.By, Channel: b.Channel, At: at, Words: b.Words, Brake: true}
}

// Stop denies everything of the ask that waits, by a brake, and returns how many
// calls that were.
func (a *Ask) Stop(b *Brake, at time.Time) int {
	n := 0
	a.Lapse(at)
	for i := range a.Approvals {
		p := &a.Approvals[i]
		if p.State == Pending && p.decide(b.Decision(at), 0) == nil {
			p.Settled = true // It was not about the call.
			n++
		}
	}
	return n
}

type brakeBody struct {
	V     int    `json:"v"`
	Brake *Brake `json:"brake"`
}

func (b *brakeBody) form() int { return b.V }

// brakeForm is the form in which [EncodeBrake] writes.
const brakeForm = 1

// EncodeBrake returns the brake as the body of a record of [KindBrake].
func EncodeBrake(b Brake) ([]byte, error) { return encode("brake", brakeBody{brakeForm, &b}) }

// DecodeBrake reads what [EncodeBrake] wrote.
func DecodeBrake(body []byte) (Brake, error) {
	var b brakeBody
	if err := decode("brake", brakeForm, body, &b); err != nil {
		return Brake{}, err
	}
	if b.Brake == nil {
		return Brake{}, errors.New("stored brake is empty")
	}
	return *b.Brake, nil
}

// Stopped explains that a brake stops a call which the judges would let pass.
func Stopped(r Refusal, b *Brake) Refusal {
	r.Who = "A person stopped the agent " + clock(b.At) + ": nothing runs meanwhile."
	r.Why, r.Words = "", b.Words
	r.Alternatives = []string{"End the turn and tell the user."}
	r.Allow = "It may be proposed again when the person lets the agent go on."
	return r
}

// MayStop reports whether a person may stop an agent: whether they may decide
// anything that it asks. Empty is every agent.
func (r *Routing) MayStop(human, agent string) bool {
	if len(r.Routes) == 0 {
		return human != ""
	}
	for i := range r.Routes {
		if t := r.Terms(r.Routes[i].Name, agent); t.permits(human) {
			return true
		}
	}
	return false
}
