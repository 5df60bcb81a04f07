package headline

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// assigned describes a role that a tool gives somebody or takes away, where the name speaks of an
// assignment or a binding: "grants the role Owner to bob in acme-prod".
func (c *call) assigned(operation.Kind) wording.Sentence {
	if !c.has("role", "iam", "rbac") || !c.has("assignment", "assignments", "binding", "bindings", "assign", "grant") && (!c.has("iam") || !c.has("policy")) {
		return nil
	}
	roles := c.values([]string{"role", "rolename", "roledefinition", "roledefinitionname", "roledefinitionid", "roleid"})
	whom := c.values([]string{"assignee", "principal", "principalname", "principalid", "assigneeobjectid", "member", "user", "username", "userid", "email"})
	if bound := c.bound(); bound != nil {
		return bound
	}
	if len(roles) == 0 || len(whom) == 0 {
		return nil
	}
	both := []wording.Clause{named(roles), named(whom)}
	var said wording.Sentence
	switch {
	case c.has("create", "add", "grant", "assign", "set", "new", "put"):
		said = wording.Sentence{{Phrase: "grants the role %s to %s", Args: both}}
	case c.has("delete", "remove", "revoke"):
		said = wording.Sentence{{Phrase: "revokes the role %s from %s", Args: both}}
	default:
		return nil
	}
	if in := c.first("scope", "project", "projectid", "subscription", "subscriptionid", "resourcegroup", "namespace", "resource"); in != "" {
		said = said.And(inside, in)
	}
	return said
}

// raised describes that somebody gets a rank or loses it, where the tool's name or an argument says which: promote_to_admin,
// is_admin.
func (c *call) raised(operation.Kind) wording.Sentence {
	rank, phrase := c.rankOf()
	user := spoken.ThingAt("user")
	whom, key := c.names(user, false, "user", "member")
	if rank == "" || len(whom) == 0 || slices.Contains(whom, rank) {
		return nil
	}
	one := user.One
	if len(whom) > 1 {
		one = user.Several
	}
	said := wording.Sentence{{Phrase: phrase, Args: []wording.Clause{{Text: rank}, {Phrase: one, Args: []wording.Clause{named(whom)}}}}}
	if where := c.repository(); where != "" {
		return said.And(inside, where)
	}
	if in, ok := c.listed("places", key, whom); ok {
		return append(said, wording.Clause{Phrase: inside, Args: []wording.Clause{in}})
	}
	return said
}

// rankOf returns the rank that somebody gets or loses, and how that is said.
func (c *call) rankOf() (rank string, phrase wording.Phrase) {
	const grants, revokes wording.Phrase = "grants the role %s to %s", "revokes the role %s from %s"
	does, _, _ := c.act()
	if does == nil {
		does = &spoken.Act{}
	}
	demotes := does.Phrase == "demotes %s"
	switch rank = c.rankNamed(); {
	case rank != "" && demotes && !c.has("to"):
		return rank, revokes
	case rank != "" && (c.raises(does) || demotes || does.Phrase == sets && !c.switchedOff()):
		return rank, grants
	case c.raises(does):
		return c.first("role", "newrole", "rank"), grants
	case changes(does):
		return c.mayAll(), grants
	}
	return "", ""
}

// raises reports whether the tool's name says that somebody gets a rank, which it need not name.
func (c *call) raises(does *spoken.Act) bool {
	return does.Phrase == "promotes %s" || c.has("make") || changes(does) && c.has("membership")
}

// rankNamed returns the rank with which the tool's own name ends, also what somebody is a member of if it goes "to" that.
func (c *call) rankNamed() string {
	own := c.words[min(c.server, len(c.words)):]
	if len(own) < longestVerb {
		return ""
	}
	last := own[len(own)-1]
	if !spoken.Is("people ranks", last) && (!c.has("to") || !membership(last)) {
		return ""
	}
	return last
}

// switchedOff reports whether an argument says no.
func (c *call) switchedOff() bool {
	return slices.ContainsFunc(c.keys, func(k string) bool { return c.first(k) == "false" })
}

