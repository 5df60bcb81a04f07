package policyfile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/slack"
	"github.com/metnos/vaglio/channels/telegram"
	"github.com/metnos/vaglio/channels/web"
	"github.com/metnos/vaglio/vaglio/operation"
)

// routingFile is the part of the policy file that says who may decide.
type routingFile struct {
	// Members are the people, each under the name that routes use, with their ids on the channels.
	Members map[string][]string `yaml:"members"`
	// Agents says which member owns each agent; "*" stands for every other agent.
	Agents map[string]string `yaml:"agents"`
	// Routes are the ways of asking: which people, on which channels.
	Routes []routeFile `yaml:"routes"`
	// Rules send calls to routes. The first rule that matches counts, and the last must have no
	// conditions.
	Rules []ruleFile `yaml:"rules"`
}

// routeFile is one route.
type routeFile struct {
	// Name is what rules and agents call the route.
	Name string `yaml:"name"`
	// Channels are the channels that show the ask: web, telegram, slack, or the id of a Slack
	// channel; left out, all that are configured.
	Channels []string `yaml:"channels"`
	// Approvers are members, ids such as "telegram:4711", Slack user groups, or anyone, which
	// means everybody who may decide at all.
	Approvers []string `yaml:"approvers"`
	// Quorum is how many different people must allow; left out, 1.
	Quorum int `yaml:"quorum"`
	// Separate means that nobody can allow a call of their own agent alone.
	Separate bool `yaml:"separate"`
	// Match means that allowing takes the two digits that the other side, the inbox or a chat,
	// shows.
	Match bool `yaml:"match"`
	// Deadline is how long the ask waits, from 1m to 24h; left out, METNOS_APPROVAL_DEADLINE.
	Deadline string `yaml:"deadline"`
	// Escalate says when the ask goes to more people, and to whom.
	Escalate *escalateFile `yaml:"escalate"`
}

// escalateFile says when an ask goes to further people, and to whom.
type escalateFile struct {
	// After is how long the first approvers have before that, from 1m to 24h.
	After string `yaml:"after"`
	// To is the route whose approvers may then answer as well.
	To string `yaml:"to"`
}

// ruleFile sends calls to a route.
type ruleFile struct {
	// Agents are names of agents; left out, every agent.
	Agents []string `yaml:"agents"`
	// Executors are names of tools; left out, every tool.
	Executors []string `yaml:"executors"`
	// Effects are kinds of effects, such as delete or publish; the call must have one of them.
	// Left out, any call matches.
	Effects []string `yaml:"effects"`
	// Reaches are how far its effects may go to match: workspace, user, system, shared or public;
	// left out, any reach matches.
	Reaches []string `yaml:"reaches"`
	// Route is the route that the call takes.
	Route string `yaml:"route"`
}

// routing returns what the file says. It checks everything except which channels are on. For a nil
// file, everybody who may decide decides alone. The error joins all mistakes.
func (f *routingFile) routing() (approval.Routing, error) {
	var r approval.Routing
	if f == nil {
		return r, nil
	}
	for _, name := range slices.Sorted(maps.Keys(f.Members)) {
		r.Members = append(r.Members, approval.Member{Name: name, IDs: f.Members[name]})
	}
	r.Owners = f.Agents
	var all []error
	for i := range f.Routes {
		to, err := f.Routes[i].route(fmt.Sprintf("/routes/%d", i))
		r.Routes, all = append(r.Routes, to), append(all, err)
	}
	for i := range f.Rules {
		rule := &f.Rules[i]
		r.Rules, all = append(r.Rules, approval.Rule{
			Agents: rule.Agents, Executors: rule.Executors, Effects: rule.Effects, Reaches: rule.Reaches, Route: rule.Route,
		}), append(all, rule.check(i))
	}
	if len(r.Routes) == 0 {
		all = append(all, &approval.RoutingError{What: "approval.routes", Problem: "are none; leave approval out to let everybody who may decide decide alone"})
		return r, errors.Join(all...)
	}
	all = append(all, checkSlackChannels(&r))
	channels := append([]string{telegram.Name, slack.Name, web.Name}, slackChannels(&r)...)
	return r, errors.Join(append(all, r.Check(channels))...)
}

// Chats are the chats that the configuration turns on.
type Chats struct {
	Telegram, Slack bool
	// SlackChannel is the ID of the app's own channel.
	SlackChannel string
}

