package guard

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/own"
	"github.com/metnos/vaglio/internal/realpath"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// look is the examination of one command of a script.
type look struct {
	g *Guard
	s *survey
	c *shell.Command
	// cwds are the folders in which the command may run, usually one.
	cwds []string
	// args are the command's words after its name, as spots.
	args []string
	// inside says that the command runs in a container, which shares only the mounted folders with this machine.
	inside bool
	// ops are the command's operations according to the knowledge base.
	ops []operation.Operation
	// search is the first of them that searches, alias the only one that makes a new name.
	search, alias *operation.Operation
	// tests are the tests of a search, once read.
	tests *tests
	had   map[string]bool // what [look.has] found, by the long option, once asked
	lists *bool           // what [look.listed] found, once asked
	// packed is what [look.entries] found, once asked.
	packed *contents
	// The rooms save most commands an allocation for their slices.
	argRoom [6]string
	cwdRoom [1]string
}

// touch returns the ID of the rule that forbids a deed to a spot, or "".
func (l *look) touch(d deed, spot string) string {
	if spot == "" || spot == "-" {
		return ""
	}
	changes := d == place.Writes || d == place.Replaces
	if strings.IndexByte(spot, place.SomeDisk) >= 0 {
		if changes && !l.s.asksMounts && strings.TrimPrefix(spot, "/dev/") == string(place.SomeDisk) { // that a command of the line has printed
			return diskRule
		}
		spot = strings.ReplaceAll(spot, string(place.SomeDisk), string(place.Perhaps))
	}
	if changes && l.everything(spot) {
		return l.touch(place.Empties, spot)
	}
	if id := l.touchListed(d, spot); id != "" {
		return id
	}
	return l.touchEach(d, spot)
}

// touchListed checks a deed to what the line has listed, if the spot may be that.
func (l *look) touchListed(d deed, spot string) string {
	if d > place.Replaces || spot != string(place.Perhaps) || !l.listed() {
		return ""
	}
	return l.firstOf(l.s.listed, func(shown string) string { return l.touchOne(d, shown) })
}

// firstRule returns the first rule that one of the texts breaks.
func firstRule(texts []string, rule func(string) string) string {
	for _, s := range texts {
		if id := rule(s); id != "" {
			return id
		}
	}
	return ""
}

// printed are the paths that a line prints, each of them once.
type printed struct {
	all  []string
	have map[string]bool
}

func (p *printed) add(spot string) {
	if p.have[spot] {
		return
	}
	if p.have == nil {
		p.have = map[string]bool{}
	}
	p.have[spot] = true
	p.all = append(p.all, spot)
}

// firstOf returns the first rule that something printed breaks. Each command that names it has all of it checked, so that this counts.
func (l *look) firstOf(p printed, rule func(string) string) string {
	if !l.s.t.checks(len(p.all)) {
		return ""
	}
	return firstRule(p.all, rule)
}

// touchEach checks a deed to everything that a spot may be.
func (l *look) touchEach(d deed, spot string) string {
	for _, v := range place.Variants(spot) {
		if v != "" && v[0] == '~' && spot[0] != '~' {
			v = "./" + v // the shell did not expand this tilde
		}
		if id := cmp.Or(l.touchOne(d, v), l.touchHidden(d, v)); id != "" && !isFarFetched(d, spot, v, id) {
			return id
		}
	}
	return ""
}

// touchHidden checks a deed to what a search passes on whose pattern also matches names with a dot before them, as those of shells do not.
func (l *look) touchHidden(d deed, spot string) string {
	name := place.Base(spot)
	if name == "" || name[0] != place.AnyText && name[0] != place.AnyByte || !l.bySearch() {
		return ""
	}
	return l.touchOne(d, strings.TrimSuffix(strings.TrimRight(spot, "/"), name)+"."+strings.TrimLeft(name, string(rune(place.AnyByte))))
}

// bySearch reports whether a search of the line hands the command what it works on.
func (l *look) bySearch() bool {
	return slices.ContainsFunc(l.c.Via, func(v string) bool {
		program, _, _ := strings.Cut(v, " ")
		return wordclass.Is("finds", program) || len(l.s.find.starts) > 0 && l.g.base.Nouns["runs-others"][program]
	})
}

