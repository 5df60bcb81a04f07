package guard

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/internal/own"
	"github.com/metnos/vaglio/vaglio/reading"
)

const home = "/home/u"

func newGuard() *Guard {
	return New(Config{Home: home, Own: own.Facts{Data: []string{"/home/u/.vaglio-data", "/run/vaglio.sock"}}})
}

func path1(s string) Call { return Call{Executor: "fs_read", Args: map[string]any{"path": s}} }

func shell1(v any) Call { return Call{Executor: "shell_exec", Args: map[string]any{"command": v}} }

// verify checks a table of calls against the ID of the rule that denies each, or "".
func verify(t *testing.T, g *Guard, table map[string]struct {
	call Call
	want string
},
) {
	t.Helper()
	for name, tt := range table {
		t.Run(name, func(t *testing.T) {
			d, denied := g.Check(tt.call)
			if denied != (tt.want != "") || d.ID != tt.want {
				t.Errorf("%+v: got %v %q, want %q", tt.call, denied, d.ID, tt.want)
			}
			if denied && (d.Reason == "" || d.Why == "" || d.Instead == "" || strings.Contains(d.Reason, "\n")) {
				t.Errorf("the denial is not explained: %+v", d)
			}
		})
	}
}

type row = struct {
	call Call
	want string
}

