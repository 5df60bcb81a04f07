package effects

import (
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// scriptRule judges an interpreter: inline code was read by the shell reader
// and is listed by itself; here the files are judged.
func scriptRule(c *call) []Effect {
	if out := c.clientCode(c.programText()); len(out) > 0 {
		return out
	}
	if c.wrapper {
		return reads()
	}
	for i, a := range c.all {
		s := a.text
		switch {
		case s == "-c" || s == "-e" || s == "-r" || s == "--eval" || s == "-p" || s == "--print" || s == "-E" || s == "-n" || s == "-ne" ||
			s == "-pe" || s == "-lane" || s == "-i" || strings.HasPrefix(s, "-pi"):
			if c.name == "perl" && (strings.Contains(s, "i") && strings.HasPrefix(s, "-")) || c.name == "ruby" && strings.HasPrefix(s, "-i") {
				return append(own(say("edits files in place")), c.writeAll("edits", c.operands[min(1, len(c.operands)):])...)
			}
			return c.line(i)
		case s == "-m" && i+1 < len(c.all):
			return c.module(c.all[i+1].text, c.all[i+2:])
		case strings.HasPrefix(s, "-MCPAN"):
			return []Effect{usual(KindInstall).with(say("installs modules from CPAN"), join(c.all)).as(Partial, ReachUser)}
		case s == "--check" || s == "-l" || s == "--version" || s == "-V" || s == "-v" || s == "--help" || s == "--print-bundle" || s == "-vV":
			if i == 0 {
				return reads()
			}
		case strings.HasPrefix(s, "-"):
		default:
			return c.scriptFile(i)
		}
	}
	if text, all := c.input(); c.stdin.kind != shell.InputInherited {
		if text.remote {
			return one(KindForeignCode, say("runs downloaded code"), "")
		}
		if !all && text.text == "" {
			return unknown(say("runs code from its input that was not read"), "")
		}
	}
	return own(say("starts %s", c.name))
}

// line judges a program that is given on the command line. What languages that
// the shell reader knows would touch is listed by itself.
func (c *call) line(i int) []Effect {
	if !c.r.judge.tables.ofClass("one-liner", c.name) {
		return own(say("runs a line of %s that touches nothing outside its variables", c.name))
	}
	text := strings.ToLower(join(c.all[i:]))
	for _, w := range []string{
		"install", "system", "unlink", "remove", "delete", "download", "exec", "rm(", "rm_r", "rm ", "shell", "write", "spawn",
		"http", "post", "add(", "process", "do script", "keystroke", "tell application", "invoke-", "iex", "cmd(",
	} {
		if strings.Contains(text, w) {
			return unknown(say("runs a line of %s that was not read: %s", c.name, clip(text, 100)), c.name)
		}
	}
	return own(say("runs a line of %s", c.name))
}

// scriptFile judges the file that an interpreter runs.
func (c *call) scriptFile(i int) []Effect {
	a := c.all[i]
	switch c.name {
	case "awk", "gawk", "mawk", "nawk":
		var out []Effect
		for _, f := range c.all[i+1:] {
			if c.r.world.placeOf(f, c.cwd) == placeSecret {
				out = append(out, usual(KindCredentials).with(say("shows the secrets in %s", f.text), f.text))
			}
		}
		return append(out, reads()...)
	case "source", ".":
		if p := c.r.world.placeOf(a, c.cwd); p != placeUnknown && p != placeTemp && !c.r.cloned && !c.r.fetched[lastPart(a.text)] {
			return own(say("loads %s into the shell", a.text))
		}
		if strings.HasPrefix(a.text, "/dev/fd/") || strings.Contains(a.text, "$(") {
			return own(say("loads generated settings into the shell"))
		}
	case "deno":
		if c.r.judge.tables.ofClass("deno-works", a.text) {
			if a.text == "install" && c.has("-g", "--global") {
				return []Effect{usual(KindInstall).with(say("installs a program for the whole user"), c.rest(1)).as(Partial, ReachUser)}
			}
			for _, f := range c.all[i+1:] {
				if strings.Contains(f.text, "://") && !strings.Contains(f.text, "deno.land/std") && a.text != "test" {
					return one(KindForeignCode, say("fetches and runs %s", f.text), f.text)
				}
			}
			return c.task(c.operand(1), say("runs deno %s %s", a.text, c.operand(1)))
		}
		switch a.text {
		case "publish", "deploy":
			return one(KindPublish, say("publishes the package"), "deno")
		case "upgrade":
			return []Effect{usual(KindInstall).with(say("upgrades deno"), "deno").as(Partial, ReachUser)}
		}
	case "ruby", "php", "python", "python3":
		switch base := lastPart(a.text); base {
		case "manage.py", "artisan", "rails", "rake", "console", "setup.py", "bin/console":
			inner := *c.invocation
			inner.name, inner.path, inner.args = base, base, c.all[i+1:]
			if base == "setup.py" {
				return setupPy(&inner)
			}
			return c.r.named(&inner)
		}
	}
	if strings.Contains(a.text, "://") {
		return one(KindForeignCode, say("fetches and runs %s", a.text), a.text)
	}
	name := lastPart(a.text)
	if j := strings.LastIndexByte(name, '.'); j > 0 {
		name = name[:j]
	}
	return c.r.runsFile(c.invocation, a, name)
}

func setupPy(v *invocation) []Effect {
	for _, a := range v.args {
		switch a.text {
		case "upload", "register":
			return one(KindPublish, say("publishes the package to the index"), "setup.py")
		case "install":
			return []Effect{usual(KindInstall).with(say("installs the package"), "setup.py")}
		}
	}
	return own(say("builds the package"))
}

// module judges `python -m`.
func (c *call) module(name string, args []arg) []Effect {
	if c.r.judge.tables.nouns["python-module"][name] {
		inner := *c.invocation
		inner.name, inner.path, inner.args = name, name, args
		return c.r.named(&inner)
	}
	switch name {
	case "smtpd", "smtplib", "ftplib", "telnetlib":
		return one(KindSend, say("talks to a server through python -m %s", name), name)
	case "keyring", "getpass":
		return one(KindCredentials, say("reads stored passwords"), name)
	}
	for _, a := range args {
		if c.r.world.placeOf(a, c.cwd) == placeSecret {
			return one(KindCredentials, say("reads the secrets in %s", a.text), a.text)
		}
	}
	return c.task(name, say("runs the module %s", name))
}

// inline judges a call of an inline program that matters.
func (r *reading) inline(v *invocation) []Effect {
	targets := argsOf(v.call.Targets)
	what := v.call.Language + "'s " + v.call.Function
	var out []Effect
	switch v.call.Verb {
	case shell.VerbDelete, shell.VerbDeleteTree:
		for _, t := range targets {
			out = append(out, r.remove(v, t)...)
		}
		if len(targets) == 0 {
			return unknown(say("deletes files whose names are not known by %s", what), "")
		}
	case shell.VerbWrite, shell.VerbAppend, shell.VerbCreate:
		for _, t := range targets {
			if v.call.Verb == shell.VerbWrite && strings.Contains(t.text, "*") {
				out = append(out, r.empty(v, t)...) // every file that the pattern finds loses its content
			}
			out = append(out, r.write(v, t, "writes")...)
		}
	case shell.VerbRead, shell.VerbList:
		for _, t := range targets {
			if v.call.Verb == shell.VerbRead && r.world.placeOf(t, v.cwd) == placeSecret {
				out = append(out, usual(KindCredentials).with(say("reads the secrets in %s", t.text), t.text))
			}
		}
	case shell.VerbPermissions:
		c := &call{invocation: v, r: r}
		out = c.permissions("opens", false, targets)
	case shell.VerbMove, shell.VerbCopy, shell.VerbLink:
		if len(targets) > 1 {
			out = append(out, r.write(v, targets[1], "writes")...)
		}
		if v.call.Verb == shell.VerbMove && len(targets) > 0 && r.world.placeOf(targets[0], v.cwd) != placeWorkspace &&
			r.world.placeOf(targets[0], v.cwd) != placeTemp {
			out = append(out, usual(KindMove).with(say("moves %s away", targets[0].text), targets[0].text).as(Partial, ReachUser))
		}
	case shell.VerbKill:
		return one(KindKill, say("stops processes by %s", what), join(targets))
	case shell.VerbFork:
		return own(say("starts a process"))
	case shell.VerbNetwork:
		return r.inlineNetwork(v, targets)
	default:
		return unknown(say("calls %s", what), "")
	}
	if len(out) == 0 {
		return reads()
	}
	return out
}

func (r *reading) inlineNetwork(v *invocation, targets []arg) []Effect {
	address := join(targets)
	for _, t := range targets {
		if what := credentialDoor(t.text); what != nil {
			return one(KindCredentials, what, t.text)
		}
	}
	fn := strings.ToLower(v.call.Function)
	for _, w := range []string{"post", "put", "patch", "delete", "send", "smtp", "upload", "connect", "socket"} {
		if strings.Contains(fn, w) {
			if localURL(address) {
				return own(say("talks to this machine"))
			}
			return []Effect{usual(KindSend).with(say("sends data to %s by %s", address, v.call.Function), address).as(Irreversible, ReachShared)}
		}
	}
	for _, t := range targets {
		if r.leaks(t) {
			return one(KindSend, say("sends local data inside the address %s", t.text), t.text)
		}
	}
	return reads()
}
