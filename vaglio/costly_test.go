package vaglio_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/vaglio"
)

// TestCostlyFiles checks that a person is asked about a call whose files are too much to be read:
// nobody could send a call that can be. What stands behind such a file is read all the same. A short
// run leaves out the long calls.
func TestCostlyFiles(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	engine := engineAt(t, folderOf{
		"/home/u/app/a":        "",
		"/home/u/app/big.py":   "def f():\n" + strings.Repeat("    open('a'+g(), 'w').write(h('b', c))\n", 4000) + "f()\n",
		"/home/u/app/big.ps1":  strings.Repeat("Add-Content -Path ('a' + $x) -Value \"b $y\"\n", 40_000),
		"/home/u/app/small.py": "def f(x):\n    return x\n",
		"/home/u/app/x.ps1":    "$s = 'aaaaaaaaaaaaaaaa'\n" + strings.Repeat("$s = $s + $s\n", 40),
	})
	small := `from small import f\n`
	heavy := "def f():\n" + strings.Repeat("    open('a'+g(), 'w').write(h('b', c))\n", 4000) + "f()\n"
	crime := "rm -rf" + " /"
	for call, want := range map[string]string{
		`python3 -c "from big import f; print(1)"`:                                                       "pass",
		`python3 -c "import big; print(big.f)"; ` + crime:                                                "deny",
		"cat > w.py <<'E'\n" + heavy + "E\npython3 -c 'from w import f'":                                 "shape",
		`python3 -c "import subprocess; from big import f; subprocess.run(['git', 'push', '--force'])"`:  "ask",
		`python3 -c "` + strings.ReplaceAll(small, `\n`, "\n") + strings.Repeat("f(1)\n", 150_000) + `"`: "shape",
		`pwsh -File ./big.ps1`:                                            "pass",
		`cd /home/u/app; $x = 1; .\x.ps1`:                                 "ask",
		`$x = 1; .\x.ps1; Remove-Item -Recurse -Force /etc/passwd`:        "deny",
		`$x = 1; .\big.ps1; Remove-Item -Recurse -Force /etc/passwd`:      "deny",
		`python3 -c "` + strings.Repeat("f(1)\n", 150_000) + `"`:          "shape",
		`pwsh -Command "` + strings.Repeat("Add-Thing a\n", 70_000) + `"`: "shape",
	} {
		if testing.Short() && len(call) > 10_000 {
			continue
		}
		p := vaglio.Proposal{Session: "s", Executor: "run_in_terminal", Args: vaglio.Args{"command": call}, Context: vaglio.Context{Cwd: "/home/u/app"}}
		v, err := engine.Judge(t.Context(), p)
		got := "pass"
		switch {
		case err != nil:
			got = "shape"
		case v.BlockedBy == vaglio.PhaseGuard:
			got = "deny"
		case !v.Approved:
			got = "ask"
		}
		if got != want {
			t.Errorf("%.80s ends with %s, want %s: %v %s", call, got, want, err, v.Reason)
		}
	}
}

// TestCostlyWritten checks that what the session wrote is asked about if it is imported and too much to be
// read.
func TestCostlyWritten(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	big := "def f():\n" + strings.Repeat("    open('a'+g(), 'w').write(h('b', c))\n", 1500) + "f()\n"
	big = strings.Replace(big, "'w'", "'w' + str(1)", 3)
	for _, name := range []string{"big.py", "lib/big.py"} {
		module := strings.NewReplacer("/", ".", ".py", "").Replace(name)
		engine, sessions := engineAt(t, folderOf{"/home/u/app/a": "", "/home/u/app/" + name: strings.Repeat(big, 3)}), vaglio.Sessions{}
		for _, p := range []vaglio.Proposal{stepOf(t, "write: "+name+": "+big), stepOf(t, `python3 -c "from `+module+` import f"`)} {
			p.Facts = sessions.Facts(&p)
			v, err := engine.Judge(t.Context(), p)
			if written := p.Executor == "Write"; err != nil || v.Approved != written {
				t.Errorf("%s: %s: %v %v %s", name, p.Executor, v.Approved, err, v.Reason)
			}
			sessions.Note(&p, time.Now(), v.Did)
		}
	}
}

