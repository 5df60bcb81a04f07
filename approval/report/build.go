package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
)

// DigestBuilder counts the records of a window. It takes first the asks and then the steps,
// in any order; those outside the window are allowed. Its memory grows with the asks, not
// with the steps.
type DigestBuilder struct {
	window Window
	routes []string // none means all
	masker approval.Masker
	told   func(Judgement)                      // may be nil
	effect func(vaglio.Proposal) (string, bool) // may be nil
	human  func(id string) string               // may be nil
	aims   map[aim][]attempt
	tried  int

	counts  Counts
	days    []Day
	asked   map[approval.ID]*askedCall
	waiting []heldCall[Waiting]
	rules   map[string]int
	groups  map[groupKey]*vetoes
	spares  map[string]*spare
	people  map[string]*Habit
}

// askedCall is what steps need to know of an approval.
type askedCall struct {
	at    time.Time
	ended time.Time
	state approval.State
	agent string
	call  judgedCall
	// ours says that it belongs to a route that the digest covers.
	ours bool
	// opened says that the step that opened it was seen. tries is how often the same was
	// tried in other words after the denial.
	opened bool
	tries  int
}

// groupKey is what vetoed actions of a group have in common.
type groupKey struct{ effect, rule string }

// vetoes are the actions of a group: all are counted, the newest are kept.
type vetoes struct {
	count int
	kept  []heldCall[Veto]
}

// judgedCall is a call with what its judges said.
type judgedCall struct {
	vaglio.Proposal
	vaglio.Verdict
}

// heldCall is something to report about a call, which is masked only when it is reported.
type heldCall[T any] struct {
	told T
	call judgedCall
}

// spare counts decided calls of one kind.
type spare struct{ allowed, others int }

// NewDigestBuilder returns a builder without records. The windows in before must be
// contiguous, earliest first; only their counts are reported.
func NewDigestBuilder(w Window, m approval.Masker, before ...Window) *DigestBuilder {
	days := make([]Day, len(before))
	for i := range before {
		days[i].Window = before[i]
	}
	return &DigestBuilder{
		window: w, masker: m, days: days, aims: make(map[aim][]attempt),
		asked: make(map[approval.ID]*askedCall), rules: make(map[string]int), groups: make(map[groupKey]*vetoes),
		spares: make(map[string]*spare), people: make(map[string]*Habit),
	}
}

// Human makes the builder count together what one person decided under several ids: human
// returns the name of the person behind an id, or the id. Call it before adding any
// records.
func (b *DigestBuilder) Human(human func(id string) string) { b.human = human }

// Of restricts the digest to the calls of the given routes, by the route that each call was
// sent to first. Call it before adding any records. The digests of all routes and of no
// route, which is "", add up to the digest of everything.
func (b *DigestBuilder) Of(routes ...string) { b.routes = routes }

func (b *DigestBuilder) tellsOf(route string) bool {
	return len(b.routes) == 0 || slices.Contains(b.routes, route)
}

// Ask takes an ask as it stands now.
func (b *DigestBuilder) Ask(a *approval.Ask) {
	ours := b.tellsOf(a.RoutedTo())
	for i := range a.Approvals {
		p := &a.Approvals[i]
		at := approval.JudgedAt(p.Verdict, a.OpenedAt)
		// The people of a route that an ask escalated to wait for it, too.
		if p.State == approval.Pending && (ours || slices.ContainsFunc(a.Routes, func(to approval.Active) bool { return b.tellsOf(to.Route) })) {
			b.wait(a, p)
		}
		if !at.Before(b.window.To) {
			continue
		}
		state, call := stateAt(p, b.window.To), judgedCall{p.Proposal, p.Verdict}
		b.asked[p.ID] = &askedCall{at: at, ended: p.EndedAt, state: state, agent: a.Agent, call: call, ours: ours}
		if !ours {
			continue
		}
		b.tellOne(&p.Proposal, &p.Verdict, p.Verdict.TS, false)
		b.askedDays(p, at)
		b.counts.asked(b.window, p, at)
		if b.window.Holds(at) {
			b.veto(groupKey{effect: approval.ReasonOf(p.Verdict).Effect}, vetoOf(a, p, at, state, b.window.To), call)
			b.spare(p, state)
			tried := attempt{id: p.ID, call: call, at: at}
			if state == approval.Denied {
				tried.refused = p.EndedAt
			}
			b.try(p.Effect, tried)
		}
		b.habit(a, p)
	}
}

// Step takes a step of the turn log.
func (b *DigestBuilder) Step(s *approval.Step) {
	at := s.Judged()
	opened := b.opened(s, at)
	b.tellStep(s, opened)
	counts := b.countsAt(at)
	if counts == nil || opened || !b.tellsOf(s.Route) {
		return
	}
	counts.step(s)
	switch {
	case !b.window.Holds(at), s.Verdict == nil, s.Verdict.Approved:
	case s.Verdict.BlockedBy == vaglio.PhaseGuard:
		b.guard(s, at)
	default:
		b.judged(s, at)
	}
}

