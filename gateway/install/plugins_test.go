package install

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// openClawHost stands in for OpenClaw: it loads the plugin, asks it once before a call and tells
// it once after one.
const openClawHost = `
const plugin = (await import(process.argv[2])).default
let policy, told
plugin.register({
  registerTrustedToolPolicy: (p) => (policy = p),
  runtime: { config: { current: () => ({}) }, agent: { resolveAgentWorkspaceDir: (_, agent) => "/w/" + agent }, events: { onAgentEvent: (f) => (told = f) } },
})
const said = await policy.evaluate({ toolName: "exec", params: { command: "touch x" }, runId: "r", toolCallId: "c1" }, { sessionKey: "s", agentId: "main" })
const end = { runId: "r", stream: "tool", data: { phase: "result", toolCallId: "c1", isError: true, result: { details: { error: "broken" } } } }
told({ ...end, runId: "another" })
told(end)
told(end)
console.log(JSON.stringify(said ?? "runs"))
`

// The plugin blocks whatever its hook does not explicitly allow.
func TestOpenClawPlugin(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not found")
	}
	for name, row := range map[string]struct{ hook, want string }{
		"allowed":   {`echo '{"decision":"allow"}'`, `"runs"`},
		"denied":    {`echo '{"decision":"deny","reason":"not today"}'`, `{"block":true,"blockReason":"not today"}`},
		"no-reason": {`echo '{"decision":"deny"}'`, `gave no reason`},
		"odd":       {`echo '{"decision":"maybe"}'`, `"block":true`},
		"silent":    {`exit 0`, `code 0 and no answer`},
		"crashed":   {`exit 3`, `code 3 and no answer`},
		"not-json":  {`echo allow`, `"block":true`},
		"missing":   {"", `"block":true`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, "openclaw")
			o.Program = filepath.Join(o.Home, "vaglio-hook")
			heard := filepath.Join(o.Home, "heard")
			if row.hook != "" {
				write(t, o.Program, "#!/bin/sh\ncat >>"+heard+"\necho >>"+heard+"\n"+row.hook+"\n", 0o700)
			}
			changes := apply(t, Add, o)
			host := filepath.Join(o.Home, "host.mjs")
			write(t, host, openClawHost, 0o600)
			out, err := exec.CommandContext(t.Context(), node, host, changes[0].Path).CombinedOutput()
			if err != nil || !strings.Contains(string(out), row.want) {
				t.Errorf("%v %s, want %s", err, out, row.want)
			}
			if row.hook == "" {
				return
			}
			lines, err := os.ReadFile(heard)
			const call = `"session":"s","agent":"main","call":"c1","tool":"exec","args":{"command":"touch x"},"cwd":"/w/main"`
			want := `{"event":"before",` + call + "}\n"
			if name == "allowed" {
				want += `{"event":"after",` + call + `,"error":"broken"}` + "\n"
			}
			if err != nil || string(lines) != want {
				t.Errorf("%v %s, want %s", err, lines, want)
			}
		})
	}
}

// OpenClaw asks only a plugin that its settings enable.
func TestOpenClawIsToldOfThePlugin(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ now, want, wrong string }{
		"others":  {"// mine\n{\n  \"plugins\": { \"entries\": { \"x\": {} } }, // theirs\n}\n", `"vaglio"`, ""},
		"off":     {`{"plugins": {"entries": {"vaglio": {"enabled": false, "config": {}}}}}`, `"enabled": true`, ""},
		"allow":   {`{"plugins": {"allow": ["x"]}}`, `"allow": ["x",`, ""},
		"none":    {`{"plugins": {"enabled": false}}`, "", `"plugins.enabled" is false`},
		"denied":  {`{"plugins": {"deny": ["vaglio"]}}`, "", `"plugins.deny" names vaglio`},
		"odd":     {`{"plugins": {"entries": []}}`, "", `"plugins" is not as OpenClaw has it`},
		"json5":   {`{plugins: {}}`, "", "line 1, column 2"},
		"a-list":  {`[]`, "", "want an object"},
		"unended": {`{"plugins": {`, "", "line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, "openclaw")
			path := filepath.Join(o.Home, ".openclaw/openclaw.json")
			write(t, path, row.now, 0o600)
			changes, err := Add(o)
			if row.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), row.wrong) {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			after := string(changes[len(changes)-1].After)
			if !strings.Contains(after, row.want) {
				t.Errorf("%s", after)
			}
			apply(t, Add, o)
			if s, err := Look(o); err != nil || !s.Installed {
				t.Errorf("%+v %v\n%s", s, err, after)
			}
			write(t, path, strings.Replace(after, `{`, `{ "meta": {},`, 1), 0o600)
			apply(t, Remove, o)
			if left := tree(t, o.Home)["/.openclaw/openclaw.json"]; strings.Contains(left, "vaglio") || !strings.Contains(left, "meta") {
				t.Errorf("%s", left)
			}
		})
	}
	o := options(t, "openclaw")
	apply(t, Add, o)
	write(t, filepath.Join(o.Home, ".openclaw/openclaw.json"), `{"plugins": {"enabled": false, "entries": {"vaglio": {"enabled": true}}}}`, 0o600)
	if s, err := Look(o); err == nil {
		t.Errorf("a plugin that is switched off stands as installed: %+v %v", s, err)
	}
}

