package dispatcher_test

import (
	"errors"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
)

// TestWhatRunsIsWhatWasShown changes each file that an allowed call runs, after
// a person has seen it: the permit is good for the files as they were.
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
		"BASH_ENV":        {"BASH_ENV=e.sh bash -c ls", disk{"e.sh": "x=1\n"}, disk{"e.sh": "x=2\n"}, "e.sh"},
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
				err := g.Redeem(t.Context(), agent, answer.Permit.Permit, call)
				wrong, ok := errors.AsType[*dispatcher.FileChangedError](err)
				switch {
				case tt.changed == "" && err != nil:
					t.Errorf("Redeem: %v", err)
				case tt.changed != "" && (!ok || wrong.Path != dir+tt.changed):
					t.Errorf("Redeem: %v, want %s to be named", err, tt.changed)
				}
				if tt.changed == "" {
					return
				}
				// What it would run now is another call: somebody is asked anew.
				if again := g.propose(t, call, 0); again.Permit != nil || again.Approval != nil && again.Approval.ID == id {
					t.Errorf("the changed call has the old answer: %+v", again)
				}
			})
		})
	}
}
