package guard

import (
	"encoding/base64"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// quote quotes a line as one shell word.
func quote(line string) string { return "'" + strings.ReplaceAll(line, "'", `'\''`) + "'" }

// wrappers wrap a line in another that does the same.
func wrappers() map[string]func(string) string {
	return map[string]func(string) string{
		"sudo":      func(s string) string { return "sudo -n bash -c " + quote(s) },
		"env":       func(s string) string { return "env -u X A=b sh -c " + quote(s) },
		"nohup":     func(s string) string { return "nohup nice -n 5 bash -c " + quote(s) + " &" },
		"timeout":   func(s string) string { return "timeout -k 5 10 bash -c " + quote(s) },
		"eval":      func(s string) string { return "eval " + quote(s) },
		"and":       func(s string) string { return "true && {\n" + s + "\n}" },
		"subshell":  func(s string) string { return "(\n" + s + "\n)" },
		"if":        func(s string) string { return "if true; then\n" + s + "\nfi" },
		"function":  func(s string) string { return "zz() {\n" + s + "\n}\nzz" },
		"here":      func(s string) string { return "bash <<'ZZEOF" + tag(s) + "'\n" + s + "\nZZEOF" + tag(s) },
		"here_word": func(s string) string { return "bash <<< " + quote(s) },
		"pipe":      func(s string) string { return "printf %s " + quote(s) + " | sh" },
		"base64": func(s string) string {
			return "echo " + base64.StdEncoding.EncodeToString([]byte(s)) + " | base64 -d | bash"
		},
		"substitute": func(s string) string { return "echo \"$(\n" + s + "\n)\"" },
		"variable":   func(s string) string { return "zz=" + quote(s) + "; eval \"$zz\"" },
		"busybox":    func(s string) string { return "busybox sh -c " + quote(s) },
		"loop":       func(s string) string { return "for zz in 1; do\n" + s + "\ndone" },
		"trap":       func(s string) string { return "trap " + quote(s) + " EXIT" },
		"xargs":      func(s string) string { return "echo 1 | xargs -n1 bash -c " + quote(s) },
	}
}

// tag keeps the delimiters of nested here-documents apart.
func tag(s string) string { return strings.Repeat("X", strings.Count(s, "ZZEOF")) }

// TestWrappingNeverHelps puts every denied row into each wrapper, and into some three
// deep. A short run puts a row into a sixth of them, the next row into others.
func TestWrappingNeverHelps(t *testing.T) {
	g := structuralGuard()
	all := wrappers()
	names := slices.Sorted(maps.Keys(all))
	each, nested := 1, 12
	if testing.Short() {
		each, nested = 6, 2
	}
	r := rand.New(rand.NewPCG(1, 2))
	commands, _ := deniedRows(t)
	for i, command := range commands {
		for j, name := range names {
			if (i+j)%each != 0 {
				continue
			}
			if line := all[name](command); !isDenied(g, line) {
				t.Errorf("%s: %q passes", name, line)
			}
		}
		for range nested {
			a, b, c := names[r.IntN(len(names))], names[r.IntN(len(names))], names[r.IntN(len(names))]
			if line := all[a](all[b](all[c](command))); !isDenied(g, line) {
				t.Errorf("%s(%s(%s)): %q passes", a, b, c, line)
			}
		}
	}
}

func isDenied(g *Guard, line string) bool {
	_, denied := g.Check(bash(line))
	return denied
}

// TestSpellingNeverHelps quotes each word of plain commands in other ways.
func TestSpellingNeverHelps(t *testing.T) {
	g := structuralGuard()
	plain := regexp.MustCompile(`^[a-z][A-Za-z0-9/._, -]+$`)
	spellings := map[string]func(string) string{
		"single":    func(w string) string { return "'" + w + "'" },
		"double":    func(w string) string { return `"` + w + `"` },
		"backslash": func(w string) string { return `\` + w },
		"empty":     func(w string) string { return w[:1] + "''" + w[1:] },
		"halves":    func(w string) string { return w[:len(w)/2] + `"` + w[len(w)/2:] + `"` },
		"ansi":      func(w string) string { return "$'" + w + "'" },
		"variable":  func(w string) string { return "${zz:-" + w + "}" },
	}
	commands, _ := deniedRows(t)
	tried := 0
	for _, command := range commands {
		if !plain.MatchString(command) || strings.HasPrefix(command, "coproc") || strings.HasPrefix(command, "time ") {
			continue
		}
		tried++
		for name, spell := range spellings {
			words := strings.Fields(command)
			for i, w := range words {
				words[i] = spell(w)
			}
			if line := strings.Join(words, " "); !isDenied(g, line) {
				t.Errorf("%s: %q passes", name, line)
			}
		}
	}
	if tried < 100 {
		t.Errorf("only %d plain rows", tried)
	}
}

// TestFlagsNeverHelp writes the options of a removal in other ways.
func TestFlagsNeverHelp(t *testing.T) {
	g := structuralGuard()
	targets := []string{"/", "/*", "~", "/usr", "/etc/*", "$HOME", `"$X"/*`, "/home/user/"}
	for _, target := range targets {
		for _, line := range []string{
			"rm -rf T", "rm -fr T", "rm -r -f T", "rm -f -r T", "rm -R T", "rm --recursive T", "rm --rec --force T", "rm -rf -- T", "rm -v -rf T", "rm T -rf",
			"rm -rfv --one-file-system T", "rm -rf x T y", "rm -rf --no-preserve-root T", "rm -Rfd T", "/bin/rm -rf T", `\rm -rf T`, "rm  -rf\tT", "rm -rf \\\n T",
			"true; rm -rf T", ": ; : && rm -rf T", "X=1 rm -rf T", ">/dev/null rm -rf T", "rm -rf T 2>/dev/null || true", "rm -rf T # clean", "! rm -rf T", "cd . && rm -rf T",
		} {
			if line = strings.ReplaceAll(line, "T", target); !isDenied(g, line) {
				t.Errorf("%q passes", line)
			}
		}
	}
}

// TestAppendingNeverHelps adds text to denied commands: in a short run a fifth of the
// texts to each.
func TestAppendingNeverHelps(t *testing.T) {
	g := structuralGuard()
	tails := []string{
		"; echo x", "\necho x", "\n# a comment", "\n", "\ncat <<EOF\nx\nEOF", "\nfi", "\n)", "\n'", "\nexit 0", "\n" + strings.Repeat("ls\n", 50), "\n" + strings.Repeat("$(", 200),
		"\nrm() { :; }", "\nset -e; exec true", "\x00", "\n\xff\xfe",
	}
	each := 1
	if testing.Short() {
		each = 5
	}
	commands, _ := deniedRows(t)
	for i, command := range commands {
		if i%(40*each) == 0 { // this takes the reader to its limits, which is slow
			isDeniedBehind(t, g, command, "\n"+strings.Repeat("x=$x$x;", 50))
		}
		for j, tail := range tails {
			if (i+j)%each == 0 {
				isDeniedBehind(t, g, command, tail)
			}
		}
	}
}

func isDeniedBehind(t *testing.T, g *Guard, command, tail string) {
	t.Helper()
	if !isDenied(g, command+tail) {
		t.Errorf("%q passes with %q behind it", command, tail)
	}
}

// TestLinesOfTheCore checks what the core takes for command lines: what stands below a key of a
// command, at any depth, with lists both joined and one by one.
func TestLinesOfTheCore(t *testing.T) {
	type A = map[string]any
	args := A{"steps": []any{A{"command": "rm x"}, "no"}, "cmd": []any{"a", "b c", A{"x": "d"}}, "note": "e"}
	for shell, want := range map[bool][]string{true: {"a b c x d", "a", "b c", "d", "rm x"}, false: nil} {
		s := structuralGuard().scanOf(Call{Executor: "x", Args: args, Shell: shell})
		if s.collect(args, 0, text{}); !slices.Equal(s.lines, want) {
			t.Errorf("with a shell %v: %q, want %q", shell, s.lines, want)
		}
	}
}

// TestDataIsNoCommand quotes commands as data, where the structural layer does not look. The
// core does: there a mention is enough.
func TestDataIsNoCommand(t *testing.T) {
	g := structuralGuard()
	commands, _ := deniedRows(t)
	for _, command := range append(commands, lines(t, "allowed.txt")...) {
		for _, line := range []string{
			"echo " + quote(command), "printf '%s\\n' " + quote(command) + " > notes.txt", "git commit -m " + quote(command), "grep -F -- " + quote(command) + " README.md",
			"cat > notes.txt <<'ZZEOF'\n" + command + "\nZZEOF",
		} {
			s := g.scanOf(bash(line))
			if r := s.core(bash(line)); r != nil {
				continue
			}
			if r := s.structural(); r != nil {
				t.Errorf("%q: %s", line, r.id)
			}
		}
	}
}

func FuzzStructural(f *testing.F) {
	commands, _ := deniedRows(f)
	for _, c := range append(commands, lines(f, "allowed.txt")...) {
		f.Add(c, "echo x")
	}
	for _, tail := range []string{"fi", "}", "EOF", "'", "exit", "rm() { :; }", "cd /tmp", "\xff"} {
		f.Add("rm -rf /usr", tail)
	}
	g := structuralGuard()
	f.Fuzz(func(t *testing.T, line, tail string) {
		d, denied := g.Check(bash(line))
		if d.ID == faultID {
			t.Fatalf("%s on %q", d.ID, line)
		}
		if !denied || strings.HasSuffix(line, `\`) {
			return
		}
		// The core's patterns may want a path at the beginning of a text.
		if s := g.scanOf(bash(line)); s.core(bash(line)) != nil {
			return
		}
		if !isDenied(g, line+"\n"+tail) {
			t.Fatalf("%q is denied by %s, but not with %q behind it", line, d.ID, tail)
		}
		// bash -c has no positional parameters. A quoted text that is not valid in JSON is
		// not read, which is no pass.
		if utf8.ValidString(line) && !strings.ContainsAny(line, "\x00$") && !isDenied(g, "bash -c -- "+quote(line)) {
			t.Fatalf("%q is denied by %s, but not inside bash -c", line, d.ID)
		}
	})
}

func BenchmarkStructuralSimple(b *testing.B) {
	g, call := structuralGuard(), bash("git log --oneline -n 20")
	b.ReportAllocs()
	for b.Loop() {
		g.Check(call)
	}
}

func BenchmarkStructuralFiles(b *testing.B) {
	g, call := structuralGuard(), bash("rm -rf ./build dist/*.o && cp -r src ~/backup")
	b.ReportAllocs()
	for b.Loop() {
		g.Check(call)
	}
}

func BenchmarkStructuralScript(b *testing.B) {
	script := strings.Repeat("mkdir -p build/x\ncp src/*.go build/x/\nif [ -f go.mod ]; then go build -o build/x/app ./cmd/app; fi\nfor f in a b c; do gzip \"$f\"; done\n", 10)
	g, call := structuralGuard(), bash(script)
	b.ReportAllocs()
	for b.Loop() {
		g.Check(call)
	}
}

func BenchmarkStructuralMebibyte(b *testing.B) {
	script := strings.Repeat("cp src/main.go build/main.go; echo 'a line of text'\n", 1<<20/53)
	g, call := structuralGuard(), bash(script)
	b.ReportAllocs()
	for b.Loop() {
		g.Check(call)
	}
}
