package slack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/platform"
)

const (
	// orphanAge is how far back orphans are looked for; no ask waits longer than a day.
	orphanAge = 25 * time.Hour
	// orphanPage and orphanPages limit the search; older orphans keep buttons that decide
	// nothing, and say so.
	orphanPage, orphanPages = 200, 10
)

// orphan is a message that nobody knows of, because we died, or got no answer, between
// sending it and recording where it is.
type orphan struct {
	place
	ask approval.AskID
	// bare says that it no longer has buttons.
	bare bool
}

// orphanMark is the prefix of the id of the block by which an orphan without buttons is
// found again.
const orphanMark = "orphan-"

// tidy looks for orphans, once after a start, and again after a message that may have got
// through; it also deals with those that were found.
func (l *loop) tidy(ctx context.Context, at *Conversation) {
	l.mu.Lock()
	due := at.untidy && time.Since(at.tidiedAt) > platform.LongestPause
	all := at.orphans
	at.orphans = nil
	l.mu.Unlock()
	var err error
	if due {
		var found []orphan
		found, err = l.orphans(ctx, at)
		all = join(all, found)
		l.mu.Lock()
		at.tidiedAt = time.Now()
		at.untidy = at.untidy || err != nil
		l.mu.Unlock()
	}
	if err = errors.Join(err, l.care(ctx, at, all)); err != nil && ctx.Err() == nil {
		l.log.WarnContext(ctx, "unrecorded messages may have kept their buttons; they decide nothing", "channel", at.name, "error", err)
	}
}

// care removes the buttons from orphans, because their cards are posted again. If an ask
// ends before its card is posted, the newest of its orphans becomes its card and shows the
// end. Orphans whose asks may still go either way are kept for the next look.
func (l *loop) care(ctx context.Context, at *Conversation, all []orphan) error {
	slices.SortFunc(all, func(a, b orphan) int { return strings.Compare(b.ts, a.ts) })
	var left []orphan
	var failed error
	for _, o := range all {
		done, err := l.settle(ctx, at, &o)
		if !done && err == nil {
			left = append(left, o)
		}
		failed = errors.Join(failed, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	at.untidy = at.untidy || failed != nil // what failed will be found again
	at.orphans = join(at.orphans, left)
	return failed
}

// given deals with a pressed message with buttons that had been given up. Which of several
// orphans shows the end is decided by a look at all of them.
func (l *loop) given(ctx context.Context, at *Conversation, m place, ask *approval.Ask) error {
	if s := ask.On(at.name); s != nil && s.Ref == "" && !ask.Waiting() {
		l.mu.Lock()
		defer l.mu.Unlock()
		at.untidy = true
		return nil
	}
	return l.care(ctx, at, []orphan{{place: m, ask: ask.ID}})
}

// settle does what can be done about an orphan, and reports whether it is done.
func (l *loop) settle(ctx context.Context, at *Conversation, o *orphan) (done bool, err error) {
	card, err := l.desk.Card(ctx, o.ask, at.name)
	known := !errors.Is(err, approval.ErrNotFound)
	if err != nil && known {
		return false, err
	}
	if shows(&card, o.place) {
		return true, nil
	}
	succeeded := slices.ContainsFunc(placesOf(&card), func(m place) bool { return m.channel == o.channel })
	if known && !succeeded && !waits(&card) {
		if adopted, err := l.adopt(ctx, o); adopted || err != nil {
			return adopted, err
		}
	}
	if !o.bare {
		if err := l.giveUp(ctx, o.place, orphanMark+string(o.ask)); !errors.Is(err, approval.ErrRepost) {
			return false, err
		}
		o.bare = true
	}
	return succeeded || !known, nil
}

// adopt makes the orphan the card of its ask, under the name by which the ask was sent to
// the channel: the app's own channel can have two.
func (l *loop) adopt(ctx context.Context, o *orphan) (bool, error) {
	for _, at := range l.all() {
		if at.id != o.channel {
			continue
		}
		if adopted, err := l.desk.Adopt(ctx, o.ask, at.name, o.ref()); adopted || err != nil {
			return adopted, err
		}
	}
	return false, nil
}

// join adds to all those of more that are not among them.
func join(all, more []orphan) []orphan {
	for _, o := range more {
		if !slices.ContainsFunc(all, func(known orphan) bool { return known.place == o.place }) {
			all = append(all, o)
		}
	}
	return all
}

// waits reports whether a call of the card waits for a person.
func waits(c *approval.Card) bool {
	return slices.ContainsFunc(c.Items, func(it approval.Item) bool { return it.State == approval.Pending })
}

// orphans returns the messages that have, or had, an ask's buttons and are not an ask's card.
// No card is posted in the meantime, so that one on its way is not mistaken for an orphan.
func (l *loop) orphans(ctx context.Context, at *Conversation) (found []orphan, err error) {
	at.posting.Lock()
	defer at.posting.Unlock()
	// A message that may get through from now on asks for another look.
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
			o, ok, err := l.orphan(ctx, at, &page.Messages[i])
			if err != nil {
				return found, err
			}
			if ok {
				found = append(found, o)
			}
		}
		if p.Cursor = page.ResponseMetaData.NextCursor; p.Cursor == "" {
			break
		}
	}
	return found, nil
}

// orphan reports whether a message of ours has, or had, the buttons of an ask whose card is
// another message.
func (l *loop) orphan(ctx context.Context, at *Conversation, said *slackapi.Message) (o orphan, ok bool, err error) {
	l.mu.Lock()
	ours := said.User == l.self.user
	l.mu.Unlock()
	o.place = place{channel: at.id, ts: said.Timestamp}
	if o.ask, o.bare, ok = askOf(said); !ours || !ok || l.posted.has(o.message()) {
		return o, false, nil
	}
	card, err := l.desk.Card(ctx, o.ask, at.name)
	if err != nil && !errors.Is(err, approval.ErrNotFound) {
		return o, false, err
	}
	return o, !shows(&card, o.place), nil
}

// askOf returns the ask whose buttons a message has, or had before they were removed.
func askOf(m *slackapi.Message) (id approval.AskID, bare, ok bool) {
	for _, b := range m.Blocks.BlockSet {
		if id, ok := strings.CutPrefix(b.ID(), orphanMark); ok {
			return approval.AskID(id), true, true
		}
		row, ok := b.(*slackapi.ActionBlock)
		if !ok || row.Elements == nil {
			continue
		}
		for _, e := range row.Elements.ElementSet {
			if b, ok := e.(*slackapi.ButtonBlockElement); ok && b.ActionID == actionReply {
				return approval.AskID(b.Value), false, true
			}
		}
	}
	return "", false, false
}
