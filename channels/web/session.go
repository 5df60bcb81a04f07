package web

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
)

const (
	// sessionFor is how long a browser stays signed in.
	sessionFor = 30 * 24 * time.Hour
	// codeFor is how long a one-time link works.
	codeFor = 10 * time.Minute
	// maxCodes bounds the links that wait to be used; the oldest gives way.
	maxCodes = 16
)

// sessions makes and reads the cookies of signed-in people.
type sessions struct {
	sealer sealer
	// cookie is the cookie's name. It is the instance's own, because cookies
	// ignore the port: two instances on one machine must not sign each other's
	// people out.
	cookie string
	ended  *ended
}

// session is what the cookie says, once its seal was checked.
type session struct {
	Person string `json:"person"`
	Until  int64  `json:"until"`
	// Nonce makes every cookie another one.
	Nonce string `json:"nonce"`
}

func newSessions(secret [32]byte, over *ended) (sessions, error) {
	s, err := newSealer(secret, "session/v1")
	if err != nil {
		return sessions{}, err
	}
	name := sha256.Sum256(append([]byte("name:"), s.key...))
	return sessions{sealer: s, cookie: "vaglio_" + hex.EncodeToString(name[:4]), ended: over}, nil
}

// start returns the cookie of a new session of the person. secure says that the
// page came over TLS: on plain loopback a browser would drop a Secure cookie.
func (s *sessions) start(person string, secure bool) (*http.Cookie, error) {
	until := time.Now().Add(sessionFor)
	value, err := s.sealer.seal(session{Person: person, Until: until.Unix(), Nonce: rand.Text()})
	if err != nil {
		return nil, err
	}
	return &http.Cookie{ //nolint:gosec // Secure follows from how the page was reached.
		Name: s.cookie, Value: value, Path: "/inbox", Expires: until, MaxAge: int(sessionFor / time.Second),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: secure,
	}, nil
}

// end returns the cookie that ends a session.
func (s *sessions) end(secure bool) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // Secure follows from how the page was reached.
		Name: s.cookie, Path: "/inbox", MaxAge: -1,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: secure,
	}
}

// of returns the request's session, if it carries a valid one.
func (s *sessions) of(r *http.Request) (session, bool) {
	c, err := r.Cookie(s.cookie)
	if err != nil {
		return session{}, false
	}
	var v session
	if !s.sealer.open(c.Value, &v) || v.Person == "" || v.over() || s.ended.has(v) {
		return session{}, false
	}
	return v, true
}

func (v session) over() bool { return time.Now().Unix() >= v.Until }

// by returns the signed-in person as decisions record them.
func (v session) by() approval.Person {
	return approval.Person{ID: Name + ":" + v.Person, Name: v.Person}
}

// codes keeps the one-time codes that were not used yet, by their hashes. They
// end with the process: a new link is one command away.
type codes struct {
	mu      sync.Mutex
	waiting []code
}

type code struct {
	hash  [sha256.Size]byte
	until time.Time
}

// mint returns a fresh code of 130 random bits.
func (c *codes) mint() string {
	text := rand.Text()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(time.Now())
	if len(c.waiting) == maxCodes {
		c.waiting = c.waiting[1:]
	}
	c.waiting = append(c.waiting, code{sha256.Sum256([]byte(text)), time.Now().Add(codeFor)})
	return text
}

// spend reports whether the code was good, which it is once. It looks at every
// code that waits, whichever matches, so its time tells nothing.
func (c *codes) spend(text string) bool {
	hash := sha256.Sum256([]byte(text))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(time.Now())
	found := -1
	for i := range c.waiting {
		if subtle.ConstantTimeCompare(hash[:], c.waiting[i].hash[:]) == 1 {
			found = i
		}
	}
	if found < 0 {
		return false
	}
	c.waiting = append(c.waiting[:found], c.waiting[found+1:]...)
	return true
}

// drop forgets the codes whose time is over; c.mu is held.
func (c *codes) drop(now time.Time) {
	kept := c.waiting[:0]
	for _, w := range c.waiting {
		if now.Before(w.until) {
			kept = append(kept, w)
		}
	}
	c.waiting = kept
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
