package policyfile

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio/judge/effects"
	"github.com/metnos/vaglio/vaglio/wording"
)

// Judging is the judge that is asked before those of the policy.
type Judging struct {
	Kind string
	// Threshold is the score in [0,1] that a call needs.
	Threshold float64
}

// Describe says in words what a policy means, including the judge that comes first. If no chat is
// configured, it also says which parts need one.
func (p *Policy) Describe(w io.Writer, first Judging, on Chats) error {
	var b strings.Builder
	known := p.Catalog.Names()
	switch {
	case p.Catalog.Closed():
		fmt.Fprintf(&b, "executors  %d known; any other is refused\n", len(known))
	case len(known) == 0:
		b.WriteString("executors  none known; any may be proposed\n")
	default:
		fmt.Fprintf(&b, "executors  %d known; any other may be proposed, too\n", len(known))
	}
	for _, name := range known {
		ex, _ := p.Catalog.Find(name)
		if ex.SkipJudge {
			fmt.Fprintf(&b, "           %s skips the judges, not the guard\n", name)
		}
	}
	p.describeJudges(&b, first)
	p.describePrograms(&b)
	for _, folder := range p.Workspaces {
		there := ""
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			there = " (no folder is there)"
		}
		fmt.Fprintf(&b, "workspace  %s%s\n", folder, there)
	}
	for _, address := range p.ResumeURLs {
		fmt.Fprintf(&b, "resume     an agent may have addresses below %s told how its calls end\n", address)
	}
	describeRouting(&b, &p.Routing)
	if on.None() {
		describeUnchecked(&b, &p.Routing)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// describePrograms describes how far programs reach.
func (p *Policy) describePrograms(b *strings.Builder) {
	for _, name := range slices.Sorted(maps.Keys(p.Programs)) {
		known := ""
		if j, err := effects.New(effects.Options{Programs: p.Programs}); err == nil && !j.Spares(name) {
			known = " (vaglio knows it: this spares no question)"
		}
		fmt.Fprintf(b, "programs   %s reaches: %s%s\n", name, p.Programs[name], known)
	}
}

// describeJudges describes the judges, and what those that ask models may do.
func (p *Policy) describeJudges(b *strings.Builder, first Judging) {
	t := &p.Thinking
	fmt.Fprintf(b, "judges     %s, from %s\n", first.Kind, wording.Score(first.Threshold))
	for i := range p.Judges {
		v := &p.Judges[i]
		switch v.Type {
		case TypeSemantic:
			fmt.Fprintf(b, "           then semantic by %s, from %s and a confidence of %s, within %s\n",
				v.JudgeAgent, wording.Score(v.Threshold()), wording.Score(v.Confidence()), v.Timeout())
		default:
			fmt.Fprintf(b, "           then %s, from %s\n", v.Type, wording.Score(v.Threshold()))
		}
	}
	for i := range t.Models {
		fmt.Fprintf(b, "models     %s: %s at %s\n", t.Models[i].Name, t.Models[i].Model, t.Models[i].URL())
	}
	for i := range t.JudgeAgents {
		t.JudgeAgents[i].describe(b, t)
	}
	if budget := t.JudgeBudget; budget != nil {
		l := budget.Limits()
		fmt.Fprintf(b, "budget     %d calls and %g a day (0 is no limit); above it: %s\n", l.Calls, l.Cost, cmp.Or(string(l.Above), "ask"))
	}
}

func (a *Agent) describe(b *strings.Builder, t *Thinking) {
	var tools []string
	for _, tool := range a.Uses() {
		tools = append(tools, strings.TrimSpace(tool.Name+" "+strings.Join(tool.Allowlist, ", ")))
	}
	network := "no network"
	if a.Network == "open" {
		network = "THE NETWORK IS OPEN to its commands"
	}
	fmt.Fprintf(b, "agents     %s asks %s, with %s; %s\n", a.Name, t.FindModel(a.Model).Name, cmp.Or(strings.Join(tools, "; "), "no tools"), network)
}

// describeRouting describes who may decide.
func describeRouting(b *strings.Builder, r *approval.Routing) {
	if len(r.Routes) == 0 {
		b.WriteString("approvers  each person who may decide decides alone\n")
		return
	}
	for i := range r.Routes {
		to := &r.Routes[i]
		fmt.Fprintf(b, "route      %s: %s", to.Name, strings.Join(slices.Concat(to.Approvers, to.Groups), ", "))
		if len(to.Channels) > 0 {
			b.WriteString(", on " + strings.Join(to.Channels, ", "))
		}
		if to.Quorum > 1 {
			fmt.Fprintf(b, "; %d of them must allow", to.Quorum)
		}
		if to.Separate {
			b.WriteString("; not the agent's own person alone")
		}
		if to.Match {
			b.WriteString("; with the digits that the inbox shows on a chat, and a chat in the inbox")
		}
		if to.EscalateTo != "" {
			fmt.Fprintf(b, "; after %s %s too", to.EscalateAfter, to.EscalateTo)
		}
		b.WriteByte('\n')
	}
}

// describeUnchecked says which parts of the routing need a chat; none is configured.
func describeUnchecked(b *strings.Builder, r *approval.Routing) {
	found := joined(r.Check(Chats{}.channels(r)))
	for _, err := range found {
		fmt.Fprintf(b, "unchecked  %v: no chat is configured here\n", err)
	}
	if len(found) > 0 {
		b.WriteString("           set the chats' variables as for serve, and check again\n")
	}
}
