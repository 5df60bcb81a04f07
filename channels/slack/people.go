package slack

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/metnos/vaglio/approval"
)

// people is what is known about the people of the workspace.
type people struct {
	groups map[string]roster
	names  map[string]string
}

// roster is who is in a user group, and when that was looked up.
type roster struct {
	members []string
	at      time.Time
}

// counts reports whether the members were looked up recently enough to decide.
func (r roster) counts() bool { return time.Since(r.at) < rosterLives }

const (
	// rosterEvery is how often a user group is looked up.
	rosterEvery = 5 * time.Minute
	// rosterLives is how long its members may decide if it cannot be looked up.
	rosterLives = 15 * time.Minute
	// rosterAgain is the least time between two look-ups that a press causes.
	rosterAgain = 30 * time.Second
	// rosterFresh is the greatest age of a list of members by which a yes counts, and
	// freshWithin how long to wait for a newer list.
	rosterFresh = 2 * time.Second
	freshWithin = time.Second
	// maxNames is how many names are remembered.
	maxNames = 1000
)

// Approves reports whether the person may decide: by their own id, or as a member of a user
// group that was recently looked up. The id is qualified, such as "slack:U0123456789".
func (c *Channel) Approves(id string) bool {
	user, ok := strings.CutPrefix(id, Name+":")
	if !ok || !personID.MatchString(user) {
		return false
	}
	if slices.Contains(c.config.Approvers, user) {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, g := range c.people.groups {
		if g.counts() && slices.Contains(g.members, user) {
			return true
		}
	}
	return false
}

// Roster returns the qualified ids of the members of the user group, such as
// "slack:S0123456789". known is false if it was not looked up recently, or is not a group
// of people who may decide.
func (c *Channel) Roster(group string) (ids []string, known bool) {
	id, ok := strings.CutPrefix(group, Name+":")
	c.mu.Lock()
	defer c.mu.Unlock()
	g, there := c.people.groups[id]
	if !ok || !there || !g.counts() {
		return nil, false
	}
	for _, member := range g.members {
		ids = append(ids, Name+":"+member)
	}
	return ids, true
}

// may reports whether a person who acts on Slack may decide. A person from another
// workspace, in a shared channel, may not, unless both belong to one organization. A group
// that a person joined a moment ago is looked up once more.
func (c *Channel) may(ctx context.Context, p person) bool {
	c.mu.Lock()
	us := c.self
	c.mu.Unlock()
	if p.team != "" && p.team != us.team && us.enterprise == "" {
		return false
	}
	if !c.Approves(p.qualified()) {
		c.lookUp(ctx, rosterAgain)
	}
	if !c.Approves(p.qualified()) {
		return false
	}
	return p.team == "" || p.team == us.team || c.organization(ctx, p.id) == us.enterprise
}

// organization returns the organization that somebody's workspace belongs to (Enterprise
// Grid), or "" if it cannot be looked up. What they send says where they did it, and for a
// message not even that.
func (c *Channel) organization(ctx context.Context, id string) string {
	ctx, cancel := context.WithTimeout(ctx, freshWithin)
	defer cancel()
	of := ""
	err := c.do(ctx, "users.info", func(ctx context.Context) error {
		u, err := c.api.GetUserInfoContext(ctx, id)
		if err == nil {
			of = u.Enterprise.EnterpriseID
		}
		return err
	})
	if err != nil {
		c.log.WarnContext(ctx, "somebody from another workspace could not be looked up, and may not decide", "user", id, "error", err)
	}
	return of
}

// still reports whether a person who may decide may say yes. Somebody who may only through
// a group is looked up there again, so that nobody allows anything after being removed from
// it.
func (c *Channel) still(ctx context.Context, p person) bool {
	if slices.Contains(c.config.Approvers, p.id) {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, freshWithin)
	defer cancel()
	c.lookUp(ctx, rosterFresh)
	return c.Approves(p.qualified())
}

// lookUp looks up the user groups that were not looked up for the given time.
//
// An app that a whole organization installed must say which workspace they belong to.
func (c *Channel) lookUp(ctx context.Context, age time.Duration) {
	c.mu.Lock()
	team := c.self.team
	c.mu.Unlock()
	for _, id := range c.config.Approvers {
		c.mu.Lock()
		old := c.people.groups[id]
		c.mu.Unlock()
		if !groupID.MatchString(id) || time.Since(old.at) < age {
			continue
		}
		err := c.do(ctx, "usergroups.users.list", func(ctx context.Context) error {
			members, err := c.api.GetUserGroupMembersContext(ctx, id, slackapi.GetUserGroupMembersOptionTeamID(team))
			if err == nil {
				c.mu.Lock()
				c.people.groups[id] = roster{members, time.Now()}
				c.mu.Unlock()
			}
			return err
		})
		if says(err, "no_such_subteam", "subteam_not_found") {
			c.mu.Lock()
			delete(c.people.groups, id)
			c.mu.Unlock()
		}
		if err != nil {
			c.log.WarnContext(ctx, "a user group could not be looked up; its known members may decide only for a while", "group", id, "error", err)
		}
	}
}

// person is somebody who acts.
type person struct {
	id, team, name string
	// back is the address through which what they did is answered, if there is one. It
	// needs no membership in the channel, neither theirs nor ours.
	back string
}

func (p person) qualified() string { return Name + ":" + p.id }

// known returns the person in the form that approvals use, by their full name if the
// platform gives it.
func (c *Channel) known(ctx context.Context, p person) approval.Person {
	c.mu.Lock()
	name, ok := c.people.names[p.id]
	c.mu.Unlock()
	if !ok {
		// A name is only for display: a decision does not wait long for it.
		ctx, cancel := context.WithTimeout(ctx, nameWithin)
		defer cancel()
		err := c.do(ctx, "users.info", func(ctx context.Context) error {
			u, err := c.api.GetUserInfoContext(ctx, p.id)
			if err == nil {
				name = nameOf(u)
			}
			return err
		})
		if err == nil {
			c.mu.Lock()
			if len(c.people.names) >= maxNames {
				clear(c.people.names)
			}
			c.people.names[p.id] = name
			c.mu.Unlock()
		}
	}
	return approval.Person{ID: p.qualified(), Name: cmp.Or(name, p.name, p.id)}
}

// nameWithin is how long to wait for a name.
const nameWithin = 500 * time.Millisecond

func nameOf(u *slackapi.User) string {
	return cmp.Or(u.Profile.RealName, u.RealName, u.Profile.DisplayName, u.Name)
}
