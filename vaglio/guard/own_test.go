package guard

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/own"
	"github.com/metnos/vaglio/internal/realpath"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
)

// gate returns a guard that knows what vaglio is made of.
func gate() *Guard {
	const home = "/home/user"
	return New(Config{Home: home, Own: own.Facts{
		Data:      []string{home + "/.local/share/metnos", home + "/.telegram-token"},
		Config:    []string{home + "/vaglio-policy.yaml"},
		Programs:  []string{home + "/src/vaglio/bin/vaglio"},
		Settings:  []string{home + "/.claude/settings.json", home + "/.codex/config.toml"},
		Local:     []string{".claude/settings.local.json", ".gemini/settings.json", ".cursor/hooks.json"},
		Addresses: []string{"127.0.0.1:8787"},
		Processes: []int{4242},
		Command:   "bin/vaglio serve",
		Units:     []string{"gatekeeper.service"},
		Env:       map[string]string{"METNOS_DATA_DIR": home + "/.local/share/metnos", "METNOS_POLICY": home + "/vaglio-policy.yaml", "METNOS_TELEGRAM_TOKEN_FILE": home + "/.telegram-token"},
	}})
}

// withFolder is this machine with one more folder.
type withFolder struct {
	realpath.Here

	path string
}

func (m withFolder) Readlink(name string) (string, realpath.Kind) {
	if name == m.path {
		return "", realpath.Other
	}
	return m.Here.Readlink(name)
}