// The content of a TOML file is preserved, and hooks in a form that cannot be extended are left
// alone.
func TestKimi(t *testing.T) {
	t.Parallel()
	o := options(t, "kimi")
	path := filepath.Join(o.Home, ".kimi-code/config.toml")
	const mine = "# mine\nmodel = \"k\"\n\n[[hooks]]\nevent = \"Stop\"\ncommand = \"say done\"\n\n[loop]\nsteps = 3"
	write(t, path, mine, 0o600)
	changes := apply(t, Add, o)
	if got := string(changes[0].After); !strings.HasPrefix(got, mine+"\n"+blockBegin+"[[hooks]]\nevent = \"PreToolUse\"\n") || !strings.Contains(got, "timeout = 600\n") {
		t.Errorf("%s", got)
	}
	apply(t, Remove, o)
	if got := tree(t, o.Home)["/.kimi-code/config.toml"]; !strings.HasSuffix(got, mine) {
		t.Errorf("%q", got)
	}
	write(t, path, "hooks = []\n", 0o600)
	if _, err := Add(o); err == nil || !strings.Contains(err.Error(), "by hand:\n[[hooks]]") {
		t.Errorf("%v", err)
	}
}

// What Hermes has recorded about other hooks is preserved; of ours only the current hook remains.
func TestHermesIsToldToRunTheHook(t *testing.T) {
	o := options(t, "hermes")
	file := filepath.Join(o.Home, ".hermes", "shell-hooks-allowlist.json")
	const others = `{
  "approvals": [
    {
      "approved_at": "2026-11-01T10:00:00Z",
      "command": "/home/ann/lint.sh",
      "event": "pre_tool_call"
    }
  ]
}`
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(others), 0o600)); err != nil {
		t.Fatal(err)
	}
	apply(t, Add, o)
	o.Limit = time.Minute
	apply(t, Add, o)
	text, err := os.ReadFile(file)
	if s := string(text); err != nil || strings.Count(s, "--limit 1m0s") != 3 || strings.Contains(s, "5m0s") || !strings.Contains(s, "lint.sh") {
		t.Errorf("%v\n%s", err, text)
	}
	if s, err := Look(o); err != nil || !s.Installed || s.Trusted != TrustGiven {
		t.Errorf("%+v %v", s, err)
	}
	// If the consent is withdrawn, the hook is skipped.
	if err := os.WriteFile(file, []byte(others), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := Look(o); err != nil || !s.Installed || s.Trusted != TrustMissing {
		t.Errorf("%+v %v", s, err)
	}
	apply(t, Add, o)
	apply(t, Remove, o)
	if text, err := os.ReadFile(file); err != nil || string(text) != others {
		t.Errorf("%v\n%s", err, text)
	}
	for _, bad := range []string{`{"approvals": 7}`, `[]`, `{`} {
		if err := os.WriteFile(file, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Add(o); err == nil || !strings.Contains(err.Error(), "line 1, column") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestHermesKeepsItsOwnKeys checks that the user's own settings for the keys that send the
// questions of Hermes' gate to vaglio are left alone, and that the hooks are installed anyway.
func TestHermesKeepsItsOwnKeys(t *testing.T) {
	for text, put := range map[string]bool{"": true, "model: x\n": true, "security:\n  redact_secrets: true\n": false, "plugins:\n  enabled: []\n": false} {
		for _, shadow := range []bool{false, true} {
			o := options(t, "hermes")
			o.Shadow = shadow
			file := filepath.Join(o.Home, ".hermes", "config.yaml")
			if text != "" {
				write(t, file, text, 0o600)
			}
			apply(t, Add, o)
			data, err := os.ReadFile(file)
			if s := string(data); err != nil || !strings.HasPrefix(s, text) || !strings.Contains(s, "pre_tool_call:") || strings.Contains(s, "transport: vaglio") != (put && !shadow) {
				t.Errorf("%q, shadow %v: %v\n%s", text, shadow, err, data)
			}
			if changes, err := Add(o); err != nil || changes[0].Changes() {
				t.Errorf("%q: twice is not once: %v", text, err)
			}
			apply(t, Remove, o)
			if data, _ := os.ReadFile(file); string(data) != text {
				t.Errorf("%q became %q", text, data)
			}
		}
	}
}
