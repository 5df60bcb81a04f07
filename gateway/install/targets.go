package install

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"time"

	"github.com/metnos/vaglio/gateway/hook"
	"github.com/metnos/vaglio/internal/strictjson"
)

// target is where a client has its hooks.
type target struct{ files []file }

// file is one file of a client, with its path below the home folder, below a project, and for
// the whole machine.
type file struct {
	user, project, managed string
	// also are more paths, of the user or the machine, that the client reads but vaglio does
	// not write.
	also []string
	mode fs.FileMode
	form form
	// besides marks a file that the hook does not depend on and whose limits do not count.
	besides bool
	// off matches the settings in the file that keep hooks from running, by name.
	off map[string]*regexp.Regexp
}

// othersOff is the switch in managed settings that disables the hooks of users and projects.
const othersOff = "allowManagedHooksOnly"

const (
	private    fs.FileMode = 0o600
	executable fs.FileMode = 0o700
	// shared is added for managed settings, which every user must be able to read.
	shared fs.FileMode = 0o044
)

// sign occurs in every file that is ours alone.
const sign = "Written by vaglio install"

// claudeEvents returns the events of Claude Code and of clients that took over its names.
func claudeEvents(failure, denied bool) []eventEntry {
	all := []eventEntry{{name: "PreToolUse", everyTool: true}, {name: "PostToolUse", everyTool: true, tells: true}}
	if failure {
		all = append(all, eventEntry{name: "PostToolUseFailure", everyTool: true, tells: true})
	}
	if denied {
		all = append(all, eventEntry{name: "PermissionDenied", everyTool: true, tells: true})
	}
	return append(all, eventEntry{name: "Stop", tells: true}, eventEntry{name: "SubagentStop", tells: true})
}

// command is a hook in the form of most clients.
type command struct {
	Name    string   `json:"name,omitzero"`
	Type    string   `json:"type,omitzero"`
	Command string   `json:"command,omitzero"`
	Args    []string `json:"args,omitzero"`
	Bash    string   `json:"bash,omitzero"`
	Timeout int      `json:"timeout,omitzero"`
	Seconds int      `json:"timeoutSec,omitzero"`
	// FailClosed makes a hook that fails deny.
	FailClosed bool `json:"failClosed,omitzero"`
}

// group is a list of hooks for some tools.
type group struct {
	Matcher string    `json:"matcher,omitzero"`
	Hooks   []command `json:"hooks"`
}

// grouped returns settings in the form of Claude Code.
func grouped(unit time.Duration, events []eventEntry, fill func(c *command, o Options)) *settings {
	s := &settings{empty: "{}", events: events, unit: unit, limit: "timeout"}
	s.entry = func(o Options, e eventEntry) any {
		c := command{Type: "command", Timeout: s.wait(o, e)}
		fill(&c, o)
		g := group{Hooks: []command{c}}
		if e.everyTool {
			g.Matcher = "*"
		}
		return g
	}
	return s
}

// flat returns settings in which an event lists its hooks directly.
func flat(empty string, events []eventEntry, limit string, entry func(o Options, wait int) command) *settings {
	s := &settings{empty: empty, events: events, unit: time.Second, limit: limit}
	s.entry = func(o Options, e eventEntry) any { return entry(o, s.wait(o, e)) }
	return s
}

func inShell(c *command, o Options) { c.Command = o.shellLine() }

