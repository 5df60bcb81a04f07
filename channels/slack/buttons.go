package slack

import (
	slackapi "github.com/slack-go/slack"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
)

// The verbs of buttons. A button's value says nothing by itself: it is a token,
// or an ask's id, which gives no right.
const (
	actionAllow = "allow"
	actionDeny  = "deny"
	actionReply = "reply"
	actionWhy   = "why"
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

// all puts the buttons that mean everything that waits below the card, and those
// that ask back.
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
	v.row(p, append(row, button(actionReply, string(v.Ask), v.Texts.Plain("button.reply", nil)), button(actionWhy, string(v.Ask), v.Texts.Plain("button.why", nil))))
}

func (v *cardView) row(p *page, row []slackapi.BlockElement) {
	if len(row) > 0 {
		p.add(slackapi.NewActionBlock("", row...))
	}
}

// pair is Allow, where it may be offered, and Deny. An Allow that cannot be
// taken back looks dangerous and asks once more.
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
