// Package search says what a search for files passes on, judging by its tests: by their words, as
// find's expression has them, or by their classes.
package search

import (
	"slices"

	"github.com/metnos/vaglio/vaglio/shell/word"
)

// maxStarts is how many starting points are told apart.
const maxStarts = 16

// Found returns the names that find passes on: each starting point and what is below it, narrowed
// by -name if every name must match it before something is done with it, the first time at the
// index acts.
func Found(starts, tests []word.Word, acts int) []word.Word {
	if len(starts) == 0 {
		starts = []word.Word{word.Text(".")}
	}
	if len(starts) > maxStarts {
		starts = append(starts[:maxStarts:maxStarts], word.Unknown(""))
	}
	below := word.Part{Kind: word.PartUnknown, From: "find", MayBeEmpty: true, Level: true}
	name, narrowed := nameIn(required(tests, acts))
	below.MayBeEmpty = !narrowed
	deeper := func(w word.Word) bool { return w.Is("-mindepth") }
	itself, only := !slices.ContainsFunc(tests, deeper), startsOnly(tests)
	var out []word.Word
	for _, s := range starts {
		if narrowed {
			out = append(out, word.InFolder(s, name), word.InFolder(s, word.Glue(word.New(below), word.Text("/"), name)))
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
	}
	return ""
}

// required returns the tests that everything must pass on which find acts. What it spares never
// comes to those behind that.
func required(tests []word.Word, acts int) []word.Word {
	if slices.ContainsFunc(tests[acts:], func(w word.Word) bool { return classOf(w) == "or" || classOf(w) == "list" }) {
		return nil // it may act on others, too
	}
	return tests[Spared(acts, func(i int) string { return classOf(tests[i]) }):acts]
}

// nameIn returns the pattern of -name if every name that find passes on must match it.
func nameIn(tests []word.Word) (name word.Word, found bool) {
	negated := false
	for i, w := range tests {
		before := negated
		switch classOf(w) {
		case "or", "list":
			return word.Word{}, false
		case "not":
			negated = true
			continue
		case "open":
			if before {
				return word.Word{}, false
			}
		case "name":
			// A negated condition narrows nothing: it only leaves names out.
			if i+1 < len(tests) && !before {
				name, found = tests[i+1], true
			}
		}
		negated = false
	}
	if s, ok := name.Text(); ok {
		name = word.New(word.Globs(s)...)
	}
	return name, found
}

// Spared returns how many tests, of n by their classes, say what a search leaves out before anything else:
// -path x -prune -o ….
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
