package effects

import (
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/commands"
	"github.com/metnos/vaglio/vaglio/judge/effects/urls"
	"github.com/metnos/vaglio/vaglio/place"
	readings "github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/wording"
)

// npmInit judges the generator that creates a project.
func npmInit(c *command) []Effect {
	if name := c.operand(1); name != "" {
		return c.foreignTool(name, c.r.judge.tables.knownTool("create-"+name))
	}
	return own(say("creates a package description"))
}

// scriptOrTool judges the first word of a package manager's command line, which is a script of the project or a tool that the project installed.
func (c *command) scriptOrTool() []Effect {
	first := c.operand(0)
	if first == "" {
		return own(say("runs the package manager"))
	}
	installed := c.r.judge.tables.Nouns["project-tool"][first]
	for i, a := range c.all {
		if first == "workspaces" && a.text == "npm" {
			inner := *c.invocation
			inner.args = c.all[i:]
			return c.r.named(&inner)
		}
		if installed && a.text == first {
			return c.r.named(c.inner(first, c.all[i+1:]))
		}
	}
	return c.task(first, say("runs the project's script %s", first))
}

// taskEffect returns what a project task does, judging by the words of its name.
func (t *tables) taskEffect(name string) (Effect, bool) {
	sec := t.Judged["(task)"][0]
	var p commands.Parsed
	t.Parse(&p, "", readings.Words(name))
	at := slices.IndexFunc(sec.Lines, func(l commands.Line) bool { _, ok := l.Match(&p, 0); return ok })
	if at < 0 {
		return Effect{}, false
	}
	return effectOf(sec.Lines[at].Then), sec.Lines[at].Then.Kind != KindRead
}

// task returns the effect of running a project's task by its name.
func (c *command) task(name string, what wording.Sentence) []Effect {
	if c.r.worksOnForeign(c.invocation, false) {
		return one(KindForeignCode, say("runs %s %s in a repository that was just fetched", c.name, name), name)
	}
	if c.runsDry() {
		return own(what.And("as a dry run"))
	}
	t := c.r.judge.tables
	if e, ok := t.taskEffect(name); ok && (e.Kind != KindInstall || t.ofClass("has-install-target", c.name)) {
		e.Sure = 0.7
		return []Effect{e.with(what.And(", whose name says that it acts outside the workspace"), name)}
	}
	if c.production() && holdsAny(name, "migrat", "db", "seed") {
		return one(KindDatabase, what.And("against production"), name)
	}
	if out := c.r.reachesLive(c.invocation, name); out != nil {
		return out
	}
	return own(what)
}

// runsDry reports whether a word asks a task for a dry run.
func (c *command) runsDry() bool {
	return len(c.operands) > 0 && c.anyWord(&c.dry, func(a arg) bool {
		return a.text == "--dry-run" || a.text == "--dryRun" || a.text == "--dry" || a.text == "-n" && c.name == "make"
	}) != ""
}

// tasksRule judges make and its like: every operand is a task.
func tasksRule(c *command) []Effect {
	for _, f := range c.values("-f", "-C", "--file", "--directory", "--makefile", "-I") {
		if p := c.r.world.placeOf(f, c.cwd); p != placeWorkspace && p != placeSecret && p != placeControl || c.r.liesOutside(c.invocation, f) {
			return one(KindForeignCode, say("runs tasks from outside the workspace: %s", f.text), f.text)
		}
	}
	if c.r.worksOnForeign(c.invocation, false) {
		return one(KindForeignCode, say("builds or runs a repository that was just fetched: %s %s", c.name, c.rest(0)), c.name)
	}
	out := lists.All(c.taskNames(), func(name string) []Effect { return c.task(name, say("runs the project's task %s", name)) })
	if len(out) == 0 {
		out = c.task("", say("runs the project's default task"))
	}
	return out
}

// taskNames returns the tasks that the operands name. A setting is no task, nor a target only built, and with some tools what follows belongs to the task.
func (c *command) taskNames() (names []string) {
	for i, a := range c.operands {
		target := strings.HasPrefix(a.text, "//") && strings.HasPrefix(c.name, "bazel")
		if strings.Contains(a.text, "=") || target && c.operand(0) != "run" {
			continue
		}
		if i > 0 && (slices.Contains([]string{"just", "rails", "mix"}, c.name) || c.name == "task" && c.operands[i-1].text == "--") {
			break // the rest belongs to the task
		}
		if target {
			a.text = strings.ReplaceAll(a.text, "/", ":")
		}
		names = append(names, strings.TrimPrefix(a.text, ":"))
	}
	return names
}

