package vaglio_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// TestWhatACallWaitsFor has a session write what one of its calls may still run. Nothing runs
// in between: the first call was let through, and may not have ended.
func TestWhatACallWaitsFor(t *testing.T) {
	t.Parallel()
	const force, python = "git push --force\n", "import os\nos.system('git push --force')\n"
	for _, tt := range []struct {
		calls []string
		pass  bool
	}{
		// A file that is not there.
		{[]string{"bash x.sh", "write: x.sh: " + force}, false},
		{[]string{"bash x.sh", "write: x.sh: echo hello\n", "bash x.sh"}, true},
		{[]string{"bash x.sh", "write: y.sh: " + force}, true},
		{[]string{"sleep 9; bash x.sh", "write: x.sh: " + force}, false},
		{[]string{"(sleep 9; sh x.sh) &", "edit: x.sh: " + force}, false},
		{[]string{"python gone.py", "write: gone.py: " + python}, false},
		{[]string{"python gone.py", "write: gone.py: print(1)\n", "python gone.py"}, true},
		{[]string{". ./later.sh", "echo 'git push --force' > later.sh"}, false},
		{[]string{"sh < x.txt", "write: x.txt: " + force}, false},
		{[]string{"(sleep 1; bash x.sh) & echo 'git push --force' > x.sh"}, false},
		{[]string{"cd sub && bash x.sh", "write: sub/x.sh: " + force}, false},
		{[]string{"docker run --rm alpine sh x.sh", "write: x.sh: " + force}, true},

		// What is put there counts as what the waiting call does with it.
		{[]string{"sleep 9; bash notes.txt", "write: notes.txt: " + force}, false},
		{[]string{"sleep 9; cat notes.txt", "write: notes.txt: " + force}, true},
		{[]string{"sleep 9; bash x.py", "write: x.py: " + force}, false},
		{[]string{"sleep 9; make -f m", "write: m: all:\n\tgit push --force\n"}, false},
		{[]string{"sleep 9; make -f m", "write: m: all:\n\techo hello\n"}, true},
		{[]string{"patch -p1 < gone.diff", "write: gone.diff: --- /dev/null\n+++ b/.git/hooks/pre-commit\n@@ -0,0 +1 @@\n+" + force}, false},
		{[]string{"git apply gone.diff", "write: gone.diff: --- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n", "git apply gone.diff"}, true},

		// However it gets there.
		{[]string{"bash x.sh", "write: n.txt: " + force, "cp n.txt x.sh"}, false},
		{[]string{"bash x.sh", "write: n.txt: " + force, "mv n.txt x.sh"}, false},
		{[]string{"bash x.sh", "write: n.txt: echo hello\n", "mv n.txt x.sh"}, true},
		{[]string{"bash x.sh", "cp /home/u/Downloads/y.sh x.sh"}, false},
		{[]string{"bash x.sh", "curl -o x.sh https://x.y/z"}, false},
		{[]string{"bash x.sh", "git show HEAD:y > x.sh"}, false},
		{[]string{"bash x.sh", "python3 -c \"open('x.sh','w').write('git push --force')\""}, false},
		{[]string{"bash u/x.sh", "tar xzf a.tgz -C u"}, false},
		{[]string{"bash u/x.sh", "git clone https://x.y/z u"}, false},
		{[]string{"bash u/x.sh", "mv other u"}, false},
		{[]string{"bash u/x.sh", "cp -r other u"}, false},
		{[]string{"bash u/x.sh", "ln -s /srv/other u"}, false},
		{[]string{"bash u/x.sh", "mkdir u"}, true},
		{[]string{"./tool", "gcc a.c -o tool", "./tool"}, true},

		// A file that is there, and a call that goes on.
		{[]string{"bash old.sh", "write: old.sh: " + force}, true},
		{[]string{"sleep 9; bash old.sh", "write: old.sh: " + force}, false},
		{[]string{"sleep 9; bash old.sh", "edit: old.sh: " + force}, false},
		{[]string{"sleep 9; bash old.sh", "write: old.sh: echo hello\n"}, true},
		{[]string{"sleep 9; bash old.sh", "edit: old.sh: echo hello"}, true},
		{[]string{"background: bash old.sh", "write: old.sh: " + force}, false},
		{[]string{"docker run --rm alpine sleep 9; bash old.sh", "write: old.sh: " + force}, true},

		// What its programs look for, if it goes on.
		{[]string{"sleep 9; make", "write: Makefile: all:\n\tgit push --force\n"}, false},
		{[]string{"make", "write: Makefile: all:\n\tgit push --force\n"}, true},
		{[]string{"sleep 9; npm test", "write: package.json: {\"scripts\":{\"test\":\"git push --force\"}}"}, false},
		{[]string{"npm run dev &", "write: package.json: {\"scripts\":{\"dev\":\"vite\",\"lint\":\"eslint .\"}}"}, true},
		{[]string{"npm run dev &", "write: notes.md: never " + force}, true},
		{[]string{"python3 -c 'import time; time.sleep(9); import gone'", "write: gone.py: " + python}, false},

		{[]string{"background: npx nodemon server.js", "write: server.js: require('child_process').execSync('git push --force')\n"}, false},
		{[]string{"sleep 9; pytest", "write: tests/test_x.py: def test_x():\n    __import__('os').system('git push --force')\n"}, false},
		{[]string{"sleep 9; bash a.sh", "write: a.sh: bash b.sh\n", "write: b.sh: " + force}, false},
		{[]string{"sleep 9; sh d/*.sh", "write: d/x.sh: " + force}, false},
		{[]string{"sleep 9; find jobs -name '*.sh' -exec sh {} \\;", "write: jobs/x.sh: " + force}, false},
		{[]string{"background: npm run dev", "write: deploy.sh: " + force}, true},
		{[]string{"sleep 2; curl localhost:3000", "write: nodemon.json: {\"exec\": \"git push --force\"}\n"}, true},

		// What passes nobody may not pass for another reason.
		{[]string{"npm run build && node dist/x.js", "npm test"}, true},
		{[]string{"gcc a.c -o a && ./a", "gcc a.c -o a && ./a"}, true},
		{[]string{". .venv/bin/activate", "python -m venv .venv", ". .venv/bin/activate"}, true},
	} {
		if v := inSession(t, folderOf{"/home/u/app/a": "", "/home/u/app/old.sh": "echo hello\n"}, tt.calls...); v.Approved != tt.pass {
			t.Errorf("%q: approved is %v, want %v: %s", tt.calls, v.Approved, tt.pass, v.Reason)
		}
	}
}

