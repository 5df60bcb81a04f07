// Package telegramtest is a Telegram for tests: a stateful Bot API server that keeps chats,
// messages and the queue of updates, and enforces the limits and returns the errors that
// the platform documents. It records every call. A test plays the people: they press
// buttons, reply and send commands.
package telegramtest

import (
	"cmp"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/metnos/vaglio/channels/platformtest"
)

// Token is the bot's token; tests look for it in errors and logs.
const Token = "123456789:AAfake-TOKEN_that_must_not_leak_1234567"

// BotID and BotName identify the bot.
const (
	BotID   = 123456789
	BotName = "vaglio_test_bot"
)

// The platform's limits.
const (
	MaxText        = 4096             // characters of a message, after its markup was parsed
	MaxCaption     = 1024             // characters of a document's caption
	MaxEntities    = 100              // entities of a message; the rest are dropped
	MaxData        = 64               // bytes of a button's callback data
	MaxAnswer      = 200              // characters of a callback's answer
	MaxButtons     = 100              // buttons of a keyboard
	MaxBatch       = 100              // updates in one answer
	MaxPoll        = 50 * time.Second // a long poll
	PressLives     = 150 * time.Second
	MessageLives   = 24 * time.Hour
	DeleteWithin   = 48 * time.Hour   // after that the bot's own messages cannot be deleted
	AnswerWithin   = 15 * time.Second // after that a callback cannot be answered
	maxPlaceholder = 64
	maxCopied      = 256
)

// Server is the platform. Its clock is time.Now, so it can run in a synctest bubble,
// reached through [Server.Client].
type Server struct {
	mu       sync.Mutex
	chats    map[int64]*chat
	lastID   int
	updates  []update
	nextID   int64
	allowed  []string
	hook     webhook
	revoked  bool
	readsAll bool
	poll     *poll
	tick     chan struct{}
	queries  map[string]*query
	answers  []Answer
	calls    []Request
	commands map[string][]Command
	// old makes it a server from before the newer kinds of buttons.
	old bool
	// rich makes it a server that takes rich messages.
	rich bool
	// paced says that it counts the bot's messages; refused is how many came too soon.
	paced   bool
	refused int

	platformtest.Trouble[Fault]
	network platformtest.Network
}

// Request is one request of the bot, in the order of arrival.
type Request struct {
	Method string
	Params map[string]string
	At     time.Time
}

// Fault is what a call gets instead of an answer.
type Fault struct {
	// Code is the HTTP status, and error_code unless Body is set.
	Code        int
	Description string
	// RetryAfter, in seconds, is for 429.
	RetryAfter int
	// Body replaces the JSON envelope, as a proxy's page does.
	Body string
	// After lets the call take effect before the fault answers it.
	After bool
	// Pass is not a fault: it lets a call through before one that fails.
	Pass bool
}

// Command is one entry of the bot's menu.
type Command struct {
	Command     string `json:"command"`
	Description string `json:"description"`
}

// New returns a platform that knows the bot and nobody else. It is reached through
// [Server.Client] once [Server.Start] was called, or can be served as an [http.Handler].
func New() *Server {
	return &Server{
		chats: map[int64]*chat{}, queries: map[string]*query{},
		commands: map[string][]Command{}, nextID: 1000, lastID: 10, tick: make(chan struct{}),
	}
}

// Older makes the server one that knows neither dead buttons nor buttons that copy a text.
func (s *Server) Older() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.old = true
}

// Richer makes the server one that takes rich messages, or none of them any more.
func (s *Server) Richer(rich bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rich = rich
}

func (s *Server) takesRich() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rich
}

// Pace makes the server count the bot's messages, and refuse those that come too soon.
func (s *Server) Pace() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paced = true
}

// Refused returns how many messages came too soon.
func (s *Server) Refused() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

// Start accepts connections again, with everything that the platform knows.
func (s *Server) Start() { s.network.Start(s) }

// Stop cuts every connection and refuses new ones. What people do in the meantime is
// queued, and expires.
func (s *Server) Stop() { s.network.Stop() }

// Client returns a client whose every connection leads here, whatever the host.
func (s *Server) Client() *http.Client { return s.network.Client() }

// Revoke makes the token invalid, or valid again.
func (s *Server) Revoke(revoked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revoked = revoked
}

// SetWebhook sets or, if url is empty, deletes the bot's webhook behind its back.
func (s *Server) SetWebhook(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hook = webhook{url: url}
	s.wake()
}

// RestartIDs sets the next update's id, as the platform does at random after a week without
// updates.
func (s *Server) RestartIDs(next int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nextID = next
}

// Queued returns how many updates wait for the bot.
func (s *Server) Queued() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	return len(s.updates)
}

// Calls returns the requests of a method, or all of them for "".
func (s *Server) Calls(method string) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.calls), func(c Request) bool { return method != "" && c.Method != method })
}

// Answers returns the answers to presses, in order.
func (s *Server) Answers() []Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.answers)
}

// Commands returns the bot's menu in a language; "" is the default one.
func (s *Server) Commands(language string) []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.commands[language])
}

// Messages returns the messages in a chat, oldest first.
func (s *Server) Messages(chatID int64) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chats[chatID]
	if c == nil {
		return nil
	}
	all := make([]Message, 0, len(c.messages))
	for _, m := range c.messages {
		all = append(all, m.copy())
	}
	slices.SortFunc(all, func(a, b Message) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// Message returns one message of a chat.
func (s *Server) Message(chatID int64, id int) (Message, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.chats[chatID]; c != nil && c.messages[id] != nil {
		return c.messages[id].copy(), true
	}
	return Message{}, false
}

// wake lets long polls look again; s.mu must be held.
func (s *Server) wake() {
	close(s.tick)
	s.tick = make(chan struct{})
}