func (b *DigestBuilder) guard(s *approval.Step, at time.Time) {
	rule := string(vaglio.PhaseGuard)
	if s.Verdict.Rule != nil {
		rule = s.Verdict.Rule.ID
	}
	if _, known := b.rules[rule]; known || len(b.rules) < digestKeys {
		b.rules[rule]++
	} else {
		b.rules[""]++
	}
	b.veto(groupKey{rule: rule}, Veto{ID: approval.VetoID(s.ID), At: at, Agent: s.Proposal.Agent}, judgedCall{s.Proposal, *s.Verdict})
	b.try("", attempt{approval.VetoID(s.ID), judgedCall{s.Proposal, *s.Verdict}, at, at})
}

// judged takes a step that judges vetoed and that opened no approval.
func (b *DigestBuilder) judged(s *approval.Step, at time.Time) {
	c := b.asked[s.Approval]
	if c == nil {
		b.veto(groupKey{effect: approval.ReasonOf(*s.Verdict).Effect}, Veto{ID: approval.VetoID(s.ID), At: at, Agent: s.Proposal.Agent}, judgedCall{s.Proposal, *s.Verdict})
		b.try("", attempt{id: approval.VetoID(s.ID), call: judgedCall{s.Proposal, *s.Verdict}, at: at})
		return
	}
	if c.ours && c.state == approval.Denied && at.After(c.ended) && approval.Wanted(s.Proposal) != approval.Wanted(c.call.Proposal) {
		c.tries++
	}
}

func (b *DigestBuilder) wait(a *approval.Ask, p *approval.Approval) {
	b.waiting = append(b.waiting, heldCall[Waiting]{Waiting{ID: p.ID, Agent: a.Agent, Until: a.ExpiresAt}, judgedCall{p.Proposal, p.Verdict}})
}

func vetoOf(a *approval.Ask, p *approval.Approval, at time.Time, state approval.State, until time.Time) Veto {
	v := Veto{ID: p.ID, At: at, Agent: a.Agent, State: state}
	if d := p.Decision; d != nil && d.At.Before(until) {
		v.By, v.After, v.Words = d.By.Name, d.At.Sub(a.OpenedAt).Seconds(), d.Words
	}
	return v
}

// veto counts an action, and keeps it while it is among the newest of its group.
func (b *DigestBuilder) veto(k groupKey, v Veto, call judgedCall) {
	g := b.groups[k]
	if g == nil && len(b.groups) >= digestKeys {
		k = groupKey{}
		g = b.groups[k]
	}
	if g == nil {
		g = &vetoes{}
		b.groups[k] = g
	}
	g.count++
	held := heldCall[Veto]{v, call}
	i, _ := slices.BinarySearchFunc(g.kept, held, newestVeto)
	g.kept = slices.Insert(g.kept, i, held)
	g.kept = g.kept[:min(len(g.kept), digestActions)]
}

func newestVeto(a, b heldCall[Veto]) int {
	return cmp.Or(b.told.At.Compare(a.told.At), cmp.Compare(a.told.ID, b.told.ID), cmp.Compare(a.told.Agent, b.told.Agent))
}

// between separates executor and effect in the name of a kind of calls; no executor has it.
const between = "\x00"

// spare counts a decided call by its executor and effect.
func (b *DigestBuilder) spare(p *approval.Approval, state approval.State) {
	if state == approval.Pending {
		return
	}
	name := p.Proposal.Executor + between + approval.ReasonOf(p.Verdict).Effect
	s := b.spares[name]
	if s == nil {
		s = &spare{}
		b.spares[name] = s
	}
	if p.Decision != nil && p.Decision.Choice == approval.ChoiceAllow {
		s.allowed++
	} else {
		s.others++
	}
}

func (b *DigestBuilder) habit(a *approval.Ask, p *approval.Approval) {
	d := p.Decision
	if d == nil || !b.window.Holds(d.At) {
		return
	}
	who := Habit{Person: d.By.ID, Name: d.By.Name}
	if b.human != nil {
		if name := b.human(d.By.ID); name != d.By.ID {
			who = Habit{Person: name, Name: name}
		}
	}
	h := b.people[who.Person]
	if h == nil {
		h = &who
		b.people[who.Person] = h
	}
	switch {
	case d.Choice != approval.ChoiceAllow:
		h.Denies++
	case d.At.Sub(a.OpenedAt) < HastyWithin:
		h.Hasty++
		h.Allows++
	default:
		h.Allows++
	}
}

