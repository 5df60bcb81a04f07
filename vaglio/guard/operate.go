package guard

import (
	"cmp"
	"strings"

	"github.com/metnos/vaglio/vaglio/commands"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// weigh returns the ID of the rule that an operation on a spot breaks, or "".
type weigh func(*look, *operation.Operation, string) string

// verbTable holds the check for each verb. A verb without a row breaks no rule.
func verbTable() map[operation.Verb]weigh {
	return map[operation.Verb]weigh{
		operation.Use:        func(l *look, o *operation.Operation, spot string) string { return l.opens(place.Uses, o, spot) },
		operation.Read:       (*look).reads,
		operation.Inspect:    (*look).reads,
		operation.Copy:       (*look).copied,
		operation.Link:       (*look).linked,
		operation.Alias:      (*look).aliased,
		operation.Create:     changing(place.Writes),
		operation.Write:      changing(place.Writes),
		operation.Fill:       changing(place.Writes),
		operation.Replace:    changing(place.Replaces),
		operation.Empty:      changing(place.Replaces),
		operation.Delete:     (*look).taken,
		operation.Discard:    (*look).taken,
		operation.Trash:      (*look).taken,
		operation.Move:       (*look).taken,
		operation.Clean:      (*look).cleaned,
		operation.Cover:      (*look).covered,
		operation.Format:     reshaping(formatRule),
		operation.Partition:  reshaping(tableRule),
		operation.Destroy:    reshaping(volumeRule),
		operation.Permit:     (*look).permitted,
		operation.Own:        (*look).owned,
		operation.Mark:       (*look).marked,
		operation.Lend:       (*look).lent,
		operation.Boot:       always(bootRule),
		operation.Memory:     always(memoryRule),
		operation.Hashes:     always(authRead),
		operation.Secrets:    always(keyRule),
		operation.KillAll:    (*look).killedOf,
		operation.Kernel:     always(kernelRule),
		operation.Govern:     always(ownCommand),
		operation.Ungate:     always(ownSettings),
		operation.Accounts:   (*look).accounts,
		operation.Kill:       (*look).killed,
		operation.KillNamed:  (*look).killedByName,
		operation.Close:      (*look).closed,
		operation.Stop:       (*look).stopped,
		operation.Disable:    (*look).disabled,
		operation.Uninstall:  (*look).uninstalled,
		operation.Install:    (*look).installed,
		operation.Attach:     (*look).attached,
		operation.RemoveHome: (*look).dismissed,
		operation.Unregister: (*look).unregistered,
		operation.Search:     (*look).searched,
		operation.Sweep:      (*look).swept,
		operation.Run:        (*look).run,
		operation.Carry:      func(l *look, _ *operation.Operation, _ string) string { return l.unknownProgram(false) },
		operation.List:       (*look).listing,
		operation.Show:       remembering(func(s *survey, _ *look, _ *operation.Operation, spot string) { s.shown.add(spot) }),
		operation.Seek:       remembering((*survey).seeks),
		operation.Trace:      remembering((*survey).traces),
		operation.Census:     remembering(func(s *survey, _ *look, _ *operation.Operation, _ string) { s.processes.all = true }),
		operation.Pick:       remembering((*survey).picks),
		operation.Mounts:     remembering(func(s *survey, _ *look, _ *operation.Operation, _ string) { s.asksMounts = true }),
	}
}

// dismissed checks a user whose home goes, too.
func (l *look) dismissed(_ *operation.Operation, spot string) string {
	if spot != "" && spot == l.g.user {
		return treeHome
	}
	return ""
}

// always returns a check that every object breaks.
func always(id string) weigh { return func(*look, *operation.Operation, string) string { return id } }

// changing returns a check of what is written.
func changing(d deed) weigh {
	return func(l *look, o *operation.Operation, spot string) string { return l.changes(d, o, spot) }
}

// reshaping returns a check of what happens to a device. Formatting an ordinary file counts as writing to it.
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

// remembering returns a check that breaks no rule, but notes what later commands may use.
func remembering(note func(*survey, *look, *operation.Operation, string)) weigh {
	return func(l *look, o *operation.Operation, spot string) string {
		note(l.s, l, o, spot)
		return ""
	}
}

// told returns the rule that a program's operations break, and whether the knowledge base knows the program.
func (l *look) told(name string) (string, bool) {
	// The knowledge base takes a spot as text and cuts it where it would cut the word: unknown parts stay as they are written.
	t := l.g.base.Tell(commands.Command{
		Name: name, Words: shell.Texts(l.args), Texts: l.args, Fed: l.c.Stdin.Kind != shell.InputInherited, Input: l.c.Stdin.Text,
		Assigns: l.given(), Earlier: l.earlier,
	})
	l.does(t.Operations)
	for i := range t.Operations {
		if id := l.operation(&t.Operations[i]); id != "" {
			return id, t.Known
		}
	}
	if t.Spent {
		l.s.t.spent("the names that " + name + " puts together")
	}
	return "", t.Known
}

// operation returns the rule that one operation breaks. For operations that only the effects judge weighs, only the rules about vaglio itself count.
func (l *look) operation(o *operation.Operation) string {
	graded := o.Phase == operation.Graded
	spot := reading.Spot(o.Object.Word)
	w := l.g.verbs[o.Verb]
	if w == nil || graded && !o.Verb.Alters() || o.Role == operation.Mention && !o.Parts && o.Object.Kind == operation.Path && !place.IsMeant(spot) {
		return "" // also for a word among others that is no path
	}
	id := w(l, o, spot)
	if graded && !strings.HasPrefix(id, "own.") {
		return ""
	}
	return id
}

// reads checks what is read, possibly with everything below a folder.
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

// copied checks what is read and put elsewhere.
func (l *look) copied(o *operation.Operation, spot string) string {
	id := l.reads(o, spot)
	if id == "" {
		l.renames(spot)
		l.remember(spot, reading.Spot(o.To))
		if o.Recursive {
			l.lands(spot, reading.Spot(o.To))
		}
	}
	return id
}

// taken checks a file that is removed from its place.
func (l *look) taken(o *operation.Operation, spot string) string {
	d := place.Removes
	if o.Recursive || o.Verb == operation.Move {
		d = place.Empties
	}
	if at := strings.LastIndexByte(spot, '/'); o.Recursive && at > 0 && place.IsWild(spot[at+1:]) && l.g.table.Classes(l.absolute(spot[:at]))&place.Cache != 0 {
		spot = spot[:at] // a cache loses no less if it goes as a whole
	}
	id := cmp.Or(l.remove(d, spot), l.empties(spot))
	if o.Verb == operation.Move {
		l.lands(spot, reading.Spot(o.To))
	}
	if id == "" && o.Verb == operation.Move {
		return l.touch(place.Reads, spot)
	}
	return id
}

// empties returns the rule that removing a folder breaks which holds a project's settings that install the hook, and notes if it may hold some.
func (l *look) empties(spot string) string {
	at := l.absolute(spot)
	if l.inside || !l.g.holdsLocal(at) {
		return ""
	}
	if l.g.losesSettings(at) {
		return ownSettings
	}
	return l.s.t.doubts()
}

// cleaned checks a folder that loses everything that nobody keeps.
func (l *look) cleaned(_ *operation.Operation, spot string) string {
	if id := cmp.Or(l.empties(spot), l.touch(place.Empties, spot)); strings.HasPrefix(id, "own.") || l.isTree(spot) {
		return id
	}
	return ""
}

// covered checks what is hidden behind something else: for the whole machine if it is a target, or else for one program alone.
func (l *look) covered(o *operation.Operation, spot string) string {
	if o.Role == operation.Target && wordclass.Is("program-tree", l.absolute(spot)) {
		return treeSystem
	}
	if given(o) == spot || spot == "." || strings.HasSuffix(spot, "/.") { // nobody knows what it keeps of the folder
		return ""
	}
	if id := cmp.Or(l.empties(spot), l.touch(place.Removes, spot)); strings.HasPrefix(id, "own.") {
		return id
	}
	return ""
}

// accounts checks changes to who may log in. Changing root or the user locks out the person. A container's accounts are its own.
func (l *look) accounts(o *operation.Operation, spot string) string {
	person := !l.inside && spot != "" && (spot == "root" || spot == l.g.user)
	if person || o.Object.Kind == operation.Whole || l.touch(place.Writes, spot) == authWrite {
		return authWrite
	}
	return ""
}

// opens returns the rule that reading a file, or handing it to a program, breaks. A file on another machine counts only if its name may mean one here.
func (l *look) opens(d deed, o *operation.Operation, spot string) string {
	switch {
	case o.Object.Host && !place.IsMeant(spot) && !strings.HasPrefix(spot, "."):
		return ""
	case strings.HasPrefix(spot, "/proc/") && l.s.asksVaglio && place.IsVague(spot):
		return ownProcess // the PID is what a search for the gate prints
	case o.Parts:
		return l.operand(d, spot)
	default:
		return l.touch(d, spot)
	}
}

// changes returns the rule that writing to a file breaks.
func (l *look) changes(d deed, o *operation.Operation, spot string) string {
	if o.Object.Host {
		return ""
	}
	id := cmp.Or(l.touch(d, spot), l.fills(d, o, spot), l.unpacked(o, l.absolute(spot)))
	if o.Role == operation.Inside && isFarInside(spot, id) || id == vitalRule && l.setsAlternative() {
		return ""
	}
	if id == "" && d == place.Replaces && strings.HasPrefix(spot, "/dev/") && place.IsOpaque(spot[len("/dev/"):]) {
		return diskRule
	}
	return id
}

// isFarInside reports whether a source hardly gets a name in the target that breaks the rule: the
// target is hardly a folder of programs or disks, and "*" says no name of what it stands for.
func isFarInside(spot, id string) bool {
	return id == vitalRule || id == diskRule || place.Base(spot) == string(place.AnyText) && !strings.HasPrefix(id, "own.")
}

// fills returns the rule that is broken by putting things into a folder, under their own names or under unknown ones, if a program of vaglio's lies there.
// What an installation makes, or what lands beside a client's settings, may be another file, so a person is asked.
func (l *look) fills(d deed, o *operation.Operation, spot string) string {
	id, told := l.fillsNamed(d, o, spot)
	folder := l.absolute(spot)
	here := o.Verb == operation.Fill || spot == "." // which is not said to lie outside the workspace
	rule, above := l.beside(folder), here && !l.inside && l.g.ownBelow(folder)
	if told || id != "" || rule == "" && !above {
		return id
	}
	surely, perhaps := l.named(folder)
	switch {
	case surely && o.Role != operation.Operand: // it has a name of its own, whatever names the others have
		return ""
	case surely, perhaps, rule != ownProcess, o.Verb == operation.Fill, o.Phase == operation.Graded:
		return cmp.Or(l.brings(folder), l.s.t.doubts())
	default:
		return rule
	}
}

// fillsNamed returns the rule that is broken by putting the things that an operation names into a folder. told says that all of their names there are known.
func (l *look) fillsNamed(d deed, o *operation.Operation, spot string) (id string, told bool) {
	if told = len(o.With) > 0; len(o.With) > 1 && !l.s.t.checks(len(o.With)) {
		return "", told
	}
	for _, w := range o.With {
		name := nameIn(o, reading.Spot(w))
		id, told = cmp.Or(id, l.touch(d, spot+"/"+name)), told && name != ""
	}
	return id, told
}

// beside is [Guard.ownIn] for a folder of this machine.
func (l *look) beside(folder string) string {
	if l.inside {
		return ""
	}
	return l.g.ownIn(folder)
}

// named reports whether an operation names the thing that it puts into a folder, instead of putting in all of another folder. perhaps says that one may,
// judging by where the thing comes from.
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

// run checks a command line, or a program with its words.
func (l *look) run(o *operation.Operation, spot string) string {
	if o.With == nil {
		return l.lineRule(spot)
	}
	name, _, _ := strings.Cut(spot[strings.LastIndexByte(spot, '#')+1:], "@")
	args := make([]string, len(o.With))
	for i, w := range o.With {
		args[i] = reading.Spot(w)
	}
	return l.nested(place.Base(name), args)
}

// nested checks a program that is named among the words of another. However many of them name one another, all are checked, as far as the budget goes.
func (l *look) nested(name string, args []string) string {
	if !l.s.t.checks(len(args)) {
		return ""
	}
	in := &look{g: l.g, s: l.s, c: l.c, cwds: l.cwds, inside: l.inside, args: args}
	return in.program(name)
}

// lineRule returns the rule that a word breaks if it is a command line.
func (l *look) lineRule(text string) string {
	o := reading.LineOptions(l.g.home, l.g.user, "", l.s.t.means)
	if len(l.cwds) == 1 {
		o.Cwd = l.cwds[0]
	}
	script := reading.ReadLine(text, o)
	id := l.g.examine(script, l.s.t)
	l.s.t.note("", script.Problems, "", 0, false)
	return id
}
