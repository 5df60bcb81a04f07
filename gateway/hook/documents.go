package hook

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/internal/strictjson"
)

// The clients in this file are closed or need a login. Their contracts are taken from their
// documentation and have not been run.

// cursor speaks Cursor's own hooks.
func cursor() dialect {
	answer := func(permission, reason string) reply {
		return line(map[string]string{"permission": permission, "user_message": reason, "agent_message": reason})
	}
	return dialect{
		name: "cursor", decode: decodeCursor, passed: []byte("{}\n"),
		allow: func(reason, _ string) reply { return answer("allow", reason) },
		deny:  func(reason string) reply { return answer("deny", reason) },
	}
}

func decodeCursor(data []byte, _ func(string) string) (event, error) {
	var in struct {
		Conversation string           `json:"conversation_id"`
		Generation   string           `json:"generation_id"`
		Event        string           `json:"hook_event_name"`
		Transcript   string           `json:"transcript_path"`
		Roots        []string         `json:"workspace_roots"`
		Cwd          string           `json:"cwd"`
		Tool         string           `json:"tool_name"`
		Input        strictjson.Value `json:"tool_input"`
		ToolUse      string           `json:"tool_use_id"`
		Error        string           `json:"error_message"`
	}
	if err := strictjson.UnmarshalLoose(data, &in); err != nil {
		return event{}, unreadable("cursor", err)
	}
	e := event{session: in.Conversation, call: in.ToolUse}
	e.proposal.Context.Cwd, e.proposal.Context.Roots = in.Cwd, in.Roots
	if in.Cwd == "" && len(in.Roots) > 0 {
		e.proposal.Context.Cwd = in.Roots[0]
	}
	if in.Generation != "" {
		e.proposal.TurnID = in.Conversation + ":" + in.Generation
	}
	switch in.Event {
	case "preToolUse":
	case "postToolUse":
		e.kind, e.outcome.Succeeded = after, true
	case "postToolUseFailure":
		e.kind, e.outcome.Detail = after, in.Error
	case "stop":
		e.kind = ended
	default:
		return event{}, errEvent
	}
	return e.finish("cursor", in.Tool, in.Input)
}

// byCode returns a client for which a hook denies with exit code 2 and the reason on stderr.
func byCode(name string) dialect {
	return dialect{
		name:  name,
		allow: func(string, string) reply { return reply{} },
		deny:  func(reason string) reply { return reply{err: reason, code: denied} },
	}
}

// windsurf speaks Windsurf's Cascade hooks. Each kind of tool has its own event; the event's
// name without "pre_" or "post_" serves as the tool's name.
func windsurf() dialect {
	d := byCode("windsurf")
	d.decode = func(data []byte, _ func(string) string) (event, error) {
		var in struct {
			Action     string           `json:"agent_action_name"`
			Trajectory string           `json:"trajectory_id"`
			Execution  string           `json:"execution_id"`
			Info       strictjson.Value `json:"tool_info"`
		}
		if err := strictjson.UnmarshalLoose(data, &in); err != nil {
			return event{}, unreadable("windsurf", err)
		}
		e := event{session: in.Trajectory, call: in.Execution}
		var place struct {
			Cwd string `json:"cwd"`
		}
		_ = strictjson.UnmarshalLoose(in.Info, &place) // finish reports what is wrong with it
		e.proposal.Context.Cwd = place.Cwd
		tool, pre := strings.CutPrefix(in.Action, "pre_")
		if !pre {
			var post bool
			if tool, post = strings.CutPrefix(in.Action, "post_"); !post {
				return event{}, errEvent
			}
			// The event does not tell how the call ended.
			e.kind, e.outcome.Succeeded = after, true
		}
		if !slices.Contains([]string{"run_command", "mcp_tool_use", "write_code", "read_code"}, tool) {
			return event{}, errEvent
		}
		return e.finish("windsurf", tool, in.Info)
	}
	return d
}

// kiro speaks Kiro CLI's hooks.
func kiro() dialect {
	d := byCode("kiro")
	d.decode = func(data []byte, _ func(string) string) (event, error) {
		var in struct {
			Event    string           `json:"hook_event_name"`
			Session  string           `json:"session_id"`
			Cwd      string           `json:"cwd"`
			Tool     string           `json:"tool_name"`
			Input    strictjson.Value `json:"tool_input"`
			Response struct {
				Success *bool `json:"success"`
			} `json:"tool_response"`
		}
		if err := strictjson.UnmarshalLoose(data, &in); err != nil {
			return event{}, unreadable("kiro", err)
		}
		e := event{session: in.Session}
		e.proposal.Context.Cwd = in.Cwd
		switch in.Event {
		case "preToolUse", "PreToolUse":
		case "postToolUse", "PostToolUse":
			e.kind, e.outcome.Succeeded = after, in.Response.Success == nil || *in.Response.Success
		case "stop", "Stop":
			e.kind = ended
		default:
			return event{}, errEvent
		}
		return e.finish("kiro", in.Tool, in.Input)
	}
	return d
}

// amp is the program to which Amp's permissions delegate: the input holds the arguments, the
// environment the tool's name, and Amp reads nothing but the exit code. Exit code 1 would ask
// Amp's own user.
func amp() dialect {
	d := byCode("amp")
	d.decode = func(data []byte, getenv func(string) string) (event, error) {
		if getenv == nil {
			return event{}, errors.New("the hook cannot see the environment, in which amp names the tool")
		}
		e := event{session: getenv("AMP_THREAD_ID")}
		input := strictjson.Value(data)
		if err := strictjson.UnmarshalLoose(data, &input); err != nil {
			return event{}, unreadable("amp", err)
		}
		return e.finish("amp", getenv("AGENT_TOOL_NAME"), input)
	}
	return d
}

// exitCode returns the outcome of a command that ended with the code.
func exitCode(n int) client.Outcome {
	return client.Outcome{Succeeded: n == 0, Detail: "exit code " + strconv.Itoa(n)}
}
