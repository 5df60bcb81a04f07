// Package search says what a search for files passes on, judging by its tests: by their words, as find's expression has them, or by their classes.
package search

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell/word"
)

// maxStarts is how many starting points are told apart.
const maxStarts = 16

// Found returns the names that find passes on: each starting point and what is below it, narrowed by -name if every name must match it before something is
// done with it, the first time at the index acts.
func Found(starts, tests []word.Word, acts int) []word.Word {
	if len(starts) == 0 {
		starts = []word.Word{word.Text(".")}
	}
	if len(starts) > maxStarts {
		starts = append(starts[:maxStarts:maxStarts], word.Unknown(""))
	}
	below := word.Part{Kind: word.PartUnknown, From: "find", MayBeEmpty: true, Level: true}
	needed := required(tests, acts)
	names, narrowed := namesIn(needed)
	below.MayBeEmpty = !narrowed
	deeper := func(w word.Word) bool { return w.Is("-mindepth") }
	itself, only := !slices.ContainsFunc(tests, deeper), startsOnly(tests)
	var out []word.Word
	for _, s := range starts {
		for _, name := range slices.Concat(pathsIn(needed, names), names) {
			out = append(out, word.InFolder(s, name), word.InFolder(s, word.Glue(word.New(below), word.Text("/"), name)))
		}
		if narrowed {
			continue
		}
		if itself {
			out = append(out, s)
		}
		if !only {
			out = append(out, word.InFolder(s, word.New(below)))
		}
	}
	return out
}

// pathsIn returns what the tests of whole paths that name something select below some folder, with each of the names, if there are any. They narrow
// nothing: a star in such a test stands for folders, too.
func pathsIn(tests, names []word.Word) (out []word.Word) {
	for i := range max(len(tests)-1, 0) {
		s, known := tests[i+1].Text()
		if classOf(tests[i]) != "path" || !known || i > 0 && classOf(tests[i-1]) == "not" {
			continue
		}
		if strings.HasSuffix(tests[i].Prefix(), "regex") {
			s = plain.Replace(s)
		}
		out = append(out, below(s, names)...)
		if hidden := strings.ReplaceAll("/"+s, "/*", "/.*")[1:]; hidden != s { // as a star of find's, but of no shell's, may mean
			out = append(out, below(hidden, names)...)
		}
	}
	return out
}

// below returns what a pattern of whole paths selects, with each of the names, if there are any; nothing if it spells no name.
func below(pattern string, names []word.Word) (out []word.Word) {
	folder, named := stepsOf(pattern, len(names) > 0)
	if named && len(names) == 0 {
		return []word.Word{folder}
	}
	for _, name := range names {
		if named {
			out = append(out, word.InFolder(folder, name))
		}
	}
	return out
}

// stepsOf returns the folders and the name that a pattern of whole paths spells, and whether it spells any; without the name if that may be any.
func stepsOf(pattern string, known bool) (path word.Word, named bool) {
	steps := strings.Split(pattern, "/")
	for at, step := range steps {
		spells, last := strings.Trim(step, "*?.") != "", at == len(steps)-1
		if !spells && (!last || known) {
			continue
		}
		name := word.New(word.Globs(step)...)
		if path.Parts() != nil {
			name = word.InFolder(path, name)
		}
		path, named = name, named || spells
	}
	return path, named
}

// plain makes a regular expression of find a pattern, as far as it consists of texts and of what stands for any.
//
//nolint:gochecknoglobals // Made once, never changed.
var plain = strings.NewReplacer(".*", "*", ".+", "*", `\.`, ".", `\(`, "(", `\)`, ")", "$", "", "^", "")

// startsOnly reports whether find looks only at its starting points: -maxdepth 0.
func startsOnly(tests []word.Word) bool {
	i := slices.IndexFunc(tests, func(w word.Word) bool { return w.Is("-maxdepth") })
	return i >= 0 && i+1 < len(tests) && tests[i+1].Is("0")
}

// classOf returns the class of a word of find, "" for those that do not matter here.
func classOf(w word.Word) string {
	switch s, _ := w.Text(); s {
	case "(":
		return "open"
	case ")":
		return "close"
	case "-o", "-or":
		return "or"
	case ",":
		return "list"
	case "!", "-not":
		return "not"
	case "-prune":
		return "prune"
	case "-name", "-iname":
		return "name"
	case "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex":
		return "path"
	}
	return ""
}

