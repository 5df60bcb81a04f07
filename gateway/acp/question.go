package acp

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/gateway/jsonrpc"
	"github.com/metnos/vaglio/internal/strictjson"
)

// question is a permission request from the agent.
type question struct {
	Session string           `json:"sessionId"`
	Call    toolCall         `json:"toolCall"`
	Subject strictjson.Value `json:"subject"`
	About   string           `json:"description"`
	Title   string           `json:"title"`
	Options []option         `json:"options"`
	args    map[string]any
	// untold is set when the arguments are made from the agent's description of the call, not
	// from what it would actually run.
	untold bool
}

// toolCall is what the agent has said about a call. Where a message leaves a field out, the
// last value that the agent gave still holds.
type toolCall struct {
	ID      string           `json:"toolCallId"`
	Title   string           `json:"title"`
	Kind    string           `json:"kind"`
	Input   strictjson.Value `json:"rawInput"`
	At      []location       `json:"locations"`
	Content []content        `json:"content"`
}

type location struct {
	Path string `json:"path"`
}

// content is what the agent shows of a call: a text or a file's change.
type content struct {
	Type  string `json:"type"`
	Path  string `json:"path"`
	Old   string `json:"oldText"`
	New   string `json:"newText"`
	Block struct {
		Text string `json:"text"`
	} `json:"content"`
}

// then returns c updated with the fields that more sets.
func (c toolCall) then(more toolCall) toolCall {
	c.ID = more.ID
	if more.Title != "" {
		c.Title = more.Title
	}
	if more.Kind != "" {
		c.Kind = more.Kind
	}
	if more.hasInput() {
		c.Input = more.Input
	}
	if len(more.At) > 0 {
		c.At = more.At
	}
	if len(more.Content) > 0 {
		c.Content = more.Content
	}
	return c
}

// hasInput reports whether the agent has said what it passes to its tool. Some agents send an
// empty object before they know.
func (c *toolCall) hasInput() bool {
	var members map[string]strictjson.Value
	if c.Input == nil || c.Input.Kind() == 'n' {
		return false
	}
	return c.Input.Kind() != '{' || strictjson.UnmarshalLoose(c.Input, &members) != nil || len(members) > 0
}

// option is one of the answers that the agent accepts. Kind says what it means; ID is the
// agent's own.
type option struct {
	ID   string `json:"optionId"`
	Kind string `json:"kind"`
}

// questionOf parses a permission request; before returns what the agent said earlier about the call.
func questionOf(m jsonrpc.Message, before func(session, call string) toolCall) (*question, error) {
	var q question
	if m.Params == nil || strictjson.UnmarshalLoose(m.Params, &q) != nil {
		return nil, errors.New("its parameters could not be read")
	}
	if _, err := jsonrpc.Object(m.Params, "sessionId", "toolCall", "subject", "options"); err != nil {
		return nil, fmt.Errorf("the object of its parameters %w", err)
	}
	q.Call = before(q.Session, q.Call.ID).then(q.Call)
	if q.Call.Input.Kind() == '{' && q.Call.hasInput() {
		if err := strictjson.Unmarshal(q.Call.Input, &q.args); err != nil {
			return nil, fmt.Errorf("the input of its call: %w", err)
		}
		return &q, nil
	}
	if err := q.describe(); err != nil {
		return nil, err
	}
	if len(q.args) == 0 {
		return nil, errors.New("it does not say what it is about")
	}
	return &q, nil
}

// describe builds the arguments of a call without input from everything else the agent says.
// For a call that changes files, their new contents are the whole of it.
func (q *question) describe() error {
	changes, said := q.Call.shown()
	q.untold = len(changes) == 0
	title := "title"
	if q.untold && q.Call.Kind == "execute" { // Agents that mention the command at all put it in the title.
		title = "command"
	}
	q.args = map[string]any{}
	put := func(key, text string) {
		if text != "" {
			q.args[key] = text
		}
	}
	put(title, cmp.Or(q.Call.Title, q.Title))
	put("description", strings.Join(said, "\n"))
	put("explanation", q.About)
	for key, all := range map[string][]any{"paths": q.Call.paths(), "changes": changes} {
		if all != nil {
			q.args[key] = all
		}
	}
	return errors.Join(q.strange("subject", q.Subject), q.strange("input", q.Call.Input))
}

// strange adds a value to the arguments whose structure we do not know.
func (q *question) strange(key string, raw strictjson.Value) error {
	if raw == nil || raw.Kind() == 'n' || key == "input" && raw.Kind() == '{' { // An empty object.
		return nil
	}
	var v any
	if err := strictjson.Unmarshal(raw, &v); err != nil {
		return fmt.Errorf("the %s of its call: %w", key, err)
	}
	q.args[key], q.untold = v, true
	return nil
}

// shown returns the file changes and the texts that the agent shows of a call.
func (c *toolCall) shown() (changes []any, said []string) {
	for _, part := range c.Content {
		switch part.Type {
		case "diff":
			change := map[string]any{"path": part.Path, "new_text": part.New}
			if part.Old != "" {
				change["old_text"] = part.Old
			}
			changes = append(changes, change)
		case "content":
			said = append(said, part.Block.Text)
		}
	}
	return changes, said
}

func (c *toolCall) paths() (all []any) {
	for _, l := range c.At {
		all = append(all, l.Path)
	}
	return all
}

// proposal returns the call as the gate takes it. The tool kind is the agent's own claim: one
// that changes things is believed, but one that only reads exempts nothing.
func (q *question) proposal(run, cwd string) client.Proposal {
	p := client.Proposal{
		TurnID: run + ":" + q.Session, Executor: "acp__tool_call", Args: q.args, Context: client.Context{Cwd: cwd},
	}
	if q.untold {
		p.Context.Concerns = []client.Concern{client.CallUntold}
	}
	switch kind := q.Call.Kind; kind {
	case "execute":
		p.Executor, p.Context.Capability = "acp__execute", []string{"code:exec"}
	case "edit", "delete", "move":
		p.Executor = "acp__" + kind
	}
	return p
}

// cancelled is the answer that grants nothing and picks no option.
func cancelled() []byte { return []byte(`{"outcome":{"outcome":"cancelled"}}`) }

// choose picks the option that means allow once, or reject once. It never picks one that also
// covers later calls. chosen reports whether the agent offers such an option.
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
