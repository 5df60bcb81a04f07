package approval_test

import (
	"errors"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/headline"
	"github.com/metnos/vaglio/vaglio/operation"
)

// Whose yes takes a passkey follows from who could decide without its holder.
func TestWhoseYesTakesAPasskey(t *testing.T) {
	t.Parallel()
	routing := approval.Routing{
		Members: []approval.Member{{Name: "ann", IDs: []string{"web:owner", "telegram:1"}}, {Name: "bob", IDs: []string{"slack:2"}}, {Name: "cleo", IDs: []string{"slack:3"}}},
		Routes: []approval.Route{
			{Name: "alone", Approvers: []string{"ann", "bob"}, Quorum: 1},
			{Name: "two", Approvers: []string{"ann", "bob", "cleo"}, Quorum: 2},
			{Name: "others", Approvers: []string{"bob", "cleo"}, Quorum: 1},
		},
	}
	human := func(id string) (string, bool) { return routing.Human(id), true }
	for _, row := range []struct {
		route, by string
		holder    bool
		wants     bool
	}{
		{"alone", "web:owner", true, true},
		{"alone", "telegram:1", true, true},
		{"alone", "slack:2", true, true},
		{"alone", "", true, true},
		{"alone", "web:owner", false, false},
		{"alone", "slack:2", false, false},
		{"two", "web:owner", true, true},
		{"two", "telegram:1", true, true},
		{"two", "slack:2", true, false},
		{"two", "", true, false},
		{"others", "slack:2", true, false},
		{"others", "", true, false},
	} {
		e := routing.Electorate([]approval.Active{{Route: row.route}}, "coder", human)
		if row.holder {
			e.Holder = routing.Human("web:owner")
		}
		who := ""
		if row.by != "" {
			who = routing.Human(row.by)
		}
		if got := e.WantsPasskey(who); got != row.wants {
			t.Errorf("%+v: %t", row, got)
		}
	}
}

// A passkey is asked for once the call waits, of who may decide it, and for no denial.
func TestAVoteWithoutThePasskey(t *testing.T) {
	t.Parallel()
	e := approval.Everybody()
	e.Holder = "web:owner"
	for name, row := range map[string]struct {
		tap   approval.Tap
		then  func(a *approval.Ask)
		err   error
		state approval.State
	}{
		"allow":              {tap: approval.Tap{Choice: approval.ChoiceAllow}, err: approval.ErrPasskey, state: approval.Pending},
		"allow with it":      {tap: approval.Tap{Choice: approval.ChoiceAllow, Passkey: true}, state: approval.Allowed},
		"deny":               {tap: approval.Tap{Choice: approval.ChoiceDeny}, state: approval.Denied},
		"allow what is over": {tap: approval.Tap{Choice: approval.ChoiceAllow}, then: func(a *approval.Ask) { a.Lapse(a.ExpiresAt) }, state: approval.Expired},
	} {
		a := open(t, "make")
		if row.then != nil {
			row.then(&a)
		}
		row.tap.Ask, row.tap.By, row.tap.Channel = a.ID, approval.Person{ID: "telegram:1", Name: "Ann"}, a.Cards[0].Channel
		_, err := a.Vote(row.tap, e, start, time.Minute)
		if !errors.Is(err, row.err) || a.Approvals[0].State != row.state {
			t.Errorf("%s: %v, and it is %s", name, err, a.Approvals[0].State)
		}
	}
}

// What is serious: all that is not known to be harmless.
func TestSerious(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		is   headline.Consequence
		want bool
	}{
		{headline.Consequence{}, true},
		{headline.Consequence{Unknown: true}, true},
		{headline.Consequence{Undo: operation.Irreversible, Reach: operation.ReachWorkspace}, true},
		{headline.Consequence{Undo: operation.Reversible, Reach: operation.ReachWorkspace, Unread: true}, true},
		{headline.Consequence{Undo: operation.Reversible, Reach: operation.ReachShared}, true},
		{headline.Consequence{Undo: operation.Partial, Reach: operation.ReachPublic}, true},
		{headline.Consequence{Undo: operation.Reversible, Reach: operation.ReachWorkspace}, false},
		{headline.Consequence{Undo: operation.Partial, Reach: operation.ReachSystem}, false},
		{headline.Consequence{Reads: true}, false},
	} {
		if got := approval.Serious(&row.is); got != row.want {
			t.Errorf("%+v: %t", row.is, got)
		}
	}
}
