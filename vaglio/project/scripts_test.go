package project_test

import (
	"strings"
	"testing"
)

// TestScriptsOfPackages checks which scripts a package manager's command runs.
func TestScriptsOfPackages(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`{"scripts":{`)
	for name := range strings.FieldsSeq("preinstall install postinstall prepare prepublish prepublishOnly prepack pack postpack publish version test pretest x run post-install-cmd pre-update-cmd") {
		b.WriteString(`"` + name + `":"` + name + `",`)
	}
	all := files{"package.json": strings.TrimSuffix(b.String(), ",") + "}}"}
	all["composer.json"] = all["package.json"]
	for command, want := range map[string]string{
		"npm": "", "npm -q": "", "npm nothing": "", "npm run": "", "npm run-script x": "x", "npm rum x test": "x", "npm urn x": "x", "npm x": "x",
		"npm t": "pretest test", "npm tst": "pretest test", "npm version": "version", "npm -- x": "",
		"npm publish": "prepublish prepare prepublishOnly prepack publish",
		"npm pack":    "prepublish prepare prepublishOnly prepack pack postpack",
		"yarn":        "preinstall install postinstall prepare post-install-cmd pre-update-cmd", "yarn --ignore-scripts": "",
		"npm i a": "preinstall install postinstall prepare post-install-cmd pre-update-cmd", "npm ci": "preinstall install postinstall prepare post-install-cmd pre-update-cmd",
		"npm it":                            "preinstall install postinstall prepare post-install-cmd pre-update-cmd pretest test",
		"npm install-test":                  "preinstall install postinstall prepare post-install-cmd pre-update-cmd pretest test",
		"npm install --ignore-scripts=true": "",
		"composer update":                   "preinstall install postinstall prepare post-install-cmd pre-update-cmd",
		"npm add a --ignore-scripts=false":  "preinstall install postinstall prepare post-install-cmd pre-update-cmd",
		"npm up":                            "preinstall install postinstall prepare post-install-cmd pre-update-cmd",
		"npm X=1 run x":                     "x",
		"npm exec run":                      "",
	} {
		got := strings.Join(strings.Fields(strings.ReplaceAll(strings.ReplaceAll(tasks(t, command, all), "package.json:1 sh", ""), "composer.json:1 sh", "")), " ")
		if got != want {
			t.Errorf("%s runs %s, want %s", command, got, want)
		}
	}
	picture := deciding(t)
	for _, tt := range []struct {
		command string
		files   files
		want    string
	}{
		{"npm --prefix sub test", files{"sub/package.json": `{"scripts":{"test":"x"}}`, "package.json": `{"scripts":{"test":"y"}}`}, "sub/package.json:1 sh x"},
		{"npm --prefix=test -C test test", files{"test/package.json": `{"scripts":{"test":"x"}}`}, "test/package.json:1 sh x"},
		{"npm start", files{"package.json": `{"scripts":`, "server.js": "s()"}, "package.json:1 cannot be parsed"},
		{"npm test --prefix", files{"package.json": `{"scripts":{"test":"x"}}`}, "package.json:1 sh x"},
		{"composer x", files{"composer.json": "{\"scripts\":{\n\"x\":[\"@y\", 7, \"z\"]}}"}, "composer.json:2 sh y\ncomposer.json:2 sh z"},
		{"deno task x", files{"deno.json": `{"tasks":{"x":{"command":"y","other":"z"},"w":"v"}}`}, "deno.json:1 sh y"},
		{"deno task x", files{"deno.jsonc": `{"scripts":{"x":"y"},"tasks":{"x":"z"}}`}, "deno.jsonc:1 sh y"},
		{"deno test x", files{"deno.json": `{"tasks":{"test":"y"}}`}, ""},
	} {
		picture.add(call{command: tt.command, files: tt.files})
		if got := tasks(t, tt.command, tt.files); got != tt.want {
			t.Errorf("%s of %q:\n got %s\nwant %s", tt.command, tt.files, got, tt.want)
		}
	}
}

