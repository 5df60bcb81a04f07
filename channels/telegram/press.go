package telegram

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"strings"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/templates"
)

// maxAnswerText is the most characters in the answer to a press.
const maxAnswerText = 200

// press takes a press of a button. Only a listed person may press, and only in the chat
// that cards go to, or on a button that the platform says is really there: a card that was
// posted before the chat changed. Everybody else is told so, in private.
func (l *loop) press(ctx context.Context, q *callback) error {
	if l.turnedAway(ctx, q) {
		return nil
	}
	if token, ok := strings.CutPrefix(q.Data, dataChoice); ok {
		return l.decide(ctx, q, approval.Token(token), "")
	}
	if what, ok := strings.CutPrefix(q.Data, dataDigits); ok {
		token, given, _ := strings.Cut(what, ":")
		return l.decide(ctx, q, approval.Token(token), given)
	}
	if id, ok := strings.CutPrefix(q.Data, dataReply); ok {
		return l.prompt(ctx, q, id, denying())
	}
	if id, ok := strings.CutPrefix(q.Data, dataAsk); ok {
		return l.prompt(ctx, q, id, asking())
	}
	if id, ok := strings.CutPrefix(q.Data, dataWhy); ok {
		l.answer(ctx, q, nil)
		return l.why(ctx, q.Message, id)
	}
	if id, ok := strings.CutPrefix(q.Data, dataMore); ok {
		return l.more(ctx, q, id, true)
	}
	if what, ok := strings.CutPrefix(q.Data, dataSure); ok {
		return l.sure(ctx, q, what)
	}
	if id, ok := strings.CutPrefix(q.Data, dataBack); ok {
		return l.more(ctx, q, id, false)
	}
	if token, ok := strings.CutPrefix(q.Data, dataTest); ok {
		return l.rehearsed(ctx, q, token)
	}
	l.refuse(ctx, q, "tap.unknown")
	return nil
}

// turnedAway reports whether somebody may not press, or not there, and tells them.
func (l *loop) turnedAway(ctx context.Context, q *callback) bool {
	if q.From.IsBot || !l.listed(q.From.ID) {
		if l.strangers.admits(q.From.ID) {
			// A person who sets up a group needs the number.
			l.log.InfoContext(ctx, "somebody who may not decide pressed a button", "person", q.From.ID)
		}
		l.refuse(ctx, q, "tap.stranger")
		return true
	}
	if home, _ := l.place(); q.Message == nil || q.Message.Chat.ID != home && !q.Message.has(q.Data) {
		l.refuse(ctx, q, "tap.place")
		return true
	}
	return false
}

// decide hands in a choice, with the digits given for it, and answers after the commit. If
// the choice requires digits, or more of them, it asks for them.
func (l *loop) decide(ctx context.Context, q *callback, token approval.Token, digits string) error {
	texts := l.textsOf(q)
	by := q.From.person()
	receipt, err := l.desk.Decide(ctx, approval.Tap{Token: token, Digits: digits, By: by, Channel: Name})
	if match, ok := errors.AsType[*approval.MatchError](err); ok {
		return l.match(ctx, q, token, match, digits)
	}
	switch told, ok := cardtext.Refusal(err); {
	case errors.Is(err, approval.ErrNotFound):
		l.unknown(ctx, q)
		return nil
	case ok:
		l.refuse(ctx, q, told)
		return nil
	case err != nil:
		return err
	}
	if receipt.Mismatch != nil {
		return l.turn(ctx, q, string(receipt.Ask.ID), cardtext.Answer(texts, &receipt, by), func(*cardView, bool) string { return "" })
	}
	if receipt.Replaced {
		return l.replaced(ctx, q, receipt.Ask.ID)
	}
	if said := cardtext.Answer(texts, &receipt, by); receipt.Won || receipt.Voted {
		l.answer(ctx, q, tgbotapi.Params{"text": said})
	} else {
		l.alert(ctx, q, said)
	}
	l.heal(ctx, q, &receipt.Ask)
	return nil
}

// unknown answers a press that means nothing, and removes the buttons from the message if
// it really has the pressed one: what a press claims to be comes from the sender.
func (l *loop) unknown(ctx context.Context, q *callback) {
	l.refuse(ctx, q, "tap.unknown")
	if !q.Message.has(q.Data) {
		return
	}
	l.later(ctx, laneOf(q.Message.Chat.ID), func() {
		if err := l.strip(ctx, q.Message.Chat.ID, q.Message.ID, "stale"); err != nil {
			l.log.WarnContext(ctx, "the buttons of a message that have no effect could not be removed", "error", err)
		}
	})
}

