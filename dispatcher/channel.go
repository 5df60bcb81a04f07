package dispatcher

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval"
)

// Channel is a place where people are asked. It delivers and amends cards, and hands in
// taps through the desk that it was built with; it decides nothing. Post and Amend are
// repeated until they succeed, so they must be safe to repeat.
//
// A channel that can do more also implements [Finder], [Reminder], [Teller], [Notifier],
// [Announcer], [Digester] or [Reporter].
type Channel interface {
	// Name returns the channel's name in records and routes, such as "web". A channel that
	// is not [approval.IsPlain], such as "slack:C0123456789", shows only what a route sends
	// to that name.
	Name() string
	// Post shows the card and returns the message's reference on the platform. The attempt
	// is on disk before the call, and the reference after it. If it is unknown whether the
	// message got there, the card is posted again, and the buttons of the first message no
	// longer decide anything.
	Post(ctx context.Context, c approval.Card) (ref string, err error)
	// Amend makes the message with the reference show the card, which may hold more calls
	// than it was posted with. [approval.ErrRepost] and [approval.ErrGone] ask for a new
	// message while somebody can still answer, and give up the message after that.
	Amend(ctx context.Context, ref string, c approval.Card) error
}

// Finder is a channel that records on disk which message it posts, before the message gets
// buttons.
type Finder interface {
	// Found returns the reference of the message that a Post of the ask's card left, even
	// if that Post never returned. The message is then amended like any other, and its
	// buttons stay valid.
	Found(ask approval.AskID) (ref string, ok bool)
}

// Reminder is a channel that can remind people of a card.
type Reminder interface {
	// Remind says, near the message with the reference and so that people notice, that its
	// card still waits and until when. It shows no buttons but leads to those of the card.
	// [approval.ErrGone] means that nobody can be reminded.
	Remind(ctx context.Context, ref string, c approval.Card) error
}

// Notifier is a channel that tells people what the guard denied.
type Notifier interface {
	// Notify shows the notice as a message of its own.
	Notify(ctx context.Context, n approval.Notice) error
}

// Reporter is a channel that knows how it is doing.
type Reporter interface {
	// Health says how the channel is doing, in words without secrets. It answers at once,
	// from what the channel last saw.
	Health() approval.Health
}

// outlets are the channels, along with what delivers to each of them.
type outlets struct {
	channels      map[string]Channel
	deliverers    map[string]*deliverer
	notifiers     []*notifier
	announcers    []*announcer
	digestSenders []*digestSender
	// began is when this process started its work.
	began time.Time
}

func newOutlets(channels []Channel) outlets {
	o := outlets{
		channels: make(map[string]Channel, len(channels)), deliverers: make(map[string]*deliverer, len(channels)), began: now(),
	}
	for _, ch := range channels {
		o.channels[ch.Name()] = ch
		o.deliverers[ch.Name()] = newDeliverer(ch)
		if n, ok := ch.(Notifier); ok {
			o.notifiers = append(o.notifiers, newNotifier(ch.Name(), n))
		}
		if a, ok := ch.(Announcer); ok {
			o.announcers = append(o.announcers, &announcer{ch.Name(), a, make(chan struct{}, 1)})
		}
		if g, ok := ch.(Digester); ok {
			o.digestSenders = append(o.digestSenders, &digestSender{ch.Name(), g, make(chan struct{}, 1)})
		}
	}
	return o
}

// ChannelHealth is how one channel is doing.
type ChannelHealth struct {
	Name string
	approval.Health
}

// Channels returns how each channel is doing, sorted by name. What a channel says of itself
// takes precedence; one that says nothing is well as long as its cards get through.
func (d *Dispatcher) Channels() []ChannelHealth {
	all := make([]ChannelHealth, 0, len(d.outlets.deliverers))
	for name, c := range d.outlets.deliverers {
		all = append(all, ChannelHealth{name, c.does()})
	}
	slices.SortFunc(all, func(a, b ChannelHealth) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// does returns how a deliverer's channel is doing.
func (c *deliverer) does() approval.Health {
	if r, ok := c.channel.(Reporter); ok {
		if own := r.Health(); !own.OK() {
			return own
		}
	}
	return c.health()
}

// shows reports whether people see a card on the channel: it is posted there, or will be as
// soon as the channel gets to it.
func (o *outlets) shows(channel string, posted bool) bool {
	c, ok := o.deliverers[channel]
	if !ok {
		return false
	}
	h := c.does()
	return posted || h.OK()
}
