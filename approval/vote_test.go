package approval_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
)

// voters returns the electorate of an agent's ask on the routes, for people whom the
// routing knows.
func voters(r *approval.Routing, agent string, routes ...string) approval.Electorate {
	e := approval.Electorate{Human: func(id string) (string, bool) { return r.Human(id), id != "telegram:stranger" }}
	for _, name := range routes {
		e.Terms = append(e.Terms, r.Terms(name, agent))
	}
	return e
}

// TestVotes walks through elections in which each step is a person's answer or a change of
// the rules.
func TestVotes(t *testing.T) {
	const (
		annT, annS, bob, cat = "telegram:1", "slack:U1", "telegram:2", "slack:U3"
		yes, no              = approval.ChoiceAllow, approval.ChoiceDeny
	)
	type step struct {
		id     string
		choice approval.Choice
		change func(r *approval.Routing)
		want   string // what the receipt says: won, voted, nothing, refused
	}
	for name, tt := range map[string]struct {
		agent  string
		routes []string
		steps  []step
		want   approval.State
	}{
		"TwoPeople":         {"coder", []string{"prod"}, []step{{id: bob, choice: yes, want: "voted"}, {id: cat, choice: yes, want: "won"}}, approval.Allowed},
		"OnePersonTwice":    {"coder", []string{"prod"}, []step{{id: bob, choice: yes, want: "voted"}, {id: bob, choice: yes, want: "nothing"}}, approval.Pending},
		"OnePersonTwoNames": {"bobs", []string{"prod"}, []step{{id: annT, choice: yes, want: "voted"}, {id: annS, choice: yes, want: "nothing"}}, approval.Pending},
		"OwnerAndAnother":   {"coder", []string{"prod"}, []step{{id: annT, choice: yes, want: "voted"}, {id: bob, choice: yes, want: "won"}}, approval.Allowed},
		"OneDenies":         {"coder", []string{"prod"}, []step{{id: bob, choice: yes, want: "voted"}, {id: cat, choice: no, want: "won"}}, approval.Denied},
		"OwnerDenies":       {"coder", []string{"prod"}, []step{{id: annS, choice: no, want: "won"}}, approval.Denied},
		"VoterDenies":       {"coder", []string{"prod"}, []step{{id: bob, choice: yes, want: "voted"}, {id: bob, choice: no, want: "won"}}, approval.Denied},
		"Stranger":          {"coder", []string{"prod"}, []step{{id: "telegram:stranger", choice: no, want: "refused"}, {id: "telegram:99", choice: yes, want: "refused"}}, approval.Pending},
		"NobodysRoute":      {"coder", []string{"gone"}, []step{{id: annT, choice: yes, want: "refused"}, {id: bob, choice: no, want: "refused"}}, approval.Pending},
		// What was asked before routes existed has terms that nobody meets once they exist,
		// and vice versa.
		"AskedBeforeThereWereRoutes": {"coder", []string{"", approval.DefaultRoute}, []step{{id: annT, choice: yes, want: "refused"}, {id: bob, choice: no, want: "refused"}}, approval.Pending},
		"RoutesTakenAway": {"coder", []string{"prod"}, []step{
			{change: func(r *approval.Routing) { r.Routes, r.Rules = nil, nil }},
			{id: annT, choice: yes, want: "refused"},
			{id: bob, choice: yes, want: "refused"},
		}, approval.Pending},
		"WithoutRoutes": {"coder", []string{""}, []step{
			{change: func(r *approval.Routing) { r.Routes, r.Rules = nil, nil }},
			{id: bob, choice: yes, want: "won"},
		}, approval.Allowed},
		"RosterShrinks": {"coder", []string{"prod"}, []step{
			{id: bob, choice: yes, want: "voted"},
			{change: func(r *approval.Routing) { r.Routes[0].Approvers = []string{"ann", "cat"} }},
			{id: cat, choice: yes, want: "voted"},
			{id: annT, choice: yes, want: "won"},
		}, approval.Allowed},
		"RosterGrows": {"coder", []string{"prod"}, []step{
			{id: bob, choice: yes, want: "voted"},
			{change: func(r *approval.Routing) { r.Routes[0].Approvers = append(r.Routes[0].Approvers, "telegram:7") }},
			{id: cat, choice: yes, want: "voted"},
			{id: bob, choice: yes, want: "won"},
		}, approval.Allowed},
		"AnIDChangesHands": {"coder", []string{"prod"}, []step{
			{id: bob, choice: yes, want: "voted"},
			{change: func(r *approval.Routing) { r.Members[1].IDs = []string{"telegram:22"} }},
			{id: cat, choice: yes, want: "voted"},
		}, approval.Pending},
		"QuorumFalls": {"coder", []string{"prod"}, []step{
			{id: annT, choice: yes, want: "voted"},
			{change: func(r *approval.Routing) { r.Routes[0].Quorum, r.Routes[0].Separate = 1, false }},
			{id: annT, choice: yes, want: "won"},
		}, approval.Allowed},
		"OwnerAloneWithQuorumOne": {"coder", []string{"prod"}, []step{
			{change: func(r *approval.Routing) { r.Routes[0].Quorum = 1 }},
			{id: annT, choice: yes, want: "voted"},
			{id: annS, choice: yes, want: "nothing"},
			{id: bob, choice: yes, want: "won"},
		}, approval.Allowed},
		"Escalated":        {"coder", []string{"prod", "leads"}, []step{{id: bob, choice: yes, want: "voted"}, {id: "telegram:99", choice: yes, want: "won"}}, approval.Allowed},
		"EscalatedToThose": {"coder", []string{"prod", "leads"}, []step{{id: annT, choice: yes, want: "voted"}, {id: bob, choice: yes, want: "won"}}, approval.Allowed},
		"InBothRoutes":     {"coder", []string{"prod", "leads"}, []step{{id: cat, choice: yes, want: "won"}}, approval.Allowed},
	} {
		t.Run(name, func(t *testing.T) {
			r, a := team(), open(t, "make a")
			for i, s := range tt.steps {
				if s.change != nil {
					s.change(&r)
					continue
				}
				got := "nothing"
				receipt, err := a.Vote(approval.Tap{Ask: a.ID, Choice: s.choice, By: approval.Person{ID: s.id}, Channel: "web"}, voters(&r, tt.agent, tt.routes...), start, time.Minute)
				switch {
				case errors.Is(err, approval.ErrNotApprover):
					got = "refused"
				case err != nil:
					t.Fatal(err)
				case receipt.Won && receipt.Voted:
					t.Errorf("step %d both decides and waits for others", i+1)
				case receipt.Won:
					got = "won"
				case receipt.Voted:
					got = "voted"
				}
				if got != s.want {
					t.Errorf("step %d: %s, want %s", i+1, got, s.want)
				}
			}
			if p := a.Approvals[0]; p.State != tt.want || (p.Permit != nil) != (tt.want == approval.Allowed) {
				t.Errorf("it is %s with the permit %v, want %s", p.State, p.Permit, tt.want)
			}
		})
	}
}

