package guard

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/own"
	"github.com/metnos/vaglio/internal/realpath"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio/reading"
)

// structuralGuard returns a guard that knows a user and a place of vaglio's own.
func structuralGuard() *Guard {
	return New(Config{Home: "/home/user", Own: own.Facts{Data: []string{"/home/user/.vaglio-data"}}})
}

// bash returns a call to a shell that the core does not know as one, so that its command
// patterns do not interfere.
func bash(line string) Call {
	return Call{Executor: "Bash", Args: map[string]any{"command": line}, Cwd: "/home/user/project"}
}

// lines reads a table from testdata; \n in a row is a newline.
func lines(tb testing.TB, name string) []string {
	tb.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	if err != nil {
		tb.Fatal(err)
	}
	var rows []string
	for row := range strings.Lines(string(raw)) {
		if row = strings.TrimSuffix(row, "\n"); row != "" {
			rows = append(rows, strings.ReplaceAll(row, `\n`, "\n"))
		}
	}
	return rows
}

// deniedRows returns the commands of denied.txt and the rule that each breaks.
func deniedRows(tb testing.TB) (commands, ids []string) {
	tb.Helper()
	return rowsOf(tb, "denied.txt")
}

func rowsOf(tb testing.TB, name string) (commands, ids []string) {
	tb.Helper()
	for _, row := range lines(tb, name) {
		id, command, ok := strings.Cut(row, "\t")
		if !ok {
			tb.Fatalf("%q has no tab", row)
		}
		commands, ids = append(commands, command), append(ids, id)
	}
	return commands, ids
}

func TestDenied(t *testing.T) {
	g := structuralGuard()
	seen := map[string]bool{}
	commands, ids := deniedRows(t)
	more, moreIDs := rowsOf(t, "attacks.txt")
	commands, ids = append(commands, more...), append(ids, moreIDs...)
	for i, command := range commands {
		seen[ids[i]] = true
		if d, _ := g.Check(bash(command)); d.ID != ids[i] {
			t.Errorf("%q: got %q, want %q", command, d.ID, ids[i])
		}
	}
	for _, r := range g.rules {
		if !seen[r.id] && r.pattern == "" && r.id != ownID {
			t.Errorf("no row breaks %s", r.id)
		}
	}
}

func TestAllowed(t *testing.T) {
	g := structuralGuard()
	for _, command := range lines(t, "allowed.txt") {
		if d, denied := g.Check(bash(command)); denied {
			t.Errorf("%q: %s", command, d.ID)
		}
	}
}

func TestLinesAroundUnreadableOnes(t *testing.T) {
	verify(t, structuralGuard(), map[string]row{
		"crime_before":    {bash("rm -rf /usr; echo 'x"), "tree.system"},
		"crime_beside":    {Call{Executor: "Bash", Args: map[string]any{"command": "echo 'x", "commands": []any{"(", "rm -rf /usr"}}}, "tree.system"},
		"carriage_return": {bash("cd /tmp\r\nrm -rf /usr\r\n"), "tree.system"},
		"empty":           {bash(""), ""},
		"blank":           {bash(" \n\t"), ""},
		"comment":         {bash("# rm -rf /usr"), ""},
		"search_before":   {bash("find /etc -name core -type f; for x in /etc; do chmod -R 777 $x; done"), "mode.tree"},
	})
}

