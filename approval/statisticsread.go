package approval

import (
	"errors"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/metnos/vaglio/vaglio"
)

// GlanceStep reads of what [EncodeStep] wrote only what a [StatisticsBuilder]
// counts, in half the time. The step that it returns lacks all else, and
// must not be written back.
func GlanceStep(body []byte) (Step, error) {
	var b glance
	if err := json.Unmarshal(body, &b); err != nil {
		return Step{}, damaged("step", err)
	}
	if b.V < 1 || b.V > stepForm {
		return Step{}, &FormError{What: "step", Found: b.V, Known: stepForm}
	}
	if b.Step == nil {
		return Step{}, errors.New("stored step is empty")
	}
	s := Step{At: b.Step.At, Approval: b.Step.Approval, Proposal: vaglio.Proposal{
		Agent: b.Step.Proposal.Agent, TurnID: b.Step.Proposal.TurnID, Executor: b.Step.Proposal.Executor,
	}}
	if v := b.Step.Verdict; v != nil {
		s.Verdict = &vaglio.Verdict{Approved: v.Approved, TS: v.TS, JudgeKind: v.JudgeKind, BlockedBy: v.BlockedBy}
		if v.Rule != nil {
			s.Verdict.Rule = &vaglio.GuardRule{ID: v.Rule.ID}
		}
		for _, r := range v.Results {
			g := vaglio.GradientResult{Judge: r.Judge, Score: r.Score}
			for _, signal := range r.Signals {
				g.Signals = append(g.Signals, vaglio.Signal{Category: signal.Category, Score: signal.Score})
			}
			s.Verdict.Results = append(s.Verdict.Results, g)
		}
	}
	return s, nil
}

// glance has the members of a stored step that are counted.
type glance struct {
	V    int `json:"v"`
	Step *struct {
		At       time.Time `json:"at"`
		Approval ID        `json:"approval"`
		Proposal struct {
			Agent    string `json:"agent"`
			TurnID   string `json:"turn_id"`
			Executor string `json:"executor"`
		} `json:"proposal"`
		Verdict *struct {
			Approved  bool         `json:"approved"`
			TS        float64      `json:"ts"`
			JudgeKind string       `json:"judge_kind"`
			BlockedBy vaglio.Phase `json:"blocked_by"`
			Rule      *struct {
				ID string `json:"id"`
			} `json:"rule"`
			Results []struct {
				Judge   string  `json:"judge"`
				Score   float64 `json:"score"`
				Signals []struct {
					Category string  `json:"category"`
					Score    float64 `json:"score"`
				} `json:"signals"`
			} `json:"results"`
		} `json:"verdict"`
	} `json:"step"`
}
