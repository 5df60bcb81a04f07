package policyfile

import (
	"cmp"
	"slices"
	"time"

	"github.com/metnos/vaglio/vaglio/judge/agent"
	"github.com/metnos/vaglio/vaglio/judge/budget"
	models "github.com/metnos/vaglio/vaglio/judge/model"
)

// Thinking is what a policy says of judges that ask models.
type Thinking struct {
	// Models lists the models that judges may ask (docs/judges.md).
	Models []Model `yaml:"models"`
	// LLM configures the judge llm-v1; left out, the defaults apply.
	LLM *LLM `yaml:"llm"`
	// JudgeAgents are the manifests that semantic validations refer to.
	JudgeAgents []Agent `yaml:"judge_agents"`
	// JudgeBudget limits the calls and the cost of a day; left out, there is no limit.
	JudgeBudget *JudgeBudget `yaml:"judge_budget"`
}

// Model is a model that judges may ask.
type Model struct {
	// Name is what judges call the model.
	Name string `yaml:"name"`
	// API is the wire format: openai, which most servers speak, or anthropic.
	API string `yaml:"api"`
	// BaseURL is the server's address; left out, that of the API's own vendor.
	BaseURL string `yaml:"base_url"`
	// Model is the server's name for the model.
	Model string `yaml:"model"`
	// KeyFile is the path of the file with the server's key. No other user may be able to read it.
	KeyFile string `yaml:"key_file"`
	// Price is the price per million tokens, in any currency: budget and metrics use the same one.
	// Left out, it is unknown.
	Price *Price `yaml:"price"`

	// key is what KeyFile holds.
	key string
}

// Price is what a model costs for each side. 0 means free, nil means unknown.
type Price struct {
	// Input is the price of what is sent to the model.
	Input *float64 `yaml:"input"`
	// Output is the price of what the model answers.
	Output *float64 `yaml:"output"`
}

// LLM says how llm-v1 asks.
type LLM struct {
	// Model is the name of one of the models; left out, the only one.
	Model string `yaml:"model"`
	// MinScore is the score that a call needs to pass; left out, METNOS_JUDGE_THRESHOLD.
	MinScore *float64 `yaml:"min_score"`
	// ShareArgs is "none", or "masked", which shows the model the arguments' values with secrets
	// masked; left out, "none".
	ShareArgs string `yaml:"share_args"`
	// TimeoutSeconds is how long to wait for an answer, from 1 to 3600; left out, 60.
	TimeoutSeconds *int `yaml:"timeout_seconds"`
}

// Agent is a judge agent's manifest.
type Agent struct {
	// Name is what a semantic validation calls it.
	Name string `yaml:"name"`
	// Model is the name of one of the models; left out, the only one.
	Model string `yaml:"model"`
	// Prompt tells the judge agent what it is for.
	Prompt string `yaml:"prompt"`
	// Network is "none" or "open"; left out, "none". Every card says so when it is open.
	Network string `yaml:"network"`
	// Scratch is "none", or "copy", which lets commands write to a private copy of the workspace;
	// left out, "none".
	Scratch string `yaml:"scratch"`
	// Tools are the tools that it may use.
	Tools []Tool `yaml:"tools"`
	// Limits are the limits of one judgement.
	Limits *agentLimits `yaml:"limits"`
	// Spec is another place for tools, for manifests that nest them here.
	Spec *spec `yaml:"spec"`
	// ToolValidation lists the judges of the judge agent's own calls.
	ToolValidation []Validation `yaml:"tool_validation"`
}

type spec struct {
	// Tools are the same as at the top.
	Tools []Tool `yaml:"tools"`
}

// Tool is a tool that a judge agent may use.
type Tool struct {
	// Name is the tool's name, such as cmd.run or ast_grep.search (docs/judges.md).
	Name string `yaml:"name"`
	// Allowlist is the list of commands that cmd.run may run.
	Allowlist []string `yaml:"allowlist"`
}

type agentLimits struct {
	// Turns is how many times the model is asked, at most 100; left out, 12.
	Turns *int `yaml:"turns"`
	// Tokens is how many tokens it may use, from 1000 to 10000000; left out, 64000.
	Tokens *int `yaml:"tokens"`
}

// JudgeBudget bounds what a day of judging may cost.
type JudgeBudget struct {
	// CallsPerDay is how many requests to models are allowed per day.
	CallsPerDay *int `yaml:"calls_per_day"`
	// CostPerDay is the cost allowed per day, in the currency of the models' prices, all of which
	// must be given.
	CostPerDay *float64 `yaml:"cost_per_day"`
	// Above is what happens beyond the budget: "ask" asks a person, "rules" lets the rules decide;
	// left out, "ask".
	Above string `yaml:"above"`
}

