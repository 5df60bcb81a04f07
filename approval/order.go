package approval

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Order is what a person asks of the gate other than answering a card.
type Order struct {
	Verb Verb
	// ID names what the order is about: an ask, an approval, or a prefix of one.
	ID string
	// Agent is the agent that a brake is for; empty means every agent.
	Agent string
	// For is how long a brake holds; 0 means until somebody releases it. For a reminder it
	// is how long the reminder is postponed; 0 means [DefaultSnooze].
	For time.Duration
	// All says that a brake also stops calls that nobody would be asked about, and revokes
	// permits that are not spent.
	All bool
	// Words go to the agent: why it is stopped, or a question.
	Words string
	// To is the name or id of the person an ask is handed over to.
	To      string
	By      Person
	Channel string
}

// Verb is what an order does.
type Verb string

// The verbs of orders. None of them allows a call.
const (
	// VerbStop pulls the brake: it denies what waits and what would be asked.
	VerbStop Verb = "stop"
	// VerbGo lets a stopped agent go on.
	VerbGo Verb = "go"
	// VerbLift takes back a standing denial for future calls.
	VerbLift Verb = "lift"
	// VerbEnd ends a grant.
	VerbEnd Verb = "end"
	// VerbRevoke takes back a permit that is not spent.
	VerbRevoke Verb = "revoke"
	// VerbAsk asks the agent something about an ask that waits.
	VerbAsk Verb = "ask"
	// VerbSnooze postpones the reminder of an ask.
	VerbSnooze Verb = "snooze"
	// VerbHand hands an ask over to another approver.
	VerbHand Verb = "hand"
)

// Span sets For from a duration as people write one, such as 10m. If text is not one, it
// returns an [*OrderError] with that text.
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

// Done is what an order did, as committed to disk.
type Done struct {
	Order Order
	// Brakes are the brakes that were pulled or released.
	Brakes []Brake
	// Denied is how many calls the brake denied, Ended how many grants it ended, Revoked
	// how many permits it took back.
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
	// OrderAgent: there is no such agent, and none of that name ever asked.
	OrderAgent = "agent"
	// OrderRunning: the agent is not stopped.
	OrderRunning = "running"
	// OrderNothing: the thing is over, or never existed.
	OrderNothing = "nothing"
	// OrderTime: no brake can hold for that time.
	OrderTime = "time"
	// OrderWords: the question has no words.
	OrderWords = "words"
	// OrderAsked: the first question is not answered yet. OrderRounds: all questions have
	// been used.
	OrderAsked  = "asked"
	OrderRounds = "rounds"
	// OrderSnooze: after that time nothing is left to be reminded of.
	OrderSnooze = "snooze"
	// OrderPerson: nobody knows that approver. OrderSelf: the approver already has the ask.
	// OrderHand: the route would have to name the approver.
	OrderPerson = "person"
	OrderSelf   = "self"
	OrderHand   = "hand"
	// OrderArgument: the argument cannot be changed. OrderLong, OrderMasked: it cannot have
	// that text. OrderUnchanged: the edit changes nothing. OrderUnread: the edited call
	// cannot be read or judged.
	OrderArgument  = "argument"
	OrderLong      = "long"
	OrderMasked    = "masked"
	OrderUnchanged = "unchanged"
	OrderUnread    = "unread"
	// OrderGuard: the guard refuses the edited call. OrderSame: that call is already asked
	// or answered. OrderShown: it is not what was shown. OrderSeveral: one person is not
	// enough.
	OrderGuard   = "guard"
	OrderSame    = "same"
	OrderShown   = "shown"
	OrderSeveral = "several"
	// OrderElsewhere: the edited call would be put to others.
	OrderElsewhere = "elsewhere"
	// OrderDigits: allowing the edited call requires digits.
	OrderDigits = "digits"
	// OrderCaller: the order came from below an agent's program. OrderLineage: it came from
	// where that cannot be seen. OrderTerminal: it came from no terminal.
	OrderCaller   = "caller"
	OrderLineage  = "lineage"
	OrderTerminal = "terminal"
	// OrderUnseen: the allowance is for something not shown as it is now. OrderName: the
	// agent's name was not given to confirm it.
	OrderUnseen = "unseen"
	OrderName   = "name"
	// OrderObscured: a masked value, which a terminal does not show, decides what the call
	// does.
	OrderObscured = "obscured"
	// OrderPasskey: the allowance needs a passkey, which a terminal does not have.
	OrderPasskey = "passkey"
)

func (e *OrderError) Error() string {
	text := cmp.Or(e.text(), "%q is already over, or this cannot be done to it: nothing changed")
	if !strings.Contains(text, "%") {
		return text
	}
	return fmt.Sprintf(text, e.Value)
}

