package approval_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
)

// team returns a routing for a team of three, which tests can change.
func team() approval.Routing {
	return approval.Routing{
		Members: []approval.Member{
			{Name: "ann", IDs: []string{"telegram:1", "slack:U1"}},
			{Name: "bob", IDs: []string{"telegram:2"}},
			{Name: "cat", IDs: []string{"slack:U3"}},
		},
		Owners: map[string]string{"*": "ann", "bobs": "bob"},
		Routes: []approval.Route{
			{Name: "prod", Channels: []string{"slack"}, Approvers: []string{"ann", "bob", "cat"}, Quorum: 2, Separate: true, EscalateAfter: 10 * time.Minute, EscalateTo: "leads"},
			{Name: "leads", Approvers: []string{"cat", "telegram:99"}},
			{Name: "all", Approvers: []string{approval.Anyone}},
		},
		Rules: []approval.Rule{
			{Agents: []string{"deployer"}, Effects: []string{"delete", "publish"}, Route: "prod"},
			{Executors: []string{"db_exec"}, Reaches: []string{"public"}, Route: "leads"},
			{Route: "all"},
		},
	}
}

func TestRulesChooseTheRoute(t *testing.T) {
	r := team()
	r.Routes[2].Quorum = 1 // Of anyone, one is enough.
	if err := r.Check([]string{"slack", "telegram", "web"}); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		c    approval.Case
		want string
	}{
		"AgentAndEffect":   {approval.Case{Agent: "deployer", Effects: []string{"send", "publish"}}, "prod"},
		"AnotherEffect":    {approval.Case{Agent: "deployer", Effects: []string{"send"}}, "all"},
		"NoEffectKnown":    {approval.Case{Agent: "deployer"}, "all"},
		"AnotherAgent":     {approval.Case{Agent: "coder", Effects: []string{"delete"}}, "all"},
		"ExecutorAndReach": {approval.Case{Agent: "coder", Executor: "db_exec", Reaches: []string{"public"}}, "leads"},
		"FirstThatFits":    {approval.Case{Agent: "deployer", Executor: "db_exec", Effects: []string{"delete"}, Reaches: []string{"public"}}, "prod"},
	} {
		if got := r.For(tt.c); got.Name != tt.want {
			t.Errorf("%s: goes to %q, want %q", name, got.Name, tt.want)
		}
	}
	easy := approval.Routing{
		Routes: []approval.Route{{Name: "easy", Approvers: []string{approval.Anyone}}, {Name: "strict", Approvers: []string{"x:1", "x:2"}, Quorum: 2}},
		Rules:  []approval.Rule{{Executors: []string{"read_file"}, Route: "easy"}, {Executors: []string{"pay"}, Route: "strict"}, {Route: "easy"}},
	}
	if got := easy.For(approval.Case{Executor: "batch"}, approval.Case{Executor: "read_file"}, approval.Case{Executor: "pay"}); got.Name != "strict" {
		t.Errorf("a payment beside a reading goes to %q", got.Name)
	}
	if got := easy.For(approval.Case{Executor: "pay"}, approval.Case{Executor: "read_file"}); got.Name != "strict" {
		t.Errorf("a payment before a reading goes to %q", got.Name)
	}
	if got := r.For(approval.Case{Agent: "coder", Executor: "batch"}, approval.Case{Agent: "coder"},
		approval.Case{Agent: "coder", Executor: "db_exec", Reaches: []string{"public"}}); got.Name != "leads" {
		t.Errorf("a call that makes one for the leads goes to %q", got.Name)
	}
	if got := r.For(approval.Case{Agent: "coder", Executor: "db_exec"}, approval.Case{Agent: "coder", Reaches: []string{"public"}}); got.Name != "all" {
		t.Errorf("two calls that fit a rule only together go to %q", got.Name)
	}
	for name, want := range map[string]bool{"leads": true, "nobody": false, "": false} {
		if to, ok := r.Route(name); ok != want || ok && to.Name != name {
			t.Errorf("the route %q is %+v, %v", name, to, ok)
		}
	}
	own := team()
	own.OwnRoute = func(agent string) string { return map[string]string{"coder": "leads", "deployer": "leads"}[agent] }
	for c, want := range map[*approval.Case]string{
		{Agent: "coder"}: "leads", {Agent: "other"}: "all", {Agent: "deployer", Effects: []string{"delete"}}: "prod", {Agent: "deployer"}: "leads",
	} {
		if got := own.For(*c); got.Name != want {
			t.Errorf("with routes of agents' own, %+v goes to %q, want %q", *c, got.Name, want)
		}
	}
	var none approval.Routing
	if got := none.For(approval.Case{}); got.Name != approval.DefaultRoute || none.Check(nil) != nil {
		t.Errorf("without routes a call goes to %+v", got)
	}
}

