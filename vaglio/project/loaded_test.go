package project_test

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio/project"
	"github.com/metnos/vaglio/vaglio/shell"
)

// TestWhatTheSessionWroteIsLoaded checks which of the session's files a command may run in
// addition to those in the rows.
func TestWhatTheSessionWroteIsLoaded(t *testing.T) {
	t.Parallel()
	code := files{"x.py": "x()", "x.cfg": "a = 1\nrun = ls -l\n", "d/y.cfg": "ls -l", "y.rb": "y()", "z": "#!/usr/bin/env node\nz()", "notes.md": "ls -l", "deep/x.py": "x()"}
	for name, tt := range map[string]struct {
		call
		want string
	}{
		"not of the session":          {call{command: "unheardof x.rb", files: code}, ""},
		"named":                       {call{command: "unheardof y.rb", changed: "y.rb"}, "y.rb:1 ruby? y()"},
		"named as an option's value":  {call{command: "unheardof --run=./y.rb", changed: "y.rb"}, "y.rb:1 ruby? y()"},
		"named among others":          {call{command: "unheardof a,y.rb:b", changed: "y.rb"}, "y.rb:1 ruby? y()"},
		"named without its ending":    {call{command: "unheardof -p y", changed: "y.rb"}, "y.rb:1 ruby? y()"},
		"named as a module":           {call{command: "unheardof -p deep.y", changed: "deep/y.rb"}, "deep/y.rb:1 ruby? y()"},
		"not named":                   {call{command: "unheardof w", changed: "y.rb"}, ""},
		"by its first line":           {call{command: "unheardof z", changed: "z"}, "z:1 node? #!/usr/bin/env node\nz()"},
		"prose":                       {call{command: "unheardof notes.md", changed: "notes.md"}, ""},
		"settings beside":             {call{command: "unheardof", changed: "x.cfg"}, "x.cfg:2 sh? ls -l"},
		"settings in a folder":        {call{command: "unheardof d", changed: "d/y.cfg"}, "d/y.cfg:1 sh? ls -l"},
		"settings in another":         {call{command: "unheardof", changed: "d/y.cfg"}, ""},
		"in a hidden folder":          {call{command: "unheardof", changed: ".d/y.cfg"}, ".d/y.cfg:1 sh? ls -l"},
		"hidden, deeper":              {call{command: "unheardof", changed: ".d/e/y.cfg"}, ""},
		"settings that are code":      {call{command: "unheardof", changed: ".y.rb"}, ".y.rb:1 ruby? y()"},
		"code called settings":        {call{command: "unheardof", changed: "y.conf.rb"}, "y.conf.rb:1 ruby? y()"},
		"words of a tool in settings": {call{command: "unheardof", changed: "w.conf.rb"}, "w.conf.rb:1 ruby? x 'ls -l'\nw.conf.rb:1 sh? ls -l"},
		"named after no tool":         {call{command: "unheardof profile.rb", changed: "profile.rb"}, "profile.rb:1 ruby? x 'ls -l'"},
		"a contraction in settings":   {call{command: "unheardof", changed: "t.conf.rb"}, "t.conf.rb:1 ruby? # a profile that doesn't exist.\nx r'ls -l'\nt.conf.rb:2 sh? ls -l"},
		"words of a tool in code":     {call{command: "unheardof w.rb", changed: "w.rb"}, "w.rb:1 ruby? x 'ls -l'"},
		"of a program with a row":     {call{command: "unheardof", changed: "Rakefile"}, ""},
		"named by settings":           {call{command: "unheardof", changed: "a.cfg y.rb"}, "y.rb:1 ruby? y()"},
		"named by settings in code":   {call{command: "unheardof", changed: "s.conf.rb y.rb"}, "s.conf.rb:1 ruby? setup = 'y.rb'\ny.rb:1 ruby? y()"},
		"settings that name settings": {call{command: "unheardof", changed: "b.cfg d/y.cfg"}, "d/y.cfg:1 sh? ls -l"},
		"code names nothing":          {call{command: "unheardof c.rb", changed: "c.rb y.rb"}, "c.rb:1 ruby? load 'y.rb'"},
		"in a variable":               {call{command: "unheardof", changed: "y.rb", env: map[string]string{"X": "y.rb"}}, ""},
		"what a linter works on":      {call{command: "eslint y.rb", changed: "y.rb"}, ""},
		"what a linter is set by":     {call{command: "eslint -c y.rb x", changed: "y.rb"}, "y.rb:1 ruby? y()"},
		"settings of a linter":        {call{command: "eslint", changed: "x.cfg"}, "x.cfg:2 sh? ls -l"},
		"operands that are written":   {call{command: "cp y.rb z", changed: "y.rb"}, ""},
		"carried and taken in":        {call{command: "unheardof -e load␣'y.rb'", changed: "y.rb", carries: true}, "y.rb:1 ruby? y()"},
		"carried and set":             {call{command: "unheardof --run=y.rb", changed: "y.rb", carries: true}, "y.rb:1 ruby? y()"},
		"carried":                     {call{command: "unheardof y.rb", changed: "y.rb", carries: true}, ""},
		"carried, beside settings":    {call{command: "unheardof", changed: "x.cfg", carries: true}, ""},
		"a package's command":         {call{command: "unheardof", changed: "node_modules/.bin/unheardof"}, "node_modules/.bin/unheardof:1 node? #!/usr/bin/env node\nz()"},
		"composer's command":          {call{command: "unheardof", changed: "vendor/bin/unheardof"}, "vendor/bin/unheardof:1 node? #!/usr/bin/env node\nz()"},
		"another package's command":   {call{command: "unheardof", changed: "node_modules/.bin/other"}, ""},
		"another folder's command":    {call{command: "unheardof", changed: "lib/bin/unheardof"}, ""},
		"a folder's neighbour":        {call{command: "unheardof a,", changed: "../p.rb", files: files{"/p.rb": "y()"}}, ""},
		"named by what was read":      {call{command: "make -f x.mk", changed: "x.mk y.rb", files: files{"x.mk": "a:\n\techo y.rb\n", "y.rb": "y()"}}, "x.mk:2 sh echo y.rb"},
		"named in a row's file":       {call{command: "just -f Justfile", changed: "Justfile y.rb", files: files{"Justfile": "use y.rb", "y.rb": "y()"}}, ""},
		"looked at already":           {call{command: "ruby y.rb", changed: "y.rb", files: code}, ""},
	} {
		if tt.files == nil {
			tt.files = files{}
			for name := range strings.FieldsSeq(tt.changed) {
				base := name[strings.LastIndexByte(name, '/')+1:]
				tt.files[name] = map[string]string{
					"x.cfg": "a = 1\nrun = ls -l\n", "y.cfg": "ls -l", "y.rb": "y()", ".y.rb": "y()", "y.conf.rb": "y()", "z": code["z"], "unheardof": code["z"], "other": code["z"],
					"notes.md": "ls -l", "Rakefile": "ls -l", "a.cfg": "use: y.rb", "b.cfg": "use d/y.cfg", "c.rb": "load 'y.rb'", "w.conf.rb": "x 'ls -l'", "s.conf.rb": "setup = 'y.rb'", "w.rb": "x 'ls -l'",
					"profile.rb": "x 'ls -l'", "t.conf.rb": "# a profile that doesn't exist.\nx r'ls -l'",
				}[base]
			}
		}
		if got := tt.tasks(t); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
		}
	}
}

