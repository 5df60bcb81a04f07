package approval_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
)

const aSecret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

func TestWhatAPersonMayChange(t *testing.T) {
	longest := strings.Repeat("é", 4000)
	p := vaglio.Proposal{Executor: "x", Args: vaglio.Args{
		"plain": "a", "longest": longest, "longer": longest + "é", "returns": "a\rb", "unseen": "a\u200bb", "lookalike": "pаypal",
		"masked": "token " + aSecret, "number": 7, longest + "n": "a", "na\u200bme": "a",
	}}
	got := map[string]string{}
	for _, e := range approval.Editables(p, approval.NewMasker(secret)) {
		got[e.Name] = e.Text
	}
	if want := map[string]string{"plain": "a", "longest": longest}; !maps.Equal(got, want) {
		t.Errorf("%d may be changed: %.20q", len(got), slices.Sorted(maps.Keys(got)))
	}
}

func TestAChange(t *testing.T) {
	longest := strings.Repeat("é", approval.MaxEdit)
	p := vaglio.Proposal{Executor: "x", Args: vaglio.Args{"a": "1", "b": "2", "n": 7}}
	m := approval.NewMasker(secret)
	for name, tt := range map[string]struct {
		texts   map[string]string
		key     string // of the error
		changed int
	}{
		"one":          {map[string]string{"a": "3"}, "", 1},
		"both":         {map[string]string{"a": "3", "b": "4"}, "", 2},
		"one as it is": {map[string]string{"a": "1", "b": "4"}, "", 1},
		"as it is":     {map[string]string{"a": "1"}, approval.OrderUnchanged, 0},
		"nothing":      {nil, approval.OrderUnchanged, 0},
		"no text":      {map[string]string{"n": "8"}, approval.OrderArgument, 0},
		"no argument":  {map[string]string{"a": "3", "c": "8"}, approval.OrderArgument, 0},
		"longest":      {map[string]string{"a": longest}, "", 1},
		"too long":     {map[string]string{"a": longest + "é"}, approval.OrderLong, 0},
		"a secret":     {map[string]string{"a": "3", "b": "token " + aSecret}, approval.OrderMasked, 0},
	} {
		e := approval.Editing{ID: "x-1", Texts: tt.texts}
		now, changed, err := e.Change(p, m)
		var order *approval.OrderError
		if errors.As(err, &order) != (tt.key != "") || order != nil && order.Key != tt.key || len(changed) != tt.changed {
			t.Errorf("%s: %v, %v", name, changed, err)
		}
		for _, d := range changed {
			if d.Was == d.Now || now.Args[d.Name] != d.Now || p.Args[d.Name] != d.Was {
				t.Errorf("%s: %+v gives %v", name, d, now.Args)
			}
		}
	}
	if p.Args["a"] != "1" {
		t.Error("the call itself was changed")
	}
}