// TestARouteThatNobodyCanSatisfy checks that a routing that cannot work is rejected at
// startup, with a sentence.
func TestARouteThatNobodyCanSatisfy(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(r *approval.Routing)
		want   string
	}{
		"NoApprovers":     {func(r *approval.Routing) { r.Routes[0].Approvers = nil }, `route "prod" has no approvers`},
		"QuorumTooLarge":  {func(r *approval.Routing) { r.Routes[0].Quorum = 4 }, `route "prod" wants 4 people to allow and names 3`},
		"QuorumOfAliases": {func(r *approval.Routing) { r.Routes[0].Approvers = []string{"ann", "telegram:1", "slack:U1"} }, `wants 2 people to allow and names 1`},
		"QuorumOfAnyone":  {func(r *approval.Routing) { r.Routes[2].Quorum = 2 }, `route "all" counts people, so it must name them`},
		"ApartAnyone":     {func(r *approval.Routing) { r.Routes[2].Separate = true }, `route "all" counts people, so it must name them`},
		"NegativeQuorum":  {func(r *approval.Routing) { r.Routes[0].Quorum = -1 }, `has the quorum -1`},
		"SeparateAlone": {func(r *approval.Routing) {
			r.Routes[1] = approval.Route{Name: "leads", Approvers: []string{"bob"}, Separate: true}
		}, `and "bob", whose agent "bobs" asks, is its only approver`},
		"SeparateUnknown":   {func(r *approval.Routing) { r.Owners = map[string]string{"bobs": "bob"} }, `it must be known whose agent asks`},
		"OwnerUnknown":      {func(r *approval.Routing) { r.Owners["x"] = "dan" }, `agent "x" belongs to "dan", who is not a member`},
		"ApproverUnknown":   {func(r *approval.Routing) { r.Routes[0].Approvers[0] = "dan" }, `names the approver "dan", who is not a member`},
		"ApproverNowhere":   {func(r *approval.Routing) { r.Members[1].IDs = []string{"irc:bob"} }, `names the approver "bob", who is on none of the channels: slack, telegram, web`},
		"ChannelUnknown":    {func(r *approval.Routing) { r.Routes[0].Channels = []string{"slak"} }, `goes to the channel "slak"; known: slack, telegram, web`},
		"SharedID":          {func(r *approval.Routing) { r.Members[1].IDs[0] = "slack:U1" }, `member "bob" has the id "slack:U1" of "ann"`},
		"BareID":            {func(r *approval.Routing) { r.Members[1].IDs[0] = "2" }, `member "bob" has the id "2"`},
		"NoID":              {func(r *approval.Routing) { r.Members[1].IDs = nil }, `member "bob" has no id`},
		"NameLikeAnID":      {func(r *approval.Routing) { r.Members[1].Name = "telegram:1" }, `without a colon`},
		"NameTwice":         {func(r *approval.Routing) { r.Members[1].Name = "ann" }, `must have a name of its own`},
		"RouteTwice":        {func(r *approval.Routing) { r.Routes[2].Name = "leads" }, `which must be set and used once`},
		"NoSuchRoute":       {func(r *approval.Routing) { r.Rules[1].Route = "nowhere" }, `rule 2 sends to "nowhere", which is not a route`},
		"NoLastRule":        {func(r *approval.Routing) { r.Rules = r.Rules[:2] }, `rule 2 is the last one and has conditions`},
		"UnreachableRule":   {func(r *approval.Routing) { r.Rules[0] = approval.Rule{Route: "all"} }, `rule 1 has no conditions`},
		"NoRules":           {func(r *approval.Routing) { r.Rules = nil }, `have no rules`},
		"EscalatesNowhere":  {func(r *approval.Routing) { r.Routes[0].EscalateTo = "bosses" }, `escalates to "bosses"`},
		"EscalatesToItself": {func(r *approval.Routing) { r.Routes[0].EscalateTo = "prod" }, `escalates to "prod"`},
		"EscalatesNever":    {func(r *approval.Routing) { r.Routes[0].EscalateAfter = 0 }, `escalates after 0s`},
		"EscalatesTooLate":  {func(r *approval.Routing) { r.Routes[0].Deadline = 10 * time.Minute }, `when its deadline of 10m0s is over`},
	} {
		t.Run(name, func(t *testing.T) {
			r := team()
			tt.change(&r)
			err := r.Check([]string{"slack", "telegram", "web"})
			if wrong, ok := errors.AsType[*approval.RoutingError](err); !ok || !strings.Contains(wrong.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// TestHandOver checks who may answer what was handed over: the people the routes name, and
// the newest holder if one person is enough. A hand-over never weakens a quorum or a
// separation of duties.
func TestHandOver(t *testing.T) {
	members := []approval.Member{
		{Name: "ada", IDs: []string{"telegram:1"}}, {Name: "bob", IDs: []string{"telegram:2"}}, {Name: "cleo", IDs: []string{"telegram:3"}}, {Name: "dan", IDs: []string{"telegram:4"}},
	}
	type step struct{ by, to, err string }
	for name, tt := range map[string]struct {
		route approval.Route
		steps []step
		may   []string
	}{
		"never":                      {approval.Route{Approvers: []string{"ada"}}, nil, []string{"ada"}},
		"to one whom nobody named":   {approval.Route{Approvers: []string{"ada"}}, []step{{"ada", "bob", ""}}, []string{"ada", "bob"}},
		"and further":                {approval.Route{Approvers: []string{"ada"}}, []step{{"ada", "bob", ""}, {"bob", "cleo", ""}}, []string{"ada", "cleo"}},
		"and back":                   {approval.Route{Approvers: []string{"ada"}}, []step{{"ada", "bob", ""}, {"bob", "ada", ""}}, []string{"ada"}},
		"no more once handed on":     {approval.Route{Approvers: []string{"ada"}}, []step{{"ada", "bob", ""}, {"bob", "cleo", ""}, {"bob", "dan", "those who may decide"}}, []string{"ada", "cleo"}},
		"by one who may not":         {approval.Route{Approvers: []string{"ada"}}, []step{{"bob", "cleo", "those who may decide"}}, []string{"ada"}},
		"to oneself":                 {approval.Route{Approvers: []string{"ada"}}, []step{{"ada", "ada", "already"}}, []string{"ada"}},
		"of several, to one of them": {approval.Route{Approvers: []string{"ada", "bob"}, Quorum: 2}, []step{{"ada", "bob", ""}}, []string{"ada", "bob"}},
		"of several, to a further":   {approval.Route{Approvers: []string{"ada", "bob"}, Quorum: 2}, []step{{"ada", "cleo", "more than one person"}}, []string{"ada", "bob"}},
		"kept apart, to a further":   {approval.Route{Approvers: []string{"ada", "bob"}, Separate: true}, []step{{"ada", "cleo", "more than one person"}}, []string{"ada", "bob"}},
		// Somebody other than the owner could allow it alone, but still hands over no
		// right: it would not be counted.
		"kept apart, by the other": {approval.Route{Approvers: []string{"ada", "bob"}, Separate: true}, []step{{"bob", "cleo", "more than one person"}}, []string{"ada", "bob"}},
		"where anyone may":         {approval.Route{Approvers: []string{approval.Anyone}}, []step{{"ada", "bob", ""}}, []string{"ada", "bob", "cleo", "dan"}},
	} {
		t.Run(name, func(t *testing.T) {
			tt.route.Name = "ops"
			r := approval.Routing{Members: members, Owners: map[string]string{"*": "ada"}, Routes: []approval.Route{tt.route}, Rules: []approval.Rule{{Route: "ops"}}}
			known := func(id string) (string, bool) { return r.Human(id), r.Knows(id) }
			id := func(name string) string { _, ids, _ := r.Named(name); return ids[0] }
			a := open(t, "make a")
			a.Routes = []approval.Active{{Route: "ops", Quorum: max(tt.route.Quorum, 1)}}
			now := func() approval.Electorate { return r.Electorate(a.Routes, a.Agent, known).With(a.Handed) }
			for i, s := range tt.steps {
				before := len(a.Handed)
				err := a.HandOver(approval.Act{By: approval.Person{ID: id(s.by)}, At: start.Add(time.Duration(i) * time.Second)}, s.to, now())
				if (err == nil) != (s.err == "") || err != nil && (!strings.Contains(err.Error(), s.err) || len(a.Handed) != before) {
					t.Fatalf("step %d: %v, want %q", i, err, s.err)
				}
			}
			e, card := now(), approval.NewCard(a, "web", masker)
			for _, m := range members {
				want := slices.Contains(tt.may, m.Name)
				if e.Permits(m.IDs[0]) != want || card.Awaits(m.IDs[0], e) != want {
					t.Errorf("%s may answer: %t, want %t", m.Name, e.Permits(m.IDs[0]), want)
				}
			}
			// A configuration that now wants more than one person ignores the hand-over.
			r.Routes[0].Quorum = 2
			for _, m := range members {
				if e := now(); e.Permits(m.IDs[0]) && !slices.Contains(tt.route.Approvers, m.Name) && tt.route.Approvers[0] != approval.Anyone {
					t.Errorf("%s may answer where two have to", m.Name)
				}
			}
		})
	}
}