// TestWhatWouldBeAskedAboutIsFound takes loaded files that a program may find without being
// told their names.
func TestWhatWouldBeAskedAboutIsFound(t *testing.T) {
	t.Parallel()
	f := files{
		"a.rb": "y()", "deep/a.rb": "y()", "/o/a.rb": "y()", "notes.md": "ls -l", "x.sh": "ls -l", "sub/x.sh": "ls -l", "sub/deep/x.sh": "ls -l", "conf.yaml": "run: ls -l",
		"Makefile": "all: ; id\nbuild:\n\tls -l\n", "sub/Makefile": "all: ; id\nbuild:\n\tps -e\n", "sub/justfile": "build:\n  ps -e\n", "justfile": "all:\n  id\nbuild:\n  ls -l\n",
		"Taskfile.yml": "tasks:\n  default: id\n  build: ls -l\n", "package.json": "{\"scripts\":{\"build\":\"ls -l\"},\n\"x\":{\"exec\":\"ps -e\"}}",
		"y.js": "x()", "in.js": "require(x)", "manage.py": "x()", "Dockerfile": "RUN ls -l\n", "pom.xml": "<a>ls -l</a>", "CMakeLists.txt": "execute_process(COMMAND ls -l)", "conftest.py": "run('ls -l')",
		"other/package.json": `{"x":{"exec":"ps -e"}`, "bare": "ls -l", "own.cfg": "unheardof: /sub/*.x", "others.cfg": "other: sub", "sub/test/t.bats": "ls -l", "/o/test/t.bats": "ls -l",
	}
	picture := deciding(t)
	for _, tt := range []struct{ command, changed, loaded, want string }{
		{"unheardof", "a.rb", "a.rb", "a.rb:1 ruby? y()"},
		{"unheardof", "a.rb", "b.rb", ""},
		{"unheardof", "a.rb", "", ""},
		{"unheardof", "a.rb deep/a.rb", "deep/a.rb", "deep/a.rb:1 ruby? y()"},
		{"unheardof", "/o/a.rb", "/o/a.rb", ""},
		{"unheardof", "notes.md", "notes.md", ""},
		{"unheardof", "conf.yaml", "conf.yaml", "conf.yaml:1 sh? ls -l"},
		{"ls", "a.rb", "a.rb", ""},
		{"unheardof build", "Makefile a.rb", "a.rb", "Makefile:3 sh? ls -l\na.rb:1 ruby? y()"}, // the task may run a.rb
		{"cp a b", "a.rb", "a.rb", ""},
		{"eslint x", "a.rb", "a.rb", ""},
		{"make build", "a.rb", "a.rb", "Makefile:3 sh ls -l"}, // what ls may run is found with it
		// scripts, where they or their folders are named
		{"unheardof", "x.sh", "x.sh", ""},
		{"unheardof x.sh", "x.sh", "x.sh", "x.sh:1 sh? ls -l"},
		{"unheardof x.sh", "sub/x.sh", "sub/x.sh", ""},
		{"unheardof sub", "sub/x.sh", "sub/x.sh", "sub/x.sh:1 sh? ls -l"},
		{"unheardof sub", "sub/deep/x.sh", "sub/deep/x.sh", "sub/deep/x.sh:1 sh? ls -l"},
		{"unheardof sub", "sub/x.sh", "a.rb", ""},
		{"unheardof --in=sub", "sub/x.sh", "sub/x.sh", ""},
		{"unheardof .", "x.sh", "x.sh", ""},
		{"unheardof /", "x.sh", "x.sh", ""},
		// tasks, by their names
		{"unheardof build", "Makefile", "Makefile", "Makefile:3 sh? ls -l"},
		{"unheardof build", "sub/Makefile", "sub/Makefile", "sub/Makefile:3 sh? ps -e"},
		{"unheardof build", "Makefile sub/Makefile", "Makefile sub/Makefile", "Makefile:3 sh? ls -l\nsub/Makefile:3 sh? ps -e"},
		{"unheardof build", "justfile sub/justfile", "justfile sub/justfile", "justfile:4 sh? ls -l\nsub/justfile:2 sh? ps -e"},
		{"unheardof build", "justfile", "justfile", "justfile:4 sh? ls -l"},
		{"unheardof a:build", "justfile", "justfile", "justfile:4 sh? ls -l"},
		{"unheardof build", "Taskfile.yml", "Taskfile.yml", "Taskfile.yml:3 sh? ls -l"},
		{"unheardof build", "package.json", "package.json", "package.json:1 sh? ls -l\npackage.json:2 sh? ps -e\npackage.json:2 sh? exec ps -e"},
		{"unheardof test", "package.json", "package.json", "package.json:2 sh? ps -e\npackage.json:2 sh? exec ps -e"},
		{"unheardof build", "Makefile deep/a.rb", "Makefile deep/a.rb", "Makefile:3 sh? ls -l\ndeep/a.rb:1 ruby? y()"},
		// files whose own tools find everything in them
		{"unheardof Docker", "Dockerfile", "Dockerfile", ""},
		{"unheardof", "pom.xml", "pom.xml", ""},
		{"unheardof", "CMakeLists.txt", "CMakeLists.txt", ""},
		// files that were read already, and files that cannot be read
		{"pytest", "conftest.py", "conftest.py", "conftest.py:1 python! run('ls -l')\nconftest.py:1 sh? ls -l"},
		{"pytest", "conftest.py", "a.rb", "conftest.py:1 python! run('ls -l')"},
		{"make -f gone", "gone", "gone", "gone:1 was changed in this session, and cannot be read"},
		{"make -f gone", "gone", "a.rb", ""},
		{"unheardof build", "other/package.json", "other/package.json", ""}, // it is no JSON
		// folders that the program's own settings name
		{"unheardof", "own.cfg sub/x.sh", "sub/x.sh", "sub/x.sh:1 sh? ls -l"},
		{"unheardof-x", "own.cfg sub/x.sh", "sub/x.sh", "sub/x.sh:1 sh? ls -l"},
		{"unheardof", "others.cfg sub/x.sh", "sub/x.sh", ""},
		{"un", "own.cfg sub/x.sh", "sub/x.sh", ""},
		// of several files that a runner finds, those with its endings
		{"find . -name x -exec sh {}", "bare x.sh", "", "bare:1 sh* ls -l\nx.sh:1 sh* ls -l"},
		{"jest", "bare x.sh a.rb", "", "bare:1 sh? ls -l"},
		{"shunit2", "sub/test/t.bats /o/test/t.bats x.sh", "", "sub/test/t.bats:1 sh* ls -l"},
	} {
		c := call{command: tt.command, files: f, changed: tt.changed, loaded: tt.loaded}
		picture.add(c)
		if got := c.tasks(t); got != tt.want {
			t.Errorf("%s, with %s written and %s to be asked about:\n got %s\nwant %s", tt.command, tt.changed, tt.loaded, got, tt.want)
		}
	}
	for command, want := range map[string]string{
		"bun y.js": "y.js:1 node x()", "unheardof gone.py": "a.rb:1 ruby? y()",
		// the file that it runs decides: by its name, or by what it takes in
		"bun in.js":                "in.js:1 node require(x)\na.rb:1 ruby? y()",
		"locust -f manage.py test": "manage.py:1 python x()\na.rb:1 ruby? y()",
	} {
		c := call{command: command, files: f, changed: "a.rb", loaded: "a.rb", carries: true}
		if got := c.tasks(t); got != want {
			t.Errorf("%s, which carries its program:\n got %s\nwant %s", command, got, want)
		}
	}
}

