package approval_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
)

// A glance at a step counts as all of it does.
func TestAGlanceIsEnough(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	full := approval.Step{
		ID: "x", At: at, Approval: "ask-1", Refusal: &approval.Refusal{Why: "because"},
		Proposal: vaglio.Proposal{
			Agent: "bot", TurnID: "t", Step: 3, Intent: "tidy", Executor: "rm", Args: vaglio.Args{"path": []any{"a", nil, 3.0}},
		},
		Verdict: &vaglio.Verdict{
			Reason: "no", TS: 1.5, JudgeKind: "effects", Score: .3, BlockedBy: vaglio.PhaseJudge, Rule: &vaglio.GuardRule{ID: "r", Why: "w"},
			Results: []vaglio.GradientResult{
				{Judge: "effects", Score: .3, Confidence: 1, Reasoning: "it removes", Signals: []vaglio.Signal{{Category: "delete", Score: -1, Message: "m"}, {Category: "send", Score: -.5}}},
				{Judge: "other"},
			},
		},
	}
	want := approval.Step{
		At: at, Approval: "ask-1", Proposal: vaglio.Proposal{Agent: "bot", TurnID: "t", Executor: "rm"},
		Verdict: &vaglio.Verdict{
			TS: 1.5, JudgeKind: "effects", BlockedBy: vaglio.PhaseJudge, Rule: &vaglio.GuardRule{ID: "r"},
			Results: []vaglio.GradientResult{
				{Judge: "effects", Score: .3, Signals: []vaglio.Signal{{Category: "delete", Score: -1}, {Category: "send", Score: -.5}}},
				{Judge: "other"},
			},
		},
	}
	body, err := approval.EncodeStep(full)
	if err != nil {
		t.Fatal(err)
	}
	got, err := approval.GlanceStep(body)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, bad := range []string{"", "{}", `{"v":1}`, `{"v":99,"step":{}}`, `{"v":1,"step":{"at":3}}`, "null"} {
		if _, err := approval.GlanceStep([]byte(bad)); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}
