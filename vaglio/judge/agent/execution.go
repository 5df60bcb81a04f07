package agent

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/llm"
	"github.com/metnos/vaglio/vaglio/judge/model"
	"github.com/metnos/vaglio/vaglio/mask"
)

const (
	// answerTokens is the maximum length of one answer, in tokens.
	answerTokens = 4096
	// keepFor bounds storing a judgement, even if its agent has gone away.
	keepFor = 10 * time.Second
)

// execution is one child execution.
type execution struct {
	judge   *Judge
	is      vaglio.Judgement
	tools   []Tool
	folders []string
	request model.Request
	// repaired says that a malformed answer has been asked for again.
	repaired bool
	size     int
	// estimated says that the server did not count all of its tokens.
	estimated bool
}

// counting says how the tokens were counted, if the server did not count them.
func (x *execution) counting() string {
	if x.estimated {
		return ", counted by bytes, as its server does not count them"
	}
	return ""
}

// run lets the agent look and answer.
func (x *execution) run(ctx context.Context, load *payload) (r vaglio.GradientResult, err error) {
	m := &x.judge.config.Manifest
	if len(m.Tools) > 0 {
		w, err := x.judge.config.Workspaces.Open(ctx, load.asked, m)
		if err != nil {
			return r, opened(ctx, err)
		}
		defer func() { err = errors.Join(err, w.Close()) }()
		x.tools, x.is.Layer, x.folders = w.Tools(), w.Layer(), load.asked
		if refused := w.Refused(); len(refused) > 0 {
			defer func() {
				if err == nil {
					said := "It could not use " + strings.Join(refused, ", ") + ": " + w.Layer() + " refuses that." // so it did not look
					r.Signals = append([]vaglio.Signal{{Category: "sandbox", Message: said}}, r.Signals[:min(len(r.Signals), mostSignals-1)]...)
				}
			}()
		}
	}
	first := model.Turn{Text: load.trusted(), Quoted: load.quotes()}
	x.request = model.Request{System: m.system(), Turns: []model.Turn{first}, MaxTokens: answerTokens}
	x.offer()
	x.say("asked", first.Framed())
	return x.converse(ctx, m.Limits.Turns)
}

// converse asks the model until it gives a verdict, and executes its tool calls.
func (x *execution) converse(ctx context.Context, turns int) (r vaglio.GradientResult, err error) {
	for turn := 1; ; turn++ {
		if turn == turns && x.mayCall() {
			x.decide("You have no turns left for tools. Give your verdict now.")
		}
		reply, err := x.ask(ctx)
		if err != nil {
			return r, err
		}
		switch {
		case len(reply.Calls) > 0 && x.mayCall():
			if err := x.use(ctx, reply); err != nil {
				return r, err
			}
		default:
			r, err = x.judge.verdict(reply.Text)
			bad, ok := errors.AsType[*vaglio.JudgeError](err)
			if !ok || x.repaired {
				return r, err
			}
			x.repaired = true
			x.request.Turns = append(x.request.Turns, model.Turn{Model: true, Text: nonempty(reply.Text)})
			x.decide("That is not a verdict: " + bad.Fault + ". Give your verdict again, as exactly one JSON object.")
			continue
		}
		if turn >= turns {
			return r, &vaglio.JudgeError{Fault: fmt.Sprintf("it used up its %d turns without a verdict", turns), Class: vaglio.FaultLimit}
		}
	}
}

// nonempty replaces an empty answer, which no server accepts in a conversation.
func nonempty(text string) string {
	if strings.TrimSpace(text) == "" {
		return "(no text)"
	}
	return text
}

// opened explains why the folders could not be opened.
func opened(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if _, ok := errors.AsType[*vaglio.JudgeError](err); ok {
		return err
	}
	return &vaglio.JudgeError{Fault: "its tools cannot be kept in a sandbox here: " + err.Error(), Class: vaglio.FaultSandbox, Err: err}
}

// offer tells the model about its tools or, if it has none, about the verdict's schema.
func (x *execution) offer() {
	for _, t := range x.tools {
		spec := t.Describe()
		x.request.Tools = append(x.request.Tools, model.Tool{Name: t.Name(), Text: spec.Text, Args: spec.Args})
	}
	if len(x.tools) == 0 {
		x.request.Schema, x.request.Name = strictjson.Value(schema), "verdict"
	}
}

// mayCall reports whether the model may call tools now.
func (x *execution) mayCall() bool { return len(x.request.Tools) > 0 && !x.request.NoCalls }

// decide asks for the verdict, with the schema and without tools: servers that enforce a schema
// cannot let the model call tools at the same time.
func (x *execution) decide(text string) {
	x.request.NoCalls, x.request.Schema, x.request.Name = true, strictjson.Value(schema), "verdict"
	x.say("asked", text)
	if last := &x.request.Turns[len(x.request.Turns)-1]; !last.Model {
		last.Text = strings.TrimSpace(last.Text + "\n\n" + text)
		return
	}
	x.request.Turns = append(x.request.Turns, model.Turn{Text: text})
}

