package telegram

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/channels/platform"
	"github.com/metnos/vaglio/internal/strictjson"
)

// dataTest is the prefix of the data of a test card's button.
const dataTest = "t1:"

// Rehearse sends a card with one button to where cards go, and returns who pressed it. It
// decides nothing. alone says that no Run receives updates, here or in another process;
// Rehearse then polls by itself, and confirms nothing that the next Run must take. The
// error is [approval.ErrUntapped], [approval.ErrUnpaired], that of ctx, or the platform's,
// and shows no token.
func (c *Channel) Rehearse(ctx context.Context, alone bool) (approval.Person, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, platform.RehearsalLives, approval.ErrUntapped)
	defer cancel()
	chat, ok := c.place()
	if !ok {
		return approval.Person{}, approval.ErrUnpaired
	}
	r := c.rehearsals.Open()
	defer r.Close()
	p := &page{texts: c.textsFor(chat)}
	p.say("test.card", nil)
	id, err := c.send(ctx, chat, p, note{thread: c.topic, markup: marshal(map[string]any{
		"inline_keyboard": [][]button{{{Text: p.texts.Plain("button.test", nil), Data: dataTest + r.Token}}},
	})})
	if err != nil {
		return approval.Person{}, err
	}
	var hear func(context.Context) error
	l := &loop{Channel: c}
	defer l.speech.Wait()
	if alone {
		hear = l.pollForTest
	}
	by, err := r.Wait(ctx, hear)
	c.endRehearsal(context.WithoutCancel(ctx), chat, id, by)
	return by, err
}

// endRehearsal makes the test card final.
func (c *Channel) endRehearsal(ctx context.Context, chat int64, id int, by approval.Person) {
	p := &page{texts: c.textsFor(chat)}
	p.write(cardtext.Rehearsed(p.texts, by, time.Now()))
	if err := c.edit(ctx, chat, id, p, ""); err != nil {
		c.log.WarnContext(ctx, "a test card kept its button, which does nothing", "error", err)
	}
}

// rehearsed takes a press of a test card's button.
func (l *loop) rehearsed(ctx context.Context, q *callback, token string) error {
	r := l.rehearsals.Find(token)
	if r == nil {
		l.refuse(ctx, q, "test.over")
		if !q.Message.has(q.Data) {
			return nil // the press may name a message that is not its own, such as a card
		}
		l.later(ctx, laneOf(q.Message.Chat.ID), func() {
			if err := l.strip(ctx, q.Message.Chat.ID, q.Message.ID, "test.over"); err != nil {
				l.log.WarnContext(ctx, "an old test card kept its button, which does nothing", "error", err)
			}
		})
		return nil
	}
	l.answer(ctx, q, tgbotapi.Params{"text": l.textsOf(q).Plain("test.tap", nil)})
	r.Press(q.From.person())
	return nil
}

// pollForTest receives presses of test cards, and nothing else. It gives no offset, so the
// platform keeps everything for the next Run, and returns the same updates each time.
func (l *loop) pollForTest(ctx context.Context) error {
	// The platform makes clients that repeat a poll wait this long.
	const again = 3 * time.Second
	taken := map[string]bool{}
	for ctx.Err() == nil {
		res, err := l.api.call(ctx, "getUpdates", tgbotapi.Params{
			"timeout": strconv.Itoa(int(pollFor / time.Second)), "limit": "100",
		}, pollWithin)
		if err != nil {
			return err
		}
		var batch []update
		if err := strictjson.UnmarshalLoose(res, &batch); err != nil {
			return &PlatformError{Method: "getUpdates", Code: http.StatusBadRequest, Description: "the answer cannot be read"}
		}
		for i := range batch {
			q := batch[i].Callback
			if q == nil || taken[q.ID] || !strings.HasPrefix(q.Data, dataTest) {
				continue
			}
			taken[q.ID] = true
			// The press ends the wait, and is answered all the same.
			if err := l.press(context.WithoutCancel(ctx), q); err != nil {
				return err
			}
		}
		if len(batch) > 0 {
			platform.Sleep(ctx, again)
		}
	}
	return ctx.Err()
}