// testing reports whether a command names the test environment.
func (c *command) testing() bool {
	at := c.variables("RAILS_ENV", "RACK_ENV", "APP_ENV", "MIX_ENV", "NODE_ENV", "FLASK_ENV", "DJANGO_ENV", "ENV")
	at = append(at, c.values("--env", "-e", "--environment")...)
	isOther := func(v arg) bool { return !v.known || v.text != "test" && v.text != "testing" }
	return len(at) > 0 && !slices.ContainsFunc(at, isOther)
}

// unknownDatabase finds a variable that names an unknown database.
func (c *command) unknownDatabase() bool {
	i := slices.IndexFunc(c.assigns, func(a assignment) bool {
		return !a.value.known && strings.Contains(strings.ToUpper(a.name), "DATABASE")
	})
	if i >= 0 {
		c.Found = strings.Join(c.assigns[i].value.names, " $")
	}
	return i >= 0
}

// runsOutside returns the effect of running the code of a project that lies outside the workspace, where
// nothing of it is read. Of the call's own folder a person is asked once for the session.
func (r *reading) runsOutside(v *invocation, named []Effect) []Effect {
	t, name, args := r.judge.tables, v.name, v.args
	if len(args) > 1 && args[0].text == "-m" && t.Known(args[1].text) { // a tool that is a module of Python
		name, args = args[1].text, args[2:]
	}
	runs := t.Devtools[name] || t.ofClass("runs-code", name)
	if v.cwd == "" || !v.direct() || !runs || !worksHere(named) {
		return nil
	}
	for _, f := range r.projects(v) {
		if out := r.runsForeign(v, f); out != nil && !r.runsOwn(v, name, args) {
			return out
		}
	}
	return nil
}

// runsForeign returns the effect of running the code in a folder, if that was fetched or lies outside the workspace.
func (r *reading) runsForeign(v *invocation, folder arg) []Effect {
	switch at := folder.text; {
	case r.isForeign(v, folder):
		return justFetched(at)
	case r.liesOutside(v, folder) && at == v.cwd && len(v.args) > 0:
		words := clip(join(v.args), longestTold)
		return one(KindForeignCode, say("runs %s %s in %s, outside the workspace, where nothing was read", v.name, words, at), at)
	case r.liesOutside(v, folder):
		return one(KindForeignCode, say("runs %s on %s, which lies outside the workspace and was not read", v.name, at), at)
	}
	return nil
}

// liesOutside reports whether a file or folder lies outside the workspace and the folder that the call begins in, and is not of the session's making.
func (r *reading) liesOutside(v *invocation, a arg) bool {
	at := r.world.clean(a.text, v.cwd)
	switch p := r.world.placeOf(a, v.cwd); p {
	case placeTemp, placeNowhere, placeHome, placeSystem:
		_, read := r.written(v, a)
		_, out := r.world.through(at)
		return out || place.Inside(r.brought, at) || !read && !r.made(v, at) && !place.Inside([]string{r.world.cwd}, at)
	default:
		return place.Inside(r.brought, at)
	}
}

// codeOutside reports whether a word names code outside the workspace, for a command that begins inside.
func (c *command) codeOutside(a arg) bool {
	if startsAny(a.text, "file:", "link:", "portal:") {
		a = a.slice(strings.IndexByte(a.text, ':') + 1)
	}
	return c.direct() && isPath(a.text) && !c.r.liesOutside(c.invocation, literal(c.cwd)) && c.r.liesOutside(c.invocation, a)
}

// worksHere reports whether a command works in the workspace, as far as its name tells, and nothing was said of foreign code.
func worksHere(named []Effect) bool {
	return slices.ContainsFunc(named, func(e Effect) bool { return e.Kind != KindRead && e.Reach == ReachWorkspace }) &&
		!slices.ContainsFunc(named, func(e Effect) bool { return e.Kind == KindForeignCode })
}

