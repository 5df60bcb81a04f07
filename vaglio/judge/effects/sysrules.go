package effects

import (
	"cmp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/commands"
)

func sysRules(m map[string]rule) {
	m["format"] = func(c *call) []Effect {
		if n := len(c.operands); n > 0 && c.r.world.placeOf(c.operands[n-1], c.cwd) == placeWorkspace {
			return own(say("formats a file of the workspace"))
		}
		return []Effect{usual(KindPrivilege).with(say("formats %s", c.operand(0)), c.rest(0)).as(Irreversible, ReachSystem)}
	}
	m["date"] = func(c *call) []Effect {
		for _, a := range c.operands {
			if !strings.HasPrefix(a.text, "+") && a.text != "" && strings.Trim(a.text, "0123456789.") == "" {
				return one(KindPrivilege, say("sets the clock to %s", a.text), a.text)
			}
		}
		return reads()
	}
	m["kill"] = killRule
	m["tmux"] = tmuxRule
	m["env"] = envRule
	m["wrapper"] = wrapperRule
	m["chain"] = chainRule
}

// killRule passes signals to processes that the same shell started.
func killRule(c *call) []Effect {
	if c.name == "fuser" && !c.has("-k", "--kill") {
		return reads()
	}
	if s, ok := c.value("-s", "--signal"); ok && s.text == "0" || c.has("-0") {
		return reads()
	}
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

func tmuxRule(c *call) []Effect {
	if c.r.judge.tables.ofClass("tmux-reads", c.operand(0)) {
		return reads()
	}
	switch c.operand(0) {
	case "kill-server":
		return one(KindKill, say("ends every session of the terminal multiplexer"), "tmux")
	case "kill-session", "kill-window", "kill-pane", "killp", "killw", "kill-all-sessions", "k", "ka":
		if c.has("-a") {
			return one(KindKill, say("ends the other sessions"), "tmux")
		}
		if _, ok := c.value("-t"); ok {
			return own(say("ends the session"))
		}
		return own(say("ends a session"))
	case "send-keys", "send", "run-shell", "run", "if-shell", "new-session", "new", "new-window", "neww", "split-window", "splitw", "respawn-pane", "set-hook":
		return c.carriedText()
	}
	if c.name == "screen" && c.has("-X") {
		if strings.Contains(join(c.all), "quit") {
			return one(KindKill, say("ends a session and what runs in it: %s", join(c.all)), "screen")
		}
		return unknown(say("types into another session: %s", join(c.all)), "screen")
	}
	return own(say("works with a terminal session"))
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

func wrapperRule(c *call) []Effect {
	switch c.name {
	case "eval", "exec", "command", "builtin":
		return reads()
	case "chroot", "unshare", "nsenter":
		if !c.wrapper {
			return one(KindPrivilege, say("enters another root or name space: %s", join(c.all)), c.name)
		}
		if c.name == "nsenter" {
			return one(KindPrivilege, say("enters the name space of another process: %s", join(c.all)), c.name)
		}
	case "script":
		return c.writeAll("writes", c.operands)
	}
	return reads()
}

// chainRule judges the tools of block chains, which sign and spend.
func chainRule(c *call) []Effect {
	text := " " + c.rest(0) + " "
	signs := c.signs(text)
	if (signs || holdsAny(text, " script ", " run ")) && c.localChain() {
		return own(say("works on a local chain"))
	}
	if signs {
		return one(KindSpend, say("sends a transaction or signs: %s", c.name+text), c.rest(0))
	}
	if c.name == "wallet" || c.name == "subkey" {
		return one(KindCredentials, say("uses wallet keys"), c.name)
	}
	if strings.Contains(text, "wallet") && !strings.Contains(text, "list") || holdsAny(text, "keygen", "dumpprivkey") {
		return one(KindCredentials, say("uses wallet keys: %s", c.name+text), c.name)
	}
	return own(say("works on the contracts project"))
}

// signs reports whether a command for a chain may sign or spend.
func (c *call) signs(text string) bool {
	return c.has("--broadcast") || c.has("--network") && strings.Contains(text, " run ") || holdsAny(text, " send", " transfer", " broadcast",
		" deploy", " publish", " pay", " create", " --broadcast", " mint", " approve", " stake", " withdraw", " import", " sign", " unlock")
}

// localChain reports whether a command names a chain that only this machine
// has.
func (c *call) localChain() bool {
	rpc, ok := c.value("--rpc-url", "--url", "--network")
	return ok && (localURL(rpc.text) || rpc.text == "localhost" || rpc.text == "hardhat")
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
