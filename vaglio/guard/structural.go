package guard

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// survey is the examination of one command line.
type survey struct {
	file, folder led // where the last paths led
	g            *Guard
	// script is what the reader found, at the index of the command that is being checked.
	script *shell.Script
	at     int
	// links are the symbolic links that the line makes, by name.
	links map[string]string
	// find is the last search of the line.
	find findCall
	// shown are the paths that the line prints in full.
	shown printed
	// listsRoot says that an inline program lists the root, a home or a system tree; asksVaglio says that the line asks for vaglio's process.
	listsRoot, asksVaglio bool
	// listed are all operands of the listings in the line. Those that are files are printed as they stand.
	listed printed
	// copies are the copies of programs that the line makes, by name.
	copies map[string]string
	// asksMounts says that the line asks where file systems are mounted.
	asksMounts bool
	processes  processList
	// hosts are the names that the line gives this machine in a container.
	hosts []string
	// set are the variables that the line has set so far, by name, the newest last.
	set map[string][]setting
	// written says that the script stands in a file that the call writes.
	written bool
	// t collects what cannot be read.
	t *trouble
}

// examine checks every command of a script, and then the problems that the reader found: a known crime is a better reason than an unreadable rest.
func (g *Guard) examine(script *shell.Script, t *trouble) string {
	s := &survey{g: g, script: script, t: t}
	for i := range script.Commands {
		if script.Commands[i].Guess {
			continue // for the judges to weigh
		}
		s.at = i
		if id := s.command(&script.Commands[i]); id != "" {
			t.blame(&script.Commands[i])
			return id
		}
	}
	if slices.ContainsFunc(slices.Collect(maps.Values(script.Wrote)), g.holdsProgram) { // its name says nothing of it later
		t.doubts()
	}
	return problemRule(script.Problems)
}

func problemRule(problems []shell.Problem) string {
	has := func(kind shell.ProblemKind) bool {
		return slices.ContainsFunc(problems, func(p shell.Problem) bool { return p.Kind == kind })
	}
	switch {
	case has(shell.ProblemForkBomb):
		return forkRule
	case has(shell.ProblemInternal):
		return faultID
	}
	// What is too much to read is for the sender to fix, see [trouble]. What is known only when it runs is for the effects judge to weigh.
	return ""
}

// command returns the rule that one command breaks.
func (s *survey) command(c *shell.Command) string {
	l := &look{g: s.g, s: s, c: c}
	l.setPlace()
	if l.inside && !l.passing() && s.g.itself.HasUnit(place.Base(reading.Spot(c.Remote.Target))) {
		return ownProcess
	}
	if id := l.redirects(); id != "" {
		return id
	}
	if c.Call != nil {
		return l.call()
	}
	s.sets(c)
	if len(c.Argv) == 0 {
		return ""
	}
	l.args = l.argRoom[:0]
	for _, w := range c.Argv[1:] {
		l.args = append(l.args, reading.Spot(w))
	}
	s.hosted(l.args)
	if len(c.Via) > 0 && slices.ContainsFunc(l.args, s.g.mentionsOwn) {
		return ownID // the core has not seen what was encoded
	}
	name := programName(c)
	at := l.absolute(reading.Spot(c.Argv[0]))
	if s.g.isProgram(at) {
		name = "vaglio"
	}
	if from := l.copyOf(at); from != "" {
		name = place.Base(from)
	}
	return l.program(name)
}

// programName returns the name by which the tables know a program.
func programName(c *shell.Command) string {
	if name, ok := strings.CutSuffix(strings.ToLower(c.Name), ".exe"); ok {
		return name // a Windows program, whose name ignores case
	}
	return c.Name
}

// setPlace determines where the command runs.
func (l *look) setPlace() {
	r := l.c.Remote
	l.inside = r != nil && (r.Kind == shell.RemoteContainer || r.Kind == shell.RemotePod) && !r.HostAccess
	l.cwds = l.cwdRoom[:0]
	cwd := reading.Spot(l.c.Cwd)
	if strings.IndexByte(cwd, ':') == 1 {
		cwd = l.g.localSpelling(cwd) // a Windows drive
	}
	for _, v := range place.Variants(cwd) {
		if v != "" {
			l.cwds = append(l.cwds, l.cwdOf(v))
		}
	}
}

// cwdOf returns a folder in which the command may run. If its start is unknown, it is distinct from all known folders.
func (l *look) cwdOf(v string) string {
	switch r := l.c.Remote; {
	case v[0] == '/':
		return path.Clean(v)
	case r != nil && r.Kind == shell.RemoteHost:
		return "/home/" + string(place.Unknown) + "/" + v
	default:
		return "/" + string(place.Unknown) + "/" + v
	}
}

// redirects checks the files that the shell opens, and what is written to a control group.
func (l *look) redirects() string {
	if l.regroups() {
		return ownProcess
	}
	for _, r := range l.c.Redirects {
		var d deed
		switch r.Kind {
		case shell.RedirectRead:
			if l.c.Name == "wc" { // prints only how much there is
				continue
			}
			d = place.Reads
		case shell.RedirectWrite:
			d = place.Replaces
		case shell.RedirectAppend, shell.RedirectReadWrite:
			d = place.Writes
		}
		target := reading.Spot(r.Target)
		if id := l.touch(d, target); id != "" {
			return id
		}
		if peer, ok := strings.CutPrefix(target, "/dev/tcp/"); ok && l.g.itself.Answers(strings.ReplaceAll(peer, "/", ":")) {
			return ownCommand
		}
	}
	return ""
}

