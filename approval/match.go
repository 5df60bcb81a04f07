package approval

import (
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/metnos/vaglio/approval/headline"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/operation"
)

// MaxMismatches is how many wrong digits an ask accepts on each side. After those, a yes
// that needs digits can be given only where they are shown.
const MaxMismatches = 3

// Match describes the surface next to the chats: its reader's inbox. A yes to one of the
// worst calls takes two digits that are shown on the other side, chat or inbox. The person
// who gives it therefore holds both surfaces; digits are not valid on the side that shows
// them. The zero value requires none.
type Match struct {
	// Channel is the inbox, and Reader the person who reads it, as named by
	// [Routing.Human]. What that person does under an id of this channel counts as done in
	// the inbox, even at a terminal.
	Channel, Reader string
	// Reached says that the inbox can be reached from everywhere, so that a yes on a chat
	// requires its digits if its reader could allow the worst calls. If it is false, only
	// routes that say so require them.
	Reached bool
	// Shows reports whether people see a card on a channel; posted says whether the card is
	// already posted there. Nil means people see all of them. It is called inside a change
	// of the store and must not block.
	Shows func(channel string, posted bool) bool
	// Secret keys the digits.
	Secret Secret
}

// MatchError says that a yes requires the digits shown on the other side.
type MatchError struct {
	Ask AskID
	// Left is how many more wrong ones are accepted. At 0 the yes must be given on the side
	// that shows the digits.
	Left int
	// Chats says that the chats show the digits; otherwise the inbox does.
	Chats bool
	// wrong says that wrong digits were given.
	wrong bool
}

func (e *MatchError) Error() string {
	where, there := "the inbox shows", "in the inbox"
	if e.Chats {
		where, there = "its card on the chat shows", "on the chat"
	}
	if e.Left == 0 {
		return "wrong digits were given too often: allow it " + there
	}
	return "allowing it takes the two digits that " + where
}

// digits returns two digits, of the inbox or of the chats, that nobody can compute without
// the secret. Each wrong answer changes them, and so does a call that joins.
func (m *Match) digits(id AskID, calls int, wrong mismatches, chats bool) string {
	text := fmt.Appendf(nil, "%s %d %d", id, calls, wrong.of(chats))
	if chats {
		text = append(text, " chats"...)
	}
	return strconv.FormatUint(10+binary.BigEndian.Uint64(m.Secret.mac(labelDigits, text))%90, 10)
}

// mismatches counts the wrong digits given for an ask, on the chats and in the inbox.
type mismatches struct{ chats, inbox int }

func (a *Ask) wrong() mismatches { return mismatches{a.Mismatches, a.InboxMismatches} }

// of returns the wrong answers given for the digits of the chats, or of the inbox. They
// were given on the other side.
func (m mismatches) of(chats bool) int {
	if chats {
		return m.inbox
	}
	return m.chats
}

// left returns how many more wrong answers are accepted.
func (m mismatches) left(chats bool) int { return max(0, MaxMismatches-m.of(chats)) }

// check returns nil if the digits of a yes are right and a [*MatchError] otherwise. Fewer
// than two digits count as none given.
func (m *Match) check(a *Ask, digits string, chats bool) error {
	e := &MatchError{Ask: a.ID, Left: a.wrong().left(chats), Chats: chats}
	if e.Left == 0 || len(digits) < 2 {
		return e
	}
	if subtle.ConstantTimeCompare([]byte(digits), []byte(m.digits(a.ID, len(a.Approvals), a.wrong(), chats))) == 1 {
		return nil
	}
	e.wrong = true
	return e
}

// mismatched counts wrong digits, if err is about those.
func (a *Ask) mismatched(err error) *MatchError {
	e, ok := errors.AsType[*MatchError](err)
	if !ok || !e.wrong {
		return nil
	}
	if e.Chats {
		a.InboxMismatches++
	} else {
		a.Mismatches++
	}
	e.Left--
	return e
}

// inbox reports whether somebody acts through the inbox: on its channel, or, as a terminal
// does, under an id of it.
func (m *Match) inbox(channel, by string) bool {
	return channel == m.Channel || Platform(by) == m.Channel
}