// TestCommandsInTexts finds what may be a command in a line of unknown form.
func TestCommandsInTexts(t *testing.T) {
	t.Parallel()
	longest := "./" + strings.Repeat("a", 4094)
	for line, want := range map[string]string{
		longest + " -l":     longest + " -l",
		longest + "a -l":    "",
		"ls -l":             "ls -l",
		"ls":                "",
		"./x":               "./x",
		"run ls -l":         "ls -l",
		"zz run ls -l":      "ls -l",
		"zz yy ls -l":       "",
		"zz run: ls -l":     "ls -l",
		"a=ls b":            "ls b",
		"cmd = 'ls -l' x":   "ls -l",
		"f(ls -l), ":        "ls -l",
		"f[ls -l] more":     "ls -l] more",
		"{ls -l};":          "ls -l",
		"<ls -l>":           "ls -l",
		"x|ls -l":           "ls -l",
		"x;ls -l":           "ls -l",
		"x,ls -l":           "ls -l",
		"x&ls -l":           "ls -l",
		"x-ls -l":           "ls -l",
		"x@ls -l":           "ls -l",
		"x!ls -l":           "ls -l",
		"x>ls -l":           "ls -l",
		`x\ls -l`:           "ls -l",
		"x`ls -l` y":        "ls -l",
		"x`ls -l y":         "ls -l y",
		"x.ls -l":           "",
		"zz pizza'll exist": "",
		"zz PIZZA'LL exist": "",
		"zz ab'll exist":    "",
		"zz b'll exist":     "ll exist",
		"/bin/ls -l":        "/bin/ls -l",
		`["ls", "-l"]`:      `'ls' '-l'`,
		`["-l", "ls"]`:      "",
		`["ls"]`:            "",
		`x: 'ls' '-l' "b"`:  `'ls' '-l' 'b'`,
		`"@a/ls": "^1.6.1"`: "",
		`"ls": "1.6.1"`:     "",
		`"ls": "latest"`:    "",
		`"ls": "-l"`:        ":|'ls' '-l'",
		`"ls": "1"`:         ":|'ls' '1'",
		`["ls", "1.6.1"]`:   "x.gp:2 sh*= 'ls' '1.6.1'",
		"ls -l \t ":         "ls -l",
		"#ls -l":            "",
		`"exec ls -l" x`:    "exec ls -l|ls -l",
		`"exec ls (-l" x)`:  "exec ls (-l|ls (-l",
		"A=1 ls -l":         "ls -l",
		`x "A=1 ls -l" y`:   "A=1 ls -l",
		`x "A=1 B ls -l" y`: "",
	} {
		var got []string
		for row := range strings.SplitSeq((call{command: "gnuplot x.gp", files: files{"x.gp": "\n" + line}}).tasks(t), "\n") {
			got = append(got, strings.TrimPrefix(row, "x.gp:2 sh* "))
		}
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("%q: %q, want %q", line, s, want)
		}
	}
}

