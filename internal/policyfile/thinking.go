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
	// Models are those that judges may ask (docs/judges.md).
	Models []Model `yaml:"models"`
	// LLM says how the judge llm-v1 asks; left out, with the defaults.
	LLM *LLM `yaml:"llm"`
	// JudgeAgents are the manifests that semantic validations name.
	JudgeAgents []Agent `yaml:"judge_agents"`
	// JudgeBudget bounds a day's calls and cost; left out, nothing does.
	JudgeBudget *JudgeBudget `yaml:"judge_budget"`
}

// Model is a model that judges may ask.
type Model struct {
	// Name is what judges call the model.
	Name string `yaml:"name"`
	// API is the wire format: openai, which most servers speak, or anthropic.
	API string `yaml:"api"`
	// BaseURL is the server's address; left out, the one of the API's own maker.
	BaseURL string `yaml:"base_url"`
	// Model is the server's name for the model.
	Model string `yaml:"model"`
	// KeyFile holds the server's key; nobody else may read it.
	KeyFile string `yaml:"key_file"`
	// Price is per million tokens, in any currency: budget and metrics use the same.
	// Left out, it is not known.
	Price *Price `yaml:"price"`

	// key is what KeyFile holds.
	key string
}

// Price is a model's for each side; 0 is free, nil was not said.
type Price struct {
	// Input is that of what is sent to the model.
	Input *float64 `yaml:"input"`
	// Output is that of what it answers.
	Output *float64 `yaml:"output"`
}

// LLM says how llm-v1 asks.
type LLM struct {
	// Model is one of the models; left out, the only one.
	Model string `yaml:"model"`
	// MinScore is the score that a call needs; left out, METNOS_JUDGE_THRESHOLD.
	MinScore *float64 `yaml:"min_score"`
	// ShareArgs is "none", or "masked" where the model sees the arguments' values; left
	// out, "none".
	ShareArgs string `yaml:"share_args"`
	// TimeoutSeconds bounds the wait, from 1 to 3600; left out, 60.
	TimeoutSeconds *int `yaml:"timeout_seconds"`
}

// Agent is a judge agent's manifest. What it may use may stand below spec, as
// its origin writes it.
type Agent struct {
	// Name is what a semantic validation calls it.
	Name string `yaml:"name"`
	// Model is one of the models; left out, the only one.
	Model string `yaml:"model"`
	// Prompt says what the judge agent is for.
	Prompt string `yaml:"prompt"`
	// Network is "none" or "open"; left out, "none". An open one stands on every card.
	Network string `yaml:"network"`
	// Scratch is "none", or "copy": its commands may write a private copy of the
	// workspace; left out, "none".
	Scratch string `yaml:"scratch"`
	// Tools are what it may use.
	Tools []Tool `yaml:"tools"`
	// Limits bound what one judgement may use.
	Limits *agentLimits `yaml:"limits"`
	// Spec may hold tools, as its origin writes it.
	Spec *spec `yaml:"spec"`
	// ToolValidation judges the judge's own calls.
	ToolValidation []Validation `yaml:"tool_validation"`
}

type spec struct {
	// Tools are the same.
	Tools []Tool `yaml:"tools"`
}

// Tool is a tool that a judge agent may use.
type Tool struct {
	// Name is the tool's, such as cmd.run or ast_grep.search (docs/judges.md).
	Name string `yaml:"name"`
	// Allowlist holds the commands of cmd.run.
	Allowlist []string `yaml:"allowlist"`
}

type agentLimits struct {
	// Turns is how often the model is asked, at most 100; left out, 12.
	Turns *int `yaml:"turns"`
	// Tokens is how many it may use, from 1000 to 10000000; left out, 64000.
	Tokens *int `yaml:"tokens"`
}

// JudgeBudget bounds what a day of judging may cost.
type JudgeBudget struct {
	// CallsPerDay is how many requests to models a day has.
	CallsPerDay *int `yaml:"calls_per_day"`
	// CostPerDay is in the currency of the models' prices, all of which must be known.
	CostPerDay *float64 `yaml:"cost_per_day"`
	// Above is what happens beyond it: "ask", or "rules", which lets the rules answer;
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