func TestNormalForms(t *testing.T) {
	at := func(cwd, s string) Call { c := path1(s); c.Cwd = cwd; return c }
	verify(t, newGuard(), map[string]row{
		"double_slash":          {path1("//etc/passwd"), "path.auth"},
		"inner_double_slash":    {path1("/etc//passwd"), "path.auth"},
		"dot":                   {path1("/etc/./passwd"), "path.auth"},
		"dots":                  {path1("/tmp/../etc/shadow"), "path.auth"},
		"upper_then_dots":       {path1("/etc/SHADOW/../shadow"), "path.auth"},
		"leading_blank":         {path1(" /etc/passwd"), "path.auth"},
		"trailing_blank":        {path1("/root "), "path.root"},
		"leading_nbsp":          {path1("\u00a0/etc/passwd"), "path.auth"},
		"file_url":              {path1("file:///etc/passwd"), "path.auth"},
		"file_url_host":         {path1("FILE://localhost/etc/shadow?x#y"), "path.auth"},
		"file_url_short":        {path1("file:/root"), "path.root"},
		"file_url_percent":      {path1("file:///%65tc/p%61sswd"), "path.auth"},
		"file_url_query":        {path1("file:///root?x"), "path.root"},
		"percent":               {path1("%2Fetc%2Fpasswd"), "path.auth"},
		"percent_twice":         {path1("%252Fetc%252Fpasswd"), "path.auth"},
		"percent_dots":          {path1("/tmp/%2e%2e/etc/shadow"), "path.auth"},
		"percent_climbs":        {path1("%2e%2e/%2e%2e/%2e%2e/etc/shadow"), "path.auth"},
		"percent_overlong":      {path1("/tmp/..%c0%afetc/shadow"), "path.auth"},
		"percent_nul":           {path1("/root%00.txt"), "path.root"},
		"tilde_root":            {path1("~root/x"), "path.root"},
		"tilde_dots":            {path1("~/../../etc/shadow"), "path.auth"},
		"tilde_key":             {path1("~/./.ssh/id"), "path.ssh"},
		"home":                  {path1("$HOME/../../root"), "path.root"},
		"home_braces":           {path1("${HOME}/../../boot/x"), "path.boot"},
		"other_variable":        {path1("$HOMER/../../root"), ""},
		"quoted":                {path1(`"/etc/shadow"`), "path.auth"},
		"quoted_percent":        {path1("'%2fetc%2fshadow'"), "path.auth"},
		"steps":                 {Call{Executor: "x", Args: map[string]any{"path": []any{"/", "etc", "shadow"}}}, "path.auth"},
		"steps_of_home":         {Call{Executor: "x", Args: map[string]any{"parts": []any{"~", ".ssh", "x"}}}, "path.ssh"},
		"no_steps":              {Call{Executor: "x", Args: map[string]any{"paths": []any{"/", "etc/shadow theatre"}}}, ""},
		"zero_width":            {path1("/etc/pass\u200bwd"), "path.auth"},
		"soft_hyphen":           {path1("/ro\u00adot"), "path.root"},
		"bidi":                  {path1("\u202e/root"), "path.root"},
		"fullwidth":             {path1("／ｅｔｃ／ｓｈａｄｏｗ"), "path.auth"},
		"two_dot_leader":        {path1("/tmp/‥/root"), "path.root"},
		"nul_cuts":              {path1("/root\x00.txt"), "path.root"},
		"nul_inside":            {path1("/ro\x00ot"), "path.root"},
		"windows":               {path1(`C:\Users\u\.ssh\id_rsa`), "path.ssh"},
		"proc_self":             {path1("/proc/self/environ"), "path.proc"},
		"double_slash_no_cwd":   {path1(".aws//credentials"), "path.aws"},
		"proc_thread_root":      {path1("/proc/thread-self/root/etc/shadow"), "path.auth"},
		"proc_self_cwd_below":   {at("/etc", "/proc/self/cwd/shadow"), "path.auth"},
		"proc_self_root":        {path1("/proc/self/root/etc/shadow"), "path.auth"},
		"proc_self_cwd":         {at("/home/u/app", "/proc/self/cwd/../.ssh/id"), "path.ssh"},
		"proc_cpuinfo":          {path1("/proc/cpuinfo"), ""},
		"dev_stdin":             {path1("/dev/stdin"), ""},
		"key":                   {Call{Executor: "x", Args: map[string]any{"/etc/shadow": "x"}}, "path.auth"},
		"nested_key":            {Call{Executor: "x", Args: map[string]any{"a": []any{map[string]any{"~/.ssh/x": 1}}}}, "path.ssh"},
		"relative_in_etc":       {at("/etc", "shadow"), "path.auth"},
		"relative_climbs":       {at("/home/u/app", "../../../etc/shadow"), "path.auth"},
		"relative_stays":        {at("/home/u/a/b/c", "../../../etc/shadow"), ""},
		"relative_no_cwd":       {path1("../../etc/shadow"), "path.auth"},
		"sibling_no_cwd":        {path1("../sys/unix.go"), ""},
		"sibling_dev_no_cwd":    {path1("../../dev/sdk/main.go"), ""},
		"empty_folder":          {Call{Executor: "x", Cwd: "/root/app", Args: map[string]any{"dir": "", "path": "main.go"}}, ""},
		"relative_in_ssh":       {at("/home/u/.ssh", "id_rsa"), "path.ssh"},
		"workspace_of_root":     {at("/root/app", "main.go"), ""},
		"workspace_root_ssh":    {at("/root/app", "../.ssh/x"), "path.ssh"},
		"workspace_root_gnupg":  {at("/root/.gnupg", "x"), "path.gnupg"},
		"dir_and_name":          {Call{Executor: "x", Args: map[string]any{"dir": "/etc", "name": "shadow"}}, "path.auth"},
		"dir_and_prose":         {Call{Executor: "x", Args: map[string]any{"dir": "/etc", "text": "shadow theatre"}}, ""},
		"own_path":              {path1("/home/u/.vaglio-data/store.db"), "own.path"},
		"own_path_spelled":      {path1("/home/u/app/../.vaglio-data"), "own.path"},
		"own_neighbour":         {path1("/home/u/.vaglio-data-2/x"), ""},
		"own_socket_in_command": {shell1("curl --unix-socket /run/vaglio.sock http://x/"), "own.path"},
		"own_tilde_in_command":  {shell1("cat ~/.vaglio-data/token"), "own.path"},
		"own_home_in_command":   {shell1(`cat "$HOME/.vaglio-data/token"`), "own.path"},
		"own_relative":          {at("/home/u/app", "../.vaglio-data/x"), "own.path"},
		"own_default":           {shell1("ls /home/x/.local/share/metnos/vaglio"), "own.path"},
		"own_default_neighbour": {path1("/home/x/.local/share/metnos-docs"), ""},
		"other_log":             {path1("/home/u/share/metnos"), ""},
		"body_shadow":           {Call{Executor: "send", Args: map[string]any{"body": "il file /etc/shadow ha le password"}}, ""},
		"label_not_url":         {Call{Executor: "send", Args: map[string]any{"body": "file: /etc/passwd is world readable"}}, ""},
		"web_url":               {path1("https://example.com/a//b/../root?x=%2Fetc"), ""},
		"testdata":              {at("/home/u/app", "./testdata/etc/shadow"), ""},
		"upper_case":            {path1("a/.SSH/id"), ""},
	})
}

