package effects

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects/servers"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
	"github.com/metnos/vaglio/vaglio/wording"
)

// listed returns a word with what ls printed replaced by the pattern of the names that it was to list: deleting
// some of these is at most what deleting all of them would be.
func (a arg) listed() arg {
	folder, ok := strings.CutSuffix(a.text, "$(ls)") // What follows may be another line.
	if !ok || !a.onlyOf("ls") || len(a.from) > 1 {
		return a
	}
	if strings.HasSuffix(folder, "/") {
		return literal(folder + "*")
	}
	return argOf(shell.ListedAs(a.word))
}

// remove returns the effect of deleting what a word names. What is in a mount outlives the container that deletes it.
func (r *reading) remove(v *invocation, a arg) []Effect {
	some := slices.ContainsFunc(a.word.Parts(), func(p shell.Part) bool { return p.Some && p.From == "ls" })
	a = a.listed()
	m, on, mounted := r.mounted(v, a)
	var out []Effect
	switch why := (wording.Sentence{{Phrase: deletes}, object(a.text)}); {
	case mounted && m.volume():
		out = []Effect{usual(KindDelete).with(why.And("in the volume %s", m.host), a.text)}
	case mounted:
		out = r.removeAt(v.onHost(r.world.cwd), on)
	case r.thrownAway(v) && !v.shares:
		return own(why)
	default:
		out = r.removeAt(v, a)
	}
	for i := range out {
		if out[i].lasts = mounted || v.shares; some {
			out[i].Why = out[i].Why.About(a.text, wording.Say("some of %s", a.text))
		}
	}
	return out
}

// vacant reports whether nothing that was there before the call can be at a path, or match it: what then lies there when it is deleted was made meanwhile.
// Only shells are sure to be followed into every folder. A program that replaces a file by one of a longer or shorter name, as gzip does, moves it.
func (r *reading) vacant(v *invocation, a arg, p string) bool {
	p = r.oneStep(v, a, p)
	if strings.Contains(a.text, "..") || a.word.HasGlob() && strings.Contains(a.text, "(") { // behind a link, an extended pattern
		return false
	}
	astray := func(via string) bool {
		text := ""
		if via == "make" && r.means.Files != nil {
			text, _ = r.means.Files.Content(v.File)
		}
		return oneShell.MatchString(text) || !wordclass.Is("keeps-folder", strings.Fields(via)[0])
	}
	return p != "" && v.direct() && v.Call == nil && !slices.ContainsFunc(v.Via, astray) && r.isAbsent(p) && !r.filled(p)
}

// anyhow reports whether what lies at a path in the workspace is the session's own, or the call's, if anything does.
func (r *reading) anyhow(v *invocation, a arg) bool {
	p := r.world.clean(a.text, v.cwd)
	return a.known && (r.made(v, p) || r.vacant(v, a, p))
}

var (
	oneShell     = regexp.MustCompile(`(?m)ONESHELL|^-?include`) // a makefile whose lines may share a shell
	allTemporary = regexp.MustCompile(`^([^/]*/){0,2}\.?\*$`)    // everything in a folder for temporary files
)

// filled reports whether the call may put something from elsewhere where nothing was: at a path, or at one that a pattern matches.
func (r *reading) filled(p string) bool {
	return r.movedTo(p) || slices.ContainsFunc(r.did, func(f vaglio.Fact) bool {
		switch f.Deed {
		case vaglio.Moved:
			fits, err := path.Match(p, f.Path)
			return fits && !f.Link || err != nil || strings.Contains(f.Path, "$")
		case vaglio.Brought:
			return place.Inside([]string{f.Path}, p)
		default:
		}
		beside := strings.HasPrefix(p, f.Path+".") || strings.HasPrefix(f.Path, p+".")
		return makes(&f, false) && beside && !r.isAbsent(f.Path)
	})
}

// oneStep returns a path with patterns for the parts that are not known if these are names without folders, "" otherwise.
func (r *reading) oneStep(v *invocation, a arg, p string) string {
	switch root := strings.HasPrefix(a.text, "$("+shell.Toplevel+")/") && slices.Contains(r.world.roots, v.cwd); {
	case a.known, root && a.onlyOf(shell.Toplevel) && r.means.Present != nil && r.means.Present(path.Join(v.cwd, ".git")):
		return p
	case !a.onlyOf("basename"):
		return ""
	}
	return strings.ReplaceAll(p, "$(basename)", "*")
}

