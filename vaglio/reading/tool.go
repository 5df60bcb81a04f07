package reading

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// Deed is what an executor that is no shell does to the paths in its arguments, judging by the words of its name.
type Deed struct {
	// Verb is what it does, [operation.Use] if no word says.
	Verb operation.Verb
	// Lists says that it only lists names, Greps that it prints file contents, so that a pattern matches text.
	Lists, Greps bool
	// Local says that it works on files, or that its name is just a verb: a path is a local file.
	// Remote says that it works on something else, so that a path is no local file.
	Local, Remote bool
}

// does reads the words of the executor's name, and of the verb that an argument adds to them.
func (rd *Reading) does(args map[string]any) {
	words := rd.Words
	var inner []string
	for _, m := range rd.Marks {
		const longest = 32
		switch {
		case m.Role&RoleRuns != 0 || len(m.Text) > longest:
		case m.Inner():
			inner = append(inner, Words(m.Text)...)
		default:
			words = append(slices.Clip(words), Words(m.Text)...)
		}
	}
	rd.Deed = deedOf(words)
	if d := deedOf(inner); d.Verb != operation.Use && rd.Deed.Local { // elsewhere its paths may be those of a document
		rd.Deed.Verb, rd.Deed.Lists, rd.Deed.Greps = d.Verb, false, false
	}
	rd.aims(words, args)
}

// Inner reports whether the text stands within other arguments.
func (t *Text) Inner() bool { return strings.ContainsAny(t.At, ".[") }

// deedOf reads the words of a name; if they name several deeds, the last one in its table counts.
func deedOf(words []string) Deed {
	d := Deed{Verb: operation.Use, Lists: wordclass.Any("tool-lists", words), Greps: slices.Contains(words, "grep")}
	for _, of := range [...]struct {
		said bool
		verb operation.Verb
	}{
		{wordclass.Any("tool-writes", words), operation.Write},
		{wordclass.Any("tool-deletes", words), operation.Delete},
		{wordclass.Any("tool-moves", words), operation.Move},
		{wordclass.Any("tool-copies", words), operation.Copy},
		{wordclass.Any("tool-permits", words), operation.Permit},
	} {
		if of.said {
			d.Verb, d.Lists = of.verb, d.Lists && of.verb == operation.Copy
		}
	}
	files := wordclass.Any("tool-files", words)
	d.Remote = wordclass.Any("tool-remote", words) && !files
	d.Local = (files || len(words) == 1) && !d.Remote
	return d
}

// aims records which processes, services and packages a tool stops or removes, by number or by name.
func (rd *Reading) aims(words []string, args map[string]any) {
	var numbered, named []operation.Verb
	if wordclass.Any("tool-kills", words) {
		numbered = []operation.Verb{operation.Kill}
	}
	if wordclass.Any("tool-stops", words) {
		named = stopped(words)
	}
	for _, k := range SortedKeys(args) {
		role := rd.Role(k)
		if role&RolePid != 0 {
			rd.aim(numbered, Texts(args[k]))
		}
		if role&RoleThing != 0 {
			rd.aim(named, Texts(args[k]))
		}
	}
}

// stopped returns what a tool that stops or removes things does to those it names; nil if its name does not say what they are.
func stopped(words []string) (all []operation.Verb) {
	if wordclass.Any("tool-processes", words) {
		all = append(all, operation.KillNamed)
	}
	if wordclass.Any("tool-packages", words) {
		all = append(all, operation.Uninstall)
	}
	if all != nil || wordclass.Any("tool-services", words) {
		all = append([]operation.Verb{operation.Disable}, all...)
	}
	return all
}

func (rd *Reading) aim(verbs []operation.Verb, names []string) {
	for _, name := range names {
		name = strings.TrimSuffix(name, ".service")
		for _, v := range verbs {
			if name != "" {
				o := operation.Object{Kind: operation.Name, Word: shell.Text(name)}
				rd.Operations = append(rd.Operations, operation.Operation{Verb: v, Object: o})
			}
		}
	}
}
