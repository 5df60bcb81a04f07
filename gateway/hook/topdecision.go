package hook

import (
	"regexp"
	"strings"

	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/internal/strictjson"
)

// gemini speaks Gemini CLI's hooks. A call has no name there, and an answer in
// Claude's form would be ignored.
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

// exitLine is how clients tell the model with which code a command ended.
func exitLine() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:exit|exited with(?: exit)?) code:? *(-?[0-9]+)`)
}

// exitOf reads how a command ended from what the model is told of it. Only the
// last mention counts: the client's own comes behind the command's output, or, as
// Codex has it, in the lines above it, of which the first counts.
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

// hermes speaks the shell hooks of hermes-agent, which tell nothing of a person's
// words.
func hermes() dialect {
	return dialect{
		name: "hermes", longest: capHermes, decode: decodeHermes, passed: []byte("{}\n"),
		allow: func(string, string) reply { return reply{out: []byte("{}\n")} },
		deny:  func(reason string) reply { return line(map[string]string{"decision": "block", "reason": reason}) },
	}
}

func decodeHermes(data []byte, _ func(string) string) (event, error) {
	var in struct {
		Session string           `json:"session_id"`
		Cwd     string           `json:"cwd"`
		Event   string           `json:"hook_event_name"`
		Tool    string           `json:"tool_name"`
		Input   strictjson.Value `json:"tool_input"`
		Extra   struct {
			Call   string           `json:"tool_call_id"`
			Turn   string           `json:"turn_id"`
			Status string           `json:"status"`
			Error  string           `json:"error_message"`
			Result strictjson.Value `json:"result"`
		} `json:"extra"`
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
		e.kind, e.outcome = after, exitOf(plainText(in.Extra.Result))
		switch in.Extra.Status {
		case "blocked":
			e.outcome = client.Outcome{NotRun: true, Detail: refusedBy(in.Extra.Error)}
		case "error":
			e.outcome = client.Outcome{Detail: in.Extra.Error}
		}
	case "on_session_end":
		e.kind = ended
	default:
		return event{}, errEvent
	}
	return e.finish("hermes", in.Tool, in.Input)
}
