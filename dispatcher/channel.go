package dispatcher

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval"
)

// Channel is a place where people are asked. It delivers cards, amends them,
// and hands in taps through the desk that it was built with; it decides
// nothing. Both calls are repeated until they succeed, so they must be safe to
// repeat.
//
// A channel that can do more says so by being a [Finder], a [Reminder], a
// [Teller], a [Notifier], an [Announcer], a [Digester] or a [Reporter] too.
type Channel interface {
	// Name is the channel's name in records and routes, such as "web". One that
	// is not [approval.IsPlain], such as "slack:C0123456789", shows what a route
	// sends there by that name alone.
	Name() string
	// Post shows the card and returns the message's reference on the platform.
	// That it was begun is on disk before, and its reference after. When it is
	// not known whether the message got there, the card is posted anew, and the
	// buttons of the first message decide nothing any more.
	Post(ctx context.Context, c approval.Card) (ref string, err error)
	// Amend makes the message with the reference show the card, which may hold
	// more calls than it was posted with. [approval.ErrRepost] and
	// [approval.ErrGone] ask for a new message while somebody can still answer,
	// and give the place up after that.
	Amend(ctx context.Context, ref string, c approval.Card) error
}

// Finder is a channel that keeps on disk which message it posts, before the
// message gets buttons.
type Finder interface {
	// Found returns the reference of the message that a Post of the ask's card
	// left, though it may never have returned. The message is then amended like
	// any other, and its buttons go on meaning what they say.
	Found(ask approval.AskID) (ref string, ok bool)
}

// Reminder is a channel that can remind people of a card.
type Reminder interface {
	// Remind says, near the message with the reference and so that people
	// notice, that its card still waits and until when. It shows no buttons: it
	// leads to the card's. [approval.ErrGone] means that nobody can be reminded.
	Remind(ctx context.Context, ref string, c approval.Card) error
}

// Notifier is a channel that tells people what the guard denied.
type Notifier interface {
	// Notify shows the notice as a message of its own.
	Notify(ctx context.Context, n approval.Notice) error
}

// Reporter is a channel that knows how it does.
type Reporter interface {
	// Health tells how the channel does, in words without secrets. It answers
	// at once, from what the channel saw last.
	Health() approval.Health
}

// outlets are the channels, with those who serve them.
type outlets struct {
	channels      map[string]Channel
	deliverers    map[string]*deliverer
	notifiers     []*notifier
	announcers    []*announcer
	digestSenders []*digestSender
	// began is when this process took up its work.
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

// ChannelHealth is how one channel does.
type ChannelHealth struct {
	Name string
	approval.Health
}

// Channels tells how each channel does, by name. What a channel says of itself
// comes first; one that says nothing is well as long as its cards get through.
func (d *Dispatcher) Channels() []ChannelHealth {
	all := make([]ChannelHealth, 0, len(d.outlets.deliverers))
	for name, c := range d.outlets.deliverers {
		all = append(all, ChannelHealth{name, c.does()})
	}
	slices.SortFunc(all, func(a, b ChannelHealth) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// does is how a deliverer's channel does.
func (c *deliverer) does() approval.Health {
	if r, ok := c.channel.(Reporter); ok {
		if own := r.Health(); !own.OK() {
			return own
		}
	}
	return c.health()
}

// shows reports whether people see a card on the channel: it is posted there, or will be
// as soon as the channel comes to it.
func (o *outlets) shows(channel string, posted bool) bool {
	c, ok := o.deliverers[channel]
	if !ok {
		return false
	}
	h := c.does()
	return posted || h.OK()
}
