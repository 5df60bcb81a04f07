package effects

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
)

// scriptRule judges an interpreter by its files: the shell reader has read inline code and lists
// it separately.
func scriptRule(c *call) []Effect {
	if out := c.clientCode(c.programText()); len(out) > 0 {
		return out
	}
	if c.wrapper && !c.r.fetched[lastPart(c.operand(0))] {
		return reads()
	}
	for i := range c.all {
		if out, ok := c.scriptWord(i); ok {
			return out
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

// scriptWord judges an interpreter by one of its words, if that word decides what runs.
func (c *call) scriptWord(i int) ([]Effect, bool) {
	s := c.all[i].text
	switch {
	case givesCode(s):
		if c.name == "perl" && strings.Contains(s, "i") || c.name == "ruby" && strings.HasPrefix(s, "-i") {
			return append(own(say("edits files in place")), c.writeAll("edits", c.operands[min(1, len(c.operands)):])...), true
		}
		return c.line(i), true
	case s == "-m" && i+1 < len(c.all):
		return c.module(c.all[i+1].text, c.all[i+2:]), true
	case strings.HasPrefix(s, "-MCPAN"):
		return []Effect{usual(KindInstall).with(say("installs modules from CPAN"), join(c.all)).as(Partial, ReachUser)}, true
	case i == 0 && slices.Contains([]string{"--check", "-l", "--version", "-V", "-v", "--help", "--print-bundle", "-vV"}, s):
		return reads(), true
	case strings.HasPrefix(s, "-"):
		return nil, false
	}
	return c.scriptFile(i), true
}

// givesCode reports whether program text follows an option.
func givesCode(option string) bool {
	return slices.Contains([]string{"-c", "-e", "-r", "--eval", "-p", "--print", "-E", "-n", "-ne", "-pe", "-lane", "-i"}, option) ||
		strings.HasPrefix(option, "-pi")
}

// line judges a program given on the command line. What it touches in a language that the shell
// reader knows is listed separately.
func (c *call) line(i int) []Effect {
	if !c.r.judge.tables.ofClass("one-liner", c.name) {
		return own(say("runs a line of %s that is not seen to touch anything else", c.name))
	}
	text := strings.ToLower(join(c.all[i:]))
	if holdsAny(text, "install", "system", "unlink", "remove", "delete", "download", "exec", "rm(", "rm_r", "rm ", "shell", "write", "spawn",
		"http", "post", "add(", "process", "do script", "keystroke", "tell application", "invoke-", "iex", "cmd(") {
		return unknown(say("runs a line of %s that was not read: %s", c.name, clip(text, 100)), c.name)
	}
	return own(say("runs a line of %s", c.name))
}

// scriptFile judges the file that an interpreter runs.
func (c *call) scriptFile(i int) []Effect {
	a := c.all[i]
	if out, ok := c.scriptOf(i); ok {
		return out
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

// scriptOf judges what only this interpreter does with a word that is not an option, unless it is
// a file that it runs like all others.
func (c *call) scriptOf(i int) ([]Effect, bool) {
	a := c.all[i]
	switch c.name {
	case "awk", "gawk", "mawk", "nawk":
		return append(c.r.secretsIn(c.all[i+1:], c.cwd, "shows the secrets in %s"), reads()...), true
	case "source", ".":
		if p := c.r.world.placeOf(a, c.cwd); p != placeUnknown && p != placeTemp && !c.r.cloned && !c.r.fetched[lastPart(a.text)] {
			return own(say("loads %s into the shell", a.text)), true
		}
		if strings.HasPrefix(a.text, "/dev/fd/") || strings.Contains(a.text, "$(") {
			return own(say("loads generated settings into the shell")), true
		}
	case "deno":
		return c.deno(i)
	case "ruby", "php", "python", "python3":
		return c.framework(i)
	}
	return nil, false
}

// secretsIn returns the effects of reading those files that hold secrets; how says what happens to
// their content.
func (r *reading) secretsIn(files []arg, cwd string, how wording.Phrase) []Effect {
	var out []Effect
	for _, f := range files {
		if r.world.placeOf(f, cwd) == placeSecret {
			out = append(out, usual(KindCredentials).with(say(how, f.text), f.text))
		}
	}
	return out
}

// deno judges deno's own commands, if the word is one.
func (c *call) deno(i int) ([]Effect, bool) {
	a := c.all[i]
	if !c.r.judge.tables.ofClass("deno-works", a.text) {
		switch a.text {
		case "publish", "deploy":
			return one(KindPublish, say("publishes the package"), "deno"), true
		case "upgrade":
			return []Effect{usual(KindInstall).with(say("upgrades deno"), "deno").as(Partial, ReachUser)}, true
		}
		return nil, false
	}
	if a.text == "install" && c.has("-g", "--global") {
		return []Effect{usual(KindInstall).with(say("installs a program for the whole user"), c.rest(1)).as(Partial, ReachUser)}, true
	}
	for _, f := range c.all[i+1:] {
		if strings.Contains(f.text, "://") && !strings.Contains(f.text, "deno.land/std") && a.text != "test" {
			return one(KindForeignCode, say("fetches and runs %s", f.text), f.text), true
		}
	}
	return c.task(c.operand(1), say("runs deno %s %s", a.text, c.operand(1))), true
}

// framework judges the script that controls a framework, if the file is one.
func (c *call) framework(i int) ([]Effect, bool) {
	switch base := lastPart(c.all[i].text); base {
	case "manage.py", "artisan", "rails", "rake", "console", "setup.py":
		return c.r.named(c.inner(base, c.all[i+1:])), true
	}
	return nil, false
}

// module judges `python -m`.
func (c *call) module(name string, args []arg) []Effect {
	if c.r.judge.tables.Nouns["python-module"][name] {
		return c.r.named(c.inner(name, args))
	}
	switch name {
	case "smtpd", "smtplib", "ftplib", "telnetlib":
		return one(KindSend, say("talks to a server through python -m %s", name), name)
	case "keyring", "getpass":
		return one(KindCredentials, say("reads stored passwords"), name)
	}
	for _, a := range args {
		if c.secret(a) {
			return one(KindCredentials, say("reads the secrets in %s", a.text), a.text)
		}
	}
	return c.task(name, say("runs the module %s", name))
}

// inline judges a relevant call in an inline program.
func (r *reading) inline(v *invocation) []Effect {
	targets := argsOf(v.call.Targets)
	what := v.call.Language + "'s " + v.call.Function
	var out []Effect
	switch v.call.Verb {
	case shell.VerbDelete, shell.VerbDeleteTree:
		out = r.inlineDelete(v, targets, what)
	case shell.VerbWrite, shell.VerbAppend, shell.VerbCreate:
		out = r.inlineWrite(v, targets)
	case shell.VerbRead:
		out = r.secretsIn(targets, v.cwd, "reads the secrets in %s")
		r.inlineRead = append(r.inlineRead, texts(targets)...)
	case shell.VerbList:
	case shell.VerbPermissions:
		out = r.permits(v, "", targets...)
	case shell.VerbMove, shell.VerbCopy, shell.VerbLink:
		out = r.inlineMove(v, targets)
	default:
		return r.inlineBeyond(v, targets, what)
	}
	if len(out) == 0 {
		return reads()
	}
	return out
}

// inlineBeyond judges a call in an inline program that is not about files.
func (r *reading) inlineBeyond(v *invocation, targets []arg, what string) []Effect {
	switch v.call.Verb {
	case shell.VerbKill:
		return one(KindKill, say("stops processes by %s", what), join(targets))
	case shell.VerbFork:
		return own(say("starts a process"))
	case shell.VerbNetwork:
		return r.inlineNetwork(v, targets)
	case shell.VerbClient:
		return r.libraryCall(v)
	default:
		return unknown(say("calls %s", what), "")
	}
}

// inlineDelete judges the files that an inline program deletes.
func (r *reading) inlineDelete(v *invocation, targets []arg, what string) []Effect {
	if len(targets) == 0 {
		return unknown(say("deletes files whose names are not known by %s", what), "")
	}
	var out []Effect
	for _, t := range targets {
		out = append(out, r.remove(v, t)...)
	}
	return out
}

// inlineWrite judges the files that an inline program writes. With a pattern, every matching file
// loses its content, unless the program read the files before: then it edits them.
func (r *reading) inlineWrite(v *invocation, targets []arg) []Effect {
	var out []Effect
	for _, t := range targets {
		if v.call.Verb == shell.VerbWrite && strings.Contains(t.text, "*") && !slices.Contains(r.inlineRead, t.text) {
			out = append(out, r.empty(v, t)...)
		}
		out = append(out, r.write(v, t, "writes")...)
	}
	return out
}

// inlineMove judges a file that an inline program moves, copies or links, at both of its places.
func (r *reading) inlineMove(v *invocation, targets []arg) []Effect {
	var out []Effect
	if len(targets) > 1 {
		told := map[shell.Verb]wording.Phrase{shell.VerbMove: "moves files to", shell.VerbCopy: "copies files to", shell.VerbLink: "links files to"}
		out = r.write(v, targets[1], told[v.call.Verb])
		sayEnds([]string{targets[0].text}, out)
	}
	if v.call.Verb != shell.VerbMove || len(targets) == 0 {
		return out
	}
	from := targets[0]
	if p := r.world.placeOf(from, v.cwd); p != placeWorkspace && p != placeTemp {
		out = append(out, usual(KindMove).with(say("moves %s away", from.text), from.text).as(Partial, ReachUser))
	}
	return out
}

func (r *reading) inlineNetwork(v *invocation, targets []arg) []Effect {
	address := join(targets)
	for _, t := range targets {
		if what := r.judge.tables.credentialDoor(t.text); what != nil {
			return one(KindCredentials, what, t.text)
		}
	}
	fn := strings.ToLower(v.call.Function)
	if holdsAny(fn, "post", "put", "patch", "delete", "send", "smtp", "upload", "connect", "socket") {
		if localURL(address) {
			return own(say("talks to this machine"))
		}
		why := say("sends data to %s by %s", address, v.call.Function)
		method := strings.ToUpper(fn[strings.LastIndex(fn, ".")+1:])
		if len(targets) == 1 && slices.Contains([]string{"POST", "PUT", "PATCH", "DELETE"}, method) {
			why = say("sends a %s request to %s", method, address)
		}
		return []Effect{usual(KindSend).with(why, address).as(Irreversible, ReachShared)}
	}
	for _, t := range targets {
		if r.leaks(t) {
			return one(KindSend, say("sends local data inside the address %s", t.text), t.text)
		}
	}
	return reads()
}