// TestAnEditIsTaken checks that an edit is accepted only from a person whose answer alone
// decides, and only within what they may decide.
func TestAnEditIsTaken(t *testing.T) {
	changed := []approval.Difference{{Name: "command", Was: "make a", Now: "make b"}}
	alone := approval.Everybody()
	two := approval.Routing{Routes: []approval.Route{{Name: "two", Quorum: 2, Approvers: []string{"web:owner"}}}}
	digits := approval.Routing{Routes: []approval.Route{{Name: "digits", Quorum: 1, Approvers: []string{"chat:ann"}, Match: true}}}
	matched := digits.Electorate([]approval.Active{{Route: "digits", Quorum: 1}}, "local", func(id string) (string, bool) { return id, true })
	matched.Match = approval.Match{Channel: "web", Reader: "web:owner"}
	onChat := func(_ *approval.Ask, e *approval.Editing, _ *approval.Call) {
		e.By, e.Channel = approval.Person{ID: "chat:ann"}, "chat"
	}
	fill := func(a *approval.Ask, _ *approval.Editing, _ *approval.Call) {
		for n := 2; n <= approval.MaxCalls; n++ {
			more := a.Approvals[0]
			more.ID = approval.ID(fmt.Sprintf("%s-%d", a.ID, n))
			a.Approvals = append(a.Approvals, more)
		}
	}
	for name, tt := range map[string]struct {
		by     approval.Electorate
		before func(a *approval.Ask, e *approval.Editing, c *approval.Call)
		passes bool // the judges let the changed call through
		tokens int  // more than necessary
		want   error
		key    string // of the error, if it says why an order is not followed
	}{
		"through judges":    {by: alone},
		"let through":       {by: alone, passes: true},
		"by a stranger":     {by: approval.Electorate{Human: func(id string) (string, bool) { return id, false }, Terms: alone.Terms}, want: approval.ErrNotApprover},
		"of two":            {by: two.Electorate([]approval.Active{{Route: "two", Quorum: 2}}, "local", func(id string) (string, bool) { return id, true }), key: approval.OrderSeveral},
		"with digits":       {by: matched, before: onChat, key: approval.OrderDigits},
		"without any":       {by: matched, before: onChat, passes: true}, // nobody allows it
		"by nobody":         {by: alone, before: func(_ *approval.Ask, e *approval.Editing, _ *approval.Call) { e.By = approval.Person{} }, want: approval.ErrNobody},
		"of no call":        {by: alone, before: func(_ *approval.Ask, e *approval.Editing, _ *approval.Call) { e.ID = "other-1" }, want: approval.ErrNotFound},
		"of what is over":   {by: alone, before: func(a *approval.Ask, _ *approval.Editing, _ *approval.Call) { _ = a.Withdraw(a.Approvals[0].ID, start) }, key: approval.OrderNothing},
		"too late":          {by: alone, before: func(a *approval.Ask, _ *approval.Editing, _ *approval.Call) { a.ExpiresAt = start }, key: approval.OrderNothing},
		"of the guard's":    {by: alone, before: func(a *approval.Ask, _ *approval.Editing, _ *approval.Call) { a.Approvals[0].Verdict = guardDenies() }, want: approval.ErrNotAskable},
		"into a mask":       {by: alone, before: func(_ *approval.Ask, _ *approval.Editing, c *approval.Call) { c.Obscured = approval.AllObscured() }, key: approval.OrderObscured},
		"into the guard's":  {by: alone, before: func(_ *approval.Ask, _ *approval.Editing, c *approval.Call) { c.Denial = approval.Denial{} }, want: approval.ErrNotAskable},
		"without tokens":    {by: alone, tokens: -1, want: approval.ErrNoJoining},
		"of a full ask":     {by: alone, before: fill, key: approval.OrderNothing},
		"let through there": {by: alone, before: fill, passes: true},
	} {
		t.Run(name, func(t *testing.T) {
			a, c := open(t, "make a"), call(t, shell("make b"))
			id := a.Approvals[0].ID
			e := approval.Editing{ID: id, By: owner, Channel: "web", Words: "b"}
			if tt.before != nil {
				tt.before(&a, &e, &c)
			}
			form, had := &c, len(a.Approvals)
			if tt.passes {
				form = nil
			}
			err := a.Edit(&e, changed, form, tt.by, approval.NewTokens(a.JoinTokens(1)+tt.tokens), start, permitFor)
			var order *approval.OrderError
			errors.As(err, &order)
			if tt.want != nil && !errors.Is(err, tt.want) || (order != nil) != (tt.key != "") || order != nil && order.Key != tt.key || (err != nil) != (tt.want != nil || tt.key != "") {
				t.Fatalf("it gives %v", err)
			}
			p := a.Find(id)
			switch {
			case err != nil:
				if p.Edit != nil || p.Decision != nil || len(a.Approvals) != had {
					t.Errorf("and yet it changed %+v", a.Approvals)
				}
				return
			case p.State != approval.Denied || p.Permit != nil || p.Decision.Choice != approval.ChoiceDeny || !a.Closed:
				t.Errorf("as it was proposed it is %+v", p)
			case tt.passes != (p.Edit.Approval == ""), tt.passes != (len(a.Approvals) == had):
				t.Errorf("its changed form is %q of %d", p.Edit.Approval, len(a.Approvals))
			}
			if !tt.passes {
				now := a.Find(p.Edit.Approval)
				if now.State != approval.Allowed || !now.Permit.LapsesAt.Equal(start.Add(permitFor)) || now.Decision.Choice != approval.ChoiceAllow {
					t.Errorf("in its changed form it is %+v", now)
				}
			}
			toldEdited(t, &a, id, tt.passes)
		})
	}
}

