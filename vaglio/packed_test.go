package vaglio_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/metnos/vaglio/internal/workfiles"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// archived returns a tar and a zip archive of empty files.
func archived(t *testing.T, names ...string) (tarred, zipped string) {
	t.Helper()
	var a, z bytes.Buffer
	out, list := tar.NewWriter(&a), zip.NewWriter(&z)
	for _, name := range names {
		header := &tar.Header{Name: name, Mode: 0o600}
		if name[len(name)-1] == '@' {
			header = &tar.Header{Name: name[:len(name)-1], Typeflag: tar.TypeSymlink, Linkname: "src"}
		}
		if err := out.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := list.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	out.Close()
	list.Close()
	return a.String(), z.String()
}

// TestWhatAnArchivePutsOverTheHooksSettings is denied where the archive can be listed. Otherwise a person
// is asked if settings that install the hook lie where it is unpacked.
func TestWhatAnArchivePutsOverTheHooksSettings(t *testing.T) {
	t.Parallel()
	const settings = ".claude/settings.json"
	home := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(".claude/x", "")
	for _, folder := range []string{"app", "set"} {
		for name, holds := range map[string][]string{"evil": {settings}, "good": {"a", "src/b"}, "deep": {"x/a", "x/" + settings}, "dots": {"../.claude/settings.json"}, "link": {".claude@"}, "to": {"cfg/settings.json"}} {
			tarred, zipped := archived(t, holds...)
			put(folder+"/"+name+".tar", tarred)
			put(folder+"/"+name+".zip", zipped)
		}
		put(folder+"/bad.tar.xz", "\xfd7zXZ\x00")
		put(folder+"/src/a", "")
		put(folder+"/sub/"+settings, "{}")
		put(folder+"/README.md", "read me")
		put(folder+"/codex/config.toml", "")
	}
	_, large := archived(t, slices.Repeat([]string{"a"}, 19_999)...)
	put("app/large.zip", large)
	put("set/large.zip", large)
	put("set/"+settings, `{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "vaglio hook"}]}]}}`)
	put("set/plain/"+settings, `{"permissions": {"allow": ["Bash(npm test:*)"]}}`)
	put("app/plain/a", "")
	for _, folder := range []string{"app", "set"} {
		if err := os.Symlink(home+"/.claude", filepath.Join(home, folder, "cfg")); err != nil {
			t.Fatal(err)
		}
	}
	judge, err := effects.New(effects.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	engine, err := vaglio.New(vaglio.Config{
		Judges: []vaglio.Gate{{Judge: judge, MinScore: effects.Threshold}}, Home: home, Files: workfiles.Disk{},
		Workspaces: []string{home + "/app", home + "/set"}, Own: gateAt(home),
	})
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string][2]string{ // where no settings lie, and where some do
		"tar xf evil.tar":                                    {"deny", "deny"},
		"tar -x --file=evil.tar":                             {"deny", "deny"},
		"tar x < evil.tar":                                   {"deny", "deny"},
		"unzip -o evil.zip":                                  {"deny", "deny"},
		"7z x evil.zip":                                      {"deny", "deny"},
		"cd src && tar xf ../evil.tar -C ..":                 {"deny", "deny"},
		"tar xf deep.tar --strip-components=1":               {"deny", "deny"},
		"tar xf dots.tar -C src":                             {"deny", "deny"},
		"tar xf evil.tar -C sub":                             {"deny", "deny"},
		"unzip -o evil.zip -d ~/.claude/..":                  {"deny", "deny"},
		"tar xf link.tar":                                    {"deny", "deny"},
		"tar xf to.tar":                                      {"deny", "deny"},
		"tar xf good.tar":                                    {"pass", "pass"},
		"unzip good.zip && ls src":                           {"pass", "pass"},
		"tar xf deep.tar":                                    {"pass", "pass"}, // a project of its own
		"mkdir -p new && tar xf evil.tar -C new":             {"pass", "pass"},
		"tar tf evil.tar && unzip -l evil.zip":               {"pass", "pass"},
		"tar xf bad.tar.xz":                                  {"pass", "ask"},
		"tar xf absent.tar":                                  {"pass", "ask"},
		"curl -sL https://x.example/a.tar.gz | tar xz":       {"pass", "ask"},
		"tar xf bad.tar.xz -C src":                           {"pass", "pass"},
		"curl -sL https://x.example/a.tgz | tar xz -C plain": {"pass", "pass"}, // what a project has of its own
		"unzip -o absent.zip -d plain":                       {"pass", "pass"},
		"unzip large.zip -d a":                               {"pass", "pass"},
		"bsdtar xf large.zip -C a x -C b x -C c x -C d x":    {"ask", "ask"}, // more than is looked at
		"cp evil.tar src/ && tar cf all.tar src":             {"pass", "pass"},
		"mv .claude old":                                     {"ask", "deny"},
		"rm -r .claude":                                      {"ask", "deny"},
		"git clean -fdx .claude":                             {"ask", "deny"},
		"git stash push -u -- .claude":                       {"ask", "deny"},
		"rsync -a sub/.claude/ ~/.claude/":                   {"deny", "deny"},
		"cp -r sub/.claude/. .claude/":                       {"deny", "deny"},
		"rsync -a src/ ~/.claude/":                           {"ask", "ask"}, // what a person may put there
		"cp -r sub/.claude/. lib/":                           {"ask", "ask"}, // where no client looks for settings
		"cp -r codex/. ~/.claude/":                           {"ask", "ask"}, // it has the name of another client's settings
		"cp -r codex/. ~/.codex/":                            {"deny", "deny"},
		"rsync -a src/ lib/":                                 {"pass", "pass"},
		"mv .gemini old":                                     {"ask", "ask"},
	} {
		for i, folder := range []string{"app", "set"} {
			p := vaglio.Proposal{Session: "s", Executor: "Bash", Args: vaglio.Args{"command": line}, Context: vaglio.Context{Cwd: home + "/" + folder}}
			v, err := engine.Judge(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			end := "pass"
			if !v.Approved {
				if end = "ask"; v.BlockedBy == vaglio.PhaseGuard {
					end = "deny"
				}
			}
			if end != want[i] {
				t.Errorf("%s in %s: %s, want %s: %s", line, folder, end, want[i], v.Reason)
			}
		}
	}
}
