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
// ours may hold: markOpen, then digits in base markDigits, of which markZero is the first.
const (
	markOpen   = '\uFDD0'
	markZero   = '\uFDD1'
	markLast   = '\uFDEF'
	markDigits = markLast - markZero + 1
)

// mark returns the mark that stands for the nth text of somebody else.
func mark(n int) string {
	digits := []rune{markZero + rune(n%markDigits)}
	for n /= markDigits; n > 0; n /= markDigits {
		digits = append(digits, markZero+rune(n%markDigits))
	}
	slices.Reverse(digits)
	return string(markOpen) + string(digits)
}

func isMark(r rune) bool { return r >= markOpen && r <= markLast }

// unmarked replaces the marks in s with U+FFFD.
func unmarked(s string) string {
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
		ours, rest, _ := strings.Cut(out, string(markOpen))
		if ours != "" {
			parts = append(parts, Part{Text: ours})
		}
		n, digits := 0, 0
		for _, r := range rest {
			if r < markZero || r > markLast {
				break
			}
			digits += utf8.RuneLen(r)
			if n < len(theirs) {
				n = n*markDigits + int(r-markZero)
			}
		}
		if digits > 0 && n < len(theirs) {
			parts = append(parts, Part{theirs[n], true})
		}
		out = rest[digits:]
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
