package approval

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Vote is one person's yes where one is not enough. It counts for one route, for as long as
// the rules about who may decide there do not change.
type Vote struct {
	// Human is the person, whatever their name on a platform.
	Human string `json:"human"`
	By    Person `json:"by"`
	// Route and Terms are what the vote counts for.
	Route   string    `json:"route"`
	Terms   Mark      `json:"terms"`
	Channel string    `json:"channel"`
	At      time.Time `json:"at"`
	Words   string    `json:"words,omitempty"`
	// Grant is how long the person would grant the call; empty means once.
	Grant Choice `json:"grant,omitempty"`
}

// Mark stands for every rule of a route that decides what a vote is worth. Routes with
// equal marks have equal rules.
type Mark string

// Terms are what it takes to allow an agent's call on a route.
type Terms struct {
	route  string
	quorum int
	anyone bool
	people map[string]bool
	// handed are the people that the ask was handed over to.
	handed   map[string]bool
	separate bool
	// match says that any yes requires the digits of the other surface.
	match bool
	owner string
	mark  Mark
	// unsure says that the members of some group are not known.
	unsure bool
}

// Terms returns what it takes to allow the agent's calls on the named route. The terms of a
// route that no longer exists cannot be met.
func (r *Routing) Terms(name, agent string) Terms {
	t := Terms{route: name, quorum: 1, people: map[string]bool{}}
	to := r.route(name)
	if len(r.Routes) == 0 && (name == "" || name == DefaultRoute) {
		open := openRoute()
		to = &open
	}
	if to == nil {
		return t
	}
	t.quorum, t.separate, t.match = max(to.Quorum, 1), to.Separate, to.Match
	t.owner = cmp.Or(r.Owners[agent], r.Owners[anyAgent])
	for _, name := range to.Approvers {
		if name == Anyone {
			t.anyone = true
			continue
		}
		t.people[r.Human(name)] = true
	}
	for _, group := range to.Groups {
		ids, known := r.roster(group)
		t.unsure = t.unsure || !known
		for _, id := range ids {
			t.people[r.Human(id)] = true
		}
	}
	t.mark = t.sign(r.Members)
	return t
}

// roster returns the members of a group, or none if they are not known.
func (r *Routing) roster(group string) (ids []string, known bool) {
	if r.Roster == nil {
		return nil, false
	}
	if ids, known = r.Roster(group); !known {
		return nil, false
	}
	return ids, true
}

// sign encodes the terms so that no two different terms have the same mark.
func (t *Terms) sign(members []Member) Mark {
	var b strings.Builder
	part := func(s string) { fmt.Fprintf(&b, "%d:%s,", len(s), s) }
	part(strconv.Itoa(t.quorum))
	part(strconv.FormatBool(t.anyone))
	part(strconv.FormatBool(t.separate))
	part(t.owner)
	names := make([]string, 0, len(t.people))
	for name := range t.people {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		part(name)
		for i := range members {
			if members[i].Name != name {
				continue
			}
			ids := slices.Sorted(slices.Values(members[i].IDs))
			part(strconv.Itoa(len(ids)))
			for _, id := range ids {
				part(id)
			}
		}
	}
	if t.match {
		part("match")
	}
	return Mark(digest(b.String())[:16])
}

// permits reports whether the person may decide under the terms.
func (t *Terms) permits(human string) bool {
	return human != "" && (t.anyone || t.people[human] || t.handed[human])
}

// single reports whether any one person who may decide can allow alone.
func (t *Terms) single() bool { return t.quorum == 1 && !t.separate }

// met reports whether the people who allowed are enough.
func (t *Terms) met(humans map[string]bool) bool {
	if len(humans) < t.quorum {
		return false
	}
	if !t.separate {
		return true
	}
	for h := range humans {
		if h != t.owner {
			return true
		}
	}
	return false
}

// Electorate is who may currently decide an ask.
type Electorate struct {
	// Terms are the terms of the routes that the ask is on.
	Terms []Terms
	// Human returns the person behind an id, and whether they may decide anything.
	Human func(id string) (human string, ok bool)
	// Holder is the person who holds the passkeys, as named by Human; empty if there are
	// none.
	Holder string
	// Match says between which surfaces a yes to the worst calls requires digits.
	Match Match
	// Zone is where the people are, whose evening ends a grant; nil means the machine's.
	Zone *time.Location
	// reads reports whether a person reads a channel; nil means everybody reads all of
	// them.
	reads func(human, channel string) bool
}

