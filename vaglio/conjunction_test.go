package vaglio_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/metnos/vaglio/vaglio"
)

// outcome is a way in which a judge can end, and whether it lets a call pass.
type outcome struct {
	name   string
	grade  func() (vaglio.GradientResult, error)
	passes bool
}

// outcomes returns all ways in which a model's judge can end.
func outcomes() []outcome {
	result := func(score, confidence float64) func() (vaglio.GradientResult, error) {
		return func() (vaglio.GradientResult, error) {
			return vaglio.GradientResult{Score: score, Confidence: confidence, Reasoning: "APPROVE"}, nil
		}
	}
	failing := func(r vaglio.GradientResult, err error) func() (vaglio.GradientResult, error) {
		return func() (vaglio.GradientResult, error) { return r, err }
	}
	all := []outcome{
		{"pass", result(1, 1), true},
		{"at the limits", result(0.7, 0.5), true},
		{"low", result(0.69, 1), false},
		{"unsure", result(1, 0.49), false},
		{"zero", result(0, 0), false},
		{"percent", result(85, 1), false},
		{"sure by 90", result(1, 90), false},
		{"negative", result(-1, 1), false},
		{"NaN", result(math.NaN(), 1), false},
		{"NaN sure", result(1, math.NaN()), false},
		{"infinite", result(math.Inf(1), 1), false},
		{"panic", func() (vaglio.GradientResult, error) { panic("x") }, false},
		{"cancelled", failing(vaglio.GradientResult{Score: 1, Confidence: 1}, context.Canceled), false},
		{"late", failing(vaglio.GradientResult{Score: 1, Confidence: 1}, context.DeadlineExceeded), false},
		{"failed", failing(vaglio.GradientResult{Score: 1, Confidence: 1}, errors.New("x")), false},
	}
	for _, class := range []vaglio.Fault{
		"", vaglio.FaultTimeout, vaglio.FaultCancelled, vaglio.FaultCrashed, vaglio.FaultFailed, vaglio.FaultRange, vaglio.FaultMalformed,
		vaglio.FaultRefused, vaglio.FaultCut, vaglio.FaultModel, vaglio.FaultDown, vaglio.FaultLimit, vaglio.FaultDepth, vaglio.FaultMount,
		vaglio.FaultSandbox, vaglio.FaultBudget, vaglio.FaultInstead,
	} {
		all = append(all, outcome{"fault " + string(class), failing(vaglio.GradientResult{Score: 1, Confidence: 1}, &vaglio.JudgeError{Fault: "no", Class: class}), false})
	}
	// A judge cannot both claim a fault and let the call pass.
	all = append(all, outcome{"claims a fault", func() (vaglio.GradientResult, error) {
		return vaglio.GradientResult{Score: 1, Confidence: 1, Fault: vaglio.FaultInstead}, nil
	}, true})
	return all
}

// TestJudgesOnlyAddANo tries every combination of the guard, two deterministic judges and a
// model's judge, in every order, with and without a judge that stands in for the model's. A
// call passes only if the guard and all judges let it pass, and a spent budget never does
// better than the judge that stands in.
func TestJudgesOnlyAddANo(t *testing.T) {
	const denied, allowed = "/etc/shadow", "/srv/app/notes"
	var now struct {
		outcome                 *outcome
		rules, effects, instead bool
	}
	sure := func(kind string, passes *bool) vaglio.Gate {
		return vaglio.Gate{Judge: &fake{kind, func(context.Context, vaglio.Proposal) (vaglio.GradientResult, error) {
			score := map[bool]float64{true: 1, false: 0}[*passes]
			return vaglio.GradientResult{Score: score, Confidence: 1}, nil
		}}, MinScore: 0.5}
	}
	all, walked := outcomes(), 0
	for place := range 3 {
		for _, replaced := range []bool{false, true} {
			thinks := vaglio.Gate{Judge: &fake{"model", func(context.Context, vaglio.Proposal) (vaglio.GradientResult, error) {
				return now.outcome.grade()
			}}, MinScore: 0.7, MinConfidence: 0.5}
			if replaced {
				other := sure("instead", &now.instead)
				thinks.Instead = &other
			}
			e := build(t, vaglio.Config{
				Judges: slices.Insert([]vaglio.Gate{sure("rules", &now.rules), sure("effects", &now.effects)}, place, thinks),
			})
			for i := range len(all) << 4 {
				bits := i & 15
				now.outcome = &all[i>>4]
				now.rules, now.effects, now.instead = bits&1 > 0, bits&2 > 0, bits&4 > 0
				path, passes := allowed, now.outcome.passes
				if bits&8 > 0 {
					path = denied
				}
				if replaced && now.outcome.name == "fault "+string(vaglio.FaultInstead) {
					passes = now.instead
				}
				walked++
				v, err := e.Judge(t.Context(), proposal("read_file", vaglio.Args{"path": path}))
				if err != nil {
					t.Fatal(err)
				}
				want := path == allowed && now.rules && now.effects && passes
				if v.Approved != want || v.Approved && v.BlockedBy != vaglio.PhaseNone {
					t.Errorf("%s at %d, replaced %v, %+v, %s: approved %v, want %v: %s", now.outcome.name, place, replaced, now, path, v.Approved, want, v.Reason)
				}
			}
		}
	}
	t.Log(walked, "combinations")
}
