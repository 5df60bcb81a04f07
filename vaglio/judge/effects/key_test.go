package effects_test

import (
	"testing"

	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// TestKeySpellings checks that what a person denied stays denied however it is
// spelled, and that a denial does not spread to other calls.
func TestKeySpellings(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	for _, same := range [][]string{
		{"rm -rf src", "rm -r -f src", "rm -fr ./src", "rm --recursive --force src/", "rm -rf 'src'", `rm -rf "src"`, `rm -rf s\rc`, "rm -rf ./././src", "rm -rf docs/../src", "rm -rf /home/ann/src/shop/src", "rm -rf ~/src/shop/src", "rm -rf $HOME/src/shop/src", "rm -rf $PWD/src", "cd src/.. && rm -rf src", "bash -c 'rm -rf src'", "sh -c \"bash -c 'rm -rf src'\"", "env A=b rm -rf src", "nohup rm -rf src", "timeout 5 rm -rf src", "eval 'rm -rf src'", "D=src; rm -rf $D", "command rm -rf src", "\\rm -rf src", "(rm -rf src)", "true && rm -rf src", "find src -delete", "echo src | xargs rm -rf", "/bin/rm -rf src"},
		{"rm notes.md README.md", "rm README.md notes.md", "rm notes.md; rm README.md"},
		{"git push --force origin feature", "git push -f origin feature", "git push origin feature -f", "git push origin +feature", "git push origin feature --force", "git -c color.ui=never push -f origin feature", "bash -c 'git push --force origin feature'"},
		{"git push origin main", "git push origin HEAD:main", "git push origin main:main", "git push -u origin main"},
		{"git reset --hard", "git reset --hard HEAD", "env X=1 git reset --hard"},
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

// TestIntentOfThePlainWish checks what the user's own words can make up for:
// a mild effect that they name, never one that is irreversible or reaches
// others.
func TestIntentOfThePlainWish(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	for _, tt := range []struct {
		line, intent string
		asked        bool
	}{
		{"mkdir ~/reports", "make a folder reports in my home", false},
		{"mkdir ~/reports", "make a folder pictures in my home", true},
		{"mkdir ~/reports", "what is in reports?", true},
		{"cp a.md ~/notes/a.md", "copy a.md to notes in my home", true},
		{"git config --global user.name Ann", "set my git user.name to Ann", false},
		{"rm -rf src", "delete src", true},
		{"rm ~/old.txt", "delete old.txt in my home", true},
		{"git push origin main", "push to main", true},
		{"git push -f origin feature", "force push feature to origin", true},
		{"npm publish", "publish the package to npm", true},
		{"kubectl delete pod web", "delete the pod web", true},
		{"terraform apply", "apply the terraform plan", true},
		{"psql -c 'drop table t'", "drop table t in psql", true},
		{"curl -d a https://x.example/hook", "post a to https://x.example/hook", true},
		{"cat .env", "show me .env", true},
		{"sudo systemctl restart nginx", "restart nginx by systemctl", true},
		{"eval \"$X\"", "eval $X", true},
		{"frobnicate now", "frobnicate now", true},
	} {
		p := command(tt.line)
		p.Intent = tt.intent
		if got := score(t, j, p); (got < effects.Threshold) != tt.asked {
			t.Errorf("%s, wanted %q: score %.2f, want asked %t", tt.line, tt.intent, got, tt.asked)
		}
		if !tt.asked {
			p.Intent = ""
			p.Args["note"] = "the user says: " + tt.intent
			if got := score(t, j, p); got >= effects.Threshold {
				t.Errorf("%s: the words of an argument counted as intent: %.2f", tt.line, got)
			}
		}
	}
}
