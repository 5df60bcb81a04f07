package install

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/gateway/hook"
)

// tableOf returns what `vaglio status` shows about a client that has the hook but is not on the
// PATH.
func tableOf(t *testing.T, o Options, trust Trust) (line string, wrong bool) {
	t.Helper()
	t.Setenv("PATH", t.TempDir())
	var b strings.Builder
	wrong, err := WriteStatus(t.Context(), &b, o, Looks{
		LastAsked: func(string) time.Time { return time.Time{} },
		Codex:     func(context.Context) Trust { return trust },
	})
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ = strings.Cut(b.String(), "\n")
	return line, wrong
}

// Codex and Hermes silently skip a hook that their users have not allowed.
func TestStatusTellsOfTrust(t *testing.T) {
	o := options(t, "codex")
	apply(t, Add, o)
	for trust, says := range map[Trust]string{TrustGiven: "", TrustMissing: "does not run the hook", TrustUnknown: "could not be asked"} {
		line, wrong := tableOf(t, o, trust)
		fields := strings.Fields(line)
		if len(fields) < 6 || fields[2] != "user" || fields[4] != string(trust) || wrong != (says != "") || !strings.Contains(line, says) {
			t.Errorf("%q: %v %s", trust, wrong, line)
		}
	}
	o = options(t, "hermes")
	apply(t, Add, o)
	if line, wrong := tableOf(t, o, ""); wrong || strings.Fields(line)[4] != "yes" {
		t.Errorf("%v %s", wrong, line)
	}
	if err := os.Remove(filepath.Join(o.Home, ".hermes", "shell-hooks-allowlist.json")); err != nil {
		t.Fatal(err)
	}
	if line, wrong := tableOf(t, o, ""); !wrong || strings.Fields(line)[4] != "no" {
		t.Errorf("%v %s", wrong, line)
	}
}

// A hook asks if Codex trusts it as it is and it runs before a call.
func TestHooksThatCodexRuns(t *testing.T) {
	for said, asks := range map[string]bool{
		`"eventName":"preToolUse","enabled":true,"trustStatus":"trusted"`:   true,
		`"eventName":"preToolUse","enabled":true,"trustStatus":"managed"`:   true,
		`"eventName":"preToolUse","enabled":true,"trustStatus":"modified"`:  false,
		`"eventName":"preToolUse","enabled":true,"trustStatus":"untrusted"`: false,
		`"eventName":"preToolUse","enabled":true`:                           false,
		`"eventName":"preToolUse","enabled":false,"trustStatus":"trusted"`:  false,
		`"eventName":"stop","enabled":true,"trustStatus":"trusted"`:         false,
	} {
		answer := `{"id":0,"result":{}}` + "\n" + `{"id":1,"result":{"data":[{"hooks":[{"key":"k","command":"/opt/vaglio-hook codex","currentHash":"h",` + said + `},` +
			`{"key":"o","command":"/opt/other codex","currentHash":"h","eventName":"preToolUse","enabled":true,"trustStatus":"trusted"}]}]}}` + "\n"
		hooks, err := listHooks(&strings.Builder{}, strings.NewReader(answer), "/p")
		if err != nil || len(hooks) != 1 || hooks[0] != (Trusted{"k", "h", asks}) {
			t.Errorf("%s: %+v %v", said, hooks, err)
		}
	}
}

// A switch counts wherever the client reads it, and managed settings override those of users.
func TestStatusFindsOffSwitches(t *testing.T) {
	for _, row := range []struct {
		client, file, text string
		off                bool
	}{
		{"claude-code", ".claude/settings.local.json", `{"disableAllHooks": true}`, true},
		{"claude-code", "p/.claude/settings.json", `{"disableAllHooks": true}`, true},
		{"claude-code", "p/.claude/settings.local.json", `{ /* not now */ "disableAllHooks" : true }`, true},
		{"claude-code", "p/.claude/settings.local.json", `{"disableAllHooks": false}`, false},
		{"claude-code", "p/other.json", `{"disableAllHooks": true}`, false},
		{"claude-code", "p/.claude/settings.json", `{"env": {"METNOS_AGENT_SOCKET": "/home/u/p/.s"}}`, true},
		{"claude-code", "p/.claude/settings.local.json", `{"env": {"A": "b", "METNOS_DATA_DIR" : "d"}}`, true},
		{"claude-code", "p/.claude/settings.json", `{"env": {"A": "METNOS_DATA_DIR"}}`, false},
		{"claude-code", ".claude/settings.local.json", `{"env": {"METNOS_AGENT_SOCKET": "/run/vaglio/agent.sock"}}`, false},
		{"qwen", "p/.qwen/settings.json", `{"env": {"METNOS_AGENT_TOKEN_FILE": "t"}}`, true},
		{"gemini", "p/.gemini/settings.json", `{"hooksConfig": {"notifications": true, "enabled": false}}`, true},
		{"gemini", "p/.gemini/settings.json", `{"hooksConfig": {"disabled": ["lint", "vaglio"]}}`, true},
		{"gemini", "p/.gemini/settings.json", `{"hooksConfig": {"enabled": true, "disabled": ["lint"]}, "x": {"enabled": false}}`, false},
		{"qwen", "p/.qwen/settings.json", `{"disableAllHooks": true}`, true},
	} {
		o := options(t, row.client)
		o.Project = filepath.Join(o.Home, "p")
		apply(t, Add, o)
		o.Scope = Project
		apply(t, Add, o)
		path := filepath.Join(o.Home, row.file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, path, row.text, 0o600)
		if line, wrong := tableOf(t, o, ""); wrong != row.off || row.off && strings.Count(line, path+": ") != 1 {
			t.Errorf("%s %s: %v %s", row.file, row.text, wrong, line)
		}
	}
	managed := filepath.Join(t.TempDir(), "managed.json")
	write(t, managed, `{"allowManagedHooksOnly": true}`, 0o600)
	f := targets()["claude-code"].files[0]
	f.managed = managed
	for scope, off := range map[Scope]int{User: 1, Project: 1, Managed: 0} {
		o := Options{Scope: scope, Home: t.TempDir(), Project: t.TempDir()}
		if all := o.switchedOff(f); len(all) != off {
			t.Errorf("%s: %q", scope, all)
		}
	}
}

