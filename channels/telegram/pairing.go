package telegram

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"strings"
	"time"
)

// CodeLives is how long a pairing code can be used.
const CodeLives = 15 * time.Minute

// pairingCode binds the person who sends it, once.
type pairingCode struct {
	text  string
	until time.Time
}

// NewCode makes a pairing code that works once, until the returned time; it voids the
// previous one. Whoever sends "/start CODE" becomes an approver in place of the person who
// paired before, and the chat it came from becomes the one that cards go to.
func (c *Channel) NewCode() (code string, until time.Time) {
	code = rand.Text()[:12] // 60 random bits: nobody guesses that at the platform's pace
	until = time.Now().Add(CodeLives)
	c.strangers.reset()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.code = pairingCode{code, until}
	return code, until
}

// pair binds the sender if the code is the one in force.
func (c *Channel) pair(ctx context.Context, m *message, code string) (bool, error) {
	c.mu.Lock()
	now := c.code
	c.mu.Unlock()
	right := now.text != "" && time.Now().Before(now.until) &&
		subtle.ConstantTimeCompare([]byte(strings.ToUpper(code)), []byte(now.text)) == 1
	if !right {
		return false, nil
	}
	err := c.notes.Change(ctx, func(n *Notes) { n.Chat, n.Person = m.Chat.ID, m.From.ID })
	if err != nil {
		return false, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.code == now {
		c.code = pairingCode{}
	}
	return true, nil
}
