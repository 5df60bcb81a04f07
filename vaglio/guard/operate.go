package guard

import (
	"cmp"
	"strings"

	"github.com/metnos/vaglio/vaglio/commands"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
)

// weigh gives the rule that an operation breaks: what is done, held against
// where.
type weigh func(*look, *operation.Operation, string) string

// verbTable says what is asked of the object of each verb. What is in no row
// breaks no rule.
func verbTable() map[operation.Verb]weigh {
	return map[operation.Verb]weigh{
		operation.Use:     func(l *look, o *operation.Operation, spot string) string { return l.opens(place.Uses, o, spot) },
		operation.Read:    (*look).reads,
		operation.Inspect: (*look).reads,
		operation.Copy:    (*look).copied,
		operation.Link:    (*look).linked,
		operation.Alias:   (*look).aliased,
		operation.Create:  changing(place.Writes),
		operation.Write:   changing(place.Writes),
		operation.Fill:    changing(place.Writes),
		operation.Replace: changing(place.Replaces),
		operation.Empty:   changing(place.Replaces),
		operation.Delete:  (*look).taken,
		operation.Discard: (*look).taken,
		operation.Trash:   (*look).taken,
		operation.Move:    (*look).taken,
		operation.Clean:   (*look).cleaned,
		operation.Cover:   (*look).covered,

		operation.Format:    reshaping(formatRule),
		operation.Partition: reshaping(tableRule),
		operation.Destroy:   reshaping(volumeRule),

		operation.Boot:     always(bootRule),
		operation.Memory:   always(memoryRule),
		operation.Hashes:   always(authRead),
		operation.Secrets:  always(keyRule),
		operation.KillAll:  (*look).killedOf,
		operation.Kernel:   always(kernelRule),
		operation.Govern:   always(ownCommand),
		operation.Ungate:   always(ownSettings),
		operation.Accounts: (*look).accounts,

		operation.Permit: (*look).permitted,
		operation.Own:    (*look).owned,
		operation.Mark:   (*look).marked,
		operation.Lend:   (*look).lent,

		operation.Kill:      (*look).killed,
		operation.KillNamed: (*look).killedByName,
		operation.Close:     (*look).closed,
		operation.Stop:      (*look).stopped,
		operation.Disable:   (*look).disabled,
		operation.Uninstall: (*look).uninstalled,
		operation.Install:   (*look).installed,
		operation.Attach:    (*look).attached,
		operation.RemoveHome: func(l *look, _ *operation.Operation, spot string) string {
			if spot != "" && spot == l.g.user { // that goes with the home
				return treeHome
			}
			return ""
		},
		operation.Unregister: (*look).unregistered,

		operation.Search: (*look).searched,
		operation.Sweep:  (*look).swept,
		operation.Run:    (*look).run,
		operation.Carry:  func(l *look, _ *operation.Operation, _ string) string { return l.unknownProgram(false) },
		operation.List:   remembering((*survey).lists),
		operation.Show:   remembering(func(s *survey, _ *look, _ *operation.Operation, spot string) { s.shown = append(s.shown, spot) }),
		operation.Seek:   remembering((*survey).seeks),
		operation.Trace:  remembering((*survey).traces),
		operation.Census: remembering(func(s *survey, _ *look, _ *operation.Operation, _ string) { s.processes.all = true }),
		operation.Pick:   remembering((*survey).picks),
		operation.Mounts: remembering(func(s *survey, _ *look, _ *operation.Operation, _ string) { s.asksMounts = true }),
	}
}

// always is for what breaks a rule whatever it is done to.
func always(id string) weigh { return func(*look, *operation.Operation, string) string { return id } }

// changing is for what is written.
func changing(d deed) weigh {
	return func(l *look, o *operation.Operation, spot string) string { return l.changes(d, o, spot) }
}

// reshaping is for what happens to a device: the rule, or what is said of
// writing if the object is an ordinary file that gets a file system.
func reshaping(id string) weigh {
	return func(l *look, o *operation.Operation, spot string) string {
		switch {
		case o.Object.Kind == operation.Whole || l.touch(place.Uses, spot) == diskRule || strings.HasPrefix(spot, "/dev/") || place.IsOpaque(spot):
			return id
		case o.Verb == operation.Format:
			return l.touch(place.Writes, spot)
		default:
			return ""
		}
	}
}

