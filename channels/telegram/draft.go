package telegram

import (
	"context"
	"slices"
	"time"

	"github.com/metnos/vaglio/approval"
)

// Draft is what the channel remembers about a card whose message the dispatcher may not
// know yet, or that has something next to its message. A message is recorded here before it
// gets buttons: one that a crash leaves unrecorded has none.
type Draft struct {
	Ask  approval.AskID `json:"ask"`
	Chat int64          `json:"chat"`
	// Message is the card's message; 0 if none is known.
	Message int `json:"message,omitempty"`
	// File is the message that holds the whole card, and Sum the SHA-256 of its text.
	File int    `json:"file,omitempty"`
	Sum  string `json:"sum,omitempty"`
	// Reminder is the message with the card's reminder, and Reminded is when that was due.
	Reminder int       `json:"reminder,omitempty"`
	Reminded time.Time `json:"reminded,omitzero"`
}

// maxDrafts is the most drafts that are remembered; the oldest is forgotten first.
// Forgetting a draft costs a second message.
const maxDrafts = 1000

// draft returns what is remembered about an ask's card in the chat.
func (c *Channel) draft(ask approval.AskID, chat int64) Draft {
	n := c.notes.Now()
	if i := n.draft(ask); i >= 0 && n.Drafts[i].Chat == chat {
		return n.Drafts[i]
	}
	return Draft{Ask: ask, Chat: chat}
}

// keepDraft remembers the draft, replacing any other draft of its ask.
func (c *Channel) keepDraft(ctx context.Context, d Draft) error {
	return c.notes.Change(ctx, func(n *Notes) {
		if i := n.draft(d.Ask); i >= 0 {
			n.Drafts[i] = d
			return
		}
		n.Drafts = append(n.Drafts, d)
		n.Drafts = n.Drafts[max(0, len(n.Drafts)-maxDrafts):]
	})
}

// dropDraft forgets an ask.
func (c *Channel) dropDraft(ctx context.Context, ask approval.AskID) error {
	return c.notes.Change(ctx, func(n *Notes) {
		if i := n.draft(ask); i >= 0 {
			n.Drafts = slices.Delete(n.Drafts, i, i+1)
		}
	})
}

func (n *Notes) draft(ask approval.AskID) int {
	return slices.IndexFunc(n.Drafts, func(d Draft) bool { return d.Ask == ask })
}

// Found returns the message that a Post of the ask's card left, even if that Post never
// returned.
func (c *Channel) Found(ask approval.AskID) (ref string, ok bool) {
	n := c.notes.Now()
	i := n.draft(ask)
	if i < 0 || n.Drafts[i].Message == 0 {
		return "", false
	}
	return refTo(n.Drafts[i].Chat, n.Drafts[i].Message), true
}

// besides returns the ask whose card the message belongs to as its file, its reminder, or a
// message that the dispatcher may not know yet, or "".
func (c *Channel) besides(m *message) approval.AskID {
	for _, d := range c.notes.Now().Drafts {
		if d.Chat == m.Chat.ID && slices.Contains([]int{d.Message, d.File, d.Reminder}, m.ID) {
			return d.Ask
		}
	}
	return ""
}
