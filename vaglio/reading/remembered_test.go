package reading

import (
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/memo"
	"github.com/metnos/vaglio/vaglio/shell"
)

// counting reads a program by asking for a file and a variable, and counts how often it does.
type counting struct {
	times int
	kind  shell.ProblemKind
}

func (c *counting) Read(p *shell.Program) *shell.ProgramResult {
	c.times++
	text, _ := p.Source("/app/b.go")
	value, _ := p.Env("X")
	if value.Is("words") {
		p.Words(10)
	}
	out := &shell.ProgramResult{Steps: 320, Output: shell.Text(text + value.String() + p.Beside()[0] + p.Home("").String())}
	if c.kind != "" {
		out.Actions = []shell.ProgramStep{{Problem: &shell.Problem{Kind: c.kind}}}
	}
	return out
}

// TestRemembered reads a program again wherever what its reader was told is no longer so, and only there.
func TestRemembered(t *testing.T) {
	t.Parallel()
	reads := &counting{}
	r := &remembered{ProgramReader: reads, kept: memo.New[found, *recalled](mostRemembered)}
	program := func(source, env, beside, text string) *shell.Program {
		return &shell.Program{
			Language: "go", Text: shell.Text(text), File: true, Found: true, Path: "/app/a.go", Steps: 1000,
			Words:   func(int) []shell.Word { return nil },
			Home:    func(string) shell.Word { return shell.Text("/h") },
			Env:     func(string) (shell.Word, bool) { return shell.Text(env), false },
			Content: func(shell.Word) (shell.Word, bool) { return shell.Word{}, false },
			Beside:  func() []string { return []string{beside} },
			Source:  func(string) (string, bool) { return source, true },
			Lies:    func(string) bool { return true },
		}
	}
	for i, tt := range []struct {
		p     *shell.Program
		out   string
		times int
	}{
		{program("s", "e", "b", "t"), "seb/h", 1},
		{program("s", "e", "b", "t"), "seb/h", 1},
		{program("S", "e", "b", "t"), "Seb/h", 2},
		{program("S", "E", "b", "t"), "SEb/h", 3},
		{program("S", "E", "B", "t"), "SEB/h", 4},
		{program("S", "E", "B", "T"), "SEB/h", 5},
		{program("S", "E", "B", "T"), "SEB/h", 5},
	} {
		out := r.Read(tt.p)
		if text, _ := out.Output.Text(); text != tt.out || reads.times != tt.times {
			t.Errorf("%d: %q after %d readings, want %q after %d", i, text, reads.times, tt.out, tt.times)
		}
		if again := i == 1 || i == 6; again != (out.Steps < 320) {
			t.Errorf("%d: it cost %d", i, out.Steps)
		}
	}
	by := func(words, env string) *shell.Program {
		p := program("S", env, "B", "W")
		p.Words = func(most int) (all []shell.Word) {
			for _, w := range strings.Fields(words)[:min(most, 3)] {
				all = append(all, shell.Text(w))
			}
			return all
		}
		return p
	}
	for i, tt := range []struct {
		words, env string
		again      bool
	}{
		{"go test ./a", "e", true},
		{"go test ./b", "e", false}, // the program does not ask how it is run
		{"go run ./b", "e", true},   // another tool may give it other words
		{"go test ./a", "words", true},
		{"go test ./a", "words", false},
		{"go test ./b", "words", true},
	} {
		before := reads.times
		if r.Read(by(tt.words, tt.env)); reads.times > before != tt.again {
			t.Errorf("%d: read again: %t, want %t", i, reads.times > before, tt.again)
		}
	}
	reads.times = 5
	named := program("S", "E", "B", "T")
	named.Found = false
	if r.Read(named); reads.times != 6 {
		t.Error("a program that a word names was not read")
	}
	for _, reads.kind = range []shell.ProblemKind{shell.ProblemTooCostly, shell.ProblemInternal} {
		r.Read(program("S", "E", "B", string(reads.kind)))
		before := reads.times
		if r.Read(program("S", "E", "B", string(reads.kind))); reads.times != before+1 {
			t.Errorf("what ended with %s was kept", reads.kind)
		}
	}
}
