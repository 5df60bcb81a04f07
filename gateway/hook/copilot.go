package hook

import (
	"strings"

	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/internal/strictjson"
)

// copilot speaks GitHub Copilot CLI's own hooks. They neither name the call nor the event, so
// the fields that are present tell which event it is.
func copilot() dialect {
	answer := func(decision, reason string) reply {
		return line(map[string]string{"permissionDecision": decision, "permissionDecisionReason": reason})
	}
	return dialect{
		name: "copilot", decode: decodeCopilot,
		allow: func(reason, _ string) reply { return answer("allow", reason) },
		deny:  func(reason string) reply { return answer("deny", reason) },
	}
}

func decodeCopilot(data []byte, _ func(string) string) (event, error) {
	var in struct {
		Session    string           `json:"sessionId"`
		Cwd        string           `json:"cwd"`
		Transcript string           `json:"transcriptPath"`
		Tool       string           `json:"toolName"`
		Args       strictjson.Value `json:"toolArgs"`
		Result     *struct {
			Type string `json:"resultType"`
			Text string `json:"textResultForLlm"`
		} `json:"toolResult"`
		Error strictjson.Value `json:"error"`
		Stop  string           `json:"stopReason"`
	}
	if err := strictjson.UnmarshalLoose(data, &in); err != nil {
		return event{}, unreadable("copilot", err)
	}
	e := event{session: in.Session}
	e.proposal.Context.Cwd = in.Cwd
	switch {
	case in.Stop != "" && in.Tool == "":
		e.kind = ended
	case in.Result != nil:
		e.kind, e.outcome = after, exitOf(in.Result.Text)
		switch in.Result.Type {
		case "success":
		case "denied", "rejected":
			e.outcome = client.Outcome{NotRun: true, Detail: refusedBy(in.Result.Text)}
		default:
			e.outcome = client.Outcome{Detail: in.Result.Text}
		}
	case len(in.Error) > 0:
		e.kind, e.outcome.Detail = after, plainText(in.Error)
	}
	args := in.Args
	// Some versions encode the arguments as a string that holds JSON.
	var text string
	if args.Kind() == '"' && strictjson.UnmarshalLoose(args, &text) == nil {
		args = strictjson.Value(strings.TrimSpace(text))
	}
	return e.finish("copilot", in.Tool, args)
}