// replaced answers a press on a message that a newer one replaced, and removes its buttons.
func (l *loop) replaced(ctx context.Context, q *callback, id approval.AskID) error {
	l.refuse(ctx, q, "tap.replaced")
	l.later(ctx, laneOf(q.Message.Chat.ID), func() {
		if err := l.strip(ctx, q.Message.Chat.ID, q.Message.ID, "replaced"); err != nil {
			l.log.WarnContext(ctx, "a message that was given up kept its buttons; they decide nothing", "ask", id, "error", err)
		}
	})
	return nil
}

// heal brings the pressed message up to date if it is not the recorded one: a crash between
// sending and recording leaves such a twin.
func (l *loop) heal(ctx context.Context, q *callback, ask *approval.Ask) {
	shown := ask.On(Name)
	if shown == nil || shown.Ref == refOf(q.Message) && !shown.Gone {
		return
	}
	l.later(ctx, laneOf(q.Message.Chat.ID), func() {
		card, err := l.desk.Card(ctx, ask.ID, Name)
		if err == nil {
			v, _ := l.view(q.Message.Chat.ID, card)
			err = delivery(l.amend(ctx, q.Message.Chat.ID, q.Message.ID, v, v.sum != "" && v.Open == 0))
		}
		if err != nil {
			l.log.WarnContext(ctx, "the twin of a card could not be brought up to date", "ask", ask.ID, "error", err)
		}
	})
}

// prompt opens a reply for words.
func (l *loop) prompt(ctx context.Context, q *callback, id string, kind prompt) error {
	ask, err := l.desk.Find(ctx, id)
	switch {
	case errors.Is(err, approval.ErrNotFound):
		l.refuse(ctx, q, "tap.unknown")
		return nil
	case err != nil:
		return err
	case !ask.Waiting():
		l.refuse(ctx, q, "tap.over")
		return nil
	}
	l.answer(ctx, q, nil)
	p := l.page(q.Message)
	p.line(kind.says, nil)
	// In a group the reply opens only for the person whom the prompt mentions.
	alone := q.Message.Chat.Type == private
	if !alone {
		p.mention(&q.From)
		p.text("\n")
	}
	p.say("id", map[string]any{"id": theirs(ask.ID)})
	l.replyPage(ctx, q.Message, p, marshal(map[string]any{
		"force_reply": true, "selective": !alone, "input_field_placeholder": p.texts.Plain(kind.placeholder, nil),
	}))
	return nil
}

// refuse tells a person that their press did nothing.
func (l *loop) refuse(ctx context.Context, q *callback, told templates.Key) {
	l.alert(ctx, q, l.textsOf(q).Plain(told, nil))
}

// alert answers a press in a window that the person must close.
func (l *loop) alert(ctx context.Context, q *callback, said string) {
	l.answer(ctx, q, tgbotapi.Params{"text": said, "show_alert": "true"})
}

// answer answers a press. It comes after the commit, so if it is late or lost nothing is
// taken back: the card shows the same.
func (l *loop) answer(ctx context.Context, q *callback, says tgbotapi.Params) {
	params := tgbotapi.Params{"callback_query_id": q.ID}
	maps.Copy(params, says)
	params["text"] = cardtext.Clip(params["text"], maxAnswerText)
	// Each person's presses have a lane: an answer waits for no message, and for nobody
	// else's press.
	lane := "strangers' presses"
	if l.listed(q.From.ID) {
		lane = "presses of " + strconv.FormatInt(q.From.ID, 10)
	}
	if !l.speech.Do(lane, func() {
		_, err := l.api.call(ctx, "answerCallbackQuery", params, callWithin)
		if p, ok := errors.AsType[*PlatformError](err); ok && p.says("query is too old") {
			return
		}
		if err != nil {
			l.log.WarnContext(ctx, "a press could not be answered; what it decided stands", "error", err)
		}
	}) {
		l.log.WarnContext(ctx, "a press is not answered: too many are waiting; what it decided stands")
	}
}

func refOf(m *message) string { return refTo(m.Chat.ID, m.ID) }
