package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/web/proof"
	"github.com/metnos/vaglio/internal/hosts"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/templates"
)

// pageError is a failure in the form that a person reads.
type pageError struct {
	Status      int
	Title, Text text
	// Link is where the person can go on; empty means the inbox.
	Link string
	// Err is the cause, for the log.
	Err error
}

func (e *pageError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("web: %s: %v", e.Title.Key, e.Err)
	}
	return "web: " + string(e.Title.Key)
}

func (e *pageError) Unwrap() error { return e.Err }

// handler answers a request, or returns the error to show.
type handler func(http.ResponseWriter, *http.Request) error

// open serves h to everybody.
func (w *Web) open(h handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if err := h(rw, r); err != nil {
			w.fail(rw, r, err)
		}
	})
}

// signedIn serves h to people with a session, and shows everyone else how to get one. If
// the page that signed in may be the reader, that page asks it for a sign of its key, and
// goes away before it is seen.
func (w *Web) signedIn(h handler) http.Handler {
	return w.open(func(rw http.ResponseWriter, r *http.Request) error {
		who, ok := w.session(r)
		if !ok {
			return w.turnAway(rw, r)
		}
		w.stretch(r, &who)
		return h(rw, r)
	})
}

// turnAway shows how to sign in, and records the page that was asked for, to which the
// sign-in leads.
func (w *Web) turnAway(rw http.ResponseWriter, r *http.Request) error {
	to := start
	// A request from a script, which accepts anything, is not for a page.
	if r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html") {
		to = r.URL.EscapedPath()
		if err := w.remember(rw, r, to); err != nil {
			return err
		}
	}
	return w.render(rw, r, page{Status: http.StatusUnauthorized, Name: "signin", Title: text{Key: "web.signin"}, Body: to})
}

// stretch extends a session that is in use.
func (w *Web) stretch(r *http.Request, who *Session) {
	if err := w.sessions.used(context.WithoutCancel(r.Context()), who); err != nil {
		w.log.WarnContext(r.Context(), "a session could not be extended; it keeps its old end", "error", err)
	}
}

// actor does what a session's form asks for.
type actor func(rw http.ResponseWriter, r *http.Request, who Session, f url.Values) error

// acting serves h to sessions that may do what their form asks for. A session with a key
// may do everything once its signature verifies, even with a cookie that is too old to read
// by, which is then renewed. A session without a key may only do what no reports as a
// refusal.
func (w *Web) acting(no func(f url.Values) bool, h actor) http.Handler {
	return w.open(func(rw http.ResponseWriter, r *http.Request) error {
		who, ok := w.sessions.of(r, w.secure(r))
		may := who.right()
		if !ok || who.stale && may != mayDecide {
			return w.turnAway(rw, r)
		}
		f, body, err := formOf(rw, r)
		if err != nil {
			return err
		}
		act := proof.Act{Session: who.ID, Path: r.URL.Path, Body: body}
		switch {
		case may == mayDecide:
			err = w.proven(rw, r, &who, act)
		case !no(f):
			err = &pageError{Status: http.StatusForbidden, Title: text{Key: "web.fault.proof.title"}, Text: may.limit()}
		}
		if err != nil {
			return err
		}
		w.stretch(r, &who)
		if err := w.asserted(r, &who, &act); err != nil {
			return err
		}
		return h(rw, r, who, f)
	})
}

// proven refuses an act that the page which signed in did not send. For one that it sent,
// it renews the cookie in the answer and for the rest of the request.
func (w *Web) proven(rw http.ResponseWriter, r *http.Request, who *Session, act proof.Act) error {
	if err := w.proofs.Check(who.Key, act, proof.Of(r)); err != nil {
		w.log.WarnContext(r.Context(), "a request with a session's cookie was refused: the page that signed in did not send it",
			"session", who.ID[:min(len(who.ID), 12)], "from", hostOf(r.RemoteAddr), "path", r.URL.Path, "reason", err)
		return unproven(err)
	}
	c, err := w.sessions.renewed(r, who, w.secure(r))
	if err != nil {
		return err
	}
	http.SetCookie(rw, c)
	r.Header.Del("Cookie")
	r.AddCookie(c)
	who.stale = false
	return nil
}

// never is the no of acting for forms that refuse nothing.
func never(url.Values) bool { return false }

