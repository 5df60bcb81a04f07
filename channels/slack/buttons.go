package slack

import (
	slackapi "github.com/slack-go/slack"

	"github.com/metnos/vaglio/approval"
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
	return slackapi.NewButtonBlockElement(action, value, plain(clip(label, maxButton)))
}

// choices puts the buttons of one call of a plan below it.
func (v *cardView) choices(p *page, i int, whole bool) {
	it := &v.items[i]
	if len(v.items) < 2 || v.open > maxPerItem || it.state != approval.Pending {
		return
	}
	n := map[string]any{"n": i + 1}
	v.row(p, v.pair(it.buttons, whole, it.forever, v.texts.Plain("button.allow.nth", n), v.texts.Plain("button.deny.nth", n)))
}

// all puts the buttons that mean everything that waits below the card, and those
// that ask back.
func (v *cardView) all(p *page, whole bool) {
	if v.open == 0 {
		return
	}
	forever := false
	for i := range v.items {
		forever = forever || v.items[i].forever && v.items[i].state == approval.Pending
	}
	var row []slackapi.BlockElement
	switch n := map[string]any{"n": v.open}; {
	case len(v.items) == 1:
		row = v.pair(v.buttons, whole, forever, v.texts.Plain("button.allow", nil), v.texts.Plain("button.deny", nil))
	case v.open > 1:
		row = v.pair(v.buttons, whole, forever, v.texts.Plain("button.allow.all", n), v.texts.Plain("button.deny.all", n))
	}
	v.row(p, append(row, button(actionReply, string(v.id), v.texts.Plain("button.reply", nil)), button(actionWhy, string(v.id), v.texts.Plain("button.why", nil))))
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
				Title: plain(clip(v.texts.Plain("confirm.title", nil), maxButton)), Text: plain(clip(v.texts.Plain("confirm.text", nil), maxConfirm)),
				Confirm: plain(clip(allow, maxVerb)), Deny: plain(clip(v.texts.Plain("confirm.no", nil), maxVerb)), Style: slackapi.StyleDanger,
			}))
		case b.Choice == approval.ChoiceAllow && whole:
			row = append(row, button(actionAllow, string(b.Token), allow).WithStyle(slackapi.StylePrimary))
		case b.Choice == approval.ChoiceDeny:
			row = append(row, button(actionDeny, string(b.Token), deny))
		}
	}
	return row
}
