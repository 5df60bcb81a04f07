package telegram

import (
	"errors"
	"net/http"
	"time"

	"github.com/metnos/vaglio/approval"
)

// Health tells what is wrong with the bot, if anything is: first what keeps it
// from hearing people, then what keeps it from writing to them.
func (c *Channel) Health() approval.Health {
	paired := c.Status().Paired
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.hearing.Problem != "":
		return c.hearing
	case c.telling.Problem != "":
		return c.telling
	case !paired:
		return approval.Health{
			Problem: "Nobody has paired with the Telegram bot, so its cards wait.",
			Remedy:  "Run 'vaglio pair' and send the bot what it prints.", Since: c.began,
		}
	default:
		return approval.Health{}
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

// begin makes a problem the one that h tells; one that goes on keeps its
// beginning.
func begin(h *approval.Health, problem, remedy string) {
	since := h.Since
	if since.IsZero() {
		since = time.Now()
	}
	*h = approval.Health{Problem: problem, Remedy: remedy, Since: since}
}

// deaf keeps what keeps the bot from hearing, and says how long to wait before
// it tries again. failures is how often it tried.
func (c *Channel) deaf(err error, failures int) time.Duration {
	pause := min(firstPause<<min(failures, 10), longestPause)
	conflict := min(conflictPause<<min(failures, 10), longConflict)
	problem, remedy := "What is heard on Telegram cannot be kept.", "The log says why; most likely the disk is full."
	p, ok := errors.AsType[*PlatformError](err)
	_, unreached := errors.AsType[*reachError](err)
	switch {
	case unreached:
		problem, remedy = "Telegram cannot be reached.", "Check the network and the proxy; it is tried again by itself."
	case errors.Is(err, errTaken):
		problem, remedy = "Another program sets this bot's webhook.", "Stop it, or use a bot of vaglio's own."
		pause = conflict
	case !ok:
	case p.Code == http.StatusUnauthorized, p.Code == http.StatusNotFound:
		problem, remedy = "Telegram refuses the bot token.", "Take the current token from BotFather and start vaglio with it."
		pause = longestPause
	case p.Code == http.StatusConflict && p.says("webhook"):
		problem, remedy = "The bot has a webhook that is not ours, so its updates go elsewhere.",
			"Delete the webhook where it was set, or use a bot of vaglio's own."
		pause = conflict
	case p.Code == http.StatusConflict:
		problem, remedy = "Another program polls with this bot's token.", "Stop it, or use a bot of vaglio's own."
		pause = conflict
	case p.Code == http.StatusTooManyRequests:
		problem, remedy = "Telegram asks for a pause.", "Nothing: it ends by itself."
		pause = max(p.RetryAfter, firstPause)
	default:
		problem, remedy = "Telegram answers with errors.", "Nothing: it is most likely down, and tried again by itself."
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	begin(&c.hearing, problem, remedy)
	return pause
}

// closed keeps what keeps the bot from writing to the home chat.
func (c *Channel) closed(problem, remedy string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	begin(&c.telling, problem, remedy)
}

// opened says that the home chat takes messages again.
func (c *Channel) opened() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.telling = approval.Health{}
}

// stands notes how the bot stands in the home chat.
func (c *Channel) stands(m *member) {
	if home, _ := c.place(); m.Chat.ID != home {
		return
	}
	switch m.New.Status {
	case "kicked", "left":
		c.closed(problemShut, remedyShut)
	case "member", "administrator":
		c.opened()
	}
}

// What keeps a chat from taking messages.
const (
	problemShut  = "The chat that cards go to has shut the bot out."
	remedyShut   = "Unblock the bot, or add it to the group again; until then the inbox has the cards."
	problemGone  = "The chat that cards go to is not there."
	remedyGone   = "Correct METNOS_TELEGRAM_CHAT, or pair anew with 'vaglio pair'."
	problemTopic = "The forum topic that cards go to is not there, so they go to the chat itself."
	remedyTopic  = "Correct METNOS_TELEGRAM_TOPIC and start vaglio again."
)
