package filter

import (
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/unixtext"
)

func rev(f *Filter, args []string) bool {
	f.Files = args
	f.apply = always(func(text string) string {
		var b strings.Builder
		for _, l := range lines(text) {
			runes := []rune(l)
			slices.Reverse(runes)
			b.WriteString(string(runes) + "\n")
		}
		return b.String()
	})
	return true
}

// translate reads tr.
func translate(f *Filter, args []string) bool {
	o, sets, ok := parse("tr", args, "d=delete s=squeeze-repeats c=complement C t=truncate-set1")
	if !ok || len(sets) == 0 {
		return false
	}
	from, complement := charSet(sets[0]), o.has("c") || o.has("C")
	f.Anywhere = true
	switch {
	case o.has("d"):
		f.apply = mapping(func(c rune) rune {
			if slices.Contains(from, c) != complement {
				return -1
			}
			return c
		})
	case complement:
		return false
	case len(sets) > 1:
		return f.exchange(from, charSet(sets[1]))
	default:
		f.apply = always(func(text string) string { return squeezed(text, from) })
		return o.has("s")
	}
	return true
}

// exchange replaces each character of one set by its counterpart in the other.
func (f *Filter) exchange(from, to []rune) bool {
	if len(to) == 0 {
		return false
	}
	table := map[rune]rune{}
	for i, c := range from {
		table[c] = to[min(i, len(to)-1)]
	}
	f.apply = mapping(func(c rune) rune {
		if to, ok := table[c]; ok {
			return to
		}
		return c
	})
	return true
}

func mapping(of func(rune) rune) func(string) (string, bool) {
	return always(func(text string) string { return strings.Map(of, text) })
}

// squeezed reduces each run of a character of the set to one.
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

// maxSet limits how many characters a set of tr may have. No name of a class is longer.
const maxSet, longestClass = 4096, len("[:xdigit:]")

// charSet expands the ranges, classes and escapes of a set of tr.
func charSet(s string) (out []rune) {
	for runes := []rune(unixtext.ANSI(s)); len(runes) > 0 && len(out) < maxSet; {
		n := 1
		name, _, isClass := strings.Cut(string(runes[:min(len(runes), longestClass)]), ":]")
		switch {
		case isClass && strings.HasPrefix(name, "[:"):
			out = append(out, members(name+":]")...)
			n = len([]rune(name)) + 2
		case len(runes) > 2 && runes[1] == '-' && runes[2] >= runes[0] && runes[2]-runes[0] < maxSet:
			for c := runes[0]; c <= runes[2]; c++ {
				out = append(out, c)
			}
			n = 3
		default:
			out = append(out, runes[0])
		}
		runes = runes[n:]
	}
	return out
}

// members returns the ASCII members of a character class such as [:digit:]; none if there is no such class.
func members(class string) []rune {
	re, err := regexp.Compile("[" + class + "]")
	if err != nil {
		return nil
	}
	var out []rune
	for c := range rune(128) {
		if re.MatchString(string(c)) {
			out = append(out, c)
		}
	}
	return out
}

// mostSteps limits what one call of sed may cost.
const mostSteps = 1 << 20

// sed reads a call of sed that changes text and prints the result.
func sed(f *Filter, args []string) bool {
	o, rest, ok := parse("sed", args, "E=regexp-extended r e=expression")
	if !ok {
		return false
	}
	scripts := o["e"]
	if len(scripts) == 0 && len(rest) > 0 {
		scripts, rest = rest[:1], rest[1:]
	}
	f.Files = rest
	f.apply = func(text string) (string, bool) {
		left := mostSteps
		return unixtext.SedEdited(strings.Join(scripts, "\n"), o.has("E") || o.has("r"), text, func(n int) bool { left -= n; return left >= 0 })
	}
	return true
}
