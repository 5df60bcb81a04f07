package slack

import (
	"context"
	"errors"

	slackapi "github.com/slack-go/slack"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
)

// The verbs of buttons. A button's value says nothing by itself: it is a token, or an ask's
// id, which grants nothing.
const (
	actionAllow = "allow"
	actionDeny  = "deny"
	actionReply = "reply"
	actionWhy   = "why"
	// actionEdit opens the inbox. We are told about its presses, which mean nothing.
	actionEdit = "edit"
)

func button(action, value, label string) *slackapi.ButtonBlockElement {
	return slackapi.NewButtonBlockElement(action, value, plain(cardtext.Clip(label, maxButton)))
}

// choices puts the buttons of one call of a plan below it.
func (v *cardView) choices(p *page, i int, whole bool) {
	it := &v.Calls[i]
	if len(v.Calls) < 2 || v.Open > maxPerItem || it.State != approval.Pending {
		return
	}
	n := map[string]any{"n": i + 1}
	v.row(p, v.pair(it.Buttons, whole, it.Irreversible, v.Texts.Plain("button.allow.nth", n), v.Texts.Plain("button.deny.nth", n)))
}

// all puts below the card the buttons that stand for everything that waits, and those that
// ask back.
func (v *cardView) all(p *page, whole bool) {
	if v.Open == 0 {
		return
	}
	forever := false
	for i := range v.Calls {
		forever = forever || v.Calls[i].Irreversible && v.Calls[i].State == approval.Pending
	}
	var row []slackapi.BlockElement
	switch n := map[string]any{"n": v.Open}; {
	case len(v.Calls) == 1:
		row = v.pair(v.Buttons, whole, forever, v.Texts.Plain("button.allow", nil), v.Texts.Plain("button.deny", nil))
	case v.Open > 1:
		row = v.pair(v.Buttons, whole, forever, v.Texts.Plain("button.allow.all", n), v.Texts.Plain("button.deny.all", n))
	}
	f := v.Further(whole)
	row = append(row, v.further(&f)...)
	if l, leads := v.EditLink(v.edits); leads {
		row = append(row, button(actionEdit, string(v.Ask), l.Label).WithURL(l.Address))
	}
	if v.MayAsk {
		row = append(row, button(actionAsk, string(v.Ask), v.Texts.Plain("button.ask", nil)))
	}
	v.row(p, append(row, button(actionReply, string(v.Ask), v.Texts.Plain("button.reply", nil)), button(actionWhy, string(v.Ask), v.Texts.Plain("button.why", nil))))
}

func (v *cardView) row(p *page, row []slackapi.BlockElement) {
	if len(row) > 0 {
		p.add(slackapi.NewActionBlock("", row...))
	}
}

// pair returns Allow, if it may be offered, and Deny. An Allow that cannot be taken back
// looks dangerous and asks for confirmation.
func (v *cardView) pair(bs []approval.Button, whole, forever bool, allow, deny string) []slackapi.BlockElement {
	var row []slackapi.BlockElement
	for _, b := range bs {
		switch {
		case b.Choice == approval.ChoiceAllow && whole && forever:
			row = append(row, button(actionAllow, string(b.Token), allow).WithStyle(slackapi.StyleDanger).WithConfirm(&slackapi.ConfirmationBlockObject{
				Title: plain(cardtext.Clip(v.Texts.Plain("confirm.title", nil), maxButton)), Text: plain(cardtext.Clip(v.Texts.Plain("confirm.text", nil), maxConfirm)),
				Confirm: plain(cardtext.Clip(allow, maxVerb)), Deny: plain(cardtext.Clip(v.Texts.Plain("confirm.no", nil), maxVerb)), Style: slackapi.StyleDanger,
			}))
		case b.Choice == approval.ChoiceAllow && whole:
			row = append(row, button(actionAllow, string(b.Token), allow).WithStyle(slackapi.StylePrimary))
		case b.Choice == approval.ChoiceDeny:
			row = append(row, button(actionDeny, string(b.Token), deny))
		}
	}
	return row
}

// The verbs behind a second tap: the button that leads there, whose value is an ask's id,
// and the choices, whose values are tokens.
const (
	actionMore  = "more"
	actionGrant = "grant"
	// actionDenyKind denies the call and everything of its kind.
	actionDenyKind = "deny-kind"
	// actionDigit gives the digits that a choice requires: its value is a token and the
	// digits pressed so far.
	actionDigit = "digit"
)

// further returns what reaches further than the call: the denial of its kind, and the
// grants or the button that leads to them.
func (v *cardView) further(f *cardtext.Further) (row []slackapi.BlockElement) {
	for _, c := range f.Denials {
		row = append(row, button(actionDenyKind, string(c.Token), c.Label))
	}
	switch {
	case f.InSight:
		row = append(row, granting(f.Grants)...)
	case len(f.Grants) > 0:
		row = append(row, button(actionMore, string(v.Ask), v.Texts.Plain("button.more", nil)))
	}
	return row
}

// granting returns the buttons of grants.
func granting(grants []cardtext.Choice) (row []slackapi.BlockElement) {
	for _, c := range grants {
		row = append(row, button(actionGrant+"-"+string(c.Choice), string(c.Token), c.Label))
	}
	return row
}

// offer shows the grants of a card to the one person who wants to see them.
func (l *loop) offer(ctx context.Context, at *Conversation, m place, who person, id string) error {
	card, err := l.desk.Card(ctx, approval.AskID(id), at.name)
	if errors.Is(err, approval.ErrNotFound) {
		l.whisper(ctx, m, who, l.texts.Plain("tap.unknown", nil))
		return nil
	}
	if err != nil {
		l.whisper(ctx, m, who, l.texts.Plain("failed", nil))
		return err
	}
	v := cardtext.Read(card, l.texts)
	grants := v.Further(true).Grants // the button that led here is on cards that show the whole call
	if len(grants) == 0 {
		l.whisper(ctx, m, who, l.texts.Plain("tap.over", nil))
		return nil
	}
	p := &page{texts: l.texts}
	p.say("grant.offer", map[string]any{"agent": cardtext.Within(card.Agent, maxName)})
	p.add(slackapi.NewActionBlock("", granting(grants)...))
	l.whisperPage(ctx, m, who, p, l.texts.Plain("button.more", nil))
	return nil
}

// match asks the one person who pressed for the next of the digits that a choice requires.
func (l *loop) match(ctx context.Context, m place, who person, token approval.Token, e *approval.MatchError, given string) {
	said := cardtext.Digits(l.texts, e, given, false)
	p := &page{texts: l.texts}
	p.text(said)
	if e.Left > 0 {
		var row []slackapi.BlockElement
		for _, d := range cardtext.NextDigits(given) {
			row = append(row, button(actionDigit+"-"+d, string(token)+":"+given+d, d))
		}
		p.add(slackapi.NewActionBlock("", row...))
	}
	l.whisperPage(ctx, m, who, p, said)
}

// maxName is how many characters of an agent's name a question contains.
const maxName = 60
