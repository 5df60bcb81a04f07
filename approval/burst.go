package approval

import (
	"errors"
	"maps"
	"slices"
	"time"
)

// A burst is several proposals that one turn makes within moments of each
// other, such as tool calls that a model makes side by side. They share one
// card, which lists them exactly. Nothing that a person pressed changes its
// meaning when a call joins: a button means the calls that its card showed.
const (
	// GatherFor is how long after its opening any call may join an ask. Calls that
	// are made side by side come within a second or two; later than that a
	// person may be reading, and only what is akin joins, see [Ask.Akin].
	GatherFor = 5 * time.Second
	// MaxGathered is the most calls that an ask has by joining: what a person
	// can read in one go, and what every platform can give buttons to, one by
	// one. A plan may be longer, because its agent wanted it to be one.
	MaxGathered = 10
	// maxReplaced is how many replaced buttons a card remembers, so that a press
	// can be explained. The buttons of a card that is posted again through an
	// hour's outage fit.
	maxReplaced = 256
)

// ErrNoJoining says that calls cannot join an ask: somebody answered, it is too
// old or too large, or they are of another turn or, after a while, of another kind.
var ErrNoJoining = errors.New("the ask takes no further call")

// TakesMore reports whether the ask takes further calls of its turn, as far as that
// does not hang on the time or on what they would do.
func (a *Ask) TakesMore() bool {
	if a.Closed || a.TurnID == "" || len(a.Approvals) >= MaxGathered {
		return false
	}
	for i := range a.Approvals {
		if a.Approvals[i].State != Pending {
			return false
		}
	}
	for i := range a.Cards {
		if a.Cards[i].Gone {
			return false
		}
	}
	return true
}

// Join puts further calls of the ask's turn on its card and returns their ids.
// They wait until the ask's own deadline. The tokens, [Ask.JoinTokens] of them
// at least, become the new buttons; the old ones keep their meaning. An error
// changes nothing: [ErrNoJoining], [ErrNotAskable], or a [*KeyError] for a call
// that the ask holds already.
func (a *Ask) Join(calls []Call, channels []string, tokens []Token, at time.Time) ([]ID, error) {
	if !a.joinable(calls, at) || !a.shownOn(channels) || len(tokens) < a.JoinTokens(len(calls)) {
		return nil, ErrNoJoining
	}
	for i := range calls {
		if err := a.admit(&calls[i]); err != nil {
			return nil, err
		}
	}
	return a.join(calls, tokens), nil
}

// join puts calls behind the ask's others, with buttons of the tokens.
func (a *Ask) join(calls []Call, tokens []Token) []ID {
	before := len(a.Approvals)
	ids := make([]ID, len(calls))
	for i := range calls {
		ids[i] = a.add(&calls[i])
	}
	next := dealer(tokens)
	for i := range a.Cards {
		a.Cards[i].settle(before)
		a.Cards[i].mint(a, before, next)
	}
	return ids
}

// settle says in so many words what an older program left to be understood when
// no call could join: that the card shows so many calls, and its buttons mean
// these.
func (s *Shown) settle(calls int) {
	for token, c := range s.Callbacks {
		if c.Approval == "" && c.Calls == 0 {
			c.Calls = calls
			s.Callbacks[token] = c
		}
	}
	if s.Ref != "" && s.Posted == 0 {
		s.Posted = calls
	}
}

// JoinTokens returns how many tokens [Ask.Join] needs for so many calls.
func (a *Ask) JoinTokens(calls int) int { return len(a.Cards) * (perCall*calls + 2) }

// joinable reports whether the calls may join at that moment.
func (a *Ask) joinable(calls []Call, at time.Time) bool {
	if !a.TakesMore() || len(calls) == 0 || len(a.Approvals)+len(calls) > MaxGathered {
		return false
	}
	if at.Before(a.OpenedAt.Add(-setBack)) || !at.Before(a.ExpiresAt) {
		return false
	}
	if late := a.Yielded || at.Sub(a.OpenedAt) >= GatherFor; late && !a.akinToAll(calls, at) {
		return false
	}
	return !slices.ContainsFunc(calls, func(c Call) bool { return !a.fits(&c) })
}

// fits reports whether a call is of the ask's agent and turn.
func (a *Ask) fits(c *Call) bool {
	return c.Fingerprint != "" && c.Proposal.TurnID == a.TurnID && c.Proposal.Intent == a.Intent && c.Proposal.Agent == a.Agent
}