func TestLinks(t *testing.T) {
	dir := t.TempDir()
	for link, target := range map[string]string{"l": "/etc", "key": filepath.Join(dir, "x/.ssh"), "to own": "/home/u/.vaglio-data"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	in := func(s string) Call { c := path1(s); c.Cwd = dir; return c }
	verify(t, newGuard(), map[string]row{
		"absolute":        {path1(dir + "/l/shadow"), "path.auth"},
		"relative":        {in("l/shadow"), "path.auth"},
		"dots":            {path1(dir + "/l/../root"), "path.root"},
		"through_none":    {path1(dir + "/none/../key/id"), "path.ssh"},
		"own_with_blank":  {in("to own"), "own.path"},
		"harmless":        {in("l/hostname"), ""},
		"missing":         {in("m/shadow"), ""},
		"cwd_is_the_link": {Call{Executor: "x", Args: map[string]any{"p": "shadow"}, Cwd: dir + "/l"}, "path.auth"},
	})
}

func TestCommands(t *testing.T) {
	args := func(m map[string]any) Call { return Call{Executor: "shell_exec", Args: m} }
	verify(t, newGuard(), map[string]row{
		"plain":            {shell1("rm -rf /"), "shell.rm_root"},
		"double_slash":     {shell1("rm -rf //"), "shell.rm_root"},
		"dot_slash":        {shell1("rm -rf /./././ x"), "shell.rm_root"},
		"home":             {shell1("rm -rf $HOME"), "shell.rm_home"},
		"home_braces":      {shell1("rm -rf ${HOME}/"), "shell.rm_home"},
		"home_star":        {shell1("rm -rf $HOME/*"), "shell.rm_home"},
		"below_home":       {shell1("rm -rf $HOME/tmp"), ""},
		"homer":            {shell1("rm -rf $HOMER"), ""},
		"zero_width":       {shell1("r\u200bm -rf /"), "shell.rm_root"},
		"fullwidth":        {shell1("ｍｋｆｓ /dev/x"), "shell.mkfs"},
		"nbsp":             {shell1("rm\u00a0-rf\u2003/\u2028ls"), "shell.rm_root"},
		"newline_end":      {shell1("rm -rf /\n"), "shell.rm_root"},
		"accent_stricter":  {shell1("èrm -rf /"), "shell.rm_root"},
		"list":             {shell1([]any{"rm", "-rf", "/"}), "shell.rm_root"},
		"list_of_go":       {shell1([]string{"rm", "-rf", "/"}), "shell.rm_root"},
		"list_with_number": {shell1([]any{"chmod", 777, "/"}), "shell.chmod"},
		"list_with_none":   {shell1([]any{"rm", "-r", nil}), ""},
		"nested_list":      {shell1([]any{"sh", "-c", []any{"dd if=x\n of=/dev/sda"}}), "shell.dd"},
		"cmd_hidden":       {args(map[string]any{"command": "ls", "cmd": "rm -rf /"}), "shell.rm_root"},
		"cmd_empty_first":  {args(map[string]any{"command": "", "cmd": "mkfs"}), "shell.mkfs"},
		"script":           {args(map[string]any{"script": "rm -rf /"}), "shell.rm_root"},
		"argv":             {args(map[string]any{"argv": []any{"rm", "-rf", "/"}}), "shell.rm_root"},
		"upper_key":        {args(map[string]any{"COMMAND": "mkfs.ext4 /dev/x"}), "shell.mkfs"},
		"nested":           {args(map[string]any{"opts": map[string]any{"command": "rm -rf /"}}), "shell.rm_root"},
		"dict":             {shell1(map[string]any{"a": "rm -rf /"}), "shell.rm_root"},
		"description":      {args(map[string]any{"command": "man mkfs.x", "description": "x"}), "shell.mkfs"},
		"only_described":   {args(map[string]any{"command": "ls", "description": "explains mkfs"}), ""},
		"by_shape":         {Call{Executor: "fs_write", Args: map[string]any{"command": "rm -rf /"}}, "tree.root"},
		"capability_list":  {Call{Executor: "x", Capabilities: []string{"fs:read", "code:exec"}, Args: map[string]any{"command": "rm -rf /"}}, "shell.rm_root"},
		"catalog_shell":    {Call{Executor: "Bash", Shell: true, Args: map[string]any{"command": "rm -rf /"}}, "shell.rm_root"},
		"dd_other_line":    {shell1("dd if=a\nls of=/dev/x"), ""},
		"url":              {shell1("curl https://example.com//x"), ""},
		"command_mid_path": {Call{Executor: "shell_exec", Cwd: "/", Args: map[string]any{"command": "boot the vm"}}, ""},
	})
}

func TestPathsComeInOrder(t *testing.T) {
	g := newGuard()
	tests := map[string]row{
		"keys_sorted":        {Call{Args: map[string]any{"b": "/etc/ssh", "a": "/boot"}}, "path.boot"},
		"strings_first":      {Call{Args: map[string]any{"a": []any{"/proc", "/root"}}}, "path.proc"},
		"one_string_in_turn": {Call{Args: map[string]any{"a": "/root/.ssh"}}, "path.ssh"},
		"values_before_keys": {Call{Args: map[string]any{"/etc/shadow": "/boot"}}, "path.boot"},
		"raw_before_forms":   {Call{Args: map[string]any{"a": "/tmp/../root", "b": "/boot"}}, "path.boot"},
		"paths_then_shell":   {Call{Executor: "shell_exec", Args: map[string]any{"command": "rm -rf / /x/.ssh/"}}, "path.ssh"},
		"shell_before_forms": {Call{Executor: "shell_exec", Args: map[string]any{"command": "rm -rf /", "a": "//root"}}, "shell.rm_root"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for range 50 { // map order changes from run to run
				if d, _ := g.Check(tt.call); d.ID != tt.want {
					t.Fatalf("got %q, want %q", d.ID, tt.want)
				}
			}
		})
	}
}