// TestExamineUnreadable checks what the guard says of unreadable lines: where, what is wrong,
// and none of the line's words.
func TestExamineUnreadable(t *testing.T) {
	g := structuralGuard()
	in := func(executor, key, text string) Call {
		return Call{Executor: executor, Args: map[string]any{key: text}, Cwd: "/home/user/project"}
	}
	input := bash("sed s/a/b/ 'hunter2")
	input.Args["stdin"] = "x"
	unread := func(line, col int, excerpt, what string) *reading.Unreadable {
		return &reading.Unreadable{Line: line, Col: col, Excerpt: excerpt, What: what}
	}
	for name, tt := range map[string]struct {
		call Call
		want *reading.Unreadable
	}{
		"open_quote":   {bash("PGPASSWORD=hunter2 psql -c 'drop"), unread(1, 28, "… … … '…", "reached EOF without closing quote `'`")},
		"later_line":   {bash("ls\nls\n  if é; then )"), unread(3, 14, "  if …; then )", "`)` can only be used")},
		"open_if":      {bash("if true; then ls"), unread(1, 1, "if …; then …", "`if` statement must end with `fi`")},
		"with_input":   {input, unread(0, 0, "", "reached EOF without closing quote")},
		"too_big":      {bash("ls " + strings.Repeat("x", 1<<20)), unread(1, 1, "… …", "longer than 1 MiB")},
		"too_deep":     {bash(strings.Repeat("(", 500) + "ls" + strings.Repeat(")", 500)), unread(1, 1, strings.Repeat("(", 40), "nests")},
		"code_too_big": {in("python_exec", "code", "x = 1\n"+strings.Repeat("y = 2\n", 1<<18)), unread(0, 0, "", "longer than 1 MiB")},
		"named_bash":   {in("run_bash", "code", "fi"), unread(1, 1, "fi", "can only be used")},
		"repl":         {in("repl", "command", "print(1)"), nil},
		"python":       {in("python_exec", "command", "print(1)"), nil},
		"program":      {in("execute_python", "program", "print(1)"), nil},
		"code":         {in("execute_code", "code", "print(1)"), nil},
		"windows":      {in("PowerShell", "command", "if (Test-Path x) { ls }"), nil},
		"typed":        {in("terminal", "keystrokes", "it's"), nil},
		"input":        {in("Bash", "stdin", "it's"), nil},
		"backquotes":   {bash("echo `ls |`"), nil},
		"carried":      {bash("ssh host \"echo '\""), nil},
		"not_a_line":   {bash("psql -c \"COPY t TO PROGRAM 'fi x'\""), nil},
		"run_time":     {bash("export A+B=1; echo ${a b} $((1 ~ 2)); [[ a =~ (b ]]"), nil},
		"awk":          {bash("awk '/x/,/`;$/' f | tail -5"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := g.Examine(tt.call)
			switch {
			case got.Denial != nil:
				t.Fatalf("denied: %s", got.Denial.ID)
			case tt.want == nil && got.Unreadable != nil:
				t.Fatalf("got %+v, want nothing", *got.Unreadable)
			case tt.want == nil:
				return
			case got.Unreadable == nil:
				t.Fatal("got nothing")
			}
			u := *got.Unreadable
			if u.Key == "" || u.Line != tt.want.Line || u.Col != tt.want.Col || u.Excerpt != tt.want.Excerpt || !strings.Contains(u.What, tt.want.What) {
				t.Errorf("got %+v, want %+v", u, *tt.want)
			}
		})
	}
}

