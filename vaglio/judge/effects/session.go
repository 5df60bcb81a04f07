package effects

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects/urls"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/shell"
)

// tell records what is done to a file for later calls of the session.
func (r *reading) tell(v *invocation, deed vaglio.Deed, a arg) {
	p := r.world.clean(a.text, v.cwd)
	lost := deed == vaglio.Moved && !a.known                                  // What was moved to where nobody keeps anything is missed with it.
	if deed == vaglio.Wrote && r.world.places.Classes(p)&place.Nowhere != 0 { // a device keeps nothing
		return
	}
	if v.direct() && (lost || (a.known || isFresh(a)) && path.IsAbs(p)) {
		r.did = append(r.did, vaglio.Fact{Deed: deed, Path: p})
	}
}

// made reports whether the session, or the call itself, made what is at a path, where nothing was before, and nothing was put there from elsewhere.
func (r *reading) made(v *invocation, p string) bool {
	if v.host != "" || r.facts.Made(p) {
		return v.host == ""
	}
	made, _ := r.madeAt(p)
	return v.box == "" && made != "" && r.isAbsent(made)
}

// refills reports whether the call itself writes below a path at which nothing is: a folder that it empties before it fills it.
func (r *reading) refills(p string) bool {
	_, filled := r.madeAt(p)
	return filled && r.isAbsent(p)
}

func (r *reading) isAbsent(p string) bool { return r.means.Absent != nil && r.means.Absent(p) }

// isReplaced reports whether what lies at a path says nothing of what the call puts there.
func (r *reading) isReplaced(p string) bool { return r.isAbsent(p) || place.Inside(r.repacked, p) }

// madeAt returns the first of what the call makes that a path is, or lies in, and whether it makes
// anything below the path. There is neither if something is put there from elsewhere.
func (r *reading) madeAt(p string) (made string, below bool) {
	other := false
	for at, facts := range [][]vaglio.Fact{r.facts, r.did} {
		earlier := at == 0
		for i := range facts {
			f := &facts[i]
			over, under := lies(p, f.Path)
			switch {
			case !over && !under:
			case f.Deed == vaglio.Moved:
				return "", false
			case f.Deed == vaglio.Unpacked, f.Deed == vaglio.Brought:
				other = true
			case over && makes(f, earlier):
				made = cmp.Or(made, f.Path)
			}
			below = below || under && makes(f, false)
		}
	}
	return made, below && !other
}

// lies reports whether a path is another or lies in it, and whether the other lies in the path.
func lies(p, other string) (over, under bool) {
	if n := min(len(p), len(other)); p[:n] != other[:n] {
		return false, false // as of most pairs of paths, which are many
	}
	return place.Inside([]string{other}, p), place.Inside([]string{p}, other)
}

// makes reports whether a fact is that something was made: on the spot, or earlier, by a program that was given its name.
func makes(f *vaglio.Fact, earlier bool) bool {
	return earlier && f.Deed == vaglio.Named || slices.Contains([]vaglio.Deed{vaglio.Wrote, vaglio.Built, vaglio.Fetched}, f.Deed)
}

// linked marks what was recorded since as moved from elsewhere: what a link leads to does not belong to the session.
func (r *reading) linked(since int) {
	for i := since; i < len(r.did); i++ {
		r.did[i].Deed, r.did[i].Link = vaglio.Moved, true
	}
}

// built marks what was recorded since as built by a program from the operands. What is built from a download counts as one.
func (c *command) built(since int) {
	from := c.stdin.text.remote || slices.ContainsFunc(c.operands, func(a arg) bool { return c.r.fetched[lastPart(a.text)] })
	for i := since; i < len(c.r.did); i++ {
		c.r.did[i].Deed = vaglio.Built
		if from {
			c.r.fetched[path.Base(c.r.did[i].Path)] = true
		}
	}
}

// unpacked records the folders that a command unpacks into without naming files: those recorded
// since, or else its current folder. One that only lists an archive unpacks nothing.
func (r *reading) unpacked(v *invocation, since int, does []Effect) {
	if !r.unpacks && !r.judge.tables.ofClass("unpacks", v.name) || len(does) > 0 && onlyReads(does) {
		return
	}
	foreign := r.clones || v.stdin.text.remote || slices.ContainsFunc(v.args, func(a arg) bool { return r.fetched[lastPart(a.text)] })
	r.unpacks, r.clones = false, false
	told := slices.Clone(r.did[since:])
	if len(told) == 0 {
		r.tell(v, vaglio.Unpacked, literal(path.Join(v.cwd, r.repository)))
	}
	for _, f := range told {
		r.did = append(r.did, vaglio.Fact{Deed: vaglio.Unpacked, Path: f.Path})
	}
	r.repacks(v, since)
	for _, f := range r.did[since:] {
		if r.repository != "" {
			r.repositories = append(r.repositories, f.Path)
		}
	}
	if foreign {
		r.putForeign(since)
	}
	r.repository = ""
}