// toldEdited checks what the agent is told of an edit while it holds.
func toldEdited(t *testing.T, a *approval.Ask, id approval.ID, passes bool) {
	t.Helper()
	form := approval.Answer{}.Edited(a, id).Form
	if form == nil || form.Args["command"] != "make b" || len(form.Changed) != 1 || form.LapsesAt.IsZero() != passes {
		t.Fatalf("the agent is given %+v", form)
	}
	for what, spoil := range map[string]func(p, now *approval.Approval){
		"a call that is not denied":  func(p, _ *approval.Approval) { p.State = approval.Expired },
		"a call that nobody changed": func(p, _ *approval.Approval) { p.Edit = nil },
		"a call that nobody decided": func(p, _ *approval.Approval) { p.Decision = nil },
		"a call without its values":  func(p, _ *approval.Approval) { p.ValuesDropped = start },
		"a form that is spent":       func(_, now *approval.Approval) { now.State = approval.Spent },
		"a form without a permit":    func(_, now *approval.Approval) { now.Permit = nil },
		"a form that is not there":   func(p, _ *approval.Approval) { p.Edit.Approval = "other-1" },
		"":                           func(_, _ *approval.Approval) {},
	} {
		b := *a
		b.Approvals = append([]approval.Approval(nil), a.Approvals...)
		p := b.Find(id)
		edit := *p.Edit
		p.Edit = &edit
		if passes && strings.HasPrefix(what, "a form") {
			continue
		}
		spoil(p, b.Find(a.Find(id).Edit.Approval))
		if got := (approval.Answer{}).Edited(&b, id).Form; (got == nil) != (what != "") {
			t.Errorf("of %q the agent is given %+v", what, got)
		}
	}
	if got := (approval.Answer{}).Edited(a, "other-1").Form; got != nil {
		t.Errorf("of a call that is not there the agent is given %+v", got)
	}
}

func TestWhatTheAgentReadsOfAnEdit(t *testing.T) {
	for name, tt := range map[string]struct {
		form     approval.EditedCall
		words    string
		has, not []string
	}{
		"all of it": {
			approval.EditedCall{Executor: "sh", Args: vaglio.Args{"command": "make b"}, Changed: []string{"command"}, EditedAt: start},
			"",
			[]string{`sh {"command":"make b"}`, "It needs nobody's leave so."},
			[]string{"The other arguments", "The person's words"},
		},
		"a part": {
			approval.EditedCall{Executor: "sh", Args: vaglio.Args{"command": "make b", "dir": "/x"}, Changed: []string{"command"}, EditedAt: start, LapsesAt: start.Add(time.Hour)},
			"so",
			[]string{`sh {"command":"make b"}`, "It is allowed in that form, once, until ", "The other arguments stay as they were.", "The person's words: "},
			[]string{"/x", "leave"},
		},
	} {
		text := approval.Answer{Refusal: &approval.Refusal{Words: tt.words}, Form: &tt.form}.Told().Text
		for _, s := range tt.has {
			if !strings.Contains(text, s) {
				t.Errorf("%s: it lacks %q:\n%s", name, s, text)
			}
		}
		for _, s := range tt.not {
			if strings.Contains(text, s) {
				t.Errorf("%s: it has %q:\n%s", name, s, text)
			}
		}
	}
}
