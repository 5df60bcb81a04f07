package storetest

import (
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
)

// sound returns a flawless ask in the state, and its record.
func sound(t *testing.T, state approval.State) (approval.Record, approval.Ask) {
	t.Helper()
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	p := approval.Approval{
		ID: "a-1", State: state, Fingerprint: "f", Refusal: approval.Refusal{Phase: judge},
	}
	p.Proposal.Agent, p.Verdict.BlockedBy = "coder", judge
	if state != approval.Pending {
		p.EndedAt = at
	}
	l := lives()[state]
	if l.choice != "" {
		p.Decision = &approval.Decision{Choice: l.choice, By: approval.Person{ID: "web:owner"}, Channel: "web", At: at}
	}
	if l.choice == approval.ChoiceAllow {
		p.Permit = &approval.Permit{IssuedAt: at, LapsesAt: at.Add(time.Minute)}
		if l.spent {
			p.Permit.SpentAt = at.Add(time.Second)
		}
	}
	if state == approval.Succeeded || state == approval.Failed {
		p.Outcome = &approval.Outcome{Succeeded: state == approval.Succeeded, At: at}
	}
	a := approval.Ask{
		ID: "a", Agent: "coder", Approvals: []approval.Approval{p}, OpenedAt: at, ExpiresAt: at.Add(time.Hour),
		Cards: []approval.Shown{{
			Channel: "web", Ref: "m", View: approval.View(state),
			Callbacks: map[approval.Token]approval.Callback{"T": {Approval: "a-1", Choice: approval.ChoiceAllow}},
		}},
	}
	return approval.Record{ID: "a", Open: !state.Final()}, a
}

func TestSoundAsksHaveNothingWrong(t *testing.T) {
	for state := range lives() {
		if problems := wrong(sound(t, state)); len(problems) > 0 {
			t.Errorf("%s: %q", state, problems)
		}
	}
}

// TestAsksFindsWhatIsWrong breaks one thing at a time: a check that misses one of them
// would miss a broken promise.
func TestAsksFindsWhatIsWrong(t *testing.T) {
	type ask = approval.Ask
	for name, c := range map[string]struct {
		state approval.State
		spoil func(r *approval.Record, a *ask, p *approval.Approval)
	}{
		"guard_denial_allowed": {approval.Allowed, func(_ *approval.Record, _ *ask, p *approval.Approval) {
			p.Verdict.BlockedBy = "guard"
		}},
		"guard_rule": {approval.Pending, func(_ *approval.Record, _ *ask, p *approval.Approval) {
			setNew(&p.Verdict.Rule)
		}},
		"approved_by_judges": {approval.Pending, func(_ *approval.Record, _ *ask, p *approval.Approval) { p.Verdict.Approved = true }},
		"final_refusal":      {approval.Pending, func(_ *approval.Record, _ *ask, p *approval.Approval) { p.Refusal.Final = true }},
		"unknown_state":      {approval.Pending, func(_ *approval.Record, _ *ask, p *approval.Approval) { p.State = "maybe" }},
		"pending_decided": {approval.Pending, func(_ *approval.Record, _ *ask, p *approval.Approval) {
			p.Decision = &approval.Decision{Choice: approval.ChoiceAllow}
		}},
		"allowed_undecided": {approval.Allowed, func(_ *approval.Record, _ *ask, p *approval.Approval) { p.Decision = nil }},
		"allowed_denied": {approval.Allowed, func(_ *approval.Record, _ *ask, p *approval.Approval) {
			p.Decision.Choice = approval.ChoiceDeny
		}},
		"allowed_without_permit": {approval.Allowed, func(_ *approval.Record, _ *ask, p *approval.Approval) { p.Permit = nil }},
		"denied_with_permit": {approval.Denied, func(_ *approval.Record, _ *ask, p *approval.Approval) {
			p.Permit = &approval.Permit{}
		}},
		"expired_with_permit": {approval.Expired, func(_ *approval.Record, _ *ask, p *approval.Approval) {
			p.Permit = &approval.Permit{}
		}},
		"spent_unspent": {approval.Spent, func(_ *approval.Record, _ *ask, p *approval.Approval) { p.Permit.SpentAt = time.Time{} }},
		"lapsed_spent":  {approval.Lapsed, func(_ *approval.Record, _ *ask, p *approval.Approval) { p.Permit.SpentAt = p.EndedAt }},
		"spent_late": {approval.Spent, func(_ *approval.Record, _ *ask, p *approval.Approval) {
			p.Permit.SpentAt = p.Permit.LapsesAt.Add(1)
		}},
		"decided_by_nobody": {approval.Denied, func(_ *approval.Record, _ *ask, p *approval.Approval) { p.Decision.By.ID = "" }},
		"pending_ended":     {approval.Pending, func(_ *approval.Record, _ *ask, p *approval.Approval) { p.EndedAt = time.Now() }},
		"denied_unended":    {approval.Denied, func(_ *approval.Record, _ *ask, p *approval.Approval) { p.EndedAt = time.Time{} }},
		"succeeded_unknown": {approval.Succeeded, func(_ *approval.Record, _ *ask, p *approval.Approval) { p.Outcome = nil }},
		"succeeded_failing": {approval.Succeeded, func(_ *approval.Record, _ *ask, p *approval.Approval) { p.Outcome.Succeeded = false }},
		"other_id":          {approval.Pending, func(r *approval.Record, _ *ask, _ *approval.Approval) { r.ID = "b" }},
		"pending_closed":    {approval.Pending, func(r *approval.Record, _ *ask, _ *approval.Approval) { r.Open = false }},
		"done_open":         {approval.Denied, func(r *approval.Record, _ *ask, _ *approval.Approval) { r.Open = true }},
		"stale_closed":      {approval.Denied, func(_ *approval.Record, a *ask, _ *approval.Approval) { a.Cards[0].View = "pending" }},
		"other_agent":       {approval.Pending, func(_ *approval.Record, _ *ask, p *approval.Approval) { p.Proposal.Agent = "x" }},
		"asks_nothing":      {approval.Pending, func(_ *approval.Record, a *ask, _ *approval.Approval) { a.Approvals = nil }},
		"without_time":      {approval.Pending, func(_ *approval.Record, a *ask, _ *approval.Approval) { a.ExpiresAt = a.OpenedAt }},
		"button_of_another": {approval.Pending, func(_ *approval.Record, a *ask, _ *approval.Approval) { a.Approvals[0].ID = "a-2" }},
		"button_of_a_choice": {approval.Pending, func(_ *approval.Record, a *ask, _ *approval.Approval) {
			a.Cards[0].Callbacks["T"] = approval.Callback{Choice: "always"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r, a := sound(t, c.state)
			c.spoil(&r, &a, &a.Approvals[0])
			if len(wrong(r, a)) == 0 {
				t.Error("nothing wrong was found")
			}
		})
	}
}

func TestGoneCardsNeedNoWork(t *testing.T) {
	r, a := sound(t, approval.Denied)
	a.Cards[0].View, a.Cards[0].Gone = "pending", true
	if problems := wrong(r, a); len(problems) > 0 {
		t.Errorf("%q", problems)
	}
}

// setNew sets p to a new zero value.
func setNew[T any](p **T) { *p = new(T) }
