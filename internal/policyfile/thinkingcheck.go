package policyfile

import (
	"fmt"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/hosts"
	"github.com/metnos/vaglio/vaglio/judge/agent"
	"github.com/metnos/vaglio/vaglio/judge/budget"
	models "github.com/metnos/vaglio/vaglio/judge/model"
)

// thinkingCheck finds mistakes in the judges that ask models.
type thinkingCheck struct {
	*mistakes
	t    *Thinking
	home string
}

// thinking adds the mistakes in the judges that ask models, and reads the keys. all are the
// validations of calls, whose list is at a path.
func (m *mistakes) thinking(t *Thinking, all []Validation, at []string, home string) {
	c := thinkingCheck{m, t, home}
	for i := range t.Models {
		c.model(i)
	}
	for i := range t.JudgeAgents {
		c.agent(i)
	}
	for i := range all {
		c.named(&all[i], append(slices.Clone(at), strconv.Itoa(i)))
	}
	c.cycles()
	c.llm()
	c.budget()
}

// field adds a mistake in a field below a path.
func (c *thinkingCheck) field(at []string, field, problem string, args ...any) {
	if field != "" {
		at = append(slices.Clone(at), strings.Split(field, ".")...)
	}
	c.at(inWords(at)+" "+fmt.Sprintf(problem, args...), at...)
}

// inWords returns a path as people write it: models[0].name.
func inWords(at []string) string {
	var b strings.Builder
	for i, s := range at {
		switch {
		case strings.Trim(s, "0123456789") == "":
			b.WriteString("[" + s + "]")
		case i > 0:
			b.WriteString("." + s)
		default:
			b.WriteString(s)
		}
	}
	return b.String()
}

func (c *thinkingCheck) model(i int) {
	m, at := &c.t.Models[i], []string{"models", strconv.Itoa(i)}
	c.name(at, m.Name, func() bool {
		return slices.ContainsFunc(c.t.Models[:i], func(o Model) bool { return o.Name == m.Name })
	})
	if m.API != APIOpenAI && m.API != APIAnthropic {
		c.field(at, "api", "is %q; it is openai (also for Ollama, llama.cpp, vLLM and Gemini) or anthropic", m.API)
	}
	if m.Model == "" {
		c.field(at, "model", "is missing: give the server's name for the model")
	}
	if m.BaseURL != "" {
		if problem := addressProblem(m.BaseURL); problem != "" {
			c.field(at, "base_url", "%s", problem)
		}
	}
	c.price(m, at)
	c.key(m, at)
}

// price adds the mistakes in a model's price. A missing side would be taken for free.
func (c *thinkingCheck) price(m *Model, at []string) {
	if m.Price == nil {
		return
	}
	for _, side := range []struct {
		name  string
		price *float64
	}{{"input", m.Price.Input}, {"output", m.Price.Output}} {
		switch p := side.price; {
		case p == nil:
			c.field(at, "price."+side.name, "is missing; give both sides, per million tokens, such as {input: 3, output: 15}")
		case *p < 0 || math.IsNaN(*p) || math.IsInf(*p, 0):
			c.field(at, "price."+side.name, "is not a price per million tokens, 0 or more")
		}
	}
}

// key reads a model's key.
func (c *thinkingCheck) key(m *Model, at []string) {
	if m.KeyFile == "" {
		return
	}
	m.KeyFile = c.path(m.KeyFile)
	if !filepath.IsAbs(m.KeyFile) {
		c.field(at, "key_file", "is not an absolute path")
		return
	}
	key, err := datafolder.ReadSecret(m.KeyFile)
	if err != nil {
		c.field(at, "key_file", "cannot be used: %v", err)
	}
	m.key = string(key)
}

// addressProblem returns what is wrong with a server's address, "" if nothing. It does not repeat
// the address, which may contain a password.
func addressProblem(address string) string {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return "is not an address such as http://127.0.0.1:11434/v1"
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "must be scheme, host and path alone; a key belongs into key_file"
	case u.Scheme == "http" && !hosts.Loopback(u.Hostname()):
		return "is not encrypted and on another machine: what is judged and the key would travel in the clear; use https"
	}
	return ""
}

// path returns a path with ~ replaced by the home folder.
func (c *thinkingCheck) path(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(c.home, rest)
	}
	return filepath.Clean(path)
}

