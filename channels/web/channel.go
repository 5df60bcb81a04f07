package web

import (
	"context"

	"github.com/metnos/vaglio/approval"
)

// Name is the channel's name in records.
const Name = "web"

// Channel is the inbox as a place where people are asked. Its zero value is
// ready. The pages are rendered from the state at every look, so there is
// nothing to deliver and nothing to amend; that the card is recorded here is
// what gives it its buttons.
type Channel struct{}

// Name returns [Name].
func (Channel) Name() string { return Name }

// Post returns the ask's id, under which the card has its page.
func (Channel) Post(_ context.Context, c approval.Card) (string, error) { return string(c.Ask), nil }

// Amend does nothing: the page shows the state.
func (Channel) Amend(context.Context, string, approval.Card) error { return nil }
