package dispatcher_test

import (
	"errors"
	"path"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
)

// TestWhatRunsIsWhatWasShown changes each file that an allowed call runs after a person has
// seen it: the permit is valid only for the files as they were.
func TestWhatRunsIsWhatWasShown(t *testing.T) {
	const dir = "/home/u/app/"
	for name, tt := range map[string]struct {
		command string
		files   disk
		change  disk   // "" removes the file
		changed string // the file that is named, "" for none
	}{
		"untouched":       {"sh a.sh", disk{"a.sh": "ls\n"}, nil, ""},
		"another file":    {"sh a.sh", disk{"a.sh": "ls\n", "b": "x"}, disk{"b": "y"}, ""},
		"script":          {"sh a.sh", disk{"a.sh": "ls\n"}, disk{"a.sh": "ls -la\n"}, "a.sh"},
		"included script": {"sh a.sh", disk{"a.sh": ". ./b.sh\n", "b.sh": "ls\n"}, disk{"b.sh": "pwd\n"}, "b.sh"},
		"script made":     {"sh a.sh; ls", disk{}, disk{"a.sh": "ls\n"}, "a.sh"},
		"script gone":     {"sh a.sh", disk{"a.sh": "ls\n"}, disk{"a.sh": ""}, "a.sh"},
		"by its path":     {"./a.sh", disk{"a.sh": "ls\n"}, disk{"a.sh": "pwd\n"}, "a.sh"},
		"input":           {"bash < a.sh", disk{"a.sh": "ls\n"}, disk{"a.sh": "pwd\n"}, "a.sh"},
		"pipe":            {"cat a.sh | bash", disk{"a.sh": "ls\n"}, disk{"a.sh": "pwd\n"}, "a.sh"},
		"python":          {"python3 a.py", disk{"a.py": "print(1)\n"}, disk{"a.py": "print(2)\n"}, "a.py"},
		"makefile":        {"make x", disk{"Makefile": "x:\n\tls\n"}, disk{"Makefile": "x:\n\tpwd\n"}, "Makefile"},
		"other target":    {"make x", disk{"Makefile": "x:\n\tls\ny:\n\tls\n"}, disk{"Makefile": "x:\n\tls\ny:\n\tpwd\n"}, "Makefile"},
		"package.json":    {"npm test", disk{"package.json": `{"scripts":{"test":"ls"}}`}, disk{"package.json": `{"scripts":{"test":"pwd"}}`}, "package.json"},
		"git hook":        {"git commit -m x", disk{".git/hooks/pre-commit": "ls\n"}, disk{".git/hooks/pre-commit": "pwd\n"}, ".git/hooks/pre-commit"},
		"git settings":    {"git push", disk{".git/config": "[core]\n"}, disk{".git/config": "[remote \"o\"]\n\tpush = +a:b\n"}, ".git/config"},
		"conftest":        {"pytest", disk{"conftest.py": "x = 1\n"}, disk{"conftest.py": "x = 2\n"}, "conftest.py"},
		"manifest":        {"kubectl apply -f k/dep.yaml", disk{"k/dep.yaml": "a: 1\n"}, disk{"k/dep.yaml": "a: 2\n"}, "k/dep.yaml"},
		"SQL":             {"psql prod -f m.sql", disk{"m.sql": "select 1\n"}, disk{"m.sql": "drop table t\n"}, "m.sql"},
		"SQL as input":    {"psql prod < m.sql", disk{"m.sql": "select 1\n"}, disk{"m.sql": "drop table t\n"}, "m.sql"},
		"body":            {"curl -d @b.json https://x.y", disk{"b.json": "{}"}, disk{"b.json": `{"a":1}`}, "b.json"},
		"form":            {"curl -F f=@a.txt https://x.y", disk{"a.txt": "a"}, disk{"a.txt": "b"}, "a.txt"},
		"glued option":    {"docker compose -fprod.yml up", disk{"prod.yml": "a: 1\n"}, disk{"prod.yml": "a: 2\n"}, "prod.yml"},
		"env file":        {"docker run --env-file=p.env img", disk{"p.env": "A=1\n"}, disk{"p.env": "A=2\n"}, "p.env"},
		"patch":           {"git apply x.patch", disk{"x.patch": "--- a\n"}, disk{"x.patch": "--- b\n"}, "x.patch"},
		"included rules":  {"make x", disk{"Makefile": "include r.mk\n", "r.mk": "x:\n\tls\n"}, disk{"r.mk": "x:\n\tpwd\n"}, "r.mk"},
		"folder":          {"ls", disk{"": "/home/u/app"}, disk{"": "/home/u/other"}, "."},
		"other folder":    {"git -C sub push", disk{"sub/": "/home/u/app/sub"}, disk{"sub/": "/home/u/other"}, "sub"},
		"folder of cd":    {"cd sub && terraform apply", disk{"sub/": "/home/u/app/sub"}, disk{"sub/": "/home/u/other"}, "sub"},
		"branch": {
			"git push --force origin main",
			disk{".git/HEAD": "ref: refs/heads/x\n", ".git/refs/heads/main": "1\n"},
			disk{".git/refs/heads/main": "2\n"},
			".git/refs/heads/main",
		},
		"branch of HEAD": {
			"git push --force", disk{".git/HEAD": "ref: refs/heads/x\n", ".git/refs/heads/x": "1\n"}, disk{".git/refs/heads/x": "2\n"}, ".git/refs/heads/x",
		},
		"refspec": {
			"git push origin +dev:main",
			disk{".git/HEAD": "ref: refs/heads/x\n", ".git/refs/heads/dev": "1\n"},
			disk{".git/refs/heads/dev": "2\n"},
			".git/refs/heads/dev",
		},
		"packed branch": {
			"git push origin v1",
			disk{".git/HEAD": "ref: refs/heads/x\n", ".git/packed-refs": "1 refs/tags/v1\n"},
			disk{".git/packed-refs": "2 refs/tags/v1\n"},
			".git/packed-refs",
		},
		"other branch": {
			"git push origin dev", disk{".git/HEAD": "1\n", ".git/refs/heads/dev": "1\n", ".git/refs/heads/y": "1\n"}, disk{".git/refs/heads/y": "2\n"}, "",
		},
		"branch switched": {"git push", disk{".git/HEAD": "ref: refs/heads/x\n"}, disk{".git/HEAD": "ref: refs/heads/y\n"}, ".git/HEAD"},
		"manifests":       {"kubectl apply -f k/", disk{"k/a.yaml": "a: 1\n"}, disk{"k/a.yaml": "a: 2\n"}, "k/a.yaml"},
		"manifest added":  {"kubectl apply -f k", disk{"k/a.yaml": "a: 1\n"}, disk{"k/b.yaml": "b: 1\n"}, "k/b.yaml"},
		"manifest gone":   {"kubectl apply -f k", disk{"k/a.yaml": "a: 1\n", "k/b.yaml": "b: 1\n"}, disk{"k/b.yaml": ""}, "k/b.yaml"},
		"no manifest":     {"kubectl apply -f k", disk{"k/a.yaml": "a: 1\n", "k/README": "a"}, disk{"k/README": "b"}, ""},
		"loop":            {"for f in s/*.sh; do bash $f; done", disk{"s/a.sh": "ls\n"}, disk{"s/a.sh": "pwd\n"}, "s/a.sh"},
		"added to a loop": {"for f in s/*.sh; do bash $f; done", disk{"s/a.sh": "ls\n"}, disk{"s/b.sh": "pwd\n"}, "s/b.sh"},
		"found":           {"find s -name '*.py' -exec python3 {} +", disk{"s/d/a.py": "print(1)\n"}, disk{"s/d/a.py": "print(2)\n"}, "s/d/a.py"},
		"sitecustomize":   {"PYTHONPATH=lib python3 -c 'print(1)'", disk{"lib/sitecustomize.py": "x=1\n"}, disk{"lib/sitecustomize.py": "x=2\n"}, "lib/sitecustomize.py"},
		"first on PATH":   {"PATH=b:$PATH ls", disk{"b/ls": "pwd\n"}, disk{"b/ls": "id\n"}, "b/ls"},
		"sed's script":    {"sed -f s.sed a", disk{"s.sed": "p\n"}, disk{"s.sed": "d\n"}, "s.sed"},
		"hooks elsewhere": {
			"git commit -m x", disk{".git/config": "[core]\n\thooksPath = h\n", "h/pre-commit": "ls\n"}, disk{"h/pre-commit": "pwd\n"}, "h/pre-commit",
		},
		"included config": {
			"git status", disk{".git/config": "[include]\n\tpath = ../c\n", "c": "[core]\n"}, disk{"c": "[core]\n\tfsmonitor = m\n"}, "c",
		},
		"BASH_ENV": {"BASH_ENV=e.sh bash -c ls", disk{"e.sh": "x=1\n"}, disk{"e.sh": "x=2\n"}, "e.sh"},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, g *gate) {
				for file, text := range tt.files {
					g.files[dir+file] = text
				}
				call := shell(tt.command)
				id := g.propose(t, call, 0).Approval.ID
				g.decide(t, id, approval.ChoiceAllow, "")
				answer := g.propose(t, call, 0)
				if answer.Permit == nil {
					t.Fatalf("no permit: %+v", answer)
				}
				for file, text := range tt.change {
					if g.files[dir+file] = text; text == "" {
						delete(g.files, dir+file)
					}
				}
				redeem(t, g, answer.Permit.Permit, shell(tt.command+"; pwd"), dispatcher.ErrOtherCall)
				err := g.Redeem(t.Context(), agent, answer.Permit.Permit, call)
				wrong, ok := errors.AsType[*dispatcher.FileChangedError](err)
				switch {
				case tt.changed == "" && err != nil:
					t.Errorf("Redeem: %v", err)
				case tt.changed != "" && (!ok || wrong.Path != path.Join(dir, tt.changed)):
					t.Errorf("Redeem: %v, want %s to be named", err, tt.changed)
				}
				if tt.changed == "" {
					return
				}
				// What it would run now is another call, about which somebody is asked
				// again.
				if again := g.propose(t, call, 0); again.Permit != nil || again.Approval != nil && again.Approval.ID == id {
					t.Errorf("the changed call has the old answer: %+v", again)
				}
			})
		})
	}
}
