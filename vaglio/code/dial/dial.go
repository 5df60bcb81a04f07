// Package dial finds where a program sends what it has made ready before.
package dial

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// IsAddress reports whether a text is an address of the web.
func IsAddress(w shell.Word) bool {
	return strings.HasPrefix(w.Prefix(), "http://") || strings.HasPrefix(w.Prefix(), "https://")
}

// Method returns the HTTP method that the last word of a name says, in capitals; "" if none does.
func Method(name string) (method string) {
	for s := range strings.FieldsFuncSeq(strings.ToLower(name), func(c rune) bool { return c == '.' || c == '_' }) {
		if s = strings.TrimSuffix(s, "fields"); wordclass.Is("request-method", s) { // CURLOPT_POSTFIELDS
			method = strings.ToUpper(s)
		}
	}
	return method
}

// Note gives each request that names no address the only one that the program connects to. It notes nothing if an address is not known.
func Note(steps []shell.ProgramStep) {
	var to []string
	var unnamed []*shell.Call
	for _, s := range steps {
		if s.Call == nil || !slices.Contains([]shell.Verb{shell.VerbNetwork, shell.VerbSend, shell.VerbRead}, s.Call.Verb) {
			continue
		}
		if s.Call.Verb == shell.VerbSend && len(s.Call.Targets) == 0 {
			unnamed = append(unnamed, s.Call)
		}
		for _, w := range append(shell.Texts(s.Call.Of), s.Call.Targets...) {
			if said, _ := w.Text(); said == "" || IsAddress(w) {
				to = append(to, said)
			}
		}
	}
	slices.Sort(to)
	if to = slices.Compact(to); len(to) != 1 {
		to = nil
	}
	for _, call := range unnamed {
		call.Of = to
	}
}
