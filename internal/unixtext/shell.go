package unixtext

import (
	"regexp"
	"strings"
)

// MaxBracket is the maximum length of a bracket expression that is recognised, in bytes.
const MaxBracket = 512

// Bracket returns the length of the bracket expression at the start of s, or 0.
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

// classLen returns the length of the character class at the start of s, which is within a bracket
// expression: 1 if there is no class, 0 if it has no end.
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

// xargsItem matches an item between blanks, and xargsQuote what xargs removes from it: quotes and
// backslashes.
var (
	xargsItem  = regexp.MustCompile(`(?s)(?:\\.|\\$|"[^"]*(?:"|$)|'[^']*(?:'|$)|[^ \t\\"'])+`)
	xargsQuote = regexp.MustCompile(`(?s)\\(.)|"([^"]*)(?:"|$)|'([^']*)(?:'|$)`)
)

// Items splits text at blanks as xargs does, with its quotes.
func Items(s string) (items []string) {
	for _, item := range xargsItem.FindAllString(s, -1) {
		items = append(items, xargsQuote.ReplaceAllString(item, "$1$2$3"))
	}
	return items
}

// Unescape removes the backslashes that are special in double quotes and here-documents.
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