// TestWhatAFileRunsOnceItIsWritten takes everything that a file may run, judging by its name
// or its first line.
func TestWhatAFileRunsOnceItIsWritten(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ file, text, want string }{
		"a script":                {"/p/x", "#!/bin/sh\nls", "x:1 sh #!/bin/sh\nls"},
		"a makefile":              {"/p/Makefile", "a: ; ls\nb: ; id", "Makefile:1 sh ls\nMakefile:2 sh id"},
		"a package":               {"/p/package.json", `{"scripts":{"b":"id","a":"ls"}}`, "package.json:1 sh ls\npackage.json:1 sh id"},
		"a justfile":              {"/p/justfile", "a:\n  ls\nb:\n  id", "justfile:2 sh ls\njustfile:4 sh id"},
		"a Taskfile":              {"/p/Taskfile.yml", "tasks:\n  a: ls\n  b: id", "Taskfile.yml:2 sh ls\nTaskfile.yml:3 sh id"},
		"a hook":                  {"/p/.git/hooks/pre-push", "ls", ""},
		"by its ending":           {"/p/x.sh", "ls", "x.sh:1 sh ls"},
		"a workflow":              {"/p/.github/workflows/x.yml", "run: ls", ""},
		"text that may be some":   {"/p/x.gp", "ls -l", ""},
		"none":                    {"/p/README.md", "ls -l", ""},
		"an ending without a dot": {"/p/fresh", "ls -l", ""},
		"settings":                {"/p/.npmrc", "script-shell=./x", ".npmrc:1 sh ./x"},
	} {
		if got := written(project.Default().Written(row.file, row.text)); got != row.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, row.want)
		}
	}
}

