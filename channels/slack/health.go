package slack

import (
	"errors"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/channels/platform"
	"github.com/metnos/vaglio/templates"
)

// silentFor is how long nobody may be heard before it counts as a problem: exchanging a
// connection takes a moment.
const silentFor = 15 * time.Second

// Health says what is wrong with the app, if anything: first what keeps it from hearing
// people, then what keeps it from writing to its own channel.
func (c *Channel) Health() approval.Health {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.hearing.OK():
		return c.hearing.In(c.config.English())
	case !c.own.trouble().OK():
		return c.own.trouble().In(c.config.English())
	case c.config.AppToken != "" && !c.heardAt.IsZero() && c.up() == 0 && time.Since(c.heardAt) > silentFor:
		return platform.Trouble{Key: "trouble.slack.silent", Since: c.heardAt}.In(c.config.English())
	default:
		return approval.Health{}
	}
}

// Connections returns how many sockets are open now.
func (c *Channel) Connections() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.up()
}

// up counts the open sockets; c.mu must be held.
func (c *Channel) up() int {
	n := 0
	for _, l := range c.sockets {
		if l.up {
			n++
		}
	}
	return n
}

// Troubles that are reported in more than one place.
const (
	troubleFull  phrase = "trouble.slack.full"
	troubleFiles phrase = "trouble.slack.files"
	troubleScope phrase = "trouble.slack.scope"
)

// diagnose says what a failure means for the operator. A failure that is about one message,
// or temporary, means nothing.
func diagnose(err error) platform.Trouble {
	switch e, _ := errors.AsType[slackapi.SlackErrorResponse](err); {
	case e.Err == "missing_scope" && e.Needed != "":
		return platform.Trouble{Key: troubleScope, Values: templates.Values{"scopes": cardtext.Within(e.Needed, 60)}}
	case e.Err == "missing_scope":
		return platform.Trouble{Key: "trouble.slack.some.scope"}
	case means(err) == meansToken:
		return platform.Trouble{Key: "trouble.slack.token"}
	default:
		return platform.Trouble{}
	}
}

// deaf records what keeps the app from hearing, and returns how long to wait before it
// tries again. failures is how often it has tried.
func (c *Channel) deaf(err error, failures int) time.Duration {
	pause := platform.Backoff(platform.FirstPause, platform.LongestPause, failures)
	t := diagnose(err)
	if e, ok := errors.AsType[*slackapi.RateLimitedError](err); ok {
		pause = max(pause, e.RetryAfter)
	}
	switch {
	case !t.OK():
		pause = platform.LongestPause
	case says(err, "too_many_websockets"):
		t.Key = troubleFull
	default:
		t.Key = "trouble.slack.net"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.up() == 0 {
		c.hearing.Begin(t.Key, t.Values)
	}
	return pause
}
