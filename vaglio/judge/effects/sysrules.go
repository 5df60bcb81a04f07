package effects

import (
	"cmp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/commands"
)

func sysRules(m map[string]rule) {
	m["kill"] = killRule
	m["carried"] = (*call).carriedText
	m["env"] = envRule
}

// killRule passes signals to processes that the same shell started.
func killRule(c *call) []Effect {
	if len(c.operands) > 0 && c.name == "kill" && !slices.ContainsFunc(c.operands, foreignProcess) {
		return own(say("stops a process that it started"))
	}
	if c.ownProcesses() {
		return own(say("stops what was started in this session: %s %s", c.name, join(c.all)))
	}
	return one(KindKill, say("stops processes that it may not have started: %s %s", c.name, join(c.all)), cmp.Or(c.rest(0), join(c.all)))
}

// foreignProcess reports whether a process that is named may be another than one
// that the same shell started: a job, or a number that it kept.
func foreignProcess(a arg) bool {
	if strings.HasPrefix(a.text, "%") || a.text == "0" {
		return false
	}
	if len(a.names) != 1 || a.text != "$"+a.names[0] || a.names[0] == "PPID" {
		return true
	}
	return a.names[0] != "!" && !strings.HasSuffix(strings.ToUpper(a.names[0]), "PID")
}

// carriedText judges the command lines that a terminal multiplexer is given.
func (c *call) carriedText() []Effect {
	out := own(say("works with a terminal session"))
	if c.r.depth > 3 {
		return unknown(say("nests too deep"), c.name)
	}
	c.r.depth++
	defer func() { c.r.depth-- }()
	for _, a := range c.operands[1:] {
		switch a.text {
		case "Enter", "C-m", "C-c", "C-d", "C-l", "Escape", "Space", "Up", "Down", "Tab", "q", "y", "n":
			continue
		}
		if !a.known {
			out = append(out, unknown(say("types text that is not known into a session: %s", a.text), a.text)...)
			continue
		}
		out = append(out, c.r.aside(a.text)...)
	}
	return out
}

func envRule(c *call) []Effect {
	if c.wrapper {
		return reads()
	}
	for _, a := range c.operands {
		if strings.Contains(a.text, "=") {
			continue
		}
		if c.name == "printenv" {
			if c.r.secretName(a.text) {
				return one(KindCredentials, say("prints the secret $%s", a.text), a.text)
			}
			continue
		}
		return reads() // the command is judged by itself
	}
	if c.name == "printenv" && len(c.operands) > 0 {
		return reads()
	}
	if c.has("-i", "--ignore-environment", "-") || c.filtered() {
		return reads()
	}
	e := usual(KindCredentials).with(say("prints every variable of the environment, secrets included"), "environment")
	e.Sure = 0.6
	return []Effect{e}
}

// filtered reports whether the next command lets through only variables whose
// names do not stand for secrets.
func (c *call) filtered() bool {
	n := c.into
	if n == nil || !n.stdin.piped {
		return false
	}
	switch n.name {
	case "grep", "egrep", "fgrep", "rg":
	case "wc":
		return true
	default:
		return false
	}
	p := parse(n.args, &commands.Section{})
	pattern := p.operand(0)
	if len(p.operands) != 1 || p.has("-v", "--invert-match") || len(pattern) < 3 || c.r.secretName(pattern) {
		return false
	}
	return !holdsAny(strings.ToLower(pattern), "key", "pass", "tok", "sec", "auth", "cred", "aws", "api", "gh_", "github", ".", "=", "db", "database", "url",
		"stripe", "openai")
}

// allRules are the rules that the tables name.
func allRules() map[string]rule {
	m := map[string]rule{}
	fileRules(m)
	gitRules(m)
	taskRules(m)
	netRules(m)
	cloudRules(m)
	dbRules(m)
	sysRules(m)
	return m
}
