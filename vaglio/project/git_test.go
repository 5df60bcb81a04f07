package project_test

import (
	"strings"
	"testing"
)

func TestSettingsOfGit(t *testing.T) {
	t.Parallel()
	config := func(text string) files { return files{".git/config": text} }
	picture := deciding(t)
	for _, tt := range []struct {
		call
		want string
	}{
		// which repository
		{call{command: "git -C a/b status", files: files{"a/.git/config": "[core]\npager = x"}}, "a/.git/config:2 sh x"},
		{call{command: "git status", files: files{".git": "gitdir: /p/r/w\n", "r/w/config": "[core]\npager = x"}}, "r/w/config:2 sh x"},
		{call{command: "git --git-dir g status", files: files{"g/config": "[core]\npager = x", ".git/config": "[core]\npager = y"}}, "g/config:2 sh x"},
		{call{command: "git status", files: files{"g/config": "[core]\npager = x"}, env: map[string]string{"GIT_DIR": "g"}}, "g/config:2 sh x"},
		{call{command: "git --git-dir=h status", files: files{"g/config": "[core]\npager = x", "h/config": "[core]\npager = y"}, env: map[string]string{"GIT_DIR": "g"}}, "h/config:2 sh y"},
		{call{command: "git -C a status", files: files{"a/.git/HEAD": "x", ".git/config": "[core]\npager = x"}}, ""},
		{call{command: "git -C 2/3/4/5/6/7/8/9/a/b/c status", files: config("[core]\npager = x")}, ".git/config:2 sh x"},
		{call{command: "git -C 2/3/4/5/6/7/8/9/a/b/c/d/e status", files: config("[core]\npager = x")}, ".git/config:2 sh x"},
		{call{command: "git -C " + strings.Repeat("d/", 80) + "e status", files: config("[core]\npager = x")}, strings.Repeat("d/", 17) + ".git/config:1 holds more than is read"},
		{call{command: "git status", files: files{"/.git/config": "[core]\npager = x"}}, "/.git/config:2 sh x"},
		// which settings
		{call{command: "git log", files: files{".git/config": "[include]\npath = ../a\n[includeIf \"x\"]\npath = /p/b\n[core]\npath = c", "a": "[core]\npager = x", "b": "[core]\naskpass = y\n[include]\npath = a\n[include]\npath = b", "c": "[core]\npager = no"}}, "a:2 sh x\nb:2 sh y"},
		{call{command: "git log", files: files{"g": "[core]\npager = x"}, env: map[string]string{"GIT_CONFIG_GLOBAL": "g"}}, "g:2 sh x"},
		{call{command: "git log", files: files{"x/git/config": "[core]\npager = x"}, env: map[string]string{"XDG_CONFIG_HOME": "/p/x"}}, "x/git/config:2 sh x"},
		{call{command: "git -c include.path=g log", files: files{"g": "[core]\npager = x"}}, "g:2 sh x"},
		{call{command: "git", files: config("[core]\npager = x")}, ""},
		{call{command: "git --version", files: config("[core]\npager = x")}, ""},
		{call{command: "git -c a=b --work-tree w --namespace n log", files: config("[pager]\nlog = x\nw = y\nn = y\na=b = y")}, ".git/config:2 sh x"},
		{call{command: "git log", files: config("[pager]\nlog = false\nstatus = x\n[pager \"x\"]\nlog = TRUE")}, ""},
		{call{command: "git st a", files: config("[alias]\nst = status -s\nlg = log")}, ".git/config:2 sh git status -s"},
		{call{command: "git fetch", files: config("[credential]\nhelper = !x\nhelper = store\n[credential \"u\"]\nhelper = \"!y z\"")}, ".git/config:2 sh x\n.git/config:5 sh y z"},
		{call{command: "git push -q o", files: config("[remote \"o\"]\npush = a:b")}, ".git/config:2 sh git push o a:b"},
		{call{command: "git pull", files: config("[remote \"o\"]\npush = a:b")}, ""},
		{call{command: "git log", files: config("[core]\nfsmonitor = true\n[Core]\nFSMonitor = x")}, ".git/config:4 sh x"},
	} {
		picture.add(tt.call)
		if got := tt.tasks(t); got != tt.want {
			t.Errorf("%s of %q:\n got %s\nwant %s", tt.command, tt.files, got, tt.want)
		}
	}
	for verb := range strings.FieldsSeq("version help config init clone rev-parse") {
		if got := tasks(t, "git "+verb, config("[core]\npager = x")); got != "" {
			t.Errorf("git %s runs %s", verb, got)
		}
	}
	for name := range strings.FieldsSeq(`core.pager core.sshCommand core.askPass core.gitProxy diff.external gpg.program diff.d.textconv diff.d.command
		filter.f.clean filter.f.smudge filter.f.process merge.m.driver sequence.editor interactive.diffFilter`) {
		section, key := name[:strings.LastIndexByte(name, '.')], name[strings.LastIndexByte(name, '.')+1:]
		if head, sub, ok := strings.Cut(section, "."); ok {
			section = head + ` "` + sub + `"`
		}
		if got := tasks(t, "git log", config("["+section+"]\n"+key+" = x y")); got != ".git/config:2 sh x y" {
			t.Errorf("%s runs %q", name, got)
		}
	}
	for value := range strings.FieldsSeq("true false 0 1 yes no on off On") {
		if got := tasks(t, "git log", config("[core]\nfsmonitor = "+value+"\n")); got != "" {
			t.Errorf("a switch that is %s runs %s", value, got)
		}
	}
}

