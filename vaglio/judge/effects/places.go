package effects

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
	"github.com/metnos/vaglio/vaglio/wording"
)

// where says where a path is, as far as that matters to its owner.
type where uint8

const (
	placeWorkspace where = iota
	placeTemp            // temporary files
	placeNowhere         // /dev/null and the like
	placeOption          // in the workspace, but named as an option is
	placeControl         // settings that run code or steer agents, hooks, CI
	placeSecret          // files that hold credentials
	placeHome            // the user's other files
	placeSystem          // everything else
	placeUnknown         // the path is unknown
)

// world describes where a call would run.
type world struct {
	places *place.Table
	home   string
	user   string
	cwd    string // the folder that the call starts in, "" if unknown
	roots  []string
	kept   []string                 // those of roots that are among temporary files
	leads  func(path string) string // where links lead; nil if that is not known
	links  map[string]string        // where those lead out of the workspace that the session made, or the call
	// recent are the paths that were looked at last: several rules ask about each word.
	recent [4]looked
	next   int
	among  string // the listed names that were looked at last, and where
	hides  bool   // one of them may hold secrets
}

// looked is a path as it was written, resolved, and what lies there.
type looked struct {
	p, cwd, clean string
	is, behind    place.Class
	classed       bool
	followed      bool
}

// look returns what is known of a path in the folder cwd.
func (w *world) look(p, cwd string) *looked {
	for i := range w.recent {
		if l := &w.recent[i]; l.p == p && l.cwd == cwd && l.clean != "" {
			return l
		}
	}
	l := &w.recent[w.next%len(w.recent)]
	w.next++
	*l = looked{p: p, cwd: cwd, clean: w.resolve(p, cwd)}
	return l
}

// clean resolves a path against the folder cwd.
func (w *world) clean(p, cwd string) string { return w.look(p, cwd).clean }

func (w *world) resolve(p, cwd string) string {
	for _, v := range []string{"$PWD", "$(pwd)", "$GITHUB_WORKSPACE", "$CI_PROJECT_DIR", "$PROJECT_ROOT", "$(git)"} {
		if rest, ok := strings.CutPrefix(p, v); ok && place.IsStep(rest) {
			p = cmp.Or(w.cwd, ".") + rest
		}
	}
	if rest, ok := strings.CutPrefix(p, "$("+shell.Toplevel+")"); ok {
		for _, root := range w.roots {
			if place.Inside([]string{root}, cmp.Or(cwd, w.cwd)) {
				p = root + rest
			}
		}
	}
	if strings.HasPrefix(p, made) {
		p = "/tmp/" + p // so that paths that climb out of it are noticed
	}
	if p = w.local(p); strings.HasPrefix(p, "$") {
		return place.Clean(p)
	}
	cwd = w.local(cwd)
	return place.ByProcess(place.Join(cwd, place.ByProcess(p, cwd)), cwd)
}

// whole returns a relative path as a whole one if its command changed to another folder than the call's, which nobody would look for there.
func (r *reading) whole(v *invocation, a arg) arg {
	if p := r.world.clean(a.text, v.cwd); a.text != "" && v.cwd != r.world.cwd && path.IsAbs(p) && !startsAny(a.text, "/", "~", "$", "-") {
		a.text = path.Join(v.cwd, a.text)
	}
	return a
}

// local returns a path in its normal form, which may be relative.
func (w *world) local(p string) string {
	if len(p) > 1 && p[0] == '~' && (p[1] == '_' || 'a' <= p[1] && p[1] <= 'z') {
		p = "/home/" + p[1:] // another user's home
	}
	return place.Local(p, cmp.Or(w.home, "/home/~"))
}

// through returns where a path below one of the links leads.
func (w *world) through(p string) (to string, out bool) {
	for at := path.Dir(p); len(w.links) > 0 && len(at) > 1; at = path.Dir(at) {
		if leads := w.links[at]; leads != "" {
			return leads + p[len(at):], true
		}
	}
	return "", false
}

// placeOf returns where the file is that a word names.
func (w *world) placeOf(a arg, cwd string) where {
	l := w.look(a.text, cwd)
	if !l.classed {
		l.is, l.classed = w.places.Classes(l.clean), true
	}
	p, is := l.clean, l.is
	switch {
	case w.passes(a, p, is):
		return placeTemp
	case a.text == "":
		return placeUnknown
	case is&place.Nowhere != 0:
		return placeNowhere
	case is&(place.Secret|place.Own) != 0, a.among != "" && w.amongSecrets(a, cwd), w.patternOfSecret(p):
		return placeSecret
	case is&place.Control != 0:
		return placeControl
	case w.inside(p):
		if to, out := w.through(p); out {
			return w.placeOf(literal(to), "")
		}
		return w.behind(l)
	case strings.HasPrefix(p, "$"):
		if a.onlyOf("ls", "find", "fd", "git", "grep", "rg", "basename") { // they list names below the current folder
			return placeWorkspace
		}
		return placeUnknown
	}
	return w.outside(p)
}

