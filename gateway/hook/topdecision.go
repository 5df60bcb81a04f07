package hook

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/internal/strictjson"
)

// gemini speaks Gemini CLI's hooks. They do not name the call, and they ignore answers in
// Claude Code's form.
func gemini() dialect {
	return dialect{
		name: "gemini", decode: decodeGemini,
		allow: func(string, string) reply { return line(map[string]string{"decision": "allow"}) },
		deny:  func(reason string) reply { return line(map[string]string{"decision": "deny", "reason": reason}) },
	}
}

func decodeGemini(data []byte, _ func(string) string) (event, error) {
	var in struct {
		Session    string           `json:"session_id"`
		Transcript string           `json:"transcript_path"`
		Cwd        string           `json:"cwd"`
		Event      string           `json:"hook_event_name"`
		Tool       string           `json:"tool_name"`
		Input      strictjson.Value `json:"tool_input"`
		Response   struct {
			Model strictjson.Value `json:"llmContent"`
			Error strictjson.Value `json:"error"`
		} `json:"tool_response"`
	}
	if err := strictjson.UnmarshalLoose(data, &in); err != nil {
		return event{}, unreadable("gemini", err)
	}
	e := event{session: in.Session, transcript: in.Transcript}
	e.proposal.Context.Cwd = in.Cwd
	switch in.Event {
	case "BeforeTool":
	case "AfterTool":
		e.kind, e.outcome = after, exitOf(plainText(in.Response.Model))
		if len(in.Response.Error) > 0 && in.Response.Error.Kind() != 'n' {
			e.outcome = client.Outcome{Detail: plainText(in.Response.Error)}
		}
	case "AfterAgent":
		e.kind = ended
	default:
		return event{}, errEvent
	}
	return e.finish("gemini", in.Tool, in.Input)
}

// exitLine matches the line in which clients tell the model a command's exit code.
func exitLine() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:exit|exited with(?: exit)?) code:? *(-?[0-9]+)`)
}

// exitOf reads how a command ended from what the model is told. The last mention counts,
// because the client's own follows the command's output. Codex instead puts its own in the
// lines above the output, of which the first counts.
func exitOf(told string) client.Outcome {
	line := exitLine()
	all := line.FindAllStringSubmatch(told, -1)
	if len(all) == 0 {
		return client.Outcome{Succeeded: true}
	}
	m := all[len(all)-1]
	if head, _, ok := strings.Cut(told, "\nOutput:\n"); ok && line.MatchString(head) {
		m = line.FindStringSubmatch(head)
	}
	if m[1] == "0" {
		return client.Outcome{Succeeded: true}
	}
	return client.Outcome{Detail: "exit code " + m[1]}
}

// hermes speaks the shell hooks of hermes-agent, which have no room for a person's words to
// the agent.
func hermes() dialect {
	return dialect{
		name: "hermes", longest: capHermes, decode: decodeHermes, passed: []byte("{}\n"),
		// This answers our plugin, and Hermes has no room for a reason there.
		settle: func(run bool, _ string) reply {
			return line(map[string]string{"choice": map[bool]string{true: "once", false: "deny"}[run]})
		},
		allow: func(string, string) reply { return reply{out: []byte("{}\n")} },
		deny:  func(reason string) reply { return line(map[string]string{"decision": "block", "reason": reason}) },
	}
}

// hermesExtra is what else hermes-agent tells about a call, about its end, and about the
// decision of its own gate.
type hermesExtra struct {
	Call        string           `json:"tool_call_id"`
	Turn        string           `json:"turn_id"`
	Status      string           `json:"status"`
	Error       string           `json:"error_message"`
	Result      strictjson.Value `json:"result"`
	Command     string           `json:"command"`
	Description string           `json:"description"`
	Choice      string           `json:"choice"`
	Surface     string           `json:"surface"`
}

// hermesTerminal is the tool whose commands the client's own gate checks; the event does not
// name it.
const hermesTerminal = "terminal"

// call returns what that gate checks, as the tool's arguments.
func (x *hermesExtra) call() strictjson.Value {
	input, err := strictjson.MarshalLossy(map[string]string{"command": x.Command})
	if err != nil {
		return nil // no object, so the call is denied
	}
	return input
}

// outcome returns how a call ended. If the client's own gate refused it inside its tool, the
// event says that it failed, and only the text for the model says that it was blocked.
func (x *hermesExtra) outcome() client.Outcome {
	var read struct {
		Status string `json:"status"`
		Exit   int    `json:"exit_code"`
	}
	_ = strictjson.UnmarshalLoose([]byte(plainText(x.Result)), &read) // Many tools answer in another form.
	switch {
	case x.Status == "blocked" || read.Status == "blocked":
		return client.Outcome{NotRun: true, Detail: refusedBy(x.Error)}
	case x.Status == "error":
		return client.Outcome{Detail: x.Error}
	case read.Exit != 0:
		return client.Outcome{Detail: fmt.Sprint("exit code ", read.Exit)}
	}
	return exitOf(plainText(x.Result))
}

// refusal returns why the client's own gate refused a call, if it did.
func (x *hermesExtra) refusal() (why string, refused bool) {
	switch x.Choice {
	case "once", "session", "always", "smart_approve":
		return "", false
	case "deny":
		if x.Surface == "transport:vaglio" {
			return "", false // The denial was ours.
		}
		why = "its user said no"
	case "timeout":
		why = "its user did not answer in time"
	case "smart_deny":
		why = "its model said no"
	default:
		why = "nobody could be asked"
	}
	if x.Description != "" {
		why += ", about: " + x.Description
	}
	return why, true
}

func decodeHermes(data []byte, _ func(string) string) (event, error) {
	var in struct {
		Session string           `json:"session_id"`
		Cwd     string           `json:"cwd"`
		Event   string           `json:"hook_event_name"`
		Tool    string           `json:"tool_name"`
		Input   strictjson.Value `json:"tool_input"`
		Extra   hermesExtra      `json:"extra"`
	}
	if err := strictjson.UnmarshalLoose(data, &in); err != nil {
		return event{}, unreadable("hermes", err)
	}
	e := event{session: in.Session, call: in.Extra.Call}
	e.proposal.Context.Cwd = in.Cwd
	if in.Extra.Turn != "" {
		e.proposal.TurnID = in.Session + ":" + in.Extra.Turn
	}
	switch in.Event {
	case "pre_tool_call":
	case "post_tool_call":
		e.kind, e.outcome = after, in.Extra.outcome()
	case "approval_request":
		e.kind, e.named = wondering, e.call != ""
		in.Tool, in.Input = hermesTerminal, in.Extra.call()
	case "post_approval_response":
		in.Tool, in.Input = hermesTerminal, in.Extra.call()
		why, refused := in.Extra.refusal()
		if !refused {
			e.kind, e.later = after, true
			break
		}
		e.proposal.Context.Refusal = why
		e.kind, e.outcome = rejected, client.Outcome{NotRun: true, Detail: refusedBy(why)}
	case "on_session_end":
		e.kind = ended
	default:
		return event{}, errEvent
	}
	return e.finish("hermes", in.Tool, in.Input)
}
