package guard

import (
	"strings"
	"testing"
)

// TestHugeStringsStayLinear holds that the guard returns on huge strings. It measures no
// time.
func TestHugeStringsStayLinear(t *testing.T) {
	g := newGuard()
	const size = 1 << 17
	for name, piece := range map[string]string{
		"a": "a", "slash": "/", "dotdot": "../", "dot": "/./", "percent": "%25", "tilde": "~", "home": "$HOME", "home2": "${HOME}",
		"wide": "é", "zero_width": "\u200b", "nul": "\x00", "space": " ", "dd": "dd of=/dev/", "metnos": ".local/share/metnosx",
		"config": ".config/x", "backslash": `\`, "colon": "file:",
	} {
		t.Run(name, func(*testing.T) {
			s := strings.Repeat(piece, size/len(piece))
			g.Check(Call{Executor: "shell_exec", Cwd: "/home/u/app", Args: map[string]any{"command": s, "x": s, s: "y"}})
		})
	}
}

func FuzzGuard(f *testing.F) {
	for _, s := range []string{"/etc/passwd", "rm -rf /", "%2e%2e/x", "file:///root", "~root", "$HOME/.ssh", "／ｅｔｃ", "a\x00b", `C:\x`, "../../etc/shadow", "/proc/self/cwd/x"} {
		f.Add(s, "dir", "/home/u", "/home/u/app")
		f.Add("x", "command", s, "")
	}
	g := newGuard()
	f.Fuzz(func(t *testing.T, value, key, other, cwd string) {
		// These say where the command runs and in what language.
		switch strings.ToLower(key) {
		case "cwd", "workdir", "working_directory", "working_dir", "workingdirectory", "dir", "directory", "env", "environment", "env_vars", "language", "lang", "interpreter", "runtime", "shell":
			return
		}
		for _, executor := range []string{"fs_read", "shell_exec"} {
			small := Call{Executor: executor, Cwd: cwd, Args: map[string]any{"command": value}}
			_, denied := g.Check(small)
			if d, _ := g.Check(small); d.ID == "guard.fault" {
				t.Fatalf("the guard panicked on %q", value)
			}
			big := Call{Executor: executor, Cwd: cwd, Args: map[string]any{"command": value, "more": []any{map[string]any{key: other}}}}
			if key != "command" {
				big.Args[key] = other
			}
			if _, still := g.Check(big); denied && !still {
				t.Fatalf("%q is denied, but not beside %q=%q", value, key, other)
			}
		}
	})
}

func BenchmarkPath(b *testing.B) {
	g, call := newGuard(), path1("/tmp/n.txt")
	b.ReportAllocs()
	for b.Loop() {
		g.Check(call)
	}
}

func BenchmarkPathInWorkspace(b *testing.B) {
	g, call := newGuard(), path1("src/main.go")
	call.Cwd = "/tmp"
	b.ReportAllocs()
	for b.Loop() {
		g.Check(call)
	}
}

func BenchmarkShell(b *testing.B) {
	g, call := newGuard(), shell1("git log --oneline -n 20 && ls -la /tmp")
	b.ReportAllocs()
	for b.Loop() {
		g.Check(call)
	}
}

func BenchmarkMebibyte(b *testing.B) {
	g, call := newGuard(), Call{Executor: "fs_write", Args: map[string]any{"path": "/tmp/x", "content": strings.Repeat("a line of text, nothing more: 100% / 2\n", 26_000)}}
	b.ReportAllocs()
	for b.Loop() {
		g.Check(call)
	}
}
