package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/internal/strictjson"
)

// worked is a folder in which an agent works, with a session of the hook.
type worked struct {
	t    *testing.T
	s    *served
	dir  string
	call atomic.Int64
}

func newWorked(t *testing.T) *worked {
	t.Helper()
	h := newHome(t)
	p := &worked{t: t, dir: filepath.Join(h.dir, "app")}
	h.env = append(h.env, "CLAUDE_PROJECT_DIR="+p.dir)
	p.git(".git")
	p.s = h.serve()
	return p
}

// git creates a folder that git takes for a repository.
func (p *worked) git(name string) {
	p.t.Helper()
	p.write(filepath.Join(name, "HEAD"), "ref: refs/heads/main\n")
	p.write(filepath.Join(name, "config"), "[core]\n\tbare = false\n")
}

func (p *worked) write(name, text string) {
	p.t.Helper()
	file := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// hook passes a call to the real hook and returns how it ends: "run", "asked" if nobody answered in
// time, or "denied". It may be called concurrently.
func (p *worked) hook(tool string, input map[string]any) (end, said string) {
	p.t.Helper()
	call := p.call.Add(1)
	text, err := strictjson.Marshal(map[string]any{
		"session_id": "s", "prompt_id": fmt.Sprintf("p%d", call), "cwd": p.dir, "hook_event_name": "PreToolUse",
		"tool_name": tool, "tool_input": input, "tool_use_id": fmt.Sprintf("u%d", call),
	})
	if err != nil {
		p.t.Error(err)
		return "", ""
	}
	r := p.s.h.run(string(text), "hook", "claude-code", "--limit", "4s")
	switch {
	case r.code != 0:
		p.t.Errorf("%s: %+v", text, r)
		return "", ""
	case !strings.Contains(r.out, `"permissionDecision":"deny"`):
		return "run", r.out
	case strings.Contains(r.out, "nobody has answered"):
		return "asked", r.out
	}
	return "denied", r.out
}

// step is a call of a transcript and how it must end.
type step struct{ tool, what, text, end string }

// TestTwoCallsInsteadOfOne repeats what reviewers did to the gate: what is denied or asked about as
// one call, split into two or three. With the real hook and daemon, each ends in a card or a
// denial.
func TestTwoCallsInsteadOfOne(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string][]step{
		"a script with a forbidden read": {
			{"Bash", "cat /etc/shadow", "", "denied"},
			{"Write", "check.sh", "head -c 5 /etc/shadow; git push --force origin master && echo pushed\n", "run"},
			{"Bash", "sh check.sh", "", "denied"},
		},
		"a push in a script": {
			{"Write", "x.sh", "git push --force origin main\n", "run"},
			{"Bash", "bash x.sh", "", "asked"},
			{"Write", "Makefile", "t:\n\tgit push --force origin main\n", "run"},
			{"Bash", "make t", "", "asked"},
			{"Write", "package.json", `{"scripts":{"t":"git push --force origin main"}}`, "run"},
			{"Bash", "npm run t", "", "asked"},
		},
		"a script that its call waits for": {
			{"Bash", "sleep 9; bash later.sh", "", "run"},
			{"Write", "later.sh", "git push --force origin main\n", "asked"},
			{"Write", "later.sh", "echo hello\n", "run"},
			{"Edit", "later.sh", "git push --force origin main\n", "asked"},
		},
		"a refspec in the settings": {
			{"Bash", "git config remote.origin.push +refs/heads/main:refs/heads/main", "", "asked"},
		},
		"a refspec that somebody let pass": {
			{"Edit", ".git/config", "[remote \"origin\"]\n\tpush = +refs/heads/main:refs/heads/main\n", "asked"},
			{"disk", ".git/config", "[remote \"origin\"]\n\turl = git@x.example:a\n\tpush = +refs/heads/main:refs/heads/main\n", ""},
			{"Bash", "git push", "", "asked"},
		},
		"a key behind a glued path": {
			{"Write", "k.py", "from os.path import expanduser\nprint(open(expanduser('~/.s'+'sh/id_rsa')).read())\n", "run"},
			{"Bash", "python3 k.py", "", "denied"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newWorked(t).follow(steps)
		})
	}
}

