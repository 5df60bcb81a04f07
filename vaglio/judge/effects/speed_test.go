package effects_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// BenchmarkEngine sends calls through the guard and both judges in process, as the default policy
// does, and reports the median and the 99th percentile besides the mean. The goals: a simple
// command below 50 µs in the median and 1 ms at the 99th percentile, a script of one mebibyte
// below a second.
func BenchmarkEngine(b *testing.B) {
	e := newEngine(b)
	script := strings.Repeat("cd src && git add -A; npm test | tee out.log\nfor f in *.ts; do wc -l \"$f\"; done\nD=build; rm -rf $D\ndocker compose ps; curl -s localhost:3000/health\n", 5)
	for _, bench := range []struct {
		name string
		p    vaglio.Proposal
	}{
		{"Simple", command("git push origin feature/x")},
		{"Read", command("ls -la src")},
		{"List", command("ls -la")},
		{"Status", command("git status")},
		{"Test", command("npm test")},
		{"Search", command("grep -rn x src | head")},
		{"Script40", command(script)},
		{"Mebibyte", command(strings.Repeat("echo one two three >> out.log\n", (1<<20)/30-1))},
		{"LateStatus", late(command("git status"))},
		{"LateSearch", late(command("grep -rn x src | head"))},
		{"LateTest", late(command("npm test"))},
		{"LateMove", late(command("mv notes.txt old.txt"))},
		{"LateEdit", late(command("sed -i s/a/b/ src/app.ts"))},
		{"Path", vaglio.Proposal{Executor: "read_file", Args: vaglio.Args{"path": "src/app.ts"}, Context: vaglio.Context{Cwd: testCwd}}},
		{"Write", vaglio.Proposal{Executor: "Write", Args: vaglio.Args{"file_path": "/srv/app/report.txt", "content": strings.Repeat("What the file holds. ", 50)}, Context: vaglio.Context{Cwd: testCwd}}},
		{"Tool", vaglio.Proposal{Executor: "send_email", Args: vaglio.Args{"to": "a@b.c", "body": "x"}, Context: vaglio.Context{Cwd: testCwd}}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				_, err := e.Judge(b.Context(), bench.p)
				if _, refused := errors.AsType[*vaglio.ShapeError](err); err != nil && !refused { // as too much to be read
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
			b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
		})
	}
}

func newEngine(t testing.TB) *vaglio.Engine {
	t.Helper()
	e, err := vaglio.New(vaglio.Config{
		Judges: []vaglio.Gate{{Judge: judge.Rules(), MinScore: 0.3}, {Judge: newJudge(t), MinScore: effects.Threshold}},
		Kind:   judge.KindRules, Home: testHome,
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestALateCallCopiesNoFacts checks that a call late in a session needs hardly more memory than the
// same call at its beginning: a copy of the facts of a whole session would be 200 kB.
func TestALateCallCopiesNoFacts(t *testing.T) {
	e := newEngine(t)
	needs := func(p vaglio.Proposal) uint64 {
		const calls = 50
		var before, after runtime.MemStats
		for i := range calls + 1 {
			if i == 1 { // the first one builds what later ones share
				runtime.ReadMemStats(&before)
			}
			p.Intent = strconv.Itoa(i) // else the verdict would be that of the first
			if _, err := e.Judge(t.Context(), p); err != nil {
				t.Fatal(err)
			}
		}
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / calls
	}
	for _, line := range []string{"git status", "npm test", "rm -rf build", "grep -rn x src | head"} {
		const most = 32 << 10
		if early, late := needs(command(line)), needs(late(command(line))); late > early+most {
			t.Errorf("%s: %d bytes at the beginning, %d late in a session", line, early, late)
		}
	}
}

// late is a call of a session that wrote as many files as are remembered.
func late(p vaglio.Proposal) vaglio.Proposal {
	for i := range vaglio.MaxFacts {
		p.Facts = append(p.Facts, vaglio.Fact{Deed: vaglio.Wrote, Path: fmt.Sprintf("%s/src/part%d/file%d.ts", testCwd, i%20, i)})
	}
	return p
}
