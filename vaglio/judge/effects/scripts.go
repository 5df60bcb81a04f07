package effects

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/vaglio/judge/effects/urls"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/patch"
	readings "github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// scriptRule judges an interpreter by its files: the shell reader has read inline code and lists it separately.
func scriptRule(c *command) []Effect {
	if out := c.clientCode(c.programText()); len(out) > 0 {
		return out
	}
	if c.Wrapper && !c.r.isFetched(c.invocation, c.operand(0)) {
		return reads()
	}
	for i, a := range c.all {
		if a.text == "/dev/stdin" || a.text == "-" && !c.r.judge.tables.Nouns["script-alone"][c.name] {
			break
		}
		if out, ok := c.scriptWord(i); ok {
			return out
		}
	}
	return c.runsInput()
}

// runsInput judges an interpreter by its input.
func (c *command) runsInput() []Effect {
	switch text, all := c.input(); {
	case c.stdin.kind == shell.InputInherited || c.stdin.file.text == "/dev/null":
	case c.stdin.kind == shell.InputFile && !all:
		return c.r.runsFile(c.invocation, c.stdin.file)
	case text.remote:
		return one(KindForeignCode, say("runs downloaded code"), "")
	case !all && text.text == "":
		return unknown(say("runs code from its input that was not read"), "")
	}
	return own(say("starts %s", c.name))
}

