package telegram

import (
	"context"
	"errors"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
)

// The kinds of callback data that lead to the choices behind a second tap, and
// back. What follows is an ask's id, which gives no right.
const (
	dataMore = "g1:"
	dataBack = "b1:"
)

// moreButtons leads to the grants that a card offers; none where it offers none, or
// the person cannot see the whole of the call.
func (v *cardView) moreButtons(seen bool) []button {
	if !seen || len(v.Calls) != 1 || len(v.Calls[0].Grants) == 0 {
		return nil
	}
	return []button{{v.Texts.Plain("button.more", nil), dataMore + string(v.Ask)}}
}

// grantKeyboard are the choices behind the second tap.
func (v *cardView) grantKeyboard() string {
	var rows [][]button
	for _, b := range v.Calls[0].Grants {
		label := v.Texts.Plain(phrase("button."+string(b.Choice)), map[string]any{"most": approval.DefaultUses})
		rows = append(rows, []button{{label, dataChoice + string(b.Token)}})
	}
	rows = append(rows, []button{{v.Texts.Plain("button.back", nil), dataBack + string(v.Ask)}})
	return marshal(map[string]any{"inline_keyboard": rows})
}

// more shows the choices behind the second tap on the card that was pressed, or
// the first ones again. It decides nothing.
func (l *loop) more(ctx context.Context, q *callback, id string, open bool) error {
	card, err := l.desk.Card(ctx, approval.AskID(id), Name)
	if errors.Is(err, approval.ErrNotFound) {
		l.unknown(ctx, q)
		return nil
	}
	if err != nil {
		return err
	}
	v, _ := l.view(q.Message.Chat.ID, card)
	p, whole := v.fit(v.sum != "", false)
	keyboard := v.keyboard(whole)
	if open && len(v.moreButtons(whole)) > 0 && v.Open > 0 {
		keyboard = v.grantKeyboard()
	}
	l.answer(ctx, q, "", false)
	if err := delivery(l.edit(ctx, q.Message.Chat.ID, q.Message.ID, p, keyboard)); err != nil {
		l.log.WarnContext(ctx, "the further choices of a card could not be shown", "ask", id, "error", err)
	}
	return nil
}

// order follows a command that stops, lets go, lifts, ends or lists; any other is
// answered with help.
func (l *loop) order(ctx context.Context, m *message, name, rest string) error {
	p := l.page(m)
	said, known, err := cardtext.Obey(ctx, p.texts, l.desk, m.From.person(), Name, name, rest)
	if err != nil {
		return err
	}
	if !known {
		l.reply(ctx, m, "help", nil)
		return nil
	}
	p.write(said)
	l.replyPage(ctx, m, p, "")
	return nil
}