// shapes returns the settings of clients whose files others write to as well.
func shapes() map[string]*settings {
	// The commands of a skill's own text are asked about apart. Versions before 2.1.332 do not
	// know the event, and leave it alone.
	skilled := slices.Insert(claudeEvents(true, true), 1, eventEntry{name: hook.SkillEvent, everyTool: true})
	claude := grouped(time.Second, skilled, func(c *command, o Options) {
		argv := o.argv()
		c.Command, c.Args = argv[0], argv[1:]
	})
	codex := grouped(time.Second, []eventEntry{
		{name: "PreToolUse", everyTool: true},
		{name: "PermissionRequest", everyTool: true},
		{name: "PostToolUse", everyTool: true, tells: true},
		{name: "Stop", tells: true},
	}, inShell)
	qwen := grouped(time.Second, claudeEvents(true, false), inShell)
	droid := grouped(time.Second, claudeEvents(false, false), inShell)
	gemini := grouped(time.Millisecond, []eventEntry{
		{name: "BeforeTool", everyTool: true}, {name: "AfterTool", everyTool: true, tells: true}, {name: "AfterAgent", tells: true},
	}, func(c *command, o Options) {
		inShell(c, o)
		c.Name = "vaglio"
	})
	copilot := flat(`{"version":1}`, []eventEntry{
		{name: "preToolUse"}, {name: "postToolUse", tells: true}, {name: "postToolUseFailure", tells: true}, {name: "agentStop", tells: true},
	}, "timeoutSec", func(o Options, wait int) command {
		return command{Type: "command", Bash: o.shellLine(), Seconds: wait}
	})
	cursor := flat(`{"version":1}`, []eventEntry{
		{name: "preToolUse"}, {name: "postToolUse", tells: true}, {name: "postToolUseFailure", tells: true}, {name: "stop", tells: true},
	}, "timeout", func(o Options, wait int) command {
		return command{Command: o.shellLine(), Timeout: wait, FailClosed: !o.Shadow}
	})
	windsurf := flat("{}", []eventEntry{
		{name: "pre_run_command"},
		{name: "pre_write_code"},
		{name: "pre_read_code"},
		{name: "pre_mcp_tool_use"},
		{name: "post_run_command", tells: true},
		{name: "post_write_code", tells: true},
		{name: "post_read_code", tells: true},
		{name: "post_mcp_tool_use", tells: true},
	}, "", func(o Options, _ int) command { return command{Command: o.shellLine()} })
	vscode := flat("{}", []eventEntry{{name: "PreToolUse"}, {name: "PostToolUse", tells: true}, {name: "Stop", tells: true}}, "timeout",
		func(o Options, wait int) command {
			return command{Type: "command", Command: o.shellLine(), Timeout: wait}
		})
	return map[string]*settings{
		"claude-code": claude, "codex": codex, "qwen": qwen, "droid": droid, "gemini": gemini, "copilot": copilot,
		"cursor": cursor, "windsurf": windsurf, "vscode": vscode,
	}
}