// TestACardWaitsForThoseWhoseYesIsMissing checks whom a card waits for before and after a
// vote, on one route and on another.
func TestACardWaitsForThoseWhoseYesIsMissing(t *testing.T) {
	r, a := team(), open(t, "make a")
	e := voters(&r, "coder", "prod", "leads")
	waits := func(want map[string]bool) {
		t.Helper()
		card := approval.NewCard(a, "web", approval.NewMasker(approval.Secret{1}))
		for id, awaited := range want {
			if got := card.Awaits(id, e); got != awaited {
				t.Errorf("it waits for %s: %t", id, got)
			}
		}
	}
	waits(map[string]bool{"telegram:1": true, "telegram:2": true, "slack:U3": true, "telegram:99": true, "telegram:stranger": false, "telegram:5": false})
	if _, err := a.Vote(approval.Tap{Ask: a.ID, Choice: approval.ChoiceAllow, By: approval.Person{ID: "telegram:2"}, Channel: "web"}, e, start, time.Minute); err != nil {
		t.Fatal(err)
	}
	waits(map[string]bool{"telegram:1": true, "telegram:2": false, "slack:U3": true, "telegram:99": true, "telegram:stranger": false})
	r.Routes[0].Approvers = []string{"ann", "cat"}
	e = voters(&r, "coder", "prod", "leads")
	waits(map[string]bool{"telegram:1": true, "telegram:2": false, "slack:U3": true})
}

