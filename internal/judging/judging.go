// Package judging builds the judges that configuration and policy name, and stores what those that
// ask models do.
package judging

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/metnos/vaglio/internal/own"
	"github.com/metnos/vaglio/internal/policyfile"
	"github.com/metnos/vaglio/internal/workfiles"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge"
	"github.com/metnos/vaglio/vaglio/judge/agent"
	"github.com/metnos/vaglio/vaglio/judge/budget"
	"github.com/metnos/vaglio/vaglio/judge/effects"
	"github.com/metnos/vaglio/vaglio/judge/llm"
	models "github.com/metnos/vaglio/vaglio/judge/model"
	"github.com/metnos/vaglio/vaglio/judge/model/anthropic"
	"github.com/metnos/vaglio/vaglio/judge/model/openai"
	"github.com/metnos/vaglio/vaglio/judge/sandbox"
	"github.com/metnos/vaglio/vaglio/mask"
)

// Config configures the judges.
type Config struct {
	// Kind names the first judge, Threshold is the minimum score by its rules.
	Kind      string
	Threshold float64
	// Home is the user's home folder, DataDir vaglio's own folder.
	Home, DataDir string
	// Own is what vaglio itself consists of, which the guard protects.
	Own own.Facts
	// Zone is the time zone of a budget's days; nil means the machine's.
	Zone   *time.Location
	Policy policyfile.Policy
	Means  Means
}

// Means are what judges that ask models need from their surroundings.
type Means struct {
	Masker  mask.Masker
	Ledger  budget.Ledger
	Records agent.Records
	Meters  *models.Meters
}

// Offline returns the means for a command without a store: its spending and records last only as
// long as the command.
func Offline(masker mask.Masker) Means {
	return Means{Masker: masker, Ledger: &passingLedger{}, Records: passingRecords{}, Meters: models.NewMeters()}
}

// Kinds returns the judges that METNOS_JUDGE_KIND may name.
func Kinds() []string { return []string{judge.KindRules, llm.Kind} }

// Gates builds the judge that METNOS_JUDGE_KIND names, followed by the policy's.
func Gates(ctx context.Context, c Config) ([]vaglio.Gate, error) {
	x, err := newMinds(c)
	if err != nil {
		return nil, err
	}
	first, err := x.first()
	if err != nil {
		return nil, err
	}
	gates := []vaglio.Gate{first}
	for i := range c.Policy.Judges {
		g, err := x.gate(ctx, &c.Policy.Judges[i])
		if err != nil {
			return nil, fmt.Errorf("METNOS_POLICY: execution.tool_validation[%d]: %w", i, err)
		}
		gates = append(gates, g)
	}
	return gates, nil
}

// Thresholds returns the score that a call needs, by kind of judge.
func Thresholds(c Config) map[string]float64 {
	t := map[string]float64{judge.KindRules: c.Threshold}
	if l := c.Policy.Thinking.Asking(); c.Kind == llm.Kind {
		t[llm.Kind] = l.Threshold(c.Threshold)
	}
	for i := range c.Policy.Judges {
		v := &c.Policy.Judges[i]
		kind := v.Type
		if kind == policyfile.TypeSemantic {
			kind = agent.KindOf(v.JudgeAgent)
		}
		t[kind] = v.Threshold()
	}
	return t
}

// Effects returns the effects judge for the user who runs the daemon.
func Effects(home string, p *policyfile.Policy) (*effects.Judge, error) {
	return effects.New(effects.Options{Home: home, Programs: p.Programs})
}

// Traits returns a function that describes what a call would do without quoting anything of it.
func Traits(reader *effects.Judge) func(vaglio.Proposal) (kinds, reaches []string) {
	return func(p vaglio.Proposal) (kinds, reaches []string) {
		for _, e := range reader.Read(p).Effects {
			kinds, reaches = append(kinds, string(e.Kind)), append(reaches, string(e.Reach))
		}
		return kinds, reaches
	}
}

// minds builds the judges that ask models, which share clients and a budget.
type minds struct {
	Config

	clients map[string]*models.Client
	budget  *budget.Budget
	guard   *vaglio.Engine
	// host is this machine's sandbox, set once a judge with tools needs it.
	host *sandbox.Host
}

// newMinds checks that the judge that METNOS_JUDGE_KIND names can be built.
func newMinds(c Config) (*minds, error) {
	x := &minds{Config: c, clients: map[string]*models.Client{}}
	t := &c.Policy.Thinking
	if l := t.Asking(); c.Kind == llm.Kind && t.FindModel(l.Model) == nil {
		return nil, errors.New("METNOS_JUDGE_KIND: llm-v1 needs a model: list it under models in METNOS_POLICY, and name it under llm where there are several")
	}
	if b := t.JudgeBudget; b != nil {
		zone := c.Zone
		if zone == nil {
			zone = time.Local
		}
		x.budget = budget.New(b.Limits(), c.Means.Ledger, zone)
	}
	return x, nil
}

// client returns the client of a model. All judges share it.
func (x *minds) client(name string) *models.Client {
	m := x.Policy.Thinking.FindModel(name)
	if c := x.clients[m.Name]; c != nil {
		return c
	}
	c := Client(m, x.Means.Meters)
	x.clients[m.Name] = c
	return c
}

