package approval_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
)

// company is who decides at one instant of a random election. The test evaluates it in a
// simple way of its own.
type company struct {
	routing approval.Routing
	// rosters holds the members of the groups; a group that is missing is unknown.
	rosters map[string][]string
	barred  map[string]bool // ids that may decide nothing
}

// companyIDs returns the ids of the election's people. Ann has three, and a group may name
// her by any of them.
func companyIDs() []string {
	return []string{"telegram:1", "slack:U1", "web:1", "telegram:2", "slack:U2", "slack:U3", "slack:U4", "slack:U5"}
}

func drawCompany(rnd *rand.Rand, owner string) *company {
	some := func(all []string, least int) []string {
		all = slices.Clone(all)
		rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		return all[:least+rnd.IntN(len(all)+1-least)]
	}
	c := &company{rosters: map[string][]string{}, barred: map[string]bool{}}
	c.routing.Members = []approval.Member{
		{Name: "ann", IDs: some([]string{"telegram:1", "slack:U1", "web:1"}, 1)},
		{Name: "bob", IDs: some([]string{"telegram:2", "slack:U2"}, 1)},
	}
	c.routing.Owners = map[string]string{"*": owner}
	for _, name := range []string{"first", "second"} {
		c.routing.Routes = append(c.routing.Routes, approval.Route{
			Name: name, Quorum: 1 + rnd.IntN(3), Separate: rnd.IntN(3) == 0,
			Approvers: some([]string{"ann", "bob", "slack:U1", "slack:U3"}, 0), Groups: some([]string{"slack:S1", "slack:S2"}, 0),
		})
	}
	for _, group := range []string{"slack:S1", "slack:S2"} {
		if rnd.IntN(6) > 0 {
			c.rosters[group] = some([]string{"slack:U1", "slack:U2", "slack:U3", "slack:U4", "slack:U5"}, 0)
		}
	}
	if rnd.IntN(4) == 0 {
		c.barred[companyIDs()[rnd.IntN(len(companyIDs()))]] = true
	}
	c.routing.Roster = func(group string) ([]string, bool) {
		ids, known := c.rosters[group]
		return ids, known
	}
	return c
}

// change redraws a part of the company, most often who is in a group.
func (c *company) change(rnd *rand.Rand, owner string) {
	other := drawCompany(rnd, owner)
	switch rnd.IntN(5) {
	case 0:
		c.routing.Members = other.routing.Members
	case 1:
		c.routing.Routes[rnd.IntN(2)] = other.routing.Routes[rnd.IntN(2)]
		c.routing.Routes[0].Name, c.routing.Routes[1].Name = "first", "second"
	case 2:
		c.barred = other.barred
	default:
		maps.DeleteFunc(c.rosters, func(string, []string) bool { return true })
		maps.Copy(c.rosters, other.rosters)
	}
}

func (c *company) who(id string) string {
	for _, m := range c.routing.Members {
		if slices.Contains(m.IDs, id) {
			return m.Name
		}
	}
	return id
}

// may returns the people who may decide on a route.
func (c *company) may(to *approval.Route) map[string]bool {
	people := map[string]bool{}
	for _, name := range to.Approvers {
		people[c.who(name)] = true
	}
	for _, group := range to.Groups {
		for _, id := range c.rosters[group] {
			people[c.who(id)] = true
		}
	}
	return people
}

// rules returns everything about a route that determines what a yes is worth.
func (c *company) rules(to *approval.Route) string {
	var b strings.Builder
	people := slices.Sorted(maps.Keys(c.may(to)))
	fmt.Fprintln(&b, to.Quorum, to.Separate, people)
	for _, m := range c.routing.Members {
		if slices.Contains(people, m.Name) {
			fmt.Fprintln(&b, m.Name, slices.Sorted(slices.Values(m.IDs)))
		}
	}
	return b.String()
}

// said is a yes as the test remembers it.
type said struct{ id, human, route, rules string }

// enough reports whether the votes suffice to allow on one of the routes now.
func (c *company) enough(all []said, routes []string, owner string) bool {
	for i := range c.routing.Routes {
		to := &c.routing.Routes[i]
		if !slices.Contains(routes, to.Name) {
			continue
		}
		people, rules, may := map[string]bool{}, c.rules(to), c.may(to)
		for _, v := range all {
			if v.route == to.Name && v.rules == rules && may[v.human] && c.who(v.id) == v.human && !c.barred[v.id] {
				people[v.human] = true
			}
		}
		if len(people) >= to.Quorum && (!to.Separate || len(people) > 1 || len(people) == 1 && !people[owner]) {
			return true
		}
	}
	return false
}

// P7 with groups: no sequence of answers by fewer than the required number of different
// people, who may decide at that moment, ever allows. Between answers, rosters change and
// become unknown, ids move between people, routes change, and the ask escalates to a second
// route. Nothing is pruned: each answer must count correctly by itself.
func TestNoVotesOfTooFewInGroupsAllow(t *testing.T) {
	const owner = "ann"
	allowed, changedBack := 0, 0
	for seed := range uint64(6000) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		c, a := drawCompany(rnd, owner), open(t, "make a")
		routes := []string{"first"}
		var all []said
		for range 16 {
			switch rnd.IntN(6) {
			case 0:
				c.change(rnd, owner)
				continue
			case 1:
				routes = []string{"first", "second"}
			}
			id := companyIDs()[rnd.IntN(len(companyIDs()))]
			human := c.who(id)
			e := approval.Electorate{Human: func(id string) (string, bool) { return c.who(id), !c.barred[id] }}
			var under []said
			for i := range c.routing.Routes {
				to := &c.routing.Routes[i]
				if !slices.Contains(routes, to.Name) {
					continue
				}
				e.Terms = append(e.Terms, c.routing.Terms(to.Name, "coder"))
				if c.may(to)[human] && !c.barred[id] {
					under = append(under, said{id, human, to.Name, c.rules(to)})
				}
			}
			tap := approval.Tap{Ask: a.ID, Choice: approval.ChoiceAllow, By: approval.Person{ID: id}, Channel: "web"}
			_, err := a.Vote(tap, e, start, time.Minute)
			if (err == nil) != (len(under) > 0) {
				t.Fatalf("seed %d: %s may answer: %v; got %v", seed, id, len(under) > 0, err)
			}
			all = append(all, under...)
			enough := c.enough(all, routes, owner)
			switch state := a.Approvals[0].State; {
			case state == approval.Allowed && !enough:
				t.Fatalf("seed %d: %s allowed, and what was said is %+v; the routes are %+v, the groups %v", seed, id, all, c.routing.Routes, c.rosters)
			case state == approval.Allowed:
				allowed++
			case state == approval.Pending && enough:
				changedBack++ // What was void in between stays void.
			}
			if a.Approvals[0].State != approval.Pending {
				break
			}
		}
	}
	if allowed < 1000 || changedBack > allowed/5 {
		t.Errorf("%d elections allowed, and %d had enough without", allowed, changedBack)
	}
}
