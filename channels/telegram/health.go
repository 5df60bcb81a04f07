package telegram

import (
	"errors"
	"net/http"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/templates"
)

// Health tells in English what is wrong with the bot, if anything is: first what
// keeps it from hearing people, then what keeps it from writing to them.
func (c *Channel) Health() approval.Health { return c.inEnglish(c.wrong()) }

// trouble is what is wrong with the bot. Its name is that of two texts: what it
// is, and what helps. Without a name nothing is wrong.
type trouble struct {
	name   string
	values map[string]any
	since  time.Time
}

// in tells the trouble in a language.
func (t trouble) in(texts *templates.Texts) approval.Health {
	if t.name == "" {
		return approval.Health{}
	}
	key := phrase("trouble." + t.name)
	return approval.Health{Problem: texts.Plain(key, t.values), Remedy: texts.Plain(key+".remedy", nil), Since: t.since}
}

// inEnglish tells the trouble as logs and the operator's commands do.
func (c *Channel) inEnglish(t trouble) approval.Health {
	return t.in(c.texts.In(templates.English, c.zone))
}

// wrong is the trouble that matters most.
func (c *Channel) wrong() trouble {
	paired := c.Status().Paired
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.hearing.name != "":
		return c.hearing
	case c.telling.name != "":
		return c.telling
	case !paired:
		return trouble{name: "unpaired", since: c.began}
	default:
		return trouble{}
	}
}

// Status is what the bot knows of itself.
type Status struct {
	// Bot is the bot's user name, without @; empty until the platform told it.
	Bot string
	// Heard is when the platform was last heard without trouble.
	Heard time.Time
	// Paired says that there is a chat to send cards to, and somebody who may
	// decide.
	Paired bool
}

// Status tells what the bot knows of itself.
func (c *Channel) Status() Status {
	_, placed := c.place()
	c.mu.Lock()
	defer c.mu.Unlock()
	return Status{
		Bot: c.self.Username, Heard: c.lastHeard,
		Paired: placed && (c.notes.Person != 0 || len(c.approvers) > 0),
	}
}

// begin makes a trouble the one with that name; one that goes on keeps its
// beginning.
func (t *trouble) begin(name string, values map[string]any) {
	if t.since.IsZero() {
		t.since = time.Now()
	}
	t.name, t.values = name, values
}

// deaf keeps what keeps the bot from hearing, and says how long to wait before
// it tries again. failures is how often it tried.
func (c *Channel) deaf(err error, failures int) time.Duration {
	pause := min(firstPause<<min(failures, 10), longestPause)
	conflict := min(conflictPause<<min(failures, 10), longConflict)
	name := "disk"
	p, ok := errors.AsType[*PlatformError](err)
	_, unreached := errors.AsType[*reachError](err)
	switch {
	case unreached:
		name = "net"
	case errors.Is(err, errTaken):
		name = "rival.hook"
		pause = conflict
	case !ok:
	case p.Code == http.StatusUnauthorized, p.Code == http.StatusNotFound:
		name = "token"
		pause = longestPause
	case p.Code == http.StatusConflict && p.says("webhook"):
		name = "foreign.hook"
		pause = conflict
	case p.Code == http.StatusConflict:
		name = "rival.poll"
		pause = conflict
	case p.Code == http.StatusTooManyRequests:
		name = "pause"
		pause = max(p.RetryAfter, firstPause)
	default:
		name = "errors"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hearing.begin(name, nil)
	return pause
}

// closed keeps what keeps the bot from writing to the home chat.
func (c *Channel) closed(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.telling.begin(name, nil)
}

// opened says that the home chat takes messages again.
func (c *Channel) opened() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.telling = trouble{}
}

// stands notes how the bot stands in the home chat.
func (c *Channel) stands(m *member) {
	if home, _ := c.place(); m.Chat.ID != home {
		return
	}
	switch m.New.Status {
	case "kicked", "left":
		c.closed(troubleShut)
	case "member", "administrator":
		c.opened()
	}
}

// What keeps a chat from taking messages: that it has shut the bot out, that it
// is not there, or that its forum topic is not.
const (
	troubleShut  = "shut"
	troubleGone  = "gone"
	troubleTopic = "topic"
)