// Digest returns what was counted. before is the builder of the window a week earlier, or
// nil.
func (b *DigestBuilder) Digest(before *DigestBuilder) Digest {
	d := Digest{Window: b.window, Routes: b.routes, Counts: b.counts.summed()}
	if before == nil {
		before = NewDigestBuilder(Window{}, b.masker)
	}
	d.WeekAgo = before.counts.summed()
	d.Week = b.week()
	d.Waiting, d.WaitingMore = b.waits()
	d.Rules = tallies(b.rules, before.rules, digestRules)
	d.Groups = b.vetoGroups(before)
	always := make(map[string]int)
	for name, s := range b.spares {
		if s.others == 0 && s.allowed >= spareLeast {
			always[name] = s.allowed
		}
	}
	d.Spares = tallies(always, always, digestSpares)
	for i, s := range d.Spares {
		d.Spares[i].Name, d.Spares[i].Effect, _ = strings.Cut(s.Name, between)
	}
	d.Workarounds = b.workarounds()
	d.People = b.habits()
	return d
}

// waits returns the waiting calls that end first, and how many more wait.
func (b *DigestBuilder) waits() ([]Waiting, int) {
	slices.SortFunc(b.waiting, func(x, y heldCall[Waiting]) int {
		return cmp.Or(x.told.Until.Compare(y.told.Until), cmp.Compare(x.told.ID, y.told.ID))
	})
	n := min(len(b.waiting), digestWaiting)
	first := make([]Waiting, 0, n)
	for _, h := range b.waiting[:n] {
		h.told.Wanted, h.told.Headline = b.tell(h.call)
		first = append(first, h.told)
	}
	return first, len(b.waiting) - n
}

func (b *DigestBuilder) vetoGroups(before *DigestBuilder) []VetoGroup {
	keys := slices.SortedFunc(maps.Keys(b.groups), func(x, y groupKey) int {
		return cmp.Or(cmp.Compare(b.groups[y].count, b.groups[x].count), cmp.Compare(x.rule, y.rule), cmp.Compare(x.effect, y.effect))
	})
	all, rest := []VetoGroup{}, 0
	for i, k := range keys {
		if i >= digestGroups {
			rest += b.groups[k].count
			continue
		}
		g := b.groups[k]
		told := VetoGroup{Effect: k.effect, Rule: k.rule, Count: g.count, New: before.groups[k] == nil}
		for _, h := range g.kept {
			h.told.Wanted, h.told.Headline = b.tell(h.call)
			h.told.Words = b.masker.Mask(h.told.Words)
			told.Actions = append(told.Actions, h.told)
		}
		all = append(all, told)
	}
	if rest > 0 {
		all = append(all, VetoGroup{Count: rest, Actions: []Veto{}})
	}
	return all
}

func (b *DigestBuilder) workarounds() []Workaround {
	found := b.around()
	for id, c := range b.asked {
		if c.tries > 0 {
			found[id] = b.workaround(id, c.agent, c.call, c.tries+found[id].Tries)
		}
	}
	all := slices.AppendSeq([]Workaround{}, maps.Values(found))
	slices.SortFunc(all, func(x, y Workaround) int {
		return cmp.Or(cmp.Compare(y.Tries, x.Tries), cmp.Compare(x.ID, y.ID))
	})
	if len(all) > digestTries {
		rest := Workaround{}
		for _, w := range all[digestTries:] {
			rest.Tries += w.Tries
		}
		all = append(all[:digestTries], rest)
	}
	return all
}

// habits lists who decided. If several people with the same name are not known to be one
// person, the surface of their ids tells them apart.
func (b *DigestBuilder) habits() []Habit {
	named := make(map[string]int)
	for _, h := range b.people {
		named[h.Name]++
	}
	for _, h := range b.people {
		if surface, _, ok := strings.Cut(h.Person, ":"); ok && named[h.Name] > 1 {
			h.Surface = surface
		}
	}
	all := []Habit{}
	for _, h := range b.people {
		all = append(all, *h)
	}
	slices.SortFunc(all, func(x, y Habit) int {
		return cmp.Or(cmp.Compare(y.Allows+y.Denies, x.Allows+x.Denies), cmp.Compare(x.Person, y.Person))
	})
	if len(all) > digestPeople {
		rest := Habit{}
		for _, h := range all[digestPeople:] {
			rest.Allows, rest.Denies, rest.Hasty = rest.Allows+h.Allows, rest.Denies+h.Denies, rest.Hasty+h.Hasty
		}
		all = append(all[:digestPeople], rest)
	}
	return all
}

// tallies lists the most frequent names, and the sum of the others without a name.
func tallies(counts, before map[string]int, most int) []Tally {
	all, rest := []Tally{}, counts[""]
	names := slices.SortedFunc(maps.Keys(counts), func(x, y string) int {
		return cmp.Or(cmp.Compare(counts[y], counts[x]), cmp.Compare(x, y))
	})
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	for i, name := range names {
		if i >= most {
			rest += counts[name]
			continue
		}
		all = append(all, Tally{Name: name, Count: counts[name], New: before[name] == 0})
	}
	if rest > 0 {
		all = append(all, Tally{Count: rest})
	}
	return all
}