// TestCostlyChanged checks that builds and tests of a session that changed many files are never sent back, as
// nobody could send others: what there is too much of counts as unread, and what stands behind is read.
func TestCostlyChanged(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	disk, sessions := folderOf{"/home/u/app/go.mod": "module m\n"}, vaglio.Sessions{}
	engine := engineAt(t, disk)
	var steps []string
	for i := range 30 {
		name := fmt.Sprintf("p%d/x_test.go", i)
		disk["/home/u/app/"+name] = "package p\n" + strings.Repeat("func f(a []string) { for i, x := range a { g(h(i)+x, a[i:]) } }\n", 400)
		steps = append(steps, "write: "+name+": "+disk["/home/u/app/"+name])
	}
	const many = "go build ./... && go test ./... && golangci-lint run; go vet ./...; go test ./...; go test -race ./..."
	for i, step := range append(steps, many, many+"; rm -rf"+" /") {
		p := stepOf(t, step)
		p.Facts = sessions.Facts(&p)
		v, err := engine.Judge(t.Context(), p)
		if denied := i > len(steps); err != nil || denied != (v.BlockedBy == vaglio.PhaseGuard) {
			t.Errorf("%.60s: %v %v %s", step, err, v.Approved, v.Reason)
		}
		sessions.Note(&p, time.Now(), v.Did)
	}
}

// TestCostlyFound checks that a person is asked about a file that the session wrote, that a tool finds by itself
// and that is too much to be read to its end. What can be read, what is data and what lay there before passes.
// A short run tries one tool.
func TestCostlyFound(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	crime := map[string]string{
		".py": "import shutil\nshutil.rmtree('/home/u/other')\n", ".js": "require('fs').rmSync('/home/u/other', {recursive: true})\n",
		".rb": "FileUtils.rm_rf('/home/u/other')\n", ".go": "os.RemoveAll(\"/home/u/other\")\n}\n",
		".java": "new java.io.File(\"/home/u/other\").delete(); } }\n",
	}
	for _, row := range []struct {
		file, head, line string
		lines            int
		tail, runs       string
		asked            bool
	}{
		{"conftest.py", "", "x = 1\n", 40_000, crime[".py"], "pytest", true},
		{"conftest.py", "", "x = 1\n", 3000, "", "pytest", false},
		{"conftest.py", "", strings.Repeat("(", 5000), 1, "1" + strings.Repeat(")", 5000) + "\n" + crime[".py"], "pytest", true},
		{"tests/test_a.py", "", "x = 1\n", 40_000, crime[".py"], "pytest", true},
		{"tests/test_a.py", "", "def test_a():\n    assert f(1) == 1\n", 500, "", "pytest", false},
		{"tests/test_rows.py", "ROWS = [\n", "    (1, 'a', 2.5),\n", 4000, "]\n", "pytest", false},
		{"setup.py", "", "x = 1\n", 40_000, crime[".py"], "pip install .", true},
		{"jest.config.js", "", "x = 1\n", 40_000, crime[".js"], "npx jest", true},
		{"a.test.js", "", "test('a', () => { expect(f(1)).toBe(1) })\n", 800, "", "npx jest", false},
		{"Rakefile", "", "x = 1\n", 40_000, crime[".rb"] + "task :default do\nend\n", "rake", true},
		{"a_test.go", "package a\nfunc TestA(t *testing.T) {\n", "x = 1\n", 40_000, crime[".go"], "go test ./...", true},
		{"main.c", "int t[] = {\n", "1, 2, 3,\n", 10_000, "};\nint main(){ return 0; }\n", "cc main.c -o m && ./m", false},
		{"src/test/java/ATest.java", "class ATest { void t() { int x;\n", "x = 1;\n", 30_000, crime[".java"], "mvn test", true},
		{"data/words.txt", "", "word\n", 60_000, "", "pytest", false},
		{"data/table.json", "[", "1,\n", 30_000, "1]", "npm test", false},
	} {
		if testing.Short() && row.file != "conftest.py" {
			continue
		}
		for _, written := range []bool{true, false} {
			text := row.head + strings.Repeat(row.line, row.lines) + row.tail
			disk, sessions := folderOf{"/home/u/app/a": ""}, vaglio.Sessions{}
			engine, steps := engineAt(t, disk), []vaglio.Proposal{stepOf(t, row.runs)}
			if !written {
				disk["/home/u/app/"+row.file] = text
			} else {
				steps = []vaglio.Proposal{stepOf(t, "write: "+row.file+": "+strings.ReplaceAll(text, "\n", `\n`)), steps[0]}
			}
			for i, p := range steps {
				p.Facts = sessions.Facts(&p)
				v, err := engine.Judge(t.Context(), p)
				if last := i == len(steps)-1; err != nil || v.Approved == (last && row.asked && written) {
					t.Errorf("%s, %d lines, written %v: %s: %v %v %s", row.file, row.lines, written, p.Executor, v.Approved, err, v.Reason)
				}
				sessions.Note(&p, time.Now(), v.Did)
				disk["/home/u/app/"+row.file] = text
			}
		}
	}
}
