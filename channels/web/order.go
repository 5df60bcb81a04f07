package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/templates"
)

// Orders does what people order besides answering cards, and tells what their
// answers still hold. Of that, an edit alone allows a call.
type Orders interface {
	cardtext.Orders
	// Brakes returns the brakes that hold.
	Brakes(ctx context.Context) ([]approval.Brake, error)
	// Edit shows what a waiting call would become if a person edited it, or makes the edit.
	Edit(ctx context.Context, e approval.Editing) (approval.Edited, error)
}

// holdsView is what people's answers hold now: who is stopped, and what is granted.
type holdsView struct {
	// Did says what an order given here just did.
	Did    string
	Brakes []heldView
	Grants []heldView
	// Limit says what the session may not do.
	Limit text
}

// heldView is one thing that holds, with the order that ends it.
type heldView struct {
	Says  saying
	Agent string
	ID    approval.ID
}

// holds reads what holds now.
func (w *Web) holds(ctx context.Context, may right) (holdsView, error) {
	v := holdsView{Limit: may.limit()}
	brakes, err := w.desk.Brakes(ctx)
	if err != nil {
		return v, err
	}
	for i := range brakes {
		b := &brakes[i]
		says := chatLine(func(texts *templates.Texts) cardtext.Text { return cardtext.Brake(texts, b) })
		v.Brakes = append(v.Brakes, heldView{Says: says, Agent: b.Agent})
	}
	list, err := w.desk.Granted(ctx, "")
	if err != nil {
		return v, err
	}
	for i := range list {
		a := &list[i]
		says := chatLine(func(texts *templates.Texts) cardtext.Text { return cardtext.Grant(texts, a) })
		v.Grants = append(v.Grants, heldView{Says: says, ID: a.ID})
	}
	return v, nil
}

// answerView says what an answer to one call still holds, with the order that ends it;
// without a verb there is none.
type answerView struct {
	Says saying
	Verb approval.Verb
	Do   text
	ID   approval.ID
	// Warns says that it speaks against a yes.
	Warns bool
}

// answersOf returns what the card says about a call apart from how it stands.
func answersOf(it *approval.Item) []answerView {
	all := relatedTo(it)
	if g := it.Grant; g != nil {
		var end approval.Verb
		if g.State(time.Now()) == approval.GrantLive {
			end = approval.VerbEnd
		}
		says := chatLine(func(texts *templates.Texts) cardtext.Text { return cardtext.GrantOf(texts, g, it.Approval) })
		all = append(all, answerView{Says: says, Verb: end, Do: text{Key: "web.order.end"}, ID: it.Approval})
	}
	if it.State == approval.Allowed {
		all = append(all, answerView{Verb: approval.VerbRevoke, Do: text{Key: "web.order.revoke"}, ID: it.Approval})
	}
	if e := it.Edit; e != nil && len(e.Changed) > 0 {
		differs := chatLine(func(texts *templates.Texts) cardtext.Text { return cardtext.Differences(texts, e.Changed) })
		all = append(all, answerView{Says: text{"edited", templates.Values{"differs": differs}}, ID: it.Approval})
	}
	switch {
	case it.Lifted != nil:
		lifted := text{"lifted", templates.Values{"by": plain(it.Lifted.By.Name), "when": it.Lifted.At}}
		all = append(all, answerView{Says: lifted, ID: it.Approval})
	case time.Now().Before(it.StandsUntil):
		stands := chatLine(func(texts *templates.Texts) cardtext.Text { return cardtext.Stands(texts, it) })
		all = append(all, answerView{Says: stands, Verb: approval.VerbLift, Do: text{Key: "web.order.lift"}, ID: it.Approval})
	}
	return all
}

// notesOf returns what people did to an ask without answering it.
func notesOf(c *approval.Card) (notes []saying) {
	if n := len(c.Handed); n > 0 {
		notes = append(notes, chatLine(func(texts *templates.Texts) cardtext.Text { return cardtext.HandedOver(texts, &c.Handed[n-1]) }))
	}
	if s := c.Snoozed; s != nil {
		notes = append(notes, chatLine(func(texts *templates.Texts) cardtext.Text { return cardtext.SnoozedBy(texts, s) }))
	}
	return notes
}