func TestTaskfilesAndJustfiles(t *testing.T) {
	t.Parallel()
	picture := deciding(t)
	for _, tt := range []struct {
		command string
		files   files
		want    string
	}{
		{"task", files{"Taskfile.yml": "tasks:\n  default: ls\n  b: id\n"}, "Taskfile.yml:2 sh ls"},
		{"task b", files{"Taskfile.yaml": "tasks:\n  a: {cmds: [ls, {task: b}]}\n  b:\n    cmd: id\n    cmds: [{task: a}]\n    status: [x]\n    preconditions: [{sh: y, msg: no}]\n    desc: no\n"}, "Taskfile.yaml:3 sh id\nTaskfile.yaml:2 sh ls\nTaskfile.yaml:3 sh x\nTaskfile.yaml:3 sh y"},
		{"task b", files{"Taskfile.yml": "tasks: {b: {deps: [c, {task: d}], cmds: [{defer: x}, 7]}, c: ls, d: id}"}, "Taskfile.yml:1 sh ls\nTaskfile.yml:1 sh id\nTaskfile.yml:1 sh x"},
		{"task b c", files{"Taskfile.yml": "tasks:\n  b: [x, y]\n  c: z\n"}, "Taskfile.yml:2 sh x\nTaskfile.yml:2 sh y\nTaskfile.yml:3 sh z"},
		{"task d", files{"Taskfile.yml": "tasks:\n  b: x\n"}, ""},
		{"task o:b p:c", files{"Taskfile.yml": "includes: {o: ./x/t.yml, p: {taskfile: y}}", "x/t.yml": "tasks:\n  b: ls\n  d: no\n", "y/Taskfile.yml": "tasks:\n  c: id\n"}, "x/t.yml:2 sh ls\ny/Taskfile.yml:2 sh id"},
		{"task b", files{"Taskfile.yml": "tasks: ["}, "Taskfile.yml:1 cannot be parsed"},
		{"task b:c", files{"Taskfile.yml": "includes: {a: ./x.yml, b: ./x.yml}", "x.yml": "tasks:\n  c: ls\n"}, "x.yml:2 sh ls"}, // one file under two names
		{"task b:c", files{"Taskfile.yml": "includes: {a: {}, b: 7}\ntasks:\n  c: ls\n"}, ""},
		{"task o:a a", files{"Taskfile.yml": "includes: {o: ./Taskfile.yml}\ntasks:\n  a: ls\n"}, "Taskfile.yml:3 sh ls"},
		{"task b", nil, ""},
		{"just -f x b", files{"x": "a:\n ls\nb:\n id", "justfile": "b:\n no"}, "x:4 sh id"},
		{"just --justfile=x", files{"x": "@a: (b)\n\t@-ls\nb:\n id"}, "x:4 sh id\nx:2 sh ls"},
		{"just a", files{"Justfile": "# a:\n[private]\nset x := y\nimport 'x'\n  no\n\na b='c': d && e\n  ls {{b}} {{ c }} {{d\n\n  id\nd:\n  d\ne: a\n  e"}, "Justfile:12 sh d\nJustfile:14 sh e\nJustfile:8 sh ls ${make_just} ${make_just} {{d\nid"},
		{"just a c", files{"justfile": "a:\n ls\nb:\n no\nc:\n id"}, "justfile:2 sh ls\njustfile:6 sh id"},
		{"just b", files{"justfile": "a:\n ls\n: x\n no"}, ""},
		{"just b", files{"justfile": "b:\n [ -d x ] && ls\n set working-directory := 'y'"}, "justfile:2 sh [ -d x ] && ls\nset working-directory := 'y'"},
		{"just", files{"justfile": ""}, ""},
		{"just --set v id b", files{"justfile": "v := 'ls'\nw := 'ps'\nb:\n {{v}}\n {{w}}\n"}, "justfile:4 sh ${make_just}\nps"},
		{"just w=id b", files{"justfile": "v := 'ls'\nw := 'ps'\nb:\n {{v}}\n {{w}}\n"}, "justfile:4 sh ls\n${make_just}"},
		{"just b", files{"justfile": "b:\n  #!/usr/bin/env python3\n  print(1)\n\n  print(2)\nc:\n ls\n #!id\n ps"}, "justfile:2 python #!/usr/bin/env python3\nprint(1)\nprint(2)"},
		{"just c", files{"justfile": "b:\n  #!/usr/bin/env python3\n  print(1)\n\n  print(2)\nc:\n ls\n #!id\n ps"}, "justfile:7 sh ls\nps"},
		{"just b", files{"justfile": "v := 'ls'\nb:\n {{if v == 'ls' { 'id' } else { 'ps' }}}\n {{replace(v, 'l', 'p')}} {{v}}"}, "justfile:3 sh ${make_just}}\n${make_just} ls"},
		{"just b", files{"justfile": "v := 'ls'\nb v:\n {{v}}\n"}, "justfile:3 sh ${make_just}"},
		{"just", nil, ""},
	} {
		picture.add(call{command: tt.command, files: tt.files})
		if got := tasks(t, tt.command, tt.files); got != tt.want {
			t.Errorf("%s of %q:\n got %s\nwant %s", tt.command, tt.files, got, tt.want)
		}
	}
}