// program checks a command by what its tool does to its operands.
func (l *look) program(name string) string {
	if l.inside && l.passing() && strings.HasPrefix(name, "vaglio") {
		return ""
	}
	if l.inside && len(l.args) > 1 && l.g.base.Nouns["agent"][name] { // its hook is not there
		l.s.t.doubts()
	}
	id, known := l.told(name)
	if own := l.talks(name, known || l.c.Wrapper); own != "" {
		return own
	}
	if l.handsSettings(name) {
		l.s.t.doubts()
	}
	return l.afterTold(name, id, known)
}

// afterTold checks a program once it is clear which rule its known operations break, if any, and whether the knowledge base knows it.
func (l *look) afterTold(name, id string, known bool) string {
	switch {
	case id != "":
		return id
	case known && l.g.base.Harmless[name]: // whatever its options are
		return ""
	case known:
		return l.madeAs()
	case l.c.Wrapper:
		return ""
	default:
		return l.unknownProgram(l.g.base.Does(name))
	}
}

// unknownProgram checks every word of a program that the tables do not know: whatever it does, some targets are none of its business. partly says that some
// uses of the program are known. Then this use need not change what it names; it may only show it.
func (l *look) unknownProgram(partly bool) string {
	if l.s.written {
		return "" // for example a test of what is forbidden
	}
	if id := l.operands(place.Uses); id != "" {
		return id
	}
	l.putsBeside()
	switch id := l.operands(place.Writes); {
	case id != ownProcess && id != ownSettings:
	case id == ownProcess && !partly, l.inPlace() && !slices.ContainsFunc(l.ops, isRead):
		return id
	case id == ownProcess:
		if id := l.madeAs(); id != "" {
			return id
		}
		l.s.t.doubts()
	}
	return l.tail()
}

// inPlace reports whether an option, or the first word as a subcommand, means with most programs that the named files are changed.
func (l *look) inPlace() bool {
	for i, a := range l.args {
		option, _, _ := strings.Cut(a, "=")
		long, isLong := strings.CutPrefix(option, "--")
		if wordclass.Is("in-place", option) && (i == 0 || option[0] == '-') || isLong && wordclass.Is("in-place", long) {
			return true
		}
	}
	return false
}

// putsBeside notes if an option that names the output with most programs names a folder with something of vaglio's.
func (l *look) putsBeside() {
	l.destined(func(_, where string) string {
		if l.beside(l.absolute(where)) != "" {
			l.s.t.doubts()
		}
		return ""
	})
}

// isRead reports whether an operation leaves its object as it is.
func isRead(o operation.Operation) bool {
	return o.Verb == operation.Read || o.Verb == operation.Inspect
}

// madeAs returns the rule that is broken if such an option names a file of vaglio's that the program is not known to read.
func (l *look) madeAs() string {
	return l.destined(func(option, where string) string {
		read := func(o operation.Operation) bool { return isRead(o) && reading.Spot(o.Object.Word) == where }
		if id := l.touch(place.Replaces, where); strings.HasPrefix(id, "own.") && (option == "-o" || option[1] == '-') && !slices.ContainsFunc(l.ops, read) {
			return id
		}
		return ""
	})
}

// destined applies a rule to the values of such options.
func (l *look) destined(rule func(option, where string) string) string {
	for i, a := range l.args {
		option, where, told := strings.Cut(a, "=")
		if !told && i+1 < len(l.args) {
			where = l.args[i+1]
		}
		if wordclass.Is("destination-option", option) {
			if id := rule(option, where); id != "" {
				return id
			}
		}
	}
	return ""
}

// operands checks a deed to every word, whole and in its parts.
func (l *look) operands(d deed) string {
	return firstRule(l.args, func(a string) string { return l.operand(d, a) })
}

// operand checks a deed to everything that a word may name.
func (l *look) operand(d deed, word string) string {
	whole := true // the whole word is checked even if the budget is used up
	for name := range place.InWord(word) {
		const bytes = 32 // in the time of comparing a name with the whole table
		if !whole && !l.s.t.checks(1+len(name)/bytes) {
			return ""
		}
		whole = false
		if id := l.touch(d, name); id != "" {
			return id
		}
	}
	return ""
}

// tail checks the end of an unknown program's words as a command of its own: the program may be an unknown wrapper.
func (l *look) tail() string {
	for i, a := range l.args[:max(0, len(l.args)-1)] {
		name := place.Base(a)
		if name == "vaglio" && l.g.base.Nouns["admin-word"][l.args[i+1]] || wordclass.Is("acts-on-system", name) {
			return l.nested(name, l.args[i+1:])
		}
	}
	return ""
}

// follow replaces the beginning of a path that is a link made by this line.
func (s *survey) follow(clean string) string {
	for end := len(clean); end > 0; end-- { // the innermost link counts
		if !place.IsStep(clean[end:]) {
			continue
		}
		if to, ok := s.links[clean[:end]]; ok && !strings.HasPrefix(to, clean) {
			return place.Clean(to + clean[end:])
		}
	}
	return clean
}
