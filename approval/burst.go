package approval

import (
	"errors"
	"maps"
	"slices"
	"time"
)

// A burst is several proposals that one turn makes within moments of each other, such as
// tool calls that a model makes in parallel. They share one card, which lists each of them.
// A call that joins changes the meaning of no existing button: a button stands for the
// calls that its card showed.
const (
	// GatherFor is how long after its opening any call may join an ask. Parallel calls
	// arrive within a second or two; after that a person may be reading, and only calls
	// that are akin join, see [Ask.Akin].
	GatherFor = 5 * time.Second
	// MaxGathered is the most calls that an ask can reach by joining: as many as a person
	// can read in one go and every platform can give buttons of their own. A plan may be
	// longer, because its agent chose to send it as one.
	MaxGathered = 10
	// maxReplaced is how many replaced buttons a card remembers, so that a press can be
	// explained. It is enough for a card that is posted again and again through an outage
	// of an hour.
	maxReplaced = 256
)

// ErrNoJoining says that calls cannot join an ask: somebody answered it, it is too old or
// too large, or the calls are of another turn or, after a while, of another kind.
var ErrNoJoining = errors.New("the ask takes no further call")

// TakesMore reports whether the ask takes further calls of its turn, leaving aside the time
// and what those calls would do.
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

// Join adds further calls of the ask's turn to its card and returns their ids. They wait
// until the ask's own deadline. The tokens, at least [Ask.JoinTokens], become the new
// buttons; the old buttons keep their meaning. An error leaves the ask unchanged. It is
// [ErrNoJoining], [ErrNotAskable], or a [*KeyError] for a call that the ask already holds.
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

// join appends the calls and makes their buttons from the tokens.
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

// settle makes explicit what an older program left implicit, when no call could join: how
// many calls the card shows, and that its buttons stand for those.
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

// JoinTokens returns how many tokens [Ask.Join] needs to add the given number of calls.
func (a *Ask) JoinTokens(calls int) int { return len(a.Cards) * (perCall*calls + 2) }

// joinable reports whether the calls may join at the given time.
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

// fits reports whether a call has a fingerprint and belongs to the ask's agent and turn.
func (a *Ask) fits(c *Call) bool {
	return c.Fingerprint != "" && c.Proposal.TurnID == a.TurnID && c.Proposal.Intent == a.Intent && c.Proposal.Agent == a.Agent
}

// akinToAll reports whether each of the calls is akin to one in the ask and people would
// still have time to look at them.
func (a *Ask) akinToAll(calls []Call, at time.Time) bool {
	if !at.Before(a.lastThird()) {
		return false
	}
	return !slices.ContainsFunc(calls, func(c Call) bool { return !a.Akin(c.About) })
}

// Akin reports whether a call about the given subjects would do the same thing in the same
// system as one of the ask's calls, whatever the object. Such calls are easier to judge on
// one card than on two.
func (a *Ask) Akin(about Subjects) bool {
	return slices.ContainsFunc(a.Approvals, func(p Approval) bool {
		_, _, near := about.Near(p.About)
		return near || len(about) > 0 && about.Key() == p.About.Key()
	})
}

// admit returns an error if a call may not join.
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

// shownOn reports whether the ask is shown on exactly these channels.
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

// Escalate sends an ask that still waits to a further route, and shows it on the route's
// channels that do not show it yet. The tokens, [Ask.PostTokens] for each channel, become
// the buttons there. It reports false and changes nothing if there is nothing to escalate
// or there are too few tokens.
func (a *Ask) Escalate(to Route, channels []string, tokens []Token, at time.Time) bool {
	if a.EscalateTo == "" || to.Name != a.EscalateTo || !a.Waiting() || len(tokens) < len(channels)*a.PostTokens() {
		return false
	}
	a.EscalateAt, a.EscalateTo, a.Closed = time.Time{}, "", true
	next := to.active()
	next.Since = at
	a.Routes = append(a.Routes, next)
	a.Show(channels, tokens)
	return true
}

// Show shows the ask on those of the channels that do not show it yet. The tokens,
// [Ask.PostTokens] for each channel, become the buttons there.
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

// dealer returns a function that hands out the tokens one by one.
func dealer(tokens []Token) func() Token {
	return func() Token {
		t := tokens[0]
		tokens = tokens[1:]
		return t
	}
}

// Repost prepares the card on the channel for a new message. It gets new buttons from the
// tokens, at least [Ask.PostTokens]. The old buttons, which may be on a message that nobody
// knows of, no longer decide anything. It reports false and changes nothing if the ask is
// not shown on the channel or there are too few tokens.
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

// perCall is the most buttons a call can have: two for allow and deny, three grants, and
// the denial of its kind.
const perCall = 2 + 3 + 1

// Turns deals out what several agents have, so that none keeps the others waiting: next comes
// the first thing of the agent whose things weigh least so far.
type Turns[T any] struct {
	agents []string
	queues map[string][]T
	weighs map[string]int
}

// InTurns returns the things of all agents, each agent's in the given order.
func InTurns[T any](all []T, agent func(T) string) *Turns[T] {
	t := &Turns[T]{queues: map[string][]T{}, weighs: map[string]int{}}
	for _, v := range all {
		name := agent(v)
		if _, known := t.queues[name]; !known {
			t.agents = append(t.agents, name)
		}
		t.queues[name] = append(t.queues[name], v)
	}
	return t
}

// Next returns the next thing, if there is one.
func (t *Turns[T]) Next() (v T, ok bool) {
	best := ""
	for _, name := range t.agents {
		if len(t.queues[name]) > 0 && (!ok || t.weighs[name] < t.weighs[best]) {
			best, ok = name, true
		}
	}
	if ok {
		v, t.queues[best] = t.queues[best][0], t.queues[best][1:]
	}
	return v, ok
}

// Weigh adds to what the agent's things weigh.
func (t *Turns[T]) Weigh(agent string, by int) { t.weighs[agent] += by }

// Shared returns the indices, in order, of up to most of the things: the first of each agent,
// as many of each as of the others.
func Shared[T any](things []T, most int, agent func(T) string) (at []int) {
	all := make([]int, len(things))
	for i := range all {
		all[i] = i
	}
	turns := InTurns(all, func(i int) string { return agent(things[i]) })
	for i, ok := turns.Next(); ok && len(at) < most; i, ok = turns.Next() {
		at = append(at, i)
		turns.Weigh(agent(things[i]), 1)
	}
	slices.Sort(at)
	return at
}

// Listing is a list of cards that has room for Most of them, which agents share.
type Listing struct {
	Most int
	// N is how many cards were added.
	N int

	kept []Card
	of   map[string]int
}

// Add adds a card. Of each agent it keeps no more than there is room for.
func (l *Listing) Add(c Card) {
	if l.of == nil {
		l.of = map[string]int{}
	}
	if l.N++; l.of[c.Agent] < l.Most {
		l.of[c.Agent]++
		l.kept = append(l.kept, c)
	}
}

// Cards returns the cards that are listed, in the order in which they were added.
func (l *Listing) Cards() (cards []Card) {
	for _, i := range Shared(l.kept, l.Most, func(c Card) string { return c.Agent }) {
		cards = append(cards, l.kept[i])
	}
	return cards
}
