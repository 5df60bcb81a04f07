package approval_test

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/headline"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/operation"
)

// serious routes calls that cannot be undone: to the reader of the inbox among others,
// alone or with a second person, and to others without the reader.
var serious = approval.Routing{
	Members: []approval.Member{{Name: "ann", IDs: []string{"web:owner", "telegram:1"}}, {Name: "bob", IDs: []string{"slack:2"}}, {Name: "cleo", IDs: []string{"slack:3"}}},
	Routes: []approval.Route{
		{Name: "alone", Approvers: []string{"ann", "bob"}, Quorum: 1},
		{Name: "two", Approvers: []string{"ann", "bob", "cleo"}, Quorum: 2},
		{Name: "others", Approvers: []string{"bob", "cleo"}, Quorum: 1},
		{Name: "matched", Approvers: []string{"bob", "cleo"}, Quorum: 1, Match: true},
	},
}

// seriously returns those who decide on one of its routes.
func seriously(route string) approval.Electorate {
	return serious.Electorate([]approval.Active{{Route: route}}, "coder", func(id string) (string, bool) { return serious.Human(id), true })
}

// TestWhoseYesTakesAPasskey checks that whose yes takes a passkey follows from who could
// decide without its holder.
func TestWhoseYesTakesAPasskey(t *testing.T) {
	t.Parallel()
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
		e := seriously(row.route)
		if row.holder {
			e.Holder = serious.Human("web:owner")
		}
		who := ""
		if row.by != "" {
			who = serious.Human(row.by)
		}
		if got := e.WantsPasskey(who); got != row.wants {
			t.Errorf("%+v: %t", row, got)
		}
	}
}

// TestAVoteWithoutThePasskey checks that a passkey is demanded only while the call waits,
// from those who may decide it, and never for a denial.
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

// TestWhoseYesTakesDigits checks whose yes to which call takes digits: everybody's on a
// route that demands it, and for the worst calls that of the inbox's reader, or everybody's
// if they could decide alone.
func TestWhoseYesTakesDigits(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		route, by string
		worst     bool
		reached   bool
		wants     bool
	}{
		{"alone", "telegram:1", true, true, true},
		{"alone", "slack:2", true, true, true},
		{"alone", "telegram:1", false, true, false},
		{"alone", "telegram:1", true, false, false},
		{"two", "telegram:1", true, true, true},
		{"two", "slack:2", true, true, false},
		{"others", "slack:2", true, true, false},
		{"matched", "slack:2", true, false, true},
		{"matched", "slack:3", false, false, true},
		{"matched", "slack:3", false, true, true},
	} {
		e := seriously(row.route)
		e.Match = approval.Match{Channel: "web", Reader: serious.Human("web:owner"), Reached: row.reached}
		a := weighing(t, row.worst)
		_, err := a.Vote(approval.Tap{Ask: a.ID, Choice: approval.ChoiceAllow, By: approval.Person{ID: row.by}, Channel: "slack"}, e, start, time.Minute)
		if _, wants := errors.AsType[*approval.MatchError](err); wants != row.wants {
			t.Errorf("%+v: %v", row, err)
		}
	}
}

// weighing returns an ask about one of the worst calls, or about one that can be undone.
func weighing(t *testing.T, worst bool) approval.Ask {
	t.Helper()
	a := open(t, "drop it")
	effect := map[string]any{"kind": "delete", "reversibility": "reversible", "reach": "workspace"}
	if worst {
		effect["reversibility"], effect["reach"] = "irreversible", "shared"
	}
	a.Approvals[0].Verdict.Results = []vaglio.GradientResult{{
		Judge: a.Approvals[0].Verdict.JudgeKind, Metadata: vaglio.Args{"effects": []any{effect}},
		Signals: []vaglio.Signal{{Category: "delete", Score: 0.2, Message: "drops it"}},
	}}
	return a
}

