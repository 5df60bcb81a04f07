package hook

import (
	"bytes"

	"github.com/metnos/vaglio/internal/strictjson"
)

// cline speaks Cline's hooks. A denial ends Cline's run, and the model never sees the reason.
func cline() dialect {
	return dialect{
		name: "cline", longest: capCline, decode: decodeCline,
		allow: func(_, said string) reply {
			if said == "" {
				return reply{}
			}
			return line(map[string]string{"contextModification": said})
		},
		deny: func(reason string) reply { return line(map[string]any{"cancel": true, "errorMessage": reason}) },
	}
}

// clineCall is a call and, once it has ended, its result.
type clineCall struct {
	ID     string           `json:"id"`
	Name   string           `json:"name"`
	Input  strictjson.Value `json:"input"`
	Output strictjson.Value `json:"output"`
	Error  strictjson.Value `json:"error"`
}

func decodeCline(data []byte, _ func(string) string) (event, error) {
	var in struct {
		Task  string `json:"taskId"`
		Agent string `json:"agent_id"`
		// Parent is the agent that started this one, if it is a sub-agent.
		Parent string   `json:"parent_agent_id"`
		Event  string   `json:"hookName"`
		Roots  []string `json:"workspaceRoots"`
		// Exactly one of the two is set.
		Call   clineCall `json:"tool_call"`
		Result clineCall `json:"tool_result"`
	}
	if err := strictjson.UnmarshalLoose(data, &in); err != nil {
		return event{}, unreadable("cline", err)
	}
	e := event{session: in.Task, agent: in.Agent}
	e.proposal.Context.Roots = in.Roots
	if in.Parent != "" {
		e.proposal.Context.SubAgent = in.Agent // Cline's sub-agents have no other name.
	}
	if len(in.Roots) > 0 {
		e.proposal.Context.Cwd = in.Roots[0]
	}
	call := in.Call
	switch in.Event {
	case "tool_call":
	case "tool_result":
		call, e.kind = in.Result, after
		e.outcome.Succeeded = len(call.Error) == 0 && !bytes.Contains(compact(call.Output), []byte(`"success":false`))
		if !e.outcome.Succeeded {
			e.outcome.Detail = plainText(call.Output)
		}
	default:
		return event{}, errEvent
	}
	e.call = call.ID
	return e.finish("cline", call.Name, call.Input)
}

// compact returns the JSON without insignificant whitespace.
func compact(v strictjson.Value) []byte {
	c := v.Clone()
	if c.Compact() != nil {
		return v
	}
	return c
}
