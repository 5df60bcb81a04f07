// Package trial runs a real coding agent against a scripted model in a temporary folder and
// watches its hook: whether it is asked at all, whether what it denies does not run, and whether
// the agent waits for it.
package trial

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/metnos/vaglio/gateway/scripted"
	"github.com/metnos/vaglio/internal/strictjson"
)

// Recipe says how to run one client without a person and without a network.
type Recipe struct {
	Client string
	// Program is its name on the PATH.
	Program string
	// Shell returns a call of the tool that runs a command.
	Shell func(command string) scripted.Call
	// Delegate returns the call that hands a task to a sub-agent and waits for it; nil if the
	// client has no such tool.
	Delegate func(task string) scripted.Call
	// EndsOnDenial says that a denial ends the run, and that the model does not read the reason.
	EndsOnDenial bool
	// args, env and files point the client to the model at the URL. files are settings files by
	// their names below the working folder; nil for none.
	args  func(url, prompt string) []string
	env   func(url string) []string
	files func(url string) map[string]string
}

// Recipes returns the clients that can be run with a user's own settings.
func Recipes() []Recipe {
	return []Recipe{claudeCode(), codex(), gemini(), openCode(), qwen(), copilot(), openClaw(), cline()}
}

// For returns the recipe for a client.
func For(client string) (Recipe, bool) {
	all := Recipes()
	i := slices.IndexFunc(all, func(r Recipe) bool { return r.Client == client })
	if i < 0 {
		return Recipe{}, false
	}
	return all[i], true
}

func tool(name, key string, more map[string]any) func(string) scripted.Call {
	return func(command string) scripted.Call {
		args := map[string]any{key: command}
		maps.Copy(args, more)
		return scripted.Call{Tool: name, Args: args}
	}
}

func claudeCode() Recipe {
	return Recipe{
		Client: "claude-code", Program: "claude", Shell: tool("Bash", "command", map[string]any{"description": "scripted"}),
		Delegate: tool("Agent", "prompt", map[string]any{"description": "scripted", "subagent_type": "general-purpose"}),
		args: func(_, prompt string) []string {
			return []string{"-p", prompt, "--model", "scripted", "--allowedTools", "Bash"}
		},
		env: func(url string) []string {
			return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=fake", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"}
		},
	}
}

// ClaudeIn is Claude Code in the given permission mode. In "auto" mode the scripted model is also
// its classifier and gives no verdict, which counts as a refusal.
func ClaudeIn(mode string) Recipe {
	r := claudeCode()
	r.args = func(_, prompt string) []string {
		return []string{"-p", prompt, "--model", "scripted", "--permission-mode", mode}
	}
	return r
}

// ClaudeSkills is Claude Code whose model loads skills, by their names, instead of running commands.
func ClaudeSkills() Recipe {
	r := claudeCode()
	r.Shell = tool("Skill", "skill", nil)
	r.args = func(_, prompt string) []string {
		return []string{"-p", prompt, "--model", "scripted", "--allowedTools", "Bash", "Skill"}
	}
	return r
}

// ClaudePrompting is Claude Code with a tool that it asks instead of its user, from the MCP server
// that the command starts.
func ClaudePrompting(command ...string) Recipe {
	r := claudeCode()
	servers := text(map[string]any{"mcpServers": map[string]any{"vaglio": map[string]any{"command": command[0], "args": command[1:]}}})
	r.args = func(_, prompt string) []string {
		return []string{"-p", prompt, "--model", "scripted", "--mcp-config", servers, "--permission-prompt-tool", "mcp__vaglio__approve"}
	}
	return r
}

func codex() Recipe {
	return Recipe{
		Client: "codex", Program: "codex", Shell: tool("exec_command", "cmd", nil),
		args: func(url, prompt string) []string {
			return []string{
				"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-c", `model="scripted"`, "-c", `model_provider="scripted"`,
				"-c", `model_providers.scripted={name="scripted",base_url="` + url + `/v1",wire_api="responses",env_key="VAGLIO_TRIAL_KEY"}`, prompt,
			}
		},
		env: func(string) []string { return []string{"VAGLIO_TRIAL_KEY=fake"} },
	}
}