func targets() map[string]target {
	in := shapes()
	off := func(names ...string) map[string]*regexp.Regexp {
		all := map[string]*regexp.Regexp{}
		for _, name := range names {
			all[name] = regexp.MustCompile(`"` + name + `"\s*:\s*true`)
		}
		return all
	}
	// Gemini CLI can disable all hooks, or hooks by name, in one object. Ours is called vaglio.
	geminiOff := map[string]*regexp.Regexp{
		"hooksConfig.enabled":  regexp.MustCompile(`"hooksConfig"\s*:\s*\{[^}]*"enabled"\s*:\s*false`),
		"hooksConfig.disabled": regexp.MustCompile(`"hooksConfig"\s*:\s*\{[^}]*"disabled"\s*:\s*\[[^\]]*"vaglio"`),
	}
	return map[string]target{
		"claude-code": {[]file{{
			user: ".claude/settings.json", project: ".claude/settings.json", managed: "/etc/claude-code/managed-settings.json",
			also: []string{".claude/settings.local.json", "/Library/Application Support/ClaudeCode/managed-settings.json"},
			mode: private, form: in["claude-code"], off: off("disableAllHooks", othersOff),
		}}},
		"codex": {[]file{{
			user: ".codex/hooks.json", project: ".codex/hooks.json", also: []string{".codex/config.toml"}, mode: private, form: in["codex"],
		}}},
		"gemini":   {[]file{{user: ".gemini/settings.json", project: ".gemini/settings.json", managed: "/etc/gemini-cli/settings.json", mode: private, form: in["gemini"], off: geminiOff}}},
		"qwen":     {[]file{{user: ".qwen/settings.json", project: ".qwen/settings.json", managed: "/etc/qwen-code/settings.json", mode: private, form: in["qwen"], off: off("disableAllHooks")}}},
		"copilot":  {[]file{{user: ".copilot/hooks/vaglio.json", project: ".github/hooks/vaglio.json", mode: private, form: in["copilot"]}}},
		"cursor":   {[]file{{user: ".cursor/hooks.json", project: ".cursor/hooks.json", managed: "/etc/cursor/hooks.json", mode: private, form: in["cursor"]}}},
		"windsurf": {[]file{{user: ".codeium/windsurf/hooks.json", project: ".windsurf/hooks.json", managed: "/etc/windsurf/hooks.json", mode: private, form: in["windsurf"]}}},
		"droid":    {[]file{{user: ".factory/settings.json", project: ".factory/settings.json", mode: private, form: in["droid"]}}},
		"opencode": {[]file{{user: ".config/opencode/plugin/vaglio.js", project: ".opencode/plugin/vaglio.js", mode: private, form: whole{openCodePlugin, sign}}}},
		"cline": {[]file{
			{user: ".cline/hooks/PreToolUse", mode: executable, form: whole{script, sign}},
			{user: ".cline/hooks/PostToolUse", mode: executable, form: whole{script, sign}},
		}},
		// VS Code reads the user's hooks from Claude Code's settings; only a project's are its own.
		"vscode": {[]file{{project: ".github/hooks/vaglio-vscode.json", mode: private, form: in["vscode"]}}},
		"kimi":   {[]file{{user: ".kimi-code/config.toml", mode: private, form: kimiHooks()}}},
		"openclaw": {[]file{
			{user: openClawFolder + "index.js", mode: private, form: whole{openClawPlugin, sign}},
			{user: openClawFolder + "openclaw.plugin.json", mode: private, form: whole{openClawManifest, sign}},
			{user: openClawFolder + "package.json", mode: private, form: whole{openClawPackage, sign}},
			{user: ".openclaw/openclaw.json", mode: private, form: enabled{}},
		}},
		"hermes": {[]file{
			{user: ".hermes/config.yaml", mode: private, form: hermesHooks()},
			{user: hermesFolder + "__init__.py", mode: private, form: whole{hermesPlugin, sign}, besides: true},
			{user: hermesFolder + "plugin.yaml", mode: private, form: whole{hermesManifest, sign}, besides: true},
			{user: ".hermes/shell-hooks-allowlist.json", mode: private, form: consented{[]string{"pre_tool_call", "post_tool_call", "post_approval_response"}}},
		}},
		"kiro": {[]file{{user: ".kiro/hooks/vaglio.json", project: ".kiro/hooks/vaglio.json", mode: private, form: whole{kiroHooks, sign}}}},
	}
}

// script returns a hook that is a program of its own.
func script(o Options) []byte {
	return fmt.Appendf(nil, "#!/bin/sh\n# %s; vaglio uninstall %s removes it.\nexec %s\n", sign, o.Client, o.shellLine())
}

// kiroHooks returns a file of hooks for Kiro.
func kiroHooks(o Options) []byte {
	type action struct {
		Type    string `json:"type"`
		Command string `json:"command"`
	}
	type entry struct {
		Name    string `json:"name"`
		Trigger string `json:"trigger"`
		Matcher string `json:"matcher,omitzero"`
		Action  action `json:"action"`
		Timeout int    `json:"timeout"`
	}
	run := action{"command", o.shellLine()}
	out, err := strictjson.MarshalIndent(map[string]any{
		"version": "v1", "description": sign,
		"hooks": []entry{
			{"vaglio", "PreToolUse", "*", run, int(o.limit() / time.Second)},
			{"vaglio-ran", "PostToolUse", "*", run, int(tellsWithin / time.Second)},
			{"vaglio-ended", "Stop", "", run, int(tellsWithin / time.Second)},
		},
	})
	if err != nil {
		return nil
	}
	return append(out, '\n')
}
