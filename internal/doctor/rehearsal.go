package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/visible"
)

// Patient is a channel that can be examined.
type Patient interface {
	// Name returns the channel's name in records.
	Name() string
	// Examine checks the state of the channel and changes nothing. alone says that no daemon
	// uses it.
	Examine(ctx context.Context, alone bool) []approval.Finding
	// Rehearse sends a test card and returns who pressed its button.
	Rehearse(ctx context.Context, alone bool) (approval.Person, error)
}

// Rehearse sends a test card on one of the channels.
func Rehearse(ctx context.Context, patients []Patient, channel string, alone bool) approval.Finding {
	for _, p := range patients {
		if p.Name() == channel {
			began := time.Now()
			by, err := p.Rehearse(ctx, alone)
			return Rehearsed(channel, by, time.Since(began), err)
		}
	}
	return Rehearsed(channel, approval.Person{}, 0, approval.ErrUnpaired)
}

// Rehearsed returns the finding about a test card.
func Rehearsed(channel string, by approval.Person, took time.Duration, err error) approval.Finding {
	f := approval.Finding{Subject: channel + " tap", Grade: approval.Wrong}
	switch {
	case err == nil:
		f.Grade = approval.Fine
		f.Text = fmt.Sprintf("%s (%s) pressed the test card's button, and it was heard after %s.",
			visible.Text(by.Name), by.ID, took.Round(100*time.Millisecond))
	case errors.Is(err, approval.ErrUntapped):
		f.Text = "Nobody who may decide pressed the test card's button in time, or the press went elsewhere."
		f.Remedy = "If you did press it, look for who may decide and where presses go above; else run it again and press."
	case errors.Is(err, approval.ErrUnpaired):
		f.Text = "There is no chat yet that a test card could go to."
		f.Remedy = "Run 'vaglio pair' while the daemon serves, and send the bot what it prints."
	default:
		f.Text = "The test card could not be sent, or its press not be fetched: " + err.Error() + "."
		f.Remedy = "Fix what is wrong above, and run it again."
	}
	return f
}
