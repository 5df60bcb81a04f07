package approval

import (
	"errors"
	"slices"
	"time"

	"github.com/metnos/vaglio/approval/headline"
)

// ErrGone says that a message on a platform can no longer be shown or amended: it was
// deleted, or the chat is closed to us. A card that still waits is posted again; for one
// that is over there is nothing left to do.
var ErrGone = errors.New("message is gone")

// ErrRepost says that a message can no longer show its card although people can still be
// reached: it can no longer be edited, the chat has moved, or the calls that joined do not
// fit it. The channel has removed its buttons where it could; if the card still waits, the
// dispatcher posts it again with new buttons.
var ErrRepost = errors.New("the card needs a message of its own")

// RetryError says that a delivery failed for now, and when to try again.
type RetryError struct {
	// After is how long the platform asked us to wait; 0 leaves it to us.
	After time.Duration
	// Unsent says that the platform certainly shows nothing of what was to be posted.
	// Without it there may be a message that nobody knows of, and the card is posted again
	// with new buttons.
	Unsent bool
	// Shut says that the room accepts no messages from us until somebody opens it, which
	// may be never. After is then the pause after the first such failure.
	Shut bool
	Err  error
}

func (e *RetryError) Error() string { return e.Err.Error() }

func (e *RetryError) Unwrap() error { return e.Err }

// Shut records that the room of a card accepted no messages at the last tries.
type Shut struct {
	// Tries is the number of those tries, Until the time of the next one.
	Tries int       `json:"tries"`
	Until time.Time `json:"until"`
}

// longestShut is the longest pause between two tries of a shut room.
const longestShut = time.Hour

// PutOff postpones the next try of a shut room and returns the pause: twice the last one,
// at most [longestShut].
func (s *Shown) PutOff(first time.Duration, now time.Time) time.Duration {
	tries := 0
	if s.Shut != nil {
		tries = s.Shut.Tries
	}
	pause := min(first<<min(tries, 10), longestShut)
	s.Shut = &Shut{tries + 1, now.Add(pause)}
	return pause
}

// PutOffFor returns how long until the next try.
func (s *Shown) PutOffFor(now time.Time) time.Duration {
	if s.Shut == nil {
		return 0
	}
	return max(0, s.Shut.Until.Sub(now))
}

// Health says how a channel is doing. The zero value means it is well.
type Health struct {
	// Problem says what is wrong, in one sentence; empty if nothing is.
	Problem string
	// Remedy is what the operator can do about it, in one sentence.
	Remedy string
	// Since is when the problem began.
	Since time.Time
}

// OK reports whether all is well.
func (h Health) OK() bool { return h.Problem == "" }

// Announcement tells people that something about the gate itself changed. Someone who sees
// one they cannot explain knows that somebody else is at the gate.
type Announcement struct {
	Kind AnnouncementKind `json:"kind"`
	At   time.Time        `json:"at"`
	// By is the stable id of the person, if known.
	By string `json:"by,omitempty"`
	// Agent is the agent concerned, if any.
	Agent string `json:"agent,omitempty"`
	// Detail says from where, or what exactly. It is raw.
	Detail string `json:"detail,omitempty"`
}

// AnnouncementKind says what changed.
type AnnouncementKind string

// The kinds of announcements.
const (
	SignedIn      AnnouncementKind = "signed-in"
	SessionsEnded AnnouncementKind = "sessions-ended"
	AgentAdded    AnnouncementKind = "agent-added"
	AgentRotated  AnnouncementKind = "agent-rotated"
	AgentRemoved  AnnouncementKind = "agent-removed"
	PolicyChanged AnnouncementKind = "policy-changed"
	KeysRotated   AnnouncementKind = "keys-rotated"

	PasskeyAdded   AnnouncementKind = "passkey-added"
	PasskeyRemoved AnnouncementKind = "passkey-removed"

	// Unasked says that an agent's session which used to ask goes on without asking.
	Unasked AnnouncementKind = "unasked"
)