// atToplevel says of the commands that run in the root of git's repository that this is the workspace, if the
// repository begins there and git was asked nowhere else, and with nothing that tells it another root.
func (r *reading) atToplevel(list []*invocation) {
	root := r.world.cwd
	if !r.isRepository(root) {
		return
	}
	namesRoot := func(a shell.Assign) bool { return strings.HasPrefix(a.Name, "GIT_") }
	asks := func(a arg) bool { return a.text == "--show-toplevel" }
	for _, v := range list {
		at := argOf(v.Cwd)
		switch rest, below := strings.CutPrefix(at.text, "$("+shell.Toplevel+")"); {
		case below && at.onlyOf(shell.Toplevel) && place.IsStep(rest) && v.Remote == nil:
			v.cwd, v.astray = path.Join(root, rest), false
		case v.name == "git" && slices.ContainsFunc(v.args, asks) && (v.cwd != root || len(v.assigns) > 0 || slices.ContainsFunc(v.Exported, namesRoot)):
			return
		}
	}
}

// isRepository reports whether a folder is a root of the workspace where a repository begins.
func (r *reading) isRepository(root string) bool {
	return r.means.Present != nil && slices.Contains(r.world.roots, root) && r.means.Present(path.Join(root, ".git"))
}

// remembersMove records where a move puts what would be missed.
func (c *command) remembersMove(a, to arg) {
	p := c.r.world.clean(a.text, c.cwd)
	if c.r.made(c.invocation, p) || c.r.rebuilt(p) || !to.known && !c.r.movedTo(p) && c.r.world.placeOf(a, c.cwd) == placeTemp {
		return
	}
	if to.text == "" {
		to = arg{text: "$(" + c.name + ")"} // as rename names its files
	}
	if last := len(c.r.did) - 1; last < 0 || c.r.did[last].Deed != vaglio.Moved || c.r.did[last].Path != c.r.world.clean(to.text, c.cwd) {
		c.r.tell(c.invocation, vaglio.Moved, to) // not once for each of many names that one folder takes
	}
}

// movedTo reports whether the session, or the call, moved there what is at a path or below it. A link removed with its folder leaves what it leads to.
func (r *reading) movedTo(p string) bool {
	return r.did.MovedTo(p) || r.facts.MovedTo(p)
}

// freeAt returns the path that a word names, if nothing is there yet, "" otherwise.
func (r *reading) freeAt(v *invocation, a arg) string {
	if p := r.world.clean(a.text, v.cwd); a.known && v.direct() && !strings.ContainsAny(p, "*?[") && r.isAbsent(p) {
		return p
	}
	return ""
}

// isVacant reports whether nothing is at a path that a program deletes, in a folder that is there, and the call puts nothing there. The program must name it
// in full: where one runs is not always known. A link that the call makes there is deleted itself, unless a slash follows it.
func (r *reading) isVacant(e *Effect) bool {
	return e.whole && !strings.HasSuffix(e.Target, "/") && !r.movedTo(e.free) && !r.did.Touched(e.free) && !r.isAbsent(path.Dir(e.free))
}

// namesWhole reports whether a program names a path from the root on.
func (v *invocation) namesWhole(a arg) bool {
	return path.IsAbs(a.text) && v.Call != nil && slices.ContainsFunc(v.Call.Targets, func(w shell.Word) bool { return w.Is(a.text) })
}

// emptied decides about what was deleted where nothing was, now that the whole call is known.
func (r *reading) emptied() {
	for _, name := range slices.Clone(r.absent) {
		if made, _ := r.madeAt(name); made == "" || !r.facts.Made(name) && !r.isAbsent(made) {
			r.add(usual(KindDelete).with(wording.Sentence{{Phrase: deletes}, object(name)}, name))
		}
	}
	for _, name := range append(slices.DeleteFunc(r.trapped, func(p string) bool { return !r.movedTo(p) }),
		slices.DeleteFunc(r.vacated, func(p string) bool { return !r.filled(p) })...) {
		r.add(usual(KindDelete).with(wording.Sentence{{Phrase: deletes}, object(name)}, name))
	}
	for i := range r.effects {
		if e := &r.effects[i]; e.free != "" && (r.refills(e.free) || r.isVacant(e)) {
			*e = own(e.Why.And(", where nothing is yet"))[0]
		}
	}
}

// leavesTemporary records what a trap deletes when its shell ends, and so after all else.
func (r *reading) leavesTemporary(v *invocation, p string) {
	if slices.Contains(v.Via, "trap") {
		r.trapped = append(r.trapped, p)
	}
}