// projects returns the folders whose code a program runs: the current one, and those that options name instead.
func (r *reading) projects(v *invocation) []arg {
	all, t := []arg{literal(v.cwd)}, r.judge.tables
	for i, a := range v.args {
		switch name, _, glued := strings.Cut(a.text, "="); {
		case !t.ofClass("project-option", name) && !t.ofClass("project-option", v.name+":"+name):
		case glued:
			all = append(all, a.slice(len(name)+1))
		case i+1 < len(v.args):
			all = append(all, v.args[i+1])
		}
	}
	return all
}

// isFetched reports whether a file was downloaded, or may be one of those that a list named.
func (r *reading) isFetched(v *invocation, file string) bool {
	at := r.world.clean(file, v.cwd)
	return r.fetched[path.Base(file)] || v.direct() && r.isFar(at) || v.direct() && r.facts.Wrote(path.Join(path.Dir(at), listedFiles)) && !r.facts.Wrote(at)
}

// ofBox reports whether a command names a file of its container, and whether that may be one of the session's that would be asked about if it ran.
func (r *reading) ofBox(v *invocation, file arg) (named, loaded bool) {
	named = v.box != "" && !v.pod && (v.name == path.Base(file.text) || slices.Contains(texts(v.args), file.text))
	return named, v.box != "" && slices.ContainsFunc(r.facts.Loaded(), func(f string) bool { return path.Base(f) == path.Base(file.text) })
}

// runsFile returns the effect of running a program or script from a file.
func (r *reading) runsFile(v *invocation, file arg) []Effect {
	if r.isForeign(v, file) || r.isFetched(v, file.text) {
		return justFetched(file.text)
	}
	if v.box != "" && v.fresh || r.builtHere(v, file) {
		return own(say("runs %s", file.text))
	}
	if out := r.runsWritten(v, file); out != nil {
		return out
	}
	named, loaded := r.ofBox(v, file)
	switch is := r.world.placeOf(file, v.cwd); {
	case loaded:
	case is == placeWorkspace && !r.liesOutside(v, file), r.world.isSkill(file, v.cwd):
		return r.namedTask(v, file, is)
	case named:
		return r.namedTask(v, file, placeWorkspace)
	case is == placeUnknown:
		return unknown(say("runs a file whose name is not known: %s", file.text), file.text)
	}
	e := usual(KindForeignCode).with(say("runs %s, which lies outside the workspace and was not read", file.text), file.text)
	e.Sure = 0.5
	return []Effect{e}
}

// unreadFile returns the effect of running a file that was not read, of the workspace or a skill.
func unreadFile(file arg, is where) []Effect {
	e := own(say("runs %s, a file of the workspace that was not read", file.text))
	if is != placeWorkspace {
		e = own(say("runs %s, a program of a skill that was not read", file.text))
	}
	e[0].Sure = 0.6
	return e
}

// foreignSource reports whether a package is named by its location rather than by its name in the registry.
func foreignSource(s string) bool {
	if startsAny(s, "git+", "git@", "github:", "gitlab:", "bitbucket:", "gist:") || holdsAny(s, " @ git", " @ http") {
		return true
	}
	if strings.Contains(s, "://") {
		return !strings.HasPrefix(s, "file:") && !urls.Local(s)
	}
	if startsAny(s, "@", ".", "/", "~") || strings.Count(s, "/") != 1 || strings.HasSuffix(s, "/") || strings.Contains(s, "@npm:") {
		return false
	}
	owner, _, _ := strings.Cut(s, "/")
	return !strings.Contains(owner, ".") // a GitHub repository user/repo
}

// poses reports whether something that was put at a path has the name of a known program, though nobody read it.
func (r *reading) poses(f *vaglio.Fact) bool {
	if f.Deed != vaglio.Wrote && f.Deed != vaglio.Moved || !r.judge.tables.Known(path.Base(f.Path)) || systemPath(r.world.links[f.Path]) {
		return false
	}
	_, written := r.wrote[f.Path]
	_, told := r.facts.Text(f.Path)
	if !written && !told && r.means.Files != nil {
		_, told = r.means.Files.Content(f.Path)
	}
	return !written && !told
}

