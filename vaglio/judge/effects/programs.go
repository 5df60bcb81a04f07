package effects

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/metnos/vaglio/vaglio/commands"
	"github.com/metnos/vaglio/vaglio/operation"
	readings "github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// named judges a command by its name.
func (r *reading) named(v *invocation) []Effect {
	if v.Call != nil {
		return r.inline(v)
	}
	if v.path == "" {
		return reads() // redirections and assignments alone
	}
	name, begins := r.canonical(v), strings.HasPrefix(v.path, "-")
	if (begins || v.byPath() && r.judge.tables.Judged[name] == nil) && r.thrownAway(v) {
		return own(say("hands %s to the program of a throw-away container", v.path))
	}
	if begins {
		return r.named(r.behindOptions(v))
	}
	if name == "" {
		return unknown(say("runs a command whose name is not known: %s", v.path), v.path)
	}
	return r.tableOf(v, name)
}

// tableOf judges a command by the first table that knows it, unless a file may only pretend to be that program.
func (r *reading) tableOf(v *invocation, name string) []Effect {
	t := r.judge.tables
	if v.byPath() && r.posing(v, name) {
		return r.runsUnread(v)
	}
	if secs := t.Judged[name]; secs != nil {
		return r.stricter(v, r.tabled(v, name, secs))
	}
	if t.Harmless[name] {
		return r.reader(v)
	}
	if t.Devtools[name] {
		return r.stricter(v, r.tool(v))
	}
	if v.Wrapper {
		return reads()
	}
	if v.byPath() && !strings.HasPrefix(v.path, "npm:") {
		return r.runsUnread(v)
	}
	return r.stranger(v)
}

// posing reports whether a file may be a different program than its name says.
func (r *reading) posing(v *invocation, name string) bool {
	at := literal(v.path)
	if here, read := r.written(v, at); here && !read && !r.installed(v) {
		return true
	}
	return r.world.placeOf(at, v.cwd) == placeTemp || r.builtHere(v, at) || r.isForeign(v, at) || r.fetched[lastPart(v.path)] || r.judge.tables.Harmless[name]
}

// runsUnread returns the effects of a program that nobody read: also of handing it something of the user's that steers other programs.
func (r *reading) runsUnread(v *invocation) []Effect {
	for _, a := range v.args {
		if p := r.world.clean(a.text, v.cwd); isPath(a.text) && v.direct() && !r.world.inside(p) && r.world.placeOf(a, v.cwd) == placeControl {
			return unknown(say("hands %s to %s, which was not read", a.text, v.path), a.text)
		}
	}
	return r.runsFile(v, literal(v.path))
}

// byPath reports whether a command is a file named by its path, and not an installed program.
func (v *invocation) byPath() bool { return isPath(v.path) && !systemPath(v.path) }

// thrownAway reports whether a command runs in a container that is created for it and sees nothing of the host.
func (r *reading) thrownAway(v *invocation) bool {
	return v.fresh && r.sealed(v)
}

// canonical returns the name that the tables know a command by, "" if the name is unknown.
func (r *reading) canonical(v *invocation) string {
	name := v.name
	if name == "" || strings.ContainsAny(name, "$*?") {
		return ""
	}
	t := r.judge.tables
	for _, s := range []string{".exe", ".cmd", ".bat", ".EXE"} {
		name = strings.TrimSuffix(name, s)
	}
	if t.Known(name) {
		return name
	}
	short := strings.TrimRightFunc(name, func(r rune) bool { return unicode.IsDigit(r) || r == '.' || r == '-' })
	for _, n := range []string{short, short + "3", strings.ToLower(name)} {
		if t.Known(n) {
			return n
		}
	}
	if n := strings.TrimPrefix(name, "g"); t.Nouns["gnu-tool"][n] {
		return n
	}
	machine, _, _ := strings.Cut(name, "-") // as in arm-none-eabi-gcc
	if n := name[strings.LastIndexByte(name, '-')+1:]; wordclass.Is("machine", machine) && t.Known(n) {
		return n
	}
	return name
}

// behindOptions returns the command after options of a wrapper that the shell reader does not know.
func (r *reading) behindOptions(v *invocation) *invocation {
	inner := *v
	t := r.judge.tables
	for i, a := range v.args {
		inner.name, inner.path, inner.args = lastPart(a.text), a.text, v.args[i+1:]
		if n := inner.name; a.known && (t.Known(n) || isPath(a.text)) && !strings.HasPrefix(a.text, "-") {
			return &inner
		}
	}
	inner.name, inner.path, inner.args = "$?", "$?", nil
	return &inner
}

func isPath(s string) bool { return strings.Contains(s, "/") }

// systemPath reports whether a program is where installed programs are.
func systemPath(s string) bool {
	return startsAny(s, "/bin/", "/sbin/", "/usr/", "/opt/", "/snap/", "/nix/", "/System/")
}