// isFarFetched reports whether a spot is a tree only if too much of it is empty: two texts at once, or a name that a program cannot remove without recursing.
func isFarFetched(d deed, spot, variant, id string) bool {
	if id != treeRoot && id != treeHome && id != treeSystem && id != adminRule && id != ownID {
		return false
	}
	emptied := strings.Count(spot, string(place.Perhaps)) - strings.Count(variant, string(place.Unknown)) + strings.Count(spot, string(place.Unknown))
	if emptied > 0 && (d == place.Copies || d == place.Removes && !place.IsWild(place.Base(variant))) {
		return true
	}
	bare := strings.Trim(strings.ReplaceAll(spot, string(place.Perhaps), ""), "/.") == "" && spot[0] == '/'
	return emptied > 1 && !bare
}

func (l *look) touchOne(d deed, spot string) string {
	if spot == "" {
		return ""
	}
	slashed := strings.HasSuffix(spot, "/")
	if spot[0] == '~' && takesAll(d) && l.g.home != "" {
		if id := l.rule(d, l.g.localSpelling(spot), slashed); strings.HasPrefix(id, "own.") {
			return id // the program may expand it
		}
		spot = "./" + spot // the shell has expanded every tilde that it would
	}
	spot = l.g.localSpelling(spot)
	switch spot[0] {
	case '/':
		return l.rule(d, spot, slashed)
	case place.Unknown:
		return l.climbing(d, place.Clean(spot))
	}
	return firstRule(l.cwds, func(cwd string) string { return l.rule(d, cwd+"/"+spot, slashed) })
}

// climbing checks a path whose beginning is unknown. If it climbs out of it by two folders or more and then names a tree of the system, it counts as that tree.
func (l *look) climbing(d deed, clean string) string {
	rest, climbs := clean, 0
	for strings.HasPrefix(rest, "../") {
		rest, climbs = rest[len("../"):], climbs+1
	}
	const enough = 2
	if climbs >= enough && takesAll(d) {
		if id := l.g.treeAt("/" + rest); id == treeSystem {
			return id
		}
	}
	return l.g.table.Rule(clean, d)
}

// rule returns the rule that a deed to an absolute spot breaks.
func (l *look) rule(d deed, spot string, slashed bool) string {
	clean := l.plain(place.Clean(l.led(spot))) // a step up is taken from where a process's folder leads
	if l.inside {
		return l.ruleInside(d, clean)
	}
	id := l.ruleThere(d, clean)
	if id == credRule && l.isLoose(d, clean) {
		return ""
	}
	if id != "" || place.IsVague(clean) {
		return id
	}
	if id = l.mapped(d, clean); id != "" || l.c.Remote != nil && l.c.Remote.Kind != shell.RemoteRoot {
		return id
	}
	leads := l.resolved(d, spot, clean, slashed)
	if leads == clean {
		return ""
	}
	return l.g.ruleAt(d, leads)
}

// ruleThere returns the rule at a place. On another machine, a folder need not hold another gate.
func (l *look) ruleThere(d deed, clean string) string {
	id := l.g.ruleAt(d, clean)
	if !strings.HasPrefix(id, "own.") || !l.elsewhere() {
		return id
	}
	named := map[deed]deed{place.Removes: place.Writes, place.Empties: place.Writes, place.Copies: place.Reads}
	if id = l.g.ruleAt(cmp.Or(named[d], d), clean); id == "" {
		l.s.t.doubts()
	}
	return id
}

// isLoose reports whether only a pattern of names in a project says that a secret is read: a person is asked what it matches there.
func (l *look) isLoose(d deed, clean string) bool {
	folder, name := path.Split(clean)
	if len(l.s.script.Commands) == 0 {
		return false
	}
	from, _ := l.s.script.Commands[0].Cwd.Text()
	below := place.Clean(from) + "/"
	project := !changes(d) && strings.ContainsAny(name, string([]byte{place.AnyText, place.AnyByte})) && len(below) > len("//") &&
		strings.HasPrefix(folder, below) && !strings.HasPrefix(l.g.home+"/", below)
	folder = strings.ReplaceAll(folder, place.AnyFolders+"/", "")
	return project && !place.IsVague(folder) && l.g.ownAt(clean, d) == "" && l.g.table.Rule(folder+"x", d) == ""
}

