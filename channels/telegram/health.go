package telegram

import (
	"errors"
	"net/http"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/platform"
)

// Health says in English what is wrong with the bot, if anything: first what keeps it from
// hearing people, then what keeps it from writing to them.
func (c *Channel) Health() approval.Health {
	return c.wrong().In(c.locale.English())
}

// wrong returns the trouble that matters most.
func (c *Channel) wrong() platform.Trouble {
	paired := c.Status().Paired
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.hearing.OK():
		return c.hearing
	case !c.telling.OK():
		return c.telling
	case !paired:
		return platform.Trouble{Key: "trouble.unpaired", Since: c.began}
	default:
		return platform.Trouble{}
	}
}

// Status is what the bot knows about itself.
type Status struct {
	// Bot is the bot's user name, without @; empty until the platform has told it.
	Bot string
	// Heard is when the platform was last heard without trouble.
	Heard time.Time
	// Paired says that there is a chat to send cards to, and somebody who may decide.
	Paired bool
}

// Status returns what the bot knows about itself.
func (c *Channel) Status() Status {
	_, placed := c.place()
	person := c.notes.Now().Person
	c.mu.Lock()
	defer c.mu.Unlock()
	return Status{
		Bot: c.self.Username, Heard: c.lastHeard,
		Paired: placed && (person != 0 || len(c.approvers) > 0),
	}
}

// deaf records what keeps the bot from hearing, and returns how long to wait before it
// tries again. failures is how often it has tried.
func (c *Channel) deaf(err error, failures int) time.Duration {
	pause := platform.Backoff(platform.FirstPause, platform.LongestPause, failures)
	conflict := platform.Backoff(conflictPause, longConflict, failures)
	key := phrase("trouble.disk")
	p, ok := errors.AsType[*PlatformError](err)
	_, unreached := errors.AsType[*reachError](err)
	switch {
	case unreached:
		key = "trouble.net"
	case errors.Is(err, errTaken):
		key = "trouble.rival.hook"
		pause = conflict
	case !ok:
	case p.Code == http.StatusUnauthorized, p.Code == http.StatusNotFound:
		key = "trouble.token"
		pause = platform.LongestPause
	case p.Code == http.StatusConflict && p.says("webhook"):
		key = "trouble.foreign.hook"
		pause = conflict
	case p.Code == http.StatusConflict:
		key = "trouble.rival.poll"
		pause = conflict
	case p.Code == http.StatusTooManyRequests:
		key = "trouble.pause"
		pause = max(p.RetryAfter, platform.FirstPause)
	default:
		key = "trouble.errors"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hearing.Begin(key, nil)
	return pause
}

// closed records what keeps the bot from writing to the home chat.
func (c *Channel) closed(key phrase) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.telling.Begin(key, nil)
}

// opened records that the home chat accepts messages.
func (c *Channel) opened() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.telling = platform.Trouble{}
}

// opens reports whether an update shows that the place of the cards accepts messages: the bot
// is let in, or receives what is written there. It also records if the bot is shut out.
func (c *Channel) opens(u *update) bool {
	home, _ := c.place()
	switch {
	case u.Member != nil && u.Member.Chat.ID == home:
		switch u.Member.New.Status {
		case "kicked", "left":
			c.closed(troubleShut)
			return false
		case "member", "administrator":
		default:
			return false
		}
	case u.Message == nil || u.Message.Chat.ID != home || u.Message.topic() != c.topic:
		return false
	}
	c.opened()
	return true
}

// What keeps a chat from accepting messages: it has shut the bot out, it does not exist, or
// its forum topic does not.
const (
	troubleShut  phrase = "trouble.shut"
	troubleGone  phrase = "trouble.gone"
	troubleTopic phrase = "trouble.topic"
)