// npxRule judges running a package that may have to be fetched first.
func npxRule(c *command) []Effect {
	for _, from := range c.values("-p", "--package", "--from", "--with") {
		if foreignSource(from.text) {
			return one(KindForeignCode, say("fetches and runs %s", from.text), from.text)
		}
	}
	name, at := c.operand(c.took), len(c.all)
	if name != "" {
		at = c.Operands[c.took]
	}
	switch {
	case slices.ContainsFunc(c.all[:at], func(a arg) bool { return a.text == "-c" || a.text == "--call" }):
		return unknown(say("runs a command line through the package runner: %s", join(c.all)), join(c.all))
	case name == "":
		return reads()
	case !c.all[at].known:
		return unknown(say("fetches and runs a package that is not known: %s", name), name)
	}
	return c.runTool(name, c.all[at:])
}

// runTool judges a tool that a package runner starts.
func (c *command) runTool(name string, args []arg) []Effect {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "npm:"), "jsr:")
	base, scoped := withoutVersion(strings.TrimPrefix(name, "@")), strings.HasPrefix(name, "@")
	if !scoped && foreignSource(name) {
		return one(KindForeignCode, say("fetches and runs %s", name), name)
	}
	t := c.r.judge.tables
	for _, n := range []string{base, lastPart(base)} { // A package that is called like a shell is none.
		if slices.Contains([]string{"sh", "bash"}, n) || scoped && n == lastPart(base) && !t.trustedScope(name) {
			continue
		}
		if t.Known(n) && (scoped || t.Published[n] || c.installed()) {
			return c.r.named(c.inner(n, args[1:]))
		}
	}
	return c.foreignTool(name, t.knownTool(name))
}

// withoutVersion returns the name of a package without the version behind it.
func withoutVersion(name string) string {
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		return name[:i]
	}
	return name
}

// installed reports whether a package runner only runs what is installed already, or is told which package the program is in.
func (c *command) installed() bool {
	return c.has("--no-install", "--no") || len(c.values("-p", "--package", "--from")) > 0
}

func lastPart(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }

// trustedScope reports whether a scoped package comes from a well-known maker.
func (t *tables) trustedScope(name string) bool {
	scope, _, _ := strings.Cut(name, "/")
	return t.Nouns["trusted-scope"][scope]
}

func (t *tables) knownTool(name string) bool {
	name = withoutVersion(name)
	generator, creates := strings.CutPrefix(name, "create-")
	return t.trustedScope(name) || creates && t.Nouns["generator"][generator] || t.Nouns["known-tool"][name]
}

// foreignTool returns the effect of running a package just by its name.
func (c *command) foreignTool(name string, known bool) []Effect {
	if known {
		return own(say("runs the development tool %s", name))
	}
	return one(KindForeignCode, say("fetches and runs the package %s, which nobody reviewed", name), name)
}

// execTool judges `poetry run pytest` and its like. What is carried is judged by itself.
func execTool(c *command) []Effect {
	path := c.operand(c.took)
	switch {
	case strings.Contains(path, "://"):
		return one(KindForeignCode, say("fetches and runs %s", path), path)
	case c.Wrapper:
		return reads()
	case path == "":
		return own(say("runs %s", c.name))
	case !c.operands[c.took].known:
		return unknown(say("runs a command whose name is not known: %s", path), path)
	}
	inner := c.inner(lastPart(path), c.all[c.Operands[c.took]+1:])
	inner.path = path
	if !isPath(path) && !c.r.judge.tables.Known(c.r.canonical(inner)) {
		return c.task(path, say("runs the project's %s", path))
	}
	return c.r.named(inner)
}

// localArchive reports whether a package is an archive on this machine, and whether it is where no build puts one, so that it came from elsewhere.
func localArchive(name string) (archive, stray bool) {
	kept := slices.ContainsFunc([]string{".whl", ".tar.gz", ".tgz", ".zip", ".egg", ".tar.bz2"}, func(end string) bool { return strings.HasSuffix(name, end) })
	if !kept || strings.Contains(name, "://") || strings.Contains(name, " @ ") {
		return false, false
	}
	return true, !slices.ContainsFunc(strings.Split(name, "/"), func(step string) bool {
		return slices.Contains([]string{"dist", "build", "target", "out", "wheels", "wheelhouse", "vendor"}, step)
	})
}