// isSkill reports whether a file came with a skill or plugin that the user gave their agents.
func (w *world) isSkill(a arg, cwd string) bool {
	p := w.clean(a.text, cwd)
	return w.home != "" && place.Inside([]string{w.home}, p) && w.places.Classes(p)&(place.Skill|place.Secret|place.Own) == place.Skill
}

// patternOfSecret reports whether a pattern matches a name that files with secrets usually have: ".*rc" and ".[e]nv" do, "*" says too little.
func (w *world) patternOfSecret(p string) bool {
	base := strings.ReplaceAll(path.Base(p), "[!", "[^")
	if !strings.ContainsAny(base, "*?[") {
		return false
	}
	begins, _, _ := strings.Cut(oneByte.ReplaceAllString(base, "$1"), "*")
	begins = strings.Trim(anyByte.ReplaceAllString(begins, "?"), "?")
	if len(begins) < len(".e") && (begins != "." || base == ".*" || base == ".[^.]*" && w.inside(p)) {
		return false
	}
	return slices.ContainsFunc(wordclass.Of("secret-name"), func(name string) bool {
		ok, err := path.Match(base, name)
		return ok && err == nil && w.places.Classes(path.Join(path.Dir(p), name))&place.Secret != 0
	})
}

var (
	oneByte = regexp.MustCompile(`\[([^]!^])\]`)
	anyByte = regexp.MustCompile(`\[[^]]+\]`)
)

// ofUser reports whether a file lies in the workspace or the user's home.
func (w *world) ofUser(a arg, cwd string) bool {
	p := w.clean(a.text, cwd)
	return w.inside(p) || w.outside(p) == placeHome
}

// passes reports whether a word names what is temporary, or has a default, by which it is judged.
func (w *world) passes(a arg, p string, is place.Class) bool {
	within := !strings.HasPrefix(a.text, made) || strings.HasPrefix(p, "/tmp/"+made)
	named := len(a.names) == 1 && len(a.from) == 0 && strings.HasPrefix(p, "$"+a.names[0]) && w.places.Variable(a.names[0])&place.TemporaryVariable != 0
	return within && (is&place.Temporary != 0 || a.either || named) && !place.Inside(w.kept, p)
}

// outside returns where a known path outside the workspace is. A relative path counts as in the workspace if the current folder is unknown.
func (w *world) outside(p string) where {
	switch {
	case w.places.InHome(p), w.home != "" && place.Inside([]string{w.home}, p):
		return placeHome
	case !path.IsAbs(p) && !strings.HasPrefix(p, "..") && w.cwd == "":
		return placeWorkspace
	}
	return placeSystem
}

// away returns an effect on a clean path outside: it is graded as one on the whole machine, but affects the machine only where it cannot run without the path.
func (w *world) away(e Effect, p string) Effect {
	e.counts, e.Reach, e.Why = ReachSystem, ReachUser, e.Why.And(wording.Outside)
	p = strings.ReplaceAll(p, "$(find)", "*") // What find goes through is below.
	if at := strings.IndexAny(p, "*?["); at >= 0 {
		p = path.Dir(p[:at+1])
	}
	if !path.IsAbs(p) || strings.ContainsAny(p, "$~⟨‹") || w.places.TreeAt(p) != place.NoTree || (w.places.Classes(p)|w.places.Below(p))&^place.Plain != 0 {
		e.Reach = ReachSystem
	}
	return e
}

// inside reports whether a clean path is in the workspace.
func (w *world) inside(p string) bool {
	below := !path.IsAbs(p) && !strings.HasPrefix(p, "..") && !strings.HasPrefix(p, "$") && !strings.HasPrefix(p, "~") && (len(p) < 2 || p[1] != ':')
	return below || place.Inside(w.roots, p)
}

// made is the beginning of a path that mktemp created.
const made = "$(mktemp)"

const madeIn = "$(mktemp in)" // the same in a folder of the caller's

// secretName reports whether a variable holds a secret, judging by its name.
func (r *reading) secretName(n string) bool {
	return r.judge.places.Variable(n)&place.SecretVariable != 0
}

// besides returns the effects that a table lists separately: what a command shows, copies or serves from everything below a folder, whatever else it does.
func (r *reading) besides(v *invocation) []Effect {
	if v.Call != nil {
		return r.walked(v)
	}
	name := r.canonical(v)
	var out []Effect
	for _, sec := range r.judge.tables.Judged["also:"+name] {
		c := r.callOf(v, name, sec)
		o := c.holds()
		if o == nil {
			continue
		}
		found := c.finish(*o)
		if c.among != "" {
			found[0] = found[0].with(append(found[0].Why, wording.Say(c.among, c.Found)), c.Found)
		}
		out = append(out, found...)
	}
	if strings.HasSuffix(name, "tar") {
		return append(out, r.packed(v)...)
	}
	return append(out, r.found(v)...)
}

// hoard finds a folder that contains keys and logins, or the gate's own data. Without folders it looks at the current one.
func (c *command) hoard(roots []arg) bool {
	if !c.direct() {
		return false
	}
	if len(roots) == 0 {
		roots = []arg{literal(".")}
	}
	for _, root := range roots {
		if c.among = c.r.among(c.invocation, root); c.among != "" {
			c.Found = root.text
			return true
		}
	}
	return false
}