// matched returns a [*MatchError] for a yes to a waiting call that lacks the digits it
// requires. A passkey makes the digits unnecessary.
func (e *Electorate) matched(a *Ask, t *Tap, human string, p *Approval) error {
	hard := func() bool { return worst(p.Proposal, p.Verdict) }
	inbox := e.Match.inbox(t.Channel, t.By.ID)
	switch {
	case inbox && !t.Passkey && e.wantsChats(human, a.places(), hard), !inbox && e.wantsInbox(human, hard):
		return e.Match.check(a, t.Digits, inbox)
	default:
		return nil
	}
}

// wantsInbox reports whether a person's yes on a chat requires the digits of the inbox. On
// a route that says so, everybody's does; for the worst calls, the yes of the inbox's
// reader does, and that of anybody else wherever one person is enough. The empty name means
// anybody.
func (e *Electorate) wantsInbox(human string, worst func() bool) bool {
	if e.Match.Channel == "" {
		return false
	}
	return slices.ContainsFunc(e.Terms, func(t Terms) bool {
		if t.match && (human == "" || t.permits(human)) {
			return true
		}
		return e.Match.Reached && t.permits(e.Match.Reader) && (human == e.Match.Reader || t.single()) && worst()
	})
}

// wantsChats reports whether a person's yes in the inbox requires the digits shown on a
// chat. On a route that says so it does if any chat shows them; for the worst calls it does
// if a chat that the person reads shows them. A card that is still to be posted counts if
// the chat is well: being faster than the chat gains nothing, and a chat that is down costs
// nothing.
func (e *Electorate) wantsChats(human string, places map[string]string, worst func() bool) bool {
	if e.Match.Channel == "" {
		return false
	}
	some, own := false, false
	for channel, ref := range places {
		if channel != e.Match.Channel && (e.Match.Shows == nil || e.Match.Shows(channel, ref != "")) {
			some, own = true, own || e.reads == nil || e.reads(human, channel)
		}
	}
	return some && slices.ContainsFunc(e.Terms, func(t Terms) bool {
		return t.permits(human) && (t.match || own && worst())
	})
}

// reads reports whether a person reads a chat, according to the ids that the policy gives
// members. Without any routes there is only one person, who reads all chats.
func (r *Routing) reads(human, channel string) bool {
	return len(r.Routes) == 0 || slices.ContainsFunc(r.Members, func(m Member) bool {
		return m.Name == human && slices.ContainsFunc(m.IDs, func(id string) bool { return Platform(id) == Platform(channel) })
	})
}

// serious reports whether a call may be impossible to undo, or reaches others.
func serious(p vaglio.Proposal, v vaglio.Verdict) bool {
	h := headline.Of(p, v)
	return Serious(&h.Consequence)
}

// Serious reports whether a consequence may be impossible to undo, or reaches others.
func Serious(c *headline.Consequence) bool {
	return !c.Undoable() || c.Unread || reachesOthers(c)
}

// worst is [Worst] for a call.
func worst(p vaglio.Proposal, v vaglio.Verdict) bool {
	h := headline.Of(p, v)
	return Worst(&h.Consequence)
}

// Worst reports whether a consequence cannot be undone and reaches others, or is feared to.
func Worst(c *headline.Consequence) bool { return c.Final() && reachesOthers(c) || c.Feared }

func reachesOthers(c *headline.Consequence) bool {
	return c.Reach == operation.ReachShared || c.Reach == operation.ReachPublic
}

// ShowDigits sets the digits that a yes on the other side requires, according to the ask's
// electorate, if a waiting call requires them and they are still accepted. In the inbox it
// also marks the calls whose yes requires the digits of the chats.
func (c *Card) ShowDigits(e *Electorate, channel string) {
	inbox, shows := channel == e.Match.Channel, false
	for i := range c.Items {
		it := &c.Items[i]
		if it.State != Pending || it.Passkey {
			continue
		}
		hard := func() bool { return Worst(&it.Headline.Consequence) }
		if chats := e.wantsChats(e.Match.Reader, c.Places, hard); inbox {
			it.Match, shows = chats, shows || c.elsewhere(e) && e.wantsInbox("", hard)
		} else {
			shows = shows || chats
		}
	}
	if shows && c.wrong.left(!inbox) > 0 {
		c.Digits = e.Match.digits(c.Ask, len(c.Items), c.wrong, !inbox)
	}
}

// elsewhere reports whether the card is shown anywhere but in the inbox.
func (c *Card) elsewhere(e *Electorate) bool {
	for channel := range c.Places {
		if channel != e.Match.Channel {
			return true
		}
	}
	return false
}
