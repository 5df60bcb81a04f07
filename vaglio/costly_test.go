package vaglio_test

import (
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/vaglio"
)

// TestCostlyFiles checks that a person is asked about a call whose files are too much to be read:
// nobody could send a call that can be. What stands behind such a file is read all the same.
func TestCostlyFiles(t *testing.T) {
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