// relatedTo returns what the card says about a waiting call: which answers it resembles,
// and how far another answer would reach.
func relatedTo(it *approval.Item) (all []answerView) {
	say := func(says saying) { all = append(all, answerView{Says: says, ID: it.Approval}) }
	if l := it.Like; l != nil && it.State == approval.Pending {
		differs := chatLine(func(texts *templates.Texts) cardtext.Text { return cardtext.Differences(texts, l.Differences) })
		says := text{"like", templates.Values{"when": l.At, "differs": differs}}
		all = append(all, answerView{Says: says, ID: it.Approval, Warns: true})
	}
	if l := it.Again; l != nil && len(it.Grants) > 0 {
		say(chatLine(func(texts *templates.Texts) cardtext.Text { return cardtext.Again(texts, l) }))
	}
	if it.DenyKind != nil {
		say(chatLine(func(texts *templates.Texts) cardtext.Text { return cardtext.KindOffer(texts, &it.Like.Kind) }))
	}
	return all
}

// grantView is a choice behind the second tap.
type grantView struct {
	Choice approval.Choice
	Token  approval.Token
	Text   text
}

// grantsOf returns the choices that allow the call and more like it.
func grantsOf(it *approval.Item) []grantView {
	var all []grantView
	for _, b := range it.Grants {
		all = append(all, grantView{b.Choice, b.Token, text{templates.Key("button." + string(b.Choice)), templates.Values{"most": it.Covers}}})
	}
	return all
}

// order carries out an order, and leads back to where it was given. The page there says
// what it did.
func (w *Web) order(rw http.ResponseWriter, r *http.Request, who Session, f url.Values) (err error) {
	o := approval.Order{
		Verb: approval.Verb(f.Get("verb")), ID: f.Get("id"), Agent: strings.TrimSpace(f.Get("agent")), All: f.Get("all") != "",
		Words: cleanWords(f.Get("words")), To: cleanWords(f.Get("to")), By: who.by(), Channel: Name,
	}
	if o.Agent == approval.Everyone {
		o.Agent = ""
	}
	back := "/inbox"
	if f.Get("from") == "ask" {
		back = askURL(approval.ID(o.ID).Ask())
	}
	if text := f.Get("for"); text != "" {
		if err := o.Span(text); err != nil {
			return unordered(err, o.ID, back)
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), decideWithin)
	defer cancel()
	done, err := w.desk.Order(ctx, o)
	if err != nil {
		return unordered(err, o.ID, back)
	}
	note, err := w.told.Load().seal(did{cardtext.Done(w.textsFor(r), &done).String()})
	if err != nil {
		return err
	}
	http.Redirect(rw, r, back+"?"+url.Values{"did": {note}}.Encode(), http.StatusSeeOther)
	return nil
}

// stops reports whether a form of order only stops, without words to the agent.
func stops(f url.Values) bool {
	return approval.Verb(f.Get("verb")) == approval.VerbStop && f.Get("words") == ""
}

// did is the sealed note between an order and the page that follows it.
type did struct {
	Said string `json:"said"`
}

// didOf returns what the order did that led here, or "" if there was none.
func (w *Web) didOf(r *http.Request) string {
	var d did
	if !w.told.Load().open(r.URL.Query().Get("did"), &d) {
		return ""
	}
	return d.Said
}

// unordered says why an order about that id was not carried out.
func unordered(err error, id, back string) error {
	page := &pageError{Status: http.StatusUnprocessableEntity, Title: text{Key: "web.fault.order.title"}, Link: back, Err: err}
	bad, ok := errors.AsType[*approval.OrderError](err)
	switch {
	case ok:
		page.Text = text{templates.Key("order.not." + bad.Key), templates.Values{"what": plain(bad.Value)}}
	case errors.Is(err, approval.ErrNotFound):
		page.Status, page.Text = http.StatusNotFound, text{"order.not.found", templates.Values{"what": plain(id)}}
	case errors.Is(err, approval.ErrNotApprover):
		page.Status, page.Text = http.StatusForbidden, text{Key: "order.not.yours"}
	default:
		return undecided(err, back)
	}
	return page
}