// TestWhatAFileMayRunOnceItIsLoaded takes everything in a file that may run, once: what its
// form says, the file as a program, and what may be commands.
func TestWhatAFileMayRunOnceItIsLoaded(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ file, text, want string }{
		"prose":         {"/p/README.md", "ls -l", ""},
		"a script":      {"/p/x.sh", "ls -l", "x.sh:1 sh ls -l"},
		"a program":     {"/p/x", "#!/usr/bin/env ruby\nx 'ls -l'", "x:1 ruby #!/usr/bin/env ruby\nx 'ls -l'"},
		"unknown":       {"/p/x", "a\nls -l", "x:2 sh? ls -l"},
		"two languages": {"/p/x.py", "#!/usr/bin/env ruby\nx()", "x.py:1 ruby #!/usr/bin/env ruby\nx()"},
		"settings":      {"/p/.npmrc", "script-shell=./x", ".npmrc:1 sh ./x\n.npmrc:1 sh? ./x"},
	} {
		if got := written(project.Default().Loaded(row.file, row.text)); got != row.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, row.want)
		}
	}
}

// TestPlainFiles tells of whose names nothing is known. What they may run does not depend on
// the name.
func TestPlainFiles(t *testing.T) {
	t.Parallel()
	r := project.Default()
	text := "#a\nls -l\nx: 'id' 'b'\n"
	want := strings.ReplaceAll(written(r.Loaded("/p/plain", text)), "plain:", "")
	for name, plain := range map[string]bool{
		"plain": true, "a.b": true, "file.x": true, "xfile": true, "lsfile.x": false, "Makefile": false, "x.py": false, "x.sh": false, "README.md": false, ".x": false, "x.conf": false,
		"setup.x": false, "package.json": false, ".github/workflows/x.yml": false, "scripts/x": false,
	} {
		if got := r.IsPlain("/p/" + name); got != plain {
			t.Errorf("%s: %t", name, got)
		}
		if got := strings.ReplaceAll(written(r.Loaded("/p/"+name, text)), name+":", ""); plain && got != want {
			t.Errorf("%s may run %s, want %s", name, got, want)
		}
	}
}