// Electorate returns who may currently decide what an agent asks on the routes; without
// routes it uses the one of a zero [Routing]. human becomes the electorate's Human.
func (r *Routing) Electorate(routes []Active, agent string, human func(id string) (string, bool)) Electorate {
	e := Electorate{Human: human, reads: r.reads}
	for _, on := range routes {
		e.Terms = append(e.Terms, r.Terms(on.Route, agent))
	}
	if len(routes) == 0 {
		e.Terms = append(e.Terms, r.Terms("", agent))
	}
	return e
}

// Everybody lets each person decide alone. It is for callers that have already checked who
// the person is.
func Everybody() Electorate {
	var r Routing
	return Electorate{Terms: []Terms{r.Terms(DefaultRoute, "")}, Human: func(id string) (string, bool) { return id, true }}
}

// Unsure reports whether the members of some group are not known, so that votes may soon be
// worth more than now.
func (e *Electorate) Unsure() bool {
	return slices.ContainsFunc(e.Terms, func(t Terms) bool { return t.unsure })
}

// of returns who the person is, and the terms under which they may decide.
func (e *Electorate) of(id string) (human string, under []Terms) {
	human, ok := e.Human(id)
	if !ok {
		return "", nil
	}
	for i := range e.Terms {
		if e.Terms[i].permits(human) {
			under = append(under, e.Terms[i])
		}
	}
	return human, under
}

// Permits reports whether the person with the id may decide under any of the terms.
func (e *Electorate) Permits(id string) bool {
	_, under := e.of(id)
	return len(under) > 0
}

// counts reports whether a vote still counts: its route has the terms under which it was
// given, and the person who gave it is the same and still may decide.
func (e *Electorate) counts(v *Vote) bool {
	human, under := e.of(v.By.ID)
	return human == v.Human && slices.ContainsFunc(under, func(t Terms) bool { return t.route == v.Route && t.mark == v.Terms })
}

// awaits reports whether the person may decide under one of the terms and has not already
// allowed there.
func (e *Electorate) awaits(id string, votes []Vote) bool {
	human, under := e.of(id)
	return slices.ContainsFunc(under, func(t Terms) bool {
		return !slices.ContainsFunc(votes, func(v Vote) bool { return v.Human == human && v.Route == t.route && e.counts(&v) })
	})
}

// Awaits reports whether the card waits for the person with the id: something on it waits,
// they may decide it, hand-overs included, and their yes is not among the votes that count.
func (c *Card) Awaits(id string, e Electorate) bool {
	return slices.ContainsFunc(c.Items, func(it Item) bool { return it.State == Pending && e.awaits(id, it.Votes) })
}

// Prune drops the votes that no longer count, and reports whether there were any. Then nobody knows
// what the messages show: an amendment that showed a vote may not be recorded.
func (a *Ask) Prune(e Electorate) bool {
	pruned := false
	for i := range a.Approvals {
		p := &a.Approvals[i]
		if p.State != Pending {
			continue // decided approvals stay decided
		}
		before := len(p.Votes)
		p.Votes = slices.DeleteFunc(slices.Clone(p.Votes), func(v Vote) bool { return !e.counts(&v) })
		pruned = pruned || len(p.Votes) != before
	}
	for i := 0; pruned && i < len(a.Cards); i++ {
		a.Cards[i].View = ""
	}
	return pruned
}

// ballot is one person's answer on its way into the approvals.
type ballot struct {
	e         *Electorate
	human     string
	under     []Terms
	d         Decision
	permitFor time.Duration
	// grant is how long the call is granted; empty means once. turn is the ask's.
	grant Choice
	turn  string
	// kind says that everything of the call's kind is denied with it.
	kind bool
}