// TestShapes checks the shapes in which a command may come.
func TestShapes(t *testing.T) {
	args := func(executor string, m map[string]any) Call {
		return Call{Executor: executor, Args: m, Cwd: "/home/user/project"}
	}
	m := func(pairs ...any) map[string]any {
		all := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			all[pairs[i].(string)] = pairs[i+1]
		}
		return all
	}
	list := func(words ...any) []any { return words }
	verify(t, structuralGuard(), map[string]row{
		"argv":                 {args("shell_exec", m("argv", list("rm", "-fr", "/usr"))), "tree.system"},
		"command_list":         {args("shell_exec", m("command", list("rm", "-r", "-f", "/"))), "tree.root"},
		"list_of_lines":        {args("Bash", m("commands", list("ls", "rm -fr /usr"))), "tree.system"},
		"list_of_one_line":     {args("Bash", m("command", list("rm -fr /usr"))), "tree.system"},
		"list_with_operators":  {args("Bash", m("command", list("cd", "/", "&&", "rm", "-fr", "usr"))), "tree.system"},
		"bash_lc":              {args("local_shell", m("action", m("command", list("bash", "-lc", "rm -fr /usr")))), "tree.system"},
		"upper_key":            {args("Bash", m("COMMAND", "rm -fr /usr")), "tree.system"},
		"nested":               {args("Bash", m("options", m("run", m("cmd", "rm -fr /usr")))), "tree.system"},
		"nested_list":          {args("Bash", m("steps", list(m("cmd", "ls"), m("cmd", "rm -fr /usr")))), "tree.system"},
		"name_and_args":        {args("start_process", m("command", "rm", "args", list("-fr", "/usr"))), "tree.system"},
		"stdin_of_shell":       {args("Bash", m("command", "bash", "stdin", "rm -fr /usr")), "tree.system"},
		"stdin_of_argv":        {args("Bash", m("argv", list("sh", "-s"), "stdin", "rm -fr /usr")), "tree.system"},
		"stdin_is_data":        {args("Bash", m("command", "cat", "stdin", "rm -fr /usr")), ""},
		"cwd_argument":         {args("Bash", m("command", "rm -rf *", "cwd", "/")), "tree.root"},
		"cwd_relative":         {args("Bash", m("command", "rm -rf *", "workdir", "..")), "tree.home"},
		"environment":          {args("Bash", m("command", "rm -rf $D/x", "env", m("D", "/usr/.."))), ""},
		"environment_root":     {args("Bash", m("command", "rm -rf $D/*", "env", m("D", "/usr/.."))), "tree.root"},
		"environment_harmless": {args("shell_exec", m("command", "make", "env", m("PREFIX", "/usr"))), ""},
		"namespaced":           {args("mcp__sandbox__bash", m("command", "rm -fr /usr")), "tree.system"},
		"namespaced_words":     {args("developer.run_command", m("command", "rm -fr /usr")), "tree.system"},
		"camel":                {args("runTerminalCmd", m("command", "rm -fr /usr")), "tree.system"},
		"suffix":               {args("sandbox_execute_command", m("command", "rm -fr /usr")), "tree.system"},
		"catalog":              {Call{Executor: "x", Shell: true, Args: m("command", "rm -fr /usr")}, "tree.system"},
		"capability":           {Call{Executor: "x", Capabilities: []string{"code:exec"}, Args: m("command", "rm -fr /usr")}, "tree.system"},
		"python_code":          {args("python_exec", m("code", "import shutil\nshutil.rmtree('/usr')")), "tree.system"},
		"code_language":        {args("run_code", m("language", "python", "code", "import os\nos.remove('/etc/passwd')")), "path.auth_write"},
		"code_of_nobody":       {args("execute_code", m("code", "import shutil\nshutil.rmtree('/usr')")), "tree.system"},
		"code_shell":           {args("execute_code", m("code", "rm -fr /usr")), "tree.system"},
		"code_harmless":        {args("execute_code", m("code", "print('rm -rf /usr')")), ""},
		"javascript":           {args("run_code", m("language", "javascript", "code", "require('fs').rmSync('/usr',{recursive:true})")), "tree.system"},
		"save_command":         {args("save_command", m("command", "rm -fr /usr")), "tree.system"},
		"other_tool":           {args("jira_create", m("command", "rm -fr /usr")), "tree.system"},
		"description":          {args("Bash", m("command", "ls", "description", "rm -fr /usr")), ""},
		"terminal_input":       {args("terminal", m("input", "rm -fr /usr\n")), "tree.system"},
		"input_beside_command": {args("Bash", m("command", "cat", "input", "rm -fr /usr")), ""},
		"node_script":          {args("node_eval", m("script", "require('fs').rmSync('/usr',{recursive:true})")), "tree.system"},
		"echo_words":           {args("Bash", m("command", list("echo", "rm", "-fr", "/usr"))), ""},
	})
}

