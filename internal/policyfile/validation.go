package policyfile

import (
	"fmt"

	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// The types of validations that gate a call before it runs.
const (
	TypeEffects  = "effects"
	TypeSemantic = "semantic"
)

// The default and limit of a semantic validation.
const (
	defaultMinScore = 0.7
	longestTimeout  = 3600 // seconds
)

// Validation is one entry of execution.tool_validation: a judge, and what it
// takes to pass it. The entries are asked in order; all must pass, and the
// first that rejects decides.
type Validation struct {
	// Type is "effects", or "semantic", which asks a judge agent.
	Type string `yaml:"type"`
	// JudgeAgent is the name of the judge agent that a semantic validation asks.
	JudgeAgent string `yaml:"judge_agent"`
	// Criteria tells the judge agent in words what to judge by.
	Criteria string `yaml:"criteria"`
	// MinScore is the score in [0,1] that a call needs to pass; left out, 0.5 for effects and 0.7
	// for semantic.
	MinScore *float64 `yaml:"min_score"`
	// MinConfidence is the least confidence of the judge, in [0,1], with which its score counts;
	// left out, 0.
	MinConfidence *float64 `yaml:"min_confidence"`
	// TimeoutSeconds is how long to wait for a semantic judge, from 1 to 3600; left out, 300.
	TimeoutSeconds *int `yaml:"timeout_seconds"`
}

// mistake returns the first mistake and its field; a field of "" means the whole entry.
func (v *Validation) mistake() (field, problem string) {
	switch v.Type {
	case TypeEffects:
		if v.JudgeAgent != "" || v.Criteria != "" || v.TimeoutSeconds != nil {
			problem = "is of type effects, which takes min_score and min_confidence only"
		}
	case TypeSemantic:
		field, problem = v.semanticMistake()
	case "":
		return "", "lacks type: effects or semantic"
	default:
		return "type", fmt.Sprintf("is %q; only effects and semantic gate a call before it runs", v.Type)
	}
	switch {
	case problem != "":
		return field, problem
	case !share(v.MinScore):
		return "min_score", "is not a number from 0 to 1"
	case !share(v.MinConfidence):
		return "min_confidence", "is not a number from 0 to 1"
	}
	return "", ""
}

func (v *Validation) semanticMistake() (field, problem string) {
	if v.JudgeAgent == "" {
		return "", "lacks judge_agent: name the agent that judges"
	}
	if v.Criteria == "" {
		return "", "lacks criteria: say by what the agent judges"
	}
	if t := v.TimeoutSeconds; t != nil && (*t < 1 || *t > longestTimeout) {
		return "timeout_seconds", fmt.Sprintf("is %d; it is a number of seconds from 1 to %d", *t, longestTimeout)
	}
	return "", ""
}

// share reports whether the number is absent or in [0,1]. NaN is not.
func share(n *float64) bool { return n == nil || *n >= 0 && *n <= 1 }

// Threshold returns the score that a call needs to pass the entry.
func (v *Validation) Threshold() float64 {
	switch {
	case v.MinScore != nil:
		return *v.MinScore
	case v.Type == TypeEffects:
		return effects.Threshold
	}
	return defaultMinScore
}

// Confidence returns the confidence that a judge needs for a call to pass the entry.
func (v *Validation) Confidence() float64 {
	if v.MinConfidence != nil {
		return *v.MinConfidence
	}
	return 0
}