// TestWhoseYesInTheInboxTakesDigits checks whose yes in the inbox takes the digits of a
// chat: for the worst calls that of somebody who reads the chat, on a route that demands it
// wherever the ask is shown, and never that of somebody who used a passkey.
func TestWhoseYesInTheInboxTakesDigits(t *testing.T) {
	t.Parallel()
	members := []approval.Member{{Name: "ann", IDs: []string{"web:owner", "telegram:1"}}, {Name: "bob", IDs: []string{"slack:2"}}}
	for name, row := range map[string]struct {
		routes  []approval.Route
		members []approval.Member
		on      []string
		lost    []string
		worst   bool
		tap     approval.Tap
		wants   bool
	}{
		"the worst":                      {on: []string{"web", "telegram"}, worst: true, wants: true},
		"at a terminal":                  {on: []string{"web", "telegram"}, worst: true, tap: approval.Tap{Channel: "terminal"}, wants: true},
		"what can be undone":             {on: []string{"web", "telegram"}},
		"with a passkey":                 {on: []string{"web", "telegram"}, worst: true, tap: approval.Tap{Passkey: true}},
		"on no chat":                     {on: []string{"web"}, worst: true},
		"on one that shows it to nobody": {on: []string{"web", "telegram"}, lost: []string{"telegram"}, worst: true},
		"on one besides":                 {on: []string{"web", "telegram", "slack"}, lost: []string{"telegram"}, worst: true, wants: true},
		"where one reads the chat":       {routes: []approval.Route{{Name: "r", Approvers: []string{"ann", "bob"}, Quorum: 1}}, members: members, on: []string{"web", "telegram"}, worst: true, wants: true},
		"where one does not":             {routes: []approval.Route{{Name: "r", Approvers: []string{"ann", "bob"}, Quorum: 1}}, members: members, on: []string{"web", "slack:C1"}, worst: true},
		"on a route that says so":        {routes: []approval.Route{{Name: "r", Approvers: []string{"ann", "bob"}, Quorum: 1, Match: true}}, members: members, on: []string{"web", "slack:C1"}, wants: true},
		"on such a route without chats":  {routes: []approval.Route{{Name: "r", Approvers: []string{"ann", "bob"}, Quorum: 1, Match: true}}, members: members, on: []string{"web"}, worst: true},
	} {
		routing := approval.Routing{Members: row.members, Routes: row.routes}
		e := routing.Electorate([]approval.Active{{Route: "r"}}, "coder", func(id string) (string, bool) { return routing.Human(id), true })
		if row.routes == nil {
			e = routing.Electorate(nil, "coder", func(id string) (string, bool) { return id, true })
		}
		e.Match = approval.Match{Channel: "web", Reader: routing.Human("web:owner"), Shows: func(c string, _ bool) bool { return !slices.Contains(row.lost, c) }}
		a := weighing(t, row.worst)
		a.Cards = nil
		for _, channel := range row.on {
			a.Cards = append(a.Cards, approval.Shown{Channel: channel})
		}
		c := approval.NewCard(a, "web", approval.NewMasker(approval.Secret{1}))
		c.ShowDigits(&e, "web")
		row.tap.Ask, row.tap.Choice, row.tap.By, row.tap.Channel = a.ID, approval.ChoiceAllow, approval.Person{ID: "web:owner"}, cmp.Or(row.tap.Channel, "web")
		_, err := a.Vote(row.tap, e, start, time.Minute)
		_, wants := errors.AsType[*approval.MatchError](err)
		if asks := c.Items[0].Match && !row.tap.Passkey; wants != row.wants || asks != row.wants {
			t.Errorf("%s: it is answered %v, and the card asks for digits: %t", name, err, asks)
		}
	}
}

// TestAVoteWithDigits checks that only the digits now shown for this ask allow. Each wrong
// answer is counted, decides nothing and draws new digits, until no more are accepted. This
// holds on both sides, and digits are not accepted on the side that shows them.
func TestAVoteWithDigits(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ stand, given, by string }{{"web", "telegram", "telegram:1"}, {"telegram", "web", "web:owner"}, {"telegram", "terminal", "web:owner"}} {
		t.Run(row.stand+" to "+row.given, func(t *testing.T) {
			t.Parallel()
			digitsOf(t, row.stand, row.given, row.by)
		})
	}
}