// TestTools checks tools that are not shells.
func TestTools(t *testing.T) {
	args := func(executor string, pairs ...any) Call {
		all := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			all[pairs[i].(string)] = pairs[i+1]
		}
		return Call{Executor: executor, Args: all, Cwd: "/home/user/project"}
	}
	verify(t, structuralGuard(), map[string]row{
		"delete_root":          {args("fs_delete", "path", "/", "recursive", true), "tree.root"},
		"delete_root_star":     {args("fs_delete", "path", "/*"), "tree.root"},
		"delete_home":          {args("delete_file", "path", "~"), "tree.home"},
		"delete_home_percent":  {args("delete_file", "path", "%7E/"), "tree.home"},
		"delete_relative":      {args("delete_directory", "path", ".."), "tree.home"},
		"delete_system":        {args("remove", "path", "/usr/bin"), "tree.system"},
		"delete_list":          {args("remove_files", "paths", []any{"a", "/etc"}), "tree.system"},
		"delete_below":         {args("fs_delete", "path", "/usr/local/x"), ""},
		"delete_row":           {args("db_delete", "path", "/"), ""},
		"delete_web":           {args("http_delete", "path", "/"), ""},
		"delete_secret":        {args("fs_delete", "path", "~/.netrc"), "path.secrets"},
		"delete_vaglio":        {args("fs_delete", "path", "/home/user/.local/share/metnos"), "own.path"},
		"delete_around_vaglio": {args("fs_delete", "path", "/home/user/.vaglio-data/.."), "own.path"},
		"move_system":          {args("move_file", "source", "/etc", "destination", "/tmp/x"), "tree.system"},
		"move_to":              {args("move_file", "source", "x", "destination", "/etc/cron.d/x"), "path.auth_write"},
		"move_plain":           {args("move_file", "source", "a", "destination", "/usr/local/share/a"), ""},
		"write_group":          {args("fs_write", "path", "/etc/group", "content", "x"), "path.auth_write"},
		"write_cron":           {args("create_file", "path", "/etc/cron.d/x", "content", "x"), "path.auth_write"},
		"write_trigger":        {args("fs_write", "path", "/proc/sysrq-trigger", "content", "b"), "path.kernel"},
		"write_disk":           {args("fs_write", "path", "/dev/vda", "content", "x"), "disk.device"},
		"write_shell":          {args("fs_write", "path", "/bin/sh", "content", "x"), "tree.vital"},
		"read_disk":            {args("fs_read", "path", "/dev/vda"), "disk.device"},
		"read_netrc":           {args("fs_read", "path", "~/.netrc"), "path.secrets"},
		"read_netrc_climbing":  {args("fs_read", "path", "../.netrc"), "path.secrets"},
		"read_netrc_percent":   {args("fs_read", "path", "..%2F.netrc"), "path.secrets"},
		"read_netrc_file_url":  {args("http_fetch", "url", "file:///home/user/.netrc"), "path.secrets"},
		"read_kube":            {args("fs_read", "path", "/home/user/.kube/config"), "path.secrets"},
		"read_split":           {args("fs_read", "dir", "~/.kube", "name", "config"), "path.secrets"},
		"read_glob":            {args("read_many_files", "paths", []any{"~/.kube/conf*"}), "path.secrets"},
		"read_glob_bracket":    {args("read_many_files", "paths", []any{"~/.kube/confi[]g]"}), "path.secrets"},
		"read_glob_not":        {args("read_many_files", "paths", []any{"~/.kube/confi[!]a]"}), "path.secrets"},
		"read_environ":         {args("fs_read", "path", "/proc/sys/../1/environ"), "path.proc"},
		"read_own_climbing":    {Call{Executor: "fs_read", Args: map[string]any{"path": "../../../../home/user/.vaglio-data/keys"}}, "own.path"},
		"chmod_cron":           {args("chmod", "path", "/etc/cron.d/x", "mode", "777"), "path.auth_write"},
		"chmod_plain":          {args("chmod", "path", "/home/user/project/x", "mode", "777"), ""},
		"query_runs":           {args("run_query", "query", "COPY t TO PROGRAM 'rm -rf /usr'"), "tree.system"},
		"query_reads":          {args("run_query", "query", "SELECT pg_read_file('/home/user/.netrc')"), "path.secrets"},
		"read_beside_own":      {args("fs_read", "path", "/proc/self/cwdx/.netrc"), "path.proc"},
		"read_key_by_name":     {args("fs_read", "path", "deploy/id_ed25519"), "path.keys"},
		"upload":               {args("upload", "file", "~/.pypirc"), "path.secrets"},
		"attachment":           {args("send_mail", "attachments", []any{"~/.git-credentials"}, "body", "x"), "path.secrets"},
		"any_key":              {args("thing", "whatever", "/home/user/.netrc"), "path.secrets"},
		"chmod_root":           {args("chmod", "path", "/", "mode", "777"), "mode.tree"},
		"kill_init":            {args("kill_process", "pid", 1.0), "process.kill_all"},
		"kill_all":             {args("terminate_process", "pid", "-1"), "process.kill_all"},
		"kill_one":             {args("kill_process", "pid", 1234.0), ""},
		"first_page":           {args("list_pages", "id", 1.0), ""},
		"list_home":            {args("list_directory", "path", "~"), ""},
		"list_kube":            {args("list_directory", "path", "~/.kube"), ""},
		"glob_go":              {args("fs_glob", "pattern", "**/*.go"), ""},
		"read_npmrc":           {args("fs_read", "path", ".npmrc"), ""},
		"read_env":             {args("fs_read", "path", ".env"), ""},
		"read_fixture":         {args("fs_read", "path", "./testdata/etc/group"), ""},
		"read_group":           {args("fs_read", "path", "/etc/group"), ""},
		"write_workspace":      {args("fs_write", "path", "a.sh", "content", "cat ~/.netrc"), ""},
		"content_is_a_path":    {args("fs_write", "path", "a", "content", "/home/user/.netrc"), ""},
		"message":              {args("git_commit", "message", "~/.netrc"), ""},
		"query":                {args("web_search", "query", "/home/user/.netrc"), ""},
		"prose":                {args("note", "line", "/home/user/.netrc is a file"), ""},
	})
}