// P7: no sequence of votes by fewer than the required number of different people, who may
// decide at that moment, ever allows; nor does an agent's own person alone if duties are
// separate. Rosters change in between. The test keeps its own count in a simple way.
func TestNoVotesOfTooFewAllow(t *testing.T) {
	ids := []string{"telegram:1", "slack:U1", "telegram:2", "slack:U3", "telegram:4", "telegram:stranger"}
	allowed := 0
	for seed := range uint64(3000) {
		rnd := rand.New(rand.NewPCG(seed, 5))
		draw := func() approval.Routing {
			r := team()
			r.Routes[0].Quorum, r.Routes[0].Separate = 1+rnd.IntN(3), rnd.IntN(2) == 0
			pool := []string{"ann", "bob", "cat", "telegram:4"}
			rnd.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
			r.Routes[0].Approvers = slices.Sorted(slices.Values(pool[:1+rnd.IntN(4)]))
			if rnd.IntN(4) == 0 {
				r.Members[0].IDs = []string{"telegram:1"} // slack:U1 then belongs to nobody
			}
			return r
		}
		r, a := draw(), open(t, "make a")
		yes := map[string]bool{} // the people who allowed since the rules last changed
		for range 12 {
			if rnd.IntN(5) == 0 {
				before := fmt.Sprintf("%+v", r)
				if r = draw(); fmt.Sprintf("%+v", r) != before {
					clear(yes)
					a.Prune(voters(&r, "coder", "prod")) // as a start with other rules does
				}
				continue
			}
			id := ids[rnd.IntN(len(ids))]
			human := id
			for _, m := range r.Members {
				if slices.Contains(m.IDs, id) {
					human = m.Name
				}
			}
			may := slices.Contains(r.Routes[0].Approvers, human) && id != "telegram:stranger"
			was := a.Approvals[0].State
			_, err := a.Vote(approval.Tap{Ask: a.ID, Choice: approval.ChoiceAllow, By: approval.Person{ID: id}, Channel: "web"}, voters(&r, "coder", "prod"), start, time.Minute)
			if may != (err == nil) {
				t.Fatalf("seed %d: %s may vote: %v, got %v", seed, id, may, err)
			}
			if !may || was != approval.Pending {
				continue
			}
			yes[human] = true
			enough := len(yes) >= r.Routes[0].Quorum && (!r.Routes[0].Separate || len(yes) > 1 || !yes["ann"])
			if got := a.Approvals[0].State == approval.Allowed; got && !enough {
				t.Fatalf("seed %d: %v allowed it; %d are wanted, separate %v", seed, yes, r.Routes[0].Quorum, r.Routes[0].Separate)
			} else if got {
				allowed++
			} else if enough {
				t.Fatalf("seed %d: %v are enough and it is %s", seed, yes, a.Approvals[0].State)
			}
		}
	}
	if allowed < 100 {
		t.Errorf("only %d elections allowed anything", allowed)
	}
}

// TestPrune checks that votes that have become worthless are dropped when the rules are
// read again, and that the cards are amended, whatever they are known to show.
func TestPrune(t *testing.T) {
	r, a := team(), open(t, "make a", "make b")
	e := voters(&r, "coder", "prod")
	if _, err := a.Vote(approval.Tap{Ask: a.ID, Choice: approval.ChoiceAllow, By: approval.Person{ID: "telegram:2"}, Channel: "web"}, e, start, time.Minute); err != nil {
		t.Fatal(err)
	}
	if a.View() != "pending+bob@prod,pending+bob@prod" || a.Prune(e) {
		t.Errorf("the votes stand: %s", a.View())
	}
	r.Routes[0].Quorum = 3
	a.Cards = []approval.Shown{{Channel: "chat", Ref: "m1", View: "pending,pending"}} // the vote may be shown all the same
	if !a.Prune(voters(&r, "coder", "prod")) || a.View() != "pending,pending" || !a.Cards[0].Stale(a.View()) {
		t.Errorf("after a change: %s, %+v", a.View(), a.Cards)
	}
}