// ask asks the model once more, and counts the cost.
func (x *execution) ask(ctx context.Context) (model.Reply, error) {
	m := &x.judge.config.Manifest
	if x.is.Input+x.is.Output >= m.Limits.Tokens {
		return model.Reply{}, &vaglio.JudgeError{Fault: fmt.Sprintf("it used up its %d tokens without a verdict", m.Limits.Tokens) + x.counting(), Class: vaglio.FaultLimit}
	}
	reply, err := m.Model.Complete(ctx, x.request)
	cost := m.Model.Price().Of(reply.Usage)
	x.is.Turns++
	x.estimated = x.estimated || reply.Usage.Estimated
	x.is.Input, x.is.Output, x.is.Cost = x.is.Input+reply.Usage.Input, x.is.Output+reply.Usage.Output, x.is.Cost+cost
	if paid := x.judge.config.Budget.Paid(ctx, cost); paid != nil && err == nil {
		return reply, paid
	}
	if err != nil {
		return reply, model.JudgeError(err)
	}
	x.say("said", reply.Text)
	return reply, reply.Ended()
}

// use executes the model's tool calls and tells it the results.
func (x *execution) use(ctx context.Context, reply model.Reply) error {
	said := model.Turn{Model: true, Text: reply.Text}
	answer := model.Turn{}
	for i := range reply.Calls {
		c := &reply.Calls[i]
		x.say("called "+c.Name, string(c.Args))
		result := model.ToolResult{ID: c.ID, Quote: model.NewQuote("result", "not carried out: too many calls at once"), Failed: true}
		if i < mostCalls {
			var err error
			if result, err = x.call(ctx, c); err != nil {
				return err
			}
		}
		answer.Results = append(answer.Results, result)
		said.Calls = append(said.Calls, model.ToolCall{ID: c.ID, Name: c.Name, Args: object(c.Args)})
	}
	x.request.Turns = append(x.request.Turns, said, answer)
	return nil
}

// object returns a call's arguments in the form that servers accept back: an object.
func object(args []byte) []byte {
	var o map[string]any
	if strictjson.UnmarshalLoose(args, &o) != nil || o == nil {
		return []byte("{}")
	}
	return args
}

func (x *execution) named() string {
	var names []string
	for _, t := range x.tools {
		names = append(names, t.Name())
	}
	return strings.Join(names, ", ")
}

// masked returns a text without its secrets. In a JSON object, it looks for secrets in the values,
// because an escape sequence such as \n in front of a secret would look like a part of it.
func masked(m mask.Masker, text string) string {
	var o map[string]any
	if strictjson.UnmarshalLoose([]byte(text), &o) != nil {
		return m.Mask(text)
	}
	known := m.Object(o)
	if reflect.DeepEqual(known, o) {
		return m.Mask(text)
	}
	b, err := strictjson.MarshalLossy(known)
	if err != nil {
		return "(an object that cannot be written)"
	}
	return m.Mask(string(b))
}

// longestTranscript is the maximum size of a stored transcript, in bytes.
const longestTranscript = 256 << 10

// say adds a line to the transcript, masked, as long as there is room.
func (x *execution) say(by, text string) {
	room := longestTranscript - x.size - len(by)
	if room <= 0 || text == "" {
		return
	}
	m := x.judge.config.Masker
	line := vaglio.Said{By: m.Mask(by), Text: masked(m, text)}
	if len(line.Text) > room {
		const least = 300
		if room < least {
			line.Text = "[… the transcript is full …]"
			x.size = longestTranscript
		} else {
			line.Text = llm.Shortened(line.Text, room-least/2)
		}
	}
	x.size += len(line.By) + len(line.Text)
	x.is.Transcript = append(x.is.Transcript, line)
}

// end stores the judgement, and returns its ID once it is stored. The record is stored even if the
// agent has gone away; a verdict without a record is none.
func (x *execution) end(ctx context.Context, r vaglio.GradientResult, err error) (id string, _ error) {
	x.is.Took = time.Since(x.is.At).Seconds()
	switch e, told := errors.AsType[*vaglio.JudgeError](err); {
	case err == nil:
		r.Judge = x.judge.Kind()
		x.is.Result = &r
	case told:
		x.is.Fault, x.is.Why = e.Class, e.Fault
	case errors.Is(err, context.DeadlineExceeded):
		x.is.Fault = vaglio.FaultTimeout
	case ctx.Err() != nil:
		x.is.Fault = vaglio.FaultCancelled
	default:
		x.is.Fault = vaglio.FaultFailed
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepFor)
	defer cancel()
	kept := x.judge.config.Records.Keep(ctx, x.is)
	switch {
	case kept == nil:
		id = x.is.ID
	case err == nil:
		err = &vaglio.JudgeError{Fault: "what it did cannot be recorded", Class: vaglio.FaultFailed, Err: kept}
	}
	return id, err
}
