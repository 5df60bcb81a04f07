package headline

import (
	"slices"

	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/wording"
)

// assigned describes a role that a tool gives somebody or takes away, where the name speaks of an
// assignment or a binding: "grants the role Owner to bob in acme-prod".
func (c *call) assigned(operation.Kind) wording.Sentence {
	if !c.has("role", "iam", "rbac") || !c.has("assignment", "assignments", "binding", "bindings") {
		return nil
	}
	role := c.first("role", "rolename", "roledefinition", "roledefinitionname", "roledefinitionid", "roleid")
	whom := c.first("assignee", "principal", "principalname", "principalid", "assigneeobjectid", "member", "user", "username", "userid", "email")
	if role == "" || whom == "" {
		return nil
	}
	var said wording.Sentence
	switch {
	case c.has("create", "add", "grant", "assign", "set", "new", "put"):
		said = wording.Sentence{wording.Say("grants the role %s to %s", role, whom)}
	case c.has("delete", "remove", "revoke"):
		said = wording.Sentence{wording.Say("revokes the role %s from %s", role, whom)}
	default:
		return nil
	}
	if in := c.first("scope", "project", "projectid", "subscription", "subscriptionid", "resourcegroup", "namespace", "resource"); in != "" {
		said = said.And(inside, in)
	}
	return said
}

// opened describes a port of a security group that a tool opens.
func (c *call) opened(operation.Kind) wording.Sentence {
	port, group, from := c.first("port", "fromport"), c.first("groupid", "securitygroupid", "groupname", "securitygroup"), c.sources()
	if !c.has("ingress", "egress") || !c.has("authorize", "authorise", "allow", "open", "add") || port == "" || group == "" || from == "" {
		return nil
	}
	if c.toAll() {
		return wording.Sentence{wording.Say("opens the port %s of %s to everyone", port, group)}
	}
	return wording.Sentence{wording.Say("opens the port %s of %s to %s", port, group, from)}
}

// sources returns the addresses that a rule of a firewall lets in.
func (c *call) sources() string {
	return c.first("cidr", "cidrip", "cidripv4", "cidrblock", "iprange", "sourceip", "source")
}

// toAll reports whether these are all addresses.
func (c *call) toAll() bool {
	return slices.Contains([]string{"0.0.0.0/0", "::/0", "*"}, c.sources())
}
