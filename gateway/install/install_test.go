package install

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/gateway/hook"
	"github.com/metnos/vaglio/internal/golden"
	"github.com/metnos/vaglio/internal/strictjson"
)

func options(t *testing.T, client string) Options {
	t.Helper()
	o := Options{Client: client, Scope: User, Home: t.TempDir(), Project: t.TempDir(), Program: "/opt/vaglio/bin/vaglio-hook"}
	if targets()[client].files[0].user == "" {
		o.Scope, o.Home = Project, o.Project
	}
	return o
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func apply(t *testing.T, plan func(Options) ([]Change, error), o Options) []Change {
	t.Helper()
	changes, err := plan(o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range changes {
		if err := changes[i].Write(); err != nil {
			t.Fatal(err)
		}
	}
	return changes
}

// tree returns every file below a folder, with its mode.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, dir)] = info.Mode().String() + " " + string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestEveryClient installs into an empty home: the file matches the one known to work, installing
// twice changes nothing, the limits agree, and removing it leaves nothing.
func TestEveryClient(t *testing.T) {
	for _, name := range Clients() {
		t.Run(name, func(t *testing.T) {
			o := options(t, name)
			changes := apply(t, Add, o)
			for i := range changes {
				golden.Check(t, filepath.Join("testdata", name+"-"+filepath.Base(changes[i].Path)), string(changes[i].After))
			}
			again, err := Add(o)
			if err != nil {
				t.Fatal(err)
			}
			for i := range again {
				if again[i].Changes() {
					t.Errorf("twice changes %s", again[i].Diff())
				}
			}
			s, err := Look(o)
			if err != nil || !s.Installed || !s.Limits.Agree() || s.Limits.Hook != hook.LimitOf(name) {
				t.Errorf("%+v %v", s, err)
			}
			apply(t, Remove, o)
			if left := tree(t, o.Home); len(left) > 0 {
				t.Errorf("left %v", left)
			}
			if s, err := Look(o); err != nil || s.Installed {
				t.Errorf("%+v %v", s, err)
			}
		})
	}
}

// hand is a file as people write it: with comments, an order, and hooks of their own.
const hand = `// mine
{
    "model": "x", // the good one
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
        /* before */
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "/usr/bin/lint"}]} // lints
        ]
    },
    "z": [1,2,
      3]
}
`

// TestOnlyWhatMustChanges checks that every byte that is not ours is preserved, whatever a file
// looks like, and that removal restores the file.
func TestOnlyWhatMustChanges(t *testing.T) {
	for name, before := range map[string]string{
		"by-hand": hand, "empty": "", "blank": "\n", "object": "{}", "one-line": `{"a":1}`, "open": "{\n}\n",
		"tabs": "{\n\t\"a\": 1\n}\n", "trailing-commas": "{\n  \"hooks\": {\n    \"PreToolUse\": [\n    ],\n  },\n}\n",
		"crlf": "{\r\n  \"a\": 1\r\n}\r\n", "no-line-end": "{\n  \"a\": {}\n}",
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t, "claude-code")
			path := filepath.Join(o.Home, ".claude", "settings.json")
			write(t, path, before, 0o640)
			was := tree(t, o.Home)
			apply(t, Add, o)
			now, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, filepath.Join("testdata", "edit-"+name+".json"), string(now))
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("mode %v %v", info.Mode(), err)
			}
			for line := range strings.Lines(before) {
				if text := strings.ReplaceAll(strings.Trim(line, " \t\r\n,]}"), ",", ""); !strings.Contains(strings.ReplaceAll(string(now), ",", ""), text) {
					t.Errorf("lost %q", text)
				}
			}
			apply(t, Remove, o)
			if diff := cmp.Diff(was, tree(t, o.Home)); diff != "" {
				t.Errorf("after uninstall (-before +after)\n%s", diff)
			}
		})
	}
}

// TestAChangedFileLosesOnlyTheHook removes the hook from a file that its owner has changed since.
func TestAChangedFileLosesOnlyTheHook(t *testing.T) {
	o := options(t, "claude-code")
	path := filepath.Join(o.Home, ".claude", "settings.json")
	write(t, path, hand, 0o600)
	apply(t, Add, o)
	now, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, strings.Replace(string(now), `"x"`, `"y"`, 1), 0o600)
	o.Limit = 10 * time.Minute
	apply(t, Add, o)
	if s, err := Look(o); err != nil || s.Limits != (Limits{Client: 10 * time.Minute, Hook: 10 * time.Minute}) {
		t.Errorf("%+v %v", s, err)
	}
	apply(t, Remove, o)
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Replace(hand, `"x"`, `"y"`, 1), string(after)); diff != "" {
		t.Error(diff)
	}
}

