package sandbox

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

func TestSplitCommand(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
	}{
		{"pytest", []string{"pytest"}},
		{"  npm   test  ", []string{"npm", "test"}},
		{"npm test\n", []string{"npm", "test"}},
		{`go test ./... -run 'TestA|TestB$'`, []string{"go", "test", "./...", "-run", "TestA|TestB$"}},
		{`pytest -k "a and not b" --x=y`, []string{"pytest", "-k", "a and not b", "--x=y"}},
		{`grep -e a\ b \*.go`, []string{"grep", "-e", "a b", "*.go"}},
		{`x "*.go" '$(id)' "\$HOME" "\\"`, []string{"x", "*.go", "$(id)", "$HOME", `\`}},
		{`x 'a
b'`, []string{"x", "a\nb"}},
		{`x a'b'"c"d ''`, []string{"x", "abcd", ""}},
		{`x a~b '--home=x{}' a,b } "{"`, []string{"x", "a~b", "--home=x{}", "a,b", "}", "{"}},
		{`x 100% @ : + = a=b`, []string{"x", "100%", "@", ":", "+", "=", "a=b"}},
		{"x a\\\nb", []string{"x", "ab"}},
	} {
		got, err := SplitCommand(c.line)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, %v", c.line, got, err)
		}
	}
}

func TestSplitCommandRefuses(t *testing.T) {
	for line, why := range map[string]string{
		"":                              "empty",
		"   ":                           "empty",
		"# pytest":                      "empty",
		"pytest && rm -rf x":            "more than a program",
		"pytest || x":                   "more than a program",
		"pytest | tee x":                "more than a program",
		"pytest; x":                     "more than one",
		"pytest;":                       "operator",
		"pytest\nx":                     "more than one",
		"pytest &":                      "operator",
		"! pytest":                      "operator",
		"pytest > out":                  "redirection",
		"pytest 2>&1":                   "redirection",
		"pytest < in":                   "redirection",
		"pytest <<< x":                  "redirection",
		"pytest <<E\nx\nE":              "redirection",
		"pytest $(id)":                  "expansion",
		"pytest `id`":                   "expansion",
		"pytest $HOME":                  "expansion",
		"pytest ${HOME}":                "expansion",
		"pytest $((1+1))":               "expansion",
		`pytest "$HOME"`:                "between double quotes",
		"pytest \"`id`\"":               "between double quotes",
		`pytest "a$(id)"`:               "between double quotes",
		"pytest $'a'":                   "$''",
		`pytest $"a"`:                   "between double quotes",
		"pytest <(id)":                  "expansion",
		"pytest >(id)":                  "expansion",
		"pytest *.py":                   "pattern",
		"pytest a?":                     "pattern",
		"pytest [ab]":                   "pattern",
		"pytest +(a)":                   "expansion",
		"pytest {a,b}":                  "quote it",
		"pytest {}":                     "quote it",
		"pytest {1..9}":                 "quote it",
		"pytest ~/x":                    "~",
		"pytest ~root":                  "~",
		"~/pytest":                      "~",
		"A=1 pytest":                    "variable",
		"A=1":                           "variable",
		"pytest # x":                    "comment",
		"(pytest)":                      "more than a program",
		"{ pytest; }":                   "more than a program",
		"if x; then y; fi":              "more than a program",
		"time pytest":                   "more than a program",
		"pytest() { x; }":               "more than a program",
		"[[ a ]]":                       "more than a program",
		"export A=1":                    "more than a program",
		"coproc pytest":                 "more than a program",
		"pytest '":                      "no shell",
		"pytest )":                      "no shell",
		"pytest \x00":                   "zero byte",
		strings.Repeat("x", 33<<10):     "more than 32768",
		"pytest\r\n&& x":                "",
		"pytest\u2028x && y":            "",
		"pytest 'a' && 'b'":             "more than a program",
		"pytest \\\n&& x":               "more than a program",
		"pytest a$":                     "",
		"pytest \"a\"'b'$c":             "expansion",
		"pytest --x=$(cat /etc/passwd)": "expansion",
	} {
		got, err := SplitCommand(line)
		if line == "pytest a$" {
			// A lone $ is a $.
			if err != nil || !slices.Equal(got, []string{"pytest", "a$"}) {
				t.Errorf("%q: %q, %v", line, got, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %q, %v; want %q", line, got, err, why)
		}
	}
}

// FuzzSplitCommand checks that accepted lines mean what they say: quoted anew, they split into the
// same words, and they contain no unquoted character that a shell acts on.
func FuzzSplitCommand(f *testing.F) {
	for _, seed := range []string{"npm test", `a 'b c' "d"`, "a && b", "a $(b)", "a > b", "a *", `a \* "\$x"`, "a ~ {b,c}", "a\\\nb", "a;b", "A=b c", "a # b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		argv, err := SplitCommand(line)
		if err != nil {
			return
		}
		if len(argv) == 0 {
			t.Fatalf("%q is not words", line)
		}
		words := make([]string, len(argv))
		for i, word := range argv {
			quoted, err := syntax.Quote(word, syntax.LangBash)
			if err != nil {
				return // no shell can be given these words
			}
			// The library uses $'' to quote what is not printable; we refuse it.
			if strings.Contains(quoted, "$'") {
				return
			}
			words[i] = quoted
		}
		again, err := SplitCommand(strings.Join(words, " "))
		if err != nil || !slices.Equal(again, argv) {
			t.Fatalf("%q is %q, and that quoted is %q, %v", line, argv, again, err)
		}
		if acts := unquoted(line); acts != "" {
			t.Fatalf("%q is %q, but it has %s", line, argv, acts)
		}
	})
}

// unquoted finds, independently, characters outside quotes that a shell acts on.
func unquoted(line string) string {
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote == '\'':
			if c == '\'' {
				quote = 0
			}
		case c == '\\':
			i++
		case quote == '"' && c == '"':
			quote = 0
		case quote == '"' && c == '`':
			return "`"
		case quote == '"':
		case c == '\'' || c == '"':
			quote = c
		case strings.IndexByte(";&|<>()`*?", c) >= 0:
			return string(c)
		}
	}
	return ""
}

