package project_test

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio/project"
	"github.com/metnos/vaglio/vaglio/shell"
)

// files holds the contents of files by their names in /p.
type files map[string]string

func (f files) Content(name string) (string, bool) {
	text, ok := f[strings.TrimPrefix(name, "/p/")]
	return text, ok
}

func (files) Closed(string) *shell.ClosedError { return nil }

func (f files) Below(folder string, _ int, takes func(string) bool) (all []string, _ bool) {
	for name := range f {
		if rel, ok := strings.CutPrefix(path.Join("/p", name), folder+"/"); ok && takes(rel) {
			all = append(all, path.Join(folder, rel))
		}
	}
	slices.Sort(all)
	return all, true
}

// tasks formats what a command runs: file, line, language and text.
func tasks(t *testing.T, command string, f files) string {
	t.Helper()
	return call{command: command, files: f}.tasks(t)
}

// call is a command and its circumstances.
type call struct {
	command string
	files   files
	// env are variables that were set before; changed and input are files in /p.
	env            map[string]string
	changed, input string
	loaded         string // those of the changed files that are loaded
	carries        bool
	looked         *[]string // receives the names of the files that are looked at
}

// loaded is a session that wrote files that would be asked about.
type loaded []string

func (l loaded) Changed() []string          { return l }
func (l loaded) Loaded() []string           { return l }
func (loaded) Origin(string) (string, bool) { return "", false }
func (loaded) Fetched() map[string]bool     { return nil }
func (loaded) Exported() []string           { return nil }

func (c call) tasks(t *testing.T) string {
	t.Helper()
	words := strings.Fields(c.command)
	task := shell.TaskCall{Name: words[0], Cwd: "/p", Files: c.files, Carries: c.carries}
	if c.looked != nil {
		task.Files = asks{c.files, c.looked}
	}
	for _, w := range words[1:] {
		task.Args = append(task.Args, shell.Text(strings.ReplaceAll(w, "␣", " ")))
	}
	for name := range strings.FieldsSeq(c.changed) {
		task.Changed = append(task.Changed, path.Join("/p", name))
	}
	if c.loaded != "" {
		var all loaded
		for name := range strings.FieldsSeq(c.loaded) {
			all = append(all, path.Join("/p", name))
		}
		task.Session = all
	}
	for name := range strings.FieldsSeq(c.input) {
		task.Input = append(task.Input, path.Join("/p", name))
		task.Stdin = shell.Input{Kind: shell.InputFile, Text: shell.NewWord(shell.Part{Kind: shell.PartUnknown, Text: "cat"})}
	}
	task.Env = func(name string) (shell.Word, bool) { v, ok := c.env[name]; return shell.Text(v), ok }
	return written(project.Default().Tasks(task))
}

// written formats tasks. Files outside of /p have their full path, guesses a question mark, what else
// is only found an asterisk, what a program imports a plus, what a tool looks for to be told
// what to do an exclamation mark, and whole command lines an equals sign.
func written(all []shell.Task) string {
	var b strings.Builder
	for _, task := range all {
		if task.Closed != nil {
			fmt.Fprintf(&b, "%s:%d %v\n", strings.TrimPrefix(task.File, "/p/"), task.Line, task.Closed)
			continue
		}
		language := task.Language
		for _, m := range []struct {
			is   bool
			mark string
		}{{task.Guess, "?"}, {task.Found && !task.Guess, "*"}, {task.Imported, "+"}, {task.Settings, "!"}, {task.Whole, "="}} {
			if m.is {
				language += m.mark
			}
		}
		fmt.Fprintf(&b, "%s:%d %s %s\n", strings.TrimPrefix(task.File, "/p/"), task.Line, language, strings.TrimSpace(task.Text))
	}
	return strings.TrimSpace(b.String())
}