// remembering is for what breaks no rule, but may be taken up by what follows.
func remembering(note func(*survey, *look, *operation.Operation, string)) weigh {
	return func(l *look, o *operation.Operation, spot string) string {
		note(l.s, l, o, spot)
		return ""
	}
}

// told gives the rule that a program's operations break, and whether the
// knowledge base says anything of the program.
func (l *look) told(name string) (string, bool) {
	// A spot is text to the knowledge base, which cuts it where it would cut the
	// word: what is not known stays as it is written.
	words := make([]shell.Word, len(l.args))
	for i, a := range l.args {
		words[i] = shell.Text(a)
	}
	t := l.g.base.Tell(commands.Command{
		Name: name, Words: words, Texts: l.args, Fed: l.c.Stdin.Piped || l.c.Stdin.Kind != 0, Input: l.c.Stdin.Text,
		Assigns: l.c.Assigns, Earlier: l.earlier,
	})
	l.ops = t.Operations
	for i := range t.Operations {
		if id := l.operation(&t.Operations[i]); id != "" {
			return id, true
		}
	}
	if len(t.Gaps) > 0 {
		l.s.t.spent(t.Gaps[0].What)
	}
	return "", t.Known
}

// operation gives the rule that one operation breaks. Of those that the judge of
// effects alone weighs it is one about vaglio itself.
func (l *look) operation(o *operation.Operation) string {
	graded := o.Phase == operation.Graded
	spot := reading.Spot(o.Object.Word)
	w := l.g.verbs[o.Verb]
	if w == nil || graded && !o.Verb.Alters() || o.Role == operation.Mention && !o.Parts && o.Object.Kind == operation.Path && !place.IsMeant(spot) {
		return "" // also of a word among others that is no path
	}
	id := w(l, o, spot)
	if graded && !strings.HasPrefix(id, "own.") {
		return ""
	}
	return id
}

// reads is for what is read; all below a folder may be taken along.
func (l *look) reads(o *operation.Operation, spot string) string {
	l.s.asksVaglio = l.s.asksVaglio || l.g.itself.Keeps(spot)
	if start := l.foundBelow(spot); start != "" && l.straight() && o.Verb != operation.Inspect {
		return l.opens(place.Copies, o, start)
	}
	if o.Recursive {
		return l.opens(place.Copies, o, spot)
	}
	return l.opens(place.Reads, o, spot)
}

// copied is for what is read and put elsewhere.
func (l *look) copied(o *operation.Operation, spot string) string {
	id := l.reads(o, spot)
	if id == "" {
		l.remember(spot, reading.Spot(o.To))
	}
	return id
}

// taken is for a file that goes from where it is.
func (l *look) taken(o *operation.Operation, spot string) string {
	d := place.Removes
	if o.Recursive || o.Verb == operation.Move {
		d = place.Empties
	}
	id := l.remove(d, spot)
	l.empties(spot)
	if id == "" && o.Verb == operation.Move {
		return l.touch(place.Reads, spot)
	}
	return id
}

// empties notes a folder that goes in which a project's settings that install the hook
// may lie.
func (l *look) empties(spot string) {
	if !l.inside && l.g.holdsLocal(l.absolute(spot)) {
		l.s.t.doubts()
	}
}

// cleaned is for a folder in which nothing is left that nobody keeps.
func (l *look) cleaned(_ *operation.Operation, spot string) string {
	l.empties(spot)
	if id := l.touch(place.Empties, spot); strings.HasPrefix(id, "own.") || l.isTree(spot) {
		return id
	}
	return ""
}

// covered is for what is hidden behind something else: for the machine where a
// target is, or for one program alone.
func (l *look) covered(o *operation.Operation, spot string) string {
	if o.Role == operation.Target && l.isProgramTree(spot) {
		return treeSystem
	}
	if given(o) == spot {
		return ""
	}
	l.empties(spot)
	if id := l.touch(place.Removes, spot); strings.HasPrefix(id, "own.") {
		return id
	}
	return ""
}

// accounts is for what decides who may log in, root and the user among it: what
// is done to them locks out the person. Those of a container are its own.
func (l *look) accounts(o *operation.Operation, spot string) string {
	person := !l.inside && spot != "" && (spot == "root" || spot == l.g.user)
	if person || o.Object.Kind == operation.Whole || l.touch(place.Writes, spot) == authWrite {
		return authWrite
	}
	return ""
}

