package telegram

import (
	"context"
	"errors"
	"iter"
	"strconv"
	"sync"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/channels/platform"
	"github.com/metnos/vaglio/internal/strictjson"
)

// Desk is what the channel asks of the dispatcher.
type Desk interface {
	// Decide takes a tap. What it returns is on disk.
	Decide(ctx context.Context, t approval.Tap) (approval.Receipt, error)
	// Opened says that there was a sign that the channel with the name accepts messages.
	Opened(channel string)
	Cards
	Book
	cardtext.Orders
}

// Cards gives access to the cards of all asks, as the channel shows them.
type Cards interface {
	// Pending yields the cards that wait, oldest first.
	Pending(ctx context.Context, channel string) iter.Seq2[approval.Card, error]
	// Look makes sure that people can see the card of an ask that waits: a deleted message
	// is replaced.
	Look(ctx context.Context, id approval.AskID, channel string) error
	// Card returns the card of an ask.
	Card(ctx context.Context, id approval.AskID, channel string) (approval.Card, error)
}

// Book is where the channel reads about the past.
type Book interface {
	// Find returns the ask that a person names.
	Find(ctx context.Context, id string) (approval.Ask, error)
	// Why returns the card that a person names, of an ask or of what was refused without
	// one.
	Why(ctx context.Context, id, channel string) (approval.Card, error)
	// Digest returns the digest that was due on a day such as "2026-11-21"; an empty day
	// means the window that is not over. A [*report.DayError] says that there is none.
	Digest(ctx context.Context, day string) (report.Digest, error)
}

// loop takes the updates, one after the other. What it says about them goes through the
// lanes: no press waits until something else has been said.
type loop struct {
	*Channel
	desk   Desk
	speech platform.Lanes
}

// later says something, after what is already queued in the lane.
func (l *loop) later(ctx context.Context, lane string, say func()) {
	if !l.speech.Do(lane, say) {
		l.log.WarnContext(ctx, "too many messages wait to be sent; an answer was dropped", "lane", lane)
	}
}

// laneOf returns the lane of a chat.
func laneOf(chat int64) string { return "chat " + strconv.FormatInt(chat, 10) }

const (
	pollFor = 50 * time.Second
	// pollWithin is when a poll without an answer counts as lost.
	pollWithin = pollFor + 15*time.Second
	// pressLives is how long the platform keeps a press for us.
	pressLives = 150 * time.Second

	// conflictPause is long, because the other poller may be the right one.
	conflictPause = 30 * time.Second
	longConflict  = 5 * time.Minute
	// hotPoll is the least time between two polls that return nothing.
	hotPoll = time.Second
	// tries is how often a polled update is tried if its effect cannot be stored. The tries
	// take seven seconds: after some fifteen a press can no longer be answered, and the
	// person who pressed must be told.
	tries = 4
)

// Run takes what people do until ctx ends. Trouble with the platform does not end it:
// Health reports the trouble, and Run tries again after a pause. An update is confirmed
// only once its effect is committed, so one that a crash interrupts comes again.
func (c *Channel) Run(ctx context.Context, desk Desk) error {
	l := &loop{Channel: c, desk: desk}
	defer c.end()
	defer l.speech.Wait()
	var receiving sync.WaitGroup
	defer receiving.Wait()
	listen := l.listen
	if c.webhook != "" {
		listen = l.serveHook
		receiving.Go(func() { l.receive(ctx) })
	}
	var menus sync.Once
	for failures := 0; ctx.Err() == nil; failures++ {
		heard := c.Status().Heard
		err := l.introduce(ctx)
		if err == nil {
			menus.Do(func() { receiving.Go(func() { l.keepMenus(ctx) }) })
			err = listen(ctx)
		}
		if ctx.Err() != nil {
			break
		}
		if !c.Status().Heard.Equal(heard) {
			failures = 0
		}
		pause := c.deaf(err, failures)
		c.log.WarnContext(ctx, "updates from telegram cannot be received; trying again", "error", err, "pause", pause)
		platform.Sleep(ctx, pause)
	}
	return nil
}

