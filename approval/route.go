package approval

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Routing says who may decide what, and where they are asked. It comes from the
// configuration alone; the agent chooses none of it. The zero value has one route, to
// everybody who may decide at all, on every channel.
type Routing struct {
	// Members are the people that routes name. One person's ids on several platforms count
	// as one person.
	Members []Member
	// Owners maps an agent to the member whose agent it is. "*" stands for every agent not
	// named.
	Owners map[string]string
	Routes []Route
	// Rules choose the route; the first one that fits wins. The last one has no conditions,
	// so that every call has a route.
	Rules []Rule
	// Roster returns the qualified ids of the current members of a group. known is false if
	// that cannot be told; then nobody decides by the group. Nil knows no groups.
	Roster func(group string) (ids []string, known bool)
	// OwnRoute returns an agent's own route, which replaces that of the last rule; "" means
	// none. Nil knows none.
	OwnRoute func(agent string) string
}

// Member is one person.
type Member struct {
	// Name is the person's name in routes. It has no colon, so that it is never mistaken
	// for an id.
	Name string
	// IDs are stable and channel-qualified, such as "telegram:4711".
	IDs []string
}

// Anyone stands, among a route's approvers, for everybody who may decide at all.
const Anyone = "anyone"

// anyAgent stands for the agents that Owners does not name.
const anyAgent = "*"

// Route is where an ask goes, and what it takes to allow it. One person who may
// decide is enough to deny.
type Route struct {
	Name string
	// Channels are where the ask is shown; empty means every channel that [IsPlain].
	Channels []string
	// Approvers are names of members, ids of people who are not members, or [Anyone].
	Approvers []string
	// Groups are the ids of groups whose members may each decide, such as
	// "slack:S0123456789".
	Groups []string
	// Quorum is how many different people must allow; 0 means 1.
	Quorum int
	// Separate says that the person whose agent asks cannot allow alone.
	Separate bool
	// Match says that allowing on a chat requires the two digits that the inbox shows.
	Match bool
	// Deadline is how long the ask waits; 0 leaves it to the configuration.
	Deadline time.Duration
	// EscalateAfter is how long after its opening an ask that still waits also goes to the
	// people of the route EscalateTo; 0 means never. From then on the people of either
	// route may allow it, by the rules of their own route.
	EscalateAfter time.Duration
	EscalateTo    string
}

func (r *Route) active() Active { return Active{Route: r.Name, Quorum: max(r.Quorum, 1)} }

// Rule sends whatever fits all of its conditions to a route. An empty condition fits
// everything.
type Rule struct {
	Agents, Executors, Effects, Reaches []string
	Route                               string
}

// Case is what rules look at.
type Case struct {
	Agent, Executor string
	// Effects and Reaches are what the call would do and how far that reaches, as far as
	// known. A condition fits if it names one of them.
	Effects, Reaches []string
}

// DefaultRoute is the name of the route that a zero [Routing] has.
const DefaultRoute = "default"

func openRoute() Route { return Route{Name: DefaultRoute, Approvers: []string{Anyone}} }

func (r *Rule) fits(c Case) bool {
	one := func(want []string, have ...string) bool {
		return len(want) == 0 || slices.ContainsFunc(have, func(h string) bool { return slices.Contains(want, h) })
	}
	return one(r.Agents, c.Agent) && one(r.Executors, c.Executor) && one(r.Effects, c.Effects...) && one(r.Reaches, c.Reaches...)
}

// Knows reports whether the routing names the id, as a member's or as an approver's.
func (r *Routing) Knows(id string) bool {
	return r.Human(id) != id ||
		slices.ContainsFunc(r.Routes, func(to Route) bool { return qualified(id) && slices.Contains(to.Approvers, id) })
}

// Route returns the route with the name.
func (r *Routing) Route(name string) (Route, bool) {
	if to := r.route(name); to != nil {
		return *to, true
	}
	return Route{}, false
}

func (r *Routing) route(name string) *Route {
	for i := range r.Routes {
		if r.Routes[i].Name == name {
			return &r.Routes[i]
		}
	}
	return nil
}

// Human returns who is behind an id: the member who has it, or the id itself.
func (r *Routing) Human(id string) string {
	for i := range r.Members {
		if slices.Contains(r.Members[i].IDs, id) {
			return r.Members[i].Name
		}
	}
	return id
}

// RoutingError says what is wrong with a routing.
type RoutingError struct {
	// What is the route, rule or member, and Problem the mistake.
	What, Problem string
	// Place is its position as a JSON pointer, such as "/routes/1".
	Place string
}

