package guard

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/realpath"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// linked checks a target that gets another name.
func (l *look) linked(o *operation.Operation, spot string) string {
	switch id := l.touch(place.Uses, spot); id {
	case "", vitalRule, adminRule, kernelRule, bootRule, authWrite:
	default:
		return id
	}
	to := l.nameOf(o, spot)
	l.renames(spot)
	l.remember(spot, to)
	l.lands(spot, to)
	if l.g.ownAt(l.absolute(spot), place.Writes) != "" { // a later call may change it under the other name
		l.s.t.doubts()
	}
	if o.To.Is("") {
		return l.touch(place.Writes, to)
	}
	return ""
}

// renames notes if vaglio's own program gets another name, under which nobody would know it later.
func (l *look) renames(spot string) {
	if l.g.isProgram(l.absolute(spot)) {
		l.s.t.doubts()
	}
}

// lands notes if a whole folder, of which nobody knows what it holds, may come to stand where a project keeps settings that install the hook.
func (l *look) lands(spot, to string) {
	at := l.absolute(to)
	switch _, there := l.g.machine.Readlink(at); {
	case l.inside || at == "":
	case l.g.holdsLocal(l.absolute(to + "/" + place.Base(spot))),
		l.g.holdsLocal(at) && (there != realpath.Other || l.has("--no-target-directory", "T")): // in the folder's place, not into it
		l.s.t.doubts()
	}
}

// has reports whether one of the words is a long option, or short ones of which one is such a letter.
func (l *look) has(long, letters string) bool {
	if _, asked := l.had[long]; !asked {
		if l.had == nil {
			l.had = map[string]bool{}
		}
		l.had[long] = slices.ContainsFunc(l.args, func(a string) bool {
			return a == long || len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.ContainsAny(a, letters)
		})
	}
	return l.had[long]
}

func (l *look) nameOf(o *operation.Operation, spot string) string {
	if o.To.Is("") {
		return "./" + place.Base(spot)
	}
	return reading.Spot(o.To)
}

// aliased records where a new name leads. With several sources, it is not known which name leads where.
func (l *look) aliased(o *operation.Operation, spot string) string {
	if l.alias == o && len(l.cwds) > 0 {
		l.s.addLink(l, spot, l.nameOf(o, spot))
	}
	return ""
}

// setsAlternative reports whether the command makes links, and all of them may lead to programs or libraries of the system.
func (l *look) setsAlternative() bool {
	links := func(o operation.Operation) bool { return o.Verb == operation.Link }
	return slices.ContainsFunc(l.ops, links) && !slices.ContainsFunc(l.ops, func(o operation.Operation) bool {
		return links(o) && !isSystemFile(reading.Spot(o.Object.Word))
	})
}

// isSystemFile reports whether a link's target may be a program or a library of the system.
func isSystemFile(s string) bool {
	return s == "" || s[0] != '/' || inProgramFolder(s) || strings.HasPrefix(s, "/lib") || strings.HasPrefix(s, "/usr/lib") ||
		strings.HasPrefix(s, "/etc/alternatives/")
}

// addLink records a symbolic link that the line makes.
func (s *survey) addLink(l *look, target, name string) {
	name = l.absolute(name)
	to := target
	if name == "" || to == "" || place.IsVague(to) || place.IsVague(name) {
		return
	}
	if to[0] != '/' {
		if to = l.g.localSpelling(to); to[0] != '/' {
			to = name[:strings.LastIndexByte(name, '/')] + "/" + to
		}
	}
	if s.links == nil {
		s.links = map[string]string{}
	}
	to = place.Clean(to)
	if to != name {
		s.links[name] = to
	}
	// The name may be an existing folder; then the link is made inside, under the target's name.
	if base := place.Base(to); base != "" {
		if below := strings.TrimRight(name, "/") + "/" + base; below != to {
			s.links[below] = to
		}
	}
}

func (l *look) absolute(spot string) string {
	if spot == "" {
		return ""
	}
	spot = l.g.localSpelling(spot)
	if spot[0] == '/' {
		return place.Clean(spot)
	}
	if len(l.cwds) == 0 {
		return ""
	}
	return place.Clean(l.cwds[0] + "/" + spot)
}

// remember records which program a copy was made of.
func (l *look) remember(source, to string) {
	where := l.absolute(to)
	if where == "" { // nowhere, or in a folder that is not known
		return
	}
	from := l.absolute(source)
	if l.g.isProgram(from) {
		from = "vaglio"
	}
	if !inProgramFolder(from) && !strings.Contains(place.Base(from), "vaglio") {
		return
	}
	if l.s.copies == nil {
		l.s.copies = map[string]string{}
	}
	l.s.copies[where], l.s.copies[where+"/"+place.Base(from)] = from, from
}

// copyOf returns the program of which the line made a copy at a path, by whatever means.
func (l *look) copyOf(where string) string {
	content := l.s.script.Wrote[where]
	if l.g.holdsProgram(content) || slices.ContainsFunc(content.Parts(), func(p shell.Part) bool {
		_, coded, _ := strings.Cut(p.From, " ") // and decoded again
		return coded != "" && l.g.isProgram(coded)
	}) {
		return "vaglio"
	}
	return l.s.copies[where]
}

// holdsProgram reports whether a file's content is that of one of vaglio's programs, or part of it.
func (g *Guard) holdsProgram(content shell.Word) bool {
	return slices.ContainsFunc(content.Parts(), func(p shell.Part) bool { return p.File != "" && g.isProgram(p.File) })
}

