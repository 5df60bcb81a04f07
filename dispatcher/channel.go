package dispatcher

import (
	"context"

	"github.com/metnos/vaglio/approval"
)

// Channel is a place where people are asked. It delivers cards, amends them,
// and hands in taps through the desk that it was built with; it decides
// nothing. Both calls are repeated until they succeed, so they must be safe to
// repeat.
type Channel interface {
	// Name is the channel's name in records and routes, such as "web".
	Name() string
	// Post shows the card and returns the message's reference on the platform.
	Post(ctx context.Context, c approval.Card) (ref string, err error)
	// Amend makes the message with the reference show the card.
	Amend(ctx context.Context, ref string, c approval.Card) error
}
