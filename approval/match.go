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

// MaxMismatches is how many wrong digits an ask takes. After those a yes that needs
// digits is given where they stand.
const MaxMismatches = 3

// Match is the surface on which two digits stand that a yes given on any other takes.
// The zero value asks for none.
type Match struct {
	// Channel is the surface, and Reader the person who reads it, as Human names them.
	Channel, Reader string
	// Reached says that it is reached from everywhere, so that digits are asked for where
	// its reader could allow the worst. Where it is not, only routes that say so ask.
	Reached bool
	// Secret makes the digits.
	Secret Secret
}

// MatchError says that a yes takes the digits that stand on another surface.
type MatchError struct {
	Ask AskID
	// Left is how many wrong ones it still takes. With none left the yes is given there.
	Left int
	// wrong says that others were given.
	wrong bool
}

func (e *MatchError) Error() string {
	if e.Left == 0 {
		return "wrong digits were given too often: allow it in the inbox"
	}
	return "allowing it takes the two digits that the inbox shows"
}

// digits are two that nobody can tell without the secret. Each wrong answer makes new
// ones, and so does a call that joins.
func (m *Match) digits(id AskID, calls, wrong int) string {
	sum := m.Secret.mac(labelDigits, fmt.Appendf(nil, "%s %d %d", id, calls, wrong))
	return strconv.FormatUint(10+binary.BigEndian.Uint64(sum)%90, 10)
}

// check says what is wrong with the digits of a yes; nil for the right ones. Fewer than
// two are none yet.
func (m *Match) check(a *Ask, digits string) error {
	e := &MatchError{Ask: a.ID, Left: max(0, MaxMismatches-a.Mismatches)}
	if e.Left == 0 || len(digits) < 2 {
		return e
	}
	if subtle.ConstantTimeCompare([]byte(digits), []byte(m.digits(a.ID, len(a.Approvals), a.Mismatches))) == 1 {
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
	a.Mismatches++
	e.Left--
	return e
}

// wantsMatch reports whether a person's yes takes digits: on a route that says so that
// of everybody, and to the worst calls as [Electorate.WantsPasskey] has it of the one
// who reads them. The empty name is anybody.
func (e *Electorate) wantsMatch(human string, worst func() bool) bool {
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

// serious reports whether a call may not be undone, or reaches others.
func serious(p vaglio.Proposal, v vaglio.Verdict) bool {
	h := headline.Of(p, v)
	return Serious(&h.Consequence)
}

// Serious reports whether what follows may not be undone, or reaches others.
func Serious(c *headline.Consequence) bool {
	return !c.Undoable() || c.Unread || reachesOthers(c)
}

// worst reports whether a call cannot be undone and reaches others.
func worst(p vaglio.Proposal, v vaglio.Verdict) bool {
	h := headline.Of(p, v)
	return Worst(&h.Consequence)
}

// Worst reports whether what follows cannot be undone, and reaches others.
func Worst(c *headline.Consequence) bool { return c.Final() && reachesOthers(c) }

func reachesOthers(c *headline.Consequence) bool {
	return c.Reach == operation.ReachShared || c.Reach == operation.ReachPublic
}

// ShowDigits puts on the card of the surface where digits stand those that a yes on a
// chat takes, by the ask's electorate: where one of the calls that wait takes them, and
// they are still taken.
func (c *Card) ShowDigits(e *Electorate) {
	elsewhere := len(c.Places)
	if _, here := c.Places[e.Match.Channel]; here {
		elsewhere--
	}
	if elsewhere > 0 && c.mismatches < MaxMismatches && slices.ContainsFunc(c.Items, func(it Item) bool {
		return it.State == Pending && !it.Passkey && e.wantsMatch("", func() bool { return Worst(&it.Headline.Consequence) })
	}) {
		c.Digits = e.Match.digits(c.Ask, len(c.Items), c.mismatches)
	}
}