// TestCalls checks tools that are not shells, in the shapes in which they come.
func TestCalls(t *testing.T) {
	g := structuralGuard()
	rows, err := os.ReadFile("testdata/calls.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(rows) {
		var r struct {
			Executor string         `json:"executor"`
			Args     map[string]any `json:"args"`
			Expect   string         `json:"expect"`
		}
		if err := strictjson.UnmarshalLoose(line, &r); err != nil {
			t.Fatal(err)
		}
		c := Call{Executor: r.Executor, Args: r.Args, Cwd: "/home/user/project"}
		if d, denied := g.Check(c); denied != (r.Expect == "block") {
			t.Errorf("%s %v: denied by %q, want %s", r.Executor, r.Args, d.ID, r.Expect)
		}
	}
}

// TestAdministratorsHome checks that an agent of root may work in root's home.
func TestAdministratorsHome(t *testing.T) {
	g := New(Config{Home: "/root"})
	at := func(line string) Call { c := bash(line); c.Cwd = "/root/app"; return c }
	verify(t, g, map[string]row{
		"write":  {at("echo x > out.txt && cp out.txt ~/x"), ""},
		"remove": {at("rm -rf build"), ""},
		"home":   {at("rm -rf ~"), "tree.home"},
		"key":    {at("cat ~/.netrc"), "path.secrets"},
		"system": {Call{Executor: "fs_delete", Args: map[string]any{"path": "/usr"}, Cwd: "/root/app"}, "tree.system"},
	})
	verify(t, New(Config{Home: "/root", Own: own.Facts{Data: []string{"/root/.vaglio-data"}}}), map[string]row{
		"gates":     {Call{Executor: "fs_read", Args: map[string]any{"path": "../.vaglio-data/x"}, Cwd: "/root/app"}, "own.path"},
		"in_gates":  {Call{Executor: "fs_read", Args: map[string]any{"path": "x"}, Cwd: "/root/.vaglio-data"}, "own.path"},
		"no_gates":  {Call{Executor: "fs_read", Args: map[string]any{"path": "../.vaglio-date/x"}, Cwd: "/root/app"}, ""},
		"anothers":  {Call{Executor: "fs_read", Args: map[string]any{"path": "/root/x"}, Cwd: "/srv"}, "path.root"},
		"his_shell": {at("cat ../.vaglio-data/x"), "own.path"},
	})
	verify(t, structuralGuard(), map[string]row{
		"own":    {Call{Executor: "Write", Args: map[string]any{"file_path": "out.txt", "content": "x"}, Cwd: "/root/app"}, ""},
		"others": {Call{Executor: "Write", Args: map[string]any{"file_path": "../../usr/bin/env", "content": "x"}, Cwd: "/root/app"}, "tree.vital"},
		"mac":    {Call{Executor: "Write", Args: map[string]any{"file_path": "/var/root/x", "content": "x"}, Cwd: "/home/user/app"}, "path.admin_home"},
	})
}

