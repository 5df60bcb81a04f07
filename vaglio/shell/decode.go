package shell

import (
	"encoding/base32"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/unixtext"
)

func decode32(s string) (string, bool) {
	s = strings.TrimRight(strings.Join(strings.Fields(s), ""), "=")
	out, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(s)
	return string(out), err == nil
}

func encode32(s string) (string, bool) {
	return base32.StdEncoding.EncodeToString([]byte(s)) + "\n", true
}

// translated is the output of tr.
func translated(in Word, args []Word) (Word, bool) {
	var given strings.Builder
	for len(args) > 0 {
		s, _ := args[0].Text()
		if len(s) < 2 || s[0] != '-' {
			break
		}
		given.WriteString(s)
		args = args[1:]
	}
	if len(args) == 0 {
		return Word{}, false
	}
	s, ok := args[0].Text()
	flags, set := given.String(), trSet(s)
	complement := strings.ContainsAny(flags, "cC")
	switch {
	case !ok:
	case strings.Contains(flags, "d"):
		members := string(set)
		return mapped(in, func(c rune) rune {
			if strings.ContainsRune(members, c) != complement {
				return -1
			}
			return c
		})
	case complement:
	case len(args) > 1:
		return exchanged(in, set, args[1])
	case strings.Contains(flags, "s"):
		return in.mapText(func(s string) string { return squeezed(s, set) }), !in.IsUnknown()
	}
	return Word{}, false
}

// exchanged is a text with the members of one set in the place of another's.
func exchanged(in Word, from []rune, with Word) (Word, bool) {
	s, ok := with.Text()
	to := trSet(s)
	if !ok || len(to) == 0 {
		return Word{}, false
	}
	table := make(runeTable, len(from))
	for i, c := range from {
		table[c] = to[min(i, len(to)-1)]
	}
	return mapped(in, table.of)
}

// mapped is a text with each character replaced.
func mapped(in Word, of func(rune) rune) (Word, bool) {
	return in.mapText(func(s string) string { return strings.Map(of, s) }), !in.IsUnknown()
}

// A runeTable says which characters are replaced, and by which.
type runeTable map[rune]rune

// of is what stands for a character.
func (t runeTable) of(c rune) rune {
	if to, ok := t[c]; ok {
		return to
	}
	return c
}

// squeezed writes runs of a character of the set once.
func squeezed(s string, set []rune) string {
	var b strings.Builder
	last := rune(-1)
	for _, c := range s {
		if c != last || !slices.Contains(set, c) {
			b.WriteRune(c)
		}
		last = c
	}
	return b.String()
}

// trSet expands the ranges, classes and escapes of a set of tr.
func trSet(s string) []rune {
	var out []rune
	runes := []rune(unixtext.ANSI(s))
	for i := 0; i < len(runes) && len(out) < 4096; i++ {
		if runes[i] == '[' && i+1 < len(runes) && runes[i+1] == ':' {
			rest := string(runes[i+2:])
			if name, _, ok := strings.Cut(rest, ":]"); ok {
				out = append(out, []rune(classMembers(name))...)
				i += len([]rune(name)) + 3
				continue
			}
		}
		if i+2 < len(runes) && runes[i+1] == '-' && runes[i+2] >= runes[i] && runes[i+2]-runes[i] < 4096 {
			for c := runes[i]; c <= runes[i+2]; c++ {
				out = append(out, c)
			}
			i += 2
			continue
		}
		out = append(out, runes[i])
	}
	return out
}
