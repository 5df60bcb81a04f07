package report

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
)

// StatisticsBuilder counts the records of a window. It takes asks and steps in the order in
// which they were first written, newest first, so that the steps that name an approval come
// before its ask. Its memory does not grow with the window.
type StatisticsBuilder struct {
	window Window
	zone   *time.Location
	night  Night
	masker approval.Masker

	counts Counts
	grain  Grain
	spans  []Span

	executors, effects, rules, agents usages
	judges                            scoresByName
	delays                            Delays
	sketch                            delaySketch
	turns                             Turns
	// cards counts the cards of each turn, by the hash of its agent and id.
	cards *recentMap[uint64, int]
	// joined are the steps that name an approval whose ask has not come yet.
	joined *recentMap[approval.ID, []judgedStep]
}

// judgedStep is what is kept of a step until its ask comes.
type judgedStep struct {
	at              time.Time
	executor, agent string
	effect          string
}

const (
	// statisticsKeys limits the number of different names that are counted separately.
	statisticsKeys = 1000
	// statisticsTurns limits the number of turns that are followed at a time. A turn that
	// did nothing while so many others did counts as a new one.
	statisticsTurns = 10_000
	// statisticsJoined limits the number of approvals whose ask has not come yet. The step
	// that opened an approval was written right after its ask.
	statisticsJoined = 10_000
	// statisticsRepeats limits the steps kept for one approval. The one that opened it is
	// among the first.
	statisticsRepeats = 16
)

// NewStatisticsBuilder returns a builder without records. A nil zone means UTC.
func NewStatisticsBuilder(w Window, zone *time.Location, n Night, m approval.Masker) *StatisticsBuilder {
	b := &StatisticsBuilder{
		window: w, zone: Hours{Zone: zone}.zone(), night: n, masker: m, grain: w.Grain(),
		executors: make(usages), effects: make(usages), rules: make(usages), agents: make(usages),
		judges: make(scoresByName),
	}
	for _, part := range w.Cut(b.grain, zone) {
		b.spans = append(b.spans, Span{Window: part})
	}
	for _, limit := range delayLimits() {
		b.delays.Within = append(b.delays.Within, Delay{Limit: limit})
	}
	for _, from := range turnSteps() {
		b.turns.With = append(b.turns.With, TurnsWith{From: from})
	}
	b.cards = newRecentMap(statisticsTurns, func(_ uint64, cards int) { b.turned(cards) })
	b.joined = newRecentMap(statisticsJoined, func(_ approval.ID, steps []judgedStep) { b.repeated(steps) })
	return b
}

// delayLimits returns the limits by which answers are grouped.
func delayLimits() []time.Duration {
	return []time.Duration{
		HastyWithin, 10 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute,
		time.Hour, 6 * time.Hour, 0,
	}
}

// turnSteps returns the numbers of cards by which turns are grouped.
func turnSteps() []int { return []int{0, 1, 2, 3, 4, 6, 11} }

// Ask takes an ask as it stands now.
func (b *StatisticsBuilder) Ask(a *approval.Ask) {
	for i := range a.Approvals {
		p := &a.Approvals[i]
		b.approval(a, p, approval.JudgedAt(p.Verdict, a.OpenedAt))
		b.decision(a, p)
	}
	if !b.window.Holds(a.OpenedAt) {
		return
	}
	b.turns.Cards++
	if b.night.holds(a.OpenedAt.In(b.zone)) {
		b.turns.AtNight++
	}
	if a.TurnID == "" {
		b.turns.Loose++
		return
	}
	b.turn(a.Agent, a.TurnID, 1)
}

// approval counts what was asked, and settles the steps that named it, one of which opened
// it.
func (b *StatisticsBuilder) approval(a *approval.Ask, p *approval.Approval, at time.Time) {
	steps, _ := b.joined.take(p.ID)
	if !at.Before(b.window.To) {
		b.repeated(steps)
		return
	}
	if i := slices.IndexFunc(steps, func(s judgedStep) bool { return s.at.Equal(at) }); i >= 0 {
		steps = slices.Delete(steps, i, i+1)
	}
	b.repeated(steps)
	b.counts.asked(b.window, p, at)
	if !b.window.Holds(at) {
		return
	}
	state := stateAt(p, b.window.To)
	b.span(at).Fates.add(state)
	var fates Fates
	fates.add(state)
	b.vetoed(judgedStep{at, p.Proposal.Executor, a.Agent, approval.ReasonOf(p.Verdict).Effect}, fates)
}

