package telegram

import (
	"slices"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/internal/strictjson"
)

// The kinds of callback data. What follows says nothing by itself: a token, or an ask's id,
// which grants nothing.
const (
	dataChoice = "v1:"
	dataReply  = "r1:"
	dataWhy    = "y1:"
	// dataSure asks for confirmation: an ask's id and a token follow, which decide nothing
	// there.
	dataSure = "s1:"
	// dataDigits gives the digits that a choice requires: its token and the digits pressed
	// so far follow.
	dataDigits = "d1:"
)

// button is one button of an inline keyboard. It sends data, opens an address, copies a
// text, or no longer does anything. Servers that do not know its style ignore the style.
type button struct {
	Text  string `json:"text"`
	Data  string `json:"callback_data,omitempty"`
	URL   string `json:"url,omitempty"`
	Style string `json:"style,omitempty"`
	// Copies is what the person's own client copies, and Dead says that the button does
	// nothing. A server that knows neither refuses the whole keyboard.
	Copies *copied   `json:"copy_text,omitzero"`
	Dead   *struct{} `json:"disabled,omitzero"`
}

// copied is what a button copies.
type copied struct {
	Text string `json:"text"`
}

// keys are the rows of an inline keyboard.
type keys struct {
	Rows [][]button `json:"inline_keyboard"`
}

// plain returns a keyboard without what only newer servers know, or "" if nothing else is
// left.
func plain(markup string) string {
	var k keys
	if err := strictjson.UnmarshalLoose([]byte(markup), &k); err != nil {
		return markup
	}
	for i := range k.Rows {
		k.Rows[i] = slices.DeleteFunc(k.Rows[i], func(b button) bool { return b.Copies != nil || b.Dead != nil })
	}
	if k.Rows = slices.DeleteFunc(k.Rows, func(row []button) bool { return len(row) == 0 }); len(k.Rows) == 0 {
		return ""
	}
	return marshal(k)
}

// The styles of buttons.
const (
	styleGood   = "success"
	styleDanger = "danger"
)

// keyboard returns the buttons of a card, with Allow only if the person can see everything
// that waits. If nothing waits, its choices are dead, so that the card keeps its height and
// a late thumb does nothing.
func (v *cardView) keyboard(seen bool) string {
	if v.Open == 0 {
		return marshal(keys{[][]button{v.ended()}})
	}
	say := v.Texts.Plain
	var rows [][]button
	row := func(bs []approval.Button, final bool, allow, deny string) {
		if r := v.choices(bs, seen, final, allow, deny); len(r) > 0 {
			rows = append(rows, r)
		}
	}
	switch n := map[string]any{"n": v.Open}; {
	case len(v.Calls) == 1:
		row(v.Buttons, v.final(), say("button.allow", nil), say("button.deny", nil))
	case v.Open > 1:
		row(v.Buttons, v.final(), say("button.allow.all", n), say("button.deny.all", n))
	}
	if len(v.Calls) > 1 && v.Open <= maxPerItem {
		for i := range v.Calls {
			if v.Calls[i].State != approval.Pending {
				continue
			}
			n := map[string]any{"n": i + 1}
			row(v.Calls[i].Buttons, v.Calls[i].Irreversible, say("button.allow.nth", n), say("button.deny.nth", n))
		}
	}
	rows = append(rows, v.further(seen)...)
	if l, leads := v.EditLink(v.edits); leads {
		rows = append(rows, []button{{Text: l.Label, URL: l.Address}})
	}
	words := append([]button{{Text: say("button.reply", nil), Data: dataReply + string(v.Ask)}}, v.askButtons()...)
	last := []button{{Text: say("button.why", nil), Data: dataWhy + string(v.Ask)}, v.copyID()}
	return marshal(keys{append(rows, words, last)})
}

// copyID returns a button that copies the ask's id, which commands take.
func (v *cardView) copyID() button {
	return button{Text: v.Texts.Plain("button.copy", nil), Copies: &copied{string(v.Ask)}}
}

// ended returns the buttons that stay on a finished card: the choices of its single call,
// the one taken in its color, and the id.
func (v *cardView) ended() []button {
	if len(v.Calls) != 1 {
		return []button{v.copyID()}
	}
	dead := &struct{}{}
	allow, deny := button{Text: v.Texts.Plain("button.allow", nil), Dead: dead}, button{Text: v.Texts.Plain("button.deny", nil), Dead: dead}
	switch v.Calls[0].State {
	case approval.Denied:
		deny.Style = styleDanger
	case approval.Allowed, approval.Spent, approval.Lapsed, approval.Succeeded, approval.Failed, approval.Unknown:
		allow.Style = styleGood
	default: // Nobody chose.
	}
	return []button{allow, deny, v.copyID()}
}

// final reports whether something that waits cannot be undone.
func (v *cardView) final() bool {
	return slices.ContainsFunc(v.Calls, func(c cardtext.Call) bool { return c.Irreversible && c.State == approval.Pending })
}

// choices returns one row: Allow, if it may be offered, and Deny. An Allow that cannot be
// taken back looks dangerous, and asks for confirmation.
func (v *cardView) choices(bs []approval.Button, seen, final bool, allow, deny string) []button {
	var r []button
	for _, b := range bs {
		switch {
		case b.Choice == approval.ChoiceAllow && seen && final:
			r = append(r, button{Text: allow, Data: dataSure + string(v.Ask) + ":" + string(b.Token), Style: styleDanger})
		case b.Choice == approval.ChoiceAllow && seen:
			r = append(r, button{Text: allow, Data: dataChoice + string(b.Token), Style: styleGood})
		case b.Choice == approval.ChoiceDeny:
			r = append(r, button{Text: deny, Data: dataChoice + string(b.Token)})
		}
	}
	return r
}

// marshal encodes a parameter. What it is given can always be encoded.
func marshal(v any) string {
	b, err := strictjson.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(b)
}
