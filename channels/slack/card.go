package slack

import (
	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/templates"
)

// phrase names a text that a person reads.
type phrase = templates.Key

// cardView is a card on its way into a message. sum is that of the file in the thread that
// holds the whole card, or empty.
type cardView struct {
	*cardtext.Card
	sum string
	// folds says that the workspace accepts blocks that fold.
	folds bool
	// edits returns the address where a call can be edited; nil if there is none.
	edits cardtext.Edits
}

// maxPerItem is the most calls of a plan that get buttons of their own: with two blocks per
// call the card keeps within the platform's 50.
const maxPerItem = 20

func (c *Channel) viewOf(card approval.Card) *cardView {
	return &cardView{Card: cardtext.Read(card, c.texts), edits: c.config.Edits, folds: !c.flat.Load()}
}

// overflows reports whether the card needs a file, however its calls stand.
func (v *cardView) overflows() bool {
	n := cardView{Card: v.Unanswered()}
	p := n.layout(cardtext.Everything, cardtext.Everything, true)
	return !p.fits() || p.units+cardtext.RoomForEnd*(len(v.Calls)+1) > maxText
}

// fit lays out the card so that the platform accepts it. Allow is offered only if the
// person can see every waiting call, here or in the file.
func (v *cardView) fit() *page {
	if !v.overflows() {
		whole := cardtext.Layout[*page](func(waiting, ended int) (*page, bool) {
			p := v.layout(waiting, ended, true)
			return p, p.fits()
		})
		for _, v.Brief = range []bool{false, true} {
			if p, fits := whole.Whole(); fits {
				return p
			}
		}
	}
	cut := cardtext.Layout[*page](func(waiting, ended int) (*page, bool) {
		p := v.cut(waiting, ended)
		return p, p.fits()
	})
	return cut.Cut(3000)
}

// cut lays out the card within budgets and says where the rest is.
func (v *cardView) cut(waiting, ended int) *page {
	p := v.layout(waiting, ended, v.sum != "")
	switch {
	case v.sum != "":
		p.footer(v.Attached("file", v.sum).String())
	case v.Open > 0:
		p.footer(v.Texts.Plain("unseen", nil))
	}
	return p
}

// layout writes the card, with one budget for waiting calls and another for ended ones; 0
// lists no calls. whole says that Allow may be offered. What folds takes more blocks: if a
// plan has too many for that, nothing of it folds.
func (v *cardView) layout(waiting, ended int, whole bool) *page {
	p := v.written(waiting, ended, whole, v.folds)
	if p.flush(); p.folded && len(p.blocks) > maxBlocks {
		return v.written(waiting, ended, whole, false)
	}
	return p
}

// written is layout with long arguments folded or not.
func (v *cardView) written(waiting, ended int, whole, folds bool) *page {
	p := &page{texts: v.Texts, folds: folds}
	p.title(v.Title())
	p.write(v.Opening(waiting))
	if waiting == 0 {
		p.write(v.Summary())
	} else {
		for i := range v.Calls {
			p.write(v.Call(i, waiting, ended))
			v.choices(p, i, whole)
		}
	}
	p.write(v.Talk())
	v.all(p, whole)
	if v.Open > maxPerItem {
		p.footer(v.Texts.Plain("many", nil))
	}
	p.footer(v.Foot().String())
	return p
}