// AnnouncementKinds returns every kind.
func AnnouncementKinds() []AnnouncementKind {
	return []AnnouncementKind{SignedIn, SessionsEnded, AgentAdded, AgentRotated, AgentRemoved, PolicyChanged, KeysRotated, PasskeyAdded, PasskeyRemoved, Unasked}
}

// Notice tells people about calls that the guard denied, or about a brake. Nobody can allow
// those calls, so a notice has no place for buttons. Its texts are raw, as on a card; their
// secrets are already masked.
type Notice struct {
	Agent string
	// Rule is the guard rule's id.
	Rule string
	// Count is how many denials by the rule the notice covers; Refusal belongs to the
	// newest. It is more than one if they came faster than notices are sent.
	Count int
	// First and Last are when the first and the newest of them happened.
	First, Last time.Time
	// Headline is what the newest call would have done, Call is the call itself, and
	// Refusal explains why it did not run.
	Headline headline.Headline
	Call     string
	Refusal  Refusal
	// Silent says that people do not want to be disturbed now.
	Silent bool
	// Brake is set if the notice is about a brake instead: an agent was stopped, or goes
	// on.
	Brake *Brake
}

// Telling says how far people have been told, next to a card, how its ask ended.
type Telling string

// The stages of telling. A card on a channel that tells nothing has none of them.
const (
	// TellDue: people are to be told when the ask is over.
	TellDue Telling = "due"
	// TellBegun: telling was begun, and nobody knows whether people can read it. The
	// channel checks before it tells them again.
	TellBegun Telling = "begun"
	// Told: people can read it, or there is nobody to tell.
	Told Telling = "told"
)

// Over reports whether nothing more can happen to the ask's approvals.
func (a *Ask) Over() bool {
	for i := range a.Approvals {
		if !a.Approvals[i].State.Final() {
			return false
		}
	}
	return true
}

// Owes reports whether people are still to be told, next to the card, how the ask ended.
func (s *Shown) Owes(a *Ask) bool {
	return (s.Tell == TellDue || s.Tell == TellBegun) && !s.Gone && s.Ref != "" && a.Over()
}

const (
	// remindShare is the divisor of an ask's time that gives the part left when people are
	// reminded: late enough that most asks are answered by then, early enough to get back
	// to the phone.
	remindShare = 3
	// remindLeast is the least time that a reminder must leave. A shorter ask is over
	// before a reminder is of any use.
	remindLeast = 5 * time.Minute
)

// RemindAt returns when people are to be reminded that the ask waits, or the zero time if
// they are not: somebody has answered part of it, it no longer waits, or its time is too
// short. A person may have postponed it; after a hand-over the reminder is due at once.
func (a *Ask) RemindAt() time.Time {
	if !a.Waiting() || a.decided() {
		return time.Time{}
	}
	at := a.lastThird()
	n, s := len(a.Handed), a.Snoozed
	switch {
	case n > 0 && (s == nil || !s.At.After(a.Handed[n-1].At)):
		return a.Handed[n-1].At
	case s != nil:
		return s.Until
	case a.ExpiresAt.Sub(at) < remindLeast:
		return time.Time{}
	default:
		return at
	}
}

// News reports whether people are to be told, next to the card, that the ask escalated: it
// still waits, and they were last told of fewer routes.
func (s *Shown) News(a *Ask) bool {
	return len(a.Routes) > 1 && s.Routes < len(a.Routes) && !s.Gone && s.Ref != "" && a.Waiting()
}

// Snoozed says that a person postponed the reminder of an ask. The deadline stays.
type Snoozed struct {
	Act
	// Until is when people are reminded.
	Until time.Time `json:"until"`
}

// DefaultSnooze is how long a reminder is postponed if nobody says.
const DefaultSnooze = 10 * time.Minute

// Snooze postpones the reminder of an ask that waits entirely unanswered. People are then
// reminded again even if they were before. If it cannot be postponed, Snooze changes
// nothing and returns an [*OrderError].
func (a *Ask) Snooze(act Act, span time.Duration) error {
	until := act.At.Add(span)
	switch a.Lapse(act.At); {
	case !a.Waiting() || a.decided():
		return &OrderError{Key: OrderNothing, Value: string(a.ID)}
	case span <= 0 || !until.Before(a.ExpiresAt):
		return &OrderError{Key: OrderSnooze, Value: span.String()}
	}
	a.Snoozed = &Snoozed{act, until}
	a.remindAnew()
	return nil
}

