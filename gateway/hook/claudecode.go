package hook

import (
	"fmt"

	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/internal/strictjson"
)

// claudes are the clients that speak Claude Code's hooks, each with what it does
// otherwise.
func claudes() []dialect {
	code := claude("claude-code")
	code.edit = func(reason, said string, args map[string]any) reply {
		return encodeClaude(claudeAnswer{Decision: "allow", Reason: reason, Said: said, Input: args})
	}
	code.again = func() reply {
		return line(map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": "PermissionDenied", "retry": true}})
	}

	// Codex takes an answer that only allows for a broken one, and then runs the
	// tool: nothing is what allows. A mode such as bypassPermissions needs no yes.
	codex := claude("codex")
	codex.allow = func(string, string) reply { return reply{} }
	codex.settle = func(run bool, reason string) reply {
		decision := map[string]string{"behavior": "allow"}
		if !run {
			decision = map[string]string{"behavior": "deny", "message": reason}
		}
		return line(map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": "PermissionRequest", "decision": decision}})
	}

	// Qwen's own bus waits 60 s for a hook, whatever the settings say, and then
	// runs the tool.
	qwen := claude("qwen")
	qwen.longest = capQwen

	// From documents.
	vscode, droid, kimi := claude("vscode"), claude("droid"), claude("kimi")
	kimi.longest = capKimi
	return []dialect{code, codex, qwen, vscode, droid, kimi}
}

func claude(name string) dialect {
	return dialect{
		name:   name,
		decode: func(data []byte, _ func(string) string) (event, error) { return decodeClaude(name, data) },
		allow: func(reason, said string) reply {
			return encodeClaude(claudeAnswer{Decision: "allow", Reason: reason, Said: said})
		},
		deny: func(reason string) reply {
			return encodeClaude(claudeAnswer{Decision: "deny", Reason: reason})
		},
	}
}

// claudeEvent is what Claude Code writes, as far as it matters here. Fields that
// later versions add are no mistake.
type claudeEvent struct {
	Session    string           `json:"session_id"`
	Transcript string           `json:"transcript_path"`
	Cwd        string           `json:"cwd"`
	Prompt     string           `json:"prompt_id"`
	Turn       string           `json:"turn_id"` // Codex's
	Mode       string           `json:"permission_mode"`
	Event      string           `json:"hook_event_name"`
	Tool       string           `json:"tool_name"`
	Input      strictjson.Value `json:"tool_input"`
	ToolUse    string           `json:"tool_use_id"`
	Agent      string           `json:"agent_id"`
	SubAgent   string           `json:"agent_type"`
	// Error is of a failed call, and Reason of one that was refused.
	Error  strictjson.Value `json:"error"`
	Reason string           `json:"reason"`
}

func decodeClaude(name string, data []byte) (event, error) {
	var in claudeEvent
	if err := strictjson.UnmarshalLoose(data, &in); err != nil {
		return event{}, unreadable(name, err)
	}
	e := event{session: in.Session, agent: in.Agent, call: in.ToolUse, transcript: in.Transcript}
	if err := in.about(&e, name); err != nil {
		return event{}, err
	}
	e.proposal.Context.Mode, e.proposal.Context.Cwd = in.Mode, in.Cwd
	if in.Agent != "" { // Without one, the type is that of the session itself.
		e.proposal.Context.SubAgent = in.SubAgent
	}
	e.proposal.TurnID = in.Session
	for _, part := range []string{in.Prompt, in.Turn} {
		if part != "" {
			e.proposal.TurnID += ":" + part
		}
	}
	classify(&e.proposal.Context, in.Tool)
	e, err := e.finish(name, in.Tool, in.Input)
	if name == "codex" && in.Tool == "apply_patch" {
		patchNotCommand(e.proposal.Args)
	}
	return e, err
}

// about reads what happens with the call.
func (in *claudeEvent) about(e *event, name string) error {
	switch in.Event {
	case "PreToolUse":
		e.proposal.Intent = intentOf(in.Transcript)
	case "PostToolUse":
		// Codex does not say with which code a command ended; its transcript does.
		e.kind, e.later, e.outcome.Succeeded = after, name == "codex", true
	case "PostToolUseFailure":
		e.kind, e.outcome.Detail = after, plainText(in.Error)
	case "PermissionDenied":
		e.proposal.Intent = intentOf(in.Transcript)
		e.proposal.Context.Refusal = in.Reason
		e.kind, e.outcome = rejected, client.Outcome{NotRun: true, Detail: refusedBy(in.Reason)}
	case "PermissionRequest":
		e.proposal.Intent = intentOf(in.Transcript)
		e.kind, e.call = wondering, openCall(in.Transcript) // It names no call.
	case "Stop", "SubagentStop":
		e.kind = ended
	default:
		return errEvent
	}
	return nil
}

// classify says what Claude Code's own tools are for.
func classify(c *client.Context, tool string) {
	switch tool {
	case "Bash":
		c.Capability = []string{"code:exec"}
	case "Glob", "Grep", "LS", "NotebookRead", "Read":
		c.Critical = new(bool)
	}
}

// patchNotCommand gives Codex's patch the name that says what it is: the hook is
// told of it as of a command.
func patchNotCommand(args map[string]any) {
	if text, ok := args["command"]; ok && args["patch"] == nil {
		args["patch"] = text
		delete(args, "command")
	}
}

// refusedBy says that the client itself refused a call.
func refusedBy(reason string) string {
	if reason == "" {
		return "The agent's own rules refused it."
	}
	return "The agent's own rules refused it: " + reason
}

// plainText is a text, or the JSON that stands in its place.
func plainText(v strictjson.Value) string {
	var s string
	if strictjson.UnmarshalLoose(v, &s) == nil {
		return s
	}
	return string(v)
}

// claudeAnswer is the part of the answer that differs.
type claudeAnswer struct {
	Event    string `json:"hookEventName"`
	Decision string `json:"permissionDecision"`
	Reason   string `json:"permissionDecisionReason"`
	// Input takes the place of the tool's whole input.
	Input map[string]any `json:"updatedInput,omitempty"`
	// Said is read by the agent.
	Said string `json:"additionalContext,omitempty"`
}

func encodeClaude(a claudeAnswer) reply {
	a.Event = "PreToolUse"
	return line(map[string]claudeAnswer{"hookSpecificOutput": a})
}

// line is an answer that is one line of JSON. What cannot be written denies by its
// exit code.
func line(v any) reply {
	out, err := strictjson.Marshal(v)
	if err != nil {
		return reply{code: denied, err: fmt.Sprint("vaglio: this call did not run: its hook failed inside: ", err)}
	}
	return reply{out: append(out, '\n')}
}
