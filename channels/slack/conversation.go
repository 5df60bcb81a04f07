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

// Conversation is one of the platform's channels as a place where people are
// asked. The app hears people in all of them; each is written to by itself, so
// that one which is archived, or asks for a pause, holds up no other. It is safe
// for concurrent use.
type Conversation struct {
	app *Channel
	// id is the platform's, and name that of records and routes.
	id, name string

	// posting is held while a card is on its way, and against it while orphans
	// are looked for.
	posting sync.RWMutex

	// The app's mu guards what follows.

	telling platform.Trouble // of writing to it
	filing  platform.Trouble // of putting files into its threads
	// untidy says that there may be orphans, and tidiedAt when they were looked
	// for last.
	untidy   bool
	tidiedAt time.Time
	// orphans are those that were found and are not done with.
	orphans []orphan
}

// IsConversation reports whether a channel's name, such as "slack:C0123456789",
// names one of the platform's channels.
func IsConversation(name string) bool {
	own, ok := strings.CutPrefix(name, Name+":")
	return ok && channelID.MatchString(own)
}

// converse makes the conversations of the configuration, each once. The app's
// own channel can be among the others, where cards stand that were sent to it by
// its id.
func (c *Channel) converse() {
	c.own = &Conversation{app: c, id: c.config.Channel, name: Name, untidy: true}
	for i, id := range c.config.Others {
		if !slices.Contains(c.config.Others[:i], id) {
			c.others = append(c.others, &Conversation{app: c, id: id, name: Name + ":" + id, untidy: id != c.own.id})
		}
	}
}

// Conversations are the channels that routes name, besides the app's own.
func (c *Channel) Conversations() []*Conversation { return slices.Clone(c.others) }

// all are all conversations, the app's own first.
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

// Name is the channel's name in records and routes, such as "slack:C0123456789".
func (at *Conversation) Name() string { return at.name }

// Post shows the card in the app's own channel, as [Conversation.Post].
func (c *Channel) Post(ctx context.Context, card approval.Card) (string, error) {
	return c.own.Post(ctx, card)
}

// Amend makes the message show the card, as [Conversation.Amend].
func (c *Channel) Amend(ctx context.Context, ref string, card approval.Card) error {
	return c.own.Amend(ctx, ref, card)
}

// Remind reminds of the card, as [Conversation.Remind].
func (c *Channel) Remind(ctx context.Context, ref string, card approval.Card) error {
	return c.own.Remind(ctx, ref, card)
}

// Health tells what keeps the app from writing to the channel.
func (at *Conversation) Health() approval.Health {
	at.app.mu.Lock()
	defer at.app.mu.Unlock()
	return at.trouble().In(at.app.config.English())
}

// trouble is what is wrong with the channel; the app's mu is held.
func (at *Conversation) trouble() platform.Trouble {
	if !at.telling.OK() {
		return at.telling
	}
	return at.filing
}

// opened takes that the app is brought what is written in the channel, and reports
// whether it took no messages before.
func (at *Conversation) opened() bool {
	at.app.mu.Lock()
	defer at.app.mu.Unlock()
	was := at.telling
	at.telling = platform.Trouble{}
	return !was.OK()
}

// shut and closed say what keeps the app from writing.
func (at *Conversation) shut() platform.Trouble { return at.about("trouble.slack.shut") }

func (at *Conversation) closed() platform.Trouble { return at.about("trouble.slack.archived") }

// about is a trouble with the channel, and with what named it.
func (at *Conversation) about(key phrase) platform.Trouble {
	setting := "METNOS_SLACK_CHANNEL"
	if at.name != Name {
		setting = "METNOS_POLICY (approval.routes)"
	}
	return platform.Trouble{Key: key, Values: templates.Values{"channel": templates.Theirs(at.id), "setting": templates.Theirs(setting)}}
}

// diagnose is [diagnose] for what was done in the channel.
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

// note keeps a trouble of writing to the channel.
func (at *Conversation) note(t platform.Trouble) {
	at.app.mu.Lock()
	defer at.app.mu.Unlock()
	at.telling.Begin(t.Key, t.Values)
}

// noteTelling keeps how a message to the channel fared.
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

// noteFiling keeps whether the app can put files into threads.
func (at *Conversation) noteFiling(can bool) {
	at.app.mu.Lock()
	defer at.app.mu.Unlock()
	if can {
		at.filing = platform.Trouble{}
		return
	}
	at.filing.Begin(troubleFiles, nil)
}

// inspect finds out what keeps the app from writing to the channel, if anything
// does.
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

// placesOf are the messages that show the card's ask in the workspace, in the
// order of their channels' names: the app's own channel comes first.
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

// placeOf is the first of them; zero when there is none.
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
