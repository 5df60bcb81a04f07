package slack

import (
	"errors"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
)

// silentFor is how long nobody may be heard before it counts as a problem: a
// connection that is exchanged takes a moment.
const silentFor = 15 * time.Second

// Health tells what is wrong with the app, if anything is: first what keeps it
// from hearing people, then what keeps it from writing to its own channel.
func (c *Channel) Health() approval.Health {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.hearing.Problem != "":
		return c.hearing
	case !c.own.trouble().OK():
		return c.own.trouble()
	case c.config.AppToken != "" && !c.heardAt.IsZero() && c.up() == 0 && time.Since(c.heardAt) > silentFor:
		return approval.Health{Problem: "Slack cannot be heard: no connection is open, so presses are lost.", Remedy: remedyNet, Since: c.heardAt}
	default:
		return approval.Health{}
	}
}

// Connections is how many sockets are open now.
func (c *Channel) Connections() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.up()
}

// up counts the open sockets; c.mu is held.
func (c *Channel) up() int {
	n := 0
	for _, l := range c.sockets {
		if l.up {
			n++
		}
	}
	return n
}

// What can be wrong, and what helps.
const (
	remedyNet    = "Check the network and the proxy; it is tried again by itself."
	problemFiles = "Slack takes no files from the app, so a card that does not fit cannot be allowed there."
	remedyFiles  = "Give the app the scope files:write and install it again; docs/slack.md says how."
	problemToken = "Slack refuses the app's token." //nolint:gosec // A sentence.
	remedyToken  = "Take the current token from the app's page, and start vaglio with it."
	problemScope = "The app lacks a scope."
	problemCrowd = "Other programs hold all connections that Slack gives the app."
	remedyCrowd  = "Stop them, or use an app of vaglio's own."
	remedyScope  = "Install the app again from deploy/slack/manifest.yaml."
)

// begin makes a problem the one that h tells; one that goes on keeps its
// beginning.
func begin(h *approval.Health, problem, remedy string) {
	since := h.Since
	if since.IsZero() {
		since = time.Now()
	}
	*h = approval.Health{Problem: problem, Remedy: remedy, Since: since}
}

// diagnose says in words what a failure means for the operator; a failure that
// is about one message, or passes by itself, means nothing.
func diagnose(err error) (problem, remedy string) {
	switch e, _ := errors.AsType[slackapi.SlackErrorResponse](err); {
	case e.Err == "missing_scope":
		if e.Needed != "" {
			return "The app lacks the scope " + cardtext.Clip(e.Needed, 60) + ".", remedyScope
		}
		return problemScope, remedyScope
	case means(err) == meansToken:
		return problemToken, remedyToken
	}
	return "", ""
}

// deaf keeps what keeps the app from hearing, and says how long to wait before
// it tries again. failures is how often it tried.
func (c *Channel) deaf(err error, failures int) time.Duration {
	pause := min(firstPause<<min(failures, 10), longestPause)
	problem, remedy := diagnose(err)
	if e, ok := errors.AsType[*slackapi.RateLimitedError](err); ok {
		pause = max(pause, e.RetryAfter)
	}
	switch {
	case problem != "":
		pause = longestPause
	case says(err, "too_many_websockets"):
		problem, remedy = problemCrowd, remedyCrowd
	default:
		problem, remedy = "Slack cannot be reached.", remedyNet
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.up() == 0 {
		begin(&c.hearing, problem, remedy)
	}
	return pause
}
