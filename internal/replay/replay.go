// Package replay judges calls that agents have made before: what clients' own
// transcripts tell of them, or proposals one a line. It runs nothing, asks nobody and
// keeps nothing.
package replay

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/metnos/vaglio/internal/policyfile"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/internal/terminal"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// Options say what is replayed, and under what.
type Options struct {
	// Path is a file or a folder.
	Path string
	// Since leaves out what is older; what has no time counts. Zero leaves out none.
	Since time.Time
	// Policy is the policy that holds, and Home the folder of the user.
	Policy policyfile.Policy
	Home   string
	// Build makes the engine and the reader of effects of a policy, both of which ask
	// nothing of a network.
	Build func(p policyfile.Policy) (*vaglio.Engine, *effects.Judge, error)
	// Mask hides secrets in a text.
	Mask func(string) string
}

// Result is what a replay came to.
type Result struct {
	Files    int `json:"files"`
	Sessions int `json:"sessions"`
	// Unread are lines that hold a call and could not be read as one, and files that
	// could not be read.
	Unread int `json:"unread"`
	// UnreadAt are their places, the first thousand of them.
	UnreadAt []Unread `json:"unread_at,omitempty"`
	// From and To are the first and the last moment of what was replayed.
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
	// Calls are all that were judged. Of them Passed would pass, of Asked a person would
	// be asked, Denied the guard, their schema or their scope would deny.
	Calls  int `json:"calls"`
	Passed int `json:"passed"`
	Asked  int `json:"asked"`
	Denied int `json:"denied"`
	// Ran are the asked and the denied that ran then, with nobody asked by vaglio.
	Ran int `json:"ran"`
	// Missed are calls that somebody or the client refused then, and that would pass.
	Missed int `json:"missed"`
	// Groups are alike calls that would be asked or denied, or were missed, the most
	// frequent first.
	Groups []Group `json:"groups"`
	// Proposal is what the policy could say.
	Proposal Proposal `json:"proposal"`
}

// Unread is a line that could not be read, or a file.
type Unread struct {
	File string `json:"file"`
	// Line is 0 for a file.
	Line int `json:"line,omitempty"`
	// Why says what is wrong; secrets are masked.
	Why string `json:"why"`
}

// Place is where it stands, for a person.
func (u *Unread) Place() string {
	name := terminal.OneLine(u.File, longest)
	if u.Line == 0 {
		return name
	}
	return name + ":" + strconv.Itoa(u.Line)
}

// The outcomes of a group.
const (
	Asked  = "asked"
	Denied = "denied"
	Missed = "missed"
)

// Group are calls of which the same is to be said.
type Group struct {
	Outcome string `json:"outcome"`
	// About is the rule of the guard, or what the calls would do.
	About string `json:"about"`
	Calls int    `json:"calls"`
	Ran   int    `json:"ran"`
	// Example is one of the calls, and Reason what is said of it; secrets are masked.
	Example string `json:"example"`
	Reason  string `json:"reason"`
}

// judged is a call and what would become of it.
type judged struct {
	*call
	outcome string // "" passes
	about   string
	reason  string
}

// Run replays.
func Run(ctx context.Context, o Options) (*Result, error) {
	t := &tape{since: o.Since, calls: map[string]*call{}}
	if err := t.read(ctx, o.Path); err != nil {
		return nil, err
	}
	all, err := judge(ctx, o, o.Policy, t.all)
	if err != nil {
		return nil, err
	}
	r := &Result{Files: t.files, Unread: t.unread, UnreadAt: t.unreadAt, Calls: len(all), Groups: []Group{}}
	for i := range r.UnreadAt {
		r.UnreadAt[i].Why = terminal.OneLine(o.Mask(r.UnreadAt[i].Why), longest)
	}
	r.count(all, o.Mask)
	r.Proposal, err = propose(ctx, o, all)
	return r, err
}

// judge judges the calls in their order. What ran is what its session did.
func judge(ctx context.Context, o Options, p policyfile.Policy, calls []*call) ([]judged, error) {
	engine, reader, err := o.Build(p)
	if err != nil {
		return nil, err
	}
	var sessions vaglio.Sessions
	all := make([]judged, 0, len(calls))
	for _, c := range calls {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		proposal := c.proposal
		proposal.Facts = sessions.Facts(&proposal)
		j := judged{call: c}
		v, err := engine.Judge(ctx, proposal)
		if mistake := vaglio.Mistake(err); mistake != nil {
			j.outcome, j.about, j.reason = Denied, "its schema or its scope", mistake.Error()
			all = append(all, j)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("replay: judge a call: %w", err)
		}
		j.reason = v.Reason
		switch {
		case v.Rule != nil:
			j.outcome, j.about = Denied, v.Rule.ID
		case !v.Approved:
			j.outcome, j.about = Asked, kinds(reader.Read(engine.Known(proposal)))
		}
		did := v.Did
		if !v.Approved {
			did = engine.Did(proposal)
		}
		if c.ran() {
			sessions.Note(&proposal, cmp.Or(c.at, time.Unix(0, 0)), did)
		}
		all = append(all, j)
	}
	return all, nil
}

// kinds are what a call would do, in words without anything of the call.
func kinds(read effects.Reading) string {
	var all []string
	for _, e := range read.Effects {
		if e.Kind != effects.KindRead {
			all = append(all, string(e.Kind)+" "+string(e.Reach))
		}
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) == 0 {
		return "read"
	}
	return strings.Join(all, ", ")
}

// count adds the calls up.
func (r *Result) count(all []judged, mask func(string) string) {
	groups := map[[2]string]*Group{}
	sessions := map[string]bool{}
	for i := range all {
		j := &all[i]
		sessions[j.proposal.SessionID()] = true
		r.spans(j.at)
		outcome := r.tally(j)
		if outcome == "" {
			continue
		}
		key := [2]string{outcome, j.about}
		g := groups[key]
		if g == nil {
			g = &Group{Outcome: outcome, About: j.about, Example: example(&j.proposal, mask), Reason: mask(j.reason)}
			groups[key] = g
		}
		g.Calls++
		if j.ran() && outcome != Missed {
			g.Ran++
			r.Ran++
		}
	}
	r.Sessions = len(sessions)
	for _, g := range groups {
		r.Groups = append(r.Groups, *g)
	}
	slices.SortFunc(r.Groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Outcome, b.Outcome), cmp.Compare(a.About, b.About))
	})
}

// spans takes a moment in.
func (r *Result) spans(at time.Time) {
	if at.IsZero() {
		return
	}
	if r.From.IsZero() || at.Before(r.From) {
		r.From = at
	}
	if at.After(r.To) {
		r.To = at
	}
}

// tally counts a call and returns the outcome of its group, "" if it is in none.
func (r *Result) tally(j *judged) string {
	switch {
	case j.outcome == Asked:
		r.Asked++
	case j.outcome == Denied:
		r.Denied++
	case j.refused:
		r.Passed++
		r.Missed++
		j.about, j.reason = "refused then", "somebody, or the client, refused it then"
		return Missed
	default:
		r.Passed++
	}
	return j.outcome
}

// longest is how much of a call stands in an example, in characters.
const longest = 160

// example is a call on one line, without its secrets.
func example(p *vaglio.Proposal, mask func(string) string) string {
	for _, key := range []string{"command", "cmd"} {
		if line, ok := p.Args[key].(string); ok {
			return terminal.OneLine(mask(line), longest)
		}
	}
	args, err := strictjson.Marshal(p.Args)
	if err != nil {
		args = []byte("?")
	}
	return terminal.OneLine(p.Executor+" "+mask(string(args)), longest)
}