// listen polls until something fails.
func (l *loop) listen(ctx context.Context) error {
	if err := l.unhook(ctx); err != nil {
		return err
	}
	// The first poll does not wait: it shows the state at once.
	for wait := time.Duration(0); ; wait = pollFor {
		began := time.Now()
		batch, err := l.poll(ctx, wait)
		if err != nil {
			return err
		}
		if err := l.heard(ctx); err != nil {
			return err
		}
		if err := l.takeAll(ctx, batch); err != nil {
			return err
		}
		if len(batch) == 0 && wait > 0 {
			platform.Sleep(ctx, hotPoll-time.Since(began))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// introduce finds out who the bot is.
func (l *loop) introduce(ctx context.Context) error {
	l.mu.Lock()
	known := l.self.ID != 0
	l.mu.Unlock()
	if known {
		return nil
	}
	res, err := l.api.call(ctx, "getMe", nil, callWithin)
	if err != nil {
		return err
	}
	var self user
	if err := strictjson.UnmarshalLoose(res, &self); err != nil || self.ID == 0 {
		return errors.New("telegram: getMe: the answer names no bot")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.self = self
	return nil
}

// poll waits for updates. Its offset confirms the earlier ones.
func (l *loop) poll(ctx context.Context, wait time.Duration) ([]strictjson.Value, error) {
	offset := l.notes.Now().Offset
	res, err := l.api.call(ctx, "getUpdates", tgbotapi.Params{
		"offset": strconv.FormatInt(offset, 10), "timeout": strconv.Itoa(int(wait / time.Second)), "limit": "100",
		"allowed_updates": wantedUpdates,
	}, pollWithin)
	if err != nil {
		return nil, err
	}
	var batch []strictjson.Value
	if err := strictjson.UnmarshalLoose(res, &batch); err != nil {
		return nil, errors.New("telegram: getUpdates: the answer is not a list")
	}
	return batch, nil
}

// heard records that the platform answered. After a pause longer than the life of a press
// it tells the person that presses may be lost.
func (l *loop) heard(ctx context.Context) error {
	now := time.Now().Round(0)
	before := l.notes.Now().Heard
	l.mu.Lock()
	l.lastHeard, l.hearing = now, platform.Trouble{}
	l.mu.Unlock()
	if !before.IsZero() && now.Sub(before) >= pressLives {
		if err := l.away(ctx, before, now); err != nil {
			return err
		}
	}
	return l.notes.Change(ctx, func(n *Notes) { n.Heard = now })
}

// away says that presses may be lost, if anything waits for one.
func (l *loop) away(ctx context.Context, from, to time.Time) error {
	chat, ok := l.place()
	n, err := l.waiting(ctx)
	if err != nil || n == 0 || !ok {
		return err
	}
	p := &page{texts: l.textsFor(chat)}
	p.say("away", map[string]any{"from": from, "to": to, "n": n})
	l.later(ctx, laneOf(chat), func() {
		if _, err := l.send(ctx, chat, p, note{thread: l.topic}); err != nil {
			l.log.WarnContext(ctx, "the chat could not be warned that presses may be lost", "error", err)
		}
	})
	return nil
}

func (l *loop) waiting(ctx context.Context) (int, error) {
	n := 0
	for _, err := range l.desk.Pending(ctx, Name) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// takeAll takes a batch. Updates that store nothing are confirmed together with the next
// that does, or at the end of the batch: a commit for every word that somebody writes would
// hold up the presses after it.
func (l *loop) takeAll(ctx context.Context, batch []strictjson.Value) error {
	var passed int64
	for _, u := range batch {
		id, kept, err := l.take(ctx, u)
		if err != nil {
			return err
		}
		if passed = id; kept {
			passed = 0
		}
	}
	if passed == 0 {
		return nil
	}
	return l.notes.Change(ctx, func(n *Notes) { n.Offset = passed + 1 })
}

// take lets a polled update have its effect, and then moves the offset past it if it stored
// anything. An id below the offset means that the platform restarted its ids, and moves the
// offset down.
func (l *loop) take(ctx context.Context, raw strictjson.Value) (id int64, kept bool, err error) {
	id, u, err := l.decode(ctx, raw)
	if err != nil {
		return 0, false, err
	}
	for try := range tries {
		if try > 0 {
			platform.Sleep(ctx, platform.Backoff(platform.FirstPause, platform.LongestPause, try-1))
		}
		if kept, err = l.effect(ctx, id, &u); err == nil || ctx.Err() != nil {
			break
		}
		l.log.ErrorContext(ctx, "an update has had no effect yet", "update", id, "try", try+1, "error", err)
	}
	switch {
	case ctx.Err() != nil:
		return 0, false, ctx.Err()
	case err != nil:
		l.giveUp(ctx, &u)
	case !kept:
		return id, false, nil
	}
	return id, true, l.notes.Change(ctx, func(n *Notes) { n.Offset = id + 1; n.add(id, time.Now()) })
}

// decode reads an update. If only its id can be read, the update is skipped: it is returned
// as the zero update.
func (l *loop) decode(ctx context.Context, raw strictjson.Value) (int64, update, error) {
	var id struct {
		ID int64 `json:"update_id"`
	}
	if err := strictjson.UnmarshalLoose(raw, &id); err != nil || id.ID == 0 {
		return 0, update{}, errors.New("telegram: an update has no id")
	}
	var u update
	if err := strictjson.UnmarshalLoose(raw, &u); err != nil {
		l.log.WarnContext(ctx, "an update cannot be read and is skipped", "update", id.ID)
		return id.ID, update{}, nil
	}
	return id.ID, u, nil
}

// effect lets an update have its effect, unless it already had it. It reports whether
// anything was stored: an update that stored nothing may come again, and is then answered
// again.
func (l *loop) effect(ctx context.Context, id int64, u *update) (kept bool, err error) {
	notes := l.notes.Now()
	if notes.has(id, time.Now()) {
		return true, nil
	}
	return l.handle(ctx, u)
}