func digitsOf(t *testing.T, stand, given, by string) {
	t.Helper()
	e := approval.Everybody()
	e.Match = approval.Match{Channel: "web", Reader: "web:owner", Reached: true, Secret: approval.Secret{1}}
	shownOn := func(channel string, a *approval.Ask) string {
		c := approval.NewCard(*a, channel, approval.NewMasker(approval.Secret{1}))
		c.ShowDigits(&e, channel)
		return c.Digits
	}
	shown := func(a *approval.Ask) string { return shownOn(stand, a) }
	named := func(id approval.AskID) *approval.Ask {
		a := weighing(t, true)
		a.ID = id // The digits must not depend on chance.
		a.Cards = []approval.Shown{{Channel: "web"}, {Channel: "telegram"}}
		return &a
	}
	alone := named("alone")
	if alone.Cards = []approval.Shown{{Channel: "web"}}; shownOn("web", alone) != "" {
		t.Error("the inbox shows digits that no other card could take")
	}
	a, other := named("first"), named("second")
	try := func(a *approval.Ask, digits, channel string, choice approval.Choice) (approval.Receipt, error) {
		return a.Vote(approval.Tap{Ask: a.ID, Choice: choice, By: approval.Person{ID: by}, Channel: channel, Digits: digits}, e, start, time.Minute)
	}
	first := shown(a)
	if len(first) != 2 || first == shown(other) {
		t.Fatalf("the digits are %q and %q", first, shown(other))
	}
	for _, digits := range []string{"", first[:1]} {
		if _, err := try(a, digits, given, approval.ChoiceAllow); err == nil || !strings.Contains(err.Error(), "takes the two digits") || a.Mismatches+a.InboxMismatches != 0 {
			t.Errorf("%q is answered %v, and counts %d", digits, err, a.Mismatches+a.InboxMismatches)
		}
	}
	own := "telegram"
	if stand == own {
		own = "web"
	}
	for i, digits := range []string{shown(other), shownOn(own, a), first + "0"} {
		now := shown(a)
		if digits == now {
			t.Fatalf("%q happens to be right", digits)
		}
		r, err := try(a, digits, given, approval.ChoiceAllow)
		if err != nil || r.Won || r.Mismatch == nil || r.Mismatch.Left != approval.MaxMismatches-1-i || a.Approvals[0].State != approval.Pending || shown(a) == now {
			t.Errorf("%q is answered %+v %v", digits, r, err)
		}
	}
	right := named("first")
	right.Mismatches, right.InboxMismatches = 1, 1
	late := shown(right)
	if _, err := try(a, late, given, approval.ChoiceAllow); err == nil || !strings.Contains(err.Error(), "too often") || a.Mismatches+a.InboxMismatches != approval.MaxMismatches || shown(a) != "" {
		t.Errorf("after too many it is answered %v", err)
	}
	if r, err := try(right, late, given, approval.ChoiceAllow); err != nil || !r.Won {
		t.Errorf("the right ones are answered %+v %v", r, err)
	}
	by = map[string]string{"web": "web:owner", "telegram": "telegram:1"}[stand]
	if r, err := try(a, shownOn(own, a), stand, approval.ChoiceAllow); err != nil || !r.Won {
		t.Errorf("where they stand it is answered %+v %v", r, err)
	}
	if r, err := try(other, "", given, approval.ChoiceDeny); err != nil || !r.Won {
		t.Errorf("a denial is answered %+v %v", r, err)
	}
}

// TestDigitsAreTwo checks that the digits are two, of which the first is not a zero, and that any
// such two may come.
func TestDigitsAreTwo(t *testing.T) {
	t.Parallel()
	e := approval.Everybody()
	e.Match = approval.Match{Channel: "web", Reader: "web:owner", Reached: true, Secret: approval.Secret{1}}
	a := weighing(t, true)
	a.Cards = []approval.Shown{{Channel: "web"}, {Channel: "telegram"}}
	c, seen := approval.NewCard(a, "web", approval.NewMasker(approval.Secret{1})), map[string]bool{}
	for i := range 3000 {
		c.Ask = approval.AskID(strconv.Itoa(i))
		c.ShowDigits(&e, "web")
		if seen[c.Digits] = true; len(c.Digits) != 2 || c.Digits[0] == '0' {
			t.Fatalf("the digits are %q", c.Digits)
		}
	}
	if len(seen) != 90 {
		t.Errorf("%d different ones came", len(seen))
	}
}

// TestSerious checks that everything not known to be harmless is serious.
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
