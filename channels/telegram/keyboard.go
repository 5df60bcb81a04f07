package telegram

import (
	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
)

// The kinds of callback data. What follows says nothing by itself: a token, or
// an ask's id, which gives no right.
const (
	dataChoice = "v1:"
	dataReply  = "r1:"
	dataWhy    = "y1:"
)

// button is one button of an inline keyboard.
type button struct {
	Text string `json:"text"`
	Data string `json:"callback_data"`
}

// keyboard returns the buttons of a card: Allow only where the person can see
// the whole of what waits. It is empty when nothing waits.
func (v *cardView) keyboard(seen bool) string {
	if v.Open == 0 {
		return ""
	}
	say := v.Texts.Plain
	var rows [][]button
	row := func(bs []approval.Button, allow, deny string) {
		if r := choices(bs, seen, allow, deny); len(r) > 0 {
			rows = append(rows, r)
		}
	}
	switch n := map[string]any{"n": v.Open}; {
	case len(v.Calls) == 1:
		row(v.Buttons, say("button.allow", nil), say("button.deny", nil))
	case v.Open > 1:
		row(v.Buttons, say("button.allow.all", n), say("button.deny.all", n))
	}
	if len(v.Calls) > 1 && v.Open <= maxPerItem {
		for i := range v.Calls {
			if v.Calls[i].State != approval.Pending {
				continue
			}
			n := map[string]any{"n": i + 1}
			row(v.Calls[i].Buttons, say("button.allow.nth", n), say("button.deny.nth", n))
		}
	}
	if more := v.moreButtons(seen); more != nil {
		rows = append(rows, more)
	}
	last := []button{{say("button.reply", nil), dataReply + string(v.Ask)}, {say("button.why", nil), dataWhy + string(v.Ask)}}
	rows = append(rows, append(v.askButtons(), last...))
	return marshal(map[string]any{"inline_keyboard": rows})
}

// choices is one row: Allow, where it may be offered, and Deny.
func choices(bs []approval.Button, seen bool, allow, deny string) []button {
	var r []button
	for _, b := range bs {
		switch {
		case b.Choice == approval.ChoiceAllow && seen:
			r = append(r, button{allow, dataChoice + string(b.Token)})
		case b.Choice == approval.ChoiceDeny:
			r = append(r, button{deny, dataChoice + string(b.Token)})
		}
	}
	return r
}

// marshal writes a parameter. What it is given can always be written.
func marshal(v any) string {
	b, err := strictjson.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(b)
}
