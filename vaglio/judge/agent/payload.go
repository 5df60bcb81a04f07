package agent

import (
	"slices"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/llm"
	"github.com/metnos/vaglio/vaglio/judge/model"
	"github.com/metnos/vaglio/vaglio/reading"
)

// validationContext tells a judge agent what it is asked for.
const validationContext = "semantic_judge_pre_execution_inner_loop"

// noTask stands for a missing task.
const noTask = "No objective available"

// payload is what a judge agent is told about a call.
type payload struct {
	task, call, tools, mounts, output, criteria, violations, history string
	// asked are the mounts as paths.
	asked []string
}

// audited is an earlier call of the turn.
type audited struct {
	Step int    `json:"step"`
	Tool string `json:"tool_name"`
	// Status is one word.
	Status string `json:"status"`
}

// payload returns everything that is known about a call, with secrets masked.
func (j *Judge) payload(p *vaglio.Proposal) payload {
	m := j.config.Masker
	load := payload{criteria: j.config.Criteria, task: m.Mask(p.Intent), asked: mounts(p)}
	if load.task == "" {
		load.task = noTask
	}
	args := llm.Arguments(m.For(p.Executor), p.Args, paths(p.Context.Reading))
	load.output = "Tool call request: " + m.Mask(p.Executor) + " " + llm.Shortened(args, 1024)
	load.call = `{"name": ` + written(m.Mask(p.Executor)) + `, "arguments": ` + args + `}`
	load.mounts = written(m.Texts(load.asked))
	turn := p.Context.Turn
	if turn == nil {
		turn = &vaglio.Turn{}
	}
	known := slices.Clone(turn.Known)
	if !slices.Contains(known, p.Executor) {
		known = append(known, p.Executor)
	}
	load.tools, load.violations = written(m.Texts(known)), written(m.Texts(turn.Refused))
	history := []audited{}
	for _, e := range turn.Earlier {
		history = append(history, audited{e.Step, m.Mask(e.Executor), e.Outcome})
	}
	load.history = written(history)
	return load
}

// trusted returns the part written by the operator and by us.
func (l *payload) trusted() string {
	return "Judge the proposed tool call in the frames below.\n\nvalidation_context: " + validationContext + "\n\ncriteria:\n" + l.criteria
}

// quotes returns the part written by everybody else, under the payload's names.
func (l *payload) quotes() []model.Quote {
	return []model.Quote{
		model.NewQuote("task", l.task),
		model.NewQuote("proposed_tool_call", l.call),
		model.NewQuote("available_tools", l.tools),
		model.NewQuote("worker_mounts", l.mounts),
		model.NewQuote("output", l.output),
		model.NewQuote("policy_violations", l.violations),
		model.NewQuote("tool_audit_history", l.history),
	}
}

// paths returns a function that reports which texts of a call are paths, which are never cut.
func paths(r *reading.Reading) func(string) bool {
	return func(s string) bool {
		return r != nil && slices.ContainsFunc(r.Paths, func(t reading.Text) bool { return t.Text == s })
	}
}

func written(v any) string {
	b, err := strictjson.Marshal(v)
	if err != nil {
		return "null"
	}
	if string(b) == "null" {
		return "[]"
	}
	return string(b)
}