// TestAlike tells which files of a folder may run the same, whatever they are named.
func TestAlike(t *testing.T) {
	t.Parallel()
	r := project.Default()
	text := "import os\nos.system('id')\nls -l\n"
	for file, want := range map[string]string{
		"/p/plain": "/p/-", "/p/x.py": "/p/-.py", "/p/sub/x.py": "/p/sub/-.py", "/p/x.ts": "/p/-.ts", "/p/a.b.py": "/p/-.py", "/p/Makefile": "/p/Makefile",
		"/p/noxfile.py": "/p/noxfile.py", "/p/gulpfile.js": "/p/gulpfile.js", "/p/vite.config.ts": "/p/vite.config.ts", "/p/package.json": "/p/package.json",
		"/p/conftest.py": "/p/conftest.py", "/p/.github/workflows/x.yml": "/p/.github/workflows/-.yml", "": "",
	} {
		got := r.Alike(file)
		if got != want {
			t.Errorf("%s is like %s, want %s", file, got, want)
		}
		one, other := written(r.Loaded(file, text)), written(r.Loaded(got, text))
		if file != "" && strings.ReplaceAll(one, path.Base(file), "-") != strings.ReplaceAll(other, path.Base(got), "-") {
			t.Errorf("%s may run %s, and %s may run %s", file, one, got, other)
		}
	}
}

// TestTellingLines leaves out of a text the lines in which nothing is found: the rest is
// found alike.
func TestTellingLines(t *testing.T) {
	t.Parallel()
	r := project.Default()
	found := func(text string) (all []string) {
		for _, task := range r.Loaded("/-", text) {
			all = append(all, task.Text)
		}
		return all
	}
	for text, want := range map[string]string{
		"":                                 "",
		"a\nb":                             "",
		"a\nls -l\nb\nid x\n":              "\nls -l\nid x",
		"#!/bin/sh\na":                     "#!/bin/sh\na",
		"a\nls \\\n-l":                     "a\nls \\\n-l",
		"a\n\tls -l":                       "a\n\tls -l",
		"a\r\nls -l":                       "a\r\nls -l",
		"a" + strings.Repeat(" ", 2<<20-1): "",
		"a" + strings.Repeat(" ", 2<<20):   "a" + strings.Repeat(" ", 2<<20),
	} {
		if got := r.Telling(text); got != want {
			t.Errorf("of %.40q: %.40q, want %.40q", text, got, want)
		}
	}
	for n := 195; n < 205; n++ {
		text := "a\n" + strings.Repeat("ls -l\n", n)
		told := r.Telling(text)
		if got, want := found(told), found(text); !slices.Equal(got, want) {
			t.Errorf("of %d commands %d are told, want %d", n, len(got), len(want))
		}
		if whole := told == text; whole != (n >= 199) {
			t.Errorf("of %d commands the text is told whole: %t", n, whole)
		}
	}
}

// TestWhatIsNamedIsNotFound tells programs that the words name from what was only found.
func TestWhatIsNamedIsNotFound(t *testing.T) {
	t.Parallel()
	f := files{"y.rb": "y()", "y.go": "y()", "y.zz": "y()", "y.cfg": "ls -l", "y.unknown": "#!/usr/bin/env node\ny()"}
	for command, want := range map[string]map[string]bool{
		"unheardof y.rb": {"ruby": false}, "unheardof y.zz": {"": true}, "unheardof y.cfg": {"sh": true, "": true}, "unheardof y.unknown": {"node": false}, "unheardof y.go": {"go": false},
	} {
		c := shell.TaskCall{Name: "unheardof", Cwd: "/p", Files: f}
		for _, w := range strings.Fields(command)[1:] {
			c.Args, c.Changed = append(c.Args, shell.Text(w)), append(c.Changed, "/p/"+w)
		}
		got := map[string]bool{}
		for _, task := range project.Default().Tasks(c) {
			got[task.Language] = task.Found
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", command, got, want)
		}
	}
}

