package telegram

import (
	"maps"
	"slices"
	"time"

	"github.com/metnos/vaglio/channels/platform"
	"github.com/metnos/vaglio/templates"
)

// Memory stores the channel's notes beyond its process.
type Memory = platform.Memory[Notes]

// Notes are what the channel must remember.
type Notes struct {
	// Offset is the first update that has not had its effect yet.
	Offset int64 `json:"offset"`
	// Heard is when the platform last answered a poll.
	Heard time.Time `json:"heard,omitzero"`
	// Chat and Person were bound by the pairing code; 0 before that.
	Chat   int64 `json:"chat"`
	Person int64 `json:"person"`
	// Langs are the languages that chats chose.
	Langs map[int64]templates.Lang `json:"langs,omitempty"`
	// Drafts are the cards about which the channel knows more than the dispatcher may.
	Drafts []Draft `json:"drafts,omitempty"`
	// Webhook is the address that we last set, until we delete it.
	Webhook string `json:"webhook,omitempty"`
	// Menu identifies the bot and the commands that were last registered for it.
	Menu string `json:"menu,omitempty"`
	// Done are the last updates that had their effect, the newest at the end, and DoneAt is
	// when the newest one had it.
	Done   []int64   `json:"done,omitempty"`
	DoneAt time.Time `json:"done_at,omitzero"`
}

const (
	// maxDone is how many updates are remembered: far more than the platform redelivers at
	// once.
	maxDone = 64
	// doneLasts is how long they are remembered: an update lives for a day, and after a
	// week without any the platform restarts its ids.
	doneLasts = 25 * time.Hour
)

// Clone returns a copy that can be changed independently.
func (n Notes) Clone() Notes {
	n.Langs, n.Drafts, n.Done = maps.Clone(n.Langs), slices.Clone(n.Drafts), slices.Clone(n.Done)
	return n
}

// Equal reports whether both are equal. DoneAt changes only with Done.
func (n Notes) Equal(o Notes) bool {
	return n.Offset == o.Offset && n.Heard.Equal(o.Heard) && n.Chat == o.Chat && n.Person == o.Person && maps.Equal(n.Langs, o.Langs) &&
		n.Webhook == o.Webhook && n.Menu == o.Menu && slices.Equal(n.Done, o.Done) && slices.Equal(n.Drafts, o.Drafts)
}

// has reports whether the update had its effect.
func (n *Notes) has(update int64, now time.Time) bool {
	return now.Sub(n.DoneAt) < doneLasts && slices.Contains(n.Done, update)
}

// add records that the update had its effect.
func (n *Notes) add(update int64, now time.Time) {
	if now.Sub(n.DoneAt) >= doneLasts {
		n.Done = nil
	}
	n.Done, n.DoneAt = append(n.Done, update), now.Round(0)
	n.Done = n.Done[max(0, len(n.Done)-maxDone):]
}