// outside finds a folder outside the workspace. Without folders it looks at the current one.
func (c *command) outside(folders []arg) bool {
	if len(folders) == 0 {
		folders = []arg{literal(".")}
	}
	for _, f := range folders {
		if p := c.r.world.placeOf(f, c.cwd); p != placeWorkspace && p != placeTemp && p != placeNowhere && (c.box == "" || c.exposed) {
			c.Found = c.r.world.clean(f.text, c.cwd)
			return true
		}
	}
	return false
}

// beyond reports whether a word names a known path outside the workspace.
func (c *command) beyond(a arg) bool {
	return c.r.world.placeOf(a, c.cwd) != placeUnknown && !c.r.world.inside(c.r.world.clean(a.text, c.cwd)) && c.outside([]arg{a})
}

// onlyPlain reports whether filters select only program and text files.
func (r *reading) onlyPlain(filters []arg) bool {
	return len(filters) > 0 && !slices.ContainsFunc(filters, func(f arg) bool {
		name := f.text
		if !strings.Contains(name, ".") {
			name = "*." + name // a file type
		}
		return !f.known || strings.ContainsAny(name, "!{[") || r.judge.places.Purpose(name)&place.Plain == 0
	})
}

// packed returns the effect of the folders that tar packs.
func (r *reading) packed(v *invocation) []Effect {
	c := &command{invocation: v, parsed: r.parse(v.name, v.args), r: r, called: r.canonical(v)}
	t := c.told()
	var roots []arg
	for i := range t.Operations {
		if o := &t.Operations[i]; o.Recursive && (o.Verb == operation.Read || o.Verb == operation.Copy) {
			roots = append(roots, argOf(o.Object.Word))
		}
	}
	return r.below(v, "packs all", roots...)
}

// walked returns the effect of an inline program that reads a folder whose names it lists.
func (r *reading) walked(v *invocation) []Effect {
	if v.Call.Verb != shell.VerbCopy && v.Call.Verb != shell.VerbRead {
		return nil
	}
	var roots []arg
	for _, t := range argsOf(v.Call.Targets[:min(1, len(v.Call.Targets))]) {
		switch root, found := t.foundBelow(); {
		case found && !r.onlyPlain([]arg{literal(t.text[strings.LastIndexByte(t.text, ')')+1:])}):
			roots = append(roots, root)
		case strings.HasSuffix(t.text, "/*") && !t.word.Is(t.text): // a program's listing leaves no hidden file out
			roots = append(roots, literal(strings.TrimSuffix(t.text, "*")))
		case v.Call.Verb == shell.VerbCopy && t.known:
			roots = append(roots, t)
		}
	}
	return r.below(v, "copies or reads all", roots...)
}

// isListed reports whether a word names what a listing or a search found.
func (a arg) isListed() bool {
	return !a.known && len(a.from) > 0 && (a.from[0] == "ls" || wordclass.Is("finds", a.from[0]))
}

// foundBelow returns the folder below which a search found what a word names.
func (a arg) foundBelow() (arg, bool) {
	if !a.isListed() {
		return arg{}, false
	}
	root, _, ok := strings.Cut(a.text, "$("+a.from[0])
	if !ok || root == "" {
		return arg{}, false
	}
	return literal(root), true
}

// found returns the effect of showing or copying what a search on the same line found.
func (r *reading) found(v *invocation) []Effect {
	if !r.judge.tables.ofClass("shows-found", v.name) {
		return nil
	}
	var roots []arg
	for _, a := range v.args {
		root, ok := a.foundBelow()
		if ok && !r.onlyPlain([]arg{literal(strings.TrimPrefix(a.text[strings.LastIndexByte(a.text, ')')+1:], "/"))}) {
			roots = append(roots, root)
		}
	}
	return r.below(v, "shows or copies what is found in all", roots...)
}

// searched returns the effect of a tool that prints what it finds in all files below some folders.
func (t *tool) searched(v *invocation, folders []string) []Effect {
	_, searches := t.text("pattern", "regex", "query")
	mode, said := t.text("output_mode", "outputMode")
	if !searches || !t.has("grep", "search", "rg", "ripgrep") || said && mode != "content" || !said && t.name == "Grep" ||
		t.r.onlyPlain(literals(t.list("glob", "include", "type"))) {
		return nil
	}
	return t.r.below(v, "prints what it finds in all", literals(folders)...)
}

// rebuildableHome reports whether a clean path is in a cache of the user that refills itself.
func (w *world) rebuildableHome(p string) bool {
	return w.home != "" && strings.HasPrefix(p, w.home+"/") && w.places.Classes(p)&place.Cache != 0
}

// reachOfUnknown returns the reach of a change to a file whose name is not known: what runs in the project's own file, which
// the session has not changed, is taken to stay there.
func (r *reading) reachOfUnknown(v *invocation) Reach {
	f := v.File
	if f == "" || v.Own || !r.world.inside(f) || r.facts.Wrote(f) || r.did.Wrote(f) || r.facts.Unpacked(f) || r.isFetched(v, f) {
		return ReachUser
	}
	return ReachWorkspace
}
