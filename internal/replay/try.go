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
	// Denied says that a person denied the call, Ran that it ran.
	Denied, Ran bool
}

// Tried is how another policy would have treated past calls.
type Tried struct {
	// Calls counts all calls. Of these, Passed would have passed unasked, Asked would still have
	// been asked, and Refused could not have been allowed by anybody.
	Calls, Passed, Asked, Refused int
	// Route, if set, is where the calls that Passed counts would have been asked instead; the
	// policy then differs only in its routing.
	Route string
	// Denied counts the calls that would have passed, but that a person denied.
	Denied int
	// Groups are the calls that would have passed, similar ones together. Those that people
	// denied come first, then the most frequent.
	Groups []TriedGroup
}

// TriedGroup is a set of similar calls that would have passed, with secrets masked.
type TriedGroup struct {
	Example       string
	Calls, Denied int
}

// Try returns which of the past calls, about which people were asked, a policy would have let pass.
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

// TrySending returns which of the past calls policy p would have sent to the route, and the policy
// in the options elsewhere.
func TrySending(o Options, p policyfile.Policy, route string, past []Past) (Tried, error) {
	engine, reader, err := o.Build(p)
	if err != nil {
		return Tried{}, err
	}
	t := Tried{Calls: len(past), Route: route}
	t.group(o, past, func(i int) bool {
		var cases []approval.Case
		for _, of := range append([]vaglio.Proposal{past[i].Proposal}, past[i].Proposal.Calls()...) {
			cases = append(cases, caseOf(engine, reader, of))
		}
		goes := p.Routing.For(cases...).Name == route && o.Policy.Routing.For(cases...).Name != route
		if !goes {
			t.Asked++
		}
		return goes
	})
	return t, nil
}

// Effects returns the kinds of a call's effects except reading, without duplicates.
func Effects(o Options, p vaglio.Proposal) ([]string, error) {
	engine, reader, err := o.Build(o.Policy)
	if err != nil {
		return nil, err
	}
	kinds := slices.DeleteFunc(caseOf(engine, reader, p).Effects, func(kind string) bool { return kind == string(operation.KindRead) })
	slices.Sort(kinds)
	return slices.Compact(kinds), nil
}

// caseOf returns what routing rules look at in a call.
func caseOf(engine *vaglio.Engine, reader *effects.Judge, p vaglio.Proposal) approval.Case {
	c := approval.Case{Agent: p.Agent, Executor: p.Executor}
	for _, e := range reader.Read(engine.Known(p)).Effects {
		c.Effects, c.Reaches = append(c.Effects, string(e.Kind)), append(c.Reaches, string(e.Reach))
	}
	return c
}

// group counts the calls for which the policy makes a difference, and groups similar ones.
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

// Strangers returns the programs in a call about which nothing is known.
func Strangers(o Options, p vaglio.Proposal) ([]string, error) {
	engine, reader, err := o.Build(o.Policy)
	if err != nil {
		return nil, err
	}
	names := strangers(engine, reader, p)
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Text returns what was tried as text for a terminal. The calls are those of the last days; dropped
// more had lost their values, and more says that there were even more.
func (t *Tried) Text(days, dropped int, more bool) string {
	var b strings.Builder
	differs, same, group := "passed unasked", "been asked as they were", "passes"
	if t.Route != "" {
		differs, same, group = "gone to "+t.Route, "gone where they went", "goes there"
	}
	fmt.Fprintf(&b, "%s in the last %s, with this line:\n\n%7d would have %s", terminal.Counted(t.Calls, "call was asked", "calls were asked"),
		terminal.Counted(days, "day", "days"), t.Passed, differs)
	if t.Denied > 0 {
		fmt.Fprintf(&b, "; a person denied %d of them", t.Denied)
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
