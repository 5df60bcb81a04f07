package code_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/golden"
	"github.com/metnos/vaglio/vaglio/shell"
)

// TestTold compares all that is read of programs with a golden file, word by word: a reader that
// takes another operand, another part of a text or another folder than the program is wrong even
// where the verdict would be the same.
func TestTold(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"harmful", "harmless", "carriers", "told"} {
		var found strings.Builder
		for _, src := range rows(t, name+".txt") {
			found.WriteString(src + "\n" + told(read(t, src)))
		}
		golden.Check(t, "testdata/"+name+".reads", found.String())
	}
}

// told writes what was read, line by line.
func told(s *shell.Script) string {
	var b strings.Builder
	for i := range s.Commands {
		c := &s.Commands[i]
		b.WriteString("\t" + toldWhat(c))
		if !c.Cwd.Is("/home/user/project") {
			b.WriteString(" in " + c.Cwd.String())
		}
		for _, a := range c.Assigns {
			fmt.Fprintf(&b, " with %s=%s", a.Name, a.Value)
		}
		if c.Stdin.Kind != shell.InputInherited {
			fmt.Fprintf(&b, " input %q of %q", clipped(c.Stdin.Text.String()), c.Stdin.File.String())
		}
		if c.Conditional {
			b.WriteString(" conditional")
		}
		b.WriteString("\n")
	}
	for _, p := range s.Problems {
		fmt.Fprintf(&b, "\t! %s: %s, word %q, below %q\n", p.Kind, p.Detail, p.Word.String(), p.Below.String())
	}
	for _, w := range s.Writes {
		fmt.Fprintf(&b, "\twrites %s: %q\n", w.File, w.Text)
	}
	return b.String()
}

func toldWhat(c *shell.Command) string {
	if c.Call == nil {
		return clipped(line(*c))
	}
	given := ""
	if len(c.Call.Given) > 0 {
		given = fmt.Sprintf(" given %q", texts(c.Call.Given))
	}
	return fmt.Sprintf("%s %s: %s %s%q%s", c.Call.Language, c.Call.Function, c.Call.Verb, c.Call.Method, texts(c.Call.Targets), given)
}

// clipped keeps the texts of whole programs short, which stand above what is read of them.
func clipped(s string) string { return s[:min(len(s), 60)] }

func texts(words []shell.Word) []string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = w.String()
	}
	return all
}
