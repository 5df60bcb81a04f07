package telegram

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
)

// The kinds of callback data that lead to the choices behind a second tap, and back. An
// ask's id follows, which grants nothing.
const (
	dataMore = "g1:"
	dataBack = "b1:"
)

// further returns the rows of buttons that reach further than the call: the grants, or the
// button that leads to them, and the denial of its kind.
func (v *cardView) further(seen bool) [][]button {
	f := v.Further(seen)
	rows := choiceRows(f.Denials)
	switch {
	case f.InSight:
		rows = append(rows, choiceRows(f.Grants)...)
	case len(f.Grants) > 0:
		rows = append(rows, []button{{Text: v.Texts.Plain("button.more", nil), Data: dataMore + string(v.Ask)}})
	}
	return rows
}

// choiceRows returns rows of one choice each.
func choiceRows(all []cardtext.Choice) (rows [][]button) {
	for _, c := range all {
		rows = append(rows, []button{{Text: c.Label, Data: dataChoice + string(c.Token)}})
	}
	return rows
}

// behind returns a keyboard behind another one, with the way back.
func (v *cardView) behind(rows [][]button) string {
	rows = append(rows, []button{{Text: v.Texts.Plain("button.back", nil), Data: dataBack + string(v.Ask)}})
	return marshal(keys{rows})
}

// sureKeyboard asks for confirmation of the Allow with that token, or returns "" if the
// card does not offer it.
func (v *cardView) sureKeyboard(token approval.Token, seen bool) string {
	offered := slices.Clone(v.Buttons)
	for i := range v.Calls {
		offered = append(offered, v.Calls[i].Buttons...)
	}
	if !seen || !slices.Contains(offered, approval.Button{Choice: approval.ChoiceAllow, Token: token}) {
		return ""
	}
	return v.behind([][]button{{{Text: v.Texts.Plain("confirm.yes", nil), Data: dataChoice + string(token), Style: styleDanger}}})
}

// more shows the choices behind the second tap on the pressed card, or the first ones
// again. It decides nothing.
func (l *loop) more(ctx context.Context, q *callback, id string, open bool) error {
	return l.turn(ctx, q, id, "", func(v *cardView, whole bool) string {
		if grants := v.Further(whole).Grants; open && len(grants) > 0 {
			return v.behind(choiceRows(grants))
		}
		return ""
	})
}

// sure asks for confirmation that a call that cannot be undone may run. It decides nothing.
// The press carries the ask and the token of its Allow.
func (l *loop) sure(ctx context.Context, q *callback, what string) error {
	id, token, _ := strings.Cut(what, ":")
	return l.turn(ctx, q, id, "", func(v *cardView, whole bool) string { return v.sureKeyboard(approval.Token(token), whole) })
}

// match asks for the next of the digits that a choice requires, on the pressed card. It
// decides nothing.
func (l *loop) match(ctx context.Context, q *callback, token approval.Token, e *approval.MatchError, given string) error {
	said := cardtext.Digits(l.textsOf(q), e, given, false)
	return l.turn(ctx, q, string(e.Ask), said, func(v *cardView, _ bool) string {
		if e.Left == 0 {
			return ""
		}
		return v.behind(digitRows(token, given))
	})
}

// digitRows returns the buttons for the next digit, five per row, so that they are wide
// enough for a thumb.
func digitRows(token approval.Token, given string) (rows [][]button) {
	var all []button
	for _, d := range cardtext.NextDigits(given) {
		all = append(all, button{Text: d, Data: dataDigits + string(token) + ":" + given + d})
	}
	return slices.Collect(slices.Chunk(all, 5))
}

// turn shows other buttons on the pressed card: those behind, or its own if there are none.
// It answers the press with said, as an alert.
func (l *loop) turn(ctx context.Context, q *callback, id, said string, behind func(v *cardView, whole bool) string) error {
	card, err := l.desk.Card(ctx, approval.AskID(id), Name)
	if errors.Is(err, approval.ErrNotFound) {
		l.unknown(ctx, q)
		return nil
	}
	if err != nil {
		return err
	}
	v, d := l.view(q.Message.Chat.ID, card)
	p, whole := v.fit(v.attached(d), false)
	keyboard := cmp.Or(behind(v, whole), v.keyboard(whole))
	l.alert(ctx, q, said)
	l.later(ctx, laneOf(q.Message.Chat.ID), func() {
		err := delivery(l.edit(ctx, q.Message.Chat.ID, q.Message.ID, p, keyboard))
		if err == nil {
			err = l.caughtUp(ctx, q.Message, card)
		}
		if err != nil {
			l.log.WarnContext(ctx, "the further choices of a card could not be shown", "ask", id, "error", err)
		}
	})
	return nil
}

// caughtUp shows the current state of a card that changed while other buttons were put on
// its old state: the dispatcher has shown the change before, and will not come back.
func (l *loop) caughtUp(ctx context.Context, at *message, was approval.Card) error {
	for {
		now, err := l.desk.Card(ctx, was.Ask, Name)
		if err != nil || now.View == was.View {
			return err
		}
		if err := l.Amend(ctx, refTo(at.Chat.ID, at.ID), now); err != nil {
			return err
		}
		was = now
	}
}

// order carries out a command that stops, releases, lifts, ends or lists; any other command
// gets help.
func (l *loop) order(ctx context.Context, m *message, name, rest string) error {
	p := l.page(m)
	said, known, err := cardtext.Obey(ctx, p.texts, l.desk, m.From.person(), Name, name, rest)
	if err != nil {
		return err
	}
	if !known {
		unknown := cardtext.Unknown(p.texts, name, menuCommands())
		if unknown == nil {
			l.reply(ctx, m, "help", nil)
			return nil
		}
		said = unknown
	}
	p.write(said)
	l.replyPage(ctx, m, p, "")
	return nil
}
