package guard

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/internal/own"
	"github.com/metnos/vaglio/internal/realpath"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
)

// ownPlace is a file or folder that vaglio is made of.
type ownPlace struct {
	path, rule string // the clean path, and the rule about it
	// closed says that nobody may read it or anything below it; deep says that nobody may copy a folder above it.
	closed, deep bool
	// exact says that a name with unknown parts does not mean it; anywhere says that it counts in every folder.
	exact, anywhere bool
}

// setOwn adds the places that vaglio is made of, as configured and as resolved.
func (g *Guard) setOwn(f *own.Facts) {
	g.itself = f
	for _, n := range f.Processes { // its open files and its environment
		g.own = append(g.own, ownPlace{path: "/proc/" + strconv.Itoa(n), rule: ownProcess, closed: true, exact: true})
	}
	for _, name := range f.Local {
		g.own = append(g.own, ownPlace{path: "/" + name, rule: ownSettings, exact: true, anywhere: true})
	}
	for _, of := range [...]struct {
		paths []string
		ownPlace
	}{
		{f.Data, ownPlace{rule: ownID, closed: true, deep: true}},
		{f.Config, ownPlace{rule: ownID, closed: true}},
		{f.Programs, ownPlace{rule: ownProcess}},
		{f.Settings, ownPlace{rule: ownSettings}},
	} {
		for _, p := range of.paths {
			if p = path.Clean(p); p == "." {
				continue
			}
			for _, p := range slices.Compact([]string{p, realpath.Resolve(p)}) {
				of.path = p
				g.own = append(g.own, of.ownPlace)
				g.mention(&of.ownPlace)
			}
		}
	}
}

// mention records how a text may name a closed place.
func (g *Guard) mention(p *ownPlace) {
	if !p.closed {
		return
	}
	g.mentions = append(g.mentions, p.path)
	if rest, ok := strings.CutPrefix(p.path, strings.TrimRight(g.home, "/")+"/"); ok {
		g.mentions = append(g.mentions, "~/"+rest, "$HOME/"+rest, "${HOME}/"+rest)
		g.inHome = append(g.inHome, rest)
	}
}

// ownAt returns the rule that a deed to vaglio's own places breaks: any deed at or below closed places, changing any, and removing or copying what holds them.
func (g *Guard) ownAt(clean string, d deed) string {
	if d == place.Copies && clean != g.home && strings.HasPrefix(g.home, clean) && (clean == "/" || place.IsStep(g.home[len(clean):])) {
		d = place.Reads // the judges weigh a backup of all homes
	}
	vague := place.IsVague(clean)
	for i := range g.own {
		if p := &g.own[i]; p.touched(clean, d) || vague && !p.exact && p.meant(clean, d) {
			return p.rule
		}
	}
	return ""
}

// changes reports whether a deed changes a file.
func changes(d deed) bool { return takesAll(d) || d == place.Writes || d == place.Replaces }

func (p *ownPlace) touched(clean string, d deed) bool {
	if p.anywhere {
		return changes(d) && strings.HasSuffix(clean, p.path)
	}
	if strings.HasPrefix(clean, p.path) && place.IsStep(clean[len(p.path):]) {
		return p.closed || changes(d)
	}
	return p.above(d) && strings.HasPrefix(p.path, clean) && place.IsStep(p.path[len(clean):])
}

// above reports whether a deed to a folder reaches a place below it.
func (p *ownPlace) above(d deed) bool { return takesAll(d) || d == place.Copies && p.deep }

// meant reports whether a partly unknown spot may be the place, or lie below it, or, for a deed that reaches down, contain it.
func (p *ownPlace) meant(spot string, d deed) bool {
	if spot == "/" || !p.closed && !changes(d) {
		return false
	}
	left, spot := strings.TrimPrefix(p.path, "/"), strings.TrimPrefix(spot, "/")
	for left != "" && spot != "" {
		var name, step string
		name, left, _ = strings.Cut(left, "/")
		step, spot, _ = strings.Cut(spot, "/")
		if !place.Meet(step, name) {
			return false
		}
	}
	return left == "" || p.above(d)
}