// admission describes that somebody may enter or use a thing from then on, or no longer, where the name speaks of access to it.
func (c *call) admission(operation.Kind) wording.Sentence {
	does, _, _ := c.act()
	if does == nil || len(c.words) == 0 || c.words[len(c.words)-1] != "access" {
		return nil
	}
	phrase := map[wording.Phrase]wording.Phrase{"grants %s": "grants rights on %s to %s", "gives %s": "grants rights on %s to %s", "revokes %s": "revokes rights on %s from %s"}[does.Phrase]
	whom := c.values(spoken.List("people whom"))
	of, _ := c.other(&toolName{})
	if in := c.first("resource", "scope", "project", "repository", "repo", "path"); of == nil && in != "" {
		of = &wording.Clause{Text: in}
	}
	if phrase == "" || of == nil || len(whom) == 0 || strings.Contains(of.String(), whom[0]) {
		return nil
	}
	said := wording.Sentence{{Phrase: phrase, Args: []wording.Clause{*of, named(whom)}}}
	if role := c.first("role", "level", "accesslevel", "permission"); role != "" {
		return said.And("as %s", role)
	}
	return said
}

// bound describes a policy that says who has which role: "grants the role roles/viewer to user:ann@acme.com in acme".
func (c *call) bound() (said wording.Sentence) {
	for _, b := range c.bindings {
		roles, whom := texts(b["role"]), texts(b["members"])
		if len(roles) == 0 || len(whom) == 0 {
			continue
		}
		grants := wording.Phrase("grants the role %s to %s")
		if said != nil {
			grants = ", and the role %s to %s"
		}
		said = append(said, wording.Clause{Phrase: grants, Args: []wording.Clause{named(roles), members(whom)}})
	}
	if in := c.first("resource", "project", "projectid", "resourcename", "name"); said != nil && in != "" {
		return said.And(inside, in)
	}
	return said
}

// members names those who get something, everyone at the end.
func members(whom []string) wording.Clause {
	all := func(s string) bool { return admits(s, true) }
	some := slices.DeleteFunc(slices.Clone(whom), all)
	switch everyone := (wording.Clause{Phrase: "everyone"}); {
	case len(some) == len(whom):
		return named(whom)
	case len(some) == 0:
		return everyone
	default:
		return wording.Clause{Phrase: "%s and %s", Args: []wording.Clause{named(some), everyone}}
	}
}

// bindingsIn returns the objects of all lists of bindings in the arguments.
func bindingsIn(args map[string]any) (all []map[string]any) {
	for key, v := range args {
		list, _ := v.([]any)
		for _, e := range list {
			if object, ok := e.(map[string]any); ok && reading.Normal(key) == "bindings" {
				all = append(all, object)
			}
		}
		if inner, ok := v.(map[string]any); ok {
			all = append(all, bindingsIn(inner)...)
		}
	}
	return all
}

// opened describes a port of a security group that a tool opens, or a range of them.
func (c *call) opened(operation.Kind) wording.Sentence {
	ports, group, from := c.all("port", "fromport"), c.first("groupid", "securitygroupid", "groupname", "securitygroup"), c.sources()
	_, listed := c.args["ingress"]
	if !listed && !c.has("ingress", "egress") || !c.has("authorize", "authorise", "allow", "open", "add", "modify", "update", "set") || len(ports) != 1 || group == "" || len(from) == 0 {
		return nil
	}
	port := ports[0]
	if to := c.first("toport"); to != "" && to != port {
		port += "-" + to
	}
	if c.toAll() {
		return wording.Sentence{wording.Say("opens the port %s of %s to everyone", port, group)}
	}
	return wording.Sentence{{Phrase: "opens the port %s of %s to %s", Args: []wording.Clause{{Text: port}, {Text: group}, named(from)}}}
}

// sources returns the addresses that a rule of a firewall lets in.
func (c *call) sources() []string {
	return c.all("cidr", "cidrip", "cidripv4", "cidripv6", "cidrblock", "iprange", "sourceip", "source")
}

// toAll reports whether all addresses are among them.
func (c *call) toAll() bool {
	return slices.ContainsFunc(c.sources(), func(s string) bool { return slices.Contains([]string{"0.0.0.0/0", "::/0", "*"}, s) })
}

// kicks says that somebody has to leave.
const kicks wording.Phrase = "kicks %s"

// admits reports whether what an argument holds gives everyone a right, as a policy does: under a key
// for those who get it stands "*", or a word for everyone. A text that is a document counts by what it
// holds.
func admits(v any, whom bool) bool {
	switch v := v.(type) {
	case string:
		var inner any
		if isDocument(v) && strictjson.Unmarshal([]byte(v), &inner) == nil {
			return admits(inner, whom)
		}
		return whom && (strings.TrimSpace(v) == "*" || spoken.Is("people everyone", reading.Normal(v)))
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return admits(e, whom) })
	case map[string]any:
		for key, value := range v {
			if admits(value, whom || spoken.Is("people admitted", reading.Normal(key))) {
				return true
			}
		}
	}
	return false
}
