package guard

import (
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/golden"
)

// TestWhichCharactersDecide removes and doubles each character of a path or a program in
// turn, and marks those on which it depends what the guard does: - if that changes without
// the character, + if it changes with two of them, * if both. After an intended change, run
// it with -update, and read which marks have moved.
func TestWhichCharactersDecide(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	g := gate()
	for _, cwd := range []string{"", "/home/user/app", "/etc", "/root/app", "/home/user/.local/share"} {
		b.WriteString("in " + cwd + ":\n\n")
		for _, path := range []string{
			"/etc/shadow", "//etc/./passwd", "/tmp/../etc/shadow", "../../etc/shadow", "../../../etc/shadow", "shadow", "./shadow", "~/.ssh/id", "$HOME/.ssh/x", "${HOME}/.gnupg",
			"~root/x", "../.ssh/x", ".aws//credentials", "x/.config/y/credentials.env", "file:///etc/shadow", "%2Fetc%2Fshadow", "'/etc/shadow'", "/proc/self/environ",
			"/proc/self/root/etc/shadow", "/proc/thread-self/root/root", "/proc/self/cwd/shadow", "/proc/1/environ", "/dev/sda", "metnos/x", "/home/user/.local/share/metnos/x",
			"~/.telegram-token", "../.telegram-token", "../../../home/user/.telegram-token", "/home/user/app/.cursor/hooks.json", "a few words", "a/b.go", "C:\\Users\\u\\.ssh\\id",
		} {
			picture(&b, path, func(s string) string {
				return outcome(g, Call{Executor: "fs_read", Args: map[string]any{"path": s}, Cwd: cwd})
			})
		}
	}
	b.WriteString("programs:\n\n")
	for _, program := range []string{
		"open('../.telegram-token')", "x = '~/.telegram-token'", "go('http://localhost:8787/inbox')", "host = 'localhost'\nport = 8787", "os.kill(4242, 9)", "print(4242)",
		"run(['vaglio', 'approve', x])", "run('vaglio approve ap-1')", "run('vaglio', 'deny')", "say('vaglio', 'approve')", "run('vaglio')", "run('vaglio approve ap-1 now ok')",
		"kill(find('vaglio'))", "kill(x if x == 'vaglio' else y)", "if p.name() == \"vaglio\": p.kill()", "stop('/opt/bin/vaglio'); terminate(p)",
		"open(p, 'w').write('{}') # .claude settings.json", "save(p, '.claude/settings.json')", "show('.claude/settings.json')", "x = '.claude'\nwrite(y, 'settings.json')",
	} {
		for _, by := range []string{"python3 w.py", "ruby w.py", "lua w.py"} {
			picture(&b, program, func(s string) string {
				line := "cat > w.py <<'E'\n" + s + "\nE\n" + by
				return outcome(g, Call{Executor: "Bash", Args: map[string]any{"command": line}, Cwd: "/home/user/app"})
			})
		}
	}
	golden.Check(t, "testdata/decides.txt", b.String())
}

// outcome returns the rule that a call breaks, or whether the guard has doubts.
func outcome(g *Guard, c Call) string {
	out := g.Examine(c)
	switch {
	case out.Denial != nil:
		return out.Denial.ID
	case out.Unreadable != nil:
		return "unreadable"
	case out.Doubt:
		return "asked"
	default:
		return "nothing"
	}
}

// picture writes a text, what is done about it, and the marks.
func picture(b *strings.Builder, text string, of func(string) string) {
	chars, was := []rune(text), of(text)
	var marks strings.Builder
	for i := range chars {
		less := of(string(slices.Delete(slices.Clone(chars), i, i+1))) != was
		more := of(string(slices.Insert(slices.Clone(chars), i, chars[i]))) != was
		marks.WriteByte(map[[2]bool]byte{{true, false}: '-', {false, true}: '+', {true, true}: '*', {}: ' '}[[2]bool{less, more}])
	}
	b.WriteString(strings.ReplaceAll(text, "\n", "⏎") + "  " + was + "\n" + strings.TrimRight(marks.String(), " ") + "\n")
}
