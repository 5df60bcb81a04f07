// Package telegram is the channel that asks a person on Telegram. It shows cards, amends
// them until they are final, and hands in what the person taps or writes; it decides
// nothing. It fetches updates by its own long poll and confirms each one only after its
// effect is committed.
package telegram

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/channels/platform"
	"github.com/metnos/vaglio/templates"
)

// Name is the channel's name in records.
const Name = "telegram"

// Channel is a bot. Post and Amend work at once; taps, words and commands are processed
// while Run runs. It is safe for concurrent use.
type Channel struct {
	api       *api
	topic     int64
	chat      int64 // from the configuration; 0 leaves it to the pairing
	approvers []int64
	locale    platform.Locale
	edits     cardtext.Edits
	log       *slog.Logger

	notes *platform.Notes[Notes]

	mu        sync.Mutex
	code      pairingCode
	began     time.Time
	lastHeard time.Time
	hearing   platform.Trouble // with receiving updates
	telling   platform.Trouble // with writing to the chat
	self      user

	// older says that the server knows neither dead buttons nor buttons that copy.
	older atomic.Bool
	// plain says that the server refused a rich message.
	plain atomic.Bool

	strangers  strangerLimit
	rehearsals platform.Rehearsals // test cards that wait for their press
	webhook    string
	deliveries chan incoming
	over       chan struct{} // closed when Run has ended
	end        func()        // closes it
	delivered  time.Time     // the last delivery that had its effect
}

// Config configures a channel.
type Config struct {
	// Token is the bot's, from BotFather. It appears in no error and no log.
	Token string
	// API is the Bot API's address; empty means Telegram's own.
	API string
	// Unpaced sends messages as they come: a server for trying and testing has no limits.
	Unpaced bool
	// Client makes the requests; nil means a default one.
	Client *http.Client
	Memory Memory
	// Chat is where cards go, and Topic the forum topic in it. A zero Chat means the paired
	// one.
	Chat, Topic int64
	// Webhook is the public https address to which the platform delivers, ending where
	// [Channel.Webhook] is served. Empty means that we poll.
	Webhook string
	// Approvers are the numeric ids of those who may decide, in addition to the person who
	// paired.
	Approvers []int64
	// Edits returns the address that cards link to for an edit, which phones must be able
	// to reach; nil means no link.
	Edits cardtext.Edits
	platform.Locale
	Log *slog.Logger
}

// ErrToken says that a bot token does not look like one.
var ErrToken = errors.New("the token is not one of BotFather's: it must look like 123456789:AA… with letters, digits, _ and -")

var builtinToken = regexp.MustCompile(`^[0-9]{5,20}:[A-Za-z0-9_-]{20,100}$`)

// CheckToken returns [ErrToken] if a text does not look like a bot token.
func CheckToken(token string) error {
	if !builtinToken.MatchString(token) {
		return ErrToken
	}
	return nil
}

// New returns the channel with the notes that its memory holds. The error never shows the
// token.
func New(ctx context.Context, c Config) (*Channel, error) {
	if err := CheckToken(c.Token); err != nil {
		return nil, err
	}
	if c.API == "" {
		c.API = "https://api.telegram.org"
	}
	if c.Client == nil {
		c.Client = &http.Client{}
	}
	if err := c.Load(templates.ByTelegram); err != nil {
		return nil, err
	}
	notes, err := platform.Open(ctx, Name, c.Memory)
	if err != nil {
		return nil, err
	}
	over := make(chan struct{})
	calls := newAPI(c.API, c.Token, c.Client)
	calls.unpaced = c.Unpaced
	return &Channel{
		api: calls, topic: c.Topic, chat: c.Chat, approvers: slices.Clone(c.Approvers), locale: c.Locale, edits: c.Edits, log: c.Log,
		notes: notes, began: time.Now(),
		webhook: c.Webhook, deliveries: make(chan incoming), over: over, end: sync.OnceFunc(func() { close(over) }),
	}, nil
}

// Name returns [Name].
func (c *Channel) Name() string { return Name }

// Approves reports whether the person may decide: one from the configuration, or the one
// who paired. The id is qualified, such as "telegram:4711". It does not block on disk or
// network.
func (c *Channel) Approves(id string) bool {
	number, ok := strings.CutPrefix(id, Name+":")
	n, err := strconv.ParseInt(number, 10, 64)
	return ok && err == nil && strconv.FormatInt(n, 10) == number && c.listed(n)
}

func (c *Channel) listed(person int64) bool {
	return person != 0 && (person == c.notes.Now().Person || slices.Contains(c.approvers, person))
}

// place returns the chat that cards go to.
func (c *Channel) place() (int64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.chat != 0 {
		return c.chat, true
	}
	chat := c.notes.Now().Chat
	return chat, chat != 0
}

// moved follows a group that became a supergroup.
func (c *Channel) moved(ctx context.Context, from, to int64) error {
	c.mu.Lock()
	if c.chat == from {
		c.chat = to
		c.log.WarnContext(ctx, "the configured chat became a supergroup: put its new id into the configuration", "chat", to)
	}
	c.mu.Unlock()
	return c.notes.Change(ctx, func(n *Notes) {
		if n.Chat == from {
			n.Chat = to
		}
	})
}