func (c *thinkingCheck) name(at []string, name string, twice func() bool) {
	odd := func(r rune) bool { return r != '-' && r != '_' && r != '.' && !isAlnum(r) }
	switch {
	case name == "" || len(name) > 64 || strings.ContainsFunc(name, odd):
		c.field(at, "name", "is %q; it is 1 to 64 letters, digits, dots, - and _", shortened(name))
	case twice():
		c.field(at, "name", "is %q, which another one is named; give each its own", name)
	}
}

func isAlnum(r rune) bool {
	return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

func shortened(text string) string { return text[:min(len(text), 80)] }

func (c *thinkingCheck) agent(i int) {
	a, at := &c.t.JudgeAgents[i], []string{"judge_agents", strconv.Itoa(i)}
	c.name(at, a.Name, func() bool {
		return slices.ContainsFunc(c.t.JudgeAgents[:i], func(o Agent) bool { return o.Name == a.Name })
	})
	c.modelNamed(at, a.Model)
	if n := a.Network; n != "" && n != "none" && n != "open" {
		c.field(at, "network", "is %q; it is none, or open where the judge must reach a network", shortened(n))
	}
	if s := a.Scratch; s != "" && s != "none" && s != "copy" {
		c.field(at, "scratch", "is %q; it is none, or copy where a tool must write", shortened(s))
	}
	c.tools(a, at)
	c.limits(a.Limits, at)
	for i := range a.ToolValidation {
		v, place := &a.ToolValidation[i], append(slices.Clone(at), "tool_validation", strconv.Itoa(i))
		if field, problem := v.mistake(); problem != "" {
			c.field(place, field, "%s", problem)
		}
		c.named(v, place)
	}
}

// tools adds the mistakes in a manifest's tools, wherever they are listed.
func (c *thinkingCheck) tools(a *Agent, at []string) {
	if a.Spec != nil && a.Tools != nil {
		c.field(at, "spec", "and tools are both given; list the tools in one place")
	}
	under := append(slices.Clone(at), "tools")
	if a.Spec != nil {
		under = append(slices.Clone(at), "spec", "tools")
	}
	for i, t := range a.Uses() {
		c.tool(append(slices.Clone(under), strconv.Itoa(i)), &t, a.Uses()[:i])
	}
}

func (c *thinkingCheck) limits(l *agentLimits, at []string) {
	if l == nil {
		return
	}
	if l.Turns != nil && (*l.Turns < 1 || *l.Turns > mostTurns) {
		c.field(at, "limits.turns", "is %d; it is a number from 1 to %d", *l.Turns, mostTurns)
	}
	if l.Tokens != nil && (*l.Tokens < leastTokens || *l.Tokens > mostTokens) {
		c.field(at, "limits.tokens", "is %d; it is a number from %d to %d", *l.Tokens, leastTokens, mostTokens)
	}
}

func (c *thinkingCheck) modelNamed(at []string, name string) {
	if c.t.FindModel(name) != nil {
		return
	}
	var names []string
	for i := range c.t.Models {
		names = append(names, c.t.Models[i].Name)
	}
	switch {
	case len(names) == 0:
		c.field(at, "model", "is %q, and there are no models: list one under models", shortened(name))
	case name == "":
		c.field(at, "model", "is missing; known: %s", strings.Join(names, ", "))
	default:
		c.field(at, "model", "is %q; known: %s", shortened(name), strings.Join(names, ", "))
	}
}

func (c *thinkingCheck) tool(at []string, t *Tool, before []Tool) {
	switch {
	case !slices.Contains(agent.ToolNames(), t.Name):
		c.field(at, "name", "is %q; known: %s", shortened(t.Name), strings.Join(agent.ToolNames(), ", "))
	case slices.ContainsFunc(before, func(o Tool) bool { return o.Name == t.Name }):
		c.field(at, "name", "is %q, which is listed already", t.Name)
	case t.Name == agent.ToolRun && len(t.Allowlist) == 0:
		c.field(at, "allowlist", "is missing: list the commands that cmd.run may run, such as \"go test\"")
	case t.Name != agent.ToolRun && t.Allowlist != nil:
		c.field(at, "allowlist", "belongs to cmd.run alone")
	}
	if t.Name != agent.ToolRun {
		return
	}
	for i, command := range t.Allowlist {
		if problem := commandProblem(command); problem != "" {
			c.field(at, "allowlist."+strconv.Itoa(i), "is %q: %s", shortened(command), problem)
		}
	}
}

// commandProblem returns why a text is not a program with perhaps its first arguments, "" if it is.
func commandProblem(command string) string {
	words := strings.Fields(command)
	switch {
	case len(words) == 0:
		return "it is empty; write a program and perhaps its first arguments"
	case strings.ContainsAny(command, "|&;<>()$`\\\"'*?[]{}~#!\n"):
		return "it is more than plain words; write a program and perhaps its first arguments"
	case strings.Contains(words[0], "/"):
		return "a program is named without its folder"
	}
	return ""
}

// named adds a mistake if an entry names a judge agent that does not exist.
func (c *thinkingCheck) named(v *Validation, at []string) {
	if v.Type != TypeSemantic || v.JudgeAgent == "" || c.t.FindAgent(v.JudgeAgent) != nil {
		return
	}
	var names []string
	for i := range c.t.JudgeAgents {
		names = append(names, c.t.JudgeAgents[i].Name)
	}
	if len(names) == 0 {
		c.field(at, "judge_agent", "is %q, and there are no judge agents: describe it under judge_agents", shortened(v.JudgeAgent))
		return
	}
	c.field(at, "judge_agent", "is %q; known: %s", shortened(v.JudgeAgent), strings.Join(names, ", "))
}

// cycles finds judge agents whose calls are, in the end, judged by themselves.
func (c *thinkingCheck) cycles() {
	var below func(name string, path []string) []string
	below = func(name string, path []string) []string {
		if slices.Contains(path, name) {
			return append(path, name)
		}
		a := c.t.FindAgent(name)
		if a == nil {
			return nil
		}
		for i := range a.ToolValidation {
			if v := &a.ToolValidation[i]; v.Type == TypeSemantic {
				if circle := below(v.JudgeAgent, append(slices.Clone(path), name)); circle != nil {
					return circle
				}
			}
		}
		return nil
	}
	for i := range c.t.JudgeAgents {
		name := c.t.JudgeAgents[i].Name
		if circle := below(name, nil); circle != nil && circle[len(circle)-1] == name {
			c.field([]string{"judge_agents", strconv.Itoa(i)}, "tool_validation", "goes in a circle: %s; let no judge judge itself", strings.Join(circle, " → "))
		}
	}
}

func (c *thinkingCheck) llm() {
	l := c.t.LLM
	if l == nil {
		return
	}
	at := []string{"llm"}
	c.modelNamed(at, l.Model)
	if !share(l.MinScore) {
		c.field(at, "min_score", "is not a number from 0 to 1")
	}
	if l.ShareArgs != "" && l.ShareArgs != "none" && l.ShareArgs != ShareMasked {
		c.field(at, "share_args", "is %q; it is none (the names of arguments alone) or masked", shortened(l.ShareArgs))
	}
	if t := l.TimeoutSeconds; t != nil && (*t < 1 || *t > longestTimeout) {
		c.field(at, "timeout_seconds", "is %d; it is a number of seconds from 1 to %d", *t, longestTimeout)
	}
}

func (c *thinkingCheck) budget() {
	b := c.t.JudgeBudget
	if b == nil {
		return
	}
	at := []string{"judge_budget"}
	if b.CallsPerDay != nil && *b.CallsPerDay < 1 {
		c.field(at, "calls_per_day", "is %d; it is a number from 1, or left out", *b.CallsPerDay)
	}
	if n := b.CostPerDay; n != nil {
		c.cost(at, *n)
	}
	if b.CallsPerDay == nil && b.CostPerDay == nil {
		c.field(at, "", "bounds nothing: give calls_per_day or cost_per_day")
	}
	if a := budget.Above(b.Above); a != "" && a != budget.Ask && a != budget.Rules {
		c.field(at, "above", "is %q; it is ask (a person decides) or rules (the rules answer)", shortened(b.Above))
	}
}

// cost checks a limit on cost: that it is a positive number, that the prices of all models are
// known, and that not all models are free.
func (c *thinkingCheck) cost(at []string, most float64) {
	if !(most > 0) || math.IsInf(most, 0) {
		c.field(at, "cost_per_day", "is not a number above 0")
	}
	free := len(c.t.Models) > 0
	for i := range c.t.Models {
		m := &c.t.Models[i]
		if m.Price == nil {
			c.field([]string{"models", strconv.Itoa(i)}, "price", "is missing, so judge_budget.cost_per_day would not hold %s: "+
				"give price: {input: 3, output: 15} per million tokens, or {input: 0, output: 0} where it is free", m.Name)
		}
		free = free && m.Price != nil && m.Costs() == models.Price{}
	}
	if free {
		c.field(at, "cost_per_day", "limits nothing, because all models are free: give calls_per_day")
	}
}