// hosted notes the names that a container's options give this machine.
func (s *survey) hosted(args []string) {
	for _, a := range args {
		if host, ok := strings.CutSuffix(a, "host-gateway"); ok && host != "" {
			s.hosts = append(s.hosts, strings.TrimPrefix(host[:len(host)-1], "--add-host="))
		}
	}
}

// setting is what a command sets a variable to, until as in [shell.Command].
type setting struct {
	value shell.Word
	until int
}

// sets notes the variables that a command sets for those behind it in its shell, or sets no longer. One that stays what it is, as HOME does, is not set.
func (s *survey) sets(c *shell.Command) {
	if c.Remote != nil {
		return
	}
	if c.Name == "unset" && !c.Conditional {
		for _, w := range c.Argv[1:] {
			s.unset(w.String(), c.Until)
		}
	}
	if len(c.Argv) > 0 && !slices.Contains([]string{"export", "declare", "typeset"}, c.Name) {
		return
	}
	for _, a := range c.Assigns {
		switch same := a.Name == "HOME" && s.g.isHome(a.Value); {
		case !same:
			if s.set == nil {
				s.set = map[string][]setting{}
			}
			s.set[a.Name] = append(s.set[a.Name], setting{a.Value, c.Until})
		case !c.Conditional:
			s.unset(a.Name, c.Until)
		}
	}
}

// unset forgets a variable, in a shell that ends there.
func (s *survey) unset(name string, until int) {
	if set := s.set[name]; len(set) > 0 {
		s.set[name] = slices.DeleteFunc(set, func(v setting) bool { return v.until == until })
	}
}

// given are the variables that the command alone gets. Where it gets nothing else, its home is not the person's.
func (l *look) given() []shell.Assign {
	given := l.c.Assigns
	at := slices.IndexFunc(given, func(a shell.Assign) bool { return a.Name == "HOME" })
	switch {
	case at >= 0 && l.g.isHome(given[at].Value):
		return slices.Delete(slices.Clone(given), at, at+1)
	case at < 0 && slices.Contains(l.c.Via, "env -i"):
		return append(slices.Clone(given), shell.Assign{Name: "HOME", Value: shell.Text("/")})
	default:
		return given
	}
}

// isHome reports whether a variable's value is the home itself.
func (g *Guard) isHome(value shell.Word) bool {
	return g.home != "" && place.Clean(g.localSpelling(reading.Spot(value))) == place.Clean(g.home)
}

// earlier is what a variable was set to in the command's shell, or in one that runs that.
func (l *look) earlier(name string) (shell.Word, bool) {
	for _, v := range slices.Backward(l.s.set[name]) {
		if v.until == 0 || l.s.at < v.until {
			return v.value, true
		}
	}
	return shell.Word{}, false
}

// remove returns the rule that removing an object breaks.
func (l *look) remove(d deed, o string) string {
	if l.leftOut(o) {
		return ""
	}
	if id := l.touch(d, o); id != "" {
		return id
	}
	switch {
	case l.inRoot(d, o):
		return treeRoot
	case o == string(place.Perhaps) && l.listed():
		return l.removeListed(d)
	default:
		return ""
	}
}

// inRoot reports whether an unknown object is something that the line, or an inline program, has listed in the root.
func (l *look) inRoot(d deed, o string) bool {
	if l.c.Call != nil {
		return l.s.listsRoot && place.IsOpaque(strings.ReplaceAll(o, "/", ""))
	}
	return d == place.Empties && strings.Trim(o, "/") == string(place.Perhaps) && l.s.listed.have["/"] && l.comesFrom("lists-again")
}

// removeListed returns the rule that removing what the line has listed breaks.
func (l *look) removeListed(d deed) string {
	if id := l.firstOf(l.s.shown, func(o string) string { return l.touch(d, o) }); id != "" {
		return id
	}
	return firstRule(l.cwds, func(cwd string) string { return l.rule(place.Empties, cwd, true) })
}

// listed reports whether unknown words of the command come from a listing of its own folder.
func (l *look) listed() bool {
	if l.lists == nil { // each word asks, and all words answer
		lists := l.comesFrom("lists-files")
		l.lists = &lists
	}
	return *l.lists
}

// comesFrom reports whether part of the command's words, or of the names of its redirected files, is the output of a program of the given class.
func (l *look) comesFrom(class string) bool {
	printed := func(p shell.Part) bool {
		by := p.From
		if program, _, _ := strings.Cut(by, " "); wordclass.Is("prints-processes", program) { // behind it stands what it looks for
			by = program
		}
		return l.g.base.Nouns[class][by] && !p.Some
	}
	named := func(w shell.Word) bool { return slices.ContainsFunc(w.Parts(), printed) }
	return slices.ContainsFunc(l.c.Argv, named) ||
		slices.ContainsFunc(l.c.Redirects, func(r shell.Redirect) bool { return named(r.Target) })
}

// isTree reports whether a spot is a root, a home or a system tree.
func (l *look) isTree(spot string) bool {
	return slices.Contains([]string{treeRoot, treeHome, treeSystem}, l.touch(place.Empties, spot))
}

// nameIn returns the name that a thing gets in a folder, or "" if that is not known: what an installation makes of a project can have any name.
func nameIn(o *operation.Operation, thing string) string {
	if o.Verb == operation.Fill && (strings.HasPrefix(thing, ".") || strings.HasPrefix(thing, "/")) {
		return ""
	}
	name, _, _ := strings.Cut(place.Base(thing), "@")
	if strings.Trim(name, ".") == "" {
		return ""
	}
	return name
}
