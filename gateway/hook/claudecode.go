package hook

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/internal/strictjson"
)

// claudes returns the clients that speak Claude Code's hook protocol, each with its deviations.
func claudes() []dialect {
	code := claude("claude-code")
	code.edit = func(reason, said string, args map[string]any) reply {
		return encodeClaude(claudeAnswer{Decision: "allow", Reason: reason, Said: said, Input: args})
	}
	// A skill's own commands are asked about by an event of their own. Its answer must name that
	// event, and can neither change the command nor tell the model anything.
	code.skill = &dialect{
		name: code.name, decode: code.decode,
		allow: func(reason, _ string) reply {
			return encodeClaude(claudeAnswer{Event: SkillEvent, Decision: "allow", Reason: reason})
		},
		deny: func(reason string) reply {
			return encodeClaude(claudeAnswer{Event: SkillEvent, Decision: "deny", Reason: reason})
		},
	}
	code.again = func() reply {
		return line(map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": "PermissionDenied", "retry": true}})
	}

	// Codex treats an answer that only allows as broken, and then runs the tool anyway, so an
	// empty answer is its way to allow. A mode such as bypassPermissions needs no yes.
	codex := claude("codex")
	codex.allow = func(string, string) reply { return reply{} }
	codex.settle = func(run bool, reason string) reply {
		decision := map[string]string{"behavior": "allow"}
		if !run {
			decision = map[string]string{"behavior": "deny", "message": reason}
		}
		return line(map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": "PermissionRequest", "decision": decision}})
	}

	// Qwen's own bus waits 60 s for a hook, whatever the settings say, and then runs the tool.
	qwen := claude("qwen")
	qwen.longest = capQwen

	// These follow the clients' documentation.
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

// SkillEvent is Claude Code's name of the event that asks about a command which a skill's text runs
// when the skill is loaded. There is no call of a tool for it.
const SkillEvent = "PreSkillShellCommand"

// claudeEvent is the part of Claude Code's input that we use. Later versions may add fields.
type claudeEvent struct {
	Session    string           `json:"session_id"`
	Transcript string           `json:"transcript_path"`
	Cwd        string           `json:"cwd"`
	Prompt     string           `json:"prompt_id"`
	Turn       string           `json:"turn_id"` // Codex only
	Mode       string           `json:"permission_mode"`
	Event      string           `json:"hook_event_name"`
	Tool       string           `json:"tool_name"`
	Input      strictjson.Value `json:"tool_input"`
	ToolUse    string           `json:"tool_use_id"`
	Agent      string           `json:"agent_id"`
	SubAgent   string           `json:"agent_type"`
	// Error is set for a failed call, Reason for a refused one.
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
	skill := e.skill
	e.proposal.Context.Mode, e.proposal.Context.Cwd = in.Mode, in.Cwd
	if in.Agent != "" { // Otherwise the type is that of the session itself.
		e.proposal.Context.SubAgent = in.SubAgent
	}
	if at := strings.LastIndexByte(in.Agent, '-'); name == "qwen" && at > 0 { // its id is its name and the call that started it
		e.proposal.Context.SubAgent = in.Agent[:at]
	}
	e.proposal.TurnID = in.Session
	for _, part := range []string{in.Prompt, in.Turn} {
		if part != "" {
			e.proposal.TurnID += ":" + part
		}
	}
	classify(&e.proposal.Context, in.Tool)
	e, err := e.finish(name, in.Tool, in.Input)
	e.skill = skill // also of a call that cannot be read: the denial must name the event
	if name == "codex" && in.Tool == "apply_patch" {
		patchNotCommand(e.proposal.Args)
	}
	return e, err
}

// about sets what kind of event it is, and what the kind implies.
func (in *claudeEvent) about(e *event, name string) error {
	switch in.Event {
	case SkillEvent:
		e.skill = true
		e.proposal.Intent = intentOf(in.Transcript)
	case "PreToolUse":
		e.proposal.Intent = intentOf(in.Transcript)
	case "PostToolUse":
		// Codex does not tell the exit code of a command, but its transcript does.
		e.kind, e.later, e.outcome.Succeeded = after, name == "codex", true
	case "PostToolUseFailure":
		e.kind, e.outcome.Detail = after, plainText(in.Error)
	case "PermissionDenied":
		e.proposal.Intent = intentOf(in.Transcript)
		e.proposal.Context.Refusal = in.Reason
		e.kind, e.outcome = rejected, client.Outcome{NotRun: true, Detail: refusedBy(in.Reason)}
	case "PermissionRequest":
		e.proposal.Intent = intentOf(in.Transcript)
		e.kind, e.call = wondering, openCall(in.Transcript) // The event does not name the call.
	case "Stop", "SubagentStop":
		e.kind = ended
	default:
		return errEvent
	}
	return nil
}

// classify sets what Claude Code's own tools are for.
func classify(c *client.Context, tool string) {
	switch tool {
	case "Bash":
		c.Capability = []string{"code:exec"}
	case "Glob", "Grep", "LS", "NotebookRead", "Read":
		c.Critical = new(bool)
	}
}

// patchNotCommand renames the argument of Codex's apply_patch, because Codex passes the patch
// to the hook as a command.
func patchNotCommand(args map[string]any) {
	if text, ok := args["command"]; ok && args["patch"] == nil {
		args["patch"] = text
		delete(args, "command")
	}
}

// refusedBy returns the sentence that the client itself refused a call.
func refusedBy(reason string) string {
	if reason == "" {
		return "The agent's own rules refused it."
	}
	return "The agent's own rules refused it: " + reason
}

// plainText returns the text that v holds, or v's own JSON if it is not a string.
func plainText(v strictjson.Value) string {
	var s string
	if strictjson.UnmarshalLoose(v, &s) == nil {
		return s
	}
	return string(v)
}

// claudeAnswer is the part of an answer that depends on the decision.
type claudeAnswer struct {
	Event    string `json:"hookEventName"`
	Decision string `json:"permissionDecision"`
	Reason   string `json:"permissionDecisionReason"`
	// Input replaces the tool's whole input.
	Input map[string]any `json:"updatedInput,omitempty"`
	// Said is for the agent to read.
	Said string `json:"additionalContext,omitempty"`
}

func encodeClaude(a claudeAnswer) reply {
	a.Event = cmp.Or(a.Event, "PreToolUse")
	return line(map[string]claudeAnswer{"hookSpecificOutput": a})
}

// line returns an answer of one line of JSON. If v cannot be encoded, the answer is a denial by
// exit code.
func line(v any) reply {
	out, err := strictjson.Marshal(v)
	if err != nil {
		return reply{code: denied, err: fmt.Sprint("vaglio: this call did not run: its hook failed: ", err)}
	}
	return reply{out: append(out, '\n')}
}