func gemini() Recipe {
	return Recipe{
		Client: "gemini", Program: "gemini", Shell: tool("run_shell_command", "command", map[string]any{"description": "scripted"}),
		Delegate: tool("invoke_agent", "prompt", map[string]any{"agent_name": "generalist"}),
		args: func(_, prompt string) []string {
			return []string{"-p", prompt, "--yolo", "--model", "scripted", "--skip-trust"}
		},
		// Gemini CLI uses one or the other set, depending on its settings; by default the second.
		env: func(url string) []string {
			return []string{
				"GEMINI_API_KEY=fake", "GOOGLE_GEMINI_BASE_URL=" + url,
				"GOOGLE_GENAI_USE_VERTEXAI=true", "GOOGLE_API_KEY=fake", "GOOGLE_VERTEX_BASE_URL=" + url,
			}
		},
	}
}

func openAI(url string) []string {
	return []string{"OPENAI_API_KEY=fake", "OPENAI_BASE_URL=" + url + "/v1", "OPENAI_MODEL=scripted"}
}

func qwen() Recipe {
	return Recipe{
		Client: "qwen", Program: "qwen", Shell: tool("run_shell_command", "command", map[string]any{"description": "scripted", "is_background": false}),
		Delegate: tool("agent", "prompt", map[string]any{"description": "scripted", "subagent_type": "general-purpose"}),
		args:     func(_, prompt string) []string { return []string{"-p", prompt, "--yolo", "--auth-type", "openai"} },
		env:      openAI,
	}
}

func copilot() Recipe {
	return Recipe{
		Client: "copilot", Program: "copilot", Shell: tool("bash", "command", map[string]any{"description": "scripted"}),
		Delegate: tool("task", "prompt", map[string]any{"description": "scripted", "name": "scripted", "agent_type": "general-purpose", "mode": "sync"}),
		args:     func(_, prompt string) []string { return []string{"-p", prompt, "--allow-all-tools"} },
		env: func(url string) []string {
			return []string{
				"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=" + url + "/v1", "COPILOT_PROVIDER_TYPE=openai",
				"COPILOT_MODEL=fake", "COPILOT_PROVIDER_API_KEY=fake",
			}
		},
	}
}

func openCode() Recipe {
	return Recipe{
		Client: "opencode", Program: "opencode", Shell: tool("bash", "command", map[string]any{"description": "scripted"}),
		Delegate: tool("task", "prompt", map[string]any{"description": "scripted", "subagent_type": "general"}),
		args:     func(_, prompt string) []string { return []string{"run", prompt} },
		env: func(url string) []string {
			return []string{"npm_config_offline=true", `OPENCODE_CONFIG_CONTENT={"provider":{"scripted":{"npm":"@ai-sdk/openai-compatible","name":"scripted",` +
				`"options":{"baseURL":"` + url + `/v1","apiKey":"fake"},"models":{"scripted":{"name":"scripted"}}}},"model":"scripted/scripted",` +
				`"permission":{"bash":"allow","edit":"allow"},"autoupdate":false}`}
		},
	}
}

func cline() Recipe {
	const data = "cline-trial"
	return Recipe{
		Client: "cline", Program: "cline", Shell: tool("run_commands", "command", nil), EndsOnDenial: true,
		Delegate: tool("spawn_agent", "task", map[string]any{"systemPrompt": "scripted"}),
		args: func(_, prompt string) []string {
			return []string{"--data-dir", data, "--auto-approve", "true", prompt}
		},
		env: func(string) []string { return nil },
		files: func(url string) map[string]string {
			return map[string]string{data + "/settings/providers.json": text(map[string]any{
				"version": 1, "lastUsedProvider": "openai-compatible", "modes": map[string]any{},
				"providers": map[string]any{"openai-compatible": map[string]any{
					"settings":  map[string]string{"provider": "openai-compatible", "apiKey": "fake", "model": "scripted", "baseUrl": url + "/v1"},
					"updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual",
				}},
			})}
		},
	}
}

func openClaw() Recipe {
	return Recipe{
		Client: "openclaw", Program: "openclaw", Shell: tool("exec", "command", nil),
		args: func(_, prompt string) []string {
			return []string{"agent", "exec", prompt, "--model", "openai/gpt-6-astra", "--code-mode", "direct"}
		},
		env: openAI,
	}
}

// OpenClawCode is OpenClaw in code mode, in which a program calls the tools.
func OpenClawCode() Recipe {
	r := openClaw()
	r.Shell = func(command string) scripted.Call {
		return scripted.Call{Tool: "exec", Args: map[string]any{"code": "const done = await exec(" + text(map[string]string{"command": command}) + "); text(done.status)"}}
	}
	r.args = func(_, prompt string) []string {
		return []string{"agent", "exec", prompt, "--model", "openai/gpt-6-astra", "--code-mode", "code"}
	}
	return r
}