// names records the paths in the workspace that a program which may write anything was given, and where nothing is: what lies there later, the session made.
func (r *reading) names(v *invocation) {
	writes := strings.Contains(v.path, "/") || r.judge.tables.ofClass("keeps-in-file", v.name) || r.judge.tables.RunsProject(v.name, texts(v.args))
	if !v.direct() || !writes {
		return
	}
	for _, a := range v.args {
		if _, value, set := strings.Cut(a.text, "="); set && strings.HasPrefix(a.text, "-") {
			a.text = value
		}
		if a.known && len(a.text) > 1 && !strings.HasPrefix(a.text, "-") && !strings.ContainsAny(a.text, " \n*?[:") {
			r.namesOne(v, a)
		}
	}
}

// namesOne records a path that a program is given, or what is not there of the folders above it.
func (r *reading) namesOne(v *invocation, a arg) {
	const most = 16
	p := r.world.clean(a.text, v.cwd)
	known := func(f vaglio.Fact) bool { return f.Deed == vaglio.Named && f.Path == p }
	if r.namesTold > most || r.world.placeOf(a, v.cwd) != placeWorkspace || slices.ContainsFunc(r.did, known) || !r.isAbsent(p) {
		return
	}
	for up := path.Dir(p); r.isAbsent(up); up = path.Dir(p) {
		p = up
	}
	r.did, r.namesTold = append(r.did, vaglio.Fact{Deed: vaglio.Named, Path: p, New: true}), r.namesTold+1
}

// makesEnvironment records a folder, where nothing was, that Python makes an environment of.
func (r *reading) makesEnvironment(v *invocation) {
	at, last := 0, len(v.args)-1
	for word := v.name; at <= min(last, 2) && !r.judge.tables.ofClass("makes-environment", word); at++ {
		word = v.args[at].text
	}
	if at > min(last, 2) || !v.direct() {
		return
	}
	if p := r.world.clean(v.args[last].text, v.cwd); v.args[last].known && path.IsAbs(p) && r.isAbsent(p) {
		r.did = append(r.did, vaglio.Fact{Deed: vaglio.Built, Path: p, New: true})
	}
}

// installed reports whether a program is where an installation puts it: what was unpacked above that is seldom one there.
func (r *reading) installed(v *invocation) bool {
	return r.installs(path.Dir(r.world.clean(v.path, v.cwd)))
}

func (r *reading) installs(folder string) bool {
	there := func(f vaglio.Fact) bool {
		return f.Deed == vaglio.Unpacked && r.world.places.Rebuilt(f.Path) && place.Inside([]string{f.Path}, folder)
	}
	return strings.TrimPrefix(path.Base(folder), ".") == "bin" && r.world.places.Rebuilt(folder) && !slices.ContainsFunc(slices.Concat(r.facts, r.did), there)
}

// brings reports whether what lies at a path came with an archive or a repository, in this session, and no installation put it there.
func (r *reading) brings(p string) bool {
	if _, known := r.facts.Text(p); known || r.installs(p) {
		return false
	}
	in := func(f vaglio.Facts) bool { return f.Unpacked(p) || f.Unpacked(path.Join(p, "*")) }
	return in(r.facts) || in(r.did) || place.Inside(r.foreign, p)
}

// furnished returns what steers programs in a folder where they look for a user's settings, or what the session may have put there.
func (r *reading) furnished(home string) string {
	for _, f := range slices.Concat(r.facts, r.did) {
		over, under := lies(home, f.Path)
		loose := slices.Contains([]vaglio.Deed{vaglio.Unpacked, vaglio.Brought, vaglio.Moved}, f.Deed)
		if loose && (over || under) || under && strings.HasPrefix(f.Path[len(home):], "/.") {
			return f.Path
		}
	}
	for name := range r.judge.tables.Nouns["home-settings"] {
		if at := path.Join(home, name); home != r.world.home && r.means.Present != nil && r.means.Present(at) {
			return at
		}
	}
	return ""
}

// passesUnread records that a folder of which nobody read anything has another name, too: at a path, or in the folder there.
func (c *command) passesUnread(from arg, at string) {
	into := path.Join(at, path.Base(from.text))
	if c.r.isAbsent(at) || strings.HasSuffix(from.text, "/") || strings.HasSuffix(from.text, "/.") {
		into = at
	}
	c.r.did = append(c.r.did, vaglio.Fact{Deed: vaglio.Unpacked, Path: into})
}

