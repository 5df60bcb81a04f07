package approval_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
)

// team is a routing of a team of three, in which changes can be made.
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
	var none approval.Routing
	if got := none.For(approval.Case{}); got.Name != approval.DefaultRoute || none.Check(nil) != nil {
		t.Errorf("without routes a call goes to %+v", got)
	}
}

// A routing that cannot work is told so at the start, in a sentence.
func TestARouteThatNobodyCanSatisfy(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(r *approval.Routing)
		want   string
	}{
		"NoApprovers":     {func(r *approval.Routing) { r.Routes[0].Approvers = nil }, `route "prod" has no approvers`},
		"QuorumTooLarge":  {func(r *approval.Routing) { r.Routes[0].Quorum = 4 }, `route "prod" wants 4 people to allow and names 3`},
		"QuorumOfAliases": {func(r *approval.Routing) { r.Routes[0].Approvers = []string{"ann", "telegram:1", "slack:U1"} }, `wants 2 people to allow and names 1`},
		"QuorumOfAnyone":  {func(r *approval.Routing) { r.Routes[2].Quorum = 2 }, `route "all" counts people, so it must name them`},
		"NegativeQuorum":  {func(r *approval.Routing) { r.Routes[0].Quorum = -1 }, `has the quorum -1`},
		"SeparateAlone": {func(r *approval.Routing) {
			r.Routes[1] = approval.Route{Name: "leads", Approvers: []string{"bob"}, Separate: true}
		}, `and "bob", whose agent "bobs" asks, is its only approver`},
		"SeparateUnknown":   {func(r *approval.Routing) { r.Owners = map[string]string{"bobs": "bob"} }, `it must be known whose agent asks`},
		"OwnerUnknown":      {func(r *approval.Routing) { r.Owners["x"] = "dan" }, `agent "x" belongs to "dan", who is no member`},
		"ApproverUnknown":   {func(r *approval.Routing) { r.Routes[0].Approvers[0] = "dan" }, `names the approver "dan", who is no member`},
		"ApproverNowhere":   {func(r *approval.Routing) { r.Members[1].IDs = []string{"irc:bob"} }, `names the approver "bob", who is on no channel that there is: slack, telegram, web`},
		"ChannelUnknown":    {func(r *approval.Routing) { r.Routes[0].Channels = []string{"slak"} }, `goes to the channel "slak"; there is slack, telegram, web`},
		"SharedID":          {func(r *approval.Routing) { r.Members[1].IDs[0] = "slack:U1" }, `member "bob" has the id "slack:U1" of "ann"`},
		"BareID":            {func(r *approval.Routing) { r.Members[1].IDs[0] = "2" }, `member "bob" has the id "2"`},
		"NoID":              {func(r *approval.Routing) { r.Members[1].IDs = nil }, `member "bob" has no id`},
		"NameLikeAnID":      {func(r *approval.Routing) { r.Members[1].Name = "telegram:1" }, `without a colon`},
		"NameTwice":         {func(r *approval.Routing) { r.Members[1].Name = "ann" }, `must have a name of its own`},
		"RouteTwice":        {func(r *approval.Routing) { r.Routes[2].Name = "leads" }, `which must be set and used once`},
		"NoSuchRoute":       {func(r *approval.Routing) { r.Rules[1].Route = "nowhere" }, `rule 2 sends to "nowhere", which is no route`},
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
