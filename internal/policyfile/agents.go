package policyfile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/nearest"
)

// everyAgent stands for all agents that are not named, in the list of agents' owners.
const everyAgent = "*"

// AgentNames returns the agents that the policy names.
func (p *Policy) AgentNames() []string {
	named := slices.Collect(maps.Keys(p.Routing.Owners))
	for i := range p.Routing.Rules {
		named = append(named, p.Routing.Rules[i].Agents...)
	}
	named = slices.DeleteFunc(named, func(name string) bool { return name == everyAgent })
	slices.Sort(named)
	return slices.Compact(named)
}

// CheckAgents rejects names that no agent has: a rule for such a name would never match, and the
// calls that it was meant for would go to other people. routes are the agents' own routes by name;
// a route that does not exist is an error, too.
func (p *Policy) CheckAgents(known []string, routes map[string]string) error {
	found := mistakes{name: p.Path, text: p.text}
	var all []error
	check := func(what, place, name string) {
		if name == everyAgent || slices.Contains(known, name) {
			return
		}
		hint := "add it with 'vaglio agent add'"
		if near := nearest.Slip(name, known); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		all = append(all, &approval.RoutingError{What: what, Problem: fmt.Sprintf("names the agent %q, which does not exist; %s", name, hint), Place: place})
	}
	for _, name := range slices.Sorted(maps.Keys(p.Routing.Owners)) {
		check("agents", "/agents/"+name, name)
	}
	for i := range p.Routing.Rules {
		for at, name := range p.Routing.Rules[i].Agents {
			check(fmt.Sprintf("rule %d", i+1), fmt.Sprintf("/rules/%d/agents/%d", i, at), name)
		}
	}
	for _, agent := range slices.Sorted(maps.Keys(routes)) {
		if err := p.CheckAgentRoute(routes[agent]); err != nil {
			all = append(all, &approval.RoutingError{
				What: fmt.Sprintf("agent %q", agent), Problem: err.Error() + "; 'vaglio agent remove' and 'add' give it another", Place: "/routes",
			})
		}
	}
	found.routing(errors.Join(all...))
	return found.err()
}

// CheckAgentRoute returns an error if an agent cannot have the route; "" means no route.
func (p *Policy) CheckAgentRoute(route string) error {
	if _, ok := p.Routing.Route(route); ok || route == "" {
		return nil
	}
	if len(p.Routing.Routes) == 0 {
		return fmt.Errorf("has the route %q, and the policy has no routes", route)
	}
	names := make([]string, len(p.Routing.Routes))
	for i := range p.Routing.Routes {
		names[i] = p.Routing.Routes[i].Name
	}
	return fmt.Errorf("has the route %q; known: %s", route, strings.Join(names, ", "))
}
