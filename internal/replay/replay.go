// Package replay judges calls that agents have made before, as recorded in clients' own transcripts
// or as proposals, one per line. It runs nothing, asks nobody and stores nothing.
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

// Options say what to replay, and under which policy.
type Options struct {
	// Path is a file or a folder.
	Path string
	// Since excludes older calls; calls without a time count. Zero excludes none.
	Since time.Time
	// Policy is the policy to apply, Home the user's home folder.
	Policy policyfile.Policy
	Home   string
	// Build returns the engine and the effects reader for a policy. Neither may use the network.
	Build func(p policyfile.Policy) (*vaglio.Engine, *effects.Judge, error)
	// Mask hides secrets in a text.
	Mask func(string) string
}

// Result is the result of a replay.
type Result struct {
	Files    int `json:"files"`
	Sessions int `json:"sessions"`
	// Unread counts lines with a call that could not be read, and files that could not be read.
	Unread int `json:"unread"`
	// UnreadAt are their places, the first thousand of them.
	UnreadAt []Unread `json:"unread_at,omitempty"`
	// From and To are the times of the first and the last replayed call.
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
	// Older is how many calls were left out as too old, and Newest the time of the last of them.
	Older  int       `json:"older,omitempty"`
	Newest time.Time `json:"newest,omitzero"`
	// Calls is how many calls were judged. Of these, Passed would pass, Asked would be put to a
	// person, and Denied would be denied by the guard, their schema or their scope.
	Calls  int `json:"calls"`
	Passed int `json:"passed"`
	Asked  int `json:"asked"`
	Denied int `json:"denied"`
	// Ran is how many of the asked and denied calls ran at the time, without vaglio asking anybody.
	Ran int `json:"ran"`
	// Missed is how many calls would pass that somebody or the client refused at the time.
	Missed int `json:"missed"`
	// Groups are similar calls that would be asked or denied, or were missed, the most frequent
	// groups first.
	Groups []Group `json:"groups"`
	// Proposal is what could be added to the policy.
	Proposal Proposal `json:"proposal"`
}

// Unread is a line or a file that could not be read.
type Unread struct {
	File string `json:"file"`
	// Line is 0 for a file.
	Line int `json:"line,omitempty"`
	// Why says what is wrong, with secrets masked.
	Why string `json:"why"`
}

// Place returns the place in the form file:line.
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

// Group is a set of calls with the same outcome for the same reason.
type Group struct {
	Outcome string `json:"outcome"`
	// About is the guard's rule, or what the calls would do.
	About string `json:"about"`
	Calls int    `json:"calls"`
	Ran   int    `json:"ran"`
	// Example is one of the calls, and Reason what is said about it, both with secrets masked.
	Example string `json:"example"`
	Reason  string `json:"reason"`
}

// judged is a call and its outcome.
type judged struct {
	*call
	outcome string // "" means that it passes
	about   string
	reason  string
}

// Run replays the calls.
func Run(ctx context.Context, o Options) (*Result, error) {
	t := &tape{since: o.Since, calls: map[string]*call{}}
	if err := t.read(ctx, o.Path); err != nil {
		return nil, err
	}
	all, err := judge(ctx, o, o.Policy, t.all)
	if err != nil {
		return nil, err
	}
	r := &Result{Files: t.files, Unread: t.unread, UnreadAt: t.unreadAt, Older: t.older, Newest: t.newest, Calls: len(all), Groups: []Group{}}
	for i := range r.UnreadAt {
		r.UnreadAt[i].Why = terminal.OneLine(o.Mask(r.UnreadAt[i].Why), longest)
	}
	r.count(all, o.Mask)
	r.Proposal, err = propose(ctx, o, all)
	return r, err
}

// judge judges the calls in order. Calls that ran are facts of their session.
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

// kinds describes what a call would do, without quoting anything of it.
func kinds(read effects.Assessment) string {
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

// count adds up the calls.
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

// spans extends From and To to include a time.
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

// longest is the maximum length of an example, in characters.
const longest = 160

// example returns a call on one line, with secrets masked.
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
