package install

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// openClawHost stands in for OpenClaw: it loads the plugin and has it asked once before
// and told once after a call.
const openClawHost = `
const plugin = (await import(process.argv[2])).default
const on = {}
plugin.register({ on: (name, handler) => { on[name] = handler } })
const call = { toolName: "exec", params: { command: "touch x" }, toolCallId: "c1" }
const said = await on.before_tool_call(call, { sessionKey: "s", agentId: "main", workspaceDir: "/w" })
await on.after_tool_call({ ...call, error: "exit 1" }, { sessionKey: "s" })
console.log(JSON.stringify(said ?? "runs"))
`

// The plugin blocks whatever its hook does not allow in so many words.
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
			if err != nil || !strings.Contains(string(lines), `{"event":"before","session":"s","agent":"main","call":"c1","tool":"exec","args":{"command":"touch x"},"cwd":"/w"}`) ||
				!strings.Contains(string(lines), `"event":"after"`) || !strings.Contains(string(lines), `"error":"exit 1"`) {
				t.Errorf("%v %s", err, lines)
			}
		})
	}
}

// What stands in a file of TOML stays, and hooks in a form that takes no more are left
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