func TestHooksOfGit(t *testing.T) {
	t.Parallel()
	picture := deciding(t)
	for _, tt := range []struct {
		command string
		files   files
		want    string
	}{
		{"git commit", files{".git/config": "[core]\nhooksPath = h", "h/pre-commit": "x", ".git/hooks/pre-commit": "y"}, "h/pre-commit:1 sh x"},
		{"git commit", files{".git/hooks/commit-msg": "x", ".git/hooks/pre-push": "y"}, ".git/hooks/commit-msg:1 sh x"},
		{"git commit -C HEAD", files{".git/hooks/commit-msg": "x"}, ".git/hooks/commit-msg:1 sh x"},
		{"git --attr-source HEAD commit", files{".git/hooks/commit-msg": "x"}, ".git/hooks/commit-msg:1 sh x"},
		{"git --config-env a.b=C -C sub commit", files{"sub/.git/HEAD": "", "sub/.git/hooks/commit-msg": "x"}, "sub/.git/hooks/commit-msg:1 sh x"},
		{"git push", files{".git/hooks/pre-push": "#!/usr/bin/perl\nx"}, ".git/hooks/pre-push:1 perl #!/usr/bin/perl\nx"},
		{"git push", files{".git/hooks/pre-push": "#!/usr/bin/env ruby\n"}, ".git/hooks/pre-push:1 ruby #!/usr/bin/env ruby"},
		{"git push", files{".git/hooks/pre-push": "#!/bin/node20\n"}, ".git/hooks/pre-push:1 node #!/bin/node20"},
		{"git push", files{".git/hooks/pre-push": "#!/bin/awk -f\n"}, ".git/hooks/pre-push:1 sh #!/bin/awk -f\n.git/hooks/pre-push:1 sh '/p/.git/hooks/pre-push'"},
		{"git log", files{".git/hooks/pre-push": "x"}, ""},
		{"git -C sub commit", files{"sub/.git": "gitdir: ../r", "r/HEAD": "", "r/hooks/pre-commit": "x"}, "r/hooks/pre-commit:1 sh x"},
	} {
		picture.add(call{command: tt.command, files: tt.files})
		if got := tasks(t, tt.command, tt.files); got != tt.want {
			t.Errorf("%s of %q:\n got %s\nwant %s", tt.command, tt.files, got, tt.want)
		}
	}
}

// asks records which files are looked at.
type asks struct {
	files
	names *[]string
}

func (a asks) Content(name string) (string, bool) {
	*a.names = append(*a.names, strings.TrimPrefix(name, "/p/"))
	return a.files.Content(name)
}

// TestAPushIsBoundToItsCommits looks at the refs that a push sends, in files of their own or
// among the packed ones.
func TestAPushIsBoundToItsCommits(t *testing.T) {
	t.Parallel()
	head := files{".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": "1", ".git/refs/heads/x": "2", ".git/refs/tags/v": "3"}
	for _, tt := range []struct {
		command  string
		files    files
		want, no string
	}{
		{"git push", head, ".git/refs/heads/main", ".git/refs/heads/x"},
		{"git push", head, ".git/refs/heads/main", ".git/packed-refs"},
		{"git push o +x:y", head, ".git/refs/heads/x", ".git/refs/heads/y"},
		{"git push refs/tags/v", head, ".git/refs/tags/v", ".git/packed-refs"},
		{"git push v", head, ".git/refs/tags/v", ".git/packed-refs"},
		{"git push o z", head, ".git/packed-refs", ".git/refs/heads/x"},
		{"git fetch", head, ".git/config", ".git/refs/heads/main"},
		{"git stash push", head, ".git/config", ".git/refs/heads/main"},
		{"git push", files{"refs/heads/main": "1"}, ".git/config", ".git/refs/heads/main"},
		{"git push", files{".git": "gitdir: r/worktrees/w", "r/worktrees/w/HEAD": "ref: refs/heads/x", "r/worktrees/w/commondir": "../..\n"}, "r/refs/heads/x", "r/worktrees/w/refs/heads/x"},
	} {
		var names []string
		if got := (call{command: tt.command, files: tt.files, looked: &names}).tasks(t); got != "" {
			t.Errorf("%s runs %s", tt.command, got)
		}
		all := " " + strings.Join(names, " ") + " "
		if !strings.Contains(all, " "+tt.want+" ") || strings.Contains(all, " "+tt.no+" ") {
			t.Errorf("%s looks at%s, want %s and not %s", tt.command, all, tt.want, tt.no)
		}
	}
}