// vetoed counts a call that judges vetoed under its names, by what became of it.
func (b *StatisticsBuilder) vetoed(s judgedStep, fates Fates) {
	u := Usage{Judged: 1, Fates: fates}
	b.executors.add(s.executor, &u)
	b.agents.add(s.agent, &u)
	b.effects.add(s.effect, &Usage{Fates: fates})
}

// repeated counts steps that got the answer of a call that was already asked.
func (b *StatisticsBuilder) repeated(steps []judgedStep) {
	for _, s := range steps {
		b.counts.Fates.Repeated++
		b.span(s.at).Fates.Repeated++
		b.vetoed(s, Fates{Repeated: 1})
	}
}

// decision counts an answer given in the window, whenever the call was asked.
func (b *StatisticsBuilder) decision(a *approval.Ask, p *approval.Approval) {
	d := p.Decision
	if d == nil || !b.window.Holds(d.At) {
		return
	}
	took := d.At.Sub(a.OpenedAt)
	b.delays.Answers++
	b.sketch.add(took)
	if d.Choice == approval.ChoiceAllow && took < HastyWithin {
		b.delays.Hasty++
	}
	if b.night.holds(d.At.In(b.zone)) {
		b.delays.AtNight++
	}
	for i := range b.delays.Within {
		if w := &b.delays.Within[i]; w.Limit == 0 || took < w.Limit {
			w.Count++
			break
		}
	}
}

// Step takes a step of the turn log. The cursor is its position in the history, as in
// [approval.Entry].
func (b *StatisticsBuilder) Step(s *approval.Step, cursor uint64) {
	at := s.Judged()
	if !b.window.Holds(at) {
		return
	}
	span := b.span(at)
	span.Newest = max(span.Newest, cursor)
	if s.Proposal.TurnID != "" {
		b.turn(s.Proposal.Agent, s.Proposal.TurnID, 0)
	}
	if s.Verdict == nil {
		b.counts.Errors++
		span.Errors++
		return
	}
	b.judges.graded(s.Verdict)
	switch u := (Usage{Judged: 1}); {
	case s.Verdict.Approved:
		b.counts.Approved++
		span.Approved++
		b.executors.add(s.Proposal.Executor, &u)
		b.agents.add(s.Proposal.Agent, &u)
	case s.Verdict.BlockedBy == vaglio.PhaseGuard:
		u.Guard = 1
		b.counts.Guard++
		span.Guard++
		b.executors.add(s.Proposal.Executor, &u)
		b.agents.add(s.Proposal.Agent, &u)
		rule := string(vaglio.PhaseGuard)
		if s.Verdict.Rule != nil {
			rule = s.Verdict.Rule.ID
		}
		b.rules.add(rule, &Usage{Guard: 1})
	default:
		b.judged(s, at)
	}
}

// judged takes a step that judges vetoed.
func (b *StatisticsBuilder) judged(s *approval.Step, at time.Time) {
	j := judgedStep{at, s.Proposal.Executor, s.Proposal.Agent, approval.ReasonOf(*s.Verdict).Effect}
	if s.Approval == "" {
		b.counts.Fates.Unasked++
		b.span(at).Fates.Unasked++
		b.vetoed(j, Fates{Unasked: 1})
		return
	}
	steps, _ := b.joined.take(s.Approval)
	if len(steps) == statisticsRepeats {
		b.repeated(steps[:1])
		steps = slices.Delete(steps, 0, 1)
	}
	b.joined.put(s.Approval, append(steps, j))
}

// graded takes the scores of a call.
func (m scoresByName) graded(v *vaglio.Verdict) {
	no := approval.Rejecting(*v)
	for i := range v.Results {
		g := &v.Results[i]
		s := m.of(clipped(g.Judge))
		s.Graded++
		s.Bins[scoreBin(g.Score)]++
		if g == no && v.BlockedBy == vaglio.PhaseJudge {
			s.Refused++
		}
	}
}

