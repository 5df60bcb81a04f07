package dispatcher

import (
	"context"
	"errors"
	"fmt"

	"github.com/metnos/vaglio/approval"
)

// Adopt takes a message that a channel found on its platform, and of which
// nobody knew, for the card of an ask: it is amended like any other, so that
// people read there how the ask ended, too. It is adopted only when the ask waits
// for nobody any more and the channel has no message of it, nor posts one: while
// the ask waits, a message with buttons of its own is posted. adopted tells
// whether it was. [approval.ErrNotFound] is an ask that nobody knows.
func (d *Dispatcher) Adopt(ctx context.Context, id approval.AskID, channel, ref string) (adopted bool, err error) {
	_, err = d.update(ctx, id, func(ask *approval.Ask) error {
		shown := ask.On(channel)
		// What is stale is being worked on.
		adopted = shown != nil && !ask.Waiting() && shown.Ref == "" && !shown.Gone && !shown.Stale(ask.View())
		if !adopted {
			return approval.ErrKeep
		}
		shown.Ref, shown.View, shown.Begun, shown.Posted = ref, "", "", len(ask.Approvals)
		if c := d.outlets.deliverers[channel]; c != nil && shown.Tell == "" {
			if _, tells := c.channel.(Teller); tells {
				shown.Tell = approval.TellDue
			}
		}
		return nil
	})
	if errors.Is(err, approval.ErrNotFound) {
		return false, approval.ErrNotFound
	}
	if err != nil {
		return false, fmt.Errorf("dispatcher: adopt a message of ask %s: %w", id, err)
	}
	return adopted, nil
}
