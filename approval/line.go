package approval

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/approval/visible"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/reading"
)

// Line returns the call in one line: the command line that it would run, if there is one,
// else [Wanted].
func Line(p vaglio.Proposal) string {
	if line := commandLine(p); line != "" {
		return clip(line, maxWanted)
	}
	return Wanted(p)
}

// commandLine returns the command line that a call would run, or "" if there is none or
// more than one. A list of words is quoted the way a shell needs it.
func commandLine(p vaglio.Proposal) string {
	line := ""
	for _, c := range reading.NewReader(reading.Options{}).Read(p.Call()).Commands {
		switch {
		case c.Doubt || c.Verb:
		case !c.IsLine() || line != "" && c.Text != line:
			return ""
		default:
			line = c.Text
		}
	}
	return line
}

// clip is [visible.Clip].
func clip(s string, n int) string { return visible.Clip(s, n) }

// quote is [visible.Quote].
func quote(s string, n int) string { return visible.Quote(s, n) }

// oneLine escapes line breaks and everything else that is not printable.
func oneLine(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !strconv.IsPrint(r) || r == utf8.RuneError }) < 0 {
		return s
	}
	quoted := strings.ReplaceAll(strconv.Quote(s), `\"`, `"`)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\\`, `\`)
}

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