// turn records that a turn did something, and how many cards that caused.
func (b *StatisticsBuilder) turn(agent, id string, cards int) {
	b.turnOf(turnHash(agent, id), cards)
}

// turnOf is turn for a known hash.
func (b *StatisticsBuilder) turnOf(hash uint64, cards int) {
	before, _ := b.cards.take(hash)
	b.cards.put(hash, before+cards)
}

// turned counts a turn that is over.
func (b *StatisticsBuilder) turned(cards int) {
	b.turns.Turns++
	b.turns.Most = max(b.turns.Most, cards)
	for i := range slices.Backward(b.turns.With) {
		if w := &b.turns.With[i]; cards >= w.From {
			w.Count++
			return
		}
	}
}

// span returns the span that contains an instant of the window.
func (b *StatisticsBuilder) span(at time.Time) *Span {
	i := sort.Search(len(b.spans), func(i int) bool { return b.spans[i].To.After(at) })
	return &b.spans[i]
}

// Statistics returns what was counted. Nothing may be added to the builder after that.
func (b *StatisticsBuilder) Statistics() Statistics {
	b.joined.drain()
	b.cards.drain()
	b.delays.Median, b.delays.P90 = b.sketch.quantile(.5), b.sketch.quantile(.9)
	local := func(w Window) Window { return Window{w.From.In(b.zone), w.To.In(b.zone)} }
	for i := range b.spans {
		b.spans[i].Window = local(b.spans[i].Window)
	}
	byVetoes := func(u *Usage) int { return u.Guard + u.Vetoed() }
	return Statistics{
		Window: local(b.window), Grain: b.grain, Counts: b.counts.summed(), Spans: b.spans,
		Executors: b.executors.top(b.masker, byVetoes), Effects: b.effects.top(b.masker, byVetoes),
		Rules: b.rules.top(b.masker, byVetoes), Agents: b.agents.top(b.masker, byVetoes),
		Judges: b.scores(), Delays: b.delays, Turns: b.turns, Night: b.night,
	}
}

// scores lists the judges, the one with the most grades first and those without a name of
// their own last.
func (b *StatisticsBuilder) scores() []Scores {
	all := []Scores{}
	for _, name := range slices.SortedFunc(maps.Keys(b.judges), func(x, y string) int {
		return cmp.Or(cmp.Compare(b.judges[y].Graded, b.judges[x].Graded), cmp.Compare(x, y))
	}) {
		if name != "" {
			s := *b.judges[name]
			s.Judge = b.masker.Mask(name)
			all = append(all, s)
		}
	}
	if s := b.judges[""]; s != nil {
		all = append(all, *s)
	}
	return all
}

// usages are counts by name.
type usages map[string]*Usage

// add counts under a name. Calls without a name, and names beyond the limit, are summed up
// together.
func (m usages) add(name string, u *Usage) {
	key := clipped(name)
	m.under(key, key == name && name != "").add(u)
}

// under returns the counts under a key, or those of all others if too many keys are kept
// apart. whole says that the key is the complete name.
func (m usages) under(key string, whole bool) *Usage {
	if m[key] == nil && len(m) >= statisticsKeys {
		key, whole = "", false
	}
	if m[key] == nil {
		m[key] = &Usage{Whole: whole}
	}
	return m[key]
}

// top lists the names with the most of something, and the sum of all others.
func (m usages) top(masker approval.Masker, of func(*Usage) int) []Usage {
	names := slices.SortedFunc(maps.Keys(m), func(x, y string) int {
		return cmp.Or(cmp.Compare(of(m[y]), of(m[x])), cmp.Compare(x, y))
	})
	all, rest := []Usage{}, Usage{}
	for _, name := range names {
		u := *m[name]
		if name == "" || of(&u) == 0 || len(all) == statisticsNames {
			rest.add(&u)
			continue
		}
		u.Name = masker.Mask(name)
		u.Whole = u.Whole && u.Name == name
		all = append(all, u)
	}
	if rest != (Usage{}) {
		all = append(all, rest)
	}
	return all
}
