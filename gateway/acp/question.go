package acp

import (
	"errors"
	"fmt"

	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/gateway/jsonrpc"
	"github.com/metnos/vaglio/internal/strictjson"
)

// question is what an agent would ask its user.
type question struct {
	Session string   `json:"sessionId"`
	Call    toolCall `json:"toolCall"`
	Options []option `json:"options"`
	args    map[string]any
}

type toolCall struct {
	ID    string           `json:"toolCallId"`
	Title string           `json:"title"`
	Kind  string           `json:"kind"`
	Input strictjson.Value `json:"rawInput"`
	At    []place          `json:"locations"`
}

type place struct {
	Path string `json:"path"`
}

// option is one of the answers that the agent takes. Its kind says what it means; its
// id is the agent's own.
type option struct {
	ID   string `json:"optionId"`
	Kind string `json:"kind"`
}

func questionOf(m jsonrpc.Message) (*question, error) {
	var q question
	if m.Params == nil || strictjson.UnmarshalLoose(m.Params, &q) != nil {
		return nil, errors.New("its parameters could not be read")
	}
	if _, err := jsonrpc.Object(m.Params, "sessionId", "toolCall", "options"); err != nil {
		return nil, fmt.Errorf("the object of its parameters %w", err)
	}
	if q.Call.Input.Kind() == '{' {
		if err := strictjson.Unmarshal(q.Call.Input, &q.args); err != nil {
			return nil, fmt.Errorf("the input of its call: %w", err)
		}
		return &q, nil
	}
	// Some agents tell a title alone. Nothing is known of such a call but its words.
	q.args = map[string]any{"title": q.Call.Title}
	if len(q.Call.At) > 0 {
		var paths []any
		for _, l := range q.Call.At {
			paths = append(paths, l.Path)
		}
		q.args["paths"] = paths
	}
	return &q, nil
}

// proposal is the call as the gate takes it. The kind of its tool is the agent's own
// word: one that changes things is heard, one that only reads spares no question.
func (q *question) proposal(run, cwd string) client.Proposal {
	p := client.Proposal{
		TurnID: run + ":" + q.Session, Executor: "acp__tool_call", Args: q.args, Context: client.Context{Cwd: cwd},
	}
	switch kind := q.Call.Kind; kind {
	case "execute":
		p.Executor, p.Context.Capability = "acp__execute", []string{"code:exec"}
	case "edit", "delete", "move":
		p.Executor = "acp__" + kind
	}
	return p
}

// cancelled is the answer that grants nothing and chooses nothing.
func cancelled() []byte { return []byte(`{"outcome":{"outcome":"cancelled"}}`) }

// choose is the answer by what the options mean: this once, or not. What would hold
// for later calls, too, is never chosen. chosen says that there is such an option.
func (q *question) choose(run bool) (answer []byte, chosen bool) {
	kind := "reject_once"
	if run {
		kind = "allow_once"
	}
	for _, o := range q.Options {
		if o.Kind != kind || o.ID == "" {
			continue
		}
		answer, err := strictjson.Marshal(map[string]any{"outcome": map[string]string{"outcome": "selected", "optionId": o.ID}})
		if err == nil {
			return answer, true
		}
	}
	return cancelled(), false
}
