package code_test

import (
	"slices"
	"testing"

	"github.com/metnos/vaglio/vaglio/code"
	"github.com/metnos/vaglio/vaglio/shell"
)

// FuzzRead checks that no text makes the reader fail, and that the budget holds.
func FuzzRead(f *testing.F) {
	langs := []string{"python", "perl", "ruby", "node", "php", "awk", "lua", "tcl", "vim"}
	for i, src := range []string{"f'{a!r:>{w}}'", "$x{", "%w(", "`${`${", "{$a", "{print $", "x[[", "[set", "call system('", "s/a/", "<<~X\n", "lambda: (", "=> {"} {
		f.Add(src, uint8(i))
	}
	f.Fuzz(func(t *testing.T, src string, lang uint8) {
		const steps = 20_000
		p := shell.Program{
			Language: langs[int(lang)%len(langs)], Text: shell.Text(src), Steps: steps,
			Home:    func(string) shell.Word { return shell.Text("/home/user") },
			Env:     func(string) (shell.Word, bool) { return shell.Text(""), true },
			Content: func(shell.Word) (shell.Word, bool) { return shell.Word{}, false },
		}
		res := code.Default().Read(&p)
		over := slices.ContainsFunc(res.Actions, func(s shell.ProgramStep) bool {
			return s.Problem != nil && s.Problem.Kind == shell.ProblemTooCostly
		})
		for _, s := range res.Actions {
			if s.Problem != nil && s.Problem.Kind == shell.ProblemInternal {
				t.Fatalf("Read(%q): %s", src, s.Problem.Detail)
			}
		}
		if res.Steps >= steps && !over {
			t.Fatalf("Read(%q): the budget is spent and nothing says so", src)
		}
	})
}
