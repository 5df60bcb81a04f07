package commands

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/shell"
)

// The classes of tests that are more than a test.
const (
	classNot = "not"
	classOr  = "or"
)

// begins is the place of the first word that is part of an expression rather
// than a folder in which a search begins.
func (u *use) begins() int {
	at := slices.IndexFunc(u.parsed.Words, func(s string) bool {
		return s == "(" || s == "!" || len(s) > 1 && s[0] == '-' && !isFollowing(s)
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

// expression are the tests of a search that are not negated, each as the name
// of its class and its value.
func (u *use) expression() []shell.Word {
	var out []shell.Word
	negated := false
	words := u.parsed.Words
	for i := u.begins(); i < len(words); i++ {
		class, value := u.sec.classOf(words[i]), shell.Word{}
		if class == classNot {
			negated = true
			continue
		}
		if u.sec.Values[words[i]] && i+1 < len(words) {
			i++
			value = u.words[i]
		}
		if class != "" && !negated {
			out = append(out, shell.Text(class), value)
		}
		negated = false
	}
	return out
}

// classOf is the class of a test.
func (s *Section) classOf(word string) string {
	switch word {
	case "!":
		return classNot
	case ",":
		return classOr
	default:
		return s.classes[word]
	}
}

// carried adds the command that an option carries, which gets what the act
// gives besides its own words.
func (u *use) carried(a *act) {
	f := u.parsed.flag(u.sec.rest)
	if f == nil {
		return
	}
	u.with = slices.Concat(u.words[f.At+1:], u.with)
	u.add(a, u.words[f.At], operation.Option)
}

// IsRare says that few files pass a test of a class.
func IsRare(class, value string) bool {
	switch class {
	case "few":
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
