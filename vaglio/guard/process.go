package guard

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/own"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// killed checks a process that gets a signal. It must not be the first one, and not every one.
func (l *look) killed(o *operation.Operation, spot string) string {
	if id := l.killsListed(spot); id != "" {
		return id
	}
	if l.isOwnProcess(o, spot) || l.c.Call != nil && l.g.itself.HasUnit(spot) {
		return ownProcess
	}
	switch signal := strings.TrimPrefix(strings.ToUpper(given(o)), "SIG"); signal {
	case "0", "HUP", "CONT", "WINCH", "18", "28":
		return ""
	default:
		return l.killsEverything(spot, signal)
	}
}

// killsEverything checks a signal to the first process, or to all of them. A container's processes are its own, unless the gate runs in it.
func (l *look) killsEverything(spot, signal string) string {
	switch {
	case spot != "-1" && (spot != "1" || signal == "1") && (!anyNumber(spot) || l.s.looksInto()):
		return ""
	case !l.inside:
		return killRule
	case l.namesOwn(reading.Spot(l.c.Remote.Target)):
		return ownProcess
	default:
		return ""
	}
}

// looksInto reports whether a command reads something in every folder of a pattern: what a process is called, say, to pick some.
func (s *survey) looksInto() bool {
	return slices.ContainsFunc(s.script.Commands, func(c shell.Command) bool {
		return slices.ContainsFunc(c.Argv, func(w shell.Word) bool {
			_, file, ok := strings.Cut(reading.Spot(w), string(place.AnyText)+"/")
			return ok && file != ""
		})
	})
}

// anyNumber reports whether a pattern stands for PIDs: the names of the folders in /proc.
func anyNumber(spot string) bool {
	marks := string([]byte{place.AnyText, place.AnyByte})
	return strings.ContainsAny(spot, marks) && strings.Trim(spot, marks+"0123456789") == ""
}

// killsListed checks a signal to the processes whose PIDs the line asks for.
func (l *look) killsListed(spot string) string {
	switch list := &l.s.processes; {
	case !place.IsVague(spot):
		return ""
	case l.s.asksVaglio:
		return ownProcess
	case list.init, list.all && !list.filtered && (l.comesFrom("lists-processes") || l.isField()):
		return killRule
	default:
		return ""
	}
}

// isField reports whether one of the command's words is a column that awk prints.
func (l *look) isField() bool {
	return slices.ContainsFunc(l.c.Argv, func(w shell.Word) bool {
		return slices.ContainsFunc(w.Parts(), func(p shell.Part) bool { return p.Name == "$" && p.MayBeEmpty })
	})
}

// killedByName checks the processes of a name.
func (l *look) killedByName(_ *operation.Operation, spot string) string {
	switch {
	case l.namesOwn(spot):
		return ownProcess
	case picksAll(spot):
		return killRule
	default:
		return ""
	}
}

// killedOf is for every process, or all of a user's: root's, or those of the gate's user.
func (l *look) killedOf(o *operation.Operation, spot string) string {
	switch init, its := l.g.worksFor(spot); {
	case o.Object.Kind == operation.Whole, init:
		return killRule
	case its && !l.inside:
		return ownProcess
	default:
		return ""
	}
}

// worksFor says whether one of some users, as pkill and pgrep list them, has the first process, or the gate's.
func (g *Guard) worksFor(users string) (init, its bool) {
	for user := range strings.SplitSeq(users, ",") {
		init = init || user == "root" || user == "0"
		its = its || user != "" && user == g.user && len(g.itself.Processes) > 0 || g.itself.HasUnit(user)
	}
	return init, its
}

// picksAll reports whether a name pattern picks the first process, everybody's processes, or all of them.
func picksAll(pattern string) bool {
	return own.AnyName(pattern) || wordclass.Is("picks-all", strings.ToLower(pattern))
}

// closed checks a file whose users are stopped.
func (l *look) closed(o *operation.Operation, spot string) string {
	where := l.absolute(spot)
	switch {
	case l.g.isOwnAt(where, place.Uses), l.g.isProgram(where), l.g.itself.HasPort(spot):
		return ownProcess
	case !o.Parts && l.isTree(spot) && !strings.HasPrefix(where, "/mnt") && !strings.HasPrefix(where, "/media"):
		return killRule
	default:
		return ""
	}
}

// allOfUser finds the service or the slice in which all runs that a user does.
var allOfUser = regexp.MustCompile(`^user(?:@\d+|-\d+\.slice)`)

// stopped checks a service that is stopped. It must not be one that everything else runs in.
func (l *look) stopped(_ *operation.Operation, spot string) string {
	switch {
	case wordclass.Is("holds-all", spot), spot == string(place.AnyText):
		return killRule
	case allOfUser.MatchString(spot):
		return ownProcess
	default:
		return ""
	}
}

// disabled checks a service, a package or a session that is changed.
func (l *look) disabled(_ *operation.Operation, spot string) string {
	listed := l.s.asksVaglio && place.IsVague(spot)
	if listed || l.g.itself.Picked(strings.TrimSuffix(spot, ".service"), false) || l.g.itself.HasUnit(inPattern(spot, "*", "?")) {
		return ownProcess
	}
	return ""
}

