// Package slacktest is a Slack for tests: a stateful Web API, and a Socket Mode on real
// WebSockets. It keeps channels, messages, files and views, enforces the limits and returns
// the errors that the platform documents, and records every call. A test plays the people:
// they press buttons, fill in modals, write in threads and send slash commands.
package slacktest

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/metnos/vaglio/channels/platformtest"
)

// The app's ids and secrets. Tests look for the secrets in errors and logs.
const (
	BotToken      = "xoxb-1000000001-2000000002-FAKEtokenThatMustNotLeak"
	AppToken      = "xapp-1-A0000000001-3000000003-fakeThatMustNotLeakEither"
	SigningSecret = "0123456789abcdef0123456789abcdef"

	AppID  = "A0000000001"
	BotID  = "B0000000001"
	BotUID = "U0BOT000001"
	TeamID = "T0000000001"
	// TeamURL is the workspace's address.
	TeamURL = "https://team.slack.test/"
)

// Server is the platform. Its clock is time.Now, so it can run in a synctest bubble,
// reached through [Server.Client] and [Server.Dial], or be served as an [http.Handler].
type Server struct {
	mu       sync.Mutex
	users    map[string]*User
	groups   map[string][]string
	channels map[string]*channel
	views    map[string]*View
	homes    map[string]*View
	triggers map[string]*trigger
	uploads  map[string]*upload
	hooks    map[string]*hook
	whispers []Ephemeral
	calls    []Request
	denied   map[string]bool // scopes that the app lacks
	revoked  string
	pace     time.Duration
	serial   int
	host     string // by which the app reaches us
	lastTS   int64

	sockets   []*socket
	tickets   map[string]bool
	next      int
	twice     bool
	mute      bool
	delivered map[string]*Delivery
	endpoint  http.RoundTripper
	// enterprise is the organization of the workspace; wide says that the whole
	// organization installed the app.
	enterprise string
	wide       bool
	// old makes it a workspace without blocks that fold.
	old bool

	platformtest.Trouble[Fault]
	network platformtest.Network
	working sync.WaitGroup
}

// Request is one request of the app, in the order of arrival.
type Request struct {
	Method string
	Args   map[string]string
	At     time.Time
}

// Fault is what a call gets instead of an answer.
type Fault struct {
	// Error is the platform's word, such as "is_archived".
	Error string
	// Code is the HTTP status; 0 means 200. 429 needs RetryAfter.
	Code       int
	RetryAfter time.Duration
	// Body replaces the answer, as a proxy's page does.
	Body string
	// After lets the call take effect before the fault answers it.
	After bool
}

// User is a person in the workspace.
type User struct {
	ID, Name, RealName string
	// Team is the workspace that the person belongs to; empty means ours.
	Team string
	// Enterprise is the organization of that workspace; empty means none.
	Enterprise string
	Bot        bool
}

// New returns a workspace with the app in it and nobody else.
func New() *Server {
	return &Server{
		users: map[string]*User{}, groups: map[string][]string{}, channels: map[string]*channel{}, views: map[string]*View{},
		homes: map[string]*View{}, triggers: map[string]*trigger{}, uploads: map[string]*upload{}, hooks: map[string]*hook{},
		denied: map[string]bool{}, tickets: map[string]bool{}, delivered: map[string]*Delivery{},
	}
}

// Pace allows one new message of the app in each channel per period.
func (s *Server) Pace(every time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pace = every
}

// Older makes the workspace one that has no containers yet.
func (s *Server) Older() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.old = true
}

// Revoke makes every call fail with the word, such as "token_revoked", until it is called
// with "".
func (s *Server) Revoke(word string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revoked = word
}

// Scope takes a scope away from the app, or gives it back.
func (s *Server) Scope(name string, granted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denied[name] = !granted
}

// AddUser adds a person to the workspace.
func (s *Server) AddUser(u User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u.Team == "" {
		u.Team = TeamID
	}
	s.users[u.ID] = &u
}

// SetGroup sets the members of a user group.
func (s *Server) SetGroup(id string, users ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.groups[id] = users
}

// DropGroup deletes a user group.
func (s *Server) DropGroup(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.groups, id)
}

// AddChannel opens a channel whose members are the app and the people.
func (s *Server) AddChannel(id string, members ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.channels[id] = &channel{id: id, members: append(slices.Clone(members), BotUID)}
}

// Archive archives a channel, or unarchives it, which the app is told about.
func (s *Server) Archive(id string, archived bool) {
	s.mu.Lock()
	s.channels[id].archived = archived
	s.mu.Unlock()
	if !archived {
		s.opened(id, "channel_unarchive")
	}
}

// opened tells the app about a channel that it is in again.
func (s *Server) opened(id, subtype string) {
	s.mu.Lock()
	ts := s.stamp()
	s.mu.Unlock()
	s.Event(map[string]any{
		"type": "message", "subtype": subtype, "channel": id, "channel_type": "channel", "user": BotUID, "text": subtype, "ts": ts, "event_ts": ts,
	})
}

// Leave removes a person from a channel that they may still see.
func (s *Server) Leave(id, user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channels[id]
	c.members = slices.DeleteFunc(c.members, func(m string) bool { return m == user })
}

// Kick removes the app from a channel, or invites it again, which it is told about.
func (s *Server) Kick(id string, out bool) {
	s.mu.Lock()
	c := s.channels[id]
	c.members = slices.DeleteFunc(c.members, func(m string) bool { return m == BotUID })
	if !out {
		c.members = append(c.members, BotUID)
	}
	s.mu.Unlock()
	if !out {
		s.opened(id, "channel_join")
	}
}

// Calls returns the requests of a method, or all of them for "".
func (s *Server) Calls(method string) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.calls), func(c Request) bool { return method != "" && c.Method != method })
}

// Ephemerals returns what individual people were told, in order.
func (s *Server) Ephemerals() []Ephemeral {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.whispers)
}

// Messages returns the messages in a channel, including threads, oldest first.
func (s *Server) Messages(channelID string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channels[channelID]
	if c == nil {
		return nil
	}
	all := make([]Message, 0, len(c.messages))
	for _, m := range c.messages {
		all = append(all, *m)
	}
	return all
}

// Message returns one message of a channel.
func (s *Server) Message(channelID, ts string) (Message, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.message(channelID, ts); m != nil {
		return *m, true
	}
	return Message{}, false
}

// Delete deletes a message, as an admin does.
func (s *Server) Delete(channelID, ts string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channels[channelID]
	c.messages = slices.DeleteFunc(c.messages, func(m *Message) bool { return m.TS == ts })
}

// Home returns what the app shows a person in its home tab.
func (s *Server) Home(user string) (View, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.homes[user]; v != nil {
		return *v, true
	}
	return View{}, false
}

// Modal returns the modal that a person has open.
func (s *Server) Modal(user string) (View, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.views {
		if v.User == user && v.Type == "modal" && !v.Closed {
			return *v, true
		}
	}
	return View{}, false
}