// isOwnAt reports whether a clean spot is one of vaglio's own places, configured or from the table.
func (g *Guard) isOwnAt(clean string, d deed) bool {
	return g.ownAt(clean, d) != "" || g.table.Rule(clean, d) == ownID
}

// isOwn reports whether a clean path is a closed place or below one.
func (g *Guard) isOwn(where string) bool { return g.ownAt(where, place.Reads) != "" }

// mentionsOwn reports whether a text names one of vaglio's own places anywhere, or their default folder.
func (g *Guard) mentionsOwn(text string) bool {
	return place.Mentions(text, ".local/share/metnos") || slices.ContainsFunc(g.mentions, func(own string) bool { return place.Mentions(text, own) })
}

// handsSettings reports whether a command hands a client's settings, or their folder, to code of the project that was not read.
func (l *look) handsSettings(name string) bool {
	if l.s.written || l.c.Wrapper {
		return false
	}
	byPath := len(l.c.Argv) > 0 && strings.Contains(reading.Spot(l.c.Argv[0]), "/") && !l.g.base.Does(name)
	unread := func(p shell.Problem) bool { return p.Kind == shell.ProblemScriptFile && p.Interpreter == name }
	if !byPath && !slices.ContainsFunc(l.s.script.Problems, unread) {
		return false
	}
	words := slices.Concat(l.args, lists.Each(l.c.Assigns, func(a shell.Assign) string { return reading.Spot(a.Value) }))
	return slices.ContainsFunc(words, func(w string) bool {
		return l.operand(place.Writes, w) == ownSettings || l.g.ownIn(l.absolute(w)) == ownSettings
	})
}

// ownIn returns the rule that is broken by putting unnamed things into a folder that holds a program of vaglio's, or a client's settings.
func (g *Guard) ownIn(folder string) string {
	for i := range g.own {
		p := &g.own[i]
		in := path.Dir(p.path)
		its := folder == in || p.anywhere && in != "/" && strings.HasSuffix(folder, in)
		if its && !p.closed && folder != g.home && !strings.HasPrefix(folder, "/etc") {
			return p.rule
		}
	}
	return ""
}

// ownBelow says whether a program of vaglio's or a client's settings lie anywhere below a folder of this machine.
func (g *Guard) ownBelow(folder string) bool {
	return slices.ContainsFunc(g.own, func(p ownPlace) bool {
		return !p.anywhere && !p.closed && strings.HasPrefix(p.path, folder) && place.IsStep(p.path[len(folder):])
	})
}

// holdsLocal reports whether a folder has the name of one in which a project keeps settings that install the hook.
func (g *Guard) holdsLocal(clean string) bool {
	return slices.ContainsFunc(g.own, func(p ownPlace) bool { return p.anywhere && strings.HasSuffix(clean, path.Dir(p.path)) })
}

// listing notes what is listed. What the gate keeps may not even be listed, under whatever name.
func (l *look) listing(o *operation.Operation, spot string) string {
	l.s.lists(l, o, spot)
	if id := l.touch(place.Reads, spot); strings.HasPrefix(id, "own.") {
		return id
	}
	return ""
}

// isProgram reports whether a file is, or may be, one of vaglio's programs.
func (g *Guard) isProgram(at string) bool {
	return slices.ContainsFunc(g.itself.Programs, func(p string) bool {
		name := place.Base(at)
		return p == at || place.IsWild(name) && path.Dir(at) == path.Dir(p) && place.Meet(name, place.Base(p))
	})
}

