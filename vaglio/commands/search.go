package commands

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/getopt"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/shell/search"
)

// The classes of tests with a special meaning.
const (
	classNot = "not"
	classRun = "run"
)

// begins returns the index of the first word that belongs to the expression, and is no folder in which the search begins.
func (u *use) begins() int {
	at := slices.IndexFunc(u.parsed.Words, func(s string) bool {
		before := slices.Contains([]string{"-", "-H", "-L", "-P", "-D"}, s) || strings.HasPrefix(s, "-O") // links and debug output
		return len(s) == 1 && strings.Contains("(!),", s) || strings.HasPrefix(s, "-") && !before
	})
	if at < 0 {
		return len(u.parsed.Words)
	}
	return at
}

// starts adds the folders in which a search begins; its own if none is named.
func (u *use) starts(a *act) {
	end := u.begins()
	found := false
	for _, i := range u.parsed.Operands {
		if i < end {
			u.each(a, []int{i})
			found = true
		}
	}
	if !found {
		u.add(a, u.folder, operation.Operand)
	}
}

// expression returns the tests of a search as pairs: the name of a class, after "not" if it
// is negated, and a value. Each word of a command that it runs makes a pair of its own.
func (u *use) expression() (out []shell.Word) {
	negated := ""
	words := u.parsed.Words
	for i := u.begins(); i < len(words); i++ {
		class, value := cmp.Or(searchSigns[words[i]], u.sec.classes[words[i]]), shell.Word{}
		switch {
		case class == classNot:
			negated = classNot + " "
			continue
		case class == classRun:
			for i++; i < len(words) && words[i] != ";" && words[i] != "+"; i++ {
				out = append(out, shell.Text(negated+class), u.Words[i])
			}
		case i+1 < len(words) && u.isTested(words[i], words[i+1]):
			i++
			value = u.Words[i]
		}
		if class != classRun && class+negated != "" {
			out = append(out, shell.Text(negated+class), value)
		}
		negated = ""
	}
	return out
}

// Tests returns the tests of a search one by one, each with its value.
func Tests(with []shell.Word) iter.Seq2[shell.Word, shell.Word] {
	return func(yield func(class, value shell.Word) bool) {
		for test := range slices.Chunk(with, 2) {
			if !yield(test[0], test[1]) {
				return
			}
		}
	}
}

// Taken returns the tests of what a search acts on: where it begins with what it spares, those behind
// that. What only spares more by its name is left out if all tests must hold.
func Taken(with []shell.Word) []shell.Word {
	n := 0
	for n < len(with) && !slices.Contains([]string{"list", "delete", classRun}, strings.TrimPrefix(with[n].String(), classNot+" ")) {
		n += 2
	}
	spared := search.Spared(n/2, func(i int) string { return strings.Replace(with[2*i].String(), classNot+" open", "open", 1) })
	return sparing(with[2*spared:])
}

// sparing returns tests without the negated ones of names, if all of them must hold.
func sparing(with []shell.Word) (out []shell.Word) {
	for test, value := range Tests(with) {
		class, not := strings.CutPrefix(test.String(), classNot+" ")
		switch {
		case class == "or", class == "open", class == "list":
			return with
		case !not || class != "name" && class != "path":
			out = append(out, test, value)
		}
	}
	return out
}

// isTested reports whether the word after a test is its value. A word that is also an action
// can be the value only of a pattern, so that no action hides behind another test.
func (u *use) isTested(test, value string) bool {
	if does := u.sec.classes[value]; does == classRun || does == "delete" {
		return slices.Contains([]string{"name", "link", "path", "regex"}, u.sec.classes[test])
	}
	return getopt.Of(u.Name).Takes(test)
}

var searchSigns = map[string]string{"!": classNot, ",": "list", "(": "open", ")": "close"} //nolint:gochecknoglobals // Never changed.

// alternatives are those between two parentheses of a search.
type alternatives struct {
	outer bool // only few reach the parenthesis
	all   bool // and only few pass each of the alternatives read so far
	not   bool
}

// narrowing follows the tests of a search: now says that only few get to where it is.
type narrowing struct {
	open []alternatives
	now  bool
}

// join reads what stands between tests, if it is that.
func (n *narrowing) join(class string, not bool) {
	in := &n.open[len(n.open)-1]
	switch class {
	case "open":
		n.open = append(n.open, alternatives{outer: n.now, all: true, not: not})
	case "or", "list":
		in.all, n.now = in.all && n.now, in.outer
	case "close":
		if len(n.open) > 1 {
			n.now = in.outer || in.all && n.now && !in.not
			n.open = n.open[:len(n.open)-1]
		}
	}
}

// Narrowed follows the tests of a search in their order, and reports whether it takes certain actions, and whether it takes each only on what passed a test
// before: what comes behind an action keeps nothing from it. If it takes none, few tells of what it finds. A negated test leaves nearly everything; a negated
// action is taken all the same.
func Narrowed(tests []shell.Word, leavesFew, acts func(class string, value shell.Word) bool) (some, few bool) {
	n := narrowing{open: []alternatives{{all: true}}}
	few = true
	for test, value := range Tests(tests) {
		class, not := strings.CutPrefix(test.String(), classNot+" ")
		n.join(class, not)
		switch {
		case acts(class, value):
			some, few = true, few && n.now
		case !not && leavesFew(class, value):
			n.now = true
		}
	}
	return some, few && (some || n.open[0].all && n.now)
}

// IsRare reports whether few files pass a test of a class.
func IsRare(class, value string) bool {
	switch class {
	case "few", "new", "empty":
		return true
	case "owner":
		return value != "root" && value != "0"
	case "size":
		return strings.Trim(value, "+0ckwbMG") != ""
	case "mode":
		return rareMode(value)
	case "age":
		return strings.HasPrefix(value, "-")
	default:
		return false
	}
}

// rareMode reports whether few files of a system have the mode that a find asks for: one that lets everybody write, or a setuid, setgid or sticky bit.
func rareMode(value string) bool {
	mode := strings.TrimLeft(value, "-/+0")
	if mode == "" {
		return false
	}
	const bits = 3
	if strings.Trim(mode, "01234567") != "" {
		return strings.ContainsAny(mode, "st") || strings.Contains(mode, "o+w") || strings.Contains(mode, "a+w")
	}
	return len(mode) > bits || strings.IndexByte("2367", mode[len(mode)-1]) >= 0
}