func TestWhatIsAimedAtTheGateItself(t *testing.T) {
	rows, err := os.ReadFile("testdata/own.txt")
	if err != nil {
		t.Fatal(err)
	}
	folders := map[string]string{"vaglio": "/home/user/src/vaglio", "app": "/home/user/app"}
	g := gate()
	n := 0
	for row := range strings.Lines(string(rows)) {
		words := strings.Fields(row)
		if row[0] == '#' {
			continue
		}
		_, line, _ := strings.Cut(row, " "+words[1]+" ")
		line = strings.NewReplacer(`\\`, `\`, `\n`, "\n").Replace(strings.TrimSpace(line))
		out := g.Examine(Call{
			Executor: "Bash", Args: map[string]any{"command": line}, Cwd: folders[words[1]], Capabilities: []string{"code:exec"},
			Machine: withFolder{path: "/home/user/app/.claude"},
		})
		if (out.Denial != nil) != (words[0] == "deny") || out.Doubt != (words[0] == "ask") {
			t.Errorf("%s: denied %v, doubt %v", row, out.Denial, out.Doubt)
		}
		n++
	}
	if n < 200 {
		t.Errorf("only %d rows", n)
	}
}

func TestToolsThatAreAimedAtTheGate(t *testing.T) {
	const doubt = "asked"
	g := gate()
	ports := map[string]any{"host": "localhost"} // looked at once, not once for each other
	for i := range 60_000 {
		ports[strconv.Itoa(i)] = 8787.0
	}
	for name, row := range map[string]struct {
		executor string
		args     map[string]any
		rule     string
	}{
		"its process":        {"kill_process", map[string]any{"pid": 4242.0}, ownProcess},
		"one of several":     {"kill_process", map[string]any{"pids": []any{"17", "4242"}}, ownProcess},
		"a cell":             {"NotebookEdit", map[string]any{"notebook_path": "/home/user/app/a.ipynb", "new_source": "x = 1\n!rm ~/src/vaglio/bin/vaglio"}, ownProcess},
		"another cell":       {"NotebookEdit", map[string]any{"notebook_path": "/home/user/app/a.ipynb", "new_source": "!rm ~/app/x"}, ""},
		"another process":    {"kill_process", map[string]any{"pid": 4243.0}, ""},
		"code that fetches":  {"run_code", map[string]any{"language": "javascript", "code": "fetch('http://localhost:8787/inbox')"}, ownCommand},
		"its address":        {"WebFetch", map[string]any{"url": "http://localhost:8787/inbox"}, ownCommand},
		"as a target":        {"mcp__fetcher__get", map[string]any{"target": "localhost:8787/inbox"}, ownCommand},
		"on a web page":      {"mcp__playwright__browser_evaluate", map[string]any{"function": "() => fetch('http://localhost:8787/inbox')"}, ownCommand},
		"as a script":        {"mcp__puppeteer__puppeteer_evaluate", map[string]any{"script": "const at = 'http://localhost:8787'; go(at + '/inbox')"}, ownCommand},
		"another page":       {"mcp__playwright__browser_evaluate", map[string]any{"function": "() => fetch('http://localhost:5173/')"}, ""},
		"what is asked for":  {"mcp__agent__run", map[string]any{"prompt": "say what http://localhost:8787/inbox is"}, ""},
		"what it unpacks":    {"mcp__archive__extract", map[string]any{"archive": "v.zip", "destination": "/home/user/src/vaglio/bin"}, doubt},
		"unpacks above it":   {"mcp__archive__extract", map[string]any{"archive": "v.zip", "destination": "/home/user/src"}, doubt},
		"unpacks into it":    {"mcp__archive__extract", map[string]any{"archive": "v.zip", "destination": "/home/user/.local/share/metnos/x"}, ownID},
		"a folder of it":     {"delete_directory", map[string]any{"path": "/home/user/app/.cursor"}, doubt},
		"another folder":     {"delete_directory", map[string]any{"path": "/home/user/app/.cache"}, ""},
		"into another":       {"mcp__archive__extract", map[string]any{"archive": "v.zip", "destination": "/home/user/app/bin"}, ""},
		"a copy of its data": {"copy_directory", map[string]any{"source": "/home/user/.local/share", "destination": "/home/user/app/x"}, ownID},
		"a copy of others":   {"copy_directory", map[string]any{"source": "/home/user/.local/lib", "destination": "/home/user/app/x"}, ""},
		"a copy by name":     {"copy_file", map[string]any{"source": "/home/user/app/gopls", "destination": "/home/user/src/vaglio/bin"}, ""},
		"a container":        {"mcp__docker__stop_container", map[string]any{"container": "vaglio"}, ownProcess},
		"what is looked for": {"Grep", map[string]any{"pattern": "localhost:8787/inbox"}, ""},
		"host and port":      {"mcp__http__request", map[string]any{"host": "localhost", "port": 8787.0, "path": "/inbox"}, ownCommand},
		"many ports":         {"mcp__http__request", ports, ownCommand},
		"code that asks":     {"execute_python", map[string]any{"code": "import requests\nrequests.get('http://localhost:8787/inbox')"}, ownCommand},
		"a file of its name": {"read_file", map[string]any{"path": "localhost:8787/inbox"}, ""},
		"another port":       {"mcp__http__request", map[string]any{"host": "localhost", "port": 8788.0, "path": "/inbox"}, ""},
		"another host":       {"mcp__http__request", map[string]any{"host": "example.org", "port": "8787", "path": "/inbox"}, ""},
		"what agents use":    {"WebFetch", map[string]any{"url": "http://localhost:8787/openapi.yaml"}, ""},
		"its program":        {"Write", map[string]any{"file_path": "/home/user/src/vaglio/bin/vaglio", "content": "x"}, ownProcess},
		"reads its program":  {"Read", map[string]any{"file_path": "/home/user/src/vaglio/bin/vaglio"}, ""},
		"its settings":       {"Write", map[string]any{"file_path": "/home/user/.claude/settings.json", "content": "{}"}, ownSettings},
		"a project's":        {"Edit", map[string]any{"file_path": "/home/user/app/.claude/settings.local.json", "old_string": "a", "new_string": "b"}, ownSettings},
		"reads settings":     {"Read", map[string]any{"file_path": "/home/user/.claude/settings.json"}, ""},
		"a folder as them":   {"move_file", map[string]any{"source": "/home/user/app/tmpl/dot", "destination": "/home/user/app/.gemini"}, doubt},
		"a copy as them":     {"copy_directory", map[string]any{"source": "/home/user/app/tmpl/dot", "destination": "/home/user/app/.gemini"}, doubt},
		"a copy as others":   {"copy_directory", map[string]any{"source": "/home/user/app/tmpl/dot", "destination": "/home/user/app/.cache"}, ""},
		"beside them":        {"move_file", map[string]any{"source": "/home/user/app/a.md", "destination": "/home/user/app/.gemini/a.md"}, ""},
		"copies settings":    {"copy_file", map[string]any{"source": "/home/user/.claude/settings.json", "destination": "/home/user/app/x"}, ""},
		"below a blank":      {"Write", map[string]any{"file_path": "/home/user/my app/.cursor/hooks.json", "content": "x"}, ownSettings},
		"a secret":           {"Read", map[string]any{"file_path": "/home/user/.telegram-token"}, ownID},
		"a script hands it":  {"Write", map[string]any{"file_path": "/home/user/app/x.sh", "content": "./b.sh ~/.claude/settings.json\n"}, ""},
		"a unit":             {"stop_service", map[string]any{"name": "vaglio"}, ownProcess},
		"by number":          {"Bash", map[string]any{"command": "kill -9 4242"}, ownProcess},
		"by its unit":        {"Bash", map[string]any{"command": "systemctl stop gatekeeper"}, ownProcess},
		"asks whether":       {"Bash", map[string]any{"command": "kill -0 4242"}, ""},
		"in a program":       {"Bash", map[string]any{"command": `python3 -c "import os; os.kill(4242, 9)"`}, ownProcess},
	} {
		t.Run(name, func(t *testing.T) {
			out, id := g.Examine(Call{Executor: row.executor, Args: row.args, Cwd: "/home/user/app"}), ""
			switch {
			case out.Denial != nil:
				id = out.Denial.ID
			case out.Doubt:
				id = doubt
			}
			if id != row.rule {
				t.Errorf("rule %q, want %q", id, row.rule)
			}
		})
	}
}

// TestAPortOfFiveDigits lets the gate listen at a port of the greatest length.
func TestAPortOfFiveDigits(t *testing.T) {
	g := New(Config{Home: "/home/user", Own: own.Facts{Addresses: []string{"127.0.0.1:48787"}}})
	for port, rule := range map[string]string{"48787": ownCommand, "48788": "", "048787": ""} {
		if d, _ := g.Check(Call{Executor: "mcp__http__request", Args: map[string]any{"host": "localhost", "port": port, "path": "/inbox"}, Cwd: "/home/user/app"}); d.ID != rule {
			t.Errorf("port %s: rule %q, want %q", port, d.ID, rule)
		}
	}
}

// TestAFolderBelowNothing has a tool name a folder relative to an unknown one.
func TestAFolderBelowNothing(t *testing.T) {
	if d, denied := gate().Check(Call{Executor: "Bash", Args: map[string]any{"command": "ls", "cwd": "sub"}}); denied {
		t.Errorf("denied by %q", d.ID)
	}
}

// TestAFactThatIsEmpty configures a guard with an empty path.
func TestAFactThatIsEmpty(t *testing.T) {
	verify(t, New(Config{Home: "/home/user", Own: own.Facts{Data: []string{"", "/home/user/.vaglio-data"}}}), map[string]row{
		"below": {bash("cat x ./y"), ""}, "here": {bash("ls . && rm -rf ./build"), ""}, "own": {bash("cat ~/.vaglio-data/x"), "own.path"},
		"around": {Call{Executor: "fs_read", Args: map[string]any{"path": "/home/user/app/../.vaglio-data/x"}}, "own.path"},
		"beside": {Call{Executor: "fs_read", Args: map[string]any{"path": "/home/user/app/../.vaglio-date/x"}}, ""},
	})
}

// TestACopyOfWhatHoldsAllHomes lets the judges weigh a backup of all homes: no folder whose name
// only begins as theirs do counts as one.
func TestACopyOfWhatHoldsAllHomes(t *testing.T) {
	verify(t, New(Config{Home: "/home/user", Own: own.Facts{Data: []string{"/home/user/.vaglio-data", "/home/us/vaglio", "/ho/vaglio"}}}), map[string]row{
		"of the homes": {bash("cp -a /home /mnt/b"), ""}, "of all": {bash("tar cf /mnt/b.tar /"), ""}, "of one": {bash("cp -a /home/us /mnt/b"), "own.path"},
		"of another": {bash("cp -a /ho /mnt/b"), "own.path"}, "of the own": {bash("cp -a ~ /mnt/b"), "own.path"},
	})
}

// TestTheGateByAnotherName recognizes the gate's own program under any name.
func TestTheGateByAnotherName(t *testing.T) {
	verify(t, New(Config{Home: "/home/user", Own: own.Facts{Programs: []string{"/opt/keeperd"}}}), map[string]row{
		"runs":     {bash("/opt/keeperd allow x"), ownCommand},
		"relative": {bash("cd /opt && ./keeperd allow x"), ownCommand},
		"free":     {bash("/opt/keeperd version"), ""},
		"another":  {bash("/opt/keeper allow x"), ""},
		"inside":   {bash("docker run --rm alpine vaglio allow x"), ""},
	})
}

// TestAProgramThatGoverns tells lines of a program that decide for people or stop the gate
// from those that only name it.
func TestAProgramThatGoverns(t *testing.T) {
	g := gate()
	for line, governs := range map[string]bool{
		`subprocess.run("vaglio allow x", shell=True)`: true,
		`subprocess.run(["vaglio", "allow"])`:          true,
		`subprocess.run(["vaglio", "version"])`:        false,
		`subprocess.run("vaglio is fine", shell=True)`: false,
		`subprocess.run("vaglio allow a b c")`:         false,
		`kill_all("vaglio")`:                           true,
		`print("vaglio")`:                              false,
		`print("vaglio ")`:                             false,
		`print("see vaglio allow")`:                    false,
	} {
		if g.governs(line, func() bool { return g.acts("import subprocess\n" + line) }) != governs {
			t.Errorf("%s: governs %t", line, !governs)
		}
	}
}

// TestAProgramThatNamesTheGate tells by which line a program that runs is about the gate,
// and what it may name: one in a command was read as such, and settings count only for one
// that is sure to run and changes files without a name.
func TestAProgramThatNamesTheGate(t *testing.T) {
	g := gate()
	for _, row := range []struct {
		ran  shell.Ran
		rule string
		line int
	}{
		{shell.Ran{Text: "a\nb\nx('http://localhost:8787/inbox')\n"}, ownCommand, 2},
		{shell.Ran{Text: "a\nx('/home/user/.local/share/metnos/vaglio.db')\n"}, ownID, 1},
		{shell.Ran{Text: "a\nb\n"}, "", 0},
		{shell.Ran{Text: "x('http://localhost:8787/inbox')\n", Inline: true}, "", 0},
		{shell.Ran{Text: "a\nrun('vaglio allow x')\n", Inline: true, Sure: true}, ownCommand, 1},
		{shell.Ran{Text: "a\nrun('vaglio allow x')\n"}, "", 0},
		{shell.Ran{Text: "a\nx('.claude/settings.json')\n", Sure: true, Unnamed: true}, ownSettings, 1},
		{shell.Ran{Text: "a\nx('.claude/settings.json')\n", Sure: true}, "", 0},
		{shell.Ran{Text: "a\nx('.claude/settings.json')\n", Unnamed: true}, "", 0},
	} {
		rule, lines := g.names(&row.ran)
		if rule != row.rule || rule != "" && lines != row.line {
			t.Errorf("%+v: %q behind %d lines, want %q behind %d", row.ran, rule, lines, row.rule, row.line)
		}
	}
}

// changed is a session that wrote files, and did nothing else.
type changed []string

func (c changed) Changed() []string          { return c }
func (changed) Loaded() []string             { return nil }
func (changed) Origin(string) (string, bool) { return "", false }
func (changed) Fetched() map[string]bool     { return nil }
func (changed) Exported() []string           { return nil }

// TestOnlyWhatTheSessionWroteIsTraced has a program about the gate run from a file: it counts
// if the session wrote the file, or if the text stands in the call itself.
func TestOnlyWhatTheSessionWroteIsTraced(t *testing.T) {
	const text, file = "a\nx('http://localhost:8787/inbox')\n", "/home/user/app/a.py"
	for name, row := range map[string]struct {
		file    string
		changed shell.Session
		traced  bool
	}{
		"in the call":               {"", nil, true},
		"nobody knows who wrote it": {file, nil, false},
		"the session wrote it":      {file, changed{"/x", file}, true},
		"it wrote another":          {file, changed{"/x"}, false},
	} {
		rd := reading.Reading{Means: reading.Means{Session: row.changed}, Commands: []reading.Command{{Script: &shell.Script{Ran: []shell.Ran{
			{Text: text, File: row.file, Sure: true}, {Text: "nothing of the gate", File: row.file, Sure: true},
		}}}}}
		got := gate().Naming(&rd)
		if len(got) > 0 != row.traced || len(got) > 1 || row.traced && (got[0].Line != 1 || got[0].File != row.file) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