func (e *RoutingError) Error() string { return e.What + " " + e.Problem }

// Check returns an error if the routing cannot work: a name stands for nothing, or nobody
// can satisfy a route. channels are those that exist. The error joins a [*RoutingError] for
// every member, agent, route and rule that is wrong.
func (r *Routing) Check(channels []string) error {
	all := r.checkMembers()
	seen := make(map[string]bool, len(r.Routes))
	for i := range r.Routes {
		to := &r.Routes[i]
		place := fmt.Sprintf("/routes/%d", i)
		if to.Name == "" || seen[to.Name] {
			all = append(all, &RoutingError{fmt.Sprintf("route %d", i+1), fmt.Sprintf("is named %q, which must be set and used once", to.Name), place})
			continue
		}
		seen[to.Name] = true
		if err := r.checkRoute(to, place, channels); err != nil {
			all = append(all, err)
		}
	}
	return errors.Join(append(all, r.checkRules()...)...)
}

func (r *Routing) checkMembers() (all []error) {
	names, ids := make(map[string]bool), make(map[string]string)
	for i := range r.Members {
		m := &r.Members[i]
		if problem := m.problem(names, ids); problem != "" {
			all = append(all, &RoutingError{fmt.Sprintf("member %q", m.Name), problem, "/members/" + m.Name})
		}
		names[m.Name] = true
	}
	for _, agent := range slices.Sorted(maps.Keys(r.Owners)) {
		if owner := r.Owners[agent]; !names[owner] {
			all = append(all, &RoutingError{fmt.Sprintf("agent %q", agent), fmt.Sprintf("belongs to %q, who is not a member", owner), "/agents/" + agent})
		}
	}
	return all
}

// problem says what is wrong with a member, given the names and ids of the members before
// it, and adds its own to them.
func (m *Member) problem(names map[string]bool, ids map[string]string) string {
	switch {
	case m.Name == "" || m.Name == Anyone || strings.Contains(m.Name, ":") || names[m.Name]:
		return fmt.Sprintf("must have a name of its own, without a colon, that is not %q", Anyone)
	case len(m.IDs) == 0:
		return `has no id, such as "telegram:4711"`
	}
	for _, id := range m.IDs {
		if !qualified(id) {
			return fmt.Sprintf(`has the id %q, which is none such as "telegram:4711"`, id)
		}
		if other, taken := ids[id]; taken {
			return fmt.Sprintf("has the id %q of %q: an id is one person's", id, other)
		}
		ids[id] = m.Name
	}
	return ""
}

// Platform returns the platform of a channel: "slack" for the channels "slack" and
// "slack:C0123456789". The ids of people and groups start with it, too.
func Platform(channel string) string {
	platform, _, _ := strings.Cut(channel, ":")
	return platform
}

// IsPlain reports whether the channel is its platform's default one, such as "slack". Asks
// on routes that name no channels are shown on these.
func IsPlain(channel string) bool { return Platform(channel) == channel }

// plain returns the plain channels among the given ones.
func plain(channels []string) []string {
	return slices.DeleteFunc(slices.Clone(channels), func(c string) bool { return !IsPlain(c) })
}

// qualified reports whether an id names its channel.
func qualified(id string) bool {
	channel, own, ok := strings.Cut(id, ":")
	return ok && channel != "" && own != "" && strings.TrimSpace(id) == id
}

func (r *Routing) checkRoute(to *Route, place string, channels []string) error {
	bad := func(format string, args ...any) error {
		return &RoutingError{fmt.Sprintf("route %q", to.Name), fmt.Sprintf(format, args...), place}
	}
	for i, c := range to.Channels {
		switch {
		case !slices.Contains(channels, c):
			return bad("goes to the channel %q; known: %s", c, strings.Join(plain(channels), ", "))
		case slices.Contains(to.Channels[:i], c):
			return bad("goes to the channel %q twice", c)
		}
	}
	people, err := r.people(to.Approvers)
	if err != nil {
		return bad("%v", err)
	}
	for _, group := range to.Groups {
		if !qualified(group) || !r.reachable(group, channels) {
			return bad("names the group %q, which is on none of the channels: %s", group, strings.Join(plain(channels), ", "))
		}
	}
	for human := range people {
		if !r.reachable(human, channels) {
			return bad("names the approver %q, who is on none of the channels: %s", human, strings.Join(plain(channels), ", "))
		}
	}
	for _, check := range []func(*Route, map[string]bool, func(string, ...any) error) error{
		r.checkQuorum, r.checkSeparation, r.checkTimes,
	} {
		if err := check(to, people, bad); err != nil {
			return err
		}
	}
	return nil
}

