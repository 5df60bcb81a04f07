package templates

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// What somebody else wrote never passes through a template. A mark takes its place, and
// split puts the original back. The marks are noncharacters of Unicode, which no text of
// ours may hold.
const (
	markOpen  = '\uFDD0'
	markFirst = '\uFDD1'
	marks     = '\uFDEF' - markFirst
)

// mark returns the mark that stands for the nth text of somebody else.
func mark(n int) string {
	second := markFirst
	for range n % marks {
		second++
	}
	return string([]rune{markOpen, second})
}

func isMark(r rune) bool { return r >= markOpen && r <= '\uFDEF' }

// unmarked replaces the marks in s with U+FFFD.
func unmarked(s string) string {
	if strings.IndexFunc(s, isMark) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if isMark(r) {
			return utf8.RuneError
		}
		return r
	}, s)
}

// split replaces the marks in out with the texts they stand for.
func split(out string, theirs []string) []Part {
	var parts []Part
	for out != "" {
		ours, rest, found := strings.Cut(out, string(markOpen))
		if ours != "" {
			parts = append(parts, Part{Text: ours})
		}
		if !found {
			break
		}
		r, size := utf8.DecodeRuneInString(rest)
		if n := int(r - markFirst); n >= 0 && n < len(theirs) {
			parts = append(parts, Part{theirs[n], true})
		}
		out = rest[size:]
	}
	return parts
}

// bare returns the name of a text and the values it was given.
func bare(key Key, values Values) []Part {
	parts := []Part{{Text: "[" + string(key) + "]"}}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		parts = append(parts, Part{Text: " "})
		switch v := values[name].(type) {
		case Theirs:
			parts = append(parts, Part{string(v), true})
		default:
			parts = append(parts, Part{Text: fmt.Sprint(v)})
		}
	}
	return parts
}