// akinToAll reports whether each of the calls is akin to one that waits, and people
// would still have time to look at them.
func (a *Ask) akinToAll(calls []Call, at time.Time) bool {
	if !at.Before(a.lastThird()) {
		return false
	}
	return !slices.ContainsFunc(calls, func(c Call) bool { return !a.Akin(c.About) })
}

// Akin reports whether a call about the subjects would do the same in the same system
// as one of the ask's calls, whatever the object. People see both better on one card
// than on two.
func (a *Ask) Akin(about Subjects) bool {
	return slices.ContainsFunc(a.Approvals, func(p Approval) bool {
		_, _, near := about.Near(p.About)
		return near || len(about) > 0 && about.Key() == p.About.Key()
	})
}

// admit says what keeps one call from joining.
func (a *Ask) admit(c *Call) error {
	if !askable(c.Denial.verdict) {
		return ErrNotAskable
	}
	for i := range a.Approvals {
		switch p := &a.Approvals[i]; {
		case p.Fingerprint == c.Fingerprint:
			return &KeyError{Key: FingerprintKey(a.Agent, c.Fingerprint), HeldBy: string(a.ID)}
		case c.Key != "" && p.Key == c.Key:
			return &KeyError{Key: IdempotencyKey(a.Agent, c.Key), HeldBy: string(a.ID)}
		}
	}
	return nil
}

// shownOn reports whether the ask is shown on these channels and no others.
func (a *Ask) shownOn(channels []string) bool {
	if len(channels) != len(a.Cards) {
		return false
	}
	for i := range a.Cards {
		if !slices.Contains(channels, a.Cards[i].Channel) {
			return false
		}
	}
	return true
}

// Escalate sends an ask that still waits to a further route, and shows it on
// those of the route's channels where it is not shown yet. The tokens, as many
// as [Ask.PostTokens] for each channel, become the buttons there. It reports
// false, and changes nothing, where there is nothing to escalate or the tokens
// are too few.
func (a *Ask) Escalate(to Route, channels []string, tokens []Token) bool {
	if a.EscalateTo == "" || to.Name != a.EscalateTo || !a.Waiting() || len(tokens) < len(channels)*a.PostTokens() {
		return false
	}
	a.EscalateAt, a.EscalateTo, a.Closed = time.Time{}, "", true
	a.Routes = append(a.Routes, to.active())
	a.Show(channels, tokens)
	return true
}

// Show shows the ask on those of the channels where it is not shown yet. The tokens,
// as many as [Ask.PostTokens] for each channel, become the buttons there.
func (a *Ask) Show(channels []string, tokens []Token) {
	next := dealer(tokens)
	for _, channel := range channels {
		if a.On(channel) != nil {
			continue
		}
		s := Shown{Channel: channel, Callbacks: make(map[Token]Callback, a.PostTokens())}
		s.mint(a, 0, next)
		a.Cards = append(a.Cards, s)
	}
}

// dealer deals tokens.
func dealer(tokens []Token) func() Token {
	return func() Token {
		t := tokens[0]
		tokens = tokens[1:]
		return t
	}
}

// Repost prepares the card on the channel for a message of its own: it gets new
// buttons, of the tokens, [Ask.PostTokens] of them at least. The old ones,
// which may be on a message that nobody knows of, decide nothing any more. It
// reports false, and changes nothing, where the ask is not shown on the channel
// or the tokens are too few.
func (a *Ask) Repost(channel string, tokens []Token) bool {
	s := a.On(channel)
	if s == nil || len(tokens) < a.PostTokens() {
		return false
	}
	s.Ref, s.View, s.Begun, s.Posted = "", "", "", 0
	room := maxReplaced
	for _, token := range slices.Sorted(maps.Keys(s.Callbacks)) {
		c := s.Callbacks[token]
		switch {
		case !c.Replaced:
			c.Replaced = true
			s.Callbacks[token] = c
		case room == 0:
			delete(s.Callbacks, token)
			continue
		}
		room = max(0, room-1)
	}
	s.mint(a, 0, dealer(tokens))
	return true
}

// PostTokens returns how many tokens [Ask.Repost] needs.
func (a *Ask) PostTokens() int { return perCall*len(a.Approvals) + 2 }

// perCall is how many buttons a call has at most: two, the grants, and the denial of
// its kind.
const perCall = 2 + 3 + 1