func (l *look) ruleInside(d deed, clean string) string {
	takes := takesAll(d)
	if changes(d) && l.g.table.IsDisk(clean) {
		return diskRule
	}
	if takes && !l.passing() && strings.Count(clean, "/") == 1 {
		if id := l.g.treeAt(clean); id == treeRoot || id == treeSystem {
			return id
		}
	}
	return l.mapped(d, clean)
}

// elsewhere says that the command runs on another machine.
func (l *look) elsewhere() bool {
	r := l.c.Remote
	return r != nil && r.Kind == shell.RemoteHost && !own.IsHere(reading.Spot(r.Target))
}

// passing reports whether the command runs in a container that is created for it.
func (l *look) passing() bool {
	return slices.ContainsFunc(l.c.Via, func(v string) bool { return strings.HasSuffix(v, " run") || strings.HasSuffix(v, " create") })
}

// resolved follows the links in a path. A removal does not follow the last one. The last answers
// are kept: a word is often asked about for several deeds, and many words lie in one folder.
func (l *look) resolved(d deed, spot, clean string, slashed bool) string {
	if takesAll(d) && !slashed {
		return path.Join(l.s.folder.of(l.g, path.Dir(clean)), path.Base(clean))
	}
	return l.s.file.of(l.g, spot)
}

// led is where a path led when it was last asked.
type led struct{ name, to string }

func (l *led) of(g *Guard, name string) string {
	if l.name != name {
		*l = led{name, realpath.On(g.machine, name)}
	}
	return l.to
}

// led resolves detours through process folders.
func (l *look) led(spot string) string {
	cwd := ""
	if len(l.cwds) > 0 {
		cwd = l.cwds[0]
	}
	return place.ByProcess(spot, cwd)
}

// plain resolves detours through process folders, and links that the line makes, in a clean path.
func (l *look) plain(clean string) string {
	clean = l.led(clean)
	if len(l.s.links) == 0 {
		return clean
	}
	for range 4 { // links may lead to links, and form a cycle
		clean = l.s.follow(clean)
	}
	return clean
}

// mapped checks what a path in a container, or below another root, is on this machine.
func (l *look) mapped(d deed, clean string) string {
	if l.c.Remote == nil {
		return ""
	}
	for _, m := range l.c.Remote.Mounts {
		inside, host := place.Clean(reading.Spot(m.Inside)), reading.Spot(m.Host)
		rest, ok := strings.CutPrefix(clean, strings.TrimRight(inside, "/"))
		if !ok || (rest != "" && rest[0] != '/') {
			continue
		}
		for _, v := range place.Variants(host) {
			if v == "" || l.g.localSpelling(v)[0] != '/' {
				continue
			}
			if id := l.g.ruleAt(d, place.Clean(l.g.localSpelling(v)+"/"+rest)); id != "" {
				return id
			}
		}
	}
	return ""
}

// ruleAt returns the rule that a deed to a clean absolute spot breaks.
func (g *Guard) ruleAt(d deed, clean string) string {
	if id := g.takenTree(d, clean); id != "" {
		return id
	}
	if id := g.ownAt(clean, d); id != "" {
		return id
	}
	if d != place.Reads && d != place.Copies && g.table.IsDisk(clean) {
		return diskRule
	}
	id := g.table.Rule(clean, d)
	if id == adminRule && g.adminHome {
		return ""
	}
	return id
}

// takenTree returns the rule that a deed breaks if it removes a whole tree.
func (g *Guard) takenTree(d deed, clean string) string {
	if !takesAll(d) {
		return ""
	}
	beside := d == place.Removes && clean != g.home && strings.Contains(place.Base(clean), ".") // hardly a home
	id := g.treeAt(clean)
	if id == treeHome && beside {
		return ""
	}
	return id
}

// deed is what is done to a target.
type deed = place.Op

// takesAll reports whether a deed leaves nothing in a place.
func takesAll(d deed) bool { return d == place.Removes || d == place.Empties }

// localSpelling returns the normal form of a spot, which may be relative.
func (g *Guard) localSpelling(spot string) string {
	return place.Local(spot, cmp.Or(g.home, "/home/"+string(place.Unknown)))
}

// treeAt returns the rule that is broken by removing a tree, or everything in it, if a clean spot is its root; otherwise "".
func (g *Guard) treeAt(clean string) string {
	return [...]string{place.NoTree: "", place.RootTree: treeRoot, place.HomeTree: treeHome, place.SystemTree: treeSystem}[g.table.TreeAt(clean)]
}
