package commands

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/golden"
	"github.com/metnos/vaglio/vaglio/operation"
)

const documentHead = `# What is known of programs

Every program that vaglio knows, and what it is known to do. Search for yours. If it is in none of
the lists, a person is asked; the policy's [programs](reference.md#policy-file) can say how far it
reaches.

Generated from the tables in vaglio/commands/tables. The guard and the judge of effects both read
what a program does to its operands; what subcommands mean is read by the judge. *(final)* marks
what only the guard looks at, *(graded)* what only the judge does.

`

// TestDocument compares docs/programs.md with the tables. Run it with -update after changing
// a table.
func TestDocument(t *testing.T) {
	t.Parallel()
	golden.Check(t, "../../docs/programs.md", documentText(load(t)))
}

func documentText(b *Base) string {
	var out strings.Builder
	out.WriteString(documentHead)
	out.WriteString("## What is done to what\n\n| does | to | programs |\n|---|---|---|\n")
	programs := map[string][]string{}
	var inert []string
	for _, name := range namesOf(b) {
		for _, sec := range b.actingOn(name) {
			phase := ""
			if sec.phase != operation.Both {
				phase = " (" + string(sec.phase) + ")"
			}
			if sec.inert {
				inert = append(inert, name)
			}
			for i := range sec.acts {
				line := sec.acts[i].document() + phase
				if !slices.Contains(programs[line], name) {
					programs[line] = append(programs[line], name)
				}
			}
		}
	}
	for _, line := range slices.Sorted(maps.Keys(programs)) {
		fmt.Fprintf(&out, "| %s | %s |\n", line, strings.Join(programs[line], " "))
	}
	fmt.Fprintf(&out, "\n## Programs that open none of the files that their words name\n\n%s\n", strings.Join(inert, " "))
	fmt.Fprintf(&out, "\n## Programs whose subcommands are known\n\n%s\n", strings.Join(slices.DeleteFunc(slices.Sorted(maps.Keys(b.Judged)), func(name string) bool {
		return strings.ContainsAny(name, "(:") // lines that programs share, and side effects
	}), " "))
	fmt.Fprintf(&out, "\n## Programs that only read\n\n%s\n", strings.Join(slices.Sorted(maps.Keys(b.Harmless)), " "))
	fmt.Fprintf(&out, "\n## Programs that work in the workspace\n\n%s\n", strings.Join(slices.Sorted(maps.Keys(b.Devtools)), " "))
	return out.String()
}

// document returns an act as two cells of a table.
func (a *act) document() string {
	line := string(a.verb) + " | " + documentPlaces(a.where)
	if a.with != nil {
		line += ", with " + documentPlaces(a.with)
	}
	return line
}

func documentPlaces(list []where) string {
	var places []string
	for i := range list {
		place := list[i].document()
		if list[i].below != "" {
			place += ", `" + list[i].below + "` below it"
		}
		places = append(places, place)
	}
	return strings.Join(places, ", ")
}

func (w *where) document() string {
	var names []string
	for _, f := range w.flags {
		names = append(names, "`"+f.name+"`")
	}
	options := strings.Join(names, " ")
	switch w.kind {
	case whereWhole:
		return "what it is set up for"
	case whereOperands:
		if w.from > 0 {
			return fmt.Sprintf("the operands after %d", w.from)
		}
		return "the operands"
	case whereOperand:
		return fmt.Sprintf("operand %d", w.from+1)
	case whereLast:
		return "the last operand"
	case whereSources:
		return "the sources"
	case whereTarget:
		return "the target"
	case whereWords:
		return "every word"
	case whereValue:
		return "the value of " + options
	case whereAt:
		return "what follows " + w.key + " in " + options
	case whereKey:
		return "the value of `" + w.key + "`"
	case whereBefore:
		return "what stands before a colon in " + options
	case whereField:
		return "the value of `" + w.key + "` in any word"
	case whereOption:
		return "the first option"
	case wherePairs:
		return "every second operand, with the one before it"
	case whereRest:
		return "a command of the words from an operand on"
	case whereHere:
		return "the folder in which it works"
	case wherePaths:
		return "every word that can only be a path"
	case whereStarts:
		return "where the search begins"
	case whereTests:
		return "the tests of the search"
	case whereScript:
		return "what a text in " + w.key + " names"
	case whereInput:
		return "the names in its input"
	case whereVariable:
		return "the value of `$" + w.key + "`"
	}
	return ""
}

// TestEveryVerbIsUsed holds that every verb of the engine is used in the tables. A verb that
// no program does is dead.
func TestEveryVerbIsUsed(t *testing.T) {
	t.Parallel()
	b := load(t)
	used := map[operation.Verb]bool{}
	for _, name := range namesOf(b) {
		for _, sec := range b.actingOn(name) {
			for i := range sec.acts {
				used[sec.acts[i].verb] = true
			}
		}
	}
	for _, v := range operation.Verbs() {
		if !used[v] {
			t.Errorf("no table says %q", v)
		}
	}
}

// namesOf returns the programs for which the tables say what they do to which objects, sorted.
func namesOf(b *Base) []string {
	var names []string
	for name := range b.acting {
		names = append(names, name)
	}
	for _, f := range b.families {
		names = append(names, f.pattern)
	}
	slices.Sort(names)
	return names
}