// The limits and defaults of a policy.
const (
	APIOpenAI    = "openai"
	APIAnthropic = "anthropic"
	ShareMasked  = "masked"

	defaultSemanticTimeout = 300 // seconds
	defaultLLMTimeout      = 60  // seconds
	mostTurns              = 100
	leastTokens            = 1000
	mostTokens             = 10_000_000
)

// Key returns the content of KeyFile, empty without one.
func (m *Model) Key() string { return m.key }

// Costs returns the model's price in the form that its client takes.
func (m *Model) Costs() models.Price {
	p := value(m.Price)
	return models.Price{Input: value(p.Input), Output: value(p.Output)}
}

// URL returns the server's address.
func (m *Model) URL() string {
	own := map[string]string{APIOpenAI: "https://api.openai.com/v1", APIAnthropic: "https://api.anthropic.com"}
	return cmp.Or(m.BaseURL, own[m.API])
}

// Uses returns the manifest's tools, wherever they are listed.
func (a *Agent) Uses() []Tool {
	if a.Spec != nil {
		return a.Spec.Tools
	}
	return a.Tools
}

// Manifest returns the judge agent as package agent takes it, without the model.
func (a *Agent) Manifest() agent.Manifest {
	m := agent.Manifest{Name: a.Name, Prompt: a.Prompt, Network: said(a.Network), Scratch: said(a.Scratch)}
	for _, t := range a.Uses() {
		m.Tools = append(m.Tools, agent.ToolUse{Name: t.Name, Allow: t.Allowlist})
	}
	if l := a.Limits; l != nil {
		m.Limits = agent.Limits{Turns: value(l.Turns), Tokens: value(l.Tokens)}
	}
	return m
}

// said returns text, or "" if it is "none".
func said(text string) string {
	if text == "none" {
		return ""
	}
	return text
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// FindModel returns the model with the name, or nil; no name means the only model.
func (t *Thinking) FindModel(name string) *Model {
	if name == "" && len(t.Models) == 1 {
		return &t.Models[0]
	}
	i := slices.IndexFunc(t.Models, func(m Model) bool { return m.Name == name && name != "" })
	if i < 0 {
		return nil
	}
	return &t.Models[i]
}

// FindAgent returns the judge agent with the name, or nil.
func (t *Thinking) FindAgent(name string) *Agent {
	i := slices.IndexFunc(t.JudgeAgents, func(a Agent) bool { return a.Name == name })
	if i < 0 {
		return nil
	}
	return &t.JudgeAgents[i]
}

// Network returns the network that the tools of a judge agent reach, or those of a judge of its own
// calls: "open", or "" for none. Circles of judges have been rejected before.
func (t *Thinking) Network(name string) string {
	a := t.FindAgent(name)
	if a == nil {
		return ""
	}
	network := said(a.Network)
	if len(a.Uses()) == 0 {
		network = ""
	}
	for i := range a.ToolValidation {
		network = cmp.Or(network, t.Network(a.ToolValidation[i].JudgeAgent))
	}
	return network
}

// Asking returns how llm-v1 asks.
func (t *Thinking) Asking() LLM { return value(t.LLM) }

// Threshold returns the score that a call needs to pass llm-v1.
func (l *LLM) Threshold(otherwise float64) float64 {
	if l.MinScore != nil {
		return *l.MinScore
	}
	return otherwise
}

// Timeout returns how long the judge may take.
func (l *LLM) Timeout() time.Duration { return seconds(l.TimeoutSeconds, defaultLLMTimeout) }

// Timeout returns how long an entry's judge may take; 0 if it is not semantic.
func (v *Validation) Timeout() time.Duration {
	if v.Type != TypeSemantic {
		return 0
	}
	return seconds(v.TimeoutSeconds, defaultSemanticTimeout)
}

func seconds(n *int, otherwise int) time.Duration {
	if n != nil {
		otherwise = *n
	}
	return time.Duration(otherwise) * time.Second
}

// Limits returns the budget's limits.
func (b *JudgeBudget) Limits() budget.Limits {
	return budget.Limits{Calls: value(b.CallsPerDay), Cost: value(b.CostPerDay), Above: budget.Above(b.Above)}
}

// KeyFiles returns the files with keys, which the guard protects.
func (t *Thinking) KeyFiles() []string {
	var all []string
	for i := range t.Models {
		if at := t.Models[i].KeyFile; at != "" {
			all = append(all, at)
		}
	}
	return all
}