// None reports whether no chat is on.
func (c Chats) None() bool { return !c.Telegram && !c.Slack }

// channels returns the channels that are on; the inbox always is.
func (c Chats) channels(r *approval.Routing) []string {
	on := []string{web.Name}
	if c.Telegram {
		on = append(on, telegram.Name)
	}
	if c.Slack {
		on = append(on, slack.Name)
		on = append(on, slackChannels(r)...)
	}
	return on
}

// CheckChannels returns what keeps the routing from working with the chats that are on.
func (p *Policy) CheckChannels(c Chats) error {
	if c.Slack {
		ownSlackChannel(&p.Routing, c.SlackChannel)
	}
	found := mistakes{name: p.Path, text: p.text}
	found.routing(p.Routing.Check(c.channels(&p.Routing)))
	return found.err()
}

// route returns a route of the file; place is its position.
func (f *routeFile) route(place string) (approval.Route, error) {
	to := approval.Route{Name: f.Name, Channels: f.Channels, Quorum: f.Quorum, Separate: f.Separate, Match: f.Match}
	for _, id := range f.Approvers {
		if slack.IsGroup(id) {
			to.Groups = append(to.Groups, id)
		} else {
			to.Approvers = append(to.Approvers, id)
		}
	}
	var late, early, blind error
	if f.Match && len(f.Channels) > 0 && !slices.Contains(f.Channels, web.Name) {
		blind = &approval.RoutingError{
			What: fmt.Sprintf("route %q", f.Name), Problem: fmt.Sprintf("asks for digits that stand in the inbox, and does not go there: add %q to its channels", web.Name),
			Place: place + "/match",
		}
	}
	if f.Deadline != "" {
		to.Deadline, late = f.span(place, "deadline", f.Deadline)
	}
	if f.Escalate != nil {
		to.EscalateAfter, early = f.span(place, "escalate.after", f.Escalate.After)
	}
	if f.Escalate != nil && early == nil {
		to.EscalateTo = f.Escalate.To
	}
	return to, errors.Join(late, early, blind)
}

// span parses a duration between a minute and a day, the range of METNOS_APPROVAL_DEADLINE.
func (f *routeFile) span(place, field, value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil || d < time.Minute || d > 24*time.Hour {
		return 0, &approval.RoutingError{
			What: fmt.Sprintf("route %q", f.Name), Problem: fmt.Sprintf("has the %s %q, which is not a time between 1m and 24h", field, value),
			Place: place + "/" + strings.ReplaceAll(field, ".", "/"),
		}
	}
	return d, nil
}

// check rejects effects and reaches that do not exist: a rule with a typo would never match, and the
// calls that it was meant for would go to other people.
func (f *ruleFile) check(i int) error {
	var all []error
	for _, c := range []struct {
		what, field string
		names, have []string
	}{{"effect", "effects", f.Effects, effectKinds()}, {"reach", "reaches", f.Reaches, reachKinds()}} {
		for at, name := range c.names {
			if !slices.Contains(c.have, name) {
				all = append(all, &approval.RoutingError{
					What:    fmt.Sprintf("rule %d", i+1),
					Problem: fmt.Sprintf("asks for the %s %q; known: %s", c.what, name, strings.Join(c.have, ", ")),
					Place:   fmt.Sprintf("/rules/%d/%s/%d", i, c.field, at),
				})
			}
		}
	}
	return errors.Join(all...)
}

// effectKinds returns the effects that the effects judge distinguishes.
func effectKinds() []string {
	return texts(operation.Kinds()...)
}

// reachKinds returns the possible reaches of an effect.
func reachKinds() []string {
	return texts(operation.Reaches()...)
}

func texts[T ~string](names ...T) []string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = string(n)
	}
	return all
}

// TelegramIDs returns the user IDs of those who decide on Telegram.
func TelegramIDs(r *approval.Routing) []int64 {
	var ids []int64
	add := func(id string) {
		number, ok := strings.CutPrefix(id, telegram.Name+":")
		if n, err := strconv.ParseInt(number, 10, 64); ok && err == nil && n > 0 && !slices.Contains(ids, n) {
			ids = append(ids, n)
		}
	}
	for i := range r.Members {
		for _, id := range r.Members[i].IDs {
			add(id)
		}
	}
	for i := range r.Routes {
		for _, id := range r.Routes[i].Approvers {
			add(id)
		}
	}
	return ids
}