// scriptWord judges an interpreter by one of its words, if that word decides what runs.
func (c *command) scriptWord(i int) ([]Effect, bool) {
	s := c.all[i].text
	switch {
	case givesCode(s) && (s != "-i" || !strings.HasSuffix(c.name, "awk")):
		if c.editsInPlace(s) {
			return append(own(say("edits files in place")), c.writeAll("edits", c.operands)...), true
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

// editsInPlace reports whether an option makes the interpreter change its input files.
func (c *command) editsInPlace(option string) bool {
	return c.name == "perl" && strings.Contains(option, "i") || c.name == "ruby" && strings.HasPrefix(option, "-i")
}

// givesCode reports whether program text follows an option.
func givesCode(option string) bool {
	return slices.Contains([]string{"-c", "-e", "-r", "--eval", "-p", "--print", "-E", "-n", "-ne", "-pe", "-lane", "-i"}, option) ||
		strings.HasPrefix(option, "-pi")
}

// line judges a program given on the command line. What it touches in a language that the shell reader knows is listed separately.
func (c *command) line(i int) []Effect {
	if !c.r.judge.tables.ofClass("one-liner", c.name) {
		return own(say("runs a line of %s that is not seen to touch anything else", c.name))
	}
	text := strings.ToLower(join(c.all[i:]))
	if wordclass.Within("record-call", text) || len(c.r.judge.tables.inText("line-acts", text)) > 0 {
		return unknown(say("runs a line of %s that was not read: %s", c.name, text), c.name)
	}
	return own(say("runs a line of %s", c.name))
}

func (c *command) scriptFile(i int) []Effect {
	a := c.all[i]
	if out, ok := c.scriptOf(i); ok {
		return out
	}
	if strings.Contains(a.text, "://") {
		return one(KindForeignCode, say("fetches and runs %s", a.text), a.text)
	}
	return c.r.runsFile(c.invocation, a)
}

// scriptOf judges what only this interpreter does with a word that is not an option, unless it is a file that it runs like all others.
func (c *command) scriptOf(i int) ([]Effect, bool) {
	a := c.all[i]
	switch c.name {
	case "awk", "gawk", "mawk", "nawk":
		return append(operationsRule(c), reads()...), true
	case "source", ".":
		if here, read := c.r.written(c.invocation, a); here && !read && !c.r.builtHere(c.invocation, a) {
			return nil, false
		}
		if p := c.r.world.placeOf(a, c.cwd); p != placeUnknown && p != placeTemp && !c.r.isForeign(c.invocation, a) && !c.r.fetched[lastPart(a.text)] {
			return own(say("loads %s into the shell", a.text)), true
		}
		if strings.Contains(a.text, "$(") {
			return own(say("loads generated settings into the shell")), true
		}
	}
	return c.published(i)
}

// secretsIn returns the effects of reading those files that hold secrets; how says what happens to their content.
func (r *reading) secretsIn(files []arg, cwd string, how wording.Phrase) (out []Effect) {
	for _, f := range files {
		if r.world.placeOf(f, cwd) == placeSecret {
			out = append(out, usual(KindCredentials).with(say(how, f.text), f.text))
		}
	}
	return out
}

// sql judges statements that a command sends, and the files that they read here.
func (c *command) sql(text string, where wording.Clause) []Effect {
	return append(c.r.sql(text, where), c.r.secretsIn(literals(c.r.judge.tables.FilesRead(text)), c.cwd, "shows the secrets in %s")...)
}

// published judges a program of others that its interpreter is given as a file: the script that controls a framework, an archive, or what a
// package has put among the project's commands.
func (c *command) published(i int) ([]Effect, bool) {
	folder, base := path.Split(c.all[i].text)
	if slices.Contains([]string{"manage.py", "artisan", "rails", "rake", "console", "setup.py"}, base) {
		return append(c.r.named(c.inner(base, c.all[i+1:])), c.r.reachesLive(c.invocation, base)...), true
	}
	inner := c.inner(strings.TrimSuffix(strings.TrimSuffix(base, ".jar"), ".phar"), c.all[i+1:])
	command := slices.ContainsFunc(wordclass.Of("holds-commands"), func(s string) bool { return strings.HasSuffix("/"+folder, s+"/") })
	if inner.name == base && !command || c.r.judge.tables.Judged[c.r.canonical(inner)] == nil {
		return nil, false
	}
	return append(c.r.named(inner), c.r.runsFile(c.invocation, c.all[i])...), true
}

func (c *command) module(name string, args []arg) []Effect {
	if c.r.judge.tables.Nouns["python-module"][name] {
		return c.r.named(c.inner(name, args))
	}
	if out := c.r.secretsIn(args, c.cwd, "reads the secrets in %s"); out != nil {
		return out
	}
	if file := literal(strings.ReplaceAll(name, ".", "/")); c.r.isForeign(c.invocation, file) {
		return c.r.runsFile(c.invocation, file)
	}
	return c.task(name, say("runs the module %s", name))
}

// inline judges a call of an inline program that matters: what it does to files as its operations, whatever else by its verb.
func (r *reading) inline(v *invocation) []Effect {
	what := v.Call.Function + " (" + v.Call.Language + ")"
	switch v.Call.Verb {
	case shell.VerbKill:
		who := join(argsOf(v.Call.Targets))
		return one(KindKill, spoken.Killed(texts(argsOf(v.Call.Targets)), v.Call.Language, what), who)
	case shell.VerbFork:
		return own(say("starts a process"))
	case shell.VerbEnvironment:
		return r.environmentTold(argsOf(v.Call.Targets))
	case shell.VerbNetwork, shell.VerbSend:
		return r.inlineNetwork(v, argsOf(v.Call.Targets))
	case shell.VerbClient:
		return r.libraryCall(v)
	case shell.VerbDelete, shell.VerbDeleteTree:
		if len(v.Call.Targets) == 0 {
			return unknown(say("deletes files whose names are not known by %s", what), "")
		}
	default: // The others are what they do to files.
	}
	since := len(r.did)
	out := r.inlineFiles(v)
	if v.Call.Verb == shell.VerbLink {
		r.linked(since)
	}
	if len(out) > 0 {
		return out
	}
	return reads()
}

// losesContent reports whether a file loses the content that it has when an inline program writes there: nothing, or by a pattern.
func (r *reading) losesContent(v *invocation, a arg) bool {
	text, here := r.wrote[r.world.clean(a.text, v.cwd)]
	return v.Call.Verb == shell.VerbEmpty || here && a.known && text.Is("") ||
		strings.Contains(a.text, "*") && !slices.Contains(r.inlineRead, path.Clean(a.text))
}

// inlineFiles judges what an inline program does to files. A file into which it writes nothing loses its content, and
// with a pattern every file, unless the program read them before: then it edits them.
func (r *reading) inlineFiles(v *invocation) []Effect {
	c := r.callOf(v, v.name, &noSection)
	ops := aimed(v.Call)
	var out []Effect
	for i := range ops {
		o := &ops[i]
		a := argOf(o.Object.Word)
		switch o.Phrase = inlineSaid[v.Call.Verb][min(i, 1)]; v.Call.Verb {
		case shell.VerbRead:
			r.inlineRead = append(r.inlineRead, path.Clean(a.text))
			r.makesDatabase(v, a)
		case shell.VerbList:
			r.inlineListed = append(r.inlineListed, a.within())
			continue
		case shell.VerbPermissions:
			o.Verb = operation.Permit
		case shell.VerbLink:
			if i == 0 {
				continue // where it goes to decides
			}
		case shell.VerbWrite, shell.VerbEmpty:
			if r.losesContent(v, a) {
				out = append(out, r.empty(v, a)...)
			}
		default: // The others are what their operations are.
		}
		out = append(out, c.does(o, a)...)
	}
	if len(ops) > 1 {
		sayEnds([]string{r.whole(v, argOf(ops[0].Object.Word)).text}, out)
	}
	return out
}

// within returns the folder of the names that a pattern matches, or the folder that a word names.
func (a arg) within() string { return strings.TrimRight(path.Clean(a.text), "*/.") }

// aimed returns the operations of a call, each with where it moves or copies to.
func aimed(call *shell.Call) []operation.Operation {
	ops := operation.OfCall(call)
	for i := range ops {
		ops[i].To = ops[len(ops)-1].Object.Word
	}
	if call.Verb == shell.VerbCopy && len(ops) > 0 {
		ops[0].Verb = operation.Copy
	}
	return ops
}

// inlineSaid is how the operations of calls are said, where it is not as usual.
//
//nolint:gochecknoglobals // A table.
var inlineSaid = map[shell.Verb][2]string{
	shell.VerbRead: {"reads", "reads"}, shell.VerbMove: {"", "moves files to"}, shell.VerbCopy: {"", "copies files to"}, shell.VerbLink: {"", "links files to"},
}

func (r *reading) inlineNetwork(v *invocation, targets []arg) []Effect {
	address := join(targets)
	for _, t := range targets {
		if what := r.judge.tables.urls().Credentials(t.text); what != nil {
			return one(KindCredentials, what, t.text)
		}
	}
	method := v.Call.Method
	switch {
	case v.Call.Verb == shell.VerbNetwork:
		return reads()
	case urls.Local(address), strings.HasPrefix(address, "/") && v.Call.Language == "node": // the server of the page that runs it
		return own(say("talks to this machine"))
	}
	if strings.Contains(v.Call.Function, "mail") {
		return []Effect{usual(KindPeople).with(say("sends mail to %s", address), address).as(Irreversible, ReachPublic)}
	}
	why := spoken.Sent(v.Call.Function, method, cmp.Or(address, strings.Join(v.Call.Of, "")), v.Call.Sends)
	return []Effect{usual(KindSend).with(why, address).as(Irreversible, ReachShared)}
}

// aside returns what a shell line in another language would do. Such lines may hold others.
func (r *reading) aside(line string) []Effect {
	if r.depth > 3 {
		return unknown(say("nests too deep"), line)
	}
	return r.read(readings.ReadLine(line, r.shellOptions()))
}

// read returns what a script does, without adding it to the effects.
func (r *reading) read(s *shell.Script) []Effect {
	r.depth++
	defer func() { r.depth-- }()
	before := len(r.effects)
	r.script(s)
	got := slices.Clone(r.effects[before:])
	r.effects = r.effects[:before]
	return got
}

// carriedText judges the command lines given to a terminal multiplexer.
func (c *command) carriedText() []Effect {
	out := own(say("works with a terminal session"))
	for _, a := range c.operands[1:] {
		switch {
		case slices.Contains([]string{"Enter", "C-m", "C-c", "C-d", "C-l", "Escape", "Space", "Up", "Down", "Tab", "q", "y", "n"}, a.text):
		case a.known:
			out = append(out, c.r.aside(a.text)...)
		default:
			out = append(out, unknown(say("types text that is not known into a session: %s", a.text), a.text)...)
		}
	}
	return out
}

// removes reports whether a program removes the files that it is given.
func removes(program string) bool {
	return slices.Contains([]string{"rm", "rmdir", "unlink", "shred", "trash"}, path.Base(program))
}

// deletesFound reports whether a search deletes what it found so far.
func deletesFound(class string, value shell.Word) bool {
	return class == "delete" || class == "run" && removes(argOf(value).text)
}

// runs reads a word of a command that the search runs. What is no option may be deleted, too.
func (s *search) runs(word string) {
	s.deletes = s.deletes || removes(word)
	s.negated = s.negated || !removes(word) && word != "{}" && !strings.HasPrefix(word, "-")
}

// located adds to a command's effects the file that it is in. What is unknown in a file only means that the file was not read to its end, unless the session
// wrote it: then it could have run the command itself.
func (r *reading) located(v *invocation, effects []Effect) []Effect {
	if v.File == "" {
		return effects
	}
	where := r.line(v.File, v.Line)
	by := slices.DeleteFunc(slices.Clone(v.Via), func(name string) bool { return !r.judge.tables.Known(name) }) // not a function in the file
	var out []Effect
	if r.isFetched(v, v.File) {
		out = justFetched(where)
	}
	for _, e := range effects {
		if e.Kind == KindUnknown && !v.Own {
			r.note(say("it runs a script file that was not read to its end: %s.", where))
			continue
		}
		if v.Guess && len(by) > 0 {
			e.Why = e.Why.And("(%s, which %s may run)", where, by[len(by)-1])
		} else {
			e.Why = e.Why.And("(%s)", where)
		}
		out = append(out, e)
	}
	return out
}

// shown returns a file's path as seen from the working directory.
func (r *reading) shown(file string) string { return strings.TrimPrefix(file, r.world.cwd+"/") }

// line names a line of a file.
func (r *reading) line(file string, n int) string { return r.shown(file) + ":" + strconv.Itoa(n) }

// unreadFile notes a file that was not read, or asks about it: a patch that changes what lies elsewhere, and what the session wrote.
func (r *reading) unreadFile(p *shell.Problem) {
	what := wording.Phrase("it runs a script file that was not read: %s.")
	asked := p.Detail.Phrase == shell.ImportsTooMuch && r.facts.Touched(p.Word.String()) ||
		slices.ContainsFunc(r.unparsed, func(file string) bool { return r.facts.Wrote(file) && path.Base(file) == path.Base(p.Word.String()) })
	if p.Detail.Phrase == patch.NotPart {
		what = "it applies a patch that was not read: %s."
		asked = !slices.Contains([]where{placeWorkspace, placeTemp, placeUnknown}, r.world.placeOf(argOf(p.Below), ""))
	}
	if asked {
		r.unread(p)
		return
	}
	r.note(say(what, argOf(p.Word).text))
}

// beyondWorkspace says what is special about a place of the user outside the workspace.
func beyondWorkspace(at where) wording.Phrase {
	switch at {
	case placeControl:
		return ", which steers what runs by itself or what an agent may do"
	case placeSecret:
		return ", which holds secrets"
	default:
		return wording.Outside
	}
}