// TestAVoteIsVoidWhenItsGroundChanges checks that a vote holds only under the conditions in
// which it was given: it is void if the agent gets another owner, or the id another person.
func TestAVoteIsVoidWhenItsGroundChanges(t *testing.T) {
	const bob, cat = "telegram:2", "slack:U3"
	person := func(id string) string {
		r := team()
		return r.Human(id)
	}
	for name, tt := range map[string]struct {
		change func(r *approval.Routing)
		voids  bool
	}{
		"nothing":       {func(*approval.Routing) {}, false},
		"other owner":   {func(r *approval.Routing) { r.Owners = map[string]string{"coder": person(cat)} }, true},
		"no owner":      {func(r *approval.Routing) { r.Owners = nil }, true},
		"id of another": {func(r *approval.Routing) { move(r, bob, person(cat)) }, true},
		"digits asked":  {func(r *approval.Routing) { r.Routes[0].Match = true }, true},
		"id more":       {func(r *approval.Routing) { r.Members[2].IDs = []string{"slack:U3", "telegram:3"} }, true},
		"of no concern": {func(r *approval.Routing) {
			r.Members = append(r.Members, approval.Member{Name: "dan", IDs: []string{"slack:U4"}})
		}, false},
	} {
		r, a := team(), open(t, "make a")
		r.Members, r.Routes = slices.Clone(r.Members), slices.Clone(r.Routes)
		tap := approval.Tap{Ask: a.ID, Choice: approval.ChoiceAllow, By: approval.Person{ID: bob}, Channel: "web"}
		if _, err := a.Vote(tap, voters(&r, "coder", "prod"), start, time.Minute); err != nil || a.View() != "pending+bob@prod" {
			t.Fatalf("%s: %v, %s", name, err, a.View())
		}
		tt.change(&r)
		e := voters(&r, "coder", "prod")
		if a.Prune(e) != tt.voids {
			t.Errorf("%s: the vote is void: %v", name, !tt.voids)
		}
	}
	// The mark of the route is the same here; the person is another.
	r, a := team(), open(t, "make a")
	e := voters(&r, "coder", "prod")
	tap := approval.Tap{Ask: a.ID, Choice: approval.ChoiceAllow, By: approval.Person{ID: bob}, Channel: "web"}
	if _, err := a.Vote(tap, e, start, time.Minute); err != nil {
		t.Fatal(err)
	}
	e.Human = func(string) (string, bool) { return person(cat), true }
	if !a.Prune(e) {
		t.Error("a vote stands though its id is another person's now")
	}
}

// move gives an id to another member.
func move(r *approval.Routing, id, to string) {
	for i := range r.Members {
		m := &r.Members[i]
		m.IDs = slices.DeleteFunc(slices.Clone(m.IDs), func(have string) bool { return have == id })
		if m.Name == to {
			m.IDs = append(m.IDs, id)
		}
	}
}

// TestAnElectorateIsOfItsRoutes checks that the people of one route have no say on another,
// and that an ask on no route goes to the people of a routing without routes.
func TestAnElectorateIsOfItsRoutes(t *testing.T) {
	t.Parallel()
	anybody := func(id string) (string, bool) { return id, true }
	var none approval.Routing
	if e := none.Electorate(nil, "coder", anybody); len(e.Terms) != 1 || !e.Permits("telegram:1") {
		t.Errorf("without routes: %d terms, may decide: %t", len(e.Terms), e.Permits("telegram:1"))
	}
	two := approval.Routing{Routes: []approval.Route{
		{Name: "one", Approvers: []string{"ann"}},
		{Name: "two", Approvers: []string{"bob"}},
	}}
	e := two.Electorate([]approval.Active{{Route: "one"}}, "coder", anybody)
	if len(e.Terms) != 1 || !e.Permits("ann") || e.Permits("bob") {
		t.Errorf("on one route: %d terms, ann %t, bob %t", len(e.Terms), e.Permits("ann"), e.Permits("bob"))
	}
	if e := two.Electorate([]approval.Active{{Route: "one"}, {Route: "two"}}, "coder", anybody); len(e.Terms) != 2 || !e.Permits("bob") {
		t.Errorf("on both routes: %d terms, bob %t", len(e.Terms), e.Permits("bob"))
	}
}

// TestPruneKeepsWhatDecided checks that worthless votes are dropped while the call waits,
// and that a decided call keeps the votes that decided it.
func TestPruneKeepsWhatDecided(t *testing.T) {
	r, a := team(), open(t, "make a", "make b")
	yes := func(i int, id string) {
		t.Helper()
		tap := approval.Tap{Approval: a.Approvals[i].ID, Choice: approval.ChoiceAllow, By: approval.Person{ID: id}, Channel: "web"}
		if _, err := a.Vote(tap, voters(&r, "coder", "prod"), start, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	yes(0, "telegram:2")
	yes(0, "slack:U3")
	yes(1, "telegram:2")
	decided := len(a.Approvals[0].Votes)
	if a.Approvals[0].State != approval.Allowed || decided == 0 || len(a.Approvals[1].Votes) != 1 || a.Prune(voters(&r, "coder", "prod")) {
		t.Fatalf("the votes are %+v", a.Approvals)
	}
	if r.Routes[0].Quorum = 3; !a.Prune(voters(&r, "coder", "prod")) || len(a.Approvals[0].Votes) != decided || len(a.Approvals[1].Votes) != 0 {
		t.Errorf("under other terms the votes are %+v", a.Approvals)
	}
	if a.Prune(voters(&r, "coder", "prod")) {
		t.Error("nothing was pruned, and it says so")
	}
}