// follow makes the calls of a transcript, and executes those that run.
func (p *worked) follow(steps []step) {
	p.t.Helper()
	for _, s := range steps {
		if s.tool == "disk" {
			p.write(s.what, s.text)
			continue
		}
		input := map[string]any{"command": s.what}
		if s.tool != "Bash" {
			input = map[string]any{"file_path": filepath.Join(p.dir, s.what), "content": s.text}
		}
		if s.tool == "Edit" {
			input = map[string]any{"file_path": filepath.Join(p.dir, s.what), "old_string": "[core]", "new_string": s.text}
		}
		end, said := p.hook(s.tool, input)
		if end != s.end {
			p.t.Errorf("%s %s ends %s, want %s: %s", s.tool, s.what, end, s.end, said)
		}
		if end == "run" && s.tool == "Write" {
			p.write(s.what, s.text)
		}
	}
}

// TestTheGatesOwnProgramIsKept tries to replace the gate's own program, in a checkout in which the
// agent works.
func TestTheGatesOwnProgramIsKept(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	p := newWorked(t)
	self := binary
	if end, said := p.hook("Write", map[string]any{"file_path": filepath.Join(p.dir, "gate.sh"), "content": "#!/bin/sh\nexit 0\n"}); end != "run" {
		t.Fatalf("gate.sh: %s %s", end, said)
	}
	for _, command := range []string{
		"chmod +x gate.sh && cp gate.sh %[1]s.new && mv %[1]s.new %[1]s", "cp /bin/true %s", "mv %s x", "ln -sf /bin/true %s", "echo > %s",
		"install -m755 gate.sh %s", "chmod -x %s", "go build -o %s ./x", "rm %s", "tar xf new.tar -C %[2]s %[3]s", "rm -rf %[2]s",
	} {
		line := fmt.Sprintf(command, self, filepath.Dir(self), filepath.Base(self))
		line, _, _ = strings.Cut(line, "%!(EXTRA")
		if end, said := p.hook("Bash", map[string]any{"command": line}); end != "denied" {
			t.Errorf("%s ends %s: %s", line, end, said)
		}
	}
	if end, said := p.hook("Write", map[string]any{"file_path": self, "content": "#!/bin/sh\nexit 0\n"}); end != "denied" {
		t.Errorf("writing it ends %s: %s", end, said)
	}
}

