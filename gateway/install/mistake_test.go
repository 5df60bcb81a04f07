package install

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// No error quotes the content of a broken file, and the file stays as it is.
func TestMistakesQuoteNothing(t *testing.T) {
	t.Parallel()
	const secret = "sk-ant-hunter2"
	for name, row := range map[string]struct{ client, file, text, want string }{
		"literal":        {"claude-code", ".claude/settings.json", "{\n  \"env\": {\"TOKEN\": " + secret + "}}", "line 2, column 20: want a value: an object"},
		"escape":         {"claude-code", ".claude/settings.json", `{"a": "` + secret + `\q"}`, "line 1, column 7: want a value"},
		"comma":          {"gemini", ".gemini/settings.json", `{"a": "b" "` + secret + `": 1}`, "line 1, column 11: want a comma or }"},
		"list":           {"gemini", ".gemini/settings.json", `["b" "` + secret + `"]`, "line 1, column 6: want a comma or ]"},
		"name":           {"copilot", ".copilot/hooks/vaglio.json", "{1: \"" + secret + "\"}", "line 1, column 2: want a name in double quotes"},
		"colon":          {"copilot", ".copilot/hooks/vaglio.json", `{"` + secret + `" 1}`, "want a colon"},
		"cut":            {"qwen", ".qwen/settings.json", `{"a": "` + secret, "want the rest"},
		"two":            {"qwen", ".qwen/settings.json", `{} "` + secret + `"`, "line 1, column 4: want nothing more"},
		"comment":        {"droid", ".factory/settings.json", "{} // " + secret + "\xff\n", "want a comment in UTF-8"},
		"yaml":           {"hermes", ".hermes/config.yaml", "key: \"" + secret + "\nother: [", "line "},
		"yaml-unclosed":  {"hermes", ".hermes/config.yaml", "key: [" + secret + "\n", "line "},
		"no-such-number": {"cursor", ".cursor/hooks.json", `{"a": 0` + secret + `}`, "want a value"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, row.client)
			path := filepath.Join(o.Home, row.file)
			write(t, path, row.text, 0o600)
			_, err := Add(o)
			if err == nil || !strings.Contains(err.Error(), row.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%v, want %q and nothing of the file", err, row.want)
			}
			if got := tree(t, o.Home); len(got) != 1 || !strings.HasSuffix(got["/"+row.file], row.text) {
				t.Errorf("the file was touched: %q", got)
			}
		})
	}
	t.Run("servers", func(t *testing.T) {
		t.Parallel()
		_, err := Wrap(wrappedFile(t, `{"mcpServers": {"x": {"env": {"TOKEN": `+secret+`}}}}`), Options{Program: "/usr/bin/vaglio"})
		if err == nil || !strings.Contains(err.Error(), "line 1, column 40: want a value") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v", err)
		}
	})
	for _, text := range []string{"token = " + secret + "\n", "a = 1\n\"" + secret + "\" = 1\n\"" + secret + "\" = 2\n"} {
		o := options(t, "codex")
		write(t, CodexConfig(o.Home), text, 0o600)
		_, err := TrustCodex(o.Home, "/h/.codex/hooks.json", nil)
		if err == nil || !strings.Contains(err.Error(), "want TOML") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v", err)
		}
	}
}

// A hook of somebody else that mentions vaglio is not ours, and reading does not wait for a pipe
// or a folder in a file's place.
func TestOnlyOurHooksAreOurs(t *testing.T) {
	t.Parallel()
	o := options(t, "claude-code")
	const text = `{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "notify-send vaglio done"}]}]}}`
	write(t, filepath.Join(o.Home, ".claude/settings.json"), text, 0o600)
	if s, err := Look(o); err != nil || s.Installed {
		t.Errorf("%+v %v", s, err)
	}
	changes, err := Remove(o)
	if err != nil || changes[0].Changes() {
		t.Errorf("%v %s", err, changes[0].Diff())
	}
	for line, want := range map[string]string{
		"HOME=/x /opt/vaglio-hook claude-code":        "/opt/vaglio-hook",
		"exec '/my apps/vaglio' hook codex":           "/my apps/vaglio",
		"vaglio hook gemini --limit 1h":               "vaglio",
		"/opt/vaglio-hook":                            "",
		"vaglio mcp -- hook":                          "",
		"/opt/vaglio-hook-old claude-code":            "",
		`"/opt/a b/vaglio-hook" qwen --limit 1m0s; x`: "/opt/a b/vaglio-hook",
	} {
		if got := strings.Join(hooksOf(line), " "); got != want {
			t.Errorf("%s runs %q, want %q", line, got, want)
		}
	}
	o.Client = "gemini"
	write(t, filepath.Join(o.Home, ".gemini/settings.json/inner"), "", 0o600)
	if _, err := Add(o); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("%v", err)
	}
}

// Both the client and its hook are told the client's own cap.
func TestTheCapIsTheLimit(t *testing.T) {
	t.Parallel()
	for client, row := range map[string]struct {
		asked time.Duration
		want  string
	}{
		"qwen": {10 * time.Minute, "1m0s"}, "claude-code": {10 * time.Minute, "10m0s"}, "codex": {90 * time.Minute, "1h30m0s"}, "hermes": {time.Hour, "5m0s"},
	} {
		o := options(t, client)
		o.Limit = row.asked
		apply(t, Add, o)
		if s, err := Look(o); err != nil || s.Limits.Hook.String() != row.want || s.Limits.Client != s.Limits.Hook {
			t.Errorf("%s: %+v %v", client, s, err)
		}
	}
}
