package reading

import (
	"fmt"
	"slices"

	"github.com/metnos/vaglio/vaglio/shell"
)

// withoutStood takes out of a script what files that a tool finds by itself did in the same words
// before the session changed them: the project's own tests run that, whoever edits beside it.
func withoutStood(s *shell.Script, o shell.Options) *shell.Script {
	if len(s.Stood) == 0 {
		return s
	}
	o.Budget = new(shell.Budget) // none of the call's: what is found now must be found then
	for _, t := range s.Stood {
		t.Text, t.Was = t.Was, ""
		was, did := readLater([]shell.Task{t}, o), map[string]bool{}
		for i := range was.Commands {
			did[deed(&was.Commands[i])] = true
		}
		for i := range was.Problems {
			did[doubt(&was.Problems[i])] = true
		}
		keep(s, func(c *shell.Command) bool { return c.File != t.File || !did[deed(c)] })
		s.Problems = slices.DeleteFunc(s.Problems, func(p shell.Problem) bool { return p.File == t.File && did[doubt(&p)] })
		for i := range s.Ran {
			if ran := &s.Ran[i]; ran.File == t.File && !ran.Sure {
				ran.Was = t.Text
			}
		}
	}
	return s
}

// deed says what a command does, wherever it stands.
func deed(c *shell.Command) string {
	return fmt.Sprintf("%q %q %v %v %v %v %v", c.Name, c.Argv, c.Redirects, c.Assigns, c.Cwd, c.Stdin.Text, c.Call)
}

// doubt says what could not be read, wherever it stands.
func doubt(p *shell.Problem) string {
	return fmt.Sprintf("%q %v %v %q %v", p.Kind, p.Detail, p.Word, p.Interpreter, p.Args)
}

// keep keeps such commands of a script.
func keep(s *shell.Script, keeps func(*shell.Command) bool) {
	at := make([]int, len(s.Commands)+1) // where they are
	kept := make([]shell.Command, 0, len(s.Commands))
	for i := range s.Commands {
		if at[i] = len(kept); keeps(&s.Commands[i]) {
			kept = append(kept, s.Commands[i])
		}
	}
	at[len(s.Commands)] = len(kept)
	for i := range kept {
		kept[i].Until = at[kept[i].Until]
	}
	s.Commands = kept
}
