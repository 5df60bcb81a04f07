package cardtext

import (
	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/templates"
)

// Further are the choices of a card that reach further than its call, with the labels of
// their buttons. Chats offer them on cards with a single call that waits.
type Further struct {
	// Grants allow the call and more equal ones; they are offered only if the whole call
	// was seen.
	Grants []Choice
	// InSight says that the grants belong among the card's first choices, because an equal
	// or similar call was just allowed. Otherwise they take a second tap.
	InSight bool
	// Denials deny the call and everything of its kind for a while.
	Denials []Choice
}

// Edits returns the address where a person edits a call in the inbox or, if no approval is
// given, chooses one of the ask's calls. It is nil if a chat cannot link there.
type Edits func(approval.AskID, approval.ID) string

// Link is a button that leads out of the chat.
type Link struct{ Label, Address string }

// EditLink returns the link to where what waits can be edited and then allowed, if there is
// something to edit and an address.
func (c *Card) EditLink(at Edits) (Link, bool) {
	var editable []approval.ID
	for i := range c.Calls {
		if call := &c.Calls[i]; call.editable && call.State == approval.Pending {
			editable = append(editable, call.id)
		}
	}
	if at == nil || len(editable) == 0 {
		return Link{}, false
	}
	id := editable[0]
	if len(editable) > 1 {
		id = ""
	}
	return Link{c.Texts.Plain("button.edit.inbox", nil), at(c.Ask, id)}, true
}

// Choice is a button with its label.
type Choice struct {
	approval.Button
	Label string
}

// Further returns the choices that reach further; seen says whether the person saw the
// whole call.
func (c *Card) Further(seen bool) Further {
	if len(c.Calls) != 1 || c.Open == 0 {
		return Further{}
	}
	call, f := &c.Calls[0], Further{}
	if seen {
		f.InSight = call.again != nil
		for _, b := range call.grants {
			f.Grants = append(f.Grants, Choice{b, GrantLabel(c.Texts, b.Choice, call.covers)})
		}
	}
	if call.denyKind != nil {
		f.Denials = []Choice{{*call.denyKind, c.Texts.Plain("button.deny-kind", nil)}}
	}
	return f
}

// GrantLabel returns the label of a button that grants the given number of calls.
func GrantLabel(texts *templates.Texts, c approval.Choice, covers int) string {
	return texts.Plain(templates.Key("button."+string(c)), templates.Values{"most": covers})
}

// Again says that an equal or similar call was just allowed.
func Again(texts *templates.Texts, l *approval.Likeness) Text {
	if len(l.Differences) == 0 {
		return Say(texts, "again", templates.Values{"when": l.At})
	}
	return Say(texts, "again.like", templates.Values{"when": l.At, "differs": templates.Theirs(Differences(texts, l.Differences).String())})
}

// KindOffer says what denying a kind would deny.
func KindOffer(texts *templates.Texts, k *approval.CallKind) Text {
	return Say(texts, "kind.offer", templates.Values{"verb": Within(k.Verb, maxKind), "system": Within(k.System, maxKind)})
}

// Stands says what a denial denies until a given time, and how it can be taken back.
func Stands(texts *templates.Texts, it *approval.Item) Text {
	lift := taking(texts, approval.VerbLift, it.Approval)
	if it.Kind == nil {
		return Say(texts, "stands", templates.Values{"when": it.StandsUntil, "lift": lift})
	}
	return Say(texts, "stands.kind", templates.Values{
		"verb": Within(it.Kind.Verb, maxKind), "system": Within(it.Kind.System, maxKind), "when": it.StandsUntil, "lift": lift,
	})
}

// maxKind is how many characters of each word of a kind are shown.
const maxKind = 40

// saidElsewhere reports whether another call of the card says the same reason: one above
// this one or, as those say more of it, one that waits.
func (c *Card) saidElsewhere(call *Call) bool {
	above := true
	for i := range c.Calls {
		o := &c.Calls[i]
		if o == call {
			above = false
			continue
		}
		says := o.State == approval.Pending || call.State != approval.Pending
		waits := o.State == approval.Pending && call.State != approval.Pending
		if (above && says || waits) && o.effect == call.effect && o.why.String() == call.why.String() {
			return true
		}
	}
	return false
}
