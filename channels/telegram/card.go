package telegram

import (
	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/templates"
)

// cardView is a card on its way into a message.
type cardView struct {
	*cardtext.Card

	// data is the whole card as a document and sum its SHA-256, if the message cannot hold
	// the card and the platform accepts the file; empty otherwise.
	data []byte
	sum  string
	// edits returns the address where a call can be edited; nil if there is none.
	edits cardtext.Edits
}

// maxPerItem is the most calls of a plan that get buttons of their own.
const maxPerItem = 40

func viewOf(c approval.Card, texts *templates.Texts, edits cardtext.Edits) *cardView {
	v := &cardView{Card: cardtext.Read(c, texts), edits: edits}
	if v.overflows() {
		if f := v.File(); len(f.Data) <= maxFile {
			v.data, v.sum = f.Data, f.Sum
		}
	}
	return v
}

// overflows reports whether the card needs a file, however its calls stand.
func (v *cardView) overflows() bool {
	n := cardView{Card: v.Unanswered()}
	p := n.layout(cardtext.Everything, cardtext.Everything)
	return p.units+cardtext.RoomForEnd*(len(v.Calls)+1) > maxText || p.entities+4*len(v.Calls) > maxEntities
}

// attached reports whether the card's message has a file next to it that holds the calls that wait.
func (v *cardView) attached(d Draft) bool { return v.sum != "" && (v.Open == 0 || v.sum == d.Sum) }

// fit lays out the card so that the platform accepts it. attached says that the file is
// next to it, coming that its buttons are not there yet. seen reports whether the person
// can see every waiting call, here or in the file.
func (v *cardView) fit(attached, coming bool) (p *page, seen bool) {
	var where cardtext.Text
	layout := cardtext.Layout[*page](func(waiting, ended int) (*page, bool) {
		p := v.layout(waiting, ended)
		v.remark(p, where, coming)
		return p, p.fits()
	})
	for _, v.Brief = range []bool{false, true} {
		if attached {
			break
		}
		if p, whole := layout.Whole(); whole {
			return p, true
		}
	}
	switch {
	case attached:
		where = v.Attached("file.above", v.sum)
	case v.Open > 0:
		where = cardtext.Say(v.Texts, "unseen", nil)
	}
	return layout.Cut(1500), attached
}

// remark says where the rest is, if there is one, and that buttons are coming.
func (v *cardView) remark(p *page, where cardtext.Text, coming bool) {
	if len(where) > 0 {
		p.text("\n")
		p.write(where)
	}
	if coming && v.Open > 0 {
		p.text("\n")
		p.say("coming", nil)
	}
}

// layout writes the card, with one budget for waiting calls and another for ended ones; 0
// lists no calls.
func (v *cardView) layout(waiting, ended int) *page {
	p := &page{texts: v.Texts}
	p.title(v.Title())
	p.text("\n")
	p.write(v.Opening(waiting))
	if waiting == 0 {
		p.write(v.Summary())
	} else {
		for i := range v.Calls {
			p.text("\n")
			p.write(v.Call(i, waiting, ended))
		}
	}
	p.text("\n")
	p.write(v.Talk())
	if v.Open > maxPerItem {
		p.line("many", nil)
	}
	p.write(v.Foot())
	return p
}