// repacks records the folders that a command fills from an archive which the session, or the call before, put there, or which lies elsewhere.
func (r *reading) repacks(v *invocation, since int) {
	given := slices.ContainsFunc(v.args, func(a arg) bool {
		at := r.world.clean(a.text, v.cwd)
		return path.Ext(at) != "" && (!r.world.inside(at) || r.facts.Touched(at) || r.did[:since].Touched(at))
	})
	for i := since; given && i < len(r.did); i++ {
		r.repacked = append(r.repacked, r.did[i].Path)
	}
}

// runsUnpacked returns the effect of running what is in a folder that was unpacked in this session and was not read. A file that runs is read by itself.
func (r *reading) runsUnpacked(v *invocation) []Effect {
	if !v.direct() || r.means.Files == nil {
		return nil
	}
	earlier, before := r.facts.Has(vaglio.Unpacked) && r.judge.tables.RunsProject(v.name, texts(v.args)), ""
	if !earlier && v.name != "git" {
		return nil
	}
	for _, a := range append(slices.Clone(v.args), literal(v.cwd)) {
		at := r.world.clean(a.text, v.cwd)
		git := (a.text == v.cwd || before == "-C") && r.bringsRepository(v, at)
		if before = a.text; git || earlier && r.runsFolder(v, a, at) {
			return unknown(say("runs what was put into %s in this session and could not be read", a.text), a.text)
		}
	}
	return nil
}

// bringsRepository reports whether the call unpacks into a folder that was not there what git may obey, other than by cloning.
func (r *reading) bringsRepository(v *invocation, folder string) bool {
	return v.name == "git" && r.did.Unpacked(path.Join(folder, "*")) && r.isAbsent(folder) && !place.Inside(r.repositories, folder)
}

// mayBeFolder reports whether a word may name a folder of this machine.
func (r *reading) mayBeFolder(a arg, at string) bool {
	ext := path.Ext(a.text)
	named := len(ext) > 1 && ext[1] > '9' // not a version, as in app-1.2
	return a.known && !named && (isPath(a.text) && !urls.IsFar(a.text) || r.facts.Made(at) && !r.isAbsent(at))
}

// unreadIn reports whether a folder, other than the call's own, was unpacked in this session and nothing of it was read.
func (r *reading) unreadIn(folder string) bool {
	if folder == r.world.cwd || !r.facts.Unpacked(path.Join(folder, "*")) || r.facts.Let(folder) {
		return false
	}
	found, _ := r.means.Files.Below(folder, -1, func(string) bool { return true })
	return len(found) == 0
}

// builtHere reports whether this call or the session built a file, and nobody has replaced it since.
func (r *reading) builtHere(v *invocation, file arg) bool {
	name := r.world.clean(file.text, v.cwd)
	return v.direct() && (file.known && r.inEnvironment(name) ||
		r.did.Built(name) && (file.known || isFresh(file)) || file.known && !r.did.Wrote(name) && r.facts.Built(name))
}

// isFresh reports whether a path is in a temporary folder that a program makes when it runs.
func isFresh(a arg) bool {
	return (strings.HasPrefix(a.text, "/tmp/$(temporary())/") || strings.HasPrefix(a.text, made+"/")) && !strings.Contains(a.text, "..")
}

// written reports whether the session itself, or this call, wrote a file that runs, and whether its content was read.
func (r *reading) written(v *invocation, file arg) (here, read bool) {
	if !file.known || v.host != "" {
		return false, false
	}
	name := r.world.clean(file.text, v.cwd)
	if w, here := r.wrote[name]; here {
		return true, w.OfFiles() && !slices.Contains(r.unparsed, name)
	}
	if v.direct() && r.did.Unpacked(name) && r.isReplaced(name) {
		return true, false
	}
	if earlier := r.facts.Wrote(name) || r.facts.Unpacked(name); !earlier || r.means.Files == nil {
		return r.putBefore(v, name), false
	}
	_, read = r.means.Files.Content(name)
	return true, read && !slices.Contains(r.unparsed, name)
}