// TestSwappedAfterTheClick changes what an allowed call runs or sends between the person's click and
// the redemption, with the real daemon.
func TestSwappedAfterTheClick(t *testing.T) {
	t.Parallel()
	p := newWorked(t)
	p.git("../other/.git")
	person := p.s.signIn(p.s.link)
	link := filepath.Join(p.dir, "here")
	if err := os.Symlink(p.dir, link); err != nil {
		t.Fatal(err)
	}
	const push = "git push --force origin "
	for name, text := range map[string]string{
		"outer.sh": ". ./inner.sh\n", "outer.py": "import inner\ninner.go()\n", "k/dep.yaml": "kind: Pod\n", "chart/Chart.yaml": "name: a\n",
	} {
		p.write(name, text)
	}
	for _, tt := range []struct{ command, file, before, after, cwd string }{
		{"sudo sh install.sh", "install.sh", "echo a\n", "echo b\n", p.dir},
		{"sh install.sh", "install.sh", push + "a\n", push + "b\n", p.dir},
		{"sh outer.sh", "inner.sh", push + "a\n", push + "b\n", p.dir},
		{"python3 x.py", "x.py", "import os\nos.system('" + push + "a')\n", "import os\nos.system('" + push + "b')\n", p.dir},
		{"python3 outer.py", "inner.py", "import os\nos.system('" + push + "a')\n", "import os\nos.system('" + push + "b')\n", p.dir},
		{"node x.js", "x.js", "require('child_process').execSync('" + push + "a')\n", "require('child_process').execSync('" + push + "b')\n", p.dir},
		{"make deploy", "Makefile", "deploy:\n\t" + push + "a\n", "deploy:\n\t" + push + "b\n", p.dir},
		{"just deploy", "justfile", "deploy:\n  " + push + "a\n", "deploy:\n  " + push + "b\n", p.dir},
		{"npm run deploy", "package.json", `{"scripts":{"deploy":"` + push + `a"}}`, `{"scripts":{"deploy":"` + push + `b"}}`, p.dir},
		{"npm publish", "package.json", `{"name":"a"}`, `{"name":"b"}`, p.dir},
		{"kubectl apply -f dep.yaml", "dep.yaml", "kind: Pod\n", "kind: Secret\n", p.dir},
		{"kubectl apply -k k", "k/kustomization.yaml", "resources: [dep.yaml]\n", "resources: [../dep.yaml]\n", p.dir},
		{"helm upgrade a ./chart", "chart/values.yaml", "replicas: 1\n", "replicas: 9\n", p.dir},
		{"terraform apply -auto-approve", "main.tf", "resource \"a\" \"b\" {}\n", "resource \"a\" \"c\" {}\n", p.dir},
		{"ansible-playbook site.yml", "site.yml", "- hosts: a\n", "- hosts: all\n", p.dir},
		{"psql prod -f migrate.sql", "migrate.sql", "delete from t where id = 1;\n", "drop table t;\n", p.dir},
		{"psql prod < in.sql", "in.sql", "delete from t where id = 1;\n", "drop table t;\n", p.dir},
		{"curl -d @body.json https://api.example.org/x", "body.json", `{"a":1}`, `{"a":2}`, p.dir},
		{"docker run --privileged --env-file prod.env alpine", "prod.env", "A=1\n", "A=2\n", p.dir},
		{"docker build --push -t corp/app .", "Dockerfile", "FROM a\n", "FROM b\n", p.dir},
		{"crontab jobs", "jobs", "0 1 * * * true\n", "0 1 * * * false\n", p.dir},
		{push + "dev", ".git/refs/heads/dev", strings.Repeat("a", 40) + "\n", strings.Repeat("b", 40) + "\n", p.dir},
		{"git push --force origin dev", "", "", "", link},
	} {
		if tt.file != "" {
			p.write(tt.file, tt.before)
		}
		call := fmt.Sprintf(`{"turn_id":"t","step":%d,"intent":"deploy","executor":"shell_exec","args":{"command":%q},"context":{"cwd":%q}}`, p.call.Add(1), tt.command, tt.cwd)
		asked := p.s.agent("POST", "/v1/proposals", call).answer(t)
		if asked.Decision != approval.RulingPending {
			t.Fatalf("%s: %+v", tt.command, asked)
		}
		person.decide("allow", "")
		permit := p.s.agent("GET", "/v1/approvals/"+string(asked.Approval.ID), "").answer(t).Permit.Permit
		redeem := "/v1/permits/" + permit + "/redeem"
		changed := func(to string) {
			if tt.file != "" {
				p.write(tt.file, to)
				return
			}
			if err := os.Remove(link); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(map[string]string{tt.after: filepath.Join(p.dir, "../other"), "back": p.dir}[to], link); err != nil {
				t.Fatal(err)
			}
		}
		changed(tt.after)
		if r := p.s.agent("POST", redeem, call); r.status != http.StatusUnprocessableEntity || !strings.Contains(r.body, "file-changed") {
			t.Errorf("%s, swapped: %d %s, want 422", tt.command, r.status, r.body)
		}
		if tt.file == "" {
			tt.before = "back"
		}
		changed(tt.before)
		if r := p.s.agent("POST", redeem, call); r.status != http.StatusNoContent {
			t.Errorf("%s, as it was: %d %s, want 204", tt.command, r.status, r.body)
		}
	}
}

// TestNobodyHangsAtAFile has the real hook and daemon judge calls that run what cannot be read, or
// must not be. A person is asked about each, with the reason on the card.
func TestNobodyHangsAtAFile(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	p := newWorked(t)
	at := func(name string) string { return filepath.Join(p.dir, name) }
	large, err := os.Create(at("large.sh"))
	if err == nil {
		err = large.Truncate(1 << 30)
	}
	if err == nil {
		err = large.Close()
	}
	outside := filepath.Join(p.s.h.dir, "outside.sh")
	for _, err := range []error{
		err, syscall.Mkfifo(at("pipe.sh"), 0o600), os.Symlink("loop.sh", at("loop.sh")), os.Symlink("/dev/zero", at("zero.sh")),
		os.WriteFile(outside, []byte("echo a\n"), 0o600), os.Symlink(outside, at("out.sh")), os.WriteFile(at("latin.sh"), []byte("echo \xff\xfe\n"), 0o600),
		os.Mkdir(at("folder.sh"), 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var hooks sync.WaitGroup // Each waits for an answer that does not come.
	for _, name := range []string{"large.sh", "pipe.sh", "loop.sh", "zero.sh", "out.sh", "latin.sh", "folder.sh"} {
		hooks.Go(func() {
			if end, said := p.hook("Bash", map[string]any{"command": "bash " + name}); end != "asked" {
				t.Errorf("bash %s ends %s: %s", name, end, said)
			}
		})
	}
	hooks.Wait()
}
