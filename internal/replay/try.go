package replay

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/policyfile"
	"github.com/metnos/vaglio/internal/terminal"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects"
	"github.com/metnos/vaglio/vaglio/operation"
)

// Past is a call that people were asked about.
type Past struct {
	Proposal vaglio.Proposal
	At       time.Time
	// Denied says that a person denied it; Ran that it ran.
	Denied, Ran bool
}

// Tried is what another policy would have changed for them.
type Tried struct {
	// Calls are all, of which Passed would have passed unasked, Asked would have been
	// asked, as they were, and Refused nobody could have allowed.
	Calls, Passed, Asked, Refused int
	// Route is where those that Passed counts would have gone instead, where the policy
	// differs in that alone: they would have been asked there.
	Route string
	// Denied are those that would have passed, and that a person denied.
	Denied int
	// Groups are those that would have passed, alike ones together, what people denied
	// first, then the most frequent.
	Groups []TriedGroup
}

// TriedGroup are alike calls that would have passed; secrets are masked.
type TriedGroup struct {
	Example       string
	Calls, Denied int
}

// Try tells what a policy would have let pass of what was asked.
func Try(ctx context.Context, o Options, p policyfile.Policy, past []Past) (Tried, error) {
	calls := make([]*call, len(past))
	for i := range past {
		calls[i] = &call{proposal: past[i].Proposal, at: past[i].At, recorded: true, ended: past[i].Ran, refused: !past[i].Ran}
	}
	before, err := judge(ctx, o, o.Policy, calls)
	if err != nil {
		return Tried{}, err
	}
	after, err := judge(ctx, o, p, calls)
	if err != nil {
		return Tried{}, err
	}
	t := Tried{Calls: len(past)}
	t.group(o, past, func(i int) bool {
		switch {
		case after[i].outcome == Denied:
			t.Refused++
		case after[i].outcome == Asked || before[i].outcome != Asked:
			t.Asked++
		default:
			return true
		}
		return false
	})
	return t, nil
}

// TrySending tells which calls of what was asked another policy would have sent to the
// route, and the one of the options elsewhere.
func TrySending(o Options, p policyfile.Policy, route string, past []Past) (Tried, error) {
	engine, reader, err := o.Build(p)
	if err != nil {
		return Tried{}, err
	}
	t := Tried{Calls: len(past), Route: route}
	t.group(o, past, func(i int) bool {
		c := caseOf(engine, reader, past[i].Proposal)
		goes := p.Routing.For(c).Name == route && o.Policy.Routing.For(c).Name != route
		if !goes {
			t.Asked++
		}
		return goes
	})
	return t, nil
}

// Effects are the kinds of what a call does besides reading, each once.
func Effects(o Options, p vaglio.Proposal) ([]string, error) {
	engine, reader, err := o.Build(o.Policy)
	if err != nil {
		return nil, err
	}
	kinds := slices.DeleteFunc(caseOf(engine, reader, p).Effects, func(kind string) bool { return kind == string(operation.KindRead) })
	slices.Sort(kinds)
	return slices.Compact(kinds), nil
}

// caseOf is what rules look at of a call.
func caseOf(engine *vaglio.Engine, reader *effects.Judge, p vaglio.Proposal) approval.Case {
	c := approval.Case{Agent: p.Agent, Executor: p.Executor}
	for _, e := range reader.Read(engine.Known(p)).Effects {
		c.Effects, c.Reaches = append(c.Effects, string(e.Kind)), append(c.Reaches, string(e.Reach))
	}
	return c
}

// group counts the calls that another policy makes a difference for, alike ones
// together.
func (t *Tried) group(o Options, past []Past, differs func(i int) bool) {
	groups := map[string]*TriedGroup{}
	for i := range past {
		if !differs(i) {
			continue
		}
		t.Passed++
		line := example(&past[i].Proposal, o.Mask)
		g := cmp.Or(groups[line], &TriedGroup{Example: line})
		groups[line] = g
		if g.Calls++; past[i].Denied {
			g.Denied++
			t.Denied++
		}
	}
	for _, g := range slices.SortedFunc(maps.Values(groups), func(a, b *TriedGroup) int {
		return cmp.Or(cmp.Compare(b.Denied, a.Denied), cmp.Compare(b.Calls, a.Calls), strings.Compare(a.Example, b.Example))
	}) {
		t.Groups = append(t.Groups, *g)
	}
}

// Strangers are the programs of a call of which nothing is known.
func Strangers(o Options, p vaglio.Proposal) ([]string, error) {
	engine, reader, err := o.Build(o.Policy)
	if err != nil {
		return nil, err
	}
	names := strangers(engine, reader, p)
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Text is what was tried, for a person at a terminal: the calls of so many days, of
// which dropped had lost their values, and of which more were asked than these.
func (t *Tried) Text(days, dropped int, more bool) string {
	var b strings.Builder
	differs, same, group := "passed unasked", "been asked as they were", "passes"
	if t.Route != "" {
		differs, same, group = "gone to "+t.Route, "gone where they went", "goes there"
	}
	fmt.Fprintf(&b, "%s in the last %s, with this line:\n\n%7d would have %s", terminal.Counted(t.Calls, "call was asked", "calls were asked"),
		terminal.Counted(days, "day", "days"), t.Passed, differs)
	if t.Denied > 0 {
		fmt.Fprintf(&b, ", of which a person denied %d", t.Denied)
	}
	fmt.Fprintf(&b, "\n%7d would have %s\n", t.Asked, same)
	if t.Refused > 0 {
		fmt.Fprintf(&b, "%7d would have been denied for good\n", t.Refused)
	}
	if dropped > 0 {
		fmt.Fprintf(&b, "%7d more cannot be tried: their values are no longer kept\n", dropped)
	}
	if more {
		b.WriteString("More were asked before these.\n")
	}
	for i := range t.Groups {
		g := &t.Groups[i]
		if i == mostGroups {
			fmt.Fprintf(&b, "\nand %d more kinds\n", len(t.Groups)-mostGroups)
			break
		}
		fmt.Fprintf(&b, "\n%s: %s\n  %s", group, g.Example, terminal.Counted(g.Calls, "call", "calls"))
		if g.Denied > 0 {
			fmt.Fprintf(&b, ", %d denied by a person", g.Denied)
		}
		b.WriteString("\n")
	}
	return b.String()
}
