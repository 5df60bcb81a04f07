package effects

import (
	"path"
	"strings"
	"unicode"
)

// named judges a command by its name.
func (r *reading) named(v *invocation) []Effect {
	if v.call != nil {
		return r.inline(v)
	}
	if v.path == "" {
		return reads() // redirections and assignments alone
	}
	if v.box != "" && v.fresh && (strings.HasPrefix(v.path, "-") || isPath(v.path) && !systemPath(v.path)) && !v.exposed && !r.reachesHost(v) {
		return own("hands " + v.path + " to the program of a throw-away container")
	}
	if strings.HasPrefix(v.path, "-") {
		return r.named(r.behindOptions(v))
	}
	name := r.canonical(v)
	if name == "" {
		return unknown("runs a command whose name is not known: "+v.path, v.path)
	}
	if isPath(v.path) && !systemPath(v.path) && (r.cloned || r.fetched[lastPart(v.path)] || r.judge.tables.harmless[name]) {
		return r.localProgram(v)
	}
	if secs := r.judge.tables.sections[name]; secs != nil {
		return r.tabled(v, name, secs)
	}
	if r.judge.tables.harmless[name] {
		return r.reader(v)
	}
	if r.judge.tables.devtools[name] {
		return r.tool(v)
	}
	if v.wrapper {
		return reads()
	}
	if isCmdlet(v.path) {
		return r.cmdlet(v)
	}
	if task, ok := strings.CutPrefix(v.path, "npm:"); ok {
		c := &call{invocation: v, parsed: parse(v.args, &section{}), r: r}
		return c.task(task, "runs the project's script ")
	}
	if isPath(v.path) && !systemPath(v.path) {
		return r.localProgram(v)
	}
	return r.stranger(v)
}

// canonical is the name under which the tables know a command, "" when the
// name is not known.
func (r *reading) canonical(v *invocation) string {
	name := v.name
	if name == "" || strings.ContainsAny(name, "$*?") {
		return ""
	}
	t := r.judge.tables
	for _, s := range []string{".exe", ".cmd", ".bat", ".EXE"} {
		name = strings.TrimSuffix(name, s)
	}
	if t.sections[name] != nil || t.harmless[name] || t.devtools[name] {
		return name
	}
	short := strings.TrimRightFunc(name, func(r rune) bool { return unicode.IsDigit(r) || r == '.' || r == '-' })
	for _, n := range []string{short, short + "3", strings.ToLower(name)} {
		if t.sections[n] != nil || t.harmless[n] || t.devtools[n] {
			return n
		}
	}
	switch n := strings.TrimPrefix(name, "g"); n { // as Homebrew calls the GNU tools
	case "rm", "cp", "mv", "ln", "ls", "cat", "find", "sed", "awk", "tar", "date", "xargs", "grep", "sort", "head", "tail", "stat", "chmod", "chown", "chgrp", "dd", "split", "touch", "mkdir", "rmdir", "unlink", "shred", "truncate", "install", "tee", "readlink", "realpath", "timeout", "shuf", "wc", "tr", "cut", "make", "kill", "nohup", "nice", "env", "echo", "printf", "mktemp", "base64", "uniq", "paste", "comm", "join", "tac", "seq", "sha256sum", "md5sum", "numfmt", "du", "df", "id":
		return n
	}
	return name
}

// behindOptions finds the command behind options of a wrapper that the shell
// reader does not know.
func (r *reading) behindOptions(v *invocation) *invocation {
	inner := *v
	t := r.judge.tables
	for i, a := range v.args {
		inner.name, inner.path, inner.args = lastPart(a.text), a.text, v.args[i+1:]
		if n := inner.name; a.known && (t.sections[n] != nil || t.harmless[n] || t.devtools[n] || isPath(a.text)) && !strings.HasPrefix(a.text, "-") {
			return &inner
		}
	}
	inner.name, inner.path, inner.args = "$?", "$?", nil
	return &inner
}

func isPath(s string) bool { return strings.Contains(s, "/") }

// systemPath reports whether a program lies where installed programs lie.
func systemPath(s string) bool {
	for _, d := range []string{"/bin/", "/sbin/", "/usr/", "/opt/", "/snap/", "/nix/", "/System/"} {
		if strings.HasPrefix(s, d) {
			return true
		}
	}
	return false
}

// tabled judges a command by its sections.
func (r *reading) tabled(v *invocation, name string, secs []*section) []Effect {
	var last *call
	for i, sec := range secs {
		c := &call{invocation: v, parsed: parse(v.args, sec), r: r, sec: sec}
		if i == 0 {
			if out, ok := c.helpOnly(name); ok {
				return out
			}
		}
		for _, l := range sec.rules {
			if took, ok := l.match(c.parsed); ok {
				c.took = took
				return c.elsewhere(name, c.finish(l.then))
			}
		}
		if last == nil || last.sec.fallback.effect.Kind == KindUnknown {
			last = c
		}
	}
	if e := last.sec.fallback.effect; e.Kind == KindOverwrite && e.Reach == ReachWorkspace {
		if out := last.outreach(); out != nil {
			return out
		}
	}
	return last.elsewhere(name, last.finish(last.sec.fallback))
}

