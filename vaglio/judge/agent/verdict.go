package agent

import (
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/model"
)

// schema is the verdict's, in the subset of JSON Schema that servers can enforce.
const schema = `{"type":"object","properties":{` +
	`"score":{"type":"number"},"confidence":{"type":"number"},"reasoning":{"type":"string"},` +
	`"signals":{"type":"array","items":{"type":"object","properties":{` +
	`"category":{"type":"string"},"score":{"type":"number"},"message":{"type":"string"}},` +
	`"required":["category","score","message"],"additionalProperties":false}}},` +
	`"required":["score","confidence","reasoning","signals"],"additionalProperties":false}`

// The maximum sizes of what the judged agent gets to read.
const (
	longestReasoning = 1000 // characters
	longestMessage   = 300  // characters
	longestCategory  = 40   // characters
	mostSignals      = 20
	longestMetadata  = 2048 // bytes
)

// verdict parses an answer; its error is a [*vaglio.JudgeError].
func (j *Judge) verdict(text string) (vaglio.GradientResult, error) {
	r, err := readVerdict(text)
	if err != nil {
		return vaglio.GradientResult{}, &vaglio.JudgeError{Fault: "its answer is not a verdict: " + err.Error(), Class: vaglio.FaultMalformed}
	}
	mask := j.config.Masker.Mask
	r.Reasoning = clip(mask(r.Reasoning), longestReasoning)
	if len(r.Signals) > mostSignals {
		r.Signals = r.Signals[:mostSignals]
	}
	for i := range r.Signals {
		s := &r.Signals[i]
		s.Category, s.Message = clip(mask(s.Category), longestCategory), clip(mask(s.Message), longestMessage)
	}
	if r.Metadata != nil {
		r.Metadata = j.config.Masker.Object(r.Metadata)
	}
	return r, nil
}

func clip(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

// readVerdict parses a gradient result. Unknown members are ignored; known ones must be valid.
func readVerdict(text string) (r vaglio.GradientResult, err error) {
	members, err := model.Object(text)
	if err != nil {
		return r, err
	}
	if r.Score, err = model.Share(members, "score"); err != nil {
		return r, err
	}
	if r.Confidence, err = model.Share(members, "confidence"); err != nil {
		return r, err
	}
	if r.Reasoning, err = model.Text(members, "reasoning"); err != nil {
		return r, err
	}
	r.Reasoning = strings.TrimSpace(r.Reasoning)
	if r.Signals, err = signals(members["signals"]); err != nil {
		return r, err
	}
	if m, ok := members["metadata"]; ok {
		if m.Kind() != '{' || strictjson.Unmarshal(m, &r.Metadata) != nil {
			return r, &model.MalformedError{Field: "metadata", Problem: "is not an object"}
		}
		if len(m) > longestMetadata {
			r.Metadata = nil
		}
	}
	return r, nil
}

func signals(v strictjson.Value) (all []vaglio.Signal, err error) {
	if len(v) == 0 {
		return nil, nil
	}
	var list []strictjson.Value
	if v.Kind() != '[' || strictjson.UnmarshalLoose(v, &list) != nil {
		return nil, &model.MalformedError{Field: "signals", Problem: "is not a list"}
	}
	for _, item := range list {
		var members map[string]strictjson.Value
		if item.Kind() != '{' || strictjson.UnmarshalLoose(item, &members) != nil {
			return nil, &model.MalformedError{Field: "signals", Problem: "holds what is not an object"}
		}
		var s vaglio.Signal
		if s.Category, err = model.Text(members, "category"); err != nil {
			return nil, inSignal(err)
		}
		if s.Score, err = model.Share(members, "score"); err != nil {
			return nil, inSignal(err)
		}
		if s.Message, err = model.Text(members, "message"); err != nil {
			return nil, inSignal(err)
		}
		all = append(all, s)
	}
	return all, nil
}

func inSignal(err error) error {
	return &model.MalformedError{Field: "signals", Problem: "holds one that is none: " + err.Error()}
}