// cast applies the answer to an approval that waits. It decides if the answer is a denial,
// or if enough people have now allowed; otherwise the answer is kept as a vote.
func (b *ballot) cast(p *Approval) (decided, kept bool, err error) {
	if b.d.Choice != ChoiceAllow {
		err := b.deny(p)
		return err == nil, false, err
	}
	votes := slices.DeleteFunc(slices.Clone(p.Votes), func(v Vote) bool { return !b.e.counts(&v) })
	for i := range b.under {
		t := &b.under[i]
		humans := humansOn(votes, t.route)
		if !humans[b.human] && !t.single() {
			kept = true
			votes = append(votes, Vote{
				Human: b.human, By: b.d.By, Route: t.route, Terms: t.mark, Channel: b.d.Channel, At: b.d.At, Words: b.d.Words, Grant: b.grant,
			})
		}
		humans[b.human] = true
		if !decided && t.met(humans) {
			decided, b.grant = true, b.granted(votes, t.route)
		}
	}
	p.Votes = votes
	if len(votes) == 0 {
		p.Votes = nil
	}
	if decided {
		if err := p.decide(b.d, b.permitFor); err != nil || b.grant == "" {
			return err == nil, false, err
		}
		return true, false, p.grant(b.grant, b.turn, b.d, b.e.Zone)
	}
	return false, kept, nil
}

// deny denies a waiting approval, and its kind if the ballot says so.
func (b *ballot) deny(p *Approval) error {
	if err := p.decide(b.d, b.permitFor); err != nil {
		return err
	}
	if b.kind {
		p.Kind = p.DenialOf()
	}
	return nil
}

// humansOn returns the people whose votes count on a route.
func humansOn(votes []Vote, route string) map[string]bool {
	humans := map[string]bool{}
	for i := range votes {
		if votes[i].Route == route {
			humans[votes[i].Human] = true
		}
	}
	return humans
}

// granted returns how long everyone who allowed on the route grants the call: no longer
// than any of them would, and not at all if one allowed it only once.
func (b *ballot) granted(votes []Vote, route string) Choice {
	grant := b.grant
	for i := range votes {
		if votes[i].Route == route {
			grant = narrower(grant, votes[i].Grant)
		}
	}
	return grant
}

// Named returns the person behind a name or id: a member, matched by name in any case or by
// id, or an approver who is not a member.
func (r *Routing) Named(name string) (human string, ids []string, ok bool) {
	for i := range r.Members {
		if m := &r.Members[i]; strings.EqualFold(m.Name, name) || slices.Contains(m.IDs, name) {
			return m.Name, m.IDs, true
		}
	}
	return name, []string{name}, qualified(name)
}

// ErrPasskey says that a yes needs a passkey, see [Electorate.WantsPasskey].
var ErrPasskey = errors.New("it may be impossible to undo, or reaches others: allow it in the inbox, with your passkey")

// WantsPasskey reports whether a person's yes to a serious call counts only with a passkey
// assertion. The holder's always needs one, and so does anybody's if the holder alone could
// allow the call. The empty name means anybody.
func (e *Electorate) WantsPasskey(human string) bool {
	return e.Holder != "" && slices.ContainsFunc(e.Terms, func(t Terms) bool {
		return t.permits(e.Holder) && (human == e.Holder || t.single())
	})
}

// voter returns who taps, and the terms under which they may decide. It returns
// [ErrNotApprover] if there are none, [ErrPasskey] for a yes to a serious call that lacks a
// required passkey, and a [*MatchError] for one that lacks required digits.
func (e *Electorate) voter(a *Ask, t *Tap, m *meaning) (human string, under []Terms, err error) {
	human, under = e.of(t.By.ID)
	if len(under) == 0 {
		return "", nil, ErrNotApprover
	}
	if m.choice != ChoiceAllow || m.replaced {
		return human, under, nil
	}
	for _, id := range m.ids {
		p := a.Find(id)
		if p.State != Pending {
			continue
		}
		if err := e.asserted(human, t.Passkey, serious(p.Proposal, p.Verdict)); err != nil {
			return "", nil, err
		}
		err = cmp.Or(err, e.matched(a, t, human, p))
	}
	if err != nil {
		return "", nil, err
	}
	return human, under, nil
}

// asserted returns [ErrPasskey] for a person's yes to a serious call that lacks a required
// passkey assertion.
func (e *Electorate) asserted(human string, passkey, serious bool) error {
	if serious && !passkey && e.WantsPasskey(human) {
		return ErrPasskey
	}
	return nil
}