// What stands between the marks of an agent's command is told as it will run; what does not end, or
// says nothing, is told as unknown.
func TestCommandsThatAClientShows(t *testing.T) {
	t.Parallel()
	const unknown = " has the agent's client run something that is not known"
	for text, want := range map[string]string{
		"# Look\n\nStatus: !`git status`, then !`git log`.\n": "c.md:3 sh git status\nc.md:3 sh git log",
		"```!\nmake\n```\n":      "c.md:1 sh make",
		"Run `git status`.\n":    "",
		"Status: !`git status\n": "c.md:1" + unknown + "\nc.md:1 sh git status",
		"Status: !` `\n":         "c.md:1" + unknown,
	} {
		if got := written(project.Default().Ungated("/p/.claude/commands/c.md", text)); got != strings.ReplaceAll(want, "c.md", ".claude/commands/c.md") {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"!{ls -l}", `\u0021{ls -l}`, `\U00000021{ls -l}`, `\x21{ls \x2dl}`, "!{ls \\\n  -l}"} { // as a quoted text may spell it
		if got := written(project.Default().Ungated("/p/.gemini/commands/c.toml", `prompt = "`+text+`"`)); got != ".gemini/commands/c.toml:1 sh ls -l" {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestCommandsThatAnAgentsFileCarries takes what the settings at the head of an agent's file run, and
// nothing that only names it.
func TestCommandsThatAnAgentsFileCarries(t *testing.T) {
	t.Parallel()
	const file = "/p/.claude/agents/a.md"
	for text, want := range map[string]string{
		"---\nname: ls\nhooks:\n  Stop:\n    - matcher: id\n      hooks:\n        - type: command\n          command: ls -l\n---\nx\n": "a.md:8 sh ls -l",
		"---\nmcpServers:\n  a:\n    command: node\n    args: [x y, z]\n    env: {A: id}\n---\n":                                       "a.md:4 sh 'node' 'x y' 'z'",
		"---\nhooks: [a, b]\n---\n":                                  "",
		"---\nhooks: {}\n---\n":                                      "",
		"---\nname: x\n---\nhooks: y\n":                              "",
		"{\"hooks\": {\"Stop\": [{\"command\": [\"ls\", \"-l\"]}]}}": "a.md:1 sh 'ls' '-l'",
	} {
		if got := strings.ReplaceAll(written(project.Default().Ungated(file, text)), ".claude/agents/", ""); got != want {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
}

func TestTasks(t *testing.T) {
	t.Parallel()
	makefile := files{
		"Makefile": "GO ?= go\nall: build test\nbuild:\n\t@$(GO) build ./...\ntest: build\n\t$(GO) test $$HOME\nclean:\n\trm -rf /\n%.o: %.c\n\tcc -c $< -o $@\ninclude more.mk\n",
		"more.mk":  "more: ; echo $(shell date)\n",
	}
	pkg := files{"package.json": `{
 "scripts": {
  "pretest": "echo before",
  "test": "jest",
  "deploy": "kubectl delete ns prod"
 }
}`}
	picture := deciding(t)
	for _, tt := range []struct {
		command string
		files   files
		want    string
	}{
		{"make", makefile, "Makefile:4 sh go build ./...\nMakefile:6 sh go test $HOME"},
		{"make test GO=go1.26", makefile, "Makefile:4 sh go1.26 build ./...\nMakefile:6 sh go1.26 test $HOME"},
		{"docker build .", files{"Dockerfile": "FROM a\nRUN <<EOF\nls\nEOF\nCOPY <<X /a\nRUN no\nX\nRUN id\n"}, "Dockerfile:2 sh 'docker' 'run' '--rm' 'image' 'sh' '-c' 'sh <<EOF\nls\nEOF\n'\nDockerfile:8 sh 'docker' 'run' '--rm' 'image' 'sh' '-c' 'id'"},
		{"docker build .", files{"Dockerfile": "RUN cat <<EOF\n"}, "Dockerfile:1 sh 'docker' 'run' '--rm' 'image' 'sh' '-c' 'cat <<EOF'"},
		{
			"docker compose up",
			files{"compose.yaml": "services:\n  a:\n    volumes: [{type: bind, source: /, target: /h}]\n    command: ls\n"},
			"compose.yaml:4 sh 'docker' 'run' '--rm' '-v' '/:/h' 'image' 'sh' '-c' 'ls'",
		},
		{
			"papermill a.ipynb b.ipynb",
			files{"a.ipynb": `{"cells": [{"cell_type": "code", "source": ["%%bash\n", "ls\n"]},
				{"cell_type": "markdown", "source": "rm"}, {"cell_type": "code", "source": "%time\nx = 1"}, {"cell_type": "code", "source": "%%html\n<b>"}]}`},
			"a.ipynb:1 sh ls\na.ipynb:1 python x = 1",
		},
		{
			"ant",
			files{"build.xml": `<project><target><exec executable="git"><arg value="a b"/><arg line="-q -n"/></exec><echo>rm</echo></target></project>`},
			"build.xml:1 sh 'git'  'a b' -q -n",
		},
		{"ant", files{"build.xml": "<project><exec executable='git'>"}, ""},
		{
			"mvn test",
			files{"pom.xml": "<project>\n<configuration><executable>sh</executable><arguments><argument>-c</argument><argument>ls</argument></arguments></configuration></project>"},
			"pom.xml:2 sh 'sh' '-c' 'ls'",
		},
		{"inv x", files{"tasks.py": "@task\nasync def x(c):\n    c.run('ls -x')\n@task\nasync def y(c):\n    c.run('ls -y')\n"}, "tasks.py:1 python! @task\nasync def x(c):\n    c.run('ls -x')\n@task\nasync def y(c):\ntasks.py:3 sh* ls -x"},
		{"inv x", files{"tasks.py": "def x(c):\n    c.run('ls -la', pty=True)\n"}, "tasks.py:1 python! def x(c):\n    c.run('ls -la', pty=True)\ntasks.py:2 sh* ls -la"},
		{"make clean", makefile, "Makefile:8 sh rm -rf /"},
		{"npm test", files{".npmrc": "registry=https://x.example\nscript-shell = ./x.sh\n"}, ".npmrc:2 sh ./x.sh"},
		{
			"cmake --build b -t x",
			files{"CMakeLists.txt": "add_custom_target(x # no\n COMMAND ${GIT_EXECUTABLE} tag \"a b\" COMMENT \"c\"\n COMMAND ls ${X})\n"},
			"CMakeLists.txt:2 sh 'git' 'tag' 'a b'\nCMakeLists.txt:3 sh 'ls' ''\"${cmake_value:?}\"''",
		},
		{"cmake -E rm x", files{"CMakeLists.txt": "add_custom_target(x COMMAND ls)"}, ""},
		{
			"docker build -t a .",
			files{"Dockerfile": "FROM a\nRUN --mount=type=cache,target=/c a && \\\n # b\n c\nRUN [\"d\", \"e\"]\n"},
			"Dockerfile:2 sh 'docker' 'run' '--rm' 'image' 'sh' '-c' 'a &&  c'\nDockerfile:5 sh 'docker' 'run' '--rm' 'image' 'd' 'e'",
		},
		{
			"docker compose up",
			files{"compose.yml": "services:\n  a:\n    volumes: [/a:/b]\n    pid: host\n    command: rm it\n"},
			"compose.yml:5 sh 'docker' 'run' '--rm' '-v' '/a:/b' '--privileged' '--pid=host' 'image' 'sh' '-c' 'rm it'",
		},
		{"docker run x", files{"compose.yml": "services: {a: {command: rm it}}"}, ""},
		{"pre-commit run", files{".pre-commit-config.yaml": "repos:\n- hooks:\n  - entry: ./x.sh\n"}, ".pre-commit-config.yaml:3 sh 'sh' '-c' './x.sh'"},
		{"gdb --command=a.gdb", files{"a.gdb": "run\nshell ls\n"}, "a.gdb:2 sh ls\na.gdb:1 gdb run\nshell ls"},
		{"lldb -s a.lldb", files{"a.lldb": "run\nplatform shell ls\n"}, "a.lldb:2 sh ls"},
		{"swipl -s a.pl", files{"a.pl": ":- shell(ls)."}, "a.pl:1 prolog :- shell(ls)."},
		{"gdb -x a.gdb", files{"a.gdb": "run\nshell ls\n"}, "a.gdb:2 sh ls\na.gdb:1 gdb run\nshell ls"},
		{"papermill a.ipynb", files{"a.ipynb": "{\"cells\": [{\"cell_type\": \"code\", \"source\": [\n\"!ls\\n\",\n\"!id\"]}]}"}, "a.ipynb:2 sh ls\na.ipynb:3 sh id"},
		{"papermill a.ipynb a.ipynb", files{"a.ipynb": "{\"cells\": [{\"cell_type\": \"code\", \"source\": [\n\"!ls\\n\",\n\"!id\"]}]}"}, "a.ipynb:2 sh ls\na.ipynb:3 sh id"},
		{"uv run a.py", files{"a.py": "import b", "b.py": "b()"}, ""}, // which is read as a run of python,
		{"python3 a.py", files{"a.py": "import os, b.c", "b/c.py": "c()"}, "b/c.py:1 python+ c()"},
		{"python3 -m tool", files{"tool/__init__.py": "a()", "tool/__main__.py": "b()"}, "tool/__init__.py:1 python a()\ntool/__main__.py:1 python b()"},
		{"node -r ./x t.js", files{"x.js": "x()", "t.js": "t()"}, "x.js:1 node x()"},
		{"ruby -r./x -e 1", files{"x.rb": "x()", "x.js": "y()"}, "x.rb:1 ruby x()"},
		{"node -r ./x.js t.js", files{"x.js": "x()", "t.js": "require('./u')", "u.js": "u()"}, "u.js:1 node+ u()\nx.js:1 node x()"},
		{"bun t.js", files{"t.js": "t()"}, "t.js:1 node t()"},
		{"go run .", files{"main.go": "func main() {}"}, "main.go:1 go func main() {}"},
		{"go run -tags x ./cmd/w x", files{"main.go": "func a() {}", "cmd/w/main.go": "func main() {}"}, "cmd/w/main.go:1 go func main() {}"},
		{"go run /tmp/x.go", files{"main.go": "func a() {}", "/tmp/x.go": "func x() {}"}, "/tmp/x.go:1 go func x() {}"},
		{"go vet .", files{"main.go": "func main() {}"}, ""},
		{"go build -toolexec ./x.sh .", files{"x.sh": "#!/usr/bin/env python3\nx()"}, "x.sh:1 python #!/usr/bin/env python3\nx()"},
		{"npm test --script-shell=./x", files{"x": "run"}, "x:1 sh run"},
		{"bundle exec rake", files{"Rakefile": "sh 'x'"}, "Rakefile:1 ruby! sh 'x'"},
		{"make x.o", makefile, "Makefile:10 sh cc -c x.c -o x.o"},
		{"make more", makefile, "more.mk:1 sh date\nmore.mk:1 sh make_shell_0=$(date); echo ${make_shell_0}"},
		{"make -C sub", files{"sub/Makefile": "a:\n\tls\n"}, "sub/Makefile:2 sh ls"},
		{"make -f x.mk", files{"x.mk": "a:\n\tls\n"}, "x.mk:2 sh ls"},
		{"make nothing", makefile, ""},
		{"npm test", pkg, "package.json:3 sh echo before\npackage.json:4 sh jest"},
		{"npm run deploy -- --all", pkg, "package.json:5 sh kubectl delete ns prod"},
		{"npm install --ignore-scripts", files{"package.json": `{"scripts":{"postinstall":"x"}}`}, ""},
		{"npm install", files{"package.json": `{"scripts":{"postinstall":"x"}}`}, "package.json:1 sh x"},
		{"yarn", files{"package.json": `{"scripts":{"postinstall":"x"}}`}, "package.json:1 sh x"},
		{"npm test", files{"package.json": `{"scripts":`}, "package.json:1 cannot be parsed"},
		{"just", files{"justfile": "v := 'x'\na b: c\n  echo {{b}}\n  ls\nc:\n  pwd\n"}, "justfile:6 sh pwd\njustfile:3 sh echo ${make_just}\nls"},
		{"task b", files{"Taskfile.yml": "version: '3'\ntasks:\n  a: ls\n  b:\n    deps: [a]\n    cmds:\n      - cmd: pwd\n      - task: a\n"}, "Taskfile.yml:3 sh ls\nTaskfile.yml:4 sh pwd"},
		{"pytest -q", files{"conftest.py": "import os\n"}, "conftest.py:1 python! import os"},
		{"git commit -m x", files{".git/hooks/pre-commit": "#!/usr/bin/env python3\nprint()\n"}, ".git/hooks/pre-commit:1 python #!/usr/bin/env python3\nprint()"},
		{"git commit --no-verify", files{".git/hooks/pre-commit": "ls\n"}, ""},
		{"git status", files{".git/config": "[core]\n\tfsmonitor = \"x; false\"\n\tpager = cat ; no\n"}, ".git/config:2 sh x; false\n.git/config:3 sh cat"},
		{"git push", files{".git/config": "[remote \"o\"]\n\tpush = +a:b\n"}, ".git/config:2 sh git push o +a:b"},
		{"git push o main", files{".git/config": "[remote \"o\"]\n\tpush = +a:b\n"}, ""},
		{"git -C sub st", files{"sub/.git/config": "[alias]\n\tst = !ls\n"}, "sub/.git/config:2 sh ls"},
		{"ls", makefile, ""},
	} {
		picture.add(call{command: tt.command, files: tt.files})
		if got := tasks(t, tt.command, tt.files); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.command, got, tt.want)
		}
	}
}

// TestBounds holds that doubling in a hostile file ends.
func TestBounds(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"itself":  "A = $(A) $(A)\nB = $(C) $(C)\nC = $(B) $(B)\nall:\n\techo $(A) $(B)\n",
		"double":  "A = x\n" + strings.Repeat("A += $(A)\n", 60) + "all:\n\techo $(A)\n",
		"include": "include Makefile\ninclude Makefile\nall: ; ls\n",
		"rules":   "all: all all\n\tls\n" + strings.Repeat("a%: a%\n\tls\n", 2000),
		"open":    "all:\n\techo $(A $(B $(\n",
		"targets": strings.Repeat("all: x\nx: all\n\tls\n", 5000),
	} {
		if got := tasks(t, "make", files{"Makefile": text}); len(got) > 4<<20 {
			t.Errorf("%s: %d bytes", name, len(got))
		}
	}
}

// TestMoreThanIsLookedAtIsAsked fills a session and a makefile beyond what is looked at. The
// rest is reported as an unknown command.
func TestMoreThanIsLookedAtIsAsked(t *testing.T) {
	t.Parallel()
	r, err := project.New()
	if err != nil {
		t.Fatal(err)
	}
	const most, size = 100, 64 << 10
	for name, text := range map[string]string{
		"marks": strings.Repeat("=", size), "programs": strings.Repeat("ls=", size/3), "words": strings.Repeat("ls ", size/3), "lines": strings.Repeat("ls x\n", size/5),
		"quotes": strings.Repeat(`"ls" `, size/5), "names": strings.Repeat("a/b,", size/4), "brackets": strings.Repeat("ls ({[<", size/7), "one word": strings.Repeat("./x", size/3),
	} {
		written := files{}
		var changed []string
		for i := range most {
			file := fmt.Sprintf(".tool/x%d.conf", i)
			written[file] = text
			changed = append(changed, "/p/"+file)
		}
		got := r.Tasks(shell.TaskCall{Name: "unheardof", Cwd: "/p", Files: written, Changed: changed})
		if len(got) == 0 || len(got) > 200 || got[len(got)-1].Closed == nil {
			t.Errorf("%s: %d commands, and no end that is not known", name, len(got))
		}
	}
	if got := r.Tasks(shell.TaskCall{Name: "docker", Args: []shell.Word{shell.Text("build"), shell.Text(".")}, Cwd: "/p", Files: files{"Dockerfile": strings.Repeat("RUN ls\n", 300)}}); len(got) != 200 || got[len(got)-1].Closed == nil {
		t.Errorf("%d commands of a file with 300, and no end that is not known", len(got))
	}
}

// TestLargeFilesEnd writes huge files: what is not read of them is reported. Each took
// minutes or hours when it was searched once for each of its parts.
func TestLargeFilesEnd(t *testing.T) {
	t.Parallel()
	many := func(head, row string, most int) string {
		var b strings.Builder
		b.WriteString(head)
		for i := range most {
			b.WriteString(strings.NewReplacer("%i", strconv.Itoa(i), "%j", strconv.Itoa(i+1)).Replace(row))
		}
		return b.String()
	}
	aliases := func(form string) string {
		ten := strings.TrimSuffix(strings.Repeat("*x%i,", 10), ",")
		return many("x0: &x0 {command: ls}\n", strings.ReplaceAll(form, "TEN", ten), 12) + "services: *x12\n"
	}
	for name, row := range map[string]struct {
		file, text string
		whole      bool
	}{
		"makefile":             {"Makefile", many("", "r%i: r%j\n\tls\n", 40_000), false},
		"packages":             {"package.json", many(`{"scripts": {"a": "ls"`, `,"s%i": "ls"`, 50_000) + "}}", false},
		"services":             {"docker-compose.yml", many("services:\n", "  s%i:\n    command: ls\n", 30_000), false},
		"CMake":                {"CMakeLists.txt", many("", "add_custom_command(OUTPUT a COMMAND ls)\n", 25_000), false},
		"aliases":              {"docker-compose.yml", aliases("x%j: &x%j [TEN]\n"), false},
		"aliases of maps":      {"docker-compose.yml", aliases("x%j: &x%j {a: [TEN]}\n"), false},
		"merged aliases":       {"Taskfile.yml", aliases("x%j: &x%j {<<: [TEN]}\n"), false},
		"brackets":             {"docker-compose.yml", strings.Repeat("[", 250_000), false},
		"braces":               {"package.json", strings.Repeat("{a: ", 60_000), false},
		"lists":                {"docker-compose.yml", strings.Repeat("- ", 125_000), false},
		"keys":                 {"Taskfile.yml", strings.Repeat("? ", 125_000), false},
		"keys of a map":        {"Taskfile.yml", many("tasks:\n", "  k%i: v\n", 20_000), false},
		"keys and remarks":     {"Taskfile.yml", many("tasks:\n", "  k%i: v\n# c\n", 20_000), false},
		"keys and empty lines": {"Taskfile.yml", many("tasks:\n", "  k%i: v\n \n", 20_000), false},
		"maps of a list":       {"docker-compose.yml", many("- command: ls\n", "- x: y\n", 10_000), true},
		"documents":            {"Taskfile.yml", many("tasks: {default: ls}\n", "---\n- a\n", 20_000), false},
		"anchors":              {"docker-compose.yml", many("services:\n", "  k%i: &k%i v\n", 10_000), false},
		"as deep as it may":    {"docker-compose.yml", "{command: ls, x: " + strings.Repeat("[", 999) + strings.Repeat("]", 999) + "}", true},
		"too deep by one":      {"docker-compose.yml", "{command: ls, x: " + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + "}", false},
		"deep behind shallow":  {"docker-compose.yml", "{command: ls, x: [" + strings.Repeat("[],", 1000) + "]}", true},
		"a few aliases":        {"docker-compose.yml", "x: &x {command: ls}\nservices: {a: *x, b: {<<: *x}, c: [*x, !!str x]}\n", true},
	} {
		got := project.Default().Written("/p/"+row.file, row.text)
		if len(got) == 0 || len(got) > 200 || (got[len(got)-1].Closed == nil) != row.whole {
			t.Errorf("%s: %d commands, the last %+v", name, len(got), got[max(len(got)-1, 0):])
		}
	}
}

// TestManyCopiesAreFollowed copies more files into an image than the commands that are read
// of one file, and runs the last copy. An endless list is reported.
func TestManyCopiesAreFollowed(t *testing.T) {
	t.Parallel()
	var copies strings.Builder
	for i := range 400 {
		fmt.Fprintf(&copies, "COPY d%d/f%d.sh /x/f%d.sh\n", i, i, i)
	}
	for run, want := range map[string]string{
		"RUN sh " + strings.Repeat("x ", 60) + "/x/f399.sh\n": "d399/f399.sh:1 sh 'docker' 'run' '--rm' 'image' 'sh' '-c' 'last'",
		"RUN " + strings.Repeat("[", 250_000) + "\n":          "Dockerfile:1 holds more than is read",
	} {
		got := tasks(t, "docker build .", files{"Dockerfile": "FROM a\n" + copies.String() + run, "d399/f399.sh": "last"})
		if !strings.Contains(got, want) {
			t.Errorf("%.40q gives %s, want %s", run, got, want)
		}
	}
}

// TestVariables prefers a variable set for a command to one that was set earlier.
func TestVariables(t *testing.T) {
	t.Parallel()
	c := shell.TaskCall{Name: "unheardof", Cwd: "/p", Files: files{"a": "a()", "b": "b()", "c": "c()"}}
	c.Assigns = []shell.Assign{{Name: "PYTHONSTARTUP", Value: shell.Text("a")}}
	c.Env = func(name string) (shell.Word, bool) {
		value, ok := map[string]string{"PYTHONSTARTUP": "b", "EDITOR": "c"}[name]
		return shell.Text(value), ok
	}
	if got, want := written(project.Default().Tasks(c)), "c:1 sh c()\na:1 python a()"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// TestTextsOfABound keeps texts up to the limit, and reports if there is more.
func TestTextsOfABound(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]string{2 << 20: "Vagrantfile:1 ruby! aaa", 2<<20 + 1: "Vagrantfile:1 holds more than is read"} {
		if got := tasks(t, "vagrant up", files{"Vagrantfile": strings.Repeat("a", size)}); !strings.HasPrefix(got, want) {
			t.Errorf("a file of %d bytes: %.200s, want %s", size, got, want)
		}
	}
}

// TestLongWordsAreNotGoneThrough names files with a word that is longer than what is looked
// at.
func TestLongWordsAreNotGoneThrough(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]string{2 << 20: "", 2<<20 + 1: "y.rb:1 holds more than is read"} {
		c := call{command: "unheardof " + strings.Repeat("a", size), files: files{"y.rb": "y()"}, changed: "y.rb"}
		if got := c.tasks(t); got != want {
			t.Errorf("a word of %d bytes: %.200s, want %s", size, got, want)
		}
	}
}

func FuzzTasks(f *testing.F) {
	f.Add("make all", "all: x\n\tls $(A)\nx:\n")
	f.Add("npm test", `{"scripts":{"test":"x"}}`)
	f.Add("git commit", "[core]\n\tfsmonitor = \"a\\\"b\"\n")
	f.Add("just a", "a:\n  {{x}}\n")
	f.Add("ant", "<project><exec executable='x'><arg line='y'/></exec></project>")
	f.Add("mvn test", "<a><executable>x</executable><arguments><argument>y</argument></arguments></a>")
	f.Add("jupyter a.ipynb", `{"cells":[{"cell_type":"code","source":["%%bash\n","x"]}]}`)
	f.Add("nox", "session.run('a', \"b\", c)\n")
	f.Add("docker build .", "RUN <<X\ny\nX\n")
	f.Add("docker compose up", "command: x\nvolumes:\n- {source: 1}\n")
	f.Add("task", "tasks:\n  default: x\n")
	f.Fuzz(func(_ *testing.T, command, text string) {
		words := strings.Fields(command)
		if len(words) == 0 {
			return
		}
		c := shell.TaskCall{Name: words[0], Cwd: "/p", Files: every(text)}
		for _, w := range words[1:] {
			c.Args = append(c.Args, shell.Text(w))
		}
		project.Default().Tasks(c)
	})
}

// every is a file system in which every file has this content.
type every string

func (every) Closed(string) *shell.ClosedError { return nil }

func (every) Below(string, int, func(string) bool) ([]string, bool) { return nil, true }

func (e every) Content(string) (string, bool) { return string(e), true }

func TestVariablesThatRunFiles(t *testing.T) {
	t.Parallel()
	r, err := project.New()
	if err != nil {
		t.Fatal(err)
	}
	f := files{"x.js": "x()", "x.sh": "x", "x.py": "x()", "sitecustomize.py": "site()"}
	for value, want := range map[string]string{
		"NODE_OPTIONS=--max-old-space-size=9 --require ./x.js": "node x()", "NODE_OPTIONS=-r=./x.js": "node x()", "NODE_OPTIONS=--no-warnings": "",
		"PAGER=./x.sh -R": "sh x", "GOFLAGS=-toolexec=./x.sh": "sh x", "PYTHONSTARTUP=x.py": "python x()", "PYTHONPATH=.": "python site()", "PAGER=less": "", "OTHER=./x.sh": "",
	} {
		name, text, _ := strings.Cut(value, "=")
		got := ""
		for _, task := range r.Tasks(shell.TaskCall{Name: "program", Cwd: "/p", Files: f, Assigns: []shell.Assign{{Name: name, Value: shell.Text(text)}}}) {
			got += task.Language + " " + task.Text
		}
		if got != want {
			t.Errorf("%s runs %q, want %q", value, got, want)
		}
	}
}