// required returns the tests that everything must pass on which find acts. What it spares never comes to those behind that.
func required(tests []word.Word, acts int) []word.Word {
	if slices.ContainsFunc(tests[acts:], func(w word.Word) bool { return classOf(w) == "or" || classOf(w) == "list" }) {
		return nil // it may act on others, too
	}
	return tests[Spared(acts, func(i int) string { return classOf(tests[i]) }):acts]
}

// namesIn returns the patterns of -name if every name that find passes on must match one of them: each alternative has one, or a group of such alternatives.
func namesIn(tests []word.Word) (names []word.Word, all bool) {
	from, deep := 0, 0
	for i := 0; i <= len(tests); i++ {
		class := "or" // behind the last one
		if i < len(tests) {
			class = classOf(tests[i])
		}
		if deep += depth(class); deep < 0 || class == "list" || depth(class) != 0 && i > 0 && mayTake(tests[i-1]) {
			return nil, false
		}
		if class != "or" || deep > 0 {
			continue
		}
		more, narrowed := nameOf(tests[from:i])
		if !narrowed || len(names)+len(more) > maxStarts {
			return nil, false
		}
		names, from = append(names, more...), i+1
	}
	return names, deep == 0
}

// depth returns by how much a word of find goes deeper into groups.
func depth(class string) int {
	switch class {
	case "open":
		return 1
	case "close":
		return -1
	default:
		return 0
	}
}

// mayTake reports whether a word may be a test with a value, as which a parenthesis opens nothing.
func mayTake(w word.Word) bool {
	s, ok := w.Text()
	class := classOf(w)
	return !ok || strings.HasPrefix(s, "-") && class != "or" && class != "not" && s != "-a" && s != "-and"
}

// nameOf is [namesIn] for tests that must all hold. The last one that narrows decides.
func nameOf(tests []word.Word) (names []word.Word, found bool) {
	negated := false
	for i := 0; i < len(tests); i++ {
		before := negated
		negated = false
		switch classOf(tests[i]) {
		case "not":
			negated = true
		case "open":
			end := closing(tests, i)
			if more, all := namesIn(tests[i+1 : end]); all && !before {
				names, found = more, true
			}
			i = end
		case "name":
			// A negated condition narrows nothing: it only leaves names out.
			if i+1 < len(tests) && !before {
				name := tests[i+1]
				if s, ok := name.Text(); ok {
					name = word.New(word.Globs(s)...)
				}
				names, found = []word.Word{name}, true
			}
			i++
		}
	}
	return names, found
}

// closing returns the index of the parenthesis that closes another, or the number of tests.
func closing(tests []word.Word, open int) int {
	deep := 0
	for i := open; i < len(tests); i++ {
		switch classOf(tests[i]) {
		case "open":
			deep++
		case "close":
			if deep--; deep == 0 {
				return i
			}
		}
	}
	return len(tests)
}

// Spared returns how many tests, of n by their classes, say what a search leaves out before anything else: -path x -prune -o ….
func Spared(n int, class func(i int) string) int {
	depth := 0
	for i := range n {
		switch is := class(i); {
		case is == "open":
			depth++
		case is == "close":
			depth--
		case depth > 0 || is != "or" && is != "list":
		case is == "or" && i > 0 && class(i-1) == "prune":
			return i + 1
		default:
			return 0
		}
	}
	return 0
}

// Listed returns the file that holds the names which an option gives a program: the value of the option, or the input if the option is marked so.
func Listed(words []word.Word, option string) (list word.Word, ok bool) {
	letter, input := strings.CutPrefix(option, "<")
	for i, w := range words {
		said := w.Prefix()
		value, has := strings.CutPrefix(said, letter)
		switch {
		case input && isAmong(said, letter):
			return word.Text("-"), true
		case input || !has:
		case value != "" || w.Size() > len(said):
			return w.Cut(len(said) - len(strings.TrimPrefix(value, "="))), true
		case i+1 < len(words):
			return words[i+1], true
		}
	}
	return word.Word{}, false
}

// isAmong reports whether a word is an option, or holds its letter among others.
func isAmong(said, option string) bool {
	letters, ok := strings.CutPrefix(said, "-")
	return said == option || ok && len(option) == 2 && !strings.HasPrefix(letters, "-") && strings.Contains(letters, option[1:])
}
