package web

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/metnos/vaglio/channels/web/proof"
)

// owner is the one person who signs in.
const owner = "owner"

// Owner is the id under which the signed-in person's decisions are recorded, and by which
// that person is an approver.
const Owner = Name + ":" + owner

// loginPage shows a form and nothing else: a link that is only fetched, by a preview or a
// scanner, is not used up.
func (w *Web) loginPage(rw http.ResponseWriter, r *http.Request) error {
	code := strings.TrimSpace(r.URL.Query().Get("code"))
	if code == "" {
		return w.render(rw, r, page{Status: http.StatusOK, Name: "signin", Title: text{Key: "web.signin"}, Body: start})
	}
	return w.render(rw, r, page{Status: http.StatusOK, Name: "login", Title: text{Key: "web.signin"}, Body: code})
}

func (w *Web) login(rw http.ResponseWriter, r *http.Request) error {
	f, _, err := formOf(rw, r)
	if err != nil {
		return err
	}
	key := f.Get("key")
	if key != "" {
		if err := proof.CheckKey(key); err != nil {
			return &pageError{
				Status: http.StatusBadRequest, Title: text{Key: "web.fault.key.title"},
				Text: text{Key: "web.fault.key"}, Err: err,
			}
		}
	}
	if !w.codes.spend(strings.TrimSpace(f.Get("code"))) {
		return &pageError{
			Status: http.StatusForbidden, Title: text{Key: "web.fault.link.title"},
			Text: text{Key: "web.fault.link"},
		}
	}
	ctx := context.WithoutCancel(r.Context())
	one := Session{Person: owner, From: hostOf(r.RemoteAddr), Browser: browserOf(r), Key: key, Keyless: key == ""}
	// A sign-in that nobody could be told about does not happen.
	if err := w.signedInBy(ctx, one); err != nil {
		return err
	}
	c, err := w.sessions.start(ctx, one, w.secure(r))
	if err != nil {
		return err
	}
	http.SetCookie(rw, c)
	http.Redirect(rw, r, w.sought(rw, r), http.StatusSeeOther)
	return nil
}

// start is where a sign-in leads if no page was asked for before.
const start = "/inbox"

// sought is the path, in a cookie, that a browser asked for before it signed in.
type sought struct {
	To string `json:"to"`
}

// remember records in the browser the path that it asked for, for as long as a link works.
// The path is one that we serve, and is sealed: no other site can make a sign-in lead
// elsewhere.
func (w *Web) remember(rw http.ResponseWriter, r *http.Request, to string) error {
	c := w.soughtCookie(r) //nolint:gosec // As a session's.
	var err error
	if c.Value, err = w.told.Load().seal(sought{to}); err != nil {
		return err
	}
	c.MaxAge = int(codeFor / time.Second)
	http.SetCookie(rw, c)
	return nil
}

// sought returns the path that the browser asked for before it signed in, and makes the
// browser forget it.
func (w *Web) sought(rw http.ResponseWriter, r *http.Request) string {
	c := w.soughtCookie(r) //nolint:gosec // As a session's.
	note, err := r.Cookie(c.Name)
	if err != nil {
		return start
	}
	c.MaxAge = -1
	http.SetCookie(rw, c)
	var to sought
	if !w.told.Load().open(note.Value, &to) {
		return start
	}
	return cmp.Or(to.To, start)
}

func (w *Web) soughtCookie(r *http.Request) *http.Cookie {
	c := w.sessions.blank(w.secure(r)) //nolint:gosec // As a session's.
	c.Name += "_to"
	return c
}

// logout also ends the session on this side, so that a copy of its cookie is worthless.
func (w *Web) logout(rw http.ResponseWriter, r *http.Request) error {
	http.SetCookie(rw, w.sessions.gone(w.secure(r)))
	if who, ok := w.sessions.of(r, w.secure(r)); ok {
		_, err := w.sessions.end(context.WithoutCancel(r.Context()), func(one *Session) bool { return one.ID == who.ID })
		if err != nil {
			return &pageError{
				Status: http.StatusInternalServerError, Title: text{Key: "web.fault.signout.title"},
				Text: text{Key: "web.fault.signout"}, Err: err,
			}
		}
	}
	http.Redirect(rw, r, "/inbox/login", http.StatusSeeOther)
	return nil
}

