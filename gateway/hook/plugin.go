package hook

import (
	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/internal/strictjson"
)

// plugins returns the clients in which a plugin of ours asks. The plugin reads and writes the
// format below.
func plugins() []dialect {
	return []dialect{plugin("opencode"), plugin("openclaw")}
}

func plugin(name string) dialect {
	answer := func(decision, reason string) reply {
		return line(map[string]string{"decision": decision, "reason": reason})
	}
	return dialect{
		name:   name,
		decode: func(data []byte, _ func(string) string) (event, error) { return decodePlugin(name, data) },
		allow:  func(reason, _ string) reply { return answer("allow", reason) },
		deny:   func(reason string) reply { return answer("deny", reason) },
		// The plugin runs the tool on this word alone: silence means that the hook failed.
		passed: []byte(`{"decision":"allow"}` + "\n"),
	}
}

func decodePlugin(name string, data []byte) (event, error) {
	var in struct {
		Event   string           `json:"event"`
		Session string           `json:"session"`
		Agent   string           `json:"agent"`
		Sub     string           `json:"sub_agent"`
		Call    string           `json:"call"`
		Cwd     string           `json:"cwd"`
		Tool    string           `json:"tool"`
		Args    strictjson.Value `json:"args"`
		Error   string           `json:"error"`
		Exit    *int             `json:"exit"`
	}
	if err := strictjson.UnmarshalLoose(data, &in); err != nil {
		return event{}, unreadable("vaglio's plugin for "+name, err)
	}
	e := event{session: in.Session, agent: in.Agent, call: in.Call}
	e.proposal.Context.Cwd, e.proposal.Context.SubAgent = in.Cwd, in.Sub
	switch in.Event {
	case "before":
	case "after":
		e.kind, e.outcome = after, client.Outcome{Succeeded: in.Error == "" && (in.Exit == nil || *in.Exit == 0), Detail: in.Error}
		if in.Exit != nil && *in.Exit != 0 && in.Error == "" {
			e.outcome = exitCode(*in.Exit)
		}
	case "ended":
		e.kind = ended
	default:
		return event{}, errEvent
	}
	return e.finish(name, in.Tool, in.Args)
}
