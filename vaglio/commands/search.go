package commands

import (
	"cmp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/shell"
)

// The classes of tests that are more than a test.
const (
	classNot = "not"
	classRun = "run"
)

// begins is the place of the first word that is part of an expression rather
// than a folder in which a search begins.
func (u *use) begins() int {
	at := slices.IndexFunc(u.parsed.Words, func(s string) bool {
		return len(s) == 1 && strings.Contains("(!),", s) || len(s) > 1 && s[0] == '-' && !isFollowing(s)
	})
	if at < 0 {
		return len(u.parsed.Words)
	}
	return at
}

// isFollowing reports whether an option of a search says how links and debug
// output are dealt with; they stand before where it begins.
func isFollowing(s string) bool {
	return s == "-H" || s == "-L" || s == "-P" || s == "-D" || strings.HasPrefix(s, "-O")
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

// expression are the tests of a search, each as the name of its class, behind
// "not" if it is negated, and its value. Of a command that it runs each word is one.
func (u *use) expression() []shell.Word {
	var out []shell.Word
	negated := ""
	words := u.parsed.Words
	for i := u.begins(); i < len(words); i++ {
		class, value := u.sec.classOf(words[i]), shell.Word{}
		switch {
		case class == classNot:
			negated = classNot + " "
			continue
		case class == classRun:
			for i++; i < len(words) && words[i] != ";" && words[i] != "+"; i++ {
				out = append(out, shell.Text(negated+class), u.words[i])
			}
		case i+1 < len(words) && u.sec.isTested(words[i], words[i+1]):
			i++
			value = u.words[i]
		}
		if class != classRun && class+negated != "" {
			out = append(out, shell.Text(negated+class), value)
		}
		negated = ""
	}
	return out
}

// isTested reports whether a word behind a test is its value. An action is that only
// of a pattern: what else a find takes is no such word, so that nothing hides behind it.
func (s *Section) isTested(test, value string) bool {
	switch s.classes[value] {
	case classRun, "delete":
		return slices.Contains([]string{"name", "link", "path", "regex"}, s.classes[test])
	}
	return s.Values[test]
}

// classOf is the class of a test.
func (s *Section) classOf(word string) string {
	signs := map[string]string{"!": classNot, ",": "list", "(": "open", ")": "close"}
	return cmp.Or(signs[word], s.classes[word])
}

// IsRare says that few files pass a test of a class.
func IsRare(class, value string) bool {
	switch class {
	case "few", "empty":
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

// rareMode says that few files of a system have the mode that a find asks
// for: one that lets everybody write, or that lends rights.
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
