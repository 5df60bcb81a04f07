package owner

import (
	"context"
	"net/http"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
)

// Orders does what the owner orders at the terminal.
type Orders interface {
	cardtext.Orders
	// Decide records a tap.
	Decide(ctx context.Context, t approval.Tap) (approval.Receipt, error)
	// Find returns the ask whose id is, or begins with, the given one.
	Find(ctx context.Context, id string) (approval.Ask, error)
}

// Said says in words what an order did.
type Said struct {
	Text string `json:"text"`
}

// terminalChannel is the channel of what is done at a terminal.
const terminalChannel = "terminal"

// undoneError says why an order was not carried out, in words for the owner.
type undoneError struct{ said string }

func (e *undoneError) Error() string { return e.said }

// order carries out an order. It needs no terminal, but no agent may give it in a person's name.
func (a *admin) order(r *http.Request) (Said, error) {
	o := approval.Order{
		Verb: approval.Verb(r.FormValue("verb")), ID: r.FormValue("id"), Agent: r.FormValue("agent"), All: r.FormValue("all") != "",
		Words: r.FormValue("words"), To: r.FormValue("to"), By: a.By, Channel: terminalChannel,
	}
	if span := r.FormValue("for"); span != "" {
		if err := o.Span(span); err != nil {
			return Said{}, a.undone(&o, err)
		}
	}
	if err := a.noAgent(r, &o); err != nil {
		return Said{}, err
	}
	done, err := a.Orders.Order(r.Context(), o)
	if err != nil {
		return Said{}, a.undone(&o, err)
	}
	return Said{cardtext.Done(a.Texts, &done).String()}, nil
}

func (a *admin) undone(o *approval.Order, err error) error {
	if said, ok := cardtext.Undone(a.Texts, o, err); ok {
		return &undoneError{said.String()}
	}
	return err
}

// grants lists the current grants.
func (a *admin) grants(r *http.Request) (Said, error) {
	list, err := a.Orders.Granted(r.Context(), r.FormValue("agent"))
	return Said{cardtext.Grants(a.Texts, list).String()}, err
}