// text returns the sentence of the reason, with a formatting verb for the value; empty for
// [OrderNothing].
func (e *OrderError) text() string {
	return map[string]string{ //nolint:gosec // Sentences, of which one says "a masked value".
		OrderAgent:     "there is no agent %q, and none of that name has ever asked for anything: nothing was stopped",
		OrderRunning:   "%q is not stopped: nothing changed",
		OrderTime:      "%q is not a time for the brake: say 30m, 1h or 8h, at most 7 days",
		OrderWords:     "a question needs words: nothing was asked",
		OrderAsked:     "the agent has not answered the last question about %s yet: nothing was asked",
		OrderRounds:    "nothing more can be asked about %s after " + strconv.Itoa(MaxQuestions) + " questions: allow it, or deny it with words",
		OrderSnooze:    "the reminder cannot be put off by %q: say 10m or 1h, before the deadline; nothing changed",
		OrderPerson:    "%q is not an approver's name or id: nothing was handed over",
		OrderSelf:      "%q has it already: nothing was handed over",
		OrderHand:      "more than one person has to allow this, and %q is not one of them: nothing was handed over",
		OrderCaller:    "the command runs below %q, an agent's program: nothing changed",
		OrderLineage:   "what started the command cannot be seen: nothing changed",
		OrderTerminal:  "the command has no terminal: nothing changed",
		OrderUnseen:    "%s was not shown at this terminal as it is now: nothing was allowed",
		OrderObscured:  "a masked value decides what %s does, and only the inbox can show it: nothing was allowed",
		OrderPasskey:   "%s may be impossible to undo, or reaches others, and needs a passkey, in the inbox: nothing was allowed",
		OrderName:      "it cannot be undone, and was not confirmed with %q: nothing was allowed",
		OrderArgument:  "%q is not an argument that can be changed: nothing changed",
		OrderLong:      "%q has more characters than can be handed to the agent: nothing changed",
		OrderMasked:    "%q would hold a secret, which does not go to an agent: nothing changed",
		OrderUnchanged: "%s is as it was proposed: allow it, or deny it",
		OrderUnread:    "%s: nothing changed",
		OrderGuard:     "the guard refuses it in this form: %s; nothing changed",
		OrderSame:      "%s was already asked or answered in this form: nothing changed",
		OrderShown:     "%s is no longer what was shown: look at it again; nothing changed",
		OrderDigits:    "%s would take the digits of a number match in this form: deny it, and say what to do; nothing changed",
		OrderElsewhere: "%s would be put to other people in this form: deny it, and say what to do; nothing changed",
		OrderSeveral:   "%s needs more than one person: deny it, and say what to do; nothing changed",
	}[e.Key]
}

// Brake stops an agent, or every agent: whatever waits for people is denied, and so is
// whatever would be put to them, until somebody releases it or its time is over. It only
// ever denies.
type Brake struct {
	// Agent is the agent that is stopped; [Everyone] stops all.
	Agent   string    `json:"agent"`
	By      Person    `json:"by"`
	Channel string    `json:"channel"`
	At      time.Time `json:"at"`
	// Until is when it releases by itself; zero means never.
	Until time.Time `json:"until,omitzero"`
	// All says that calls the judges approve are stopped, too.
	All bool `json:"all,omitempty"`
	// Words are for the agent.
	Words string `json:"words,omitempty"`
	// Released is set if a person released it.
	Released *Act `json:"released,omitempty"`
	// Told are the channels on which people were told of its current state.
	Told []string `json:"told,omitempty"`
}

// Same reports whether o is the same brake in the same state.
func (b *Brake) Same(o *Brake) bool {
	return b.Agent == o.Agent && b.At.Equal(o.At) && (b.Released == nil) == (o.Released == nil)
}

// Everyone stands for all agents in a brake.
const Everyone = "*"

// MaxBrake is the longest time a brake can be set for. Any longer, and it must hold until
// somebody releases it.
const MaxBrake = 7 * 24 * time.Hour

// BrakeEvent moves a brake.
type BrakeEvent string

// The events of a brake.
const (
	Pull    BrakeEvent = "pull"
	Release BrakeEvent = "release"
	Elapse  BrakeEvent = "elapse"
)

// BrakeState is the state of a brake.
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

// State returns the brake's state at the given time. A clock that was set back never
// releases it.
func (b *Brake) State(at time.Time) BrakeState {
	if b.At.IsZero() || b.Released != nil || !b.Until.IsZero() && !at.Before(b.Until) {
		return BrakeOff
	}
	return BrakeOn
}

// Holds reports whether the brake is on at the given time.
func (b *Brake) Holds(at time.Time) bool { return b.State(at) == BrakeOn }

// Decision returns the denial of one call by the brake.
func (b *Brake) Decision(at time.Time) Decision {
	return Decision{Choice: ChoiceDeny, By: b.By, Channel: b.Channel, At: at, Words: b.Words, Brake: true}
}

// Stop denies every waiting call of the ask by a brake, and returns how many there were.
func (a *Ask) Stop(b *Brake, at time.Time) int {
	n := 0
	a.Lapse(at)
	for i := range a.Approvals {
		p := &a.Approvals[i]
		if p.State == Pending && p.decide(b.Decision(at), 0) == nil {
			p.Settled = true // it was not about the call
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

// brakeForm is the form that [EncodeBrake] writes.
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

// Stopped explains that a brake stops a call that the judges would let pass.
func Stopped(r Refusal, b *Brake) Refusal {
	r.Who = "A person stopped the agent " + clock(b.At) + ": nothing runs meanwhile."
	r.Why, r.Words = "", b.Words
	r.Alternatives = []string{"End the turn and tell the user."}
	r.Allow = "It may be proposed again when the person lets the agent go on."
	return r
}

// MayStop reports whether a person may stop an agent, which is whether they may decide
// anything that it asks. An empty agent means every agent.
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
