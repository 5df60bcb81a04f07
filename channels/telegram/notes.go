package telegram

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/metnos/vaglio/templates"
)

// Memory keeps the channel's notes past the process.
type Memory interface {
	// Load returns the notes that were saved last, or the zero Notes.
	Load(ctx context.Context) (Notes, error)
	// Save stores the notes. What it returned nil for is on disk.
	Save(ctx context.Context, n Notes) error
}

// Notes are what the channel must remember.
type Notes struct {
	// Offset is the first update that has had no effect yet.
	Offset int64 `json:"offset"`
	// Heard is when the platform last answered a poll.
	Heard time.Time `json:"heard,omitzero"`
	// Chat and Person were bound by the pairing code; 0 before that.
	Chat   int64 `json:"chat"`
	Person int64 `json:"person"`
	// Langs are the languages that chats chose. It is replaced, never written.
	Langs map[int64]templates.Lang `json:"langs,omitempty"`
	// Drafts are the cards of which more is known than the dispatcher may know.
	Drafts []Draft `json:"drafts,omitempty"`
	// Webhook is the address that we set last, until we delete it.
	Webhook string `json:"webhook,omitempty"`
	// Done are the updates that had their effect last, the newest at the end,
	// and DoneAt is when the newest had.
	Done   []int64   `json:"done,omitempty"`
	DoneAt time.Time `json:"done_at,omitzero"`
}

const (
	// maxDone is how many updates are remembered: far more than the platform
	// brings again at once.
	maxDone = 64
	// doneLasts is how long: an update lives for a day, and after a week without
	// any the platform starts its ids anew.
	doneLasts = 25 * time.Hour
)

func (n *Notes) equal(o *Notes) bool {
	return n.Offset == o.Offset && n.Heard.Equal(o.Heard) && n.Chat == o.Chat && n.Person == o.Person && maps.Equal(n.Langs, o.Langs) &&
		n.Webhook == o.Webhook && slices.Equal(n.Done, o.Done) && slices.Equal(n.Drafts, o.Drafts)
}

// has reports whether the update had its effect.
func (n *Notes) has(update int64, now time.Time) bool {
	return now.Sub(n.DoneAt) < doneLasts && slices.Contains(n.Done, update)
}

// add notes that the update had its effect.
func (n *Notes) add(update int64, now time.Time) {
	if now.Sub(n.DoneAt) >= doneLasts {
		n.Done = nil
	}
	n.Done, n.DoneAt = append(n.Done, update), now.Round(0)
	n.Done = n.Done[max(0, len(n.Done)-maxDone):]
}

// keep changes the notes, on disk first. It does not hold c.mu while it waits for
// the disk: the store's own writer asks who may decide.
func (c *Channel) keep(ctx context.Context, change func(*Notes)) error {
	c.keeping.Lock()
	defer c.keeping.Unlock()
	c.mu.Lock()
	before := c.notes
	c.mu.Unlock()
	n := before
	n.Done, n.Drafts = slices.Clone(n.Done), slices.Clone(n.Drafts)
	change(&n)
	if n.equal(&before) {
		return nil
	}
	if err := c.memory.Save(ctx, n); err != nil {
		return fmt.Errorf("telegram: keep the notes: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notes = n
	return nil
}
