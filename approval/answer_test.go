package approval_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
)

func TestAnswerForEveryState(t *testing.T) {
	for _, state := range states {
		t.Run(string(state), func(t *testing.T) {
			a := open(t, "make clean").Approvals[0]
			a.State = state
			at := start.Add(time.Minute)
			if state != approval.Pending {
				a.Decision = &approval.Decision{Choice: approval.ChoiceAllow, By: owner, At: at, Words: "go on"}
				a.Permit = &approval.Permit{IssuedAt: at, LapsesAt: at.Add(permitFor)}
			}
			got := approval.AnswerFor(a, "the-permit")
			want := approval.RulingDeny
			switch state {
			case approval.Pending:
				want = approval.RulingPending
			case approval.Allowed:
				want = approval.RulingAllow
			default:
			}
			if got.Decision != want || (got.Permit != nil) != (want == approval.RulingAllow) || (got.Refusal == nil) != (want == approval.RulingAllow) {
				t.Errorf("answer is %+v", got)
			}
			if got.Approval.ID != a.ID || got.Approval.State != state || !got.Approval.ExpiresAt.Equal(start.Add(askFor)) {
				t.Errorf("summary is %+v", got.Approval)
			}
			if state != approval.Pending && (!got.Approval.DecidedAt.Equal(at) || got.Approval.Words != "go on") {
				t.Errorf("summary lacks the decision: %+v", got.Approval)
			}
			if got.Refusal != nil && got.Refusal.Ran {
				t.Error("the refusal says that it ran")
			}
			if none := approval.AnswerFor(a, ""); none.Decision == approval.RulingAllow {
				t.Error("allowed without a permit")
			}
		})
	}
}

func TestApprovedAndRefused(t *testing.T) {
	if got := approval.Approved(vaglio.Verdict{Approved: true}); got.Decision != approval.RulingAllow || got.Refusal != nil || got.Approval != nil || got.Permit != nil {
		t.Errorf("an approval is answered with %+v", got)
	}
	for _, v := range []vaglio.Verdict{{}, guardDenies(), judgeDenies(0.1), {Approved: true, BlockedBy: vaglio.PhaseGuard}} {
		if got := approval.Approved(v); got.Decision != approval.RulingDeny || got.Refusal == nil {
			t.Errorf("Approved(%+v) = %+v", v, got)
		}
	}
	r := approval.Refuse(shell("rm -fr /"), guardDenies())
	want := approval.Answer{Decision: approval.RulingDeny, Verdict: guardDenies(), Refusal: &r}
	if diff := cmp.Diff(want, approval.Refused(guardDenies(), r)); diff != "" {
		t.Errorf("Refused (-want +got):\n%s", diff)
	}
}

func TestFilterFits(t *testing.T) {
	v := guardDenies()
	e := approval.Entry{Step: approval.Step{Proposal: vaglio.Proposal{Agent: "a", Executor: "x"}, Verdict: &v}}
	for name, tt := range map[string]struct {
		filter approval.Filter
		want   bool
	}{
		"Everything":    {approval.Filter{}, true},
		"All":           {approval.Filter{Agent: "a", Executor: "x", Outcome: "guard"}, true},
		"OtherAgent":    {approval.Filter{Agent: "b"}, false},
		"OtherExecutor": {approval.Filter{Executor: "y"}, false},
		"OtherOutcome":  {approval.Filter{Outcome: "approved"}, false},
	} {
		if got := tt.filter.Fits(&e); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