func TestReasons(t *testing.T) {
	tests := map[string]struct {
		call Call
		want string
	}{
		"ssh":  {path1("~/.ssh"), `guard: forbidden path violated: pattern '(^|/)\\.ssh(/|$)' in args`},
		"auth": {path1("/etc/passwd"), `guard: forbidden path violated: pattern '^/etc/(passwd|shadow|sudoers)' in args`},
		"rm":   {shell1("rm -rf /"), `guard: quasi-irrecoverable shell command: '\\brm\\s+-rf?\\s+/(\\s|$)'`},
		"bomb": {shell1(":(){ :|:& };:"), `guard: quasi-irrecoverable shell command: ':\\s*\\(\\s*\\)\\s*\\{\\s*:\\|:&\\s*\\}'`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d, _ := newGuard().Check(tt.call)
			if diff := cmp.Diff(tt.want, d.Reason); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestPythonDifferences holds rows on which Python and a naive translation to Go disagree.
// Python denies all of them.
func TestPythonDifferences(t *testing.T) {
	verify(t, newGuard(), map[string]row{
		"root_newline":      {path1("/root\n"), "path.root"},
		"ssh_newline":       {path1("x/.ssh\n"), "path.ssh"},
		"gnupg_newline":     {path1("a.gnupg\n"), "path.gnupg"},
		"proc_newline":      {path1("/proc\n"), "path.proc"},
		"etc_ssh_newline":   {path1("/etc/ssh\n"), "path.sshd"},
		"two_newlines":      {path1("/rootfs\n\n"), ""},
		"config_newline":    {path1(".config/a\nb/credentials.env"), "path.credentials"},
		"rm_file_separator": {shell1("rm\x1c-rf\x1f/\x1e"), "shell.rm_root"},
		"rm_next_line":      {shell1("rm\u0085-r\u3000/"), "shell.rm_root"},
		"rm_vertical_tab":   {shell1("rm\v-r\f~\n"), "shell.rm_home"},
		"bomb_wide_space":   {shell1(":\u2009(\u205f)\u1680{\u202f:|:&\u2029}"), "shell.forkbomb"},
		"chmod_wide":        {shell1("chmod\u2003-R\u20030777\u00a0/x"), "shell.chmod"},
		"dd_wide":           {shell1("dd\u00a0if=/dev/zero of=/dev/sda"), "shell.dd"},
		"digit_beside":      {shell1("R\t\ufeffrm mmkfs\ufeff77٣ mkfs"), "shell.mkfs"},
		"dd_superscript":    {shell1("77٣ dd\r \u3000\rof=/dev/1777"), "shell.dd"},
		"zwsp_is_no_space":  {shell1("rm -rf\u200b/"), ""},
	})
}

// TestFirstLookIsNecessary compares the cheap first checks with the bare expressions.
func TestFirstLookIsNecessary(t *testing.T) {
	pieces := []string{".ssh", "/", "\n", "/etc/", "passwd", "sudoers", "ssh", "/root", "/boot", "/sys", "/proc", "7", "/dev/", "sd", "loop", ".aws/credentials", ".config/", "x", "/credentials.env", ".gnupg"}
	g := newGuard()
	paths, commands := g.paths, g.commands
	for _, a := range pieces {
		for _, b := range pieces {
			for _, c := range pieces {
				s := a + b + c
				for _, r := range paths {
					if r.re.MatchString(s) != r.match(s) {
						t.Fatalf("%s: %q: the first look and the expression disagree", r.id, s)
					}
				}
			}
		}
	}
	words := []string{"rm", " ", "-rf", "-r", "/", "~", "mkfs", "dd", "of=/dev/", ":(){:|:&}", "chmod", "777", "\n", "x"}
	for _, a := range words {
		for _, b := range words {
			for _, c := range words {
				for _, d := range words {
					s := a + b + c + d
					for _, r := range commands {
						if r.re.MatchString(s) != r.match(s) {
							t.Fatalf("%s: %q: the first look and the expression disagree", r.id, s)
						}
					}
				}
			}
		}
	}
}

func TestUnreadableArgs(t *testing.T) {
	endless := map[string]any{}
	endless["x"] = endless
	type name string
	verify(t, newGuard(), map[string]row{
		"named_string": {Call{Args: map[string]any{"x": name("/root")}}, "path.root"},
		"strings":      {Call{Args: map[string]any{"x": []string{"a", "/root"}}}, "path.root"},
		"numbers":      {Call{Args: map[string]any{"a": 1, "b": 2.5, "c": true, "d": nil, "e": int32(3)}}, ""},
		"no_args":      {Call{}, ""},
	})
	for name, args := range map[string]map[string]any{
		"endless": endless,
		"struct":  {"x": struct{ P string }{"/root"}},
		"bytes":   {"x": []byte("/root")},
		"pointer": {"x": new(string)},
	} {
		if out := newGuard().Examine(Call{Executor: "Bash", Args: args}); out.Denial != nil || out.Unreadable == nil {
			t.Errorf("%s: got %+v", name, out)
		}
	}
}

// TestEndlessArgsAreNotJudged sends back args that nest too deep, whatever precedes them.
func TestEndlessArgsAreNotJudged(t *testing.T) {
	endless := map[string]any{}
	endless["x"] = endless
	if out := newGuard().Examine(Call{Executor: "fs_read", Args: map[string]any{"a": "/root", "b": endless}}); out.Denial != nil || out.Unreadable == nil {
		t.Errorf("got %+v", out)
	}
}

// TestAFailureDenies denies a call whose reading failed, and every call if a table is
// missing.
func TestAFailureDenies(t *testing.T) {
	g := newGuard()
	if d, _ := g.Check(Call{Reading: &reading.Reading{Failed: true}}); d.ID != faultID {
		t.Errorf("a failed reading: %q", d.ID)
	}
	if d, _ := g.Check(Call{}); d.ID != "" {
		t.Errorf("nothing: %q", d.ID)
	}
	g.broken = errors.New("a mistake")
	if d, _ := g.Check(Call{}); d.ID != faultID {
		t.Errorf("a guard without its tables: %q", d.ID)
	}
}

func TestPanicDenies(t *testing.T) {
	g := newGuard()
	g.paths[0] = &rule{id: g.paths[0].id} // a guard that is broken inside
	d, denied := g.Check(path1("x/.ssh/"))
	if !denied || d.ID != "guard.fault" {
		t.Errorf("got %v %+v", denied, d)
	}
}

// TestMistakesInTheRules holds that the error names the line of a malformed row.
func TestMistakesInTheRules(t *testing.T) {
	const good = "a.b\n    what x\n    why y\n    instead z\n"
	for text, want := range map[string]string{
		good:                               "",
		"    why y\n":                      "rules.txt:1",
		good + "    why y\n":               "rules.txt:5",
		"a.b\n    who x\n":                 "rules.txt:2",
		"a.b\n    what\n":                  "rules.txt:2",
		"a.b\n    why y\n    instead z\n":  "a.b needs",
		good + "    pattern x\n":           "a.b needs",
		"a.b\n    what x\n    why y\n":     "a.b needs",
		"a.b\n    what x\n    instead z\n": "a.b needs",
		"a.b\n    pattern (\n    why y\n    instead z\n": "a.b: error parsing",
	} {
		_, err := parseRules(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestRuleTable(t *testing.T) {
	seen := map[string]bool{}
	check := func(r rule) {
		t.Helper()
		if seen[r.id] || !regexp.MustCompile(`^[a-z]+\.[a-z_]+$`).MatchString(r.id) {
			t.Errorf("bad id %q", r.id)
		}
		seen[r.id] = true
		for _, sentence := range []string{r.why, r.instead} {
			if !strings.HasSuffix(sentence, ".") || strings.Contains(sentence, "\n") {
				t.Errorf("%s: %q is not a sentence", r.id, sentence)
			}
		}
	}
	table, err := builtIn()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range append(slices.Clip(table), faultRule()) {
		check(*r)
	}
	if g := newGuard(); len(g.paths) != 11 || len(g.commands) != 6 {
		t.Errorf("the core has %d paths and %d commands, want 11 and 6", len(g.paths), len(g.commands))
	}
}