// Client returns a client of one of the policy's models. The meter may be nil.
func Client(m *policyfile.Model, meter models.Meter) *models.Client {
	server := models.Server{URL: m.URL(), Key: m.Key(), Model: m.Model, Proxy: http.ProxyFromEnvironment}
	var asked models.Model
	if m.API == policyfile.APIAnthropic {
		asked = anthropic.New(server)
	} else {
		asked = openai.New(server)
	}
	return models.NewClient(asked, models.Options{Name: m.Name, Price: m.Costs(), Meter: meter})
}

// rules returns the gate of the rules.
func (x *minds) rules() vaglio.Gate {
	return vaglio.Gate{Judge: judge.Rules(), MinScore: x.Threshold, Discreet: true, Settled: true}
}

// instead returns the gate that answers once the budget is exceeded, or nil.
func (x *minds) instead() *vaglio.Gate {
	if b := x.Policy.Thinking.JudgeBudget; b == nil || budget.Above(b.Above) != budget.Rules {
		return nil
	}
	rules := x.rules()
	return &rules
}

// first returns the gate that METNOS_JUDGE_KIND names.
func (x *minds) first() (vaglio.Gate, error) {
	if x.Kind != llm.Kind {
		return x.rules(), nil
	}
	reader, err := Effects(x.Home, &x.Policy)
	if err != nil {
		return vaglio.Gate{}, err
	}
	l := x.Policy.Thinking.Asking()
	j, err := llm.New(llm.Config{
		Model: x.client(l.Model), Values: l.ShareArgs == policyfile.ShareMasked, Masker: x.Means.Masker,
		Effects: Traits(reader), Budget: x.budget, Cached: x.Means.Meters.Cached,
	})
	if err != nil {
		return vaglio.Gate{}, err
	}
	return vaglio.Gate{
		Judge: j, MinScore: l.Threshold(x.Threshold), Timeout: l.Timeout(), Reads: true,
		Needs: vaglio.Needs{Slow: true}, Instead: x.instead(),
	}, nil
}

// gate returns the gate of one entry, either of the policy or of a judge agent's own.
func (x *minds) gate(ctx context.Context, v *policyfile.Validation) (vaglio.Gate, error) {
	g := vaglio.Gate{MinScore: v.Threshold(), MinConfidence: v.Confidence(), Timeout: v.Timeout(), Reads: true}
	var err error
	if v.Type != policyfile.TypeSemantic {
		g.Settled = true
		g.Judge, err = Effects(x.Home, &x.Policy)
		return g, err
	}
	g.Needs, g.Instead, g.Network = vaglio.Needs{Turn: true, Slow: true}, x.instead(), x.Policy.Thinking.Network(v.JudgeAgent)
	g.Judge, err = x.agent(ctx, v)
	return g, err
}

// agent returns a judge agent with the criteria of an entry.
func (x *minds) agent(ctx context.Context, v *policyfile.Validation) (*agent.Judge, error) {
	a := x.Policy.Thinking.FindAgent(v.JudgeAgent)
	if a == nil {
		return nil, fmt.Errorf("there is no judge agent %q", v.JudgeAgent)
	}
	guard, err := x.guarding()
	if err != nil {
		return nil, err
	}
	var own []vaglio.Gate
	for i := range a.ToolValidation {
		g, err := x.gate(ctx, &a.ToolValidation[i])
		if err != nil {
			return nil, err
		}
		own = append(own, g)
	}
	m := a.Manifest()
	m.Model = x.client(a.Model)
	var folders agent.Workspaces
	if len(m.Tools) > 0 {
		if folders, err = x.workspaces(ctx); err != nil {
			return nil, err
		}
	}
	return agent.New(agent.Config{
		Manifest: m, Criteria: v.Criteria, MinScore: v.Threshold(), MinConfidence: v.Confidence(), Masker: x.Means.Masker,
		Workspaces: folders, Guard: guard, Gates: own, Records: x.Means.Records, Budget: x.budget, Cached: x.Means.Meters.Cached,
	})
}

// guarding returns the guard for a judge's own calls, which is the same as everybody's.
func (x *minds) guarding() (func(context.Context, vaglio.Proposal) (bool, string, error), error) {
	if x.guard == nil {
		var err error
		x.guard, err = vaglio.New(vaglio.Config{
			Judges: []vaglio.Gate{x.rules()}, Home: x.Home, Own: x.Own, Files: workfiles.Disk{},
		})
		if err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, p vaglio.Proposal) (bool, string, error) {
		v, denied, err := x.guard.Guard(ctx, p)
		return denied, v.Reason, err
	}, nil
}

// passingLedger keeps the budget in memory.
type passingLedger struct {
	mu    sync.Mutex
	spent map[string]budget.Spent
}

// Add adds to the spending of a day.
func (l *passingLedger) Add(_ context.Context, day string, by budget.Spent) (budget.Spent, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.spent == nil {
		l.spent = map[string]budget.Spent{}
	}
	s := l.spent[day]
	s.Calls, s.Cost = s.Calls+by.Calls, s.Cost+by.Cost
	l.spent[day] = s
	return s, nil
}

// passingRecords discards judgements.
type passingRecords struct{}

// Keep discards the judgement.
func (passingRecords) Keep(context.Context, vaglio.Judgement) error { return nil }
