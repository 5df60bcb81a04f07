package reading_test

import (
	"bufio"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio/reading"
)

const (
	home = "/home/user"
	cwd  = "/home/user/app"
)

// row is one call and what must be read of it: commands as "language at text", with a question
// mark before doubtful ones, and the places of gaps.
type row struct {
	Executor     string         `json:"executor"`
	Args         map[string]any `json:"args"`
	Capabilities []string       `json:"capabilities,omitempty"`
	Shell        bool           `json:"shell,omitzero"`
	Schema       any            `json:"schema,omitempty"`
	Read         []string       `json:"read"`
	Gaps         []string       `json:"gaps,omitempty"`
}

func (r row) call() reading.Call {
	return reading.Call{Executor: r.Executor, Args: r.Args, Cwd: cwd, Capabilities: r.Capabilities, Shell: r.Shell, Schema: r.Schema}
}

func rows(t testing.TB) []row {
	t.Helper()
	f, err := os.Open("testdata/rows.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var all []row
	for s := bufio.NewScanner(f); s.Scan(); {
		var r row
		if err := strictjson.UnmarshalLoose(s.Bytes(), &r); err != nil {
			t.Fatalf("%s: %v", s.Text(), err)
		}
		all = append(all, r)
	}
	if len(all) == 0 {
		t.Fatal("no rows")
	}
	return all
}

func reader() *reading.Reader { return reading.NewReader(reading.Options{Home: home}) }

// told formats a reading as the rows do.
func told(rd *reading.Reading) (read, gaps []string) {
	for _, c := range rd.Commands {
		mark := ""
		if c.Doubt {
			mark = "?"
		}
		read = append(read, mark+c.Language+" "+c.At+" "+c.Text)
	}
	for _, g := range rd.Gaps {
		gaps = append(gaps, g.At)
	}
	return read, gaps
}

func TestRead(t *testing.T) {
	r := reader()
	for _, row := range rows(t) {
		rd := r.Read(row.call())
		read, gaps := told(rd)
		for _, c := range rd.Commands {
			if c.IsLine() != (c.Language == "sh") {
				t.Errorf("%s %v: %s in %s is a line: %v", row.Executor, row.Args, c.Text, c.Language, c.IsLine())
			}
			if c.IsProgram() == slices.Contains([]string{"sh", "powershell", "patch"}, c.Language) {
				t.Errorf("%s %v: %s in %s is a program: %v", row.Executor, row.Args, c.Text, c.Language, c.IsProgram())
			}
		}
		if !slices.Equal(read, row.Read) || !slices.Equal(gaps, row.Gaps) {
			t.Errorf("%s %v: read %q, gaps %q; want %q, %q", row.Executor, row.Args, read, gaps, row.Read, row.Gaps)
		}
	}
}

// TestClaimsTakeNothingAway checks that a caller's claims can only add to what is read.
func TestClaimsTakeNothingAway(t *testing.T) {
	r := reader()
	for _, row := range rows(t) {
		c := row.call()
		plain := r.Read(c)
		for _, claim := range []string{"fs:read", "code:exec", "network:http"} {
			c.Capabilities = append(slices.Clone(row.Capabilities), claim)
			claimed := r.Read(c)
			for _, command := range plain.Commands {
				if command.Doubt {
					continue // it may now be the only reading
				}
				if !slices.ContainsFunc(claimed.Commands, func(other reading.Command) bool {
					return other.At == command.At && strings.HasSuffix(other.Text, command.Text) && !other.Doubt
				}) {
					t.Errorf("%s %v with %s: %s is no longer read", row.Executor, row.Args, claim, command.At)
				}
			}
		}
	}
}

// TestSurroundings checks where and with what a command runs.
func TestSurroundings(t *testing.T) {
	type A = map[string]any
	for name, tt := range map[string]struct {
		args A
		cwd  string
	}{
		"none":     {A{"command": "ls"}, cwd},
		"absolute": {A{"command": "ls", "cwd": "/tmp/x"}, "/tmp/x"},
		"relative": {A{"command": "ls", "workdir": "../b"}, "/home/user/b"},
		"home":     {A{"command": "ls", "working_directory": "~/b"}, "/home/user/b"},
		"variable": {A{"command": "ls", "dir": "$HOME/b"}, "/home/user/b"},
		"url":      {A{"command": "ls", "cwd": "file:///tmp/x"}, "/tmp/x"},
		"settings": {A{"command": "ls", "options": A{"cwd": "/tmp/x"}}, "/tmp/x"},
		"around":   {A{"cwd": "/tmp/x", "steps": []any{A{"command": "ls"}}}, "/tmp/x"},
	} {
		got := reader().Read(reading.Call{Executor: "Bash", Args: tt.args, Cwd: cwd}).Commands
		if len(got) != 1 || len(got[0].Script.Commands) != 1 {
			t.Errorf("%s: read %v", name, got)
			continue
		}
		if dir, _ := got[0].Script.Commands[0].Cwd.Text(); dir != tt.cwd {
			t.Errorf("%s: runs in %q, want %q", name, dir, tt.cwd)
		}
	}
	c := reader().Read(reading.Call{Executor: "Bash", Args: A{"command": "make", "env": []any{"A=b=c"}}, Cwd: cwd}).Commands[0]
	if !reflect.DeepEqual(c.Env, map[string]string{"A": "b=c"}) {
		t.Errorf("environment is %v", c.Env)
	}
}

// TestTheUsersHome checks that the user's name expands, and comes from the home if none is given.
func TestTheUsersHome(t *testing.T) {
	for name, tt := range map[string]struct {
		o    reading.Options
		want string
	}{
		"by the home": {reading.Options{Home: home}, home + "/x"},
		"by name":     {reading.Options{Home: "/srv/u", User: "user"}, "/srv/u/x"},
		"another":     {reading.Options{Home: home, User: "ann"}, ""},
		"no home":     {reading.Options{}, ""},
		"the root":    {reading.Options{Home: "/"}, ""},
		"relative":    {reading.Options{Home: "a/user"}, ""},
	} {
		rd := reading.NewReader(tt.o).Read(reading.Call{Executor: "Bash", Args: map[string]any{"command": "cat ~user/x"}, Cwd: cwd})
		if got, _ := rd.Commands[0].Script.Commands[0].Argv[1].Text(); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestNotes checks which texts are kept by the roles of their keys.
func TestNotes(t *testing.T) {
	type A = map[string]any
	rd := reader().Read(reading.Call{Executor: "mcp__x__sync", Args: A{
		"file_path": "a", "files": []any{"b", A{"path": "c"}}, "source": "d", "destination": "e", "url": "https://x.example", "to": []any{"a@b.example"},
		"query": "DELETE FROM t WHERE a = 1", "text": "no path",
	}})
	for name, tt := range map[string]struct {
		list []reading.Text
		want string
	}{
		"paths":      {rd.Paths, "destination=e file_path=a files=b files[1].path=c source=d to=a@b.example"},
		"urls":       {rd.URLs, "url=https://x.example"},
		"recipients": {rd.Recipients, "to=a@b.example"},
		"statements": {rd.Statements, "query=DELETE FROM t WHERE a = 1"},
	} {
		var got []string
		for _, n := range tt.list {
			got = append(got, n.At+"="+n.Text)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s are %q, want %q", name, got, tt.want)
		}
	}
}

// TestClients checks that what is known about a client's tool overrides the shape of a call, and
// hides nothing that the table does not mention.
func TestClients(t *testing.T) {
	r := reading.NewReader(reading.Options{Home: home, Clients: map[string]map[string]reading.Tool{"agent": {
		"Note":    {Args: map[string]reading.Role{"command": reading.RoleData, "file": reading.RolePath}},
		"Monitor": {Args: map[string]reading.Role{"watch": reading.RoleCommand}, Shell: true},
		"REPL":    {Args: map[string]reading.Role{"code": reading.RoleCode}, Language: "node"},
		"mcp__*":  {},
	}}})
	type A = map[string]any
	for _, tt := range []struct {
		client, executor string
		args             A
		want             []string
		gaps             int
	}{
		{"agent", "Note", A{"command": "rm -rf /"}, nil, 0},
		{"agent", "Note", A{"command": "ls", "cmd": "rm -rf /"}, []string{"sh cmd rm -rf /"}, 0},
		{"agent", "Note", A{"file": A{"script": "rm -rf /"}}, []string{"sh file.script rm -rf /"}, 0},
		{"agent", "Note", A{"input": "rm -rf /"}, nil, 0},
		{"agent", "Monitor", A{"input": "rm -rf /"}, []string{"sh input rm -rf /"}, 0},
		{"agent", "REPL", A{"input": "f(1)"}, []string{"node input f(1)"}, 0},
		{"agent", "note", A{"command": "rm -rf /"}, []string{"sh command rm -rf /"}, 1},
		{"", "Note", A{"command": "rm -rf /"}, []string{"sh command rm -rf /"}, 0},
		{"other", "Note", A{"command": "rm -rf /"}, []string{"sh command rm -rf /"}, 1},
		{"agent", "Monitor", A{"watch": "print(1)"}, []string{"sh watch print(1)"}, 0},
		{"agent", "REPL", A{"code": "print(1)"}, []string{"node code print(1)"}, 0},
		{"agent", "mcp__x__y", A{"command": "ls"}, []string{"sh command ls"}, 0},
	} {
		rd := r.Read(reading.Call{Client: tt.client, Executor: tt.executor, Args: tt.args})
		if read, _ := told(rd); !slices.Equal(read, tt.want) || len(rd.Gaps) != tt.gaps {
			t.Errorf("%s %s %v: read %q, gaps %v; want %q and %d", tt.client, tt.executor, tt.args, read, rd.Gaps, tt.want, tt.gaps)
		}
	}
	rd := r.Read(reading.Call{Client: "agent", Executor: "Note", Args: A{"file": "a", "command": "b"}})
	if len(rd.Paths) != 1 || rd.Paths[0].Text != "a" {
		t.Errorf("paths of Note are %v", rd.Paths)
	}
}

// TestBounds checks that nothing is silently left unread.
func TestBounds(t *testing.T) {
	type A = map[string]any
	deep := any("rm -rf /")
	for range 200 {
		deep = A{"a": deep, "command": []any{"ls"}}
	}
	if rd := reader().Read(reading.Call{Executor: "x", Args: A{"a": deep}}); len(rd.Gaps) == 0 {
		t.Error("what nests too deeply is not a gap")
	}
	endless := A{}
	endless["a"], endless["b"] = endless, []any{endless}
	if rd := reader().Read(reading.Call{Executor: "x", Args: endless}); len(rd.Gaps) == 0 || rd.Failed {
		t.Errorf("an endless map: %+v", rd)
	}
	unknown := make([]any, 100)
	for i := range unknown {
		unknown[i] = A{"language": "cobol", "code": "STOP RUN."}
	}
	if rd := reader().Read(reading.Call{Executor: "run_code", Args: A{"steps": unknown}}); len(rd.Gaps) != 64 {
		t.Errorf("%d gaps of one kind", len(rd.Gaps))
	}
	list := any("ls")
	for range 200 {
		list = []any{list}
	}
	if rd := reader().Read(reading.Call{Executor: "x", Args: A{"command": list}}); len(rd.Gaps) == 0 {
		t.Error("a list that nests too deeply is not a gap")
	}
	for depth, want := range map[int]int{128: 1, 129: 0} {
		maps, list := A{"command": "ls"}, any("ls")
		for range depth {
			maps = A{"a": maps}
		}
		for range depth + 1 {
			list = []any{list}
		}
		for name, args := range map[string]A{"maps": maps, "lists": {"command": list}} {
			if rd := reader().Read(reading.Call{Executor: "x", Args: args}); len(rd.Commands) != want || len(rd.Gaps) != 1-want {
				t.Errorf("%d %s in each other: %d commands, gaps %v", depth, name, len(rd.Commands), rd.Gaps)
			}
		}
	}
	most := make([]any, 4096)
	for i := range most {
		most[i] = A{"command": "echo x"}
	}
	if rd := reader().Read(reading.Call{Executor: "x", Args: A{"steps": most}}); len(rd.Gaps) != 0 || len(rd.Commands) != len(most) {
		t.Errorf("%d of 4096 commands: gaps %v", len(rd.Commands), rd.Gaps)
	}
	if rd := reader().Read(reading.Call{Executor: "x", Args: A{"steps": append(most, A{"command": "echo x"})}}); len(rd.Gaps) != 1 {
		t.Errorf("4097 commands: gaps %v", rd.Gaps)
	}
	few := make([]any, 64)
	for i := range few {
		few[i] = "echo x"
	}
	for _, tt := range []struct {
		list []any
		read int
	}{{few, 66}, {append(few, "echo x"), 2}} {
		if rd := reader().Read(reading.Call{Executor: "x", Args: A{"commands": tt.list}}); len(rd.Commands) != tt.read || rd.Commands[tt.read-2].Doubt != (tt.read > 2) {
			t.Errorf("%d lines are read %d times, want %d", len(tt.list), len(rd.Commands), tt.read)
		}
	}
	many := make([]any, 5000)
	for i := range many {
		many[i] = A{"command": fmt.Sprintf("echo %d", i)}
	}
	if rd := reader().Read(reading.Call{Executor: "x", Args: A{"steps": many}}); len(rd.Gaps) != 1 {
		t.Errorf("5000 commands: gaps %v", rd.Gaps)
	}
	lines := make([]any, 5000)
	for i := range lines {
		lines[i] = "echo x"
	}
	lines[4999] = "rm -rf /"
	rd := reader().Read(reading.Call{Executor: "x", Args: A{"commands": lines}})
	last := rd.Commands[0].Script.Commands
	if got := last[len(last)-1].Name; got != "rm" || rd.Commands[0].Doubt {
		t.Errorf("the last of 5000 lines is %q", got)
	}
}

// TestLinesOfValues checks which line the guard's core makes of a value.
func TestLinesOfValues(t *testing.T) {
	type name string
	for want, v := range map[string]any{
		"a": "a", "a b": []any{"a", "b"}, "c d": []string{"c", "d"}, "e": name("e"), "f g": []any{name("f"), "g"}, "": struct{}{},
	} {
		if got := reading.SeedLine(map[string]any{"cmd": v}); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
}

// TestWhatNestsAsDeepAsItMay checks that JSON in a text, lists and maps are read to the same depth
// as arguments, and that a gap says where the reading stopped.
func TestWhatNestsAsDeepAsItMay(t *testing.T) {
	type A = map[string]any
	call := `{"command":"ls"}`
	for most, values := range map[int][]any{127: {call}, 126: {`[["ls"]]`, []any{call}, []any{"ls -l", call}}} {
		for _, value := range values {
			for depth, gaps := range map[int]int{most: 0, most + 1: 1} {
				args := A{"command": value}
				for range depth {
					args = A{"a": args}
				}
				if rd := reader().Read(reading.Call{Executor: "Bash", Args: args}); len(rd.Gaps) != gaps {
					t.Errorf("%v below %d maps: %v", value, depth, rd.Gaps)
				}
			}
		}
	}
	for depth, found := range map[int]bool{128: true, 129: false} {
		list, maps := any("x"), any("x")
		for range depth {
			list, maps = []any{list}, A{"k": maps}
		}
		if slices.Contains(reading.Texts(list), "x") != found || slices.Contains(reading.Texts(maps), "x") != found {
			t.Errorf("a text below %d lists or maps is found: %v", depth, !found)
		}
	}
	for name, want := range map[string]bool{"sh": true, "python3": true, "node": true, "klingon": false, "": false} {
		if reading.IsLanguage(name) != want {
			t.Errorf("%q is a language: %v", name, !want)
		}
	}
}

// TestFoldersOfArguments checks which arguments name folders that relative paths start from.
func TestFoldersOfArguments(t *testing.T) {
	type A = map[string]any
	within := func(depth int) A {
		args := A{"cwd": "/x"}
		for range depth {
			args = A{"a": args}
		}
		return args
	}
	folders := func(n int) A {
		var list []any
		for i := range n {
			list = append(list, A{"cwd": fmt.Sprint("/x/", i)}, A{"cwd": "/x/0"})
		}
		return A{"a": list}
	}
	for name, tt := range map[string]struct {
		args A
		want int
	}{
		"none": {A{"a": "/x"}, 0}, "at the top": {within(0), 1}, "three below": {within(3), 1}, "far below": {within(20), 1}, "empty": {A{"cwd": ""}, 0},
		"eight": {folders(8), 8}, "more": {folders(9), 8},
	} {
		rd := reader().Read(reading.Call{Executor: "x", Args: tt.args})
		if len(rd.Bases) != tt.want || len(rd.Gaps) > 0 != (name == "more") {
			t.Errorf("%s: %q, %v", name, rd.Bases, rd.Gaps)
		}
	}
}

// TestWrittenByPatches checks where a patch writes what it adds.
func TestWrittenByPatches(t *testing.T) {
	for name, want := range map[string]string{"x": cwd + "/x", "/srv/x": "/srv/x"} {
		rd := reader().Read(reading.Call{Executor: "apply_patch", Cwd: cwd, Args: map[string]any{
			"input": "*** Begin Patch\n*** Add File: " + name + "\n+text\n*** End Patch",
		}})
		if got := rd.Written(); len(got) != 1 || got[0].File != want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestWrittenByArguments checks which argument names the file that receives a text.
func TestWrittenByArguments(t *testing.T) {
	type A = map[string]any
	for name, tt := range map[string]struct {
		args A
		want string
	}{
		"path":     {A{"author": "ann", "content": "text", "path": "/w/x.sh"}, "/w/x.sh"},
		"relative": {A{"content": "text", "file_path": "x.sh"}, cwd + "/x.sh"},
		"decoy":    {A{"content": "text", "file_path": "/w/a.md", "path": "/w/x.sh"}, "/w/a.md/w/x.sh"},
		"below":    {A{"path": "/w/y.sh", "edits": []any{A{"new_string": "text"}}}, "/w/y.sh"},
		"no name":  {A{"author": "ann", "content": "text"}, ""},
		"aside":    {A{"note": "text", "path": "/w/x.sh"}, ""},
		"empty":    {A{"content": "", "path": "/w/x.sh"}, ""},
	} {
		got := ""
		for _, w := range reader().Read(reading.Call{Executor: "Write", Args: tt.args, Cwd: cwd}).Written() {
			got += w.File
		}
		if got != tt.want {
			t.Errorf("%s: written is %q, want %q", name, got, tt.want)
		}
	}
}

func TestNormal(t *testing.T) {
	for key, want := range map[string]string{
		"shell_command": "shellcommand", "ShellCommand": "shellcommand",
		"shell-command": "shellcommand", "SHELL COMMAND": "shellcommand", "AZ az": "azaz", "è": "è", "": "",
	} {
		if got := reading.Normal(key); got != want {
			t.Errorf("%q is %q, want %q", key, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, r := range rows(f) {
		args, err := strictjson.Marshal(r.Args)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(r.Executor, string(args))
	}
	r := reader()
	f.Fuzz(func(t *testing.T, executor, args string) {
		var m map[string]any
		if strictjson.UnmarshalLoose([]byte(args), &m) != nil {
			return
		}
		c := reading.Call{Executor: executor, Args: m, Cwd: cwd}
		first := r.Read(c)
		if first.Failed {
			t.Fatal("the reader fails")
		}
		if again := r.Read(c); !reflect.DeepEqual(told2(first), told2(again)) {
			t.Errorf("two readings differ: %q, %q", told2(first), told2(again))
		}
	})
}

func told2(rd *reading.Reading) [2][]string {
	read, gaps := told(rd)
	return [2][]string{read, gaps}
}

// TestSwitches tells which arguments are switched on.
func TestSwitches(t *testing.T) {
	got := reading.Switches(map[string]any{
		"all": "1", "delete_rows": 12, "delete_cells": 0, "draft": false, "limit": 5, "nothing": nil, "options": map[string]any{"send": true}, "send_at": 1, "_": true,
	})
	if want := [][]string{{"all"}, {"delete", "rows"}, {"send"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v are on, want %v", got, want)
	}
}

// TestWhatAProgramPutThere reads values that no decoder makes: only what runs becomes text.
func TestWhatAProgramPutThere(t *testing.T) {
	type text string
	rd := reader().Read(reading.Call{Executor: "Bash", Args: map[string]any{"command": text("ls"), "description": text("rm -rf /")}, Cwd: cwd})
	if read, _ := told(rd); !slices.Equal(read, []string{"sh command ls"}) {
		t.Errorf("read %q", read)
	}
}

// TestTheLongestPatternCounts tells which of several patterns a tool's name follows.
func TestTheLongestPatternCounts(t *testing.T) {
	tools := map[string]int{"mcp__*": 1, "mcp__git_*": 2, "mcp__g*": 3, "*": 4}
	for range 20 { // the order of a map differs
		for name, want := range map[string]int{"mcp__git_log": 2, "mcp__gist": 3, "mcp__x": 1, "x": 4} {
			if got, ok := reading.ToolOf(tools, name); got != want || !ok {
				t.Fatalf("%s follows %d, want %d", name, got, want)
			}
		}
	}
	if _, ok := reading.ToolOf(map[string]int{"a*": 1, "": 2}, "x"); ok {
		t.Error("x follows a pattern that it does not match")
	}
}

// TestArguments proves that only the arguments are read where nothing else is wanted: the texts among them are told as they are.
func TestArguments(t *testing.T) {
	line := "rm -rf build; " + strings.Repeat("git push; ", 40_000)
	call := reading.Call{Executor: "Bash", Args: map[string]any{"command": line, "cwd": "/srv/app", "path": "/etc/hosts"}}
	all, args := reading.NewReader(reading.Options{}).Read(call), reading.NewReader(reading.Options{Arguments: true}).Read(call)
	if n := len(args.Commands); n != 1 || args.Commands[0].Text != line || len(args.Commands[0].Script.Commands) > 1 {
		t.Errorf("read %d commands, or more than the text of one", n)
	}
	if diff := cmp.Diff(all.Paths, args.Paths); diff != "" {
		t.Errorf("paths (-all +arguments):\n%s", diff)
	}
	if args.Means.Budget.Left() > 0 {
		t.Error("steps are left for what the texts do")
	}
}
