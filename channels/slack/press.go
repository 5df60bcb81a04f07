package slack

import (
	"cmp"
	"context"
	"errors"
	"strings"

	slackapi "github.com/slack-go/slack"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
)

// press takes a press of a button. Only a listed person may press, and only in a channel
// that cards go to; everybody else is told so, in private.
func (l *loop) press(ctx context.Context, a *act) error {
	q := a.press
	if len(q.ActionCallback.BlockActions) == 0 {
		return nil
	}
	b, who := q.ActionCallback.BlockActions[0], presser(q)
	m := place{channel: cmp.Or(q.Container.ChannelID, q.Channel.ID), ts: cmp.Or(q.Container.MessageTs, q.Message.Timestamp)}
	at := l.conversation(m.channel)
	switch {
	case !l.may(ctx, who):
		l.whisper(ctx, m, who, l.texts.Plain("tap.stranger", nil))
		return nil
	case at == nil:
		l.whisper(ctx, m, who, l.texts.Plain("tap.place", nil))
		return nil
	}
	if chooses(b.ActionID) {
		return l.choose(ctx, at, m, who, b)
	}
	switch b.ActionID {
	case actionEdit:
		return nil
	case actionMore:
		a.ack.give(nil)
		return l.offer(ctx, at, m, who, b.Value)
	case actionReply:
		a.ack.give(nil)
		return l.prompt(ctx, m, who, q.TriggerID, b.Value, denying())
	case actionAsk:
		a.ack.give(nil)
		return l.prompt(ctx, m, who, q.TriggerID, b.Value, asking())
	case actionTest:
		return l.rehearsed(ctx, m, who, b.Value, has(&q.Message, actionTest))
	case actionWhy:
		a.ack.give(nil)
		return l.explain(ctx, m, who, b.Value)
	default:
		l.whisper(ctx, m, who, l.texts.Plain("tap.unknown", nil))
		return nil
	}
}

// choose hands in what a button stands for, with the digits behind it.
func (l *loop) choose(ctx context.Context, at *Conversation, m place, who person, b *slackapi.BlockAction) error {
	if b.ActionID != actionDeny && b.ActionID != actionDenyKind && !l.still(ctx, who) {
		l.whisper(ctx, m, who, l.texts.Plain("tap.stranger", nil))
		return nil
	}
	token, given, _ := strings.Cut(b.Value, ":")
	return l.decide(ctx, at, m, who, approval.Token(token), given)
}

// chooses reports whether a button's value is a token, which digits may follow.
func chooses(action string) bool {
	return action == actionAllow || action == actionDeny || action == actionDenyKind ||
		strings.HasPrefix(action, actionGrant) || strings.HasPrefix(action, actionDigit)
}

// presser returns the person who interacted.
func presser(q *slackapi.InteractionCallback) person {
	return person{id: q.User.ID, team: cmp.Or(q.User.TeamID, q.Team.ID), name: q.User.Name, back: q.ResponseURL}
}

// decide hands in a choice, with the digits given for it, and answers after the commit. If
// the choice requires digits, or more of them, it asks for them.
func (l *loop) decide(ctx context.Context, at *Conversation, m place, who person, token approval.Token, digits string) error {
	by := l.known(ctx, who)
	receipt, err := l.desk.Decide(ctx, approval.Tap{Token: token, Digits: digits, By: by, Channel: at.name})
	if match, ok := errors.AsType[*approval.MatchError](err); ok {
		l.match(ctx, m, who, token, match, digits)
		return nil
	}
	if err != nil {
		said, failed := l.failed(err)
		l.whisper(ctx, m, who, said)
		return failed
	}
	if receipt.Replaced {
		said := l.texts.Plain("tap.replaced", nil)
		if !receipt.Ask.Waiting() {
			said = cardtext.Answer(l.texts, &receipt, by)
		}
		l.whisper(ctx, m, who, said)
		if err := l.given(ctx, at, m, &receipt.Ask); err != nil {
			l.log.WarnContext(ctx, "a message that was given up kept its buttons; they decide nothing", "ask", receipt.Ask.ID, "error", err)
		}
		return nil
	}
	l.whisper(ctx, m, who, cardtext.Answer(l.texts, &receipt, by))
	l.freshen(ctx, who)
	return nil
}

// failed says why a tap decided nothing, and returns the error if the trouble is ours.
func (l *loop) failed(err error) (said string, trouble error) {
	if told, ok := cardtext.Refusal(err); ok {
		return l.texts.Plain(told, nil), nil
	}
	return l.texts.Plain("tap.failed", nil), err
}

// whisper tells one person something where they acted. It comes after the commit, so if it
// is lost nothing is taken back: the card shows the same.
func (l *loop) whisper(ctx context.Context, m place, who person, said string) {
	p := &page{texts: l.texts}
	p.text(said)
	l.whisperPage(ctx, m, who, p, said)
}

func (l *loop) whisperPage(ctx context.Context, m place, who person, p *page, notice string) {
	err := l.do(ctx, "chat.postEphemeral", func(ctx context.Context) error {
		_, err := l.api.PostEphemeralContext(ctx, m.channel, who.id, message(p, notice)...)
		return err
	})
	if who.back != "" && (says(err, "user_not_in_channel") || means(err) == meansShut) {
		err = l.back(ctx, m.channel, who.back, p, notice)
	}
	if err != nil {
		l.log.WarnContext(ctx, "a person could not be answered; what they decided stands", "error", err)
	}
}

// explain shows the judges' signals of an ask in the card's thread.
func (l *loop) explain(ctx context.Context, m place, who person, id string) error {
	p, err := l.reasons(ctx, id, maxText)
	if errors.Is(err, approval.ErrNotFound) {
		l.whisper(ctx, m, who, l.texts.Plain("tap.unknown", nil))
		return nil
	}
	if err != nil {
		l.whisper(ctx, m, who, l.texts.Plain("failed", nil))
		return err
	}
	if _, err := l.send(ctx, m, p, l.texts.Plain("button.why", nil)); err != nil {
		l.log.WarnContext(ctx, "the reasons could not be shown", "error", err)
	}
	return nil
}