// unproven says why a request does not come from the page that signed in.
func unproven(err error) error {
	for _, why := range []struct {
		err error
		key templates.Key
	}{
		{proof.ErrUnsigned, "web.fault.proof.unsigned"},
		{proof.ErrForeign, "web.fault.proof.foreign"},
		{proof.ErrStale, "web.fault.proof.stale"},
		{proof.ErrUsed, "web.fault.proof.used"},
		{proof.ErrAltered, "web.fault.proof.altered"},
	} {
		if errors.Is(err, why.err) {
			return &pageError{Status: http.StatusForbidden, Title: text{Key: "web.fault.proof.title"}, Text: text{Key: why.key}, Err: err}
		}
	}
	return err
}

// nonce answers with what the page needs to sign its next act. It changes nothing: somebody
// who has only the cookie can sign nothing with it.
func (w *Web) nonce(rw http.ResponseWriter, r *http.Request) error {
	who, ok := w.sessions.of(r, w.secure(r))
	if !ok || who.stale && who.right() != mayDecide {
		return w.turnAway(rw, r)
	}
	o := offer{Session: who.ID, Key: who.Key, Nonce: w.proofs.Nonce(who.ID), Passkeys: [][]byte{}}
	if at, ok := w.site(r); ok && !who.stale {
		o.Host = at.Host
		for _, p := range w.passkeys.At(at.Host) {
			o.Passkeys = append(o.Passkeys, p.ID)
		}
	}
	body, err := strictjson.Marshal(o)
	if err != nil {
		return err
	}
	rw.Header().Set("Content-Type", "application/json")
	_, _ = rw.Write(body) // the reader may have left; there is nobody to tell
	return nil
}

// offer is what a page needs to sign one act.
type offer struct {
	Session string `json:"session"`
	// Key identifies the key in the browser; empty if the session has none.
	Key   string `json:"key"`
	Nonce string `json:"nonce"`
	// Host is what passkeys belong to; empty at an address that can have none.
	Host string `json:"host"`
	// Passkeys are the ids of those that can be used.
	Passkeys [][]byte `json:"passkeys"`
}

// fail shows the error. What is internal goes only to the log.
func (w *Web) fail(rw http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil && errors.Is(err, context.Canceled) {
		return // the tab was closed: nobody reads this
	}
	shown, ok := errors.AsType[*pageError](err)
	switch {
	case ok:
	case errors.Is(err, approval.ErrNotFound):
		shown = &pageError{
			Status: http.StatusNotFound, Title: text{Key: "web.fault.unknown.title"},
			Text: text{Key: "web.fault.unknown"},
		}
	default:
		shown = &pageError{
			Status: http.StatusInternalServerError, Title: text{Key: "web.fault.ours.title"},
			Text: text{Key: "web.fault.ours"}, Err: err,
		}
	}
	if shown.Status >= http.StatusInternalServerError && shown.Err != nil {
		w.log.LogAttrs(r.Context(), slog.LevelError, "inbox request failed",
			slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Any("error", shown.Err))
	}
	if shown.Link == "" {
		shown.Link = "/inbox"
	}
	if errors.Is(shown.Err, approval.ErrPasskey) {
		rw.Header().Set(passkeyHeader, "wanted")
	}
	p := page{Status: shown.Status, Name: "error", Title: shown.Title, Body: shown}
	if err := w.render(rw, r, p); err != nil {
		w.log.LogAttrs(r.Context(), slog.LevelError, "inbox page failed",
			slog.String("path", r.URL.Path), slog.Any("error", err))
		http.Error(rw, w.textsFor(r).Plain(shown.Title.Key, nil), http.StatusInternalServerError)
	}
}

// policy lets a page use only what comes from here: no inline script or style, no frame
// around it, no form that leads elsewhere.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; manifest-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// armour sets the headers of every answer and refuses foreign host names, which a page
// would send that rebinds its own name to this machine.
func (w *Web) armour(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		h := rw.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Cache-Control", "no-store")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		if !w.Known(r.Host) {
			http.Error(rw, "This is not the address of the inbox. Open it by the link that “vaglio inbox” prints.",
				http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(rw, r)
	})
}

// Known reports whether the host is this machine, or the public address. A page that rebinds its own
// name to this machine sends another one.
func (w *Web) Known(hostport string) bool {
	host := hostOf(hostport)
	if w.public != nil && strings.EqualFold(host, w.public.Hostname()) {
		return true
	}
	return hosts.Loopback(host)
}

func hostOf(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
}
