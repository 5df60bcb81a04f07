package approval

import (
	"errors"
	"slices"
	"time"

	"github.com/metnos/vaglio/approval/headline"
)

// ErrGone says that a message on a platform can no longer be shown or amended:
// it was deleted, or the chat is closed to us. A card that still waits is posted
// anew; of one that is over there is nothing left to make agree.
var ErrGone = errors.New("message is gone")

// ErrRepost says that a message can no longer show its card, though people can
// be shown it: it cannot be edited any more, the chat has moved, or what has
// joined the ask does not fit it. The channel has taken the buttons off it where
// it could; the dispatcher posts the card anew, under new buttons, if it still
// waits.
var ErrRepost = errors.New("the card needs a message of its own")

// RetryError says that a delivery failed for now, and when to try again.
type RetryError struct {
	// After is how long the platform asked us to wait; 0 leaves it to us.
	After time.Duration
	// Unsent says that the platform surely shows nothing of what was to be
	// posted. Without it a message may be there that nobody knows of, and the
	// card is posted again under new buttons.
	Unsent bool
	// Shut says that the room takes no messages from us until somebody opens it, which
	// may never be. After is then the pause behind the first of such failures.
	Shut bool
	Err  error
}

func (e *RetryError) Error() string { return e.Err.Error() }

func (e *RetryError) Unwrap() error { return e.Err }

// Shut is that the room of a card took no messages at the last tries.
type Shut struct {
	// Tries are how many there were, and Until when the next one is due.
	Tries int       `json:"tries"`
	Until time.Time `json:"until"`
}

// longestShut bounds the pause between two tries of a room that is shut.
const longestShut = time.Hour

// PutOff puts the next try of a room that is shut off and returns for how long: twice as
// long as the last time, and an hour at most.
func (s *Shown) PutOff(first time.Duration, now time.Time) time.Duration {
	tries := 0
	if s.Shut != nil {
		tries = s.Shut.Tries
	}
	pause := min(first<<min(tries, 10), longestShut)
	s.Shut = &Shut{tries + 1, now.Add(pause)}
	return pause
}

// PutOffFor is how long the next try is still put off.
func (s *Shown) PutOffFor(now time.Time) time.Duration {
	if s.Shut == nil {
		return 0
	}
	return max(0, s.Shut.Until.Sub(now))
}

// Health tells how a channel does. The zero value is a channel that does well.
type Health struct {
	// Problem is what is wrong, in one sentence; empty when nothing is.
	Problem string
	// Remedy is what the operator can do about it, in one sentence.
	Remedy string
	// Since is when the problem began.
	Since time.Time
}

// OK reports whether all is well.
func (h Health) OK() bool { return h.Problem == "" }

// Announcement tells people what changed about the gate itself: whoever finds one
// that they know nothing of knows that somebody else is at the gate.
type Announcement struct {
	Kind AnnouncementKind `json:"kind"`
	At   time.Time        `json:"at"`
	// By is the stable id of the person, where that is known.
	By string `json:"by,omitempty"`
	// Agent is the agent that it is about, if it is about one.
	Agent string `json:"agent,omitempty"`
	// Detail is from where, or what exactly. It is raw.
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
)

// AnnouncementKinds are all of them.
func AnnouncementKinds() []AnnouncementKind {
	return []AnnouncementKind{SignedIn, SessionsEnded, AgentAdded, AgentRotated, AgentRemoved, PolicyChanged, KeysRotated, PasskeyAdded, PasskeyRemoved}
}

// Notice tells people of calls that the guard denied, or of a brake. Nobody can allow them, so
// a notice has no buttons: there is no place in it for one. Its texts are raw,
// as on a card; secrets in them are masked already.
type Notice struct {
	Agent string
	// Rule is the guard rule's id.
	Rule string
	// Count is how many denials by the rule the notice tells of, the newest of
	// them being Refusal's. It is more than one when they came faster than
	// notices are sent.
	Count int
	// First and Last are when the first and the newest of them happened.
	First, Last time.Time
	// Headline is what the newest of them would have done, Call the call itself, and
	// Refusal explains why it did not run.
	Headline headline.Headline
	Call     string
	Refusal  Refusal
	// Silent says that people do not want to be disturbed now.
	Silent bool
	// Brake is what the notice tells of instead: an agent was stopped, or goes on.
	Brake *Brake
}