// runsWritten returns the effect of running a file that the session itself wrote, nil if its place decides.
func (r *reading) runsWritten(v *invocation, file arg) []Effect {
	here, read := r.written(v, file)
	switch p := r.world.placeOf(file, v.cwd); {
	case here && read && p == placeTemp:
		return own(say("runs %s", file.text))
	case here && !read && p == placeWorkspace:
		return unknown(say("runs %s, which was written in this session and could not be read", file.text), file.text)
	case (!here || !read) && p == placeWorkspace && r.isAmongFetched(path.Dir(r.world.clean(file.text, v.cwd))):
		return one(KindForeignCode, say("runs %s, which may just have been fetched", file.text), file.text)
	}
	return nil
}

// dynamic turns a text that runs, and that is only known when it runs, into an effect. Objects that are made of what
// some file holds are nothing to ask about unless something was fetched.
func (r *reading) dynamic(p *shell.Problem) {
	switch a := argOf(p.Word); {
	case p.Interpreter == "eval" && r.trustedSetup(a):
		r.add(own(say("sets the shell up by %s", a.from[0]))...)
	case p.Detail.Phrase != shell.RestoresUnnamed || len(r.fetched)+len(r.foreign) > 0 || r.facts.Has(vaglio.Unpacked):
		r.unread(p)
	}
}

// ofSession asks about files that run and that the session, or the call, wrote and of which the call could not read
// everything: a text that was harmless when it was read by itself may be cut short among others.
func (r *reading) ofSession(s *shell.Script) {
	if len(s.Stays) > 0 {
		r.did = append(r.did, vaglio.Fact{Deed: vaglio.Exported, Words: s.Stays})
	}
	for _, file := range s.Unparsed {
		_, here := r.wrote[file]
		_, known := r.facts.Text(file)
		if here || r.facts.Wrote(file) && (!known || slices.Contains(r.facts.Loaded(), file)) {
			r.add(unknown(say("runs %s, which was written in this session and could not be read", r.shown(file)), r.shown(file))...)
		}
	}
}

// input is like [invocation.input], but includes the content of files that the input consists of, as far as they were read with the call.
func (c *command) input() (arg, bool) {
	text, all := c.invocation.input()
	if all || len(c.stdin.word.Parts()) == 0 || !c.direct() {
		return text, all
	}
	if told, known := c.r.textOf(c.stdin.word); known {
		return literal(told), true
	}
	return text, false
}

// sendsFile reports whether the input is a file, or comes from a command that reads files.
func (c *command) sendsFile() bool {
	return c.stdin.kind == shell.InputFile && c.stdin.file.text != "/dev/null" || c.stdin.piped &&
		slices.ContainsFunc(c.stdin.text.from, func(f string) bool { return c.r.judge.tables.ofClass("sends-file", f) })
}

// handed returns the content of files of this machine that are the input of a client elsewhere.
func (c *command) handed() (string, bool) {
	if !c.stdin.here || c.direct() || len(c.stdin.word.Parts()) == 0 {
		return "", false
	}
	return c.r.textOf(c.stdin.word)
}

// readsOn reports whether a client still reads its input after what it is told. Startup commands run before that.
func (c *command) readsOn() bool {
	told := len(c.about) + len(c.with)
	for i := range c.Flags {
		if name := strings.TrimLeft(c.Flags[i].Name, "-"); c.Flags[i].Has && (name == "cmd" || strings.HasPrefix(name, "init")) {
			told--
		}
	}
	return told <= 0
}

// starts records a program that keeps running after the call, or that makes what follows wait.
func (r *reading) starts(v *invocation) {
	if v.name == "echo" && join(v.args) == "$!" && len(v.writes) == 1 && !v.appends[0] { // the number of what it started
		r.tell(v, vaglio.Kept, v.writes[0])
	}
	if r.exports(v); v.direct() {
		if r.judge.tables.ofClass("waits", v.name) {
			r.did = append(r.did, vaglio.Fact{Deed: vaglio.Awaited})
		}
		r.opensPort(v)
	}
	if (r.stays || v.Background) && v.path != "" && v.host == "" {
		set := lists.Each(v.assigns, func(a assignment) string { return a.name + "=" + a.value.text })
		f := vaglio.StartedBy(v.cwd, slices.Concat([]string{v.path}, texts(v.args), set))
		r.did = append(r.did, f)
		r.running.Begin(f)
	}
}

