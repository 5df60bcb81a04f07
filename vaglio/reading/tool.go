package reading

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// Deed is what an executor that is no shell does to the paths among its
// arguments, as the words of its name tell.
type Deed struct {
	// Verb is what it does, [operation.Use] where no word tells.
	Verb operation.Verb
	// Lists says that it only tells names, Greps that it prints what files hold:
	// a pattern is one of texts.
	Lists, Greps bool
	// Local says that it works on files, or that its name is no more than what
	// is done: a path is one of files here. Remote says that it works on
	// something else, where a path is none.
	Local, Remote bool
}

// does reads the words of the executor's name, and of the verb that an argument
// adds to them.
func (rd *Reading) does(args map[string]any) {
	words := rd.Words
	for k, v := range args {
		const longest = 32
		text, ok := v.(string)
		if role := rd.Role(k); ok && role&RoleMark != 0 && role&runs == 0 && text != "" && len(text) <= longest {
			words = append(slices.Clip(words), Words(text)...)
		}
	}
	rd.Deed = deedOf(words)
	rd.aims(words, args)
}

// deeds are the classes of words that say what is done to files; of several the
// last one counts.
func deeds() [5]struct {
	class string
	verb  operation.Verb
} {
	return [...]struct {
		class string
		verb  operation.Verb
	}{
		{"tool-writes", operation.Write},
		{"tool-deletes", operation.Delete},
		{"tool-moves", operation.Move},
		{"tool-copies", operation.Copy},
		{"tool-permits", operation.Permit},
	}
}

func deedOf(words []string) Deed {
	has := func(class string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return wordclass.Is(class, w) })
	}
	d := Deed{Verb: operation.Use, Lists: has("tool-lists"), Greps: slices.Contains(words, "grep")}
	for _, of := range deeds() {
		if has(of.class) {
			d.Verb = of.verb
			d.Lists = d.Lists && of.verb == operation.Copy
		}
	}
	files := has("tool-files")
	d.Remote = has("tool-remote") && !files
	d.Local = (files || len(words) == 1) && !d.Remote
	return d
}

// aims notes which processes, services and packages a tool stops or removes, by
// their numbers and by their names.
func (rd *Reading) aims(words []string, args map[string]any) {
	has := func(class string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return wordclass.Is(class, w) })
	}
	kills, stops := has("tool-kills"), has("tool-stops")
	process, packages := has("tool-processes"), has("tool-packages")
	if stops = stops && (process || packages || has("tool-services")); !kills && !stops {
		return
	}
	for _, k := range SortedKeys(args) {
		role := rd.Role(k)
		for _, name := range Texts(args[k]) {
			if kills && role&RolePid != 0 {
				rd.aim(operation.Kill, name)
			}
			if name = strings.TrimSuffix(name, ".service"); !stops || role&RoleThing == 0 || name == "" {
				continue
			}
			rd.aim(operation.Disable, name)
			if process {
				rd.aim(operation.KillNamed, name)
			}
			if packages {
				rd.aim(operation.Uninstall, name)
			}
		}
	}
}

func (rd *Reading) aim(v operation.Verb, name string) {
	rd.Operations = append(rd.Operations, operation.Operation{Verb: v, Object: operation.Object{Kind: operation.Name, Word: shell.Text(name)}})
}