// leadsOut records the links that a command makes to what lies outside the workspace: where it says, or in the folder there. Below them is outside.
func (c *command) leadsOut(all []operation.Operation) {
	for i := range all {
		from, to := argOf(all[i].Object.Word), argOf(all[i].To)
		out := c.r.world.clean(from.text, c.cwd)
		if all[i].Verb != operation.Link || !c.direct() || !from.known || !path.IsAbs(out) || c.r.world.inside(out) {
			continue
		}
		name := c.r.world.clean(to.text, c.cwd)
		if c.r.means.Absent != nil && !c.r.isAbsent(name) && !c.has("-n", "-T", "--no-dereference", "--no-target-directory") {
			name = path.Join(name, path.Base(out))
		}
		if c.r.world.inside(name) {
			c.r.did = append(c.r.did, vaglio.Fact{Deed: vaglio.Moved, Path: name, Link: true, Words: []string{out}})
			c.r.world.link(name, out)
		}
	}
}

func (w *world) link(at, to string) {
	if w.links == nil {
		w.links = map[string]string{}
	}
	w.links[at] = to
}

// inEnvironment reports whether a program lies in an environment that the session made, or the call, where nothing was, and nothing else was put there.
func (r *reading) inEnvironment(name string) bool {
	folder, made := path.Dir(path.Dir(name)), false
	if path.Base(path.Dir(name)) != "bin" {
		return false
	}
	for _, facts := range [][]vaglio.Fact{r.facts, r.did} {
		for i := range facts {
			switch f := &facts[i]; {
			case f.Path == folder && f.Deed == vaglio.Built && f.New:
				made = true
			case f.Deed != vaglio.Awaited && f.Deed != vaglio.Named && f.Deed != vaglio.Started && place.Inside([]string{folder}, f.Path),
				f.Deed == vaglio.Moved && place.Inside([]string{f.Path}, folder):
				return false
			}
		}
	}
	return made
}

// leadsTo reports whether the session, or the call, put what was elsewhere at a path or above it, also by a link.
func (r *reading) leadsTo(p string) bool {
	return slices.ContainsFunc(slices.Concat(r.facts, r.did), func(f vaglio.Fact) bool {
		return f.Deed == vaglio.Moved && place.Inside([]string{f.Path}, p)
	})
}

// putsBelow reports whether the call may put anything into a folder, or whether it cannot be seen what is there.
func (r *reading) putsBelow(folder string) bool {
	in := func(name string) bool { return place.Inside([]string{folder}, name) }
	did := func(f vaglio.Fact) bool { return in(f.Path) }
	puts := slices.ContainsFunc(slices.Collect(maps.Keys(r.wrote)), in) || r.did.Touched(folder) || slices.ContainsFunc(r.did, did)
	return puts || r.means.Present == nil || !r.means.Present(folder)
}

// keepsNothing reports whether a file of containers, as the session wrote it, gives no volume a name: those that have none were made with the containers.
func (c *command) keepsNothing(a arg) bool {
	text, own := c.r.facts.Text(c.r.world.clean(a.text, c.cwd))
	_, project, volumes, all := servers.InCompose(text)
	return own && all && a.known && c.direct() && !project && !volumes && !c.steered("COMPOSE_")
}

// composeFiles returns the files that describe the containers, and whether those may be there already.
func (c *command) composeFiles() (files []string, kept bool) {
	files = texts(c.values("-f", "--file"))
	given := len(files) > 0
	kept = c.has("-p", "--project-name", "--project-directory", "--env-file") || c.steered("COMPOSE_") ||
		!given && c.r.present(c.invocation, ".env") || c.r.facts.Wrote(c.r.world.clean(".env", c.cwd))
	for _, name := range wordclass.Of("compose-file") {
		_, there := c.content(name)
		if there && !given {
			files = append(files, name)
		}
		kept = kept || there && !c.wroteAll(name)
	}
	return files, kept || len(files) > 1
}

// wroteAll reports whether the session wrote what is in a file.
func (c *command) wroteAll(name string) bool {
	_, wrote := c.r.facts.Text(c.r.world.clean(name, c.cwd))
	return wrote
}

// behind returns what a path in the workspace is if it may be a link: what it leads to if that is secret or controls
// programs, and else a part of the workspace. Links to other folders are usual there, as to packages.
func (w *world) behind(l *looked) where {
	if w.leads == nil || !path.IsAbs(l.clean) || len(l.clean) > vaglio.LongestPath || strings.ContainsAny(l.clean, "*?[$") {
		return placeWorkspace
	}
	if !l.followed {
		l.followed = true
		if at := w.leads(l.clean); at != l.clean {
			l.behind = w.places.Classes(at)
		}
	}
	switch {
	case l.behind&(place.Secret|place.Own) != 0:
		return placeSecret
	case l.behind&place.Control != 0:
		return placeControl
	}
	return placeWorkspace
}