// Telling says how far people were told, beside a card, how its ask ended.
type Telling string

// The steps of telling. A card on a channel that tells nothing has none of them.
const (
	// TellDue: it is to be told when the ask is over.
	TellDue Telling = "due"
	// TellBegun: the telling was begun, and nobody knows whether people can read
	// it. The channel looks before it tells again.
	TellBegun Telling = "begun"
	// Told: people can read it, or nobody can be told.
	Told Telling = "told"
)

// Over reports whether nothing can happen to the ask's approvals any more.
func (a *Ask) Over() bool {
	for i := range a.Approvals {
		if !a.Approvals[i].State.Final() {
			return false
		}
	}
	return true
}

// Owes reports whether people are still to be told, beside the card, how the ask
// ended.
func (s *Shown) Owes(a *Ask) bool {
	return (s.Tell == TellDue || s.Tell == TellBegun) && !s.Gone && s.Ref != "" && a.Over()
}

const (
	// remindShare is the part of an ask's time that is left when people are
	// reminded: late enough that most asks are answered without, early enough
	// to come back to the phone.
	remindShare = 3
	// remindLeast is the least time that a reminder must leave. An ask that is
	// too short for it is over before a reminder is of use.
	remindLeast = 5 * time.Minute
)

// RemindAt returns when people are to be reminded that the ask waits, or the
// zero time when they are not: somebody has answered a part of it, it waits no
// more, or its time is too short. A person may have put it off; to whom it was
// handed over is reminded at once.
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

// Snoozed says that a person put the reminder of an ask off. Its deadline stays.
type Snoozed struct {
	Act
	// Until is when people are reminded.
	Until time.Time `json:"until"`
}

// DefaultSnooze is for how long a reminder is put off where nobody says.
const DefaultSnooze = 10 * time.Minute

// Snooze puts the reminder off for so long, of an ask that waits and that nobody
// answered a part of. People are then reminded, also where they were before. An
// [*OrderError] says why it cannot be; nothing changed then.
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

// Handed says that a person handed an ask over to another approver, who may answer it
// then where one person is enough.
type Handed struct {
	Act
	// From is who handed it over, and To the other one, as humans of the routing.
	From string `json:"from"`
	To   string `json:"to"`
}

// HandOver hands an ask that waits over. Whom the routes do not name can be handed
// only what the giver could decide alone, and nobody's right goes further by it than
// the giver's: a quorum and a separation of duties hold. Who has the ask by a hand-over
// alone gives it up with the next one. An error changes nothing: [ErrNotApprover], or
// an [*OrderError].
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
	a.Closed = true // What joins later was not handed over.
	a.remindAnew()
	return nil
}

// With returns the electorate of an ask that was handed over.
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

// decided reports whether somebody answered a part of the ask.
func (a *Ask) decided() bool {
	return slices.ContainsFunc(a.Approvals, func(p Approval) bool { return p.Decision != nil })
}

// remindAnew lets a reminder come where one came before.
func (a *Ask) remindAnew() {
	for i := range a.Cards {
		a.Cards[i].Reminded = false
	}
}

// lastThird returns when so much of the ask's time is left that people are reminded,
// and nothing joins any more.
func (a *Ask) lastThird() time.Time {
	return a.ExpiresAt.Add(-a.ExpiresAt.Sub(a.OpenedAt) / remindShare)
}

// Outdate has every card of the ask drawn anew, as if it showed something else.
func (a *Ask) Outdate() {
	for i := range a.Cards {
		a.Cards[i].View += "?"
	}
}
