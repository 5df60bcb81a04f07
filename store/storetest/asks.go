package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/history"
)

// Asks fails the test unless every stored ask could have come about: no guard denial waits
// for a person or was allowed, every approval is in a state of the table and carries
// exactly the decision and permit that go with it, every button leads to its ask,
// unfinished work is open, and the history tells exactly what became of each. It may run
// after the test's context has ended.
func Asks(t *testing.T, s Store) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	seen := map[approval.ID]approval.AskID{}
	for r, err := range s.List(ctx, approval.Query{Kind: approval.KindAsk}) {
		if err != nil {
			t.Fatalf("list asks: %v", err)
		}
		a, err := approval.DecodeAsk(r.Body)
		if err != nil {
			t.Errorf("ask %s: %v", r.ID, err)
			continue
		}
		for _, problem := range wrong(r, a) {
			t.Errorf("ask %s: %s", r.ID, problem)
		}
		for i := range a.Approvals {
			id := a.Approvals[i].ID
			if other, ok := seen[id]; ok {
				t.Errorf("approval %s is part of %s and %s", id, other, a.ID)
			}
			seen[id] = a.ID
		}
		for i := range a.Cards {
			for token := range a.Cards[i].Callbacks {
				if got, err := s.Get(ctx, approval.KindAsk, approval.TokenKey(token)); err != nil || got.ID != r.ID {
					t.Errorf("ask %s: a button on %s leads to %q: %v", r.ID, a.Cards[i].Channel, got.ID, err)
				}
			}
		}
	}
	Story(t, s)
}

// Story fails the test unless the history is whole and agrees with the records. It may run
// after the test's context has ended.
func Story(t *testing.T, s Store) {
	t.Helper()
	r, err := history.Verify(context.WithoutCancel(t.Context()), history.Case{Tree: tree(t, s), Records: s})
	if err != nil {
		t.Fatalf("verify the history: %v", err)
	}
	for _, f := range r.Findings {
		t.Errorf("history: %s", f.Text)
	}
}

// wrong returns what cannot be true of an ask and the record that holds it.
func wrong(r approval.Record, a approval.Ask) (problems []string) {
	note := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if r.ID != string(a.ID) {
		note("holds the ask %s", a.ID)
	}
	if len(a.Approvals) == 0 {
		note("asks nothing")
	}
	if !a.ExpiresAt.After(a.OpenedAt) {
		note("expires before it was opened")
	}
	view, done := a.View(), true
	for i := range a.Approvals {
		p := &a.Approvals[i]
		done = done && p.State.Final()
		for _, problem := range wrongApproval(p) {
			note("approval %s: %s", p.ID, problem)
		}
		if p.Proposal.Agent != "" && p.Proposal.Agent != a.Agent {
			note("approval %s is another agent's", p.ID)
		}
	}
	for i := range a.Cards {
		c := &a.Cards[i]
		done = done && (c.Gone || c.View == view)
		for _, b := range c.Callbacks {
			if b.Approval != "" && a.Find(b.Approval) == nil {
				note("a button on %s means the approval %s of another ask", c.Channel, b.Approval)
			}
			granting := b.Choice.Grants() && b.Approval != "" && a.Find(b.Approval) != nil && a.Find(b.Approval).Grantable != ""
			kind := b.Choice == approval.ChoiceDenyKind && a.Find(b.Approval) != nil && a.Find(b.Approval).DenialOf() != nil
			if b.Choice != approval.ChoiceAllow && b.Choice != approval.ChoiceDeny && !granting && !kind {
				note("a button on %s means %q", c.Channel, b.Choice)
			}
		}
	}
	for i := range a.Approvals {
		if g := a.Approvals[i].Grant; g != nil {
			done = done && (g.Ended != nil || g.Used() >= g.Most)
			if g.Used() > g.Most || g.Most > approval.MaxUses || g.Until.Sub(g.At) > approval.MaxGrant || a.Approvals[i].Grantable != g.Key {
				note("has a grant beyond its bounds: %+v", *g)
			}
		}
	}
	if r.Open == done {
		note("is marked open: %t, and done: %t", r.Open, done)
	}
	return problems
}

// life is what an approval in some state must carry.
type life struct {
	// choice is what a person decided; empty if nobody did.
	choice approval.Choice
	// spent says that the permit was redeemed.
	spent bool
}

// judge is the name of the only phase that a person may overrule.
const judge = "judge"

// lives returns an entry for every state of the table.
func lives() map[approval.State]life {
	allowed, spent := life{choice: approval.ChoiceAllow}, life{choice: approval.ChoiceAllow, spent: true}
	return map[approval.State]life{
		approval.Pending: {}, approval.Expired: {}, approval.Withdrawn: {}, approval.Superseded: {},
		approval.Denied:  {choice: approval.ChoiceDeny},
		approval.Allowed: allowed, approval.Lapsed: allowed,
		approval.Spent: spent, approval.Succeeded: spent, approval.Failed: spent, approval.Unknown: spent,
	}
}

// wrongApproval returns what cannot be true of an approval.
func wrongApproval(p *approval.Approval) (problems []string) {
	note := func(ok bool, problem string) {
		if !ok {
			problems = append(problems, problem)
		}
	}
	_, err := approval.JudgeDenial(p.Verdict)
	note(err == nil && p.Verdict.BlockedBy == judge && p.Verdict.Rule == nil, "starts from something else than a judge's denial")
	note(!p.Refusal.Ran && !p.Refusal.Final && p.Refusal.Phase == judge, "has the refusal of something else")
	note(p.ID != "" && p.Fingerprint != "", "has no id or no fingerprint")
	want, ok := lives()[p.State]
	if !ok {
		return append(problems, fmt.Sprintf("is in the state %q", p.State))
	}
	note(p.EndedAt.IsZero() == (p.State == approval.Pending), "is "+string(p.State)+" and its end says otherwise")
	var choice approval.Choice
	if d := p.Decision; d != nil {
		choice = d.Choice
		note(d.By.ID != "" && d.Channel != "" && !d.At.IsZero(), "was decided by nobody, nowhere or never")
	}
	note(choice == want.choice, fmt.Sprintf("is %s and was decided %q", p.State, choice))
	note((p.Permit != nil) == (want.choice == approval.ChoiceAllow), "is "+string(p.State)+" and its permit says otherwise")
	if p.Permit != nil {
		note(p.Permit.SpentAt.IsZero() != want.spent, "is "+string(p.State)+" and its permit says otherwise")
		note(p.Permit.LapsesAt.After(p.Permit.IssuedAt), "has a permit without a window")
		note(!p.Permit.SpentAt.After(p.Permit.LapsesAt), "was spent after its permit had lapsed")
	}
	if o := p.Outcome; o != nil {
		reported := slices.Contains([]approval.State{approval.Succeeded, approval.Failed, approval.Unknown}, p.State)
		note(reported && o.Succeeded == (p.State == approval.Succeeded), "is "+string(p.State)+" and its outcome says otherwise")
	} else {
		note(p.State != approval.Succeeded && p.State != approval.Failed, "is "+string(p.State)+" and nobody reported it")
	}
	return problems
}