// TestManyNamesAreSentBack checks that too many names, put together by a command or named by
// its words, are not skipped.
func TestManyNamesAreSentBack(t *testing.T) {
	for line, what := range map[string]string{
		"cp " + strings.Repeat("a ", 5000) + strings.Repeat("d/", 500): "the names that cp puts together",
		"foo " + strings.Repeat("=/a", 300_000):                        "does too much",
		strings.Repeat("ld-linux.so.2 ", 60_000):                       "does too much",
	} {
		out := structuralGuard().Examine(bash(line))
		if out.Denial != nil || out.Unreadable == nil || !strings.Contains(out.Unreadable.What, what) {
			t.Errorf("%.20q: %+v", line, out)
		}
	}
	// Each word is checked whole, even if the budget is used up.
	if d, _ := structuralGuard().Check(bash("foo " + strings.Repeat("=/a", 300_000) + " /dev/sda")); d.ID != diskRule {
		t.Errorf("behind too many names: %q", d.ID)
	}
}

// TestWithoutAHomeOrAFolder checks a guard that knows neither: it assumes the worst of named
// places that it cannot locate, and does not fail.
func TestWithoutAHomeOrAFolder(t *testing.T) {
	at := func(line string) Call { c := bash(line); c.Cwd = ""; return c }
	verify(t, New(Config{}), map[string]row{
		"home":        {bash("rm -rf ~"), "tree.home"},
		"below":       {bash("rm -rf ~/x"), ""},
		"secret":      {bash("cat ~/.npmrc"), "path.secrets"},
		"in_home":     {bash("cd ~ && rm -rf *"), "tree.home"},
		"from_home":   {bash("cd ~; cat .npmrc"), "path.secrets"},
		"nobody":      {bash("echo ':x' | chpasswd"), ""},
		"program":     {bash("python3 -c 'import shutil; shutil.rmtree(\"~\")'"), "tree.home"},
		"tilde":       {Call{Executor: "fs_read", Args: map[string]any{"path": "~/etc/shadow"}, Cwd: "/home/user/project"}, ""},
		"variable":    {Call{Executor: "fs_read", Args: map[string]any{"path": "$HOME/etc/shadow"}, Cwd: "/home/user/project"}, ""},
		"no_folder":   {at("cat /usr/share/x ./y /proc/self/cwd/z"), ""},
		"no_folder_2": {at("rm -rf /usr"), "tree.system"},
		"no_folder_4": {at("cp /usr/bin/rm y; ls -rf /usr"), ""},
		"no_folder_3": {at("cp x y; ln -s x z; chmod u+s y; ./y"), ""},
	})
}

