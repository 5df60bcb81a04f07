package web

import (
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
)

const (
	// sessionFor is how long a session stays valid without use, and sessionMost is the most
	// that use can extend it to.
	sessionFor  = 12 * time.Hour
	sessionMost = 7 * 24 * time.Hour
	// stretchAfter is the least extension of a session that is stored: not every use is.
	stretchAfter = time.Hour
	// readsFor is how long a cookie is valid for reading, and so how long a copy of it is.
	// The page gets a new one with its key.
	readsFor = time.Hour
	// maxSessions is the most sessions; the oldest is dropped.
	maxSessions = 64
)

// Session is one signed-in browser.
type Session struct {
	// ID names the session; it is the hash of what the browser holds, and cannot be used to
	// sign in.
	ID     string    `json:"id"`
	Person string    `json:"person"`
	Made   time.Time `json:"made"`
	Until  time.Time `json:"until"`
	// From is the address that signed in, and Browser what the browser said about itself:
	// not reliable, and without control characters.
	From    string `json:"from"`
	Browser string `json:"browser"`
	// Key is the public half of the key that the browser made when it signed in, as
	// [proof.CheckKey] accepts it; it never changes. Keyless says that the browser made
	// none. A record that predates keys has neither, and signs nobody in.
	Key     string `json:"key,omitempty"`
	Keyless bool   `json:"keyless,omitempty"`
	// stale says that the current cookie is too old to read with.
	stale bool
	// asserted says that the current act came with an assertion of a passkey.
	asserted bool
	// challenge is what an authenticator signs for the current act.
	challenge []byte
}

// right is what a session may do.
type right int

const (
	// mayDeny is the right of a session without a key: its cookie alone can say no, and
	// speaks to nobody.
	mayDeny right = iota
	// mayDecide is the right of a session with a key: each of its acts is signed.
	mayDecide
)

func (v *Session) right() right {
	if v.Key != "" {
		return mayDecide
	}
	return mayDeny
}

// limit says what the session may not do, and why; zero if it may do everything.
func (r right) limit() text {
	if r == mayDecide {
		return text{}
	}
	return text{Key: "web.limit.deny"}
}

// Sessions stores the sessions beyond the process.
type Sessions interface {
	// Load returns what was last saved.
	Load(ctx context.Context) ([]Session, error)
	// Save stores all sessions. If it returns nil, they are on disk.
	Save(ctx context.Context, all []Session) error
}

// sessions are the signed-in browsers: whatever is not among them is not signed in.
type sessions struct {
	// cookie is the cookie's name. It is specific to the instance, because cookies ignore
	// the port: two instances on one machine must not sign out each other's people.
	cookie string
	keep   Sessions
	// stamps seal until when a cookie is valid for reading.
	stamps sealer

	mu  sync.Mutex
	all []Session
}

// openSessions loads the stored sessions; with a nil keep they are forgotten when the
// process ends.
func openSessions(ctx context.Context, secret [32]byte, keep Sessions) (*sessions, error) {
	s, err := newSealer(secret, "session/v1")
	if err != nil {
		return nil, err
	}
	name := sha256.Sum256(append([]byte("name:"), s.key...))
	all := &sessions{cookie: "vaglio_" + hex.EncodeToString(name[:4]), keep: keep}
	if all.stamps, err = newSealer(secret, "reads/v1"); err != nil {
		return nil, err
	}
	if keep == nil {
		return all, nil
	}
	if all.all, err = keep.Load(ctx); err != nil {
		return nil, fmt.Errorf("web: read the sessions: %w", err)
	}
	all.all = slices.DeleteFunc(all.all, func(one Session) bool { return one.Key == "" && !one.Keyless })
	return all, nil
}

// idOf returns the id of the session whose value a browser holds.
func idOf(value string) string {
	h := sha256.Sum256([]byte(value))
	return hex.EncodeToString(h[:])
}

// start makes a session and returns its cookie once it is stored.
func (s *sessions) start(ctx context.Context, one Session, secure bool) (*http.Cookie, error) {
	value := rand.Text() + rand.Text()
	now := time.Now().UTC().Round(0)
	one.ID, one.Made, one.Until = idOf(value), now, now.Add(sessionFor)
	err := s.change(ctx, func(all []Session) []Session {
		all = append(all, one)
		return all[max(0, len(all)-maxSessions):]
	})
	if err != nil {
		return nil, err
	}
	return s.stamped(value, now, secure), nil
}

// stamped returns the cookie of a session made at the given time, valid for reading from
// now on.
func (s *sessions) stamped(value string, made time.Time, secure bool) *http.Cookie {
	c := s.blank(secure) //nolint:gosec // Secure follows from how the page was reached.
	until := strconv.FormatInt(time.Now().Add(readsFor).Unix(), 10)
	c.Value = value + "." + until + "." + s.stamp(value, until)
	c.Expires, c.MaxAge = made.Add(sessionMost), int(time.Until(made.Add(sessionMost)).Round(time.Second)/time.Second)
	return c
}

func (s *sessions) stamp(value, until string) string {
	return hex.EncodeToString(s.stamps.mac([]byte(value + "." + until)))
}

// reads reports whether the session's value came in a cookie that is young enough.
func (s *sessions) reads(value, stamp string) bool {
	text, mac, _ := strings.Cut(stamp, ".")
	until, err := strconv.ParseInt(text, 10, 64)
	return err == nil && hmac.Equal([]byte(mac), []byte(s.stamp(value, text))) && time.Now().Before(time.Unix(until, 0))
}