// A hook that was installed with its daemon's data folder is diverted by none of a project's
// variables but the token of its agent.
func TestStatusOfABoundHook(t *testing.T) {
	for text, off := range map[string]bool{
		`{"env": {"METNOS_AGENT_SOCKET": "/home/u/p/.s"}}`:                            false,
		`{"env": {"METNOS_DATA_DIR": "d", "METNOS_AGENT_TOKEN_FILE": "t"}}`:           false,
		`{"env": {"METNOS_AGENT_SOCKET": "/home/u/p/.s", "METNOS_AGENT_TOKEN": "t"}}`: true,
		`{"disableAllHooks": true, "env": {"METNOS_AGENT_SOCKET": "s"}}`:              true,
	} {
		o := options(t, "claude-code")
		o.Data, o.Agent = "/var/lib/vaglio", "coder"
		o.Project = filepath.Join(o.Home, "p")
		apply(t, Add, o)
		path := filepath.Join(o.Project, ".claude", "settings.json")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, path, text, 0o600)
		if line, wrong := tableOf(t, o, ""); wrong != off {
			t.Errorf("%s: %v %s", text, wrong, line)
		}
	}
}

// In the home itself, the user's settings are also those of the folder; they are the user's all the
// same.
func TestStatusInTheHome(t *testing.T) {
	o := options(t, "claude-code")
	apply(t, Add, o)
	o.Project = o.Home
	if line, wrong := tableOf(t, o, ""); wrong || strings.Fields(line)[2] != "user" || strings.Count(line, "\n") != 1 {
		t.Errorf("%v %s", wrong, line)
	}
}

// Where no agent asks, the status says so instead of showing an empty table.
func TestStatusOfNoAgent(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var b strings.Builder
	wrong, err := WriteStatus(t.Context(), &b, options(t, "claude-code"), Looks{
		LastAsked: func(string) time.Time { return time.Time{} },
		Codex:     func(context.Context) Trust { return TrustUnknown },
	})
	if err != nil || wrong || strings.Contains(b.String(), "CLIENT") || !strings.Contains(b.String(), "no agent asks") {
		t.Errorf("%v %v %s", wrong, err, b.String())
	}
}

// A hook that an older vaglio installed lacks events which ask today.
func TestStatusFindsEventsThatDoNotAsk(t *testing.T) {
	o := options(t, "claude-code")
	apply(t, Add, o)
	path := filepath.Join(o.Home, ".claude", "settings.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, strings.Replace(string(text), hook.SkillEvent, "Elsewhere", 1), 0o600)
	if line, wrong := tableOf(t, o, ""); !wrong || !strings.Contains(line, hook.SkillEvent+" does not ask") || !strings.Contains(line, "run vaglio install claude-code") {
		t.Errorf("%v %s", wrong, line)
	}
	apply(t, Add, o)
	if line, wrong := tableOf(t, o, ""); wrong {
		t.Errorf("%s", line)
	}
}

// A hook with a name that does not say whom it asks goes by its environment, as those did that an
// older vaglio installed. That holds in every form of settings.
func TestStatusFindsHooksThatAreBoundToNoDaemon(t *testing.T) {
	for _, client := range []string{"claude-code", "cursor", "opencode", "cline"} {
		o := options(t, client)
		o.Agent, o.Data = "coder", "/home/u/my data"
		apply(t, Add, o)
		if line, wrong := tableOf(t, o, ""); wrong {
			t.Errorf("%s: %s", client, line)
		}
		o.Data = ""
		apply(t, Add, o)
		if line, wrong := tableOf(t, o, ""); !wrong || !strings.Contains(line, "run vaglio install "+client+" --agent coder") {
			t.Errorf("%s: %v %s", client, wrong, line)
		}
		o.Agent = ""
		apply(t, Add, o)
		if line, wrong := tableOf(t, o, ""); wrong {
			t.Errorf("%s without a name: %s", client, line)
		}
	}
}