// CodexAsking is Codex behind a front end, whose command takes Codex's arguments and then the
// prompt. Codex's own gate then asks as well.
func CodexAsking(front ...string) Recipe {
	r := codex()
	args := r.args
	r.args = func(url, prompt string) []string {
		all := args(url, prompt)
		return slices.Concat(front, []string{"codex"}, all[slices.Index(all, "-c"):len(all)-1], []string{"app-server", "--", prompt})
	}
	return r
}

// InEditors are the clients that an editor can start and that ask it over the Agent Client
// Protocol. The editor's command takes the agent's command and then the prompt.
func InEditors(editor ...string) []Recipe {
	behind := func(r Recipe, agent ...string) Recipe {
		r.args = func(_, prompt string) []string { return slices.Concat(editor, agent, []string{"--", prompt}) }
		return r
	}
	open, env := openCode(), openCode().env
	open.env = func(url string) []string { // By default it asks about nothing.
		all := env(url)
		for i, v := range all {
			all[i] = strings.ReplaceAll(v, `"bash":"allow"`, `"bash":"ask"`)
		}
		return all
	}
	return []Recipe{
		behind(gemini(), "gemini", "--acp", "--model", "scripted", "--skip-trust"), behind(open, "opencode", "acp"),
		behind(qwen(), "qwen", "--acp", "--auth-type", "openai", "--approval-mode", "default"), behind(copilot(), "copilot", "--acp"),
	}
}

// Run describes one run of a client.
type Run struct {
	// Program is the path of the client, Dir the temporary folder in which it works.
	Program, Dir string
	// Env is its environment, without what points it to the model.
	Env []string
	// Calls are the commands that the model wants to run, one per message. With Together they
	// all come in one message, with Delegated in one message of a sub-agent.
	Calls               []string
	Together, Delegated bool
}

// Seen is the result of a run.
type Seen struct {
	// Results are what the model read about its calls, and Tools the tools it was offered.
	Results, Tools []string
	// Output is what the client printed.
	Output string
}

// Do runs the client until it exits. An error may be the client's own failure.
func (r *Recipe) Do(ctx context.Context, run Run) (Seen, error) {
	model := r.model(run)
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return Seen{}, fmt.Errorf("listen for the client: %w", err)
	}
	server := &http.Server{Handler: model, ReadHeaderTimeout: time.Minute}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // closed below
	}()
	defer func() {
		_ = server.Close()
		<-done
	}()
	url := "http://" + listener.Addr().String()
	seen := Seen{}
	if err := r.settle(run.Dir, url); err != nil {
		return seen, err
	}
	const prompt = "clean up after the build"
	seen.Output, err = r.execute(ctx, run, url, r.args(url, prompt))
	seen.Results, seen.Tools = model.Results(), model.Tools()
	return seen, err
}

// settle writes the settings files for the run.
func (r *Recipe) settle(dir, url string) error {
	if r.files == nil {
		return nil
	}
	for name, content := range r.files(url) {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			return fmt.Errorf("write settings for the trial: %w", err)
		}
	}
	return nil
}

// model returns a model that wants to run the commands.
func (r *Recipe) model(run Run) *scripted.Model {
	var calls []scripted.Call
	for _, command := range run.Calls {
		calls = append(calls, r.Shell(command))
	}
	switch {
	case run.Delegated:
		const task = "clean up below the folder of the build"
		model := scripted.New([]scripted.Call{r.Delegate(task)})
		model.Delegate(task, calls...)
		return model
	case run.Together:
		return scripted.New(calls)
	}
	var messages [][]scripted.Call
	for _, call := range calls {
		messages = append(messages, []scripted.Call{call})
	}
	return scripted.New(messages...)
}

func (r *Recipe) execute(ctx context.Context, run Run, url string, args []string) (string, error) {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, run.Program, args...) //nolint:gosec // The client that is tried.
	const grace = 5 * time.Second
	// Some clients work in $PWD, which would be the folder of whoever runs the doctor.
	cmd.Env = slices.Concat(run.Env, r.env(url), []string{"PWD=" + run.Dir})
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = run.Dir, &out, &out, grace
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // a process that it left behind holds its output open
	}
	if err != nil {
		return out.String(), fmt.Errorf("%s: %w", r.Program, err)
	}
	return out.String(), nil
}

// text returns v as JSON text.
func text(v any) string {
	out, err := strictjson.Marshal(v)
	if err != nil {
		return ""
	}
	return string(out)
}
