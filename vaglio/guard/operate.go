package guard

import (
	"strings"

	"github.com/metnos/vaglio/vaglio/commands"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
)

// told gives the rule that a program's operations break, and whether the
// knowledge base says anything of the program.
func (l *look) told(name string) (string, bool) {
	if known, anything := l.g.base.Does(name); !anything {
		return "", known
	}
	// A spot is text to the knowledge base, which cuts it where it would cut the
	// word: what is not known stays as it is written.
	words := make([]shell.Word, len(l.args))
	for i, a := range l.args {
		words[i] = shell.Text(a)
	}
	fed := l.c != nil && (l.c.Stdin.Piped || l.c.Stdin.Kind != 0)
	t := l.g.base.Tell(commands.Call{Name: name, Words: words, Texts: l.args, Fed: fed})
	for i := range t.Operations {
		if id := l.operation(&t.Operations[i]); id != "" {
			return id, true
		}
	}
	if len(t.Gaps) > 0 {
		l.s.t.note("", []shell.Problem{{Kind: shell.ProblemTooCostly, Detail: wording.Clause{Text: t.Gaps[0].What}}}, "", noText, false)
	}
	return "", t.Known
}

// words gives the rule that the words of a program break as the knowledge base
// tells of it.
func (l *look) words(name string) string {
	id, _ := l.told(name)
	return id
}

// operation gives the rule that one operation breaks: what is done, held
// against where.
func (l *look) operation(o *operation.Operation) string {
	if id := unconditional(o.Verb); id != "" {
		return id
	}
	spot := spotOf(o.Object.Word)
	switch o.Verb {
	case operation.Use:
		return l.opens(uses, o, spot)
	case operation.Read, operation.Inspect:
		return l.opens(readingOf(o), o, spot)
	case operation.Copy:
		id := l.opens(readingOf(o), o, spot)
		if id == "" {
			l.remember([]string{spot}, spotOf(o.To))
		}
		return id
	case operation.Create, operation.Write:
		return l.changes(writes, o, spot)
	case operation.Replace, operation.Empty:
		return l.changes(replaces, o, spot)
	case operation.Delete, operation.Discard, operation.Move:
		return l.takes(o, spot)
	case operation.Format, operation.Partition, operation.Destroy:
		return l.reshapes(o, spot)
	case operation.Accounts:
		if o.Object.Kind == operation.Whole || l.touch(writes, spot) == authWrite {
			return authWrite
		}
	}
	return ""
}

// readingOf is what reading an object means: all below a folder may be taken
// along.
func readingOf(o *operation.Operation) deed {
	if o.Recursive {
		return copies
	}
	return reads
}

// unconditional is the rule that a verb breaks whatever it is done to.
func unconditional(v operation.Verb) string {
	switch v {
	case operation.Boot:
		return bootRule
	case operation.Memory:
		return memoryRule
	case operation.Hashes:
		return authRead
	case operation.Secrets:
		return keyRule
	case operation.KillAll:
		return killRule
	default:
		return ""
	}
}

// takes gives the rule about a file that goes from where it is.
func (l *look) takes(o *operation.Operation, spot string) string {
	d := removes
	if o.Recursive || o.Verb == operation.Move {
		d = empties
	}
	id := l.removeAll(d, []string{spot})
	if id == "" && o.Verb == operation.Move {
		return l.touch(reads, spot)
	}
	return id
}

// opens gives the rule about a file that is read or handed to a program. One
// on another machine counts where its name cannot be meant as one from here.
func (l *look) opens(d deed, o *operation.Operation, spot string) string {
	switch {
	case o.Object.Host && !looksLikePath(spot) && !strings.HasPrefix(spot, "."):
		return ""
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
	id := l.touch(d, spot)
	if id != "" && o.Role == operation.Inside && (id == vitalRule || id == diskRule) {
		return "" // the target is hardly a folder of programs
	}
	if id == "" && d == replaces && strings.HasPrefix(spot, "/dev/") && isOpaque(spot[len("/dev/"):]) {
		return diskRule
	}
	return id
}

// reshapes gives the rule about what happens to a device: the verb's own, or
// what is said of writing if the object is an ordinary file that gets a file
// system.
func (l *look) reshapes(o *operation.Operation, spot string) string {
	rule := map[operation.Verb]string{operation.Format: formatRule, operation.Partition: tableRule, operation.Destroy: volumeRule}[o.Verb]
	switch {
	case o.Object.Kind == operation.Whole || l.onDevice(spot):
		return rule
	case o.Verb == operation.Format:
		return l.touch(writes, spot)
	default:
		return ""
	}
}

// onDevice says whether an operand is or may be a device rather than a file.
func (l *look) onDevice(o string) bool {
	if l.touch(uses, o) == diskRule {
		return true
	}
	return strings.HasPrefix(o, "/dev/") || (o != "" && isOpaque(o))
}
