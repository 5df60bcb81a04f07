package slack

import (
	"context"
	"errors"
	"slices"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/channels/platform"
)

// actionTest is the verb of a test card's button.
const actionTest = "test"

// ErrUnheard says that a press is delivered to a daemon, and none is serving.
var ErrUnheard = errors.New("over HTTP, Slack delivers presses only to a running daemon, and none is running")

// Rehearse sends a card with one button to where cards go, and returns which of the people
// who may decide pressed it. It decides nothing. alone says that no Run hears people, here
// or in another process; Rehearse then opens a connection of its own, and takes nothing
// else from it. The error is [approval.ErrUntapped], [ErrUnheard], that of ctx, or the
// platform's, and shows no secrets.
func (c *Channel) Rehearse(ctx context.Context, alone bool) (approval.Person, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, platform.RehearsalLives, approval.ErrUntapped)
	defer cancel()
	l := c.loop(nil)
	if alone {
		if c.config.AppToken == "" {
			return approval.Person{}, ErrUnheard
		}
		if err := l.introduce(ctx); err != nil {
			return approval.Person{}, err
		}
	}
	r := c.rehearsals.Open()
	defer r.Close()
	m := place{channel: c.own.id}
	p := &page{texts: c.texts}
	p.say("test.card", nil)
	p.add(slackapi.NewActionBlock("", button(actionTest, r.Token, c.texts.Plain("button.test", nil))))
	ts, err := c.send(ctx, m, p, c.texts.Plain("test.card", nil))
	if err != nil {
		return approval.Person{}, err
	}
	m.ts = ts
	var hear func(context.Context) error
	if alone {
		hear = func(ctx context.Context) error {
			_, err := l.socket(ctx, 0)
			return err
		}
	}
	by, err := r.Wait(ctx, hear)
	l.working.Wait()
	l.endRehearsal(context.WithoutCancel(ctx), m, by)
	return by, err
}

// endRehearsal makes the test card final.
func (l *loop) endRehearsal(ctx context.Context, m place, by approval.Person) {
	p, over := &page{texts: l.texts}, cardtext.Rehearsed(l.texts, by, time.Now())
	p.write(over)
	if err := l.edit(ctx, m, p, over.String()); err != nil {
		l.log.WarnContext(ctx, "a test card kept its button, which does nothing", "error", err)
	}
}

// rehearsed takes a press of a test card's button. If the message as the platform delivers
// it does not have that button, it is another one, perhaps a card.
func (l *loop) rehearsed(ctx context.Context, m place, who person, token string, has bool) error {
	r := l.rehearsals.Find(token)
	if r == nil {
		l.whisper(ctx, m, who, l.texts.Plain("test.over", nil))
		if has {
			l.endRehearsal(ctx, m, approval.Person{})
		}
		return nil
	}
	l.whisper(ctx, m, who, l.texts.Plain("test.tap", nil))
	r.Press(l.known(ctx, who))
	return nil
}

// has reports whether the message has a button with the verb.
func has(m *slackapi.Message, action string) bool {
	return slices.ContainsFunc(m.Blocks.BlockSet, func(b slackapi.Block) bool {
		row, ok := b.(*slackapi.ActionBlock)
		return ok && slices.ContainsFunc(row.Elements.ElementSet, func(e slackapi.BlockElement) bool {
			button, ok := e.(*slackapi.ButtonBlockElement)
			return ok && button.ActionID == action
		})
	})
}

// rehearses reports whether the act is a press of a test card's button.
func (a *act) rehearses() bool {
	return a.press != nil && len(a.press.ActionCallback.BlockActions) > 0 && a.press.ActionCallback.BlockActions[0].ActionID == actionTest
}
