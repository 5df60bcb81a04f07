package report

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"slices"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/visible"
)

// Counters count steps that the judges let through. Digests and statistics take them as a
// whole, with the same result as if they took each step. Counters know the time of a step
// to the minute, and names only for all steps together, so a window that begins or ends
// between their steps may have to take the steps one by one. Their memory is bounded by
// minutes, turns, and the number of names that are kept apart.
//
// Counters are not safe for concurrent use.
type Counters struct {
	// from and to are when the first and the last step were judged.
	from, to          time.Time
	minutes           map[routeMinute]minuteCount
	executors, agents usages
	judges            scoresByName
	// turns are the hashes of the turns, each at least once; the first packed of them are
	// sorted and distinct.
	turns  []uint64
	packed int
}

// routeMinute is a minute since 1970 for the calls that went to a route.
type routeMinute struct {
	minute int64
	route  string
}

type minuteCount struct {
	steps int
	// newest is the largest cursor of the steps.
	newest uint64
}

// NewCounters returns Counters without steps.
func NewCounters() *Counters {
	return &Counters{minutes: make(map[routeMinute]minuteCount), executors: make(usages), agents: make(usages), judges: make(scoresByName)}
}

// Add counts a step that the judges let through. The cursor is its position in the history,
// as in [approval.Entry].
func (c *Counters) Add(s *approval.Step, cursor uint64) {
	at := s.Judged()
	if len(c.minutes) == 0 || at.Before(c.from) {
		c.from = at
	}
	if len(c.minutes) == 0 || at.After(c.to) {
		c.to = at
	}
	key := routeMinute{minuteOf(at), s.Route}
	m := c.minutes[key]
	m.steps, m.newest = m.steps+1, max(m.newest, cursor)
	c.minutes[key] = m
	c.executors.add(s.Proposal.Executor, &Usage{Judged: 1})
	c.agents.add(s.Proposal.Agent, &Usage{Judged: 1})
	c.judges.graded(s.Verdict)
	if s.Proposal.TurnID != "" {
		c.turns = append(c.turns, turnHash(s.Proposal.Agent, s.Proposal.TurnID))
	}
	if len(c.turns) > 2*c.packed+turnsLoose {
		c.pack()
	}
}

// turnsLoose is the least number of unpacked hashes of turns before duplicates are dropped.
const turnsLoose = 1024

func (c *Counters) pack() {
	slices.Sort(c.turns)
	c.turns = slices.Clip(slices.Compact(c.turns))
	c.packed = len(c.turns)
}

// Lack reports that none of the steps is one of the agent's, or none one of the executor's; an
// empty name is anybody's. It is false if that is not known.
func (c *Counters) Lack(agent, executor string) bool {
	return c.agents.lack(agent) || c.executors.lack(executor)
}

// lack reports that nothing was counted under a name, not even among all others.
func (m usages) lack(name string) bool { return name != "" && m[clipped(name)] == nil && m[""] == nil }

// knows reports whether the counters can tell on which side of an instant each step lies.
func (c *Counters) knows(at time.Time) bool {
	if !c.from.Before(at) || c.to.Before(at) || at.Truncate(time.Minute).Equal(at) {
		return true
	}
	for m := range c.minutes {
		if m.minute == minuteOf(at) {
			return false
		}
	}
	return true
}

func minuteOf(at time.Time) int64 { return at.Unix() / 60 }

// instant returns a time that is on the same side as the minute's steps of every instant
// that the counters know.
func (c *Counters) instant(m routeMinute) time.Time {
	if begin := time.Unix(m.minute*60, 0).UTC(); begin.After(c.from) {
		return begin
	}
	return c.from
}

// Knows reports whether the digest can take the counters. A digest that passes on every
// verdict cannot.
func (b *DigestBuilder) Knows(c *Counters) bool {
	if b.told != nil {
		return false
	}
	for _, d := range append([]Day{{Window: b.window}}, b.days...) {
		if !c.knows(d.Window.From) || !c.knows(d.Window.To) {
			return false
		}
	}
	return true
}

// Counted takes counters that the digest [DigestBuilder.Knows].
func (b *DigestBuilder) Counted(c *Counters) {
	for m, n := range c.minutes {
		if !b.tellsOf(m.route) {
			continue
		}
		if counts := b.countsAt(c.instant(m)); counts != nil {
			counts.Approved += n.steps
		}
	}
}

// Knows reports whether the statistics can take the counters: none or all of their steps
// must be in the window.
func (b *StatisticsBuilder) Knows(c *Counters) bool {
	if len(c.minutes) == 0 || c.to.Before(b.window.From) || !c.from.Before(b.window.To) {
		return true
	}
	if !b.window.Holds(c.from) || !b.window.Holds(c.to) {
		return false
	}
	return !slices.ContainsFunc(b.spans, func(s Span) bool { return !c.knows(s.From) })
}

// Counted takes counters that the statistics [StatisticsBuilder.Knows].
func (b *StatisticsBuilder) Counted(c *Counters) {
	if len(c.minutes) == 0 || !b.window.Holds(c.from) {
		return
	}
	for m, n := range c.minutes {
		span := b.span(c.instant(m))
		span.Approved += n.steps
		span.Newest = max(span.Newest, n.newest)
		b.counts.Approved += n.steps
	}
	b.executors.join(c.executors)
	b.agents.join(c.agents)
	b.judges.join(c.judges)
	c.pack()
	for _, t := range c.turns {
		b.turnOf(t, 0)
	}
}

// turnHash returns the hash that tells turns apart. Finding two turns with the same hash
// must be infeasible.
func turnHash(agent, id string) uint64 {
	h := sha256.New()
	_, _ = io.WriteString(h, agent) // a hash takes everything
	_, _ = io.WriteString(h, "\x00")
	_, _ = io.WriteString(h, TurnName(id))
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// longestTurn is the longest id of a turn by which turns are counted.
const longestTurn = 512

// TurnName returns the name under which a turn is counted: its id or, of a long one, a beginning
// with the hash of the whole.
func TurnName(id string) string {
	if len(id) <= longestTurn {
		return id
	}
	h := sha256.Sum256([]byte(id))
	return id[:longestTurn-2*len(h)] + hex.EncodeToString(h[:])
}

// join adds the others' counts.
func (m usages) join(others usages) {
	for key, u := range others {
		m.under(key, u.Whole).add(u)
	}
}

// scoresByName are the grades of judges, by name.
type scoresByName map[string]*Scores

// of returns the scores under a name, or those of all others if too many names are kept
// apart.
func (m scoresByName) of(name string) *Scores {
	if m[name] == nil && len(m) >= statisticsNames {
		name = ""
	}
	if m[name] == nil {
		m[name] = &Scores{Judge: name}
	}
	return m[name]
}

func (m scoresByName) join(others scoresByName) {
	for name, o := range others {
		s := m.of(name)
		s.Graded, s.Refused = s.Graded+o.Graded, s.Refused+o.Refused
		for i, n := range o.Bins {
			s.Bins[i] += n
		}
	}
}

// clipped returns the part of a name that is kept.
func clipped(name string) string { return visible.Clip(name, longestName) }