// gone returns the cookie that removes a session's.
func (s *sessions) gone(secure bool) *http.Cookie {
	c := s.blank(secure) //nolint:gosec // Secure follows from how the page was reached.
	c.MaxAge = -1
	return c
}

// blank returns the cookie without its value. secure says that the page came over TLS: the
// cookie's name then binds it to this host, for which no other can set it. On plain
// loopback a browser would drop a Secure cookie.
func (s *sessions) blank(secure bool) *http.Cookie {
	c := &http.Cookie{ //nolint:gosec // Secure follows from how the page was reached.
		Name: s.cookie, Path: "/inbox", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: secure,
	}
	if secure {
		c.Name, c.Path = "__Host-"+s.cookie, "/"
	}
	return c
}

// of returns the session whose cookie the request carries, if there is one, even if the
// cookie is stale.
func (s *sessions) of(r *http.Request, secure bool) (Session, bool) {
	c, err := r.Cookie(s.blank(secure).Name)
	if err != nil || len(c.Value) > 200 {
		return Session{}, false
	}
	value, stamp, _ := strings.Cut(c.Value, ".")
	id := idOf(value)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.all {
		if subtle.ConstantTimeCompare([]byte(s.all[i].ID), []byte(id)) == 1 && time.Now().Before(s.all[i].Until) {
			one := s.all[i]
			one.stale = !s.reads(value, stamp)
			return one, true
		}
	}
	return Session{}, false
}

// renewed returns the cookie that the request carries, with a new stamp.
func (s *sessions) renewed(r *http.Request, one *Session, secure bool) (*http.Cookie, error) {
	c, err := r.Cookie(s.blank(secure).Name)
	if err != nil {
		return nil, fmt.Errorf("web: the session's cookie: %w", err)
	}
	value, _, _ := strings.Cut(c.Value, ".")
	return s.stamped(value, one.Made, secure), nil
}

// used extends a session that is in use. If that cannot be stored the session ends when it
// would have.
func (s *sessions) used(ctx context.Context, one *Session) error {
	until := time.Now().UTC().Round(0).Add(sessionFor)
	if most := one.Made.Add(sessionMost); until.After(most) {
		until = most
	}
	if until.Sub(one.Until) < stretchAfter {
		return nil
	}
	return s.change(ctx, func(all []Session) []Session {
		for i := range all {
			if all[i].ID == one.ID {
				all[i].Until = until
			}
		}
		return all
	})
}

// end ends the chosen sessions; in this process it does so even if that cannot be stored.
func (s *sessions) end(ctx context.Context, chosen func(*Session) bool) (n int, err error) {
	err = s.change(ctx, func(all []Session) []Session {
		before := len(all)
		all = slices.DeleteFunc(all, func(one Session) bool { return chosen(&one) })
		n = before - len(all)
		return all
	})
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all = slices.DeleteFunc(s.all, func(one Session) bool { return chosen(&one) })
	}
	return n, err
}

// list returns the currently valid sessions, oldest first.
func (s *sessions) list() []Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return living(s.all)
}

func living(all []Session) []Session {
	now := time.Now()
	return slices.DeleteFunc(slices.Clone(all), func(one Session) bool { return !now.Before(one.Until) })
}

// change stores what change makes of the sessions, and then uses it.
func (s *sessions) change(ctx context.Context, change func([]Session) []Session) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := change(living(s.all))
	if s.keep != nil {
		if err := s.keep.Save(ctx, slices.Clone(next)); err != nil {
			return fmt.Errorf("web: keep the sessions: %w", err)
		}
	}
	s.all = next
	return nil
}

// by returns the signed-in person as decisions record them.
func (v *Session) by() approval.Person {
	return approval.Person{ID: Name + ":" + v.Person, Name: v.Person}
}

// sealer signs small values that pass through the browser, for one purpose.
type sealer struct{ key []byte }

func newSealer(secret [32]byte, purpose string) (sealer, error) {
	key, err := hkdf.Key(sha256.New, secret[:], nil, "vaglio/channels/web/"+purpose, sha256.Size)
	if err != nil {
		return sealer{}, fmt.Errorf("web: deriving a key: %w", err)
	}
	return sealer{key}, nil
}

func (s sealer) seal(v any) (string, error) {
	body, err := strictjson.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("web: sealing: %w", err)
	}
	enc := base64.RawURLEncoding
	return enc.EncodeToString(body) + "." + enc.EncodeToString(s.mac(body)), nil
}

// open reads a sealed value into v. It reports false for any flaw.
func (s sealer) open(text string, v any) bool {
	left, right, ok := strings.Cut(text, ".")
	if !ok || len(text) > 4096 {
		return false
	}
	enc := base64.RawURLEncoding.Strict()
	body, err := enc.DecodeString(left)
	if err != nil {
		return false
	}
	mac, err := enc.DecodeString(right)
	if err != nil || !hmac.Equal(mac, s.mac(body)) {
		return false
	}
	return strictjson.UnmarshalLoose(body, v) == nil
}

func (s sealer) mac(body []byte) []byte {
	h := hmac.New(sha256.New, s.key)
	h.Write(body)
	return h.Sum(nil)
}