func (r *Routing) checkQuorum(to *Route, people map[string]bool, bad func(string, ...any) error) error {
	switch {
	case len(people)+len(to.Groups) == 0:
		return bad("has no approvers, so nobody could ever allow anything")
	case to.Quorum < 0:
		return bad("has the quorum %d; it is how many people must allow", to.Quorum)
	case people[Anyone] && (to.Quorum > 1 || to.Separate):
		return bad("counts people, so it must name them: %q may be one person twice", Anyone)
	case to.Quorum > len(people) && len(to.Groups) == 0: // who is in a group is not known yet
		return bad("wants %d people to allow and names %d", to.Quorum, len(people))
	}
	return nil
}

// reachable reports whether a person has an id on the platform of one of the channels.
func (r *Routing) reachable(human string, channels []string) bool {
	ids := []string{human}
	for i := range r.Members {
		if r.Members[i].Name == human {
			ids = r.Members[i].IDs
		}
	}
	return human == Anyone || slices.ContainsFunc(ids, func(id string) bool {
		return slices.ContainsFunc(channels, func(c string) bool { return Platform(c) == Platform(id) })
	})
}

// people returns the people that approvers stands for, each once, and [Anyone].
func (r *Routing) people(approvers []string) (map[string]bool, error) {
	people := make(map[string]bool, len(approvers))
	for _, name := range approvers {
		switch {
		case name == Anyone, slices.ContainsFunc(r.Members, func(m Member) bool { return m.Name == name }):
			people[name] = true
		case qualified(name):
			people[r.Human(name)] = true
		default:
			return nil, fmt.Errorf("names the approver %q, who is not a member", name)
		}
	}
	return people, nil
}

func (r *Routing) checkSeparation(to *Route, people map[string]bool, bad func(string, ...any) error) error {
	if !to.Separate {
		return nil
	}
	if r.Owners[anyAgent] == "" {
		return bad("separates duties, so it must be known whose agent asks: name an owner for %q", anyAgent)
	}
	for agent, owner := range r.Owners {
		if len(people) == 1 && people[owner] && len(to.Groups) == 0 {
			return bad("separates duties, and %q, whose agent %q asks, is its only approver: name another one, or let a single owner decide and say so", owner, agent)
		}
	}
	return nil
}

func (r *Routing) checkTimes(to *Route, _ map[string]bool, bad func(string, ...any) error) error {
	switch {
	case to.Deadline < 0:
		return bad("has a deadline in the past")
	case to.EscalateAfter == 0 && to.EscalateTo == "":
		return nil
	case to.EscalateAfter <= 0:
		return bad("escalates after %s, which must be some time after the opening", to.EscalateAfter)
	case to.Deadline > 0 && to.EscalateAfter >= to.Deadline:
		return bad("escalates after %s, when its deadline of %s is over", to.EscalateAfter, to.Deadline)
	case to.EscalateTo == to.Name || r.route(to.EscalateTo) == nil:
		return bad("escalates to %q, which is not another route", to.EscalateTo)
	}
	return nil
}

func (r *Routing) checkRules() (all []error) {
	for i := range r.Rules {
		rule := &r.Rules[i]
		bad := func(problem string) {
			all = append(all, &RoutingError{fmt.Sprintf("rule %d", i+1), problem, fmt.Sprintf("/rules/%d", i)})
		}
		if r.route(rule.Route) == nil {
			bad(fmt.Sprintf("sends to %q, which is not a route", rule.Route))
		}
		last := i == len(r.Rules)-1
		switch free := len(rule.Agents)+len(rule.Executors)+len(rule.Effects)+len(rule.Reaches) == 0; {
		case free && !last:
			bad("has no conditions, so those behind it would never be asked")
		case last && !free:
			bad("is the last one and has conditions: what fits none would have no route")
		}
	}
	if len(r.Routes) > 0 && len(r.Rules) == 0 {
		all = append(all, &RoutingError{"the routes", "have no rules that choose between them", "/routes"})
	}
	return all
}

// RoutedTo returns the first route that the ask was sent to, or "" if there are no routes.
func (a *Ask) RoutedTo() string {
	if len(a.Routes) == 0 {
		return ""
	}
	return a.Routes[0].Route
}

// WentTo reports whether the ask was sent to the route; "" is the one that there is without routes.
func (a *Ask) WentTo(route string) bool {
	return route == a.RoutedTo() || slices.ContainsFunc(a.Routes, func(on Active) bool { return on.Route == route })
}
