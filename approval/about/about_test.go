package about_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval/about"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/internal/workfiles"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

const testCwd = "/home/ann/src/shop"

func newNamer(t testing.TB) *about.Namer {
	t.Helper()
	j, err := effects.New(effects.Options{Home: "/home/ann"})
	if err != nil {
		t.Fatal(err)
	}
	n, err := about.New(j, "/home/ann")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func command(line string) vaglio.Proposal {
	return vaglio.Proposal{Executor: "shell_exec", Args: vaglio.Args{"command": line}, Context: vaglio.Context{Cwd: testCwd, Capability: vaglio.Capabilities{"code:exec"}}}
}

// TestKeySpellings checks that what a person denied stays denied however it is spelled, and
// that a denial does not spread to other calls.
func TestKeySpellings(t *testing.T) {
	t.Parallel()
	j := newNamer(t)
	for _, same := range [][]string{
		{"rm -rf src", "rm -r -f src", "rm -fr ./src", "rm --recursive --force src/", "rm -rf 'src'", `rm -rf "src"`, `rm -rf s\rc`, "rm -rf ./././src", "rm -rf docs/../src", "rm -rf /home/ann/src/shop/src", "rm -rf ~/src/shop/src", "rm -rf $HOME/src/shop/src", "rm -rf $PWD/src", "cd src/.. && rm -rf src", "bash -c 'rm -rf src'", "sh -c \"bash -c 'rm -rf src'\"", "env A=b rm -rf src", "nohup rm -rf src", "timeout 5 rm -rf src", "eval 'rm -rf src'", "D=src; rm -rf $D", "command rm -rf src", "\\rm -rf src", "(rm -rf src)", "true && rm -rf src", "find src -delete", "echo src | xargs rm -rf", "/bin/rm -rf src"},
		{"rm notes.md README.md", "rm README.md notes.md", "rm notes.md; rm README.md"},
		{"git push --force origin feature", "git push -f origin feature", "git push origin feature -f", "git push origin +feature", "git push origin feature --force", "git -c color.ui=never push -f origin feature", "git -c alias.p='push --force' p origin feature", "bash -c 'git push --force origin feature'"},
		{"git push origin main", "git push origin HEAD:main", "git push origin main:main", "git push -u origin main"},
		{"git reset --hard", "git reset --hard HEAD", "env X=1 git reset --hard"},
		{"PGHOST=db psql -c 'DROP TABLE t'", "export PGHOST=db; psql -c 'DROP TABLE t'", "psql -h db -c 'DROP TABLE t'", "PGHOST=db; export PGHOST; psql -c 'DROP TABLE t'", "export PGHOST=x; PGHOST=db psql -c 'DROP TABLE t'"},
		{"KUBECONFIG=x kubectl delete pod web", "export KUBECONFIG=x && kubectl delete pod web", "export KUBECONFIG=x; bash -c 'kubectl delete pod web'"},
		{"npm publish", "bash -c 'npm publish'", "npm  publish"},
		{"kill -9 1234", "kill -KILL 1234", "kill -s KILL 1234"},
		{"chmod 777 notes.md", "chmod a+rwx notes.md", "chmod 0777 ./notes.md"},
		{"kubectl delete pod web", "kubectl delete pod/web", "kubectl delete pods web"},
		{"echo x > ~/.bashrc", "echo x > /home/ann/.bashrc", "echo x > $HOME/.bashrc", "echo y | tee ~/.bashrc"},
	} {
		first, ok := j.Key(command(same[0]))
		if !ok {
			t.Errorf("%s: no key", same[0])
			continue
		}
		for _, s := range same[1:] {
			if key, ok := j.Key(command(s)); !ok || key != first {
				t.Errorf("%s: key %q, %q has %q", s, key, same[0], first)
			}
		}
	}
	first, _ := j.Key(command("rm -rf src"))
	for _, p := range []vaglio.Proposal{
		{Executor: "delete_file", Args: vaglio.Args{"path": "src"}},
		{Executor: "mcp__filesystem__delete_directory", Args: vaglio.Args{"path": "/home/ann/src/shop/src"}},
		{Executor: "Bash", Args: vaglio.Args{"command": "rm -rf src"}},
		{Executor: "run_terminal_cmd", Args: vaglio.Args{"command": "rm -rf /home/ann/src/shop/src"}},
	} {
		p.Context.Cwd = testCwd
		if key, _ := j.Key(p); key != first {
			t.Errorf("%s %v: key %q, the command's is %q", p.Executor, p.Args, key, first)
		}
	}
	p := command("rm -rf src")
	p.Context.Cwd = "/home/ann/src/other"
	if key, _ := j.Key(p); key == first {
		t.Errorf("a folder of another workspace has the key %q, too", key)
	}
	for _, s := range []string{"rm -rf docs", "rm -rf src docs", "rm -rf src/a", "git push -f origin other", "git push -f other feature", "chmod 777 other.md", "kill -9 99"} {
		if key, _ := j.Key(command(s)); key == first {
			t.Errorf("%s has the key of rm -rf src", s)
		}
	}
	for _, s := range []string{"rm -rf $X", "eval \"$X\"", "frobnicate", "ls", "rm -rf build", "git status"} {
		if key, ok := j.Key(command(s)); ok {
			t.Errorf("%s has the key %q, want none", s, key)
		}
	}
}

// row pairs a call that a person denied with another call.
type row struct {
	Denied  vaglio.Proposal `json:"denied"`
	Call    vaglio.Proposal `json:"call"`
	Same    bool            `json:"same"`
	Cat     string          `json:"cat"`
	Form    string          `json:"form"`
	Source  string          `json:"source"`
	Licence string          `json:"licence"`
}

// measure counts how many equivalent calls get the denied call's key, and how many
// different calls wrongly do.
func measure(t *testing.T, name string, log bool) (known, same, wrong, other int) {
	t.Helper()
	n := newNamer(t)
	body, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(body)) {
		var r row
		if err := strictjson.UnmarshalLoose([]byte(line), &r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		denied, a := n.Key(r.Denied)
		call, b := n.Key(r.Call)
		equal := a && b && denied == call
		switch {
		case r.Same:
			same++
			if equal {
				known++
			} else if log {
				t.Logf("not known again: %s, %s\n  %v %+v\n  %v %+v", r.Cat, r.Form, r.Denied.Args, n.Of(r.Denied).Subjects, r.Call.Args, n.Of(r.Call).Subjects)
			}
		default:
			other++
			if equal {
				wrong++
				t.Errorf("taken for another: %s, %s: %v, %v", r.Cat, r.Form, r.Denied.Args, r.Call.Args)
			}
		}
	}
	return known, same, wrong, other
}

// TestDeniedSame measures the keys on our own rows, and on a corpus if VAGLIO_CORPORA names
// its folder: at least 95 in 100 equivalent calls must get the same key, and no different
// call.
func TestDeniedSame(t *testing.T) {
	t.Parallel()
	files := []string{"testdata/same.jsonl"}
	if dir := os.Getenv("VAGLIO_CORPORA"); dir != "" {
		files = append(files, filepath.Join(dir, "denied_same.jsonl"))
	}
	for _, name := range files {
		known, same, wrong, other := measure(t, name, true)
		t.Logf("%s: %d of %d equal calls known again, %d of %d others taken for them", filepath.Base(name), known, same, wrong, other)
		if known*100 < same*95 || wrong > 0 {
			t.Errorf("%s: want 95 in 100 known again and none taken for another", filepath.Base(name))
		}
	}
}

// TestTheSameInAFile checks that a denied command stays denied inside a script: a call is
// about what it runs.
func TestTheSameInAFile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"x.sh": "set -e\ngit push --force origin main\n", "y.sh": "git push --force origin dev\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	engine, err := vaglio.New(vaglio.Config{Judges: []vaglio.Gate{{Judge: judge.Rules()}}, Home: "/home/u", Files: workfiles.Disk{}, Workspaces: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	namer := newNamer(t)
	key := func(command string) string {
		p := vaglio.Proposal{Executor: "shell_exec", Args: vaglio.Args{"command": command}, Context: vaglio.Context{Cwd: dir}}
		return namer.Of(engine.Seen(p)).Subjects.Key()
	}
	denied := key("git push --force origin main")
	if denied == "" || key("bash x.sh") != denied || key("sh ./x.sh") != denied {
		t.Errorf("%q in a file is %q", denied, key("bash x.sh"))
	}
	if key("bash y.sh") == denied {
		t.Error("another branch in a file is the same")
	}
}

// TestNamingManyFilesCostsInProportion names calls that delete many files: what is allocated for
// each file must not grow with their number.
func TestNamingManyFilesCostsInProportion(t *testing.T) {
	n := newNamer(t)
	allocated := func(files int) float64 {
		var paths []any
		for i := range files {
			paths = append(paths, "/srv/exports/of-the-accounting-department/report-"+strconv.Itoa(i))
		}
		p := vaglio.Proposal{Executor: "delete_files", Args: vaglio.Args{"paths": paths}, Context: vaglio.Context{Cwd: testCwd}}
		if about := n.Of(p); len(about.Subjects) != files {
			t.Fatalf("%d subjects of %d files", len(about.Subjects), files)
		}
		return testing.AllocsPerRun(1, func() { n.Of(p) })
	}
	if few, many := allocated(100), allocated(1000); many > 20*few {
		t.Errorf("%.0f allocations for 100 files, %.0f for 1000", few, many)
	}
}