func TestAllowed(t *testing.T) {
	allowed, err := readAllowed([]string{"pytest", "npm test", "go test ./..."})
	if err != nil {
		t.Fatal(err)
	}
	s := &Sandbox{allowed: allowed}
	for line, want := range map[string]bool{
		"pytest": true, "pytest -x a": true, "npm test": true, "npm test -- -x": true, "go test ./... -race": true,
		"npm": false, "npm run test": false, "npm testx": false, "pytestx": false, "/usr/bin/pytest": false, "./pytest": false, "go test": false,
		"go test ./.../x": false, "rm -rf /": false, "PYTEST": false, "'npm test'": false, "npm ' test'": false, "env pytest": false,
	} {
		argv, err := SplitCommand(line)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.isAllowed(argv); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
	for _, list := range []string{"", "a && b", "/usr/bin/pytest", "./x", "$PYTEST", "''", "npm *"} {
		_, err := readAllowed([]string{"npm test", list})
		var wrong ConfigError
		if !errors.As(err, &wrong) || wrong.Field != "Allow[1]" {
			t.Errorf("%q: %v", list, err)
		}
	}
	if got := s.allowedInWords(); got != "pytest, npm test, go test ./..." {
		t.Error(got)
	}
}

func TestLimits(t *testing.T) {
	if l, err := (Limits{}).filled(); err != nil || l.Copy != 512<<20 || l.Output != 64<<10 || l.Processes != 256 || l.Time.Minutes() != 2 || l.Memory != 2<<30 || l.Disk != 512<<20 {
		t.Errorf("%+v, %v", l, err)
	}
	for name, l := range map[string]Limits{
		"Time": {Time: -1}, "Memory": {Memory: 1}, "Processes": {Processes: -5}, "Disk": {Disk: 1 << 60}, "Output": {Output: 2 << 20}, "Copy": {Copy: 513 << 20},
	} {
		_, err := l.filled()
		var wrong ConfigError
		if !errors.As(err, &wrong) || wrong.Field != "Limits."+name || !strings.Contains(wrong.Wrong, "it is from ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestACutGoesThroughNoLine checks that a line is shown completely or not at all, because half a
// secret is not recognised.
func TestACutGoesThroughNoLine(t *testing.T) {
	var text strings.Builder
	for i := range 500 {
		fmt.Fprintf(&text, "token%d=%s\n", i, strings.Repeat("s", i%40))
	}
	whole := map[string]bool{"": true}
	for line := range strings.Lines(text.String()) {
		whole[strings.TrimSuffix(line, "\n")] = true
	}
	for most := 256; most < 1000; most++ {
		e := excerpt{most: most}
		_, _ = e.Write([]byte(text.String()))
		o := e.output()
		if len(o.Text) < most/2 || o.Cut == "" {
			t.Fatalf("%d: %q, cut %q", most, o.Text, o.Cut)
		}
		for line := range strings.SplitSeq(o.Text, "\n") {
			if !whole[line] && !strings.Contains(line, o.Cut+" left out") {
				t.Fatalf("%d: the line %q is half", most, line)
			}
		}
	}
}

// TestExcerpt writes in pieces of every size, and expects the start and the end.
func TestExcerpt(t *testing.T) {
	var text strings.Builder
	for i := range 400 {
		fmt.Fprintf(&text, "%d,", i)
	}
	all := text.String()
	for _, most := range []int{1, 2, 7, 100, 1001, 5000} {
		for _, piece := range []int{1, 3, 64, 999, 5000} {
			for _, length := range []int{0, 1, 50, 99, 100, 101, 500, len(all)} {
				e := excerpt{most: most}
				for part := range slices.Chunk([]byte(all[:length]), piece) {
					if n, err := e.Write(part); n != len(part) || err != nil {
						t.Fatal(n, err)
					}
				}
				o := e.output()
				if length <= most {
					if o.Text != all[:length] || o.Cut != "" {
						t.Fatalf("%d of %d in %ds: %q cut %q", length, most, piece, o.Text, o.Cut)
					}
					continue
				}
				head, tail := all[:most/2], all[length-(most-most/2):length]
				want := fmt.Sprintf("%s\n[… %d bytes in the middle left out …]\n%s", head, length-most, tail)
				if o.Text != want || o.Bytes != int64(length) || o.Cut == "" {
					t.Fatalf("%d of %d in %ds: %q, want %q", length, most, piece, o.Text, want)
				}
			}
		}
	}
}
