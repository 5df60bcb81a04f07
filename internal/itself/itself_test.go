package itself_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/itself"
	"github.com/metnos/vaglio/internal/seals"
)

func TestVaglioKnowsWhatItIsMadeOf(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	installed := filepath.Join(home, "bin", "vaglio")
	settings := []byte(`{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "` + installed + ` hook claude-code"}]}]}}`)
	file := filepath.Join(home, ".claude", "settings.json")
	if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o700), os.WriteFile(file, settings, 0o600)); err != nil {
		t.Fatal(err)
	}
	p := itself.Process{
		Program: "/opt/vaglio", Args: []string{"vaglio", "serve"}, Number: 4242, Home: home, Data: []string{home + "/data"}, Policy: "/srv/policy.yaml",
		Listen: "127.0.0.1:8787", PublicURL: "https://gate.example.org",
		Environ: []string{
			"METNOS_SLACK_BOT_TOKEN_FILE=" + home + "/slack", "METNOS_TEMPLATES=/srv/texts", "METNOS_TELEGRAM_TOKEN=x", "OTHER_FILE=/x", "XPC_SERVICE_NAME=org.gate",
		},
	}
	f := p.Facts()
	for what, row := range map[string]struct{ got, want []string }{
		"data":      {f.Data, []string{home + "/data", home + "/slack"}},
		"config":    {f.Config, []string{"/srv/policy.yaml", "/srv/texts"}},
		"programs":  {f.Programs, []string{"/opt/vaglio", installed}},
		"settings":  {f.Settings, []string{file, home + "/.claude/settings.local.json"}},
		"local":     {f.Local, []string{".claude/settings.json", ".claude/settings.local.json", ".cursor/hooks.json", ".codex/hooks.json", ".windsurf/hooks.json", ".github/hooks/vaglio.json", ".opencode/plugin/vaglio.js"}},
		"units":     {f.Units, []string{"org.gate"}},
		"addresses": {f.Addresses, []string{"127.0.0.1:8787", "gate.example.org"}},
	} {
		for _, want := range row.want {
			if !slices.Contains(row.got, want) {
				t.Errorf("%s: %q lacks %s", what, row.got, want)
			}
		}
	}
	if slices.ContainsFunc(f.Settings, func(s string) bool { return strings.Contains(s, ".codex") }) {
		t.Errorf("settings of a client without the hook: %q", f.Settings)
	}
	if slices.Contains(f.Local, ".gemini/settings.json") || slices.Contains(f.Local, ".codex/config.toml") {
		t.Errorf("a project's other settings of a client without the hook: %q", f.Local)
	}
	if len(f.Env) != 3 || f.Env["METNOS_DATA_DIR"] != f.Data[0] || !slices.Equal(f.Processes, []int{4242}) || f.Command != "vaglio serve" {
		t.Errorf("variables %v, processes %v", f.Env, f.Processes)
	}
	watch := seals.New(p.Files())
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if told := strings.Join(watch.Changes(), "\n"); !strings.Contains(told, "it runs the hook of claude-code") {
		t.Errorf("told %q", told)
	}
}

func TestAHookIsNotInstalledFromAProject(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	project := filepath.Join(home, "src", "gate")
	exe := filepath.Join(project, "bin", "vaglio")
	for _, dir := range []string{filepath.Join(project, ".git"), filepath.Join(home, ".git"), filepath.Join(home, "bin"), filepath.Dir(exe)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.WriteFile(exe, nil, 0o700), os.Symlink(exe, filepath.Join(home, "bin", "linked"))); err != nil {
		t.Fatal(err)
	}
	for name, wrong := range map[string]bool{exe: true, filepath.Join(home, "bin", "linked"): true, filepath.Join(home, "bin", "vaglio"): false} {
		err := itself.Outside(name, home)
		if (err != nil) != wrong {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && (!strings.Contains(err.Error(), "lies in the project "+project) || !strings.Contains(err.Error(), filepath.Join(home, ".local", "bin", "vaglio"))) {
			t.Errorf("it is not said what helps: %v", err)
		}
	}
}