// TestSearchedOnce finds the same in a file however often it is looked for, by whatever names it, and wherever it lies; and whether or not all of it fits.
func TestSearchedOnce(t *testing.T) {
	t.Parallel()
	r, err := project.New()
	if err != nil {
		t.Fatal(err)
	}
	text := "void f() {\n  system(\"git push --force\");\n}\n"
	found := func(text string, words ...string) string {
		c := shell.TaskCall{Name: "unheardof", Cwd: "/p", Files: every(text), Changed: []string{"/p/y.c", "/p/sub/y.c"}}
		for _, w := range words {
			c.Args = append(c.Args, shell.Text(w))
		}
		var all strings.Builder
		for _, task := range r.Tasks(c) {
			fmt.Fprintf(&all, "%s:%d %s %t %t %s\n", task.File, task.Line, task.Dir, task.Found, task.Guess, task.Text)
		}
		return all.String()
	}
	for _, words := range [][]string{{"y.c"}, {"sub/y.c"}, {"y.c", "sub/y.c"}, nil} {
		first := found(text, words...)
		if again := found(text, words...); again != first || len(words) > 0 && !strings.Contains(first, "git push --force") {
			t.Errorf("%v: first\n%sthen\n%s", words, first, again)
		}
	}
	long := text + strings.Repeat("int x; system(\"ls -l\");\n", 400)
	first := found(long, "y.c", "sub/y.c")
	if again := found(long, "y.c", "sub/y.c"); again != first || strings.Count(first, "\n") < 199 {
		t.Errorf("of too much %d are found, then %d", strings.Count(first, "\n"), strings.Count(again, "\n"))
	}
}

// TestCallsInPrograms finds what calls run in programs of which only the standard library, or
// nothing, is known.
func TestCallsInPrograms(t *testing.T) {
	t.Parallel()
	picture := deciding(t)
	for _, row := range []struct{ text, want string }{
		{`run("ls -l")`, "ls -l"},
		{`x.exec ["ls", "-l"]`, "'ls' '-l'"},
		{`let p = doRun('ls -l', a)`, "ls -l"},
		{`runner = ls -l`, ""},
		{`Process("ls", "-l")`, "'ls' '-l'"},
		{`Process.start("ls", ["-l"])`, "'ls' '-l'"},
		{`sh"ls -l"`, "ls -l"},
		{"cmd = `ls -l`", "ls -l"},
		{`trunk("ls -l")`, ""},
		{`let w = ["ls", "-l"]`, "'ls' '-l'"},
		{`let w = ["x", "-l"]`, ""},
		{`let w = {"ls", "ls", "-l -a"}`, "ls -l -a"},
		{`f("ls", "-l")`, ""},
		{`p.launchPath = "/bin/ls"`, ""},
		{"p.launchPath = \"/bin/ls\"\np.arguments = [\"-l\", \"a b\"]", `'ls' "-l" "a b"`},
		{"executable: 'ls'\nargs = '-l -a'", "'ls' -l -a"},
		{"p.arguments = [\"-l\"]", ""},
		{"FileName = \"ls\"\nx\nArgumentList: \"-l\"", "'ls' -l"},
	} {
		picture.loaded("/p/x.swift", row.text)
		var got []string
		for _, task := range project.Default().Loaded("/p/x.swift", row.text) {
			if task.Language == "sh" {
				got = append(got, strings.TrimSpace(task.Text))
			}
		}
		if s := strings.Join(got, "|"); s != row.want {
			t.Errorf("%s:\n got %s\nwant %s", row.text, s, row.want)
		}
	}
}

// TestAssignedFiles takes a file that a variable names which is set for the command.
func TestAssignedFiles(t *testing.T) {
	t.Parallel()
	c := shell.TaskCall{
		Name: "unheardof", Cwd: "/p", Files: files{"y.rb": "y()"}, Changed: []string{"/p/y.rb"}, Assigns: []shell.Assign{{Name: "X", Value: shell.Text("a:y.rb")}},
	}
	if got, want := written(project.Default().Tasks(c)), "y.rb:1 ruby? y()"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