// opens gives the rule about a file that is read or handed to a program. One
// on another machine counts where its name cannot be meant as one from here.
func (l *look) opens(d deed, o *operation.Operation, spot string) string {
	switch {
	case o.Object.Host && !place.IsMeant(spot) && !strings.HasPrefix(spot, "."):
		return ""
	case strings.HasPrefix(spot, "/proc/") && l.s.asksVaglio && place.IsVague(spot):
		return ownProcess // the number is what a search for the gate prints
	case o.Parts:
		return l.operand(d, spot)
	default:
		return l.touch(d, spot)
	}
}

// changes gives the rule about a file that is written.
func (l *look) changes(d deed, o *operation.Operation, spot string) string {
	if o.Object.Host {
		return ""
	}
	id := cmp.Or(l.touch(d, spot), l.fills(d, o, spot))
	if o.Role == operation.Inside && (id == vitalRule || id == diskRule) {
		return "" // the target is hardly a folder of programs
	}
	if id == vitalRule && l.setsAlternative() {
		return ""
	}
	if id == "" && d == place.Replaces && strings.HasPrefix(spot, "/dev/") && place.IsOpaque(spot[len("/dev/"):]) {
		return diskRule
	}
	return id
}

// fills gives the rule about what gets its own name in a folder, or is put without one
// where a program of vaglio's lies. What an installation makes, or lies where a client's
// settings do, may be another file: that is asked.
func (l *look) fills(d deed, o *operation.Operation, spot string) (id string) {
	told := len(o.With) > 0
	for _, w := range o.With {
		name := nameIn(o, reading.Spot(w))
		id, told = cmp.Or(id, l.touch(d, spot+"/"+name)), told && name != ""
	}
	folder := l.absolute(spot)
	here := o.Verb == operation.Fill || spot == "." // which is not said to lie outside the workspace
	rule, above := l.beside(folder), here && !l.inside && l.g.ownBelow(folder)
	if told || id != "" || rule == "" && !above {
		return id
	}
	surely, perhaps := l.named(folder)
	switch {
	case surely && o.Role != operation.Operand: // which has a name of its own, whatever others have
		return ""
	case surely, perhaps, rule != ownProcess, o.Verb == operation.Fill, o.Phase == operation.Graded:
		return l.s.t.doubts()
	default:
		return rule
	}
}

// nameIn is the name that a thing gets in a folder, "" if that is not known: what an
// installation makes of a project has any name.
func nameIn(o *operation.Operation, thing string) string {
	if o.Verb == operation.Fill && (strings.HasPrefix(thing, ".") || strings.HasPrefix(thing, "/")) {
		return ""
	}
	name, _, _ := strings.Cut(place.Base(thing), "@")
	return strings.Trim(name, ".")
}

// beside gives the rule about a folder of this machine, see [Guard.ownIn].
func (l *look) beside(folder string) string {
	if l.inside {
		return ""
	}
	return l.g.ownIn(folder)
}

// named says whether an operation names what is put into a folder, and not just another
// folder of which all is; perhaps says that one may, by the name of what it comes from.
func (l *look) named(folder string) (surely, perhaps bool) {
	for i := range l.ops {
		o := &l.ops[i]
		switch spot := reading.Spot(o.Object.Word); o.Verb {
		case operation.Copy, operation.Move, operation.Link:
			surely = surely || place.Base(spot) != "." && !strings.HasSuffix(spot, "/")
		case operation.Create, operation.Write, operation.Replace:
			below := strings.HasPrefix(l.absolute(spot), folder+"/")
			surely, perhaps = surely || below && o.Role != operation.Inside, perhaps || below
		default:
		}
	}
	return surely, perhaps
}

// run is for a command line, or for a program with its words.
func (l *look) run(o *operation.Operation, spot string) string {
	if o.With == nil {
		return l.lineRule(spot)
	}
	if l.depth > 1 {
		return ""
	}
	name, _, _ := strings.Cut(spot[strings.LastIndexByte(spot, '#')+1:], "@")
	in := *l
	in.depth, in.args, in.tests = l.depth+1, nil, nil
	for _, w := range o.With {
		in.args = append(in.args, reading.Spot(w))
	}
	return in.program(place.Base(name))
}

// lineRule gives the rule that a word breaks if it is a command line.
func (l *look) lineRule(text string) string {
	o := l.options("")
	if len(l.cwds) == 1 {
		o.Cwd = l.cwds[0]
	}
	script := reading.ReadLine(text, o)
	id := l.g.examine(script, l.s.t)
	l.s.t.note("", script.Problems, "", 0, false)
	return id
}