// TestWhatCannotBeReadIsLeftAlone checks that the error names the line and the column.
func TestWhatCannotBeReadIsLeftAlone(t *testing.T) {
	for name, tc := range map[string]struct{ client, file, text, want string }{
		"json":       {"claude-code", ".claude/settings.json", "{\n  \"a\": 1,\n  b\n}", "line 3, column 3"},
		"cut":        {"gemini", ".gemini/settings.json", "{\"a\":", "line 1, column"},
		"list":       {"qwen", ".qwen/settings.json", "[]", "want an object"},
		"hooks":      {"claude-code", ".claude/settings.json", "{\n\"hooks\": 3}", `line 2, column 10: "hooks" is not an object`},
		"event":      {"claude-code", ".claude/settings.json", "{\"hooks\": {\"PreToolUse\": {}}}", `"PreToolUse" is not a list`},
		"yaml":       {"hermes", ".hermes/config.yaml", "a: [1\nb: 2\n", "line 2, column 1"},
		"yaml-hooks": {"hermes", ".hermes/config.yaml", "hooks:\n  x: []\n", "by hand"},
		"foreign":    {"cline", ".cline/hooks/PreToolUse", "#!/bin/sh\necho mine\n", "not by vaglio"},
		"plugin":     {"opencode", ".config/opencode/plugin/vaglio.js", "mine", "not by vaglio"},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t, tc.client)
			write(t, filepath.Join(o.Home, tc.file), tc.text, 0o600)
			was := tree(t, o.Home)
			_, err := Add(o)
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), tc.file) {
				t.Errorf("%v, want %q", err, tc.want)
			}
			if diff := cmp.Diff(was, tree(t, o.Home)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestLinksStay writes through a symbolic link, as used by people who keep their settings in a
// repository.
func TestLinksStay(t *testing.T) {
	o := options(t, "claude-code")
	target := filepath.Join(o.Home, "dotfiles", "claude.json")
	write(t, target, "{}\n", 0o600)
	link := filepath.Join(o.Home, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	apply(t, Add, o)
	if to, err := os.Readlink(link); err != nil || to != target {
		t.Errorf("%q %v", to, err)
	}
	if data, _ := os.ReadFile(target); !bytes.Contains(data, []byte("PreToolUse")) {
		t.Errorf("%s", data)
	}
	apply(t, Remove, o)
	if data, _ := os.ReadFile(target); string(data) != "{}\n" {
		t.Errorf("%s", data)
	}
}

// TestAFileThatChangesMeanwhileIsLeftAlone plays an editor that saves between the question and
// the answer.
func TestAFileThatChangesMeanwhileIsLeftAlone(t *testing.T) {
	o := options(t, "claude-code")
	path := filepath.Join(o.Home, ".claude", "settings.json")
	write(t, path, "{}", 0o600)
	changes, err := Add(o)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, `{"a":1}`, 0o600)
	if err := changes[0].Write(); err == nil || !strings.Contains(err.Error(), "changed meanwhile") {
		t.Error(err)
	}
	if data, _ := os.ReadFile(path); string(data) != `{"a":1}` {
		t.Errorf("%s", data)
	}
}

// TestManagedSettingsAreEveryUsers checks that every user can read managed settings, and run their
// hook, whatever the umask of the person who installs.
func TestManagedSettingsAreEveryUsers(t *testing.T) {
	o := options(t, "claude-code")
	o.Scope = Managed
	root := t.TempDir()
	for _, dir := range []string{root, filepath.Dir(root)} { // the test's own folders are private
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	o.Program = filepath.Join(root, "bin", "vaglio-hook")
	if err := os.Mkdir(filepath.Dir(o.Program), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, o.Program, "", 0o700)
	for _, p := range []string{o.Program, filepath.Dir(o.Program)} {
		if _, err := Add(o); err == nil || !strings.Contains(err.Error(), p+" is closed to others") {
			t.Errorf("%s: %v", p, err)
		}
		if err := os.Chmod(p, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	closed, linked := t.TempDir(), filepath.Join(root, "linked")
	write(t, filepath.Join(closed, "vaglio-hook"), "", 0o755)
	if err := os.Symlink(filepath.Join(closed, "vaglio-hook"), linked); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	away := o
	away.Program = linked
	if _, err := Add(away); err == nil || !strings.Contains(err.Error(), closed+" is closed to others") {
		t.Errorf("a link to %s: %v", closed, err)
	}
	changes, err := Add(o)
	if err != nil {
		t.Fatal(err)
	}
	c := changes[0]
	if c.Before != nil {
		t.Skip("this machine has managed settings")
	}
	c.Path = filepath.Join(root, "etc", "claude-code", "managed-settings.json")
	if err := c.Write(); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fs.FileMode{c.Path: 0o644, filepath.Dir(c.Path): 0o755, filepath.Join(root, "etc"): 0o755} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v, want %s", path, info.Mode(), err, want)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"no such client":   func(o *Options) { o.Client = "vim" },
		"by hand":          func(o *Options) { o.Client = "amp" },
		"relative program": func(o *Options) { o.Program = "vaglio-hook" },
		"negative limit":   func(o *Options) { o.Limit = -time.Second },
		"no such scope":    func(o *Options) { o.Client, o.Scope = "codex", Managed },
	} {
		o := options(t, "claude-code")
		change(&o)
		if _, err := Add(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestAHookThatOutlastsItsClientIsSeen compares the two limits.
func TestAHookThatOutlastsItsClientIsSeen(t *testing.T) {
	o := options(t, "claude-code")
	apply(t, Add, o)
	path := filepath.Join(o.Home, ".claude", "settings.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, strings.Replace(strings.Replace(string(data), `"timeout": 3600`, `"timeout": 5`, 1), "{\n", "{\n  \"disableAllHooks\": true,\n", 1), 0o600)
	s, err := Look(o)
	if err != nil || s.Limits.Agree() || s.Limits.Client != 5*time.Second || len(s.Off) != 1 {
		t.Errorf("%+v %v", s, err)
	}
}

// TestCodexIsToldWhatToTrust checks that the rest of Codex's configuration is preserved.
func TestCodexIsToldWhatToTrust(t *testing.T) {
	const before = "# mine\nmodel = \"x\" # good\n\n[hooks.state.\"/h/.codex/hooks.json:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:old\"\n\n[mcp.a]\nb = 1"
	hooks := []Trusted{{Key: "/h/.codex/hooks.json:pre_tool_use:0:0", Hash: "sha256:new"}, {Key: "/h/.codex/hooks.json:stop:0:0", Hash: "sha256:s"}}
	out, err := trust([]byte(before), "/h/.codex/hooks.json", hooks)
	if err != nil {
		t.Fatal(err)
	}
	want := "# mine\nmodel = \"x\" # good\n\n[mcp.a]\nb = 1\n[hooks.state.\"/h/.codex/hooks.json:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:new\"\n" +
		"[hooks.state.\"/h/.codex/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:s\"\n"
	if diff := cmp.Diff(want, string(out)); diff != "" {
		t.Error(diff)
	}
	if again, err := trust(out, "/h/.codex/hooks.json", hooks); err != nil || string(again) != want {
		t.Errorf("%s %v", again, err)
	}
	if gone, err := trust(out, "/h/.codex/hooks.json", nil); err != nil || string(gone) != "# mine\nmodel = \"x\" # good\n\n[mcp.a]\nb = 1\n" {
		t.Errorf("%q %v", gone, err)
	}
	if _, err := trust([]byte("a = 1\nb = \n"), "/h", hooks); err == nil || !strings.Contains(err.Error(), "line 2, column") {
		t.Error(err)
	}
}

func valid(text string) bool {
	var v any
	return strictjson.UnmarshalLoose([]byte(text), &v) == nil
}

func FuzzSettings(f *testing.F) {
	f.Add(hand)
	f.Add("{\"hooks\":{\"PreToolUse\":[{\"hooks\":[{\"command\":\"/x/vaglio-hook claude-code\"}]},],},}")
	o := Options{Client: "claude-code", Scope: User, Home: "/h", Program: "/opt/vaglio-hook"}
	form := targets()["claude-code"].files[0].form
	f.Fuzz(func(t *testing.T, text string) {
		out, err := form.add([]byte(text), o)
		if err != nil {
			return
		}
		again, err := form.add(out, o)
		if err != nil || string(again) != string(out) {
			t.Fatalf("%v: twice from %q:\n%s\n%s", err, text, out, again)
		}
		if found, _, err := form.holds(out, o); err != nil || !found {
			t.Fatalf("%v: not there in %q", err, out)
		}
		if valid(text) && !valid(string(out)) {
			t.Fatalf("plain JSON is plain no more: %q", out)
		}
		gone, err := form.remove(out, o)
		if found, _, _ := form.holds(gone, o); err != nil || found {
			t.Fatalf("%v: still there in %q", err, gone)
		}
	})
}
