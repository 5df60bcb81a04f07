package slack

import (
	"context"
	"errors"
	"fmt"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/metnos/vaglio/approval"
)

const (
	// orphanAge is how far back orphans are looked for; no ask waits longer than
	// a day.
	orphanAge = 25 * time.Hour
	// orphanPage and orphanPages bound the look; what is older than it reaches
	// keeps buttons that decide nothing, and say so.
	orphanPage, orphanPages = 200, 10
)

// tidy takes the buttons off orphans: messages that nobody knows of, because we
// died, or were not answered, between sending them and keeping where they stand.
// Their cards were posted anew. It looks once after a start, and again after a
// message that may have got there.
func (l *loop) tidy(ctx context.Context, at *Conversation) {
	l.mu.Lock()
	due := at.untidy && time.Since(at.tidiedAt) > longestPause
	l.mu.Unlock()
	if !due {
		return
	}
	orphans, err := l.orphans(ctx, at)
	for _, m := range orphans {
		if failed := l.replace(ctx, m); !errors.Is(failed, approval.ErrRepost) {
			err = errors.Join(err, failed)
		}
	}
	l.mu.Lock()
	at.tidiedAt = time.Now()
	at.untidy = at.untidy || err != nil
	l.mu.Unlock()
	if err != nil && ctx.Err() == nil {
		l.log.WarnContext(ctx, "messages that nobody knows of may have kept their buttons; they decide nothing", "channel", at.name, "error", err)
	}
}

// orphans returns the messages with buttons that are no ask's card. No card is
// sent meanwhile, so that one on its way is not taken for an orphan.
func (l *loop) orphans(ctx context.Context, at *Conversation) (found []place, err error) {
	at.posting.Lock()
	defer at.posting.Unlock()
	// A message that may have got there from now on asks for another look.
	l.mu.Lock()
	at.untidy = false
	l.mu.Unlock()
	p := slackapi.GetConversationHistoryParameters{
		ChannelID: at.id, Limit: orphanPage, Oldest: fmt.Sprintf("%d.000000", time.Now().Add(-orphanAge).Unix()),
	}
	for range orphanPages {
		var page *slackapi.GetConversationHistoryResponse
		err := l.do(ctx, "conversations.history", func(ctx context.Context) (err error) {
			page, err = l.api.GetConversationHistoryContext(ctx, &p)
			return err
		})
		if err != nil {
			return found, err
		}
		for i := range page.Messages {
			m := place{channel: at.id, ts: page.Messages[i].Timestamp}
			orphan, err := l.orphan(ctx, m, &page.Messages[i])
			if err != nil {
				return found, err
			}
			if orphan {
				found = append(found, m)
			}
		}
		if p.Cursor = page.ResponseMetaData.NextCursor; p.Cursor == "" {
			break
		}
	}
	return found, nil
}

// orphan reports whether a message of ours has the buttons of an ask whose card
// is another message.
func (l *loop) orphan(ctx context.Context, m place, said *slackapi.Message) (bool, error) {
	l.mu.Lock()
	ours := said.User == l.self.user
	l.mu.Unlock()
	id, ok := askOf(said)
	if !ours || !ok || l.posted.has(m.message()) {
		return false, nil
	}
	card, err := l.desk.Card(ctx, id, Name)
	if err != nil && !errors.Is(err, approval.ErrNotFound) {
		return false, err
	}
	return !shows(&card, m), nil
}

// askOf returns the ask whose buttons a message has.
func askOf(m *slackapi.Message) (approval.AskID, bool) {
	for _, b := range m.Blocks.BlockSet {
		row, ok := b.(*slackapi.ActionBlock)
		if !ok || row.Elements == nil {
			continue
		}
		for _, e := range row.Elements.ElementSet {
			if b, ok := e.(*slackapi.ButtonBlockElement); ok && b.ActionID == actionReply {
				return approval.AskID(b.Value), true
			}
		}
	}
	return "", false
}