// tabled judges a command by its sections.
func (r *reading) tabled(v *invocation, name string, secs []*commands.Section) []Effect {
	var last *command
	for i, sec := range secs {
		c := r.callOf(v, name, sec)
		if i == 0 {
			if out, ok := c.helpOnly(name); ok {
				return out
			}
		}
		if o := c.holds(); o != nil {
			return c.elsewhere(name, c.directed(c.finish(*o)))
		}
		if last == nil || last.sec.Else.Kind == KindUnknown {
			last = c
		}
	}
	if e := last.sec.Else; e.Kind == KindOverwrite && e.Reach == ReachWorkspace {
		if out := last.outreach(); out != nil {
			return out
		}
	}
	return last.elsewhere(name, last.directed(last.finish(last.sec.Else)))
}

// shared judges what follows the matched operands by lines that several programs share.
func (c *command) shared(name string) []Effect {
	c.sec = c.r.judge.tables.Judged[name][0]
	return c.finish(*cmp.Or(c.holds(), &c.sec.Else))
}

// holds returns the outcome of the section's first line that holds for what follows the matched operands, nil if there is none. That line matches more of them.
func (c *command) holds() *commands.Outcome {
	for i := range c.sec.Lines {
		then := &c.sec.Lines[i].Then
		if took, ok := c.sec.Lines[i].Match(&c.Parsed, c.took); ok && (then.Kind != KindRead || !c.changesNext(took)) {
			c.took = took
			return then
		}
	}
	return nil
}

// callOf returns a command as a section reads its words.
func (r *reading) callOf(v *invocation, name string, sec *commands.Section) *command {
	c := &command{invocation: v, parsed: r.parse(name, v.args), r: r, sec: sec, called: name}
	c.Asked, c.Fed = c.asked, v.stdin.kind != shell.InputInherited
	return c
}

// stranger judges a command that no table knows.
func (r *reading) stranger(v *invocation) []Effect {
	c := &command{invocation: v, parsed: r.parse(v.name, v.args), r: r, called: r.canonical(v)}
	if task, ok := strings.CutPrefix(v.path, "npm:"); ok {
		return c.task(task, say("runs the project's script %s", task))
	}
	if n := len(v.Via); n > 0 {
		switch t, by := r.judge.tables, strings.ReplaceAll(v.Via[n-1], " ", "-"); {
		case t.ofClass("runs-package", by):
			return reads() // the runner's own rule has judged the package
		case t.ofClass("runs-project-program", by):
			return c.task(v.name, say("runs the project's %s", v.name))
		}
	}
	if r.thrownAway(v) {
		return own(say("runs %s in a throw-away container", v.name))
	}
	if len(c.operands) <= 1 && c.has("--help", "--version", "-V", "-h", "--dry-run") && len(c.all) <= 2 {
		return reads()
	}
	if first := c.operand(0); len(v.name) > 1 && r.readingVerb(first) {
		e := usual(KindRead).with(say("seems to read only: %s %s", v.name, first), "")
		e.Sure = 0.5
		return c.disclosures([]Effect{e})
	}
	if reach, ok := r.judge.opts.Programs[v.name]; ok {
		return c.disclosures([]Effect{taught(v, reach)})
	}
	return r.cmdlet(v)
}

// cmdlet judges a program that is not known by its name, if that is one of PowerShell's.
func (r *reading) cmdlet(v *invocation) []Effect {
	said, verb := spoken.Cmdlet(v.name, texts(v.args), readings.Words)
	if said == nil {
		if r.makesProgram(v) {
			return own(say("runs the project's %s", v.name))
		}
		return unknown(say("runs a program that is not known: %s %s", v.name, join(v.args)), v.name)
	}
	e := usual(KindInfrastructure).as(Partial, ReachShared)
	if r.judge.tables.verbs[verb].effect.Kind == KindDelete {
		e = usual(KindDelete).as(Irreversible, ReachShared)
	}
	e.Sure = 0.6
	return []Effect{e.with(said, v.name)}
}

// readingVerb reports whether a word is a verb that only reads, and not usually a noun.
func (r *reading) readingVerb(word string) bool {
	v := r.judge.tables.verbs[strings.ToLower(word)]
	return v.effect.Kind == KindRead && !v.weak
}

// taught returns the effect of a program whose reach the owner states.
func taught(v *invocation, reach Reach) Effect {
	why := sayOf("runs %s, of which the policy says that it reaches: %s", object(v.name+" "+join(v.args)), object(string(reach)))
	return usual(KindOverwrite).with(why, v.name).as(Partial, reach)
}

// stricter adds what the owner says about a known program: it may reach further than the tables say, never less.
func (r *reading) stricter(v *invocation, out []Effect) []Effect {
	reach, ok := r.judge.opts.Programs[v.name]
	if !ok || reach == ReachWorkspace || onlyReads(out) {
		return out
	}
	return append(out, taught(v, reach))
}

// reader judges a command that only reads, but for the files that the tables or the names of its options say it writes.
func (r *reading) reader(v *invocation) []Effect {
	c := &command{invocation: v, parsed: r.parse("(reader)", v.args), r: r, called: r.canonical(v)}
	var written []Effect
	for _, o := range c.told().Operations {
		if o.Verb == operation.Write || o.Verb == operation.Replace {
			written = append(written, c.operation(&o)...)
		}
	}
	if written == nil {
		written = c.writeAll("writes", r.outputs(v, "--"))
	}
	return c.disclosures(append(one(KindRead, c.looksAt(), ""), written...))
}

