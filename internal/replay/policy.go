package replay

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/metnos/vaglio/internal/policyfile"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
)

// Proposal is what could be added to the policy to reduce questions. A person must judge it: that a
// program often ran does not mean that it should.
type Proposal struct {
	// Programs are programs that nothing is known about, Workspaces folders in which sessions
	// started.
	Programs   []string `json:"programs,omitempty"`
	Workspaces []string `json:"workspaces,omitempty"`
	// Spares is how many of the asked calls would then pass.
	Spares int `json:"spares"`
	// Diff is the change to the policy file.
	Diff string `json:"diff,omitempty"`
}

// leastCalls is how many questions a program must avoid, and how many calls must have run in a
// folder, to be proposed.
const leastCalls = 3

// propose tries additions that would avoid questions, and keeps those that do.
func propose(ctx context.Context, o Options, before []judged) (p Proposal, err error) {
	base := asked(before)
	if base == 0 {
		return p, nil
	}
	better := o.Policy
	if p.Workspaces, err = sparingFolders(ctx, o, before); err != nil {
		return p, err
	}
	better.Workspaces = append(slices.Clone(o.Policy.Workspaces), p.Workspaces...)
	names, err := unknown(o, better, before)
	if err != nil {
		return p, err
	}
	if len(names) > 0 {
		if p.Programs, err = sparing(ctx, o, &better, before, names); err != nil {
			return p, err
		}
	}
	if len(p.Programs)+len(p.Workspaces) == 0 {
		return p, nil
	}
	after, err := judge(ctx, o, better, callsOf(before))
	if err != nil {
		return p, err
	}
	p.Spares = base - asked(after)
	p.Diff = diff(o, p)
	return p, nil
}

// sparingFolders returns the folders that avoid questions if they are workspaces.
func sparingFolders(ctx context.Context, o Options, before []judged) ([]string, error) {
	folders := beginnings(before, o.Home)
	if len(folders) == 0 {
		return nil, nil
	}
	policy := o.Policy
	policy.Workspaces = append(slices.Clone(policy.Workspaces), folders...)
	after, err := judge(ctx, o, policy, callsOf(before))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(folders, func(f string) bool {
		for i := range after {
			if before[i].outcome == Asked && after[i].outcome == "" && within(before[i].call, f) {
				return false
			}
		}
		return true
	}), nil
}

// sparing returns the programs that avoid questions if the policy knows that they reach the
// workspace alone. It adds them to the policy.
func sparing(ctx context.Context, o Options, policy *policyfile.Policy, before []judged, names []string) ([]string, error) {
	known := maps.Clone(policy.Programs)
	policy.Programs = taught(known, names)
	after, err := judge(ctx, o, *policy, callsOf(before))
	if err != nil {
		return nil, err
	}
	spared := map[string]int{}
	for i := range after {
		if before[i].outcome == Asked && after[i].outcome == "" {
			for _, name := range names {
				if mentions(before[i].call, name) {
					spared[name]++
				}
			}
		}
	}
	kept := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return spared[name] < leastCalls })
	policy.Programs = taught(known, kept)
	return kept, nil
}

// taught returns the programs with the names added, as reaching the workspace.
func taught(known map[string]operation.Reach, names []string) map[string]operation.Reach {
	all := maps.Clone(known)
	if all == nil {
		all = map[string]operation.Reach{}
	}
	for _, name := range names {
		all[name] = operation.ReachWorkspace
	}
	return all
}

// mentions reports whether one of a call's arguments contains a program's name.
func mentions(c *call, name string) bool {
	for _, v := range c.proposal.Args {
		if text, ok := v.(string); ok && strings.Contains(text, name) {
			return true
		}
	}
	return false
}

func asked(all []judged) (n int) {
	for i := range all {
		if all[i].outcome == Asked {
			n++
		}
	}
	return n
}

func callsOf(all []judged) []*call {
	calls := make([]*call, len(all))
	for i := range all {
		calls[i] = all[i].call
	}
	return calls
}

// beginnings returns the folders in which calls ran and were asked about, except the home folder and
// those above it.
func beginnings(all []judged, home string) []string {
	ran, asks := map[string]int{}, map[string]bool{}
	for i := range all {
		if cwd := filepath.Clean(all[i].proposal.Context.Cwd); filepath.IsAbs(cwd) && all[i].ran() {
			ran[cwd]++
			asks[cwd] = asks[cwd] || all[i].outcome == Asked
		}
	}
	var folders []string
	for _, f := range slices.Sorted(maps.Keys(ran)) {
		if ran[f] < leastCalls || !asks[f] || f == home || strings.HasPrefix(home, f) ||
			place.Inside(folders, f) {
			continue
		}
		folders = append(folders, f)
	}
	return folders
}

// within reports whether a call was made in a folder or below it.
func within(c *call, folder string) bool {
	return place.Inside([]string{folder}, filepath.Clean(c.proposal.Context.Cwd))
}

// plainName matches the program names that may be in a proposed policy.
var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]*$`)

// unknown returns the programs, about which nothing is known, of asked calls that ran.
func unknown(o Options, policy policyfile.Policy, all []judged) ([]string, error) {
	engine, reader, err := o.Build(policy)
	if err != nil {
		return nil, err
	}
	found := map[string]int{}
	for i := range all {
		if all[i].outcome != Asked || !all[i].ran() {
			continue
		}
		for _, name := range strangers(engine, reader, all[i].proposal) {
			found[name]++
		}
	}
	names := slices.Sorted(maps.Keys(found))
	return slices.DeleteFunc(names, func(n string) bool { return found[n] < leastCalls || policy.Programs[n] != "" }), nil
}

// strangers returns the programs of a call about which nothing is known, once for each occurrence.
func strangers(engine *vaglio.Engine, reader *effects.Judge, p vaglio.Proposal) (names []string) {
	for _, e := range reader.Read(engine.Known(p)).Effects {
		if e.Kind == effects.KindUnknown && e.Of != nil && plainName.MatchString(e.Of.Name) {
			names = append(names, e.Of.Name)
		}
	}
	return names
}

// diff returns the change that adds the lines to the policy's file. If the file does not list these
// keys one per line, it returns the lines for a person to add.
func diff(o Options, p Proposal) string {
	var programs, workspaces []string
	for _, name := range p.Programs {
		programs = append(programs, fmt.Sprintf("  %s: %s\n", name, operation.ReachWorkspace))
	}
	for _, f := range p.Workspaces {
		workspaces = append(workspaces, fmt.Sprintf("  - %q\n", f))
	}
	before := string(o.Policy.Text())
	after := policyfile.WithLines(policyfile.WithLines(before, "programs", programs...), "workspaces", workspaces...)
	name := o.Policy.Path
	if name == "" {
		name = "policy.yaml"
	}
	if _, err := policyfile.Parse(name, []byte(after), o.Home); err != nil {
		return "# by hand, for these keys stand there in another form\n" + policyfile.WithLines(policyfile.WithLines("", "programs", programs...), "workspaces", workspaces...)
	}
	return Diff(name, before, after)
}

// Diff returns the change to a policy's file as a unified diff.
func Diff(name, before, after string) string {
	from := name
	if before == "" {
		from = "/dev/null"
	}
	return udiff.Unified(from, name, before, after)
}