// leaves records what later calls need to know about the whole call, and adds an effect if it works outside every workspace.
func (r *reading) leaves(p vaglio.Proposal) {
	for i := range r.did {
		if r.fetched[path.Base(r.did[i].Path)] || r.wrote[r.did[i].Path].Remote() {
			r.did[i].Deed = vaglio.Fetched
		}
	}
	r.replaced()
	r.emptied()
	r.keepsFar()
	changes := false
	for i := range r.effects {
		e := &r.effects[i]
		changes = changes || e.Kind != KindRead
		if e.Kind == KindInstall {
			r.did = append(r.did, vaglio.Fact{Deed: vaglio.Installed, Words: []string{e.Target}})
		}
	}
	if s := p.Context.Site; s != nil && s.Outside && changes {
		r.add(usual(KindOverwrite).with(say("works in %s, which is not one of the workspaces", p.Context.Cwd), "").as(Partial, ReachUser))
	}
}

// replaced adds an effect if a folder that is searched first contains a program with the name of the gate, or of a known program if nobody read it.
func (r *reading) replaced() {
	for _, facts := range [][]vaglio.Fact{r.facts, r.did} {
		for i := 0; i < len(facts) && len(r.ahead) > 0; i++ {
			switch at := facts[i].Path; {
			case !slices.Contains(r.ahead, path.Dir(at)):
			case r.judge.tables.ofClass("gate-program", path.Base(at)):
				r.add(usual(KindSafeguardOff).with(say("puts another program in the place of %s", path.Base(at)), at))
			case r.poses(&facts[i]):
				r.add(unknown(say("puts %s, which was not read, in the place of another program", at), at)...)
			}
		}
	}
}

// looksFor notes whether a search for processes only finds the session's own. A pattern in the list that ps prints looks for what pgrep -f would.
func (r *reading) looksFor(v *invocation) {
	if v.name == "cat" && len(v.args) == 1 {
		r.readsNumber(v)
	}
	name, words, p := v.name, texts(v.args), func() *parsed { return r.parse(v.name, v.args) }
	switch listed := r.processes == v; {
	case listed && r.judge.tables.ofClass("passes-on", v.name) && !p().has("-v", "--invert-match") && p().operand(0) != "":
		name, words = "pgrep", []string{"-f", p().operand(0)}
	case listed, v.name == "ps":
		r.processes = v.into
	}
	if own, ok := r.running.Finds(name, words); ok {
		r.sought = append(r.sought, own)
	}
}

// readsNumber notes whether a file that is read holds the number of what the session started.
func (r *reading) readsNumber(v *invocation) {
	text := "$(cat " + v.args[0].text + ")"
	other, seen := r.numbers[text]
	own := v.args[0].known && v.direct() && slices.Concat(r.facts, r.did).Keeps(r.world.clean(v.args[0].text, v.cwd))
	r.numbers[text] = own && (other || !seen)
}

// shownBy returns the command that shows what this one prints, past those that only order it.
func (v *invocation) shownBy(t *tables) *invocation {
	named := func(a arg) bool { return !strings.HasPrefix(a.text, "-") || strings.Contains(a.text, "o") }
	n := v.into
	for n != nil && n.stdin.piped && t.ofClass("orders", n.name) && !slices.ContainsFunc(n.args, named) {
		n = n.into
	}
	return n
}

// runsOwn reports whether a program runs nothing of the project around it, or only files of the session, which were read with what they import.
func (r *reading) runsOwn(v *invocation, name string, args []arg) bool {
	files, isSource := args[:min(1, len(args))], func(a arg) bool { return strings.HasSuffix(a.text, ".go") }
	if name == "go" && len(args) > 1 && args[0].text == "run" && isSource(args[1]) {
		files = slices.DeleteFunc(slices.Clone(args[1:]), func(a arg) bool { return !isSource(a) })
	} else if !r.judge.tables.IsInterpreter(name) {
		files = nil
	}
	return !r.judge.tables.RunsProject(name, texts(args)) ||
		len(files) > 0 && !slices.ContainsFunc(files, func(a arg) bool { _, read := r.written(v, a); return !read })
}

// isAmongFetched reports whether files whose names nobody knows were fetched by the call, or before into a folder.
func (r *reading) isAmongFetched(folder string) bool {
	return r.fetched[unnamed] && (r.did.Has(vaglio.Fetched) || r.facts.Wrote(path.Join(folder, unnamed)))
}
