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

// MaxMismatches is how many wrong digits an ask takes on each side. After those a yes that
// needs digits is given where they stand.
const MaxMismatches = 3

// Match is the surface beside the chats: its reader's inbox. A yes to the worst takes two
// digits that stand on the other side. So the person who gives it holds two surfaces, and
// neither's digits are good where they stand. The zero value asks for none.
type Match struct {
	// Channel is the inbox, and Reader the person who reads it, as Human names them. What
	// that person does under an id of this channel is done there, at a terminal too.
	Channel, Reader string
	// Reached says that it is reached from everywhere, so that a yes on a chat takes its
	// digits where its reader could allow the worst. Where it is not, only routes that say
	// so ask for them.
	Reached bool
	// Shows tells whether people see a card on a channel, which is posted there or is still
	// to be; nil says so of all. It is asked inside a change of the store, and never waits.
	Shows func(channel string, posted bool) bool
	// Secret makes the digits.
	Secret Secret
}

// MatchError says that a yes takes the digits that stand on the other side.
type MatchError struct {
	Ask AskID
	// Left is how many wrong ones it still takes. With none left the yes is given there.
	Left int
	// Chats says that they stand on the chats; otherwise they do in the inbox.
	Chats bool
	// wrong says that others were given.
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

// digits are two that nobody can tell without the secret, of the inbox or of the chats.
// Each wrong answer makes new ones, and so does a call that joins.
func (m *Match) digits(id AskID, calls int, wrong mismatches, chats bool) string {
	text := fmt.Appendf(nil, "%s %d %d", id, calls, wrong.of(chats))
	if chats {
		text = append(text, " chats"...)
	}
	return strconv.FormatUint(10+binary.BigEndian.Uint64(m.Secret.mac(labelDigits, text))%90, 10)
}

// mismatches are the wrong digits that an ask was given on the chats, and in the inbox.
type mismatches struct{ chats, inbox int }

func (a *Ask) wrong() mismatches { return mismatches{a.Mismatches, a.InboxMismatches} }

// of is how many were given for those of the chats, or of the inbox: on the other side.
func (m mismatches) of(chats bool) int {
	if chats {
		return m.inbox
	}
	return m.chats
}

// left is how many more are taken.
func (m mismatches) left(chats bool) int { return max(0, MaxMismatches-m.of(chats)) }

// check says what is wrong with the digits of a yes; nil for the right ones. Fewer than
// two are none yet.
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

// mismatched counts digits that were wrong, if the error says so.
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

// inbox reports whether somebody acts by the inbox: there, or by the id that it gives, as
// a terminal does.
func (m *Match) inbox(channel, by string) bool {
	return channel == m.Channel || Platform(by) == m.Channel
}

// matched returns a [*MatchError] for a yes to a call that waits without the digits that it
// takes. A passkey is more than those.
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

// wantsInbox reports whether a person's yes on a chat takes the digits of the inbox: on a
// route that says so that of everybody, and to the worst calls as [Electorate.WantsPasskey]
// has it of the one who reads them. The empty name is anybody.
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

// wantsChats reports whether a person's yes in the inbox takes the digits that stand on a
// chat: on a route that says so wherever a chat shows them, and to the worst calls where one
// does that the person reads. A card that is still to be posted counts, where the chat is
// well: who is faster than the chat gains nothing, and who waits for one that is not loses
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

// reads reports whether a person reads a chat: by the names that the policy gives people,
// and without any routes the one person is all of them.
func (r *Routing) reads(human, channel string) bool {
	return len(r.Routes) == 0 || slices.ContainsFunc(r.Members, func(m Member) bool {
		return m.Name == human && slices.ContainsFunc(m.IDs, func(id string) bool { return Platform(id) == Platform(channel) })
	})
}

// serious reports whether a call may not be undone, or reaches others.
func serious(p vaglio.Proposal, v vaglio.Verdict) bool {
	h := headline.Of(p, v)
	return Serious(&h.Consequence)
}

// Serious reports whether what follows may not be undone, or reaches others.
func Serious(c *headline.Consequence) bool {
	return !c.Undoable() || c.Unread || reachesOthers(c)
}

// worst is [Worst] of a call.
func worst(p vaglio.Proposal, v vaglio.Verdict) bool {
	h := headline.Of(p, v)
	return Worst(&h.Consequence)
}

// Worst reports whether what follows cannot be undone, and reaches others, or may.
func Worst(c *headline.Consequence) bool { return c.Final() && reachesOthers(c) || c.Feared }

func reachesOthers(c *headline.Consequence) bool {
	return c.Reach == operation.ReachShared || c.Reach == operation.ReachPublic
}

// ShowDigits puts on the card of a channel the digits that a yes on the other side takes,
// by the ask's electorate, and marks the calls whose yes here takes those of the other side:
// where one of the calls that wait takes them, and they are still taken.
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

// elsewhere reports whether the card is on more than the inbox.
func (c *Card) elsewhere(e *Electorate) bool {
	_, here := c.Places[e.Match.Channel]
	return len(c.Places) > 1 || len(c.Places) == 1 && !here
}
