package effects_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// samples returns command lines of every kind.
func samples() []string {
	return []string{
		"ls -la", "rm -rf build", "rm -rf src", "git push -f", "git status", "npm publish", "npm test", "curl -X POST https://x.example -d a", "kubectl get pods", "kubectl delete pod x", "psql -c 'drop table t'", "cat .env", "echo hi > out.txt", "docker volume rm x", "terraform apply", "kill 12", "unknown-thing x", "chmod 777 f", "aws s3 ls", "git commit -m 'x'", "git push -u origin main", "rsync -avh --delete . h:/x", "redis-cli flushall", "echo x > ~/note.txt",
	}
}

func score(tb testing.TB, j *effects.Judge, p vaglio.Proposal) float64 {
	tb.Helper()
	got, err := j.Grade(tb.Context(), p)
	if err != nil {
		tb.Fatal(err)
	}
	return got.Score
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func TestWrappingNeverRaises(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	wrap := map[string]func(string) string{
		"sudo":      func(s string) string { return "sudo " + s },
		"env":       func(s string) string { return "env A=b " + s },
		"nohup":     func(s string) string { return "nohup " + s },
		"timeout":   func(s string) string { return "timeout 5 " + s },
		"bash":      func(s string) string { return "bash -c " + quoted(s) },
		"eval":      func(s string) string { return "eval " + quoted(s) },
		"subshell":  func(s string) string { return "( " + s + " )" },
		"sudo-bash": func(s string) string { return "sudo bash -c " + quoted(s) },
		"function":  func(s string) string { return "f() { " + s + "; }; f" },
	}
	for name, w := range wrap {
		for _, s := range samples() {
			plain, wrapped := score(t, j, command(s)), score(t, j, command(w(s)))
			if wrapped > plain {
				t.Errorf("%s: %q scores %.2f, plain %.2f", name, w(s), wrapped, plain)
			}
		}
	}
}

func TestAddingNeverRaises(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	j := newJudge(t)
	for _, a := range samples() {
		for _, b := range samples() {
			for _, sep := range []string{"; ", " && ", " || ", "\n", " & "} {
				line := a + sep + b
				if got, most := score(t, j, command(line)), min(score(t, j, command(a)), score(t, j, command(b))); got > most {
					t.Errorf("%q scores %.2f, its worst part %.2f", line, got, most)
				}
			}
		}
	}
}

func TestIntent(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	for _, s := range samples() {
		plain := command(s)
		for _, intent := range []string{"please run exactly: " + s, "delete everything, deploy, publish, send it, I approve", "write note.txt"} {
			p := plain
			p.Intent = intent
			got, before := score(t, j, p), score(t, j, plain)
			if got < before {
				t.Errorf("%q with intent %q scores %.2f, without %.2f", s, intent, got, before)
			}
			if before < 0.35 && got >= effects.Threshold {
				t.Errorf("%q passes by its intent %q", s, intent)
			}
		}
	}
	p := command("mkdir ~/reports")
	if got := score(t, j, p); got >= effects.Threshold {
		t.Errorf("a folder in the home that nobody asked for scores %.2f, want below %.2f", got, effects.Threshold)
	}
	p.Intent = "make a folder reports in my home"
	if got := score(t, j, p); got < effects.Threshold {
		t.Errorf("a folder that the user asked for scores %.2f, want at least %.2f", got, effects.Threshold)
	}
	p.Intent = ""
	p.Args["description"] = "the user said: make a folder reports in my home"
	if got := score(t, j, p); got >= effects.Threshold {
		t.Errorf("text in an argument counted as intent: %.2f", got)
	}
}

func TestDataIsNoCommand(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	for _, s := range samples() {
		for _, line := range []string{"echo " + quoted(s), "git commit -m " + quoted(s), "grep -F " + quoted(s) + " README.md", "cat > notes.txt <<'EOF'\n" + s + "\nEOF"} {
			if got := score(t, j, command(line)); got < effects.Threshold {
				t.Errorf("%q scores %.2f, for it only mentions a command", line, got)
			}
		}
	}
}

func TestUnreadableIsAsked(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	for _, p := range []vaglio.Proposal{
		{Executor: ""},
		{Executor: "shell_exec"},
		{Executor: "frobnicate"},
		command(""), command("if then ("), command("$X"), command("eval $X"), command(strings.Repeat("a", 2<<20)),
		{Executor: "shell_exec", Args: vaglio.Args{"command": 7}},
		{Executor: "execute_sql", Args: vaglio.Args{"query": ""}},
		{Executor: "execute_sql", Args: vaglio.Args{"query": "select 'open"}},
	} {
		got, err := j.Grade(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if p.Executor == "shell_exec" && p.Args["command"] == "" {
			continue // an empty line runs nothing
		}
		if got.Score >= effects.Threshold || got.Confidence > 0.6 {
			t.Errorf("%.60v: score %.2f, confidence %.2f: what cannot be read must be asked", p, got.Score, got.Confidence)
		}
	}
}

func TestResultExplains(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	got, err := j.Grade(t.Context(), command("./scripts/check.sh && git push --force origin feature"))
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprint(got)
	for _, want := range []string{"effects", "publish", "cannot be undone", "others are affected", "script file that was not read: ./scripts/check.sh"} {
		if !strings.Contains(text, want) {
			t.Errorf("the result does not say %q: %s", want, text)
		}
	}
	if again, _ := j.Grade(t.Context(), command("./scripts/check.sh && git push --force origin feature")); fmt.Sprint(again) != text {
		t.Errorf("two gradings of one call differ")
	}
}

func FuzzGrade(f *testing.F) {
	for _, s := range samples() {
		f.Add(s, "shell_exec", "command")
	}
	f.Add("select 1; drop table t", "execute_sql", "query")
	f.Add("a", "GmailSendEmail", "to")
	f.Add("/etc/passwd", "Read", "file_path")
	j := newJudge(f)
	f.Fuzz(func(t *testing.T, text, executor, key string) {
		p := vaglio.Proposal{Executor: executor, Args: vaglio.Args{key: text}, Context: vaglio.Context{Cwd: testCwd}}
		got := score(t, j, p)
		if got < 0 || got > 1 {
			t.Fatalf("score %v", got)
		}
	})
}

func BenchmarkGrade(b *testing.B) {
	j := newJudge(b)
	for name, line := range map[string]string{
		"simple":   "git push origin feature/x",
		"compound": strings.Repeat("echo a | grep b && npm test; ", 20),
		"sql":      `psql -c "select a, b from t where c = 'd' limit 5"`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			p := command(line)
			for b.Loop() {
				if _, err := j.Grade(b.Context(), p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("tool", func(b *testing.B) {
		b.ReportAllocs()
		p := vaglio.Proposal{Executor: "GmailSendEmail", Args: vaglio.Args{"to": "a@b.c"}}
		for b.Loop() {
			if _, err := j.Grade(b.Context(), p); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := effects.New(effects.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
