package slack

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/platform"
	"github.com/metnos/vaglio/templates"
)

// Conversation is one of the platform's channels as a place where people are asked. The app
// hears people in all of them, but writes to each one independently, so that one that is
// archived, or asks for a pause, does not hold up the others. It is safe for concurrent
// use.
type Conversation struct {
	app *Channel
	// id is the platform's, name the one in records and routes.
	id, name string

	// posting is read-locked while a card is being posted, and locked while orphans are
	// looked for.
	posting sync.RWMutex

	// The app's mu guards the following.

	telling platform.Trouble // with writing to it
	filing  platform.Trouble // with putting files into its threads
	// untidy says that there may be orphans, tidiedAt when they were last looked for.
	untidy   bool
	tidiedAt time.Time
	// orphans are those that were found and not dealt with yet.
	orphans []orphan
}

// IsConversation reports whether a channel's name, such as "slack:C0123456789", names one
// of the platform's channels.
func IsConversation(name string) bool {
	own, ok := strings.CutPrefix(name, Name+":")
	return ok && channelID.MatchString(own)
}

// converse creates the conversations of the configuration, each once. The app's own channel
// can be among the others, for cards that were sent to it by its id.
func (c *Channel) converse() {
	c.own = &Conversation{app: c, id: c.config.Channel, name: Name, untidy: true}
	for i, id := range c.config.Others {
		if !slices.Contains(c.config.Others[:i], id) {
			c.others = append(c.others, &Conversation{app: c, id: id, name: Name + ":" + id, untidy: id != c.own.id})
		}
	}
}

// Conversations returns the channels that routes name, apart from the app's own.
func (c *Channel) Conversations() []*Conversation { return slices.Clone(c.others) }

// all returns all conversations, the app's own first.
func (c *Channel) all() []*Conversation { return append([]*Conversation{c.own}, c.others...) }

// conversation returns the one with the platform's id, or nil.
func (c *Channel) conversation(id string) *Conversation {
	if c.own.id == id {
		return c.own
	}
	for _, at := range c.others {
		if at.id == id {
			return at
		}
	}
	return nil
}

// Name returns [Name].
func (c *Channel) Name() string { return Name }

// Name returns the channel's name in records and routes, such as "slack:C0123456789".
func (at *Conversation) Name() string { return at.name }

// Post shows the card in the app's own channel, like [Conversation.Post].
func (c *Channel) Post(ctx context.Context, card approval.Card) (string, error) {
	return c.own.Post(ctx, card)
}

// Amend makes the message show the card, like [Conversation.Amend].
func (c *Channel) Amend(ctx context.Context, ref string, card approval.Card) error {
	return c.own.Amend(ctx, ref, card)
}

// Remind reminds people of the card, like [Conversation.Remind].
func (c *Channel) Remind(ctx context.Context, ref string, card approval.Card) error {
	return c.own.Remind(ctx, ref, card)
}

// Health says what keeps the app from writing to the channel.
func (at *Conversation) Health() approval.Health {
	at.app.mu.Lock()
	defer at.app.mu.Unlock()
	return at.trouble().In(at.app.config.English())
}

// trouble returns what is wrong with the channel; the app's mu must be held.
func (at *Conversation) trouble() platform.Trouble {
	if !at.telling.OK() {
		return at.telling
	}
	return at.filing
}

// opened records that the app receives what is written in the channel.
func (at *Conversation) opened() {
	at.app.mu.Lock()
	defer at.app.mu.Unlock()
	at.telling = platform.Trouble{}
}

// shut and closed return what keeps the app from writing.
func (at *Conversation) shut() platform.Trouble { return at.about("trouble.slack.shut") }

func (at *Conversation) closed() platform.Trouble { return at.about("trouble.slack.archived") }

// about returns a trouble with the channel, including the setting that names it.
func (at *Conversation) about(key phrase) platform.Trouble {
	setting := "METNOS_SLACK_CHANNEL"
	if at.name != Name {
		setting = "METNOS_POLICY (approval.routes)"
	}
	return platform.Trouble{Key: key, Values: templates.Values{"channel": templates.Theirs(at.id), "setting": templates.Theirs(setting)}}
}

// diagnose is [diagnose] for something done in the channel.
func (at *Conversation) diagnose(err error) platform.Trouble {
	switch {
	case says(err, "not_in_channel", "channel_not_found"):
		return at.shut()
	case says(err, "is_archived", "channel_is_archived"):
		return at.closed()
	default:
		return diagnose(err)
	}
}

// note records a trouble with writing to the channel.
func (at *Conversation) note(t platform.Trouble) {
	at.app.mu.Lock()
	defer at.app.mu.Unlock()
	at.telling.Begin(t.Key, t.Values)
}

// noteTelling records the result of sending a message to the channel.
func (at *Conversation) noteTelling(err error) {
	if err == nil {
		at.app.mu.Lock()
		defer at.app.mu.Unlock()
		at.telling = platform.Trouble{}
		return
	}
	if t := at.diagnose(err); !t.OK() {
		at.note(t)
	}
}

// noteFiling records whether the app can put files into threads.
func (at *Conversation) noteFiling(can bool) {
	at.app.mu.Lock()
	defer at.app.mu.Unlock()
	if can {
		at.filing = platform.Trouble{}
		return
	}
	at.filing.Begin(troubleFiles, nil)
}

// inspect finds out what keeps the app from writing to the channel, if anything.
func (at *Conversation) inspect(ctx context.Context) {
	err := at.app.do(ctx, "conversations.info", func(ctx context.Context) error {
		ch, err := at.app.api.GetConversationInfoContext(ctx, &slackapi.GetConversationInfoInput{ChannelID: at.id})
		switch {
		case err != nil:
		case ch.IsArchived:
			at.note(at.closed())
		case !ch.IsMember:
			at.note(at.shut())
		}
		return err
	})
	if err != nil {
		at.noteTelling(err)
	}
}

// placesOf returns the messages that show the card's ask in the workspace, sorted by the
// names of their channels: the app's own channel comes first.
func placesOf(c *approval.Card) (all []place) {
	for _, name := range slices.Sorted(maps.Keys(c.Places)) {
		if name != Name && !IsConversation(name) {
			continue
		}
		if m, ok := parseRef(c.Places[name]); ok {
			all = append(all, m)
		}
	}
	return all
}

// placeOf returns the first of them, or a zero place if there is none.
func placeOf(c *approval.Card) place {
	if all := placesOf(c); len(all) > 0 {
		return all[0]
	}
	return place{}
}

// shows reports whether the message shows the card's ask.
func shows(c *approval.Card, m place) bool {
	return slices.ContainsFunc(placesOf(c), func(o place) bool { return o.message() == m.message() })
}