// Handed says that a person handed an ask over to another approver, who may then answer it
// wherever one person is enough.
type Handed struct {
	Act
	// From is who handed it over, To who received it; both are names as in [Routing.Human].
	From string `json:"from"`
	To   string `json:"to"`
}

// HandOver hands a waiting ask over. A person whom the routes do not name can receive only
// what the giver could decide alone, and a hand-over never extends anybody's rights beyond
// the giver's: quorums and the separation of duties still hold. Someone who has the ask
// only by a hand-over gives it up with the next one. On an error nothing changes:
// [ErrNotApprover] or an [*OrderError].
func (a *Ask) HandOver(act Act, to string, e Electorate) error {
	from, under := e.of(act.By.ID)
	a.Lapse(act.At)
	alone := slices.ContainsFunc(under, func(t Terms) bool { return t.single() })
	switch {
	case len(under) == 0:
		return ErrNotApprover
	case !a.Waiting():
		return &OrderError{Key: OrderNothing, Value: string(a.ID)}
	case to == from:
		return &OrderError{Key: OrderSelf, Value: to}
	case !alone && !slices.ContainsFunc(under, func(t Terms) bool { return t.permits(to) }):
		return &OrderError{Key: OrderHand, Value: to}
	}
	a.Handed = append(a.Handed, Handed{act, from, to})
	a.Closed = true // calls that join later were not handed over
	a.remindAnew()
	return nil
}

// With returns the electorate of an ask after the given hand-overs.
func (e Electorate) With(handed []Handed) Electorate {
	if len(handed) == 0 {
		return e
	}
	now := make(map[string]bool)
	for i := range handed {
		delete(now, handed[i].From)
		now[handed[i].To] = true
	}
	e.Terms = slices.Clone(e.Terms)
	for i := range e.Terms {
		if t := &e.Terms[i]; t.single() {
			t.handed = now
		}
	}
	return e
}

// decided reports whether somebody has answered a part of the ask.
func (a *Ask) decided() bool {
	return slices.ContainsFunc(a.Approvals, func(p Approval) bool { return p.Decision != nil })
}

// remindAnew clears the mark of earlier reminders, so that people are reminded again.
func (a *Ask) remindAnew() {
	for i := range a.Cards {
		a.Cards[i].Reminded = false
	}
}

// lastThird returns the start of the last third of the ask's time: people are then
// reminded, and no more calls join.
func (a *Ask) lastThird() time.Time {
	return a.ExpiresAt.Add(-a.ExpiresAt.Sub(a.OpenedAt) / remindShare)
}

// Outdate makes every card of the ask be drawn again, as if it showed something else.
func (a *Ask) Outdate() {
	for i := range a.Cards {
		a.Cards[i].View += "?"
	}
}

// Finding is the result of examining one thing, in words without secrets.
type Finding struct {
	// Subject names what was looked at, such as "telegram chat".
	Subject string `json:"subject"`
	Grade   Grade  `json:"grade"`
	// Text describes the state, in one sentence.
	Text string `json:"text"`
	// Remedy is what the operator can do about a problem, in one sentence.
	Remedy string `json:"remedy,omitempty"`
}

// Grade says what a finding means.
type Grade string

// The grades.
const (
	// Fine is as it should be.
	Fine Grade = "ok"
	// Noted is worth knowing, but no reason to act.
	Noted Grade = "note"
	// Wrong keeps something from working now or later.
	Wrong Grade = "problem"
	// Unseen could not be examined, because something else is wrong.
	Unseen Grade = "unseen"
)

// ErrUntapped says that nobody who may decide pressed the button of a test card in time.
var ErrUntapped = errors.New("nobody who may decide pressed the button of the test card in time")

// ErrUnpaired says that a channel knows no place to send cards to.
var ErrUnpaired = errors.New("nobody has paired yet, so there is no place that cards go to")
