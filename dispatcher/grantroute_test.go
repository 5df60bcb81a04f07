package dispatcher_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/store/storetest"
	"github.com/metnos/vaglio/vaglio"
)

// P7: a grant is used only where those who gave it could give it: for a call that would be asked on
// its route, by the rules that hold now.
func TestAGrantIsWorthWhatItsGiversMayDecide(t *testing.T) {
	const eve, mary, maxim = "fake:eve", "fake:mary", "fake:max"
	member := func(name string) approval.Member { return approval.Member{Name: name, IDs: []string{"fake:" + name}} }
	routing := func(rules []approval.Rule, routes ...approval.Route) approval.Routing {
		r := approval.Routing{
			Members: []approval.Member{member("eve"), member("mary"), member("max")},
			Owners:  map[string]string{"*": "max"},
			Routes:  routes, Rules: rules,
		}
		if err := r.Check([]string{"fake"}); err != nil {
			t.Fatal(err)
		}
		return r
	}
	all := []approval.Rule{{Route: "low"}}
	low := func(quorum int, people ...string) approval.Route {
		return approval.Route{Name: "low", Approvers: people, Quorum: quorum}
	}
	high := approval.Route{Name: "high", Approvers: []string{"mary"}}
	byEve := routing(all, low(1, "eve"), high)
	byTwo := routing(all, low(2, "eve", "mary"), high)
	terminal := push("main")
	terminal.Executor = "terminal"
	for name, tc := range map[string]struct {
		before, after approval.Routing
		call          vaglio.Proposal
		covered       bool
	}{
		"nothing changed":         {byEve, byEve, push("main"), true},
		"nothing changed for two": {byTwo, byTwo, push("main"), true},
		"one is enough now":       {byTwo, routing(all, low(1, "mary", "eve"), high), push("main"), true},
		"somebody joins":          {byEve, routing(all, low(1, "eve", "max"), high), push("main"), true},
		"it had no routes":        {approval.Routing{}, byEve, push("main"), false},
		"its giver decides other": {byEve, routing(all, low(1, "mary"), approval.Route{Name: "else", Approvers: []string{"eve"}}), push("main"), false},
		"its giver is gone":       {byEve, routing(all, low(1, "mary"), high), push("main"), false},
		"two must allow now":      {byEve, routing(all, low(2, "eve", "mary"), high), push("main"), false},
		"one of two was replaced": {byTwo, routing(all, low(2, "eve", "max"), high), push("main"), false},
		"the last one of two left": {
			byTwo, routing(all, low(2, "max", "eve"), approval.Route{Name: "else", Approvers: []string{"mary"}}), push("main"), false,
		},
		"not by its owner alone": {
			routing(all, low(1, "max")), routing(all, approval.Route{Name: "low", Approvers: []string{"max", "eve"}, Separate: true}), push("main"), false,
		},
		"it goes elsewhere now": {byEve, routing([]approval.Rule{{Route: "high"}}, low(1, "eve"), high), push("main"), false},
		"another tool goes elsewhere": {
			routing([]approval.Rule{{Executors: []string{"terminal"}, Route: "high"}, {Route: "low"}}, low(1, "eve"), high),
			routing([]approval.Rule{{Executors: []string{"terminal"}, Route: "high"}, {Route: "low"}}, low(1, "eve"), high), terminal, false,
		},
		"another tool goes there, too": {byEve, byEve, terminal, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, channel := storetest.NewMemory(), newFakeChannel()
				g := understandingRouted(t, store, channel, tc.before)
				a := g.propose(t, push("main"), 0)
				for _, id := range []string{owner.ID, eve, maxim, mary} {
					_, _ = g.Decide(t.Context(), approval.Tap{Ask: a.Approval.ID.Ask(), Approval: a.Approval.ID, Choice: approval.ChoiceHour, By: approval.Person{ID: id}, Channel: "fake"})
				}
				first, err := g.Await(t.Context(), agent, a.Approval.ID, 0)
				if err != nil || first.Permit == nil {
					t.Fatalf("granting: %+v %v", first, err)
				}
				if err := g.Redeem(t.Context(), agent, first.Permit.Permit, push("main")); err != nil {
					t.Fatal(err)
				}
				g.end()
				g = understandingRouted(t, store, channel, tc.after)
				synctest.Wait()
				b := g.propose(t, tc.call, 0)
				if covered := b.Decision == approval.RulingAllow; covered != tc.covered || !covered && b.Decision != approval.RulingPending {
					t.Errorf("got %s %+v", b.Decision, b.Refusal)
				}
				g.end()
			})
		})
	}
}

// P7: nobody turns a call that they may decide into one that is for others.
func TestAnEditStaysOnItsRoute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		routing := approval.Routing{
			Members: []approval.Member{{Name: "eve", IDs: []string{"fake:eve"}}, {Name: "mary", IDs: []string{"fake:mary"}}},
			Routes:  []approval.Route{{Name: "low", Approvers: []string{"eve"}}, {Name: "high", Approvers: []string{"mary"}}},
			Rules:   []approval.Rule{{Effects: []string{"publish"}, Route: "high"}, {Route: "low"}},
		}
		g := understandingRouted(t, storetest.NewMemory(), newFakeChannel(), routing)
		a := g.propose(t, push("main"), 0)
		for _, line := range []string{"git push origin release", "git push origin main # release"} {
			e := edit(a.Approval.ID, line)
			e.By = approval.Person{ID: "fake:eve"}
			for _, seen := range []approval.Fingerprint{"", "x"} {
				e.Seen = seen
				_, err := g.Edit(t.Context(), e)
				if no, ok := errors.AsType[*approval.OrderError](err); !ok || no.Key != approval.OrderElsewhere {
					t.Errorf("%s, seen %q: %v", line, seen, err)
				}
			}
		}
		e := edit(a.Approval.ID, "git push origin dev")
		e.By = approval.Person{ID: "fake:eve"}
		shown, err := g.Edit(t.Context(), e)
		e.Seen = shown.Print
		if done, again := g.Edit(t.Context(), e); err != nil || again != nil || !done.Done {
			t.Errorf("an edit on its own route: %v %v", err, again)
		}
		passes := g.propose(t, shell("git push --force origin old"), 0)
		e = edit(passes.Approval.ID, "git status release")
		e.By = approval.Person{ID: "fake:eve"}
		if shown, err := g.Edit(t.Context(), e); err != nil || !shown.Passes {
			t.Errorf("what needs nobody: %+v %v", shown, err)
		}
		g.end()
	})
}

// P6: what a person denied stands over a restart, however long the call had waited, and whatever
// the configuration says of deadlines since.
func TestADenialOutlivesAShorterDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		routing := func(deadline time.Duration) approval.Routing {
			return approval.Routing{Routes: []approval.Route{{Name: "all", Approvers: []string{approval.Anyone}, Deadline: deadline}}, Rules: []approval.Rule{{Route: "all"}}}
		}
		store, channel := storetest.NewMemory(), newFakeChannel()
		g := understandingRouted(t, store, channel, routing(24*time.Hour))
		a := g.propose(t, push("main"), 0)
		time.Sleep(20 * time.Hour)
		g.decide(t, a.Approval.ID, approval.ChoiceDeny, "no")
		g.end()
		g = understandingRouted(t, store, channel, routing(0))
		synctest.Wait()
		if b := g.propose(t, shell("git push origin HEAD:main"), 0); b.Decision != approval.RulingDeny {
			t.Errorf("got %s %+v", b.Decision, b.Refusal)
		}
		g.end()
	})
}