// talks returns the rule that a program breaks which may talk to the gate: it connects to what its words or a variable name, or is unknown.
func (l *look) talks(name string, known bool) string {
	if known && !l.g.base.Nouns["connects"][strings.TrimRight(name, "0123456789.")] && !l.g.base.Devtools[name] {
		l.takesAddress(name)
		return ""
	}
	if l.c.Remote == nil && l.g.base.Nouns["tunnels"][name] && slices.ContainsFunc(l.args, l.hasPort) {
		return ownCommand // it opens a port to others
	}
	text, _ := l.c.Stdin.Text.Text()
	if l.mayReach() {
		l.s.t.doubts()
	}
	if l.answers(strings.Join(l.args, " ")+"\n"+text) || l.isTold() || len(l.c.Argv) > 0 && l.answers(reading.Spot(l.c.Argv[0])) {
		return ownCommand
	}
	return ""
}

// mayReach reports whether a variable names the gate's address, or the words a range of this machine's ports with one of the gate's.
func (l *look) mayReach() bool {
	names := func(a shell.Assign) bool { return l.answers(a.Value.String()) }
	if l.c.Remote == nil && (slices.ContainsFunc(l.args, l.g.itself.MayAnswer) || slices.ContainsFunc(l.c.Argv, countsPorts)) {
		return true
	}
	return slices.ContainsFunc(l.c.Assigns, names) || slices.ContainsFunc(l.args, l.g.itself.SpansPort) && slices.ContainsFunc(l.args, own.IsHere)
}

// countsPorts reports whether a word is an address of this machine whose port is each number of a sequence.
func countsPorts(w shell.Word) bool {
	before, _, found := strings.Cut(strings.ReplaceAll(w.String(), ":$(seq)", ":${number}"), ":${number}")
	return found && own.IsHere(before[strings.LastIndexAny(before, "/@")+1:])
}

// takesAddress notes if a program that fetches from addresses among other words is given the gate's.
func (l *look) takesAddress(name string) {
	its := func(a string) bool {
		return strings.Contains(a, "://") && !strings.ContainsAny(a, " \n") && l.answers(a)
	}
	if l.g.base.Nouns["takes-address"][name] && slices.ContainsFunc(l.args, its) {
		l.s.t.doubts()
	}
}

// hasPort reports whether a word is a port of the gate's, perhaps glued to its option.
func (l *look) hasPort(word string) bool {
	return slices.ContainsFunc(strings.Fields(word), l.g.itself.HasPort) || len(word) > 2 && word[0] == '-' && l.g.itself.HasPort(word[2:])
}

// isTold reports whether one of the command's words is the file of a process substitution,
// and a command shortly before it, where such commands stand, names the gate's address.
func (l *look) isTold() bool {
	const near = 4
	isFile := func(a string) bool { return strings.HasPrefix(a, "/dev/fd/") }
	names := func(w shell.Word) bool { return l.answers(w.String()) }
	before := l.s.script.Commands[max(0, l.s.at-near):l.s.at]
	return slices.ContainsFunc(l.args, isFile) && slices.ContainsFunc(before, func(c shell.Command) bool {
		return slices.ContainsFunc(c.Argv, names)
	})
}

// answers reports whether a text names the gate's address, as seen from where the command runs.
func (l *look) answers(text string) bool {
	if r := l.c.Remote; r != nil && r.Kind != shell.RemoteRoot && !r.HostNetwork {
		return r.Kind == shell.RemoteContainer && l.g.itself.AnswersContainer(text, l.s.hosts...)
	}
	return l.g.itself.Answers(text)
}

// namesOwn reports whether a pattern matches vaglio's process, by its name or, for a program with the option for it, by its command line.
func (l *look) namesOwn(pattern string) bool {
	return l.g.itself.Picked(inPattern(pattern, ".*", "."), l.has("--full", "f"))
}

// inPattern writes what a shell's pattern may match in the words of another kind of pattern: no file has that name, so that the program gets the pattern.
func inPattern(spot, text, char string) string {
	return strings.ReplaceAll(strings.ReplaceAll(spot, string([]byte{place.AnyText}), text), string([]byte{place.AnyByte}), char)
}

// isOwnProcess reports whether a PID is that of one of vaglio's processes. Signal 0 does no harm.
func (l *look) isOwnProcess(o *operation.Operation, spot string) bool {
	return l.g.itself.HasProcess(spot) && strings.TrimLeft(given(o), "-") != "0"
}