// helpOnly reports whether a call asks a known program for its help only.
func (c *call) helpOnly(name string) ([]Effect, bool) {
	switch name {
	case "bash", "sh", "zsh", "python", "python3", "node", "ruby", "perl", "php", "deno", "find", "xargs", "make", "npx", "bunx", "pnpx", "uvx", "sudo", "source", ".", "java":
		return nil, false
	}
	if c.has("--dry-run", "--dryrun", "--dry_run", "--just-print", "--what-if", "--whatif", "-WhatIf") {
		if v, ok := c.value("--dry-run", "--dryrun"); !ok || v.text != "none" && v.text != "false" {
			return reads(), true
		}
	}
	if c.has("--help") && (!c.wrapper || name == "crontab" || name == "at" || name == "batch") || len(c.operands) == 0 && len(c.all) == 1 && c.has("--version", "-V", "-version") {
		return reads(), true
	}
	return nil, false
}

// finish turns an outcome into effects.
func (c *call) finish(o outcome) []Effect {
	if o.rule != "" {
		out := c.r.judge.rules[o.rule](c)
		if len(out) == 0 {
			return reads()
		}
		return out
	}
	e := o.effect
	target := c.rest(c.took)
	if target == "" && o.why == "" || strings.Contains(o.why, "%") && target == "" {
		target = join(c.all)
	}
	if e.Target = target; target == "" {
		e.Target = strings.TrimSpace(c.name + " " + join(c.all))
	}
	e.Why = strings.ReplaceAll(o.why, "%", target)
	if e.Why == "" {
		e.Why = e.Kind.phrase() + " " + c.name + " " + target
	}
	switch {
	case e.Kind == KindRead:
		return c.r.disclosures(c.invocation, c.parsed, []Effect{e})
	case e.Kind == KindUnknown:
		e.Why = "does something with " + c.name + " that is not known: " + c.name + " " + join(c.all)
	case e.Kind == KindOverwrite && e.Reach == ReachWorkspace:
		return append(c.outputs(), e)
	}
	return []Effect{e}
}

// outreach finds in the first words of a command of a development tool a verb
// by which such tools leave the workspace, so that what is taken for work in
// the workspace by default does not swallow it.
func (c *call) outreach() []Effect {
	if c.has("--push", "--publish", "--deploy", "--upload") {
		if v, ok := c.value("--push", "--publish", "--deploy", "--upload"); !ok || v.text != "never" && v.text != "false" {
			return one(KindPublish, "publishes by "+c.name+": "+join(c.all), c.rest(0))
		}
	}
	for _, a := range c.operands[:min(3, len(c.operands))] {
		w := strings.ToLower(a.text)
		if i := strings.LastIndexAny(w, ":-"); i >= 0 && !strings.ContainsAny(w, "./") {
			w = w[i+1:]
		}
		switch w {
		case "deploy", "publish", "upload", "push", "submit", "undeploy", "unpublish", "promote", "rollout":
			return one(KindPublish, "publishes by "+c.name+": "+c.rest(0), c.rest(0))
		case "destroy", "purge", "wipe", "nuke", "terminate", "teardown":
			return one(KindDelete, "destroys something by "+c.name+": "+c.rest(0), c.rest(0))
		}
	}
	return nil
}

// outputs are the effects of options that name files to write.
func (c *call) outputs() []Effect {
	var out []Effect
	for _, a := range c.values("-o", "--output", "--out", "--outfile", "--output-file", "--outdir", "--out-dir", "--output-dir", "--dest", "--destination", "--outFile", "--outDir") {
		out = append(out, c.r.write(c.invocation, a, "writes")...)
	}
	return out
}

// stranger judges a command that no table knows.
func (r *reading) stranger(v *invocation) []Effect {
	if len(v.via) > 0 {
		switch by := v.via[len(v.via)-1]; by {
		case "npx", "bunx", "npm", "pnpm", "yarn":
			return reads() // the runner's own rule has judged the package
		case "poetry", "bundle", "pdm", "pipenv", "hatch", "rye", "uv run", "rye run":
			c := &call{invocation: v, parsed: parse(v.args, &section{}), r: r}
			return c.task(v.name, "runs the project's ")
		}
	}
	if v.box != "" && v.fresh && !v.exposed && !r.reachesHost(v) {
		return own("runs " + v.name + " in a throw-away container")
	}
	p := parse(v.args, &section{})
	if len(p.operands) <= 1 && p.has("--help", "--version", "-V", "-h", "--dry-run") && len(p.all) <= 2 {
		return reads()
	}
	if first := p.operand(0); first != "" && len(v.name) > 1 {
		if known, ok := r.judge.tables.verbs[strings.ToLower(first)]; ok && known.effect.Kind == KindRead && !known.weak {
			e := usual(KindRead).with("seems to read only: "+v.name+" "+first, "")
			e.Sure = 0.5
			return []Effect{e}
		}
	}
	return unknown("runs a program that is not known: "+v.name+" "+join(v.args), v.name)
}

// localProgram judges a program or script that is named by its path.
func (r *reading) localProgram(v *invocation) []Effect {
	return r.runsFile(v, literal(v.path), strings.TrimSuffix(path.Base(v.path), path.Ext(v.path)))
}
