package vaglio_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/internal/workfiles"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/catalog"
	"github.com/metnos/vaglio/vaglio/judge/effects"
	"github.com/metnos/vaglio/vaglio/reading"
)

// counted is a judge that counts how often it is asked.
type counted struct {
	vaglio.Judge
	n int
}

func (c *counted) Grade(ctx context.Context, p vaglio.Proposal) (vaglio.GradientResult, error) {
	c.n++
	return c.Judge.Grade(ctx, p)
}

// TestAllThatCountsIsNamed changes one thing in a proposal at a time. The verdict is reused
// only if that is something that the judges declare not to look at.
func TestAllThatCountsIsNamed(t *testing.T) {
	j := &counted{Judge: answers("j", 1, 1, "")}
	e := build(t, vaglio.Config{Judges: []vaglio.Gate{{Judge: j, Settled: true}}})
	yes := true
	step := func(n int) *int { return &n }
	base := func() vaglio.Proposal {
		return vaglio.Proposal{
			Session: "s", Executor: "fs_list", Intent: "look", Args: vaglio.Args{"path": "/tmp/a", "n": strictjson.Number("1")},
			Context: vaglio.Context{Cwd: "/tmp/x"}, Facts: vaglio.Facts{{Deed: vaglio.Wrote, Path: "/tmp/x/a", Words: []string{"a"}}},
		}
	}
	changes := map[string]func(p *vaglio.Proposal){
		"Executor": func(p *vaglio.Proposal) { p.Executor = "fs_lis" }, "Intent": func(p *vaglio.Proposal) { p.Intent = "" },
		"Elsewhere": func(p *vaglio.Proposal) { p.Elsewhere = true },
		"Session":   func(p *vaglio.Proposal) { p.Session = "" },
		"Args":      func(p *vaglio.Proposal) { p.Args["path"] = "/tmp/b" }, "Args.key": func(p *vaglio.Proposal) { p.Args["pat"] = "h/tmp/a" },
		"Args.kind": func(p *vaglio.Proposal) { p.Args["n"] = "1" }, "Args.list": func(p *vaglio.Proposal) { p.Args["n"] = []any{"1"} },
		"Args.more": func(p *vaglio.Proposal) { p.Args["m"] = nil },
		"Args.map":  func(p *vaglio.Proposal) { p.Args["n"] = map[string]any{"a": true} },
		"Args.map2": func(p *vaglio.Proposal) { p.Args["n"] = map[string]any{"a": false} },
		"Facts":     func(p *vaglio.Proposal) { p.Facts = nil }, "Facts.path": func(p *vaglio.Proposal) { p.Facts[0].Path = "/tmp/x/b" },
		"Facts.new": func(p *vaglio.Proposal) { p.Facts[0].New = true }, "Facts.deed": func(p *vaglio.Proposal) { p.Facts[0].Deed = vaglio.Built },
		"Facts.words": func(p *vaglio.Proposal) { p.Facts[0].Words = []string{"a", "b"} }, "Facts.sum": func(p *vaglio.Proposal) { p.Facts[0].SHA256 = "0" },
		"Facts.at": func(p *vaglio.Proposal) { p.Facts[0].At = time.Unix(1, 0) }, "Facts.more": func(p *vaglio.Proposal) { p.Facts = append(p.Facts, p.Facts[0]) },
		"Context.Mode": func(p *vaglio.Proposal) { p.Context.Mode = "x" }, "Context.Step": func(p *vaglio.Proposal) { p.Context.Step = step(0) },
		"Context.Step2":      func(p *vaglio.Proposal) { p.Context.Step = step(1) },
		"Context.Capability": func(p *vaglio.Proposal) { p.Context.Capability = vaglio.Capabilities{"code:exec"} },
		"Context.Critical":   func(p *vaglio.Proposal) { p.Context.Critical = new(bool) }, "Context.Critical2": func(p *vaglio.Proposal) { p.Context.Critical = &yes },
		"Context.Cwd": func(p *vaglio.Proposal) { p.Context.Cwd = "/tmp/y" }, "Context.Client": func(p *vaglio.Proposal) { p.Context.Client = "claude-code" },
		"Context.Mounts": func(p *vaglio.Proposal) { p.Context.Mounts = []string{"/tmp/y"} }, "Context.Roots": func(p *vaglio.Proposal) { p.Context.Roots = []string{"/tmp/y"} },
		"Context.Refusal": func(p *vaglio.Proposal) { p.Context.Refusal = "no" }, "Context.SubAgent": func(p *vaglio.Proposal) { p.Context.SubAgent = "x" },
		"Context.Turn": func(p *vaglio.Proposal) { p.Context.Turn = &vaglio.Turn{} }, "Context.Site": func(p *vaglio.Proposal) { p.Context.Site = &vaglio.Site{} },
		"Context.Clashes": func(p *vaglio.Proposal) { p.Context.Clashes = true },
		"Context.Running": func(p *vaglio.Proposal) { p.Context.Running = vaglio.NewRunning(nil, nil) },
		"Context.Known":   func(p *vaglio.Proposal) { p.Context.Known = &catalog.Executor{} }, "Context.Reading": func(p *vaglio.Proposal) { p.Context.Reading = &reading.Reading{} },
		"Context.Concerns": nil, // those answer in the judges' place
		"Context":          func(p *vaglio.Proposal) { p.Context = vaglio.Context{} },
		"Agent":            nil, "TurnID": nil, "Step": nil,
	}
	for of, prefix := range map[reflect.Type]string{reflect.TypeFor[vaglio.Proposal](): "", reflect.TypeFor[vaglio.Context](): "Context."} {
		for field := range of.Fields() {
			if _, tried := changes[prefix+field.Name]; !tried {
				t.Errorf("%s%s is not tried: is it named where verdicts are kept?", prefix, field.Name)
			}
		}
	}
	asks := func(p vaglio.Proposal) bool {
		before := j.n
		if v, err := e.Judge(t.Context(), p); err != nil || !v.Approved {
			t.Fatal(v, err)
		}
		return j.n > before
	}
	asks(base())
	asks(base()) // what came twice is cached
	for name, change := range changes {
		p := base()
		if change == nil {
			continue
		}
		if change(&p); !asks(p) {
			t.Errorf("with another %s the judge is not asked again", name)
		}
	}
	asks(base()) // of facts noted at the same moment, only the last verdict is kept
	other := base()
	other.Agent, other.TurnID, other.Step = "other", "t", 7
	if asks(base()) || asks(other) {
		t.Error("an equal proposal is judged anew")
	}
}