// maxBrowser is how much is kept of what a browser says about itself, in bytes.
const maxBrowser = 200

// browserOf returns what the browser says about itself, on one line.
func browserOf(r *http.Request) string {
	said := strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return -1
		}
		return c
	}, r.UserAgent())
	return said[:min(len(said), maxBrowser)]
}

// session returns the session that a request may read with.
func (w *Web) session(r *http.Request) (Session, bool) {
	who, ok := w.sessions.of(r, w.secure(r))
	return who, ok && !who.stale
}

// renew does what every act of the page that signed in does, and nothing else: it renews
// its cookie.
func (w *Web) renew(rw http.ResponseWriter, _ *http.Request, _ Session, _ url.Values) error {
	rw.WriteHeader(http.StatusNoContent)
	return nil
}

// signed reports whether the request's session is still valid.
func (w *Web) signed(r *http.Request) bool {
	_, ok := w.session(r)
	return ok
}

// Sessions returns the browsers that are signed in, oldest first.
func (w *Web) Sessions() []Session { return w.sessions.list() }

// EndSessions ends the sessions whose id has the prefix, all of them for an empty one, and
// returns how many there were.
func (w *Web) EndSessions(ctx context.Context, prefix string) (int, error) {
	return w.sessions.end(ctx, func(one *Session) bool { return strings.HasPrefix(one.ID, prefix) })
}

// Rekey seals with another secret from now on, and voids earlier one-time links. The cookie
// keeps its name until the next start.
func (w *Web) Rekey(secret [32]byte) error {
	s, err := newSealer(secret, "told/v1")
	if err != nil {
		return err
	}
	w.told.Store(&s)
	w.codes.forget()
	return nil
}

// secure reports whether the browser reached us over TLS, directly or through a proxy in
// front of the public address.
func (w *Web) secure(r *http.Request) bool {
	return r.TLS != nil ||
		w.public != nil && w.public.Scheme == "https" && strings.EqualFold(hostOf(r.Host), w.public.Hostname())
}

// maxForm is the largest posted form, in bytes: a proposal of 1 MiB and the form around it,
// percent-encoded.
const maxForm = 4 << 20

// formWithin is how long a form may take to arrive.
const formWithin = 30 * time.Second

// formOf reads a posted form, and also returns it as it was sent.
func formOf(rw http.ResponseWriter, r *http.Request) (url.Values, []byte, error) {
	c := http.NewResponseController(rw)
	// A writer without deadlines has other means; only the limit is lost.
	_ = c.SetReadDeadline(time.Now().Add(formWithin))
	body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, maxForm))
	if err == nil {
		r.Body = io.NopCloser(bytes.NewReader(body))
		err = r.ParseForm()
	}
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, nil, &pageError{
			Status: http.StatusRequestEntityTooLarge, Title: text{Key: "web.fault.large.title"},
			Text: text{Key: "web.fault.large"}, Err: err,
		}
	}
	if err != nil {
		return nil, nil, &pageError{
			Status: http.StatusBadRequest, Title: text{Key: "web.fault.form.title"},
			Text: text{Key: "web.fault.form"}, Err: err,
		}
	}
	_ = c.SetReadDeadline(time.Time{})
	return r.PostForm, body, nil
}

const (
	// codeFor is how long a one-time link works.
	codeFor = 10 * time.Minute
	// maxCodes is the most links that wait to be used; the oldest is dropped.
	maxCodes = 16
)

// codes keeps the unused one-time codes, by their hashes. They end with the process: a new
// link is one command away.
type codes struct {
	mu      sync.Mutex
	waiting []code
}

type code struct {
	hash  [sha256.Size]byte
	until time.Time
}

// mint returns a fresh code with 130 random bits.
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

// spend reports whether the code was valid, which it is only once. It compares every
// waiting code, whichever matches, so that its timing reveals nothing.
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

// forget forgets every code.
func (c *codes) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = nil
}

// drop forgets expired codes; c.mu must be held.
func (c *codes) drop(now time.Time) {
	kept := c.waiting[:0]
	for _, w := range c.waiting {
		if now.Before(w.until) {
			kept = append(kept, w)
		}
	}
	c.waiting = kept
}