// looksAt says with what a command reads or, on another machine, what.
func (c *command) looksAt() wording.Sentence {
	var files []string
	t := c.told()
	for i := range t.Operations {
		if o := &t.Operations[i]; o.Verb == operation.Read && !o.Object.Word.HasUnknown() {
			files = append(files, o.Object.Word.String())
		}
	}
	files = slices.DeleteFunc(files, func(s string) bool { return s == "" || s[0] == '-' || strings.Trim(s, "0123456789") == "" })
	if c.afarName() == "" || len(files) == 0 {
		return say("reads with %s", c.name)
	}
	return sayOf("reads %s", wording.List(files))
}

func (r *reading) tool(v *invocation) []Effect {
	c := r.callOf(v, "(tool)", nil)
	if out := c.outreach(); out != nil {
		return out
	}
	out := append(own(say("runs %s in the workspace", v.name)), r.secretsIn(c.operands, v.cwd, "reads the secrets in %s")...)
	for _, a := range c.operands { // A tool is not handed what steers what runs by itself only to read it.
		if r.world.placeOf(a, v.cwd) == placeControl && c.beyond(a) {
			out = append(out, r.write(v, a, "writes")...)
		}
	}
	return append(out, c.written()...)
}

// outreach looks for a verb in a development tool's first words with which such tools leave the workspace, which the default, work in it, would hide.
func (c *command) outreach() []Effect {
	if c.has("--push", "--publish", "--deploy", "--upload") {
		if v, ok := c.value("--push", "--publish", "--deploy", "--upload"); !ok || v.text != "never" && v.text != "false" {
			return one(KindPublish, say("publishes by %s: %s", c.name, join(c.all)), c.rest(0))
		}
	}
	if readings.WorksOn(c.name) || c.r.judge.tables.ofClass("test-runner", c.name) { // a folder may be named deploy
		return nil
	}
	for _, a := range c.operands[:min(3, len(c.operands))] {
		w := strings.ToLower(a.text)
		if i := strings.LastIndexAny(w, ":-"); i >= 0 && !strings.ContainsAny(w, "./") {
			w = w[i+1:]
		}
		switch t := c.r.judge.tables; {
		case t.ofClass("outreach-publishes", w):
			return one(KindPublish, say("publishes by %s: %s", c.name, c.rest(0)), c.rest(0))
		case t.ofClass("outreach-destroys", w):
			return one(KindDelete, say("destroys something by %s: %s", c.name, c.rest(0)), c.rest(0))
		}
	}
	return nil
}

// written returns the effects of options that name files to write.
func (c *command) written() []Effect {
	defer c.built(len(c.r.did))
	return c.writeAll("writes", append(c.values("-o", "-femit-bin"), c.r.outputs(c.invocation, "--")...))
}

// elsewhere returns what a command that otherwise only reads or works in the workspace writes outside of it: the files that its options call an output.
func (r *reading) elsewhere(v *invocation, named []Effect) []Effect {
	if v.Call != nil || slices.ContainsFunc(named, func(e Effect) bool { return e.Kind != KindRead && e.Counts() != ReachWorkspace }) {
		return nil
	}
	files := r.outputs(v, "-")
	if len(files) == 0 {
		return nil
	}
	c := &command{invocation: v, parsed: &parsed{}, r: r}
	return c.writeAll("writes", slices.DeleteFunc(files, func(a arg) bool { return !c.beyond(a) }))
}

// outputs returns the values of long options whose names begin with some dashes and say that they are files or folders to write.
func (r *reading) outputs(v *invocation, dashes string) []arg {
	if r.judge.tables.ofClass("only-text", v.name) {
		return nil
	}
	var out []arg
	for i, a := range v.args {
		name, _, glued := strings.Cut(a.text, "=")
		switch {
		case !strings.HasPrefix(name, dashes) || !r.judge.tables.namesOutput(name):
		case glued:
			out = append(out, a.slice(len(name)+1))
		case i+1 < len(v.args) && !strings.HasPrefix(v.args[i+1].text, "-"):
			out = append(out, v.args[i+1])
		}
	}
	return out
}

// namesOutput reports whether a long option's name says that its value is a file or folder to write.
func (t *tables) namesOutput(option string) bool {
	if len(option) <= 2 || option[0] != '-' {
		return false
	}
	is := t.ofClass("output-option", strings.TrimLeft(option, "-"))
	for w := range readings.EachWord(option) {
		if t.ofClass("no-output-word", w) {
			return false
		}
		is = is || t.ofClass("output-word", w)
	}
	return is
}

// wasRead reports whether a file that runs was read as a program, so that what it does is told apart from its name.
func (r *reading) wasRead(v *invocation, file arg) bool {
	name := r.world.clean(file.text, v.cwd)
	if !file.known || v.host != "" || r.means.Files == nil || slices.Contains(r.unparsed, name) {
		return false
	}
	_, read := r.means.Files.Content(name)
	return read
}
