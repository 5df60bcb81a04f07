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
	// sessionFor is how long a session stays good that nobody uses, and sessionMost
	// how long one can be stretched by use.
	sessionFor  = 12 * time.Hour
	sessionMost = 7 * 24 * time.Hour
	// stretchAfter is the use after which a session's new end is kept: not each one.
	stretchAfter = time.Hour
	// readsFor is how long a cookie reads: whoever has a copy of it has no longer. The
	// page gets another one by its key.
	readsFor = time.Hour
	// maxSessions bounds the sessions; the oldest gives way.
	maxSessions = 64
)

// Session is one signed-in browser.
type Session struct {
	// ID names the session; it is the hash of what the browser holds, and of no use
	// to sign in with.
	ID     string    `json:"id"`
	Person string    `json:"person"`
	Made   time.Time `json:"made"`
	Until  time.Time `json:"until"`
	// From is the address that signed in, and Browser what it said of itself: not
	// to be relied on, and without control characters.
	From    string `json:"from"`
	Browser string `json:"browser"`
	// Key is the public half of the key that the browser made when it signed in, as
	// [proof.CheckKey] takes it; it never changes. Keyless says that the browser made
	// none. A record of before keys has neither, and nobody is signed in by it.
	Key     string `json:"key,omitempty"`
	Keyless bool   `json:"keyless,omitempty"`
	// stale says that the cookie at hand is too old to read by.
	stale bool
	// asserted says that the act at hand came with an assertion of a passkey.
	asserted bool
	// challenge is what an authenticator signs for the act at hand.
	challenge []byte
}

// right is how far a session goes.
type right int

const (
	// mayDeny is what a session without a key may: its cookie alone says no, and
	// speaks to nobody.
	mayDeny right = iota
	// mayDecide is what a session may with its key: each of its acts is signed.
	mayDecide
)

func (v *Session) right() right {
	if v.Key != "" {
		return mayDecide
	}
	return mayDeny
}

// limit says what the session may not do, and why; zero where it may all.
func (r right) limit() text {
	if r == mayDecide {
		return text{}
	}
	return text{Key: "web.limit.deny"}
}

// Sessions keep the sessions past the process.
type Sessions interface {
	// Load returns what was saved last.
	Load(ctx context.Context) ([]Session, error)
	// Save keeps all sessions: what it returned nil for is on disk.
	Save(ctx context.Context, all []Session) error
}

// sessions are the signed-in browsers: what is not among them is not signed in.
type sessions struct {
	// cookie is the cookie's name. It is the instance's own, because cookies
	// ignore the port: two instances on one machine must not sign each other's
	// people out.
	cookie string
	keep   Sessions
	// stamps seal until when a cookie reads.
	stamps sealer

	mu  sync.Mutex
	all []Session
}

// openSessions takes up the sessions that were kept; a nil keep forgets them with
// the process.
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

// idOf is the name of the session that a browser holds the value of.
func idOf(value string) string {
	h := sha256.Sum256([]byte(value))
	return hex.EncodeToString(h[:])
}

// start makes a session and returns its cookie once it is kept.
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

// stamped is the cookie of a session that was made then, which reads from now on.
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

// gone returns the cookie that takes a session's away.
func (s *sessions) gone(secure bool) *http.Cookie {
	c := s.blank(secure) //nolint:gosec // Secure follows from how the page was reached.
	c.MaxAge = -1
	return c
}

// blank is the cookie without its value. secure says that the page came over TLS:
// then its name binds it to this host, at which no other can set it. On plain
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

// of returns the session whose cookie the request carries, if there is one, also
// where the cookie is stale.
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

// renewed returns the cookie that the request carries, stamped anew.
func (s *sessions) renewed(r *http.Request, one *Session, secure bool) (*http.Cookie, error) {
	c, err := r.Cookie(s.blank(secure).Name)
	if err != nil {
		return nil, fmt.Errorf("web: the session's cookie: %w", err)
	}
	value, _, _ := strings.Cut(c.Value, ".")
	return s.stamped(value, one.Made, secure), nil
}

// used stretches a session that is used. Where that cannot be kept the session
// ends when it would have.
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

// end ends the sessions that are chosen, in this process also where that cannot be
// kept.
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

// list returns the sessions that are good now, the oldest first.
func (s *sessions) list() []Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return living(s.all)
}

func living(all []Session) []Session {
	now := time.Now()
	return slices.DeleteFunc(slices.Clone(all), func(one Session) bool { return !now.Before(one.Until) })
}

// change keeps what change makes of the sessions, and then answers by it.
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

// sealer signs small values that go through the browser, for one purpose.
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

// open reads a sealed value into v. Any flaw is the same false.
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
