// Package slack is the channel that asks a team on Slack. It shows cards, amends them until
// they are final, and hands in what people press, write and command; it decides nothing. It
// hears people by Socket Mode, over two connections, or by signed HTTP requests.
//
// Text written by an agent appears only in plain text elements of rich text, where the
// platform interprets no markup: no mention, link, emoji or fence can be made there.
package slack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/channels/platform"
	"github.com/metnos/vaglio/templates"
)

// Name is the channel's name in records.
const Name = "slack"

// Channel is the app in one workspace. As a channel it is the one that cards go to if no
// route names another; [Channel.Conversations] are the others. Post and Amend work at once;
// presses, words and commands are processed while Run runs. It is safe for concurrent use.
type Channel struct {
	config Config
	api    *slackapi.Client
	texts  *templates.Texts
	log    *slog.Logger
	seen   recent
	posted recent // messages with cards of this process
	acts   chan act
	pace   pace
	// flat says that the workspace refuses blocks that fold.
	flat atomic.Bool

	// own is where cards go that no route sends elsewhere, and others are the channels of
	// routes.
	own    *Conversation
	others []*Conversation

	notes *platform.Notes[Notes]

	mu      sync.Mutex
	self    self
	people  people
	sockets [connections]line
	heardAt time.Time
	hearing platform.Trouble // with taking what people do
	homes   map[string]time.Time
	// rehearsals wait for the press of a test card.
	rehearsals platform.Rehearsals
	came       deliveries
}

// Config configures a channel.
type Config struct {
	// BotToken is the app's xoxb token. No secret appears in an error or a log.
	BotToken string
	// AppToken is the app's xapp token, for Socket Mode.
	AppToken string
	// SigningSecret is the app's, for HTTP; exactly one of the two modes is set.
	SigningSecret string
	// Channel is the id of the channel that cards go to, such as C0123456789.
	Channel string
	// Others are the ids of further channels that routes name.
	Others []string
	// Approvers are the ids of people (U…, W…) and of user groups (S…) who may decide.
	Approvers []string
	// Edits returns the address that cards link to for an edit, which phones must be able
	// to reach; nil means no link.
	Edits cardtext.Edits
	// API is the Web API's address; empty means Slack's own.
	API string
	// Client makes the requests; nil means a default one.
	Client *http.Client
	// Dial opens the sockets' connections; nil means over the network.
	Dial   func(ctx context.Context, network, address string) (net.Conn, error)
	Memory Memory
	platform.Locale
	Log *slog.Logger
}

// The errors of [Config.Check], which say which setting is wrong.
var (
	ErrBotToken      = errors.New("the token is not a bot token: it must look like xoxb-…, from the app's page OAuth & Permissions")
	ErrAppToken      = errors.New("the token is not an app-level token: it must look like xapp-…, from the app's page Basic Information")
	ErrSigningSecret = errors.New("the secret is not a signing secret: it must have 32 hexadecimal digits, from the app's page Basic Information")
	ErrMode          = errors.New("exactly one of the app-level token and the signing secret must be set")
	ErrChannel       = errors.New("the channel is not a channel's id, such as C0123456789")
	ErrApprover      = errors.New("is neither a person's id, such as U0123456789, nor a user group's, such as S0123456789")
)

var (
	botToken      = regexp.MustCompile(`^xoxb-[A-Za-z0-9-]{10,200}$`)
	appToken      = regexp.MustCompile(`^xapp-[A-Za-z0-9-]{10,200}$`)
	signingSecret = regexp.MustCompile(`^[0-9a-f]{32}$`)
	channelID     = regexp.MustCompile(`^[CG][A-Z0-9]{7,20}$`)
	personID      = regexp.MustCompile(`^[UW][A-Z0-9]{1,20}$`)
	groupID       = regexp.MustCompile(`^S[A-Z0-9]{1,20}$`)
)

// IsGroup reports whether a qualified id is a user group's.
func IsGroup(id string) bool {
	own, ok := strings.CutPrefix(id, Name+":")
	return ok && groupID.MatchString(own)
}

// callWithin is when a request without an answer counts as lost.
const callWithin = 30 * time.Second

// Check returns everything that is wrong with the configuration's ids and secrets, without repeating
// a secret.
func (c *Config) Check() error {
	var errs []error
	for _, wrong := range [...]struct {
		is  bool
		err error
	}{
		{!botToken.MatchString(c.BotToken), ErrBotToken},
		{(c.AppToken == "") == (c.SigningSecret == ""), ErrMode},
		{c.AppToken != "" && !appToken.MatchString(c.AppToken), ErrAppToken},
		{c.SigningSecret != "" && !signingSecret.MatchString(c.SigningSecret), ErrSigningSecret},
		{!channelID.MatchString(c.Channel) || slices.ContainsFunc(c.Others, func(id string) bool { return !channelID.MatchString(id) }), ErrChannel},
	} {
		if wrong.is {
			errs = append(errs, wrong.err)
		}
	}
	for _, id := range c.Approvers {
		if !personID.MatchString(id) && !groupID.MatchString(id) {
			errs = append(errs, fmt.Errorf("%q %w", id, ErrApprover))
		}
	}
	return errors.Join(errs...)
}

// New returns the channel with the notes that its memory holds.
func New(ctx context.Context, c Config) (*Channel, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.API == "" {
		c.API = slackapi.APIURL
	}
	if c.Client == nil {
		c.Client = &http.Client{}
	}
	if err := c.Load(templates.BySlack); err != nil {
		return nil, err
	}
	c.Approvers = slices.Clone(c.Approvers)
	notes, err := platform.Open(ctx, Name, c.Memory)
	if err != nil {
		return nil, err
	}
	ch := &Channel{
		config: c, texts: c.In(c.Lang), log: c.Log, notes: notes, acts: make(chan act),
		people: people{groups: map[string]roster{}, names: map[string]string{}}, homes: map[string]time.Time{},
	}
	ch.converse()
	ch.api = slackapi.New(c.BotToken, slackapi.OptionAPIURL(strings.TrimRight(c.API, "/")+"/"),
		slackapi.OptionAppLevelToken(c.AppToken), slackapi.OptionHTTPClient(c.Client))
	return ch, nil
}

// self is what the platform says about the app.
type self struct {
	team, enterprise, user string
	// address is the workspace's, for links to messages.
	address string
}
