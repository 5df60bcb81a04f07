package unixtext

import (
	"regexp"
	"strings"
)

// maxBraced limits how many paths a text with braces is expanded to.
const maxBraced = 64

// Braced returns the paths that a text with braces or alternatives stands for: /etc/{a,b},
// /etc/@(a|b). It returns nil if there are none.
func Braced(text string) []string {
	todo, done := []string{text}, []string(nil)
	for len(todo) > 0 && len(todo)+len(done) <= maxBraced {
		t := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		before, parts, after := innermost(t)
		if parts == nil {
			done = append(done, t)
			continue
		}
		for _, p := range parts {
			todo = append(todo, before+p+after)
		}
	}
	if len(done) == 1 && done[0] == text {
		return nil
	}
	return append(done, todo...)
}

// braces is an innermost group of alternatives.
var braces = regexp.MustCompile(`(?:^|[^$])(\{([^{}]*,[^{}]*)\})|[@+?*]\(([^()]*)\)`)

// innermost finds the first innermost group of alternatives in a text.
func innermost(text string) (before string, parts []string, after string) {
	m := braces.FindStringSubmatchIndex(text)
	switch {
	case m == nil:
		return text, nil, ""
	case m[2] >= 0: // {a,b}
		return text[:m[2]], strings.Split(text[m[4]:m[5]], ","), text[m[3]:]
	}
	return text[:m[0]], strings.Split(text[m[6]:m[7]], "|"), text[m[1]:]
}
