package code_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio/code"
	"github.com/metnos/vaglio/vaglio/shell"
)

func read(t *testing.T, src string) *shell.Script {
	t.Helper()
	r, err := code.New()
	if err != nil {
		t.Fatal(err)
	}
	return shell.Read(src, shell.Options{Home: "/home/user", User: "user", Cwd: "/home/user/project", Programs: r})
}

// TestWhereAProgramStands checks that what a program runs stands where the program does.
func TestWhereAProgramStands(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"os.system('ls b')", "subprocess.run(['ls', 'b'])", "os.remove('b')"} {
		src := "ls a; python3 -c \"import os, subprocess; " + program + "\"; ls c"
		for i, c := range read(t, src).Commands {
			want := shell.Span{Start: strings.Index(src, "python3"), End: len(src) - len(" ls c")}
			switch text := show(&shell.Script{Commands: []shell.Command{c}}); {
			case strings.Contains(text, " a"):
				want = shell.Span{End: len("ls a;")}
			case strings.Contains(text, " c"):
				want = shell.Span{Start: len(src) - len("ls c"), End: len(src)}
			}
			if c.Span != want {
				t.Errorf("command %d of %s stands at %v, want %v", i, src, c.Span, want)
			}
		}
	}
}

// rows returns the sources in a file of testdata.
func rows(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n---\n")
}

// removesRoot reports whether a command removes / and everything below it.
func removesRoot(c shell.Command) bool {
	if c.Call != nil {
		return (c.Call.Verb == shell.VerbDeleteTree || c.Call.Verb == shell.VerbDelete) && len(c.Call.Targets) > 0 &&
			strings.HasPrefix(c.Call.Targets[0].String(), "/")
	}
	n := len(c.Argv)
	return c.Name == "rm" && !c.Wrapper && n > 1 && c.Argv[n-1].Is("/")
}

func show(s *shell.Script) string {
	var b strings.Builder
	for i := range s.Commands {
		c := &s.Commands[i]
		for _, w := range c.Argv {
			t := w.String()
			if len(t) > 60 {
				t = t[:60] + "..."
			}
			b.WriteString(t + " ")
		}
		b.WriteString("| ")
	}
	for _, p := range s.Problems {
		b.WriteString("!" + string(p.Kind) + " " + p.Word.String() + " ")
	}
	return b.String()
}

// TestHarmful checks that programs that remove /, and a few that run unknown code, are found or
// are a problem.
func TestHarmful(t *testing.T) {
	for _, src := range rows(t, "harmful.txt") {
		if s := read(t, src); !slices.ContainsFunc(s.Commands, removesRoot) && len(s.Problems) == 0 {
			t.Errorf("Read(%s)\n = %s, want a removal of /", src, show(s))
		}
	}
}

// TestHarmless checks that everyday programs have no problem and remove or move nothing.
func TestHarmless(t *testing.T) {
	for _, src := range rows(t, "harmless.txt") {
		s := read(t, src)
		bad := slices.ContainsFunc(s.Commands, func(c shell.Command) bool {
			asked := c.Call != nil && c.Call.Verb == shell.VerbEnvironment && len(c.Call.Targets) > 0 // a variable by its name
			return c.Call != nil && !asked && !slices.Contains([]shell.Verb{shell.VerbRead, shell.VerbWrite, shell.VerbList, shell.VerbNetwork, shell.VerbClient}, c.Call.Verb)
		})
		if bad || len(s.Problems) > 0 {
			t.Errorf("Read(%s)\n = %s, want nothing", src, show(s))
		}
	}
}

// TestLocals checks that functions that have a variable of the same name each have their own.
func TestLocals(t *testing.T) {
	var src strings.Builder
	src.WriteString("python3 - <<'E'\n")
	for i := range 100 {
		fmt.Fprintf(&src, "def f%d():\n    out = 'a%d'\n    with open(out, 'w') as f:\n        f.write('x')\n", i, i)
	}
	src.WriteString("E")
	written := 0
	for _, c := range read(t, src.String()).Commands {
		if c.Call == nil || c.Call.Verb != shell.VerbWrite {
			continue
		}
		if written++; !c.Call.Targets[0].Is(fmt.Sprintf("a%d", written-1)) {
			t.Fatalf("writes %s, want a%d", c.Call.Targets[0], written-1)
		}
	}
	if written != 100 {
		t.Errorf("writes %d files, want 100", written)
	}
}

// TestCarriers checks that calls of interpreters, each of which removes / in a different way, are
// found.
func TestCarriers(t *testing.T) {
	for _, src := range rows(t, "carriers.txt") {
		s := read(t, src)
		if !slices.ContainsFunc(s.Commands, func(c shell.Command) bool {
			return removesRoot(c) || strings.HasPrefix(line(c), "rm -rf /")
		}) {
			t.Errorf("Read(%s)\n = %s, want a removal of /", src, show(s))
		}
	}
}

// line returns the words of a command.
func line(c shell.Command) string {
	words := make([]string, len(c.Argv))
	for i, w := range c.Argv {
		words[i] = w.String()
	}
	return strings.Join(words, " ")
}
