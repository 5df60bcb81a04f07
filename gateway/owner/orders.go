package owner

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
)

// Hand does what the owner orders at the terminal. None of it allows a call.
type Hand interface {
	cardtext.Hand
	// Decide takes a tap; here it is always a denial.
	Decide(ctx context.Context, t approval.Tap) (approval.Receipt, error)
	// Find returns the ask with the id, or the beginning of one.
	Find(ctx context.Context, id string) (approval.Ask, error)
}

// Said is what an order did, in words.
type Said struct {
	Text string `json:"text"`
}

// terminalChannel is the channel of what is done at the terminal.
const terminalChannel = "terminal"

// undoneError says why an order was not followed, in words that the owner may read.
type undoneError struct{ said string }

func (e *undoneError) Error() string { return e.said }

// order follows an order.
func (a *admin) order(r *http.Request) (Said, error) {
	o := approval.Order{
		Verb: approval.Verb(r.FormValue("verb")), ID: r.FormValue("id"), Agent: r.FormValue("agent"), All: r.FormValue("all") != "",
		Words: r.FormValue("words"), By: a.By, Channel: terminalChannel,
	}
	if span := r.FormValue("for"); span != "" {
		var err error
		if o.For, err = time.ParseDuration(span); err != nil || o.For <= 0 {
			return Said{}, a.undone(&o, &approval.OrderError{Key: approval.OrderTime, Value: span})
		}
	}
	done, err := a.Hand.Order(r.Context(), o)
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

// grants lists what is granted.
func (a *admin) grants(r *http.Request) (Said, error) {
	list, err := a.Hand.Granted(r.Context(), r.FormValue("agent"))
	return Said{cardtext.Grants(a.Texts, list).String()}, err
}

// deny denies what waits of an ask, or one approval of it, with words if there are
// any.
func (a *admin) deny(r *http.Request) (Said, error) {
	id := r.FormValue("id")
	ask, err := a.Hand.Find(r.Context(), id)
	if err != nil {
		return Said{}, err
	}
	t := approval.Tap{Ask: ask.ID, Choice: approval.ChoiceDeny, By: a.By, Channel: terminalChannel, Words: r.FormValue("words")}
	if strings.Contains(id, "-") {
		t.Approval = approval.ID(id)
	}
	receipt, err := a.Hand.Decide(r.Context(), t)
	if bad, ok := errors.AsType[*approval.WordsError](err); ok {
		return Said{}, &undoneError{bad.Error()}
	}
	if err != nil {
		return Said{}, err
	}
	return Said{cardtext.Answer(a.Texts, &receipt, a.By)}, nil
}