// TestNamesOfFiles checks which files a row of the table means.
func TestNamesOfFiles(t *testing.T) {
	t.Parallel()
	const parts = "tasks:\n  test: ls -l\n  'build:x': ls -x\n  posttest: ls -p\n  more: ls -m\n"
	f := files{"a.py": "a()", "b.py": "b()", "sub/c.py": "c()", "x": "\\! ls\n", "y": "y", "z.rb": "z()", "Procfile": "web: ls\n# no: id\nx", ".github/workflows/w.yml": "run: ls", "c.tf": "c", "notes": "n"}
	picture := deciding(t)
	for _, tt := range []struct {
		call
		want string
	}{
		{call{command: "psql", input: "x y"}, "x:1 sh ls"},
		{call{command: "psql -fx"}, "x:1 sh ls"},
		{call{command: "psql -f -", files: files{"m": "\\! ls\n"}, input: "m"}, "m:1 sh ls\n/dev/stdin:1 sh ls"},
		{call{command: "psql -f -", files: files{"m": "\\! ls\n", "n": "\\! id"}, input: "m n"}, "m:1 sh ls\nn:1 sh id\n/dev/stdin:1 gets what is only known when it runs"},
		{call{command: "moon run test", files: files{"moon.yml": parts}, changed: "moon.yml"}, "moon.yml:4 sh? ls -p\nmoon.yml:2 sh? ls -l"},
		{call{command: "moon run x", files: files{"moon.yml": parts}, changed: "moon.yml"}, "moon.yml:3 sh? ls -x"},
		{call{command: "docker build -", files: files{"m": "RUN ls", "Dockerfile": "RUN id"}, input: "m"}, "/dev/stdin:1 sh 'docker' 'run' '--rm' 'image' 'sh' '-c' 'ls'"},
		{call{command: "docker-compose -f - up", files: files{"m": "services: {a: {command: ls}}"}, input: "m"}, "/dev/stdin:1 sh 'docker' 'run' '--rm' 'image' 'sh' '-c' 'ls'"},
		{call{command: "ninja", files: files{"build.ninja": "c = gcc -x\nc = ls -l\nc = ls -l\nrule cc\n  command = $c -o $out\nbuild a: cc b\n"}}, "build.ninja:1 sh? gcc -x\nbuild.ninja:2 sh? ls -l\nbuild.ninja:3 sh? ls -l\nbuild.ninja:5 sh? gcc -x ls -l -o out\nbuild.ninja:6 sh? cc b"},
		{call{command: "sqlite3 -init s", files: files{"s": ".shell ls"}}, "s:1 sh ls"},
		{call{command: "psql14 -fx"}, "x:1 sh ls"},
		{call{command: ". x", files: files{"Makefile": "all: ; ls", "package.json": `{"scripts":{"x":"ls"}}`}}, ""},
		{call{command: "make testing", files: files{"Makefile": "test: ; ls"}}, ""},
		{call{command: "psql --file=x"}, "x:1 sh ls"},
		{call{command: "psql --filex"}, ""},
		{call{command: "psql -f"}, ""},
		{call{command: "honcho start"}, "Procfile:1 sh ls"},
		{call{command: "honcho check"}, ""},
		{call{command: "act", changed: ".github/workflows/w.yml other/w.yml"}, ".github/workflows/w.yml:1 sh 'docker' 'run' '--rm' 'image' 'sh' '-c' 'ls'"},
		{call{command: "python3 -m profile -- a.py"}, ""},
		{call{command: "python3 -m profile a.py b.py"}, "a.py:1 python a()\nb.py:1 python b()"},
		{call{command: "pytest", changed: "a.py sub/c.py ../d.py"}, "a.py:1 python* a()\nsub/c.py:1 python* c()"},
		{call{command: "pytest", files: files{"pytest.ini": "[pytest]\npython_files = check_* bad[ x_*.py other_*", "check_a": "a()", "other_b": "b()", "x_c": "c()"}, changed: "check_a other_b x_c"}, "check_a:1 python a()\nother_b:1 python b()"},
		{call{command: "unheardof", files: files{"a.rb": "y()", "b.rb": "y()"}, changed: "a.rb b.rb", loaded: "a.rb b.rb"}, "a.rb:1 ruby? y()\nb.rb:1 ruby? y()"},
		{call{command: "find -exec bash", changed: "notes a.py"}, "notes:1 sh* n"},
		{call{command: "find -name *.py -exec bash", changed: "a.py"}, "a.py:1 sh* a()"},
		{call{command: "terraform plan", changed: "c.tf"}, "c.tf:1 hcl* c"},
		{call{command: "terraform show", changed: "c.tf"}, ""},
		{call{command: "unittest", files: files{"conftest.py": "c()"}}, "conftest.py:1 python! c()"},
		{call{command: "python3 a.py", files: files{"a.py": "import d", "lib/d.py": "d()"}, env: map[string]string{"PYTHONPATH": "no:/p/lib:"}}, "lib/d.py:1 python+ d()"},
		{call{command: "python3 sub/a.py", files: files{"sub/a.py": "import p.b", "sub/p/b.py": "import c", "sub/c.py": "c()"}}, "sub/p/b.py:1 python+ import c\nsub/c.py:1 python+ c()"},
		{call{command: "python3 -c import␣d", files: files{"d.py": "d()", "a.py": "import b"}}, "d.py:1 python+ d()"},
		{call{command: "perl -MA::B x.pl", files: files{"A/B.pm": "b()", "x.pl": "use C", "C.pm": "c()"}}, "A/B.pm:1 perl b()\nC.pm:1 perl+ c()"},
		{call{command: "perl -Ilib x.pl", files: files{"lib/C.pm": "use D", "x.pl": "use C", "D.pm": "no"}}, "lib/C.pm:1 perl+ use D"},
		{call{command: "ruby -Ilib -rd -e 1", files: files{"lib/d.rb": "d()"}}, "lib/d.rb:1 ruby d()"},
		{call{command: "tmux source-file␣x.conf", files: files{"x.conf": "# x\nls -l"}}, "x.conf:2 sh* ls -l"},
		{call{command: "lua -l d", files: files{"d.lua": "d()"}}, "d.lua:1 lua d()"},
		{call{command: "node -r ./d", files: files{"d": "d()"}}, "d:1 node d()"},
		{call{command: "unheardof", files: files{"site/sitecustomize.py": "s()"}, env: map[string]string{"PYTHONPATH": "site"}}, "site/sitecustomize.py:1 python s()"},
	} {
		if tt.files == nil {
			tt.files = f
		}
		picture.add(tt.call)
		if got := tt.tasks(t); got != tt.want {
			t.Errorf("%s, %s%s:\n got %s\nwant %s", tt.command, tt.changed, tt.input, got, tt.want)
		}
	}
}
