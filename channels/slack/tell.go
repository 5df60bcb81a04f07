package slack

import (
	"context"
	"fmt"
	"slices"

	slackapi "github.com/slack-go/slack"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
)

const (
	// toldMark is the prefix of the id of the block that identifies the message that told
	// how an ask ended; the ask's id follows.
	toldMark = "told-"
	// tellPages is how many pages of a thread are searched for it.
	tellPages = 10
)

// Tell says in the card's thread how its ask ended, like [Conversation.Tell].
func (c *Channel) Tell(ctx context.Context, ref string, card approval.Card, turn report.Counts, again bool) error {
	return c.own.Tell(ctx, ref, card, turn, again)
}

// Tell says in the card's thread how its ask ended, and what the turn has done so far.
// again says that the message may already be there.
func (at *Conversation) Tell(ctx context.Context, ref string, card approval.Card, turn report.Counts, again bool) error {
	m, ok := parseRef(ref)
	if !ok {
		return fmt.Errorf("slack: the reference is not vaglio's: %w", approval.ErrGone)
	}
	c := at.app
	mark := toldMark + string(card.Ask)
	if again {
		told, err := c.marked(ctx, m, mark)
		if err != nil || told {
			return final(err)
		}
	}
	v := c.viewOf(card)
	p := &page{texts: c.texts}
	p.write(v.Told(&turn))
	p.name(mark)
	_, err := c.send(ctx, m, p, v.Notification())
	at.noteTelling(err)
	return final(err)
}

// marked reports whether the thread has a message of ours with the mark. If the app may not
// look, it reports false.
func (c *Channel) marked(ctx context.Context, m place, mark string) (bool, error) {
	c.mu.Lock()
	us := c.self.user
	c.mu.Unlock()
	p := slackapi.GetConversationRepliesParameters{ChannelID: m.channel, Timestamp: m.ts, Limit: maxReplies}
	for range tellPages {
		var all []slackapi.Message
		var more bool
		err := c.do(ctx, "conversations.replies", func(ctx context.Context) (err error) {
			all, more, p.Cursor, err = c.api.GetConversationRepliesContext(ctx, &p)
			return err
		})
		switch {
		case means(err) == meansToken:
			c.log.WarnContext(ctx, "a thread cannot be read; the end of its ask may be reported twice", "error", err)
			return false, nil
		case err != nil:
			return false, err
		}
		for i := range all {
			has := func(b slackapi.Block) bool { return b.ID() == mark }
			if (us == "" || all[i].User == us) && slices.ContainsFunc(all[i].Blocks.BlockSet, has) {
				return true, nil
			}
		}
		if !more || p.Cursor == "" {
			break
		}
	}
	return false, nil
}