// attached checks a process that a debugger attaches to, and what lies in a container.
func (l *look) attached(o *operation.Operation, spot string) string {
	unit, _, below := strings.Cut(spot, ":") // a file in a container
	its := func(of string) bool {
		program := place.Base(of) != of && (l.g.isProgram(of) || l.g.itself.HasUnit(place.Base(of))) // a probe in it
		return below && program || l.isOwnProcess(o, strings.TrimLeft(of, "-p"))
	}
	parts := strings.FieldsFunc(spot, func(r rune) bool { return strings.ContainsRune("= ,:", r) })
	if l.s.asksVaglio && place.IsVague(spot) || below && l.g.itself.HasUnit(unit) || slices.ContainsFunc(parts, its) {
		return ownProcess
	}
	return ""
}

// regroups reports whether the PID of one of vaglio's processes is moved into a control group, which can stop it.
func (l *look) regroups() bool {
	group := func(w shell.Word) bool { return strings.HasPrefix(reading.Spot(w), "/sys/fs/cgroup/") }
	its := func(w shell.Word) bool {
		s := strings.TrimSpace(reading.Spot(w))
		return l.g.itself.HasProcess(s) || l.s.asksVaglio && place.IsVague(s)
	}
	return (slices.ContainsFunc(l.c.Argv, group) || slices.ContainsFunc(l.c.Redirects, func(r shell.Redirect) bool { return group(r.Target) })) &&
		(slices.ContainsFunc(l.c.Argv, its) || its(l.c.Stdin.Text))
}

// processList is what a line has found out about the running processes.
type processList struct {
	// all says that it lists all of them, filtered that it then picks some.
	all, filtered bool
	// init says that it asks for the first one.
	init bool
}

// lists records the names of a folder that are printed. What is printed with its folder may be passed to another command.
func (s *survey) lists(_ *look, _ *operation.Operation, spot string) {
	s.listed.add(spot)
	if place.IsVague(spot) {
		s.shown.add(spot)
	}
}

func (s *survey) seeks(l *look, o *operation.Operation, spot string) {
	init, its := false, false
	if o.Role == operation.Option {
		init, its = s.g.worksFor(spot)
	}
	if o.Object.Kind == operation.Whole || init || picksAll(spot) {
		s.processes.init = true
		return
	}
	s.asksVaglio = s.asksVaglio || its || l.namesOwn(spot)
}

// traces records a search for who has a name or uses a file.
func (s *survey) traces(l *look, _ *operation.Operation, spot string) {
	s.asksVaglio = s.asksVaglio || s.g.itself.Picked(spot, false) || spot != "" && s.g.isOwnAt(l.absolute(spot), place.Uses) || s.g.itself.HasPort(spot)
}

// picks records that a list of processes is narrowed down by a later command that keeps only some lines: what ps itself is asked for only adds to all. A
// command that does something with every line keeps them all.
func (s *survey) picks(l *look, _ *operation.Operation, spot string) {
	if !l.c.Stdin.Piped { // it searches /proc
		s.asksVaglio = s.asksVaglio || s.g.itself.Picked(spot, true)
		return
	}
	s.asksVaglio = s.asksVaglio || s.g.itself.HasPort(strings.Trim(spot, "/^$ "))
	everyLine := strings.HasPrefix(strings.TrimSpace(spot), "{") && !strings.Contains(spot, "if")
	if !s.processes.all || everyLine || spot == "" || spot[0] == '-' {
		return
	}
	s.processes.filtered = true
	name, _, _ := strings.Cut(spot, "{")
	s.asksVaglio = s.asksVaglio || s.g.itself.Picked(strings.Trim(name, "/^$ "), false)
}

// unregistered is for a key of the registry: not one by which Windows starts and knows its programs and users. A program's own key is the judge's to weigh.
func (l *look) unregistered(_ *operation.Operation, spot string) string {
	key := strings.Trim(strings.ToLower(strings.ReplaceAll(spot, `\`, "/")), "/")
	for pattern := range l.g.base.Nouns["vital-key"] {
		if vital, _ := path.Match(pattern, key); vital {
			return vitalRule
		}
	}
	return ""
}

// release matches what follows the name of a package: its version, or its file's extension.
var release = regexp.MustCompile(`(?:[@=_.]|-\d).*$`)

// installed checks a package whose programs are put where programs are found.
func (l *look) installed(_ *operation.Operation, spot string) string {
	name := release.ReplaceAllString(place.Base(spot), "")
	its := func(program string) bool { return path.Base(program) == name }
	if !l.inside && (name == "vaglio" || slices.ContainsFunc(l.g.itself.Programs, its)) {
		return ownProcess
	}
	return ""
}

// uninstalled checks a package that is removed. It must be no part of the system, and not vaglio.
func (l *look) uninstalled(o *operation.Operation, spot string) string {
	name, _, _ := strings.Cut(spot, ":")
	switch {
	case strings.HasPrefix(name, "vaglio"):
		return ownProcess
	case l.inside:
		return "" // a container's packages are its image's
	case o.Object.Kind == operation.Whole || l.g.base.Nouns["essential-package"][name] || place.IsWild(spot):
		return packageRule
	case spot == "*" || spot == ".*" || spot == "~i" || spot == "?essential":
		return packageRule
	default:
		return ""
	}
}
