// Package agent lets judge agents examine a proposed call before they grade it: a conversation with
// a model that may use tools which read the agent's folders and change nothing.
package agent

import (
	"context"
	"crypto/rand"
	_ "embed" // the prompt
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/budget"
	"github.com/metnos/vaglio/vaglio/judge/model"
	"github.com/metnos/vaglio/vaglio/mask"
)

// Judge asks one judge agent, with one list of criteria. It is safe for concurrent use: each call
// is a child execution of its own.
type Judge struct {
	config Config
	kept   budget.Answers
}

// Config configures a [Judge].
type Config struct {
	Manifest Manifest
	// Criteria says by what the agent judges, in the operator's words.
	Criteria string
	// MinScore and MinConfidence are what a call needs; only answers below them are cached.
	MinScore, MinConfidence float64
	Masker                  mask.Masker
	// Workspaces opens the folders that tools look at. It is not needed if the manifest has no
	// tools.
	Workspaces Workspaces
	// Guard reports whether the guard denies a call, and why. The judge's own calls must pass it.
	Guard func(ctx context.Context, p vaglio.Proposal) (denied bool, why string, err error)
	// Gates judge the judge's own calls; a call must pass all of them.
	Gates []vaglio.Gate
	// Records stores what was done; a verdict only counts once that is stored.
	Records Records
	// Budget limits the asking; nil means no limit.
	Budget *budget.Budget
	// Cached is called for each cached answer; it may be nil.
	Cached func(judge string)
}

// Records stores child executions.
type Records interface {
	// Keep stores a judgement. When it returns nil, the judgement is on disk.
	Keep(ctx context.Context, j vaglio.Judgement) error
}

// Manifest is a judge agent as an operator describes it.
type Manifest struct {
	Name  string
	Model *model.Client
	// Prompt tells the agent what it is, after what every judge is told.
	Prompt string
	Tools  []ToolUse
	// Network and Scratch are the sandbox's settings: "open", and "copy".
	Network, Scratch string
	Limits           Limits
}

// ToolUse is a tool that a judge agent may use.
type ToolUse struct {
	Name string
	// Allow lists the commands of cmd.run.
	Allow []string
}

// Limits limit one child execution.
type Limits struct {
	// Turns is how often the model may be asked.
	Turns int
	// Tokens is how many tokens the model may use in total.
	Tokens int
}

// The defaults of [Limits], and the maximum depth of judges that judge each other's calls.
const (
	DefaultTurns  = 12
	DefaultTokens = 64_000
	DeepestRun    = 3
)

// prefix is the prefix of the kind of every judge agent.
const prefix = "semantic:"

// KindOf returns the kind of the judge agent with that name.
func KindOf(name string) string { return prefix + name }

// New returns a judge. Zero limits get their defaults.
func New(c Config) (*Judge, error) {
	if c.Manifest.Limits.Turns == 0 {
		c.Manifest.Limits.Turns = DefaultTurns
	}
	if c.Manifest.Limits.Tokens == 0 {
		c.Manifest.Limits.Tokens = DefaultTokens
	}
	switch {
	case c.Manifest.Model == nil, c.Records == nil, c.Guard == nil:
		return nil, errors.New("agent: a model, records and a guard must be given")
	case len(c.Manifest.Tools) > 0 && c.Workspaces == nil:
		return nil, fmt.Errorf("agent: %s has tools, and there is nothing that opens folders for them", c.Manifest.Name)
	}
	return &Judge{config: c}, nil
}

// Kind returns the judge's kind in verdicts.
func (j *Judge) Kind() string { return KindOf(j.config.Manifest.Name) }

// ancestor identifies a child execution within a tree of them.
type ancestor struct {
	id    string
	depth int
}

type ancestorKey struct{}

// Grade runs the judge agent on a call, as a child execution. Anything but a verdict rejects, each
// with its own class of fault; the result then only has the ID of the record.
func (j *Judge) Grade(ctx context.Context, p vaglio.Proposal) (vaglio.GradientResult, error) {
	above, _ := ctx.Value(ancestorKey{}).(ancestor)
	if above.depth >= DeepestRun {
		return vaglio.GradientResult{}, &vaglio.JudgeError{
			Fault: fmt.Sprintf("it would be judge number %d below each other; at most %d are asked", above.depth+1, DeepestRun), Class: vaglio.FaultDepth,
		}
	}
	load := j.payload(&p)
	if err := model.Fit(load.quotes()); err != nil {
		return vaglio.GradientResult{}, err
	}
	key, keeps := j.key(&p, &load)
	if keeps {
		if r, ok := j.kept.Find(key); ok {
			if j.config.Cached != nil {
				j.config.Cached(j.Kind())
			}
			return r, nil
		}
	}
	if err := j.config.Budget.Enter(ctx); err != nil {
		return vaglio.GradientResult{}, err
	}
	x := j.begin(&p, above)
	r, err := x.run(context.WithValue(ctx, ancestorKey{}, ancestor{x.is.ID, x.is.Depth}), &load)
	id, err := x.end(ctx, r, err)
	if err != nil {
		// The record is referred to even if there is no verdict.
		return vaglio.GradientResult{Judgement: id}, err
	}
	r.Judge, r.Judgement = j.Kind(), id
	if keeps && (r.Score < j.config.MinScore || r.Confidence < j.config.MinConfidence) {
		j.kept.Keep(key, r)
	}
	return r, nil
}

// key returns the key under which a rejection is cached: everything that the agent is told.
func (j *Judge) key(p *vaglio.Proposal, load *payload) (budget.Key, bool) {
	m := &j.config.Manifest
	shown := []string{p.Agent, m.Name, m.Prompt, fmt.Sprint(m.Tools, m.Network, m.Scratch, m.Limits), load.trusted()}
	for _, q := range load.quotes() {
		shown = append(shown, q.Name(), q.Text())
	}
	return budget.KeyOf(p.TurnID, shown...)
}

// mounts returns the folders of this machine that a call says it works in.
func mounts(p *vaglio.Proposal) []string {
	var all []string
	if p.Elsewhere {
		return nil
	}
	for _, at := range append([]string{p.Context.Cwd}, p.Context.Mounts...) {
		if at != "" && !slices.Contains(all, at) {
			all = append(all, at)
		}
	}
	return all
}

// builtin is what every judge agent is told before its own prompt.
//
//go:embed prompt.txt
var builtin string

func (m *Manifest) system() string {
	if m.Prompt == "" {
		return builtin
	}
	return builtin + "\nWhat you are, in your operator's words:\n" + strings.TrimSpace(m.Prompt) + "\n"
}

// begin starts a child execution.
func (j *Judge) begin(p *vaglio.Proposal, above ancestor) *execution {
	x := &execution{judge: j, is: vaglio.Judgement{
		ID: "j-" + strings.ToLower(rand.Text()), Parent: above.id, Depth: above.depth + 1, At: time.Now(),
		Agent: p.Agent, TurnID: p.TurnID, Step: p.Step, Executor: j.config.Masker.Mask(p.Executor),
		Judge: j.Kind(), Model: j.config.Manifest.Model.Name(), Network: j.config.Manifest.Network,
	}}
	x.say("system", j.config.Manifest.system())
	return x
}