// TestRepeatedVerdictsAreCounted judges equal calls: the first is noted, the second is
// cached, and all further ones get its verdict and are counted.
func TestRepeatedVerdictsAreCounted(t *testing.T) {
	j, b := &counted{Judge: answers("j", 1, 1, "")}, &books{}
	e := build(t, vaglio.Config{Judges: []vaglio.Gate{{Judge: j, Settled: true}}, Meter: b})
	p := vaglio.Proposal{Session: "s", Executor: "fs_list", Args: vaglio.Args{"path": "/tmp/a"}, Context: vaglio.Context{Cwd: "/tmp/x"}}
	for n := range 5 {
		if v, err := e.Judge(t.Context(), p); err != nil || !v.Approved {
			t.Fatalf("%+v, %v", v, err)
		}
		if got, want := b.faults["repeated "], max(0, n-1); got != want || j.n != n+1-want {
			t.Errorf("call %d: %d counted, want %d; the judge was asked %d times", n+1, got, want, j.n)
		}
	}
}

// TestScriptsAreKnownAgain runs long everyday scripts again and again: however much they ask of
// the machine, their verdict is reused.
func TestScriptsAreKnownAgain(t *testing.T) {
	const dir = "/home/u/app"
	judge, err := effects.New(effects.Options{Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range everydayScripts() {
		b := &books{}
		e := build(t, vaglio.Config{
			Judges: []vaglio.Gate{{Judge: judge, MinScore: effects.Threshold, Settled: true}}, Meter: b, Home: "/home/u", Workspaces: []string{dir},
			Files: folderOf{dir + "/.git/HEAD": "ref: refs/heads/main\n", dir + "/" + name: text},
		})
		line := map[string]string{"x.sh": "sh", "x.py": "python3", "x.js": "node"}[name] + " " + name
		for range 3 {
			v, err := e.Judge(t.Context(), vaglio.Proposal{Executor: "Bash", Args: vaglio.Args{"command": line}, Context: vaglio.Context{Cwd: dir}})
			if err != nil || !v.Approved {
				t.Fatalf("%s: %s, %v", line, v.Reason, err)
			}
		}
		if b.faults["repeated "] != 1 {
			t.Errorf("%s is judged anew each time", line)
		}
	}
}

// TestWhatMayDifferIsJudgedAnew judges the same call three times where the verdict may
// differ, or each call has to be counted.
func TestWhatMayDifferIsJudgedAnew(t *testing.T) {
	long := strings.Repeat("a", 40_000)
	for name, tt := range map[string]struct {
		gate     vaglio.Gate
		arg      string
		executor string
		want     int
	}{
		"Equal":      {vaglio.Gate{Settled: true}, "/tmp/a", "fs_list", 2},
		"Unsettled":  {vaglio.Gate{}, "/tmp/a", "fs_list", 3},
		"Rejected":   {vaglio.Gate{Settled: true, MinConfidence: 1}, "/tmp/a", "fs_list", 3},
		"Large":      {vaglio.Gate{Settled: true}, long, "fs_list", 3},
		"GuardAlone": {vaglio.Gate{Settled: true}, "/etc/shadow", "fs_list", 0},
	} {
		j := &counted{Judge: answers("j", 1, 0.5, "")}
		tt.gate.Judge = j
		e := build(t, vaglio.Config{Judges: []vaglio.Gate{tt.gate}})
		var got [3]vaglio.Verdict
		for i := range got {
			var err error
			if got[i], err = e.Judge(t.Context(), vaglio.Proposal{Executor: tt.executor, Args: vaglio.Args{"path": tt.arg}}); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(got[0], got[2], cmpopts.IgnoreFields(vaglio.Verdict{}, "TS"), cmpopts.IgnoreUnexported(vaglio.Fact{})); diff != "" || j.n != tt.want || got[2].TS < got[0].TS {
			t.Errorf("%s: asked %d times, want %d; %s", name, j.n, tt.want, diff)
		}
	}
}

// TestKeptVerdictsAreBounded approves more calls than can be cached: the cache does not grow,
// and verdicts in use stay in it.
func TestKeptVerdictsAreBounded(t *testing.T) {
	j := &counted{Judge: answers("j", 1, 1, strings.Repeat("x", 400_000))}
	e := build(t, vaglio.Config{Judges: []vaglio.Gate{{Judge: j, Settled: true}}})
	judge := func(n int) {
		if _, err := e.Judge(t.Context(), proposal("fs_list", vaglio.Args{"path": fmt.Sprint("/tmp/", n)})); err != nil {
			t.Fatal(err)
		}
	}
	const calls = 50
	for n := range calls {
		judge(n)
		judge(n)
		judge(0) // stays in use
	}
	if before := j.n; before != 2*calls {
		t.Errorf("the judge was asked %d times, want %d", before, 2*calls)
	}
	for n := range calls {
		judge(n)
	}
	if again := j.n - 2*calls; again < calls/2 {
		t.Errorf("%d of %d verdicts of 400 kB are still kept", calls-again, calls)
	}
}

// swap replaces what the rows name in the project: with files and folders, links that lead
// out of it, harmful scripts, or nothing.
func swap(t *testing.T, dir string, round int) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.RemoveAll(dir))
	must(os.MkdirAll(filepath.Join(dir, ".git"), 0o700))
	must(os.WriteFile(filepath.Join(dir, ".git/HEAD"), []byte("ref: refs/heads/main\n"), 0o600))
	texts := [...]string{"echo ok\n", "git push --force origin main\n", "echo other\n", "rm -rf /\n"}
	leads := [...]string{"/etc/shadow", "/etc", filepath.Dir(dir), "/root/.ssh"}
	for i, name := range strings.Fields("src build dist out x y a b node_modules target docs tests test lib bin tmp data .venv") {
		at := filepath.Join(dir, name)
		switch (round + i) % 3 {
		case 0:
			must(os.Mkdir(at, 0o700))
		case 1:
			if round > 0 {
				must(os.Symlink(leads[(round+i)%len(leads)], at))
			}
		}
	}
	for i, name := range strings.Fields("x.sh run.sh a.sh script.sh deploy.sh build.sh test.sh main.py app.py script.py x.py index.js app.js a.txt b.txt file.txt notes.txt README.md .env config.json") {
		at, n := filepath.Join(dir, name), round
		if round > 0 {
			n += i
		}
		if n%5 == 4 {
			must(os.Symlink(leads[n%len(leads)], at))
			continue
		}
		must(os.WriteFile(at, []byte(texts[n%len(texts)]), 0o600))
	}
	must(os.WriteFile(filepath.Join(dir, "package.json"), fmt.Appendf(nil, `{"scripts":{"test":%q,"build":"echo","start":"echo"}}`, strings.TrimSpace(texts[round%len(texts)])), 0o600))
	must(os.WriteFile(filepath.Join(dir, "Makefile"), []byte("all build test:\n\t"+texts[round%len(texts)]), 0o600))
}

// weighing is a counted judge that also weighs texts.
type weighing struct {
	*counted
	vaglio.Weigher
}

// TestAKeptVerdictIsTheOneThatWouldBeMade judges test rows with an engine that caches
// verdicts and with one that does not, round after round, and swaps the project's files in
// between. Both always agree.
func TestAKeptVerdictIsTheOneThatWouldBeMade(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, "app")
	made, err := effects.New(effects.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	asked := weighing{&counted{Judge: made}, made}
	engine := func(g vaglio.Gate) *vaglio.Engine {
		return build(t, vaglio.Config{Judges: []vaglio.Gate{g}, Home: home, Files: workfiles.Disk{}, Workspaces: []string{dir}})
	}
	keeps := engine(vaglio.Gate{Judge: asked, MinScore: effects.Threshold, Settled: true})
	anew := engine(vaglio.Gate{Judge: made, MinScore: effects.Threshold})
	of := 4
	if testing.Short() || race.Detector {
		of = 80
	}
	rows := testRows(t, of)
	same := cmp.Options{cmpopts.IgnoreFields(vaglio.Verdict{}, "TS"), cmpopts.IgnoreUnexported(vaglio.Fact{}), cmpopts.EquateEmpty()}
	kept, changed, all := 0, 0, len(rows)
	was := map[string]bool{}
	const most = 500 // few enough to cache them all
	for ; len(rows) > 0; rows = rows[min(most, len(rows)):] {
		for round, lies := range []int{0, 0, 0, 2, 3} {
			swap(t, dir, lies)
			for _, row := range rows[:min(most, len(rows))] {
				p := vaglio.Proposal{Session: "s", Intent: "do it", Executor: "Bash", Args: vaglio.Args{"command": row}, Context: vaglio.Context{Cwd: dir}}
				before := asked.n
				got, errGot := keeps.Judge(t.Context(), p)
				want, errWant := anew.Judge(t.Context(), p)
				if fmt.Sprint(errGot) != fmt.Sprint(errWant) {
					t.Fatalf("%q: %v, want %v", row, errGot, errWant)
				}
				if diff := cmp.Diff(want, got, same); diff != "" {
					t.Fatalf("%q in round %d: %s", row, round, diff)
				}
				if asked.n == before && got.Approved {
					kept++
				}
				if round > 0 && was[row] != want.Approved {
					changed++
				}
				was[row] = want.Approved
			}
		}
	}
	t.Logf("%d verdicts were given again, %d times one changed", kept, changed)
	if kept < all/2 || changed == 0 {
		t.Error("too few for a proof")
	}
}

// TestCallsAreJudgedSideBySide judges calls with one engine from several goroutines, each in an order
// of its own. Each verdict is the one that the call gets alone.
func TestCallsAreJudgedSideBySide(t *testing.T) {
	t.Parallel()
	rows := testRows(t, 40)
	p := func(row string) vaglio.Proposal {
		return vaglio.Proposal{Session: "s", Intent: "do it", Executor: "Bash", Args: vaglio.Args{"command": row}, Context: vaglio.Context{Cwd: "/home/u/app"}}
	}
	files := folderOf{"/home/u/app/a": "", "/home/u/app/Makefile": "all:\n\tgo build ./...\n"}
	alone, shared := engineAt(t, files), engineAt(t, files)
	want := map[string]bool{}
	for _, row := range rows {
		v, err := alone.Judge(t.Context(), p(row))
		want[row] = err == nil && v.Approved
	}
	var all sync.WaitGroup
	for range 4 {
		order := rand.Perm(len(rows))
		all.Go(func() {
			for _, i := range order {
				v, err := shared.Judge(t.Context(), p(rows[i]))
				if got := err == nil && v.Approved; got != want[rows[i]] {
					t.Errorf("%q: approved %v beside others, %v alone: %v", rows[i], got, want[rows[i]], err)
				}
			}
		})
	}
	all.Wait()
}

// testRows returns every n-th command line of the rows that the engine is tested with.
func testRows(t *testing.T, of int) []string {
	t.Helper()
	var rows []string
	for _, name := range []string{"judge/effects/testdata/passed.txt", "judge/effects/testdata/asked.txt", "guard/testdata/allowed.txt"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(data), "\n") {
			if line = strings.TrimSpace(line); i%of != 0 {
				continue
			}
			if _, command, ok := strings.Cut(line, "\t"); ok {
				line = command
			}
			if line != "" && line[0] != '#' {
				rows = append(rows, line)
			}
		}
	}
	return rows
}
