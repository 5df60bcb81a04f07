package web

import (
	"context"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/web/passkey"
	"github.com/metnos/vaglio/channels/web/proof"
	"github.com/metnos/vaglio/templates"
)

const (
	// passkeyHeader carries an assertion of a passkey, and newPasskeyHeader what an
	// authenticator made: WebAuthn JSON, in base64url. In an answer, the former says that
	// an assertion is wanted.
	passkeyHeader    = "Vaglio-Passkey"     //nolint:gosec // the name of a header
	newPasskeyHeader = "Vaglio-New-Passkey" //nolint:gosec // the name of a header
	// maxPasskey is the longest value of either, in characters.
	maxPasskey = 16 << 10
)

// takePasskeys takes the passkeys from the configuration.
func (w *Web) takePasskeys(ctx context.Context, c *Config) (err error) {
	if w.passkeysBy = c.PasskeysChange; w.passkeysBy == nil {
		w.passkeysBy = func(context.Context, approval.Announcement) error { return nil }
	}
	if w.passkeys = c.Passkeys; w.passkeys == nil {
		w.passkeys, err = passkey.Open(ctx, nil)
	}
	return err
}

// site returns where the request's page is, for passkeys: the public address, or localhost
// at our own port. Passkeys are bound to a name, so a numeric address has none.
func (w *Web) site(r *http.Request) (passkey.Site, bool) {
	host := strings.ToLower(hostOf(r.Host))
	if w.public != nil && host == strings.ToLower(w.public.Hostname()) {
		_, err := netip.ParseAddr(host)
		return passkey.Site{Host: host, Origin: w.public.Scheme + "://" + strings.ToLower(w.public.Host)}, err != nil
	}
	// The port in a request may come from a page on another port.
	at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if host != "localhost" || !ok {
		return passkey.Site{}, false
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	_, port, err := net.SplitHostPort(at.String())
	return passkey.Site{Host: host, Origin: scheme + "://" + net.JoinHostPort(host, port)}, err == nil
}

// asserted records in the session that its act came with an assertion of a passkey. An
// invalid assertion refuses the act, whatever it is.
func (w *Web) asserted(r *http.Request, who *Session, act *proof.Act) error {
	who.challenge = act.Challenge(proof.Of(r))
	if r.Header.Get(passkeyHeader) == "" || who.right() != mayDecide {
		return nil
	}
	at, answer, err := w.ceremony(r, passkeyHeader)
	if err == nil {
		err = w.passkeys.Check(context.WithoutCancel(r.Context()), at, who.challenge, answer)
	}
	if err != nil {
		w.log.WarnContext(r.Context(), "an assertion of a passkey was refused", "session", who.ID[:min(len(who.ID), 12)],
			"from", hostOf(r.RemoteAddr), "path", r.URL.Path, "reason", err)
		return unkeyed(err)
	}
	who.asserted = true
	return nil
}

// ceremony reads an authenticator's message from a header.
func (w *Web) ceremony(r *http.Request, header string) (passkey.Site, []byte, error) {
	at, ok := w.site(r)
	if !ok {
		return at, nil, errNoSite
	}
	said := r.Header.Get(header)
	answer, err := base64.RawURLEncoding.Strict().DecodeString(said)
	if err != nil || len(said) > maxPasskey || said == "" {
		return at, nil, passkey.ErrShape
	}
	return at, answer, nil
}

var errNoSite = errors.New("an address in numbers has no passkeys")

// unkeyed says why passkeys did not change, or one does not count.
func unkeyed(err error) error {
	for _, why := range []struct {
		err error
		key templates.Key
	}{
		{errNoSite, "web.passkeys.numbers"},
		{passkey.ErrShape, "web.fault.passkey.shape"},
		{passkey.ErrUnknown, "web.fault.passkey.unknown"},
		{passkey.ErrUnverified, "web.fault.passkey.unverified"},
		{passkey.ErrUnfit, "web.fault.passkey.unfit"},
		{passkey.ErrCloned, "web.fault.passkey.cloned"},
		{passkey.ErrName, "web.fault.passkey.name"},
		{passkey.ErrTaken, "web.fault.passkey.taken"},
		{passkey.ErrMany, "web.fault.passkey.many"},
		{passkey.ErrNone, "web.fault.passkey.none"},
	} {
		if errors.Is(err, why.err) {
			told := text{why.key, templates.Values{"most": passkey.MaxName, "many": passkey.Most}}
			return &pageError{Status: http.StatusForbidden, Title: text{Key: "web.fault.proof.title"}, Text: told, Link: "/inbox/passkeys", Err: err}
		}
	}
	return err
}

// wantsPasskey says that an act requires an assertion that it came without.
func wantsPasskey(back string) error {
	return &pageError{
		Status: http.StatusForbidden, Title: text{Key: "web.fault.proof.title"}, Text: text{Key: "web.fault.passkey"},
		Link: back, Err: approval.ErrPasskey,
	}
}

// passkeysView is what the page of the passkeys shows.
type passkeysView struct {
	Did string
	All []passkey.Passkey
	// Here says that this address can have passkeys, and Limit says why the session may not
	// change them.
	Here  bool
	Limit text
}

// passkeysPage shows the passkeys.
func (w *Web) passkeysPage(rw http.ResponseWriter, r *http.Request) error {
	who, _ := w.session(r)
	v := passkeysView{Did: w.didOf(r), All: w.passkeys.List(), Limit: who.right().limit()}
	_, v.Here = w.site(r)
	return w.render(rw, r, page{Status: http.StatusOK, Name: "passkeys", Title: text{Key: "web.passkeys"}, Still: true, Body: v})
}

// changePasskeys adds or removes one. Once there is one, both require an assertion:
// somebody who took over a session cannot add their own.
func (w *Web) changePasskeys(rw http.ResponseWriter, r *http.Request, who Session, f url.Values) error {
	if w.passkeys.Any() && !who.asserted {
		return wantsPasskey("/inbox/passkeys")
	}
	name, ctx := f.Get("name"), context.WithoutCancel(r.Context())
	tell := func(kind approval.AnnouncementKind) func(context.Context) error {
		return func(ctx context.Context) error {
			return w.passkeysBy(ctx, approval.Announcement{Kind: kind, By: Owner, Detail: name + " (" + hostOf(r.RemoteAddr) + ", " + browserOf(r) + ")"})
		}
	}
	var err error
	key := templates.Key("web.passkeys.removed")
	switch f.Get("verb") {
	case "add":
		key = "web.passkeys.added"
		var at passkey.Site
		var answer []byte
		if at, answer, err = w.ceremony(r, newPasskeyHeader); err == nil {
			err = w.passkeys.Add(ctx, at, who.challenge, answer, name, tell(approval.PasskeyAdded))
		}
	case "remove":
		err = w.passkeys.Remove(ctx, name, tell(approval.PasskeyRemoved))
	default:
		return unknownButton("/inbox/passkeys", nil)
	}
	if err != nil {
		return unkeyed(err)
	}
	note, err := w.told.Load().seal(did{w.textsFor(r).Plain(key, templates.Values{"name": plain(name)})})
	if err != nil {
		return err
	}
	http.Redirect(rw, r, "/inbox/passkeys?"+url.Values{"did": {note}}.Encode(), http.StatusSeeOther)
	return nil
}

// Passkeys returns the passkeys, oldest first.
func (w *Web) Passkeys() []passkey.Passkey { return w.passkeys.List() }

// RemovePasskey forgets a lost passkey without an assertion of it. It returns
// [passkey.ErrNone] if there is none of that name.
func (w *Web) RemovePasskey(ctx context.Context, name string) error {
	return w.passkeys.Remove(ctx, name, func(ctx context.Context) error {
		return w.passkeysBy(ctx, approval.Announcement{Kind: approval.PasskeyRemoved, By: Owner, Detail: name + " (vaglio passkeys remove)"})
	})
}

// notePasskey says on a card that Allow requires a passkey, and where.
func (w *Web) notePasskey(r *http.Request, who Session, v *cardView) {
	if who.right() != mayDecide || !slices.ContainsFunc(v.Items, func(it itemView) bool { return it.Passkey }) {
		return
	}
	all := w.passkeys.List()
	if at, ok := w.site(r); ok && len(w.passkeys.At(at.Host)) > 0 || len(all) == 0 {
		v.PasskeyNote = text{Key: "web.passkey.asked"}
		return
	}
	var hosts []string
	for _, p := range all {
		if !slices.Contains(hosts, p.Host) {
			hosts = append(hosts, p.Host)
		}
	}
	v.PasskeyNote = text{"web.passkey.elsewhere", templates.Values{"hosts": strings.Join(hosts, ", ")}}
}
