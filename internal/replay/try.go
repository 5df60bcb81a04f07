package replay

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/metnos/vaglio/internal/policyfile"
	"github.com/metnos/vaglio/internal/terminal"
	"github.com/metnos/vaglio/vaglio"
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
	t, groups := Tried{Calls: len(past)}, map[string]*TriedGroup{}
	for i := range after {
		switch {
		case after[i].outcome == Denied:
			t.Refused++
			continue
		case after[i].outcome == Asked || before[i].outcome != Asked:
			t.Asked++
			continue
		}
		t.Passed++
		line := example(&after[i], o.Mask)
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
	return t, nil
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
	fmt.Fprintf(&b, "%s in the last %s, with this line:\n\n%7d would have passed unasked", terminal.Counted(t.Calls, "call was asked", "calls were asked"),
		terminal.Counted(days, "day", "days"), t.Passed)
	if t.Denied > 0 {
		fmt.Fprintf(&b, ", of which a person denied %d", t.Denied)
	}
	fmt.Fprintf(&b, "\n%7d would have been asked as they were\n", t.Asked)
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
		fmt.Fprintf(&b, "\npasses: %s\n  %s", g.Example, terminal.Counted(g.Calls, "call", "calls"))
		if g.Denied > 0 {
			fmt.Fprintf(&b, ", %d denied by a person", g.Denied)
		}
		b.WriteString("\n")
	}
	return b.String()
}
