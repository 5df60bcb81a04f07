package unixtext

import (
	"regexp"
	"strings"
)

// MaxBracket is the longest bracket expression that is recognised, in bytes.
const MaxBracket = 512

// Bracket is the length of the bracket expression that s begins with, or 0.
func Bracket(s string) int {
	i := 1
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		i++
	}
	if i < len(s) && s[i] == ']' {
		i++
	}
	s = s[:min(len(s), MaxBracket)]
	for i < len(s) {
		switch s[i] {
		case ']':
			return i + 1
		case '/':
			return 0
		case '[':
			n := classLen(s[i:])
			if n == 0 {
				return 0
			}
			i += n
		default:
			i++
		}
	}
	return 0
}

// classLen is the length of the class that a bracket in a bracket expression
// begins, 1 if it begins none and 0 if the class has no end.
func classLen(s string) int {
	if len(s) < 2 || strings.IndexByte(":.=", s[1]) < 0 {
		return 1
	}
	end := strings.Index(s[2:], s[1:2]+"]")
	if end < 0 {
		return 0
	}
	return end + 4
}

// An item that blanks part, and what xargs takes off it: quotes and backslashes.
var (
	xargsItem  = regexp.MustCompile(`(?s)(?:\\.|\\$|"[^"]*(?:"|$)|'[^']*(?:'|$)|[^ \t\\"'])+`)
	xargsQuote = regexp.MustCompile(`(?s)\\(.)|"([^"]*)(?:"|$)|'([^']*)(?:'|$)`)
)

// Items splits text at blanks with the quotes that xargs knows.
func Items(s string) (items []string) {
	for _, item := range xargsItem.FindAllString(s, -1) {
		items = append(items, xargsQuote.ReplaceAllString(item, "$1$2$3"))
	}
	return items
}

// Unescape removes the backslashes that double quotes and
// here-documents give a meaning.
func Unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			switch s[i+1] {
			case '$', '"', '\\', '`':
				i++
			case '\n':
				i++
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