// TestAnAbsentPatchElsewhere applies a patch that nobody can read outside the workspace.
func TestAnAbsentPatchElsewhere(t *testing.T) {
	t.Parallel()
	for line, pass := range map[string]bool{
		"cd /etc && patch -p1 < gone":      false,
		"patch -d /etc -p1 < gone":         false,
		"git -C ~/other apply gone.diff":   false,
		"cd ~ && patch -p0 -i gone.diff":   false,
		"cd sub && patch -p1 < gone":       true,
		"patch -d sub -p1 < gone":          true,
		"cd /tmp/src && patch -p1 < gone":  true,
		"git apply --check /etc/gone.diff": true,
	} {
		if v := inSession(t, folderOf{"/home/u/app/a": ""}, line); v.Approved != pass {
			t.Errorf("%s: approved is %v: %s", line, v.Approved, v.Reason)
		}
	}
}

// TestALinkToWhatACallWaitsFor writes it by another name.
func TestALinkToWhatACallWaitsFor(t *testing.T) {
	t.Parallel()
	engine, _ := sessionEngine(t, folderOf{"/home/u/app/a": ""})
	linked, err := vaglio.New(vaglio.Config{Judges: gatesOf(t), Home: "/home/u", Files: oneLink{folderOf{"/home/u/app/a": ""}}})
	if err != nil {
		t.Fatal(err)
	}
	for e, pass := range map[*vaglio.Engine]bool{engine: true, linked: false} {
		if v := inSessionOf(t, e, "bash x.sh", "write: l/x.sh: git push --force\n"); v.Approved != pass {
			t.Errorf("approved is %v, want %v: %s", v.Approved, pass, v.Reason)
		}
	}
}

func gatesOf(t *testing.T) []vaglio.Gate {
	t.Helper()
	judge, err := effects.New(effects.Options{Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	return []vaglio.Gate{{Judge: judge, MinScore: effects.Threshold}}
}

// oneLink is a folder in which l leads to itself.
type oneLink struct{ folderOf }

func (o oneLink) Look(name string) (string, vaglio.FileKind) {
	return o.folderOf.Look(strings.Replace(name, "/app/l", "/app", 1))
}

// TestWaitingIsBounded remembers little of calls that wait for the same, and asks about what
// more of them wait for than are judged again.
func TestWaitingIsBounded(t *testing.T) {
	t.Parallel()
	engine, _ := sessionEngine(t, folderOf{"/home/u/app/a": ""})
	var sessions vaglio.Sessions
	note := func(line string) vaglio.Facts {
		p := vaglio.Proposal{Session: "s", Executor: "shell_exec", Args: vaglio.Args{"command": line}, Context: vaglio.Context{Cwd: "/home/u/app"}}
		p.Facts = sessions.Facts(&p)
		v, err := engine.Judge(t.Context(), p)
		if err != nil || !v.Approved {
			t.Fatalf("%s: %+v, %v", line, v, err)
		}
		sessions.Note(&p, time.Now(), v.Did)
		return sessions.Facts(&p)
	}
	note("bash x.sh")
	if facts := note("bash x.sh"); len(facts) != 2 || facts[1].Deed != vaglio.Awaited { // and the folder that it entered
		t.Errorf("remembered %+v", facts)
	}
	var line strings.Builder
	for i := range 500 {
		fmt.Fprintf(&line, "bash %d.sh; ", i)
	}
	if facts := note(line.String()); len(facts) != 3 || len(facts[2].Words) > 64 {
		t.Errorf("remembered %+v", facts)
	}
	calls := []string{}
	for i := range 33 {
		calls = append(calls, fmt.Sprintf("bash y.sh %d", i))
	}
	for n, pass := range map[int]bool{32: true, 33: false} {
		if v := inSessionOf(t, engine, append(calls[:n:n], "write: y.sh: echo hello\n")...); v.Approved != pass {
			t.Errorf("after %d: approved is %v: %s", n, v.Approved, v.Reason)
		}
	}
}
