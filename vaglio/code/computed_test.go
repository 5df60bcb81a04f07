package code_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio/shell"
)

// TestComputed holds what programs delete, as their interpreters were seen to do it, against what is
// read of them: the name that a program makes up must be among those that it may delete, or not be
// known. A name that is known and another one lets a call pass that does something else.
func TestComputed(t *testing.T) {
	t.Parallel()
	known := 0
	for _, row := range rows(t, "computed.txt") {
		src, want, ok := strings.Cut(strings.TrimSuffix(row, "\n"), "\n= ")
		if !ok {
			t.Fatalf("a row does not say what it deletes:\n%s", row)
		}
		deletes, sure := deleted(read(t, src))
		if sure && !slices.Contains(deletes, want) {
			t.Errorf("deletes %q, read as %q:\n%s", want, deletes, src)
		}
		if sure {
			known++
		}
	}
	if known < 100 {
		t.Errorf("only %d programs are read to the end", known)
	}
}

// deleted returns what a program may delete, and whether that is all.
func deleted(s *shell.Script) (names []string, sure bool) {
	sure = len(s.Problems) == 0
	for i := range s.Commands {
		call := s.Commands[i].Call
		if call == nil || call.Verb != shell.VerbDelete {
			continue
		}
		sure = sure && len(call.Targets) > 0
		for _, w := range call.Targets {
			sure = sure && w.Known()
			names = append(names, w.String())
		}
	}
	return names, sure
}