// TestHides tells which files nobody may see.
func TestHides(t *testing.T) {
	for path, want := range map[string]bool{
		"/etc/shadow": true, "/home/user/.ssh/id": true, "/home/user/.vaglio-data/x": true, "/etc/hosts": false, "/home/user/project/x": false,
	} {
		if got := structuralGuard().Hides(path); got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
}

// TestStepsThatAreNoPath puts something that is no step between the steps of a path.
func TestStepsThatAreNoPath(t *testing.T) {
	list := func(steps ...any) Call {
		return Call{Executor: "fs_read", Args: map[string]any{"parts": steps}, Cwd: "/home/user/project"}
	}
	verify(t, structuralGuard(), map[string]row{
		"path": {list("/", "etc", "shadow"), "path.auth"}, "number": {list("/", 1.0, "etc", "shadow"), ""}, "words": {list("etc", "shadow"), ""},
		"content": {Call{Executor: "fs_write", Args: map[string]any{"path": "x", "content": []any{"/", "etc", "shadow"}}, Cwd: "/home/user/project"}, ""},
	})
}

// TestCaseThatDoesNotCount changes the case of lines and paths, on systems that ignore case
// and on those that do not.
func TestCaseThatDoesNotCount(t *testing.T) {
	line := Call{Executor: "shell_exec", Args: map[string]any{"command": "RM -RF /"}, Cwd: "/home/user/project"}
	file := Call{Executor: "fs_read", Args: map[string]any{"path": "/ETC/Shadow"}, Cwd: "/home/user/project"}
	for fold, want := range map[bool][2]bool{false: {}, true: {true, true}} {
		g := structuralGuard()
		g.fold = fold
		_, run := g.Check(line)
		_, read := g.Check(file)
		if got := [2]bool{run, read}; got != want {
			t.Errorf("folded %v: denied %v, want %v", fold, got, want)
		}
	}
}

// TestArgumentsThatNest reads arguments as deep as they may be.
func TestArgumentsThatNest(t *testing.T) {
	for depth, read := range map[int]bool{127: true, 128: false} {
		args := map[string]any{"path": "/usr"}
		for range depth {
			args = map[string]any{"a": args}
		}
		out := structuralGuard().Examine(Call{Executor: "fs_read", Args: args})
		if (out.Unreadable == nil) != read || out.Denial != nil {
			t.Errorf("%d maps in each other: %+v", depth, out)
		}
	}
}

// TestLinksOfCommands follows existing links as a command would: a removal takes the link
// itself, and on another machine these links do not exist.
func TestLinksOfCommands(t *testing.T) {
	dir := t.TempDir()
	prose := strings.Repeat("a ", 127) + "b" // as long as a name may be
	for link, target := range map[string]string{"l": "/etc", "u": "/usr", "k:s": "/etc/shadow", prose: "/etc/shadow"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	verify(t, structuralGuard(), map[string]row{
		"read":          {bash("cat " + dir + "/l/group- " + dir + "/l/shadow"), "path.auth_read"},
		"write":         {bash("echo x >> " + dir + "/l/group"), "path.auth_write"},
		"remove_link":   {bash("rm -rf " + dir + "/u"), ""},
		"remove_target": {bash("rm -rf " + dir + "/u/"), "tree.system"},
		"remove_below":  {bash("rm -rf " + dir + "/l/pam.d"), "path.auth_write"},
		"away":          {bash("ssh h rm -rf " + dir + "/u/"), ""},
		"prose":         {Call{Executor: "fs_read", Args: map[string]any{"note": prose}, Cwd: dir}, "path.auth"},
		"a_key":         {Call{Executor: "fs_read", Args: map[string]any{"k:s": "x"}, Cwd: dir}, ""},
		"beside_a_line": {Call{Executor: "shell_exec", Args: map[string]any{"command": "ls", "x": "k:s"}, Cwd: dir}, "path.auth"},
		"a_value":       {Call{Executor: "fs_read", Args: map[string]any{"x": "k:s"}, Cwd: dir}, "path.auth"},
		"nothing":       {Call{Executor: "fs_delete", Args: map[string]any{"path": ""}, Cwd: "/usr"}, ""},
		"nobodys_home":  {Call{Executor: "fs_read", Args: map[string]any{"path": "~nosuchuser/etc/shadow"}, Cwd: dir}, ""},
		"other_root":    {bash("chroot / rm -rf " + dir + "/u/"), "tree.system"},
	})
}

// elsewhere is a machine with links and users of its own; it fails if it has none.
type elsewhere map[string]string

func (e elsewhere) Readlink(name string) (string, realpath.Kind) {
	if e == nil {
		panic("not to be asked")
	}
	if to := e[name]; to != "" {
		return to, realpath.Link
	}
	return "", realpath.Other
}

func (e elsewhere) HomeOf(name string) string { return e["~"+name] }

// TestACallsOwnMachine is asked where paths lead, for that call alone. If it fails, the call
// is denied.
func TestACallsOwnMachine(t *testing.T) {
	g := structuralGuard()
	on := func(m realpath.Machine, path string) Call {
		return Call{Executor: "fs_read", Args: map[string]any{"path": path}, Cwd: "/srv", Machine: m}
	}
	there := elsewhere{"/srv/l": "/etc", "~bobby": "/home/user"}
	verify(t, g, map[string]row{
		"its_link":     {on(there, "l/shadow"), "path.auth"},
		"whole":        {on(there, "/srv/l/shadow"), "path.auth"},
		"its_user":     {on(there, "~bobby/.vaglio-data/x"), "own.path"},
		"another_user": {on(there, "~robby/.vaglio-data/x"), ""},
		"here":         {on(nil, "l/shadow"), ""},
		"it_fails":     {on(elsewhere(nil), "l/shadow"), faultID},
	})
}
