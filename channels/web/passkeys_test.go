package web_test

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/web"
	"github.com/metnos/vaglio/channels/web/webtest"
)

// holder is an inbox at an address that can have passkeys, and what its owner holds.
type holder struct {
	*inbox
	host string
	port int
	// tls reports that the browser came over TLS, to vaglio itself.
	tls bool
	// told holds the announced changes, and untold makes announcing them fail.
	told   []approval.Announcement
	untold error
}

func newHolder(t *testing.T, d *desk) *holder {
	t.Helper()
	h := &holder{host: "localhost:8787", port: 8787}
	c := config(d)
	c.PasskeysChange = func(_ context.Context, a approval.Announcement) error {
		h.told = append(h.told, a)
		return h.untold
	}
	h.inbox = inboxOf(t, d, c).signIn()
	return h
}

// offered returns what the page gets to sign with.
func (h *holder) offered() webtest.Offer {
	h.Helper()
	rec := h.do(h.at(http.MethodGet, "/inbox/nonce", ""))
	o, err := webtest.ReadOffer(rec.Body.Bytes())
	if err != nil {
		h.Fatal(err)
	}
	return o
}

// at returns a request to the holder's address.
func (h *holder) at(method, path, body string) *http.Request {
	r := h.unsigned(method, path, body)
	r.Host = h.host
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: h.port}))
	scheme := "http"
	if h.tls {
		r.TLS, scheme = new(tls.ConnectionState), "https"
	}
	if method == http.MethodPost {
		r.Header.Set("Origin", scheme+"://"+h.host)
	}
	return r
}

// send sends a form that the page signed, with the authenticators' answers to its
// challenge.
func (h *holder) send(path string, form url.Values, use, create func(challenge []byte) []byte) *httptest.ResponseRecorder {
	h.Helper()
	body, o := form.Encode(), h.offered()
	r := h.at(http.MethodPost, path, body)
	h.key.Sign(r.Header, o, path, body)
	if use != nil {
		r.Header.Set("Vaglio-Passkey", base64.RawURLEncoding.EncodeToString(use(o.Challenge(path, body))))
	}
	if create != nil {
		r.Header.Set("Vaglio-New-Passkey", base64.RawURLEncoding.EncodeToString(create(o.Challenge(path, body))))
	}
	return h.do(r)
}

func adding(name string) url.Values { return url.Values{"verb": {"add"}, "name": {name}} }

func removing(name string) url.Values { return url.Values{"verb": {"remove"}, "name": {name}} }

func authenticator() *webtest.Authenticator {
	return webtest.NewAuthenticator("localhost", "http://localhost:8787")
}

// held makes the desk ask for the owner's passkeys.
func (h *holder) held() {
	voters := approval.Everybody()
	voters.Holder = web.Owner
	h.desk.change(func() { h.desk.voters = &voters })
}

// TestAllowTakesThePasskey checks that a call that cannot be undone is allowed with a
// passkey, for exactly what was pressed. Any other answer of a passkey, or none, allows
// nothing and says why.
func TestAllowTakesThePasskey(t *testing.T) {
	allow := tap(approval.ChoiceAllow)
	rows := []struct {
		name, want string
		send       func(h *holder, a *webtest.Authenticator) *httptest.ResponseRecorder
	}{
		{"no passkey", "it needs your passkey", func(h *holder, _ *webtest.Authenticator) *httptest.ResponseRecorder {
			return h.send("/inbox/decide", allow, nil, nil)
		}},
		{"for another ask", "signed something other than what was sent", func(h *holder, a *webtest.Authenticator) *httptest.ResponseRecorder {
			return h.send("/inbox/decide", allow, func([]byte) []byte {
				o := h.offered()
				return a.Assert(o.Challenge("/inbox/decide", strings.ReplaceAll(allow.Encode(), "rmbuild1", "plan4711")))
			}, nil)
		}},
		{"for another answer", "signed something other than what was sent", func(h *holder, a *webtest.Authenticator) *httptest.ResponseRecorder {
			body, deny, o := allow.Encode(), tap(approval.ChoiceDeny).Encode(), h.offered()
			r := h.at(http.MethodPost, "/inbox/decide", body)
			h.key.Sign(r.Header, o, "/inbox/decide", body)
			r.Header.Set("Vaglio-Passkey", base64.RawURLEncoding.EncodeToString(a.Assert(o.Challenge("/inbox/decide", deny))))
			return h.do(r)
		}},
		{"for another nonce", "signed something other than what was sent", func(h *holder, a *webtest.Authenticator) *httptest.ResponseRecorder {
			return h.send("/inbox/decide", allow, func([]byte) []byte {
				o := h.offered()
				return a.Assert(o.Challenge("/inbox/decide", allow.Encode()))
			}, nil)
		}},
		{"on another page", "signed something other than what was sent", func(h *holder, a *webtest.Authenticator) *httptest.ResponseRecorder {
			a.Origin = "http://localhost:9999"
			return h.send("/inbox/decide", allow, a.Assert, nil)
		}},
		{"on another page, that says it is this one", "signed something other than what was sent", func(h *holder, a *webtest.Authenticator) *httptest.ResponseRecorder {
			a.Origin, h.host = "http://localhost:9999", "localhost:9999"
			return h.send("/inbox/decide", allow, a.Assert, nil)
		}},
		{"at an address in numbers", "belongs to a name", func(h *holder, a *webtest.Authenticator) *httptest.ResponseRecorder {
			h.host = "127.0.0.1:8787"
			return h.send("/inbox/decide", allow, a.Assert, nil)
		}},
		{"unknown", "not registered at this address", func(h *holder, _ *webtest.Authenticator) *httptest.ResponseRecorder {
			return h.send("/inbox/decide", allow, authenticator().Assert, nil)
		}},
		{"no user verified", "did not check who you are", func(h *holder, a *webtest.Authenticator) *httptest.ResponseRecorder {
			a.Verified = false
			return h.send("/inbox/decide", allow, a.Assert, nil)
		}},
		{"a clone", "may have a copy", func(h *holder, a *webtest.Authenticator) *httptest.ResponseRecorder {
			a.Count = 1
			return h.send("/inbox/decide", allow, a.Assert, nil)
		}},
		{"garbage", "not a passkey’s answer", func(h *holder, _ *webtest.Authenticator) *httptest.ResponseRecorder {
			return h.send("/inbox/decide", allow, func([]byte) []byte { return []byte("{}") }, nil)
		}},
		{"too much", "not a passkey’s answer", func(h *holder, a *webtest.Authenticator) *httptest.ResponseRecorder {
			return h.send("/inbox/decide", allow, func(challenge []byte) []byte {
				return append(a.Assert(challenge), strings.Repeat(" ", 12<<10)...)
			}, nil)
		}},
		{"expired", "more than two minutes ago", func(h *holder, a *webtest.Authenticator) *httptest.ResponseRecorder {
			return h.send("/inbox/decide", allow, func(challenge []byte) []byte {
				time.Sleep(2 * time.Minute)
				return a.Assert(challenge)
			}, nil)
		}},
		{"replayed", "was used before", func(h *holder, a *webtest.Authenticator) *httptest.ResponseRecorder {
			// Its first use is an answer that means nothing.
			none := url.Values{"ask": {"rmbuild1"}, "choice": {"allow"}, "token": {"none"}}
			body, o := none.Encode(), h.offered()
			r := h.at(http.MethodPost, "/inbox/decide", body)
			h.key.Sign(r.Header, o, "/inbox/decide", body)
			r.Header.Set("Vaglio-Passkey", base64.RawURLEncoding.EncodeToString(a.Assert(o.Challenge("/inbox/decide", body))))
			if rec := h.do(r); rec.Code != http.StatusNotFound {
				h.Errorf("the first use: %d", rec.Code)
			}
			again := h.at(http.MethodPost, "/inbox/decide", body)
			again.Header = r.Header.Clone()
			return h.do(again)
		}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHolder(t, full())
				a := authenticator()
				if rec := h.send("/inbox/passkeys", adding("YubiKey"), nil, a.Create); rec.Code != http.StatusSeeOther {
					t.Fatalf("registering: %d %s", rec.Code, sound(t, rec).id(t, "failure").words())
				}
				h.held()
				rec := row.send(h, a)
				said := sound(t, rec).id(t, "failure").words()
				if rec.Code != http.StatusForbidden || !strings.Contains(said, row.want) || h.desk.state("rmbuild1-1") != approval.Pending {
					t.Fatalf("got %d, %s: %s", rec.Code, h.desk.state("rmbuild1-1"), said)
				}
				if wanted := rec.Header().Get("Vaglio-Passkey") == "wanted"; wanted != (row.name == "no passkey") {
					t.Errorf("a passkey is wanted: %t", wanted)
				}
				h.host, a.Origin, a.Verified, a.Count = "localhost:8787", "http://localhost:8787", true, 50
				if rec := h.send("/inbox/decide", allow, a.Assert, nil); rec.Code != http.StatusSeeOther || h.desk.state("rmbuild1-1") != approval.Allowed {
					t.Errorf("then from the page: %d, %s", rec.Code, h.desk.state("rmbuild1-1"))
				}
			})
		})
	}
}

// TestWhatTakesAPasskey checks that refusing takes no passkey, and that showing a masked
// value, or changing who may allow, takes one once there is one.
func TestWhatTakesAPasskey(t *testing.T) {
	h := newHolder(t, full())
	a := authenticator()
	if rec := h.send("/inbox/passkeys", adding("YubiKey"), nil, a.Create); rec.Code != http.StatusSeeOther {
		t.Fatalf("registering: %d", rec.Code)
	}
	h.held()
	for _, row := range []struct {
		name, path string
		form       url.Values
		want       int
	}{
		{"deny", "/inbox/decide", tap(approval.ChoiceDeny), http.StatusSeeOther},
		{"stop", "/inbox/order", url.Values{"verb": {"stop"}}, http.StatusSeeOther},
		{"reveal", "/inbox/reveal", url.Values{"ask": {"rmbuild1"}}, http.StatusForbidden},
		{"add", "/inbox/passkeys", adding("phone"), http.StatusForbidden},
		{"remove", "/inbox/passkeys", removing("YubiKey"), http.StatusForbidden},
	} {
		rec := h.send(row.path, row.form, nil, nil)
		if wanted := rec.Header().Get("Vaglio-Passkey") == "wanted"; rec.Code != row.want || wanted != (row.want == http.StatusForbidden) {
			t.Errorf("%s without one: %d, wanted %t", row.name, rec.Code, wanted)
		}
		if rec := h.send(row.path, row.form, a.Assert, authenticator().Create); rec.Code != http.StatusSeeOther {
			t.Errorf("%s with one: %d", row.name, rec.Code)
		}
	}
	if all := h.web.Passkeys(); len(all) != 1 || all[0].Name != "phone" {
		t.Errorf("there are %+v", all)
	}
}

// TestPasskeysAreToldAndListed checks that adding and removing a passkey is announced
// before it happens, and shown on the page.
func TestPasskeysAreToldAndListed(t *testing.T) {
	h := newHolder(t, newDesk())
	a, other := authenticator(), authenticator()
	page := func() string {
		rec := h.do(h.at(http.MethodGet, "/inbox/passkeys", ""))
		if !strings.Contains(rec.Body.String(), " data-still") {
			t.Error("a change elsewhere takes away the name that is being typed")
		}
		return sound(t, rec).all("main")[0].words()
	}
	if said := page(); !strings.Contains(said, "You have none.") || !strings.Contains(said, "Register a passkey") {
		t.Errorf("the page says %q", said)
	}
	h.untold = errors.New("the disk is full")
	if rec := h.send("/inbox/passkeys", adding("YubiKey"), nil, a.Create); rec.Code != http.StatusInternalServerError || len(h.web.Passkeys()) != 0 {
		t.Errorf("untold: %d", rec.Code)
	}
	h.told, h.untold = nil, nil
	rec := h.send("/inbox/passkeys", adding("YubiKey"), nil, a.Create)
	if at := rec.Header().Get("Location"); rec.Code != http.StatusSeeOther ||
		!strings.Contains(sound(t, h.do(h.at(http.MethodGet, at, ""))).text(), "The passkey YubiKey is registered, and every chat is told.") {
		t.Errorf("got %d", rec.Code)
	}
	for name, row := range map[string]struct {
		form   url.Values
		create func([]byte) []byte
		want   string
	}{
		"taken":  {adding("YubiKey"), other.Create, "A passkey of this name exists"},
		"same":   {adding("phone"), a.Clone().Create, "this passkey is already registered under another name"},
		"name":   {adding(" "), other.Create, "a name of at most 40 characters"},
		"origin": {adding("phone"), webtest.NewAuthenticator("localhost", "https://evil.example").Create, "another page"},
		"none":   {removing("phone"), nil, "no longer a passkey of this name"},
		"answer": {adding("phone"), nil, "not a passkey’s answer"},
		"verb":   {url.Values{"verb": {"keep"}}, nil, "button"},
	} {
		rec := h.send("/inbox/passkeys", row.form, a.Assert, row.create)
		if said := sound(t, rec).id(t, "failure").words(); rec.Code < 400 || rec.Code >= 500 || !strings.Contains(said, row.want) || len(h.web.Passkeys()) != 1 {
			t.Errorf("%s: %d: %s", name, rec.Code, said)
		}
	}
	if rec := h.send("/inbox/passkeys", adding("phone"), a.Assert, other.Create); rec.Code != http.StatusSeeOther {
		t.Errorf("a second one: %d", rec.Code)
	}
	if said := page(); !strings.Contains(said, "YubiKey, localhost.") || !strings.Contains(said, "phone, localhost.") || !strings.Contains(said, "last used") {
		t.Errorf("the page says %q", said)
	}
	if rec := h.send("/inbox/passkeys", removing("YubiKey"), other.Assert, nil); rec.Code != http.StatusSeeOther {
		t.Errorf("removing: %d", rec.Code)
	}
	if err := h.web.RemovePasskey(t.Context(), "phone"); err != nil {
		t.Error(err)
	}
	var kinds []approval.AnnouncementKind
	for _, one := range h.told {
		kinds = append(kinds, one.Kind)
		if one.By != web.Owner || !strings.Contains(one.Detail, "YubiKey (") && !strings.Contains(one.Detail, "phone (") {
			t.Errorf("told %+v", one)
		}
	}
	want := []approval.AnnouncementKind{approval.PasskeyAdded, approval.PasskeyAdded, approval.PasskeyRemoved, approval.PasskeyRemoved}
	if len(kinds) != len(want) || kinds[0] != want[0] || kinds[1] != want[1] || kinds[2] != want[2] || kinds[3] != want[3] {
		t.Errorf("told %v", kinds)
	}
	h.host = "127.0.0.1:8787"
	if said := page(); !strings.Contains(said, "Open the inbox at “localhost” instead of 127.0.0.1") || strings.Contains(said, "Register a passkey") {
		t.Errorf("in numbers the page says %q", said)
	}
	if rec := h.send("/inbox/passkeys", adding("YubiKey"), nil, a.Create); rec.Code != http.StatusForbidden || len(h.web.Passkeys()) != 0 {
		t.Errorf("in numbers: %d", rec.Code)
	}
}

// TestACardSaysThatItNeedsAPasskey checks that a card says that it needs a passkey, and
// where that works.
func TestACardSaysThatItNeedsAPasskey(t *testing.T) {
	h := newHolder(t, full())
	page := func() string {
		return sound(t, h.do(h.at(http.MethodGet, "/inbox/ask/rmbuild1", ""))).all("main")[0].words()
	}
	if strings.Contains(page(), "passkey") {
		t.Error("there is none, and the card asks for it")
	}
	if rec := h.send("/inbox/passkeys", adding("YubiKey"), nil, authenticator().Create); rec.Code != http.StatusSeeOther {
		t.Fatalf("registering: %d", rec.Code)
	}
	h.held()
	if said := page(); !strings.Contains(said, "Allow asks for your passkey.") {
		t.Errorf("the card says %q", said)
	}
	h.host = "127.0.0.1:8787"
	if said := page(); !strings.Contains(said, "Allow asks for your passkey, which works at localhost: open the inbox there.") {
		t.Errorf("in numbers the card says %q", said)
	}
}

// TestACardSaysThatAPasskeyIsOfAnotherAddress checks that if all passkeys belong to another
// address, the card says where they work.
func TestACardSaysThatAPasskeyIsOfAnotherAddress(t *testing.T) {
	d := full()
	c := config(d)
	c.Public = "https://vaglio.example.org"
	h := &holder{inbox: inboxOf(t, d, c).signIn(), host: "localhost:8787", port: 8787}
	local := h.cookie
	if rec := h.send("/inbox/passkeys", adding("YubiKey"), nil, authenticator().Create); rec.Code != http.StatusSeeOther {
		t.Fatalf("registering: %d %s", rec.Code, sound(t, rec).id(t, "failure").words())
	}
	h.held()
	h.host, h.cookie = "vaglio.example.org", &http.Cookie{Name: "__Host-" + local.Name, Value: local.Value}
	said := sound(t, h.do(h.at(http.MethodGet, "/inbox/ask/rmbuild1", ""))).all("main")[0].words()
	if !strings.Contains(said, "Allow asks for your passkey, which works at localhost: open the inbox there.") {
		t.Errorf("the card says %q", said)
	}
}

// TestALongAnswerOfAnAuthenticator checks that an authenticator's answer is read up to a
// length that none comes near.
func TestALongAnswerOfAnAuthenticator(t *testing.T) {
	const most = 16 << 10 / 4 * 3 // In base64 this is the limit.
	for length, want := range map[int]int{most: http.StatusSeeOther, most + 1: http.StatusForbidden} {
		h := newHolder(t, full())
		a := authenticator()
		if rec := h.send("/inbox/passkeys", adding("YubiKey"), nil, a.Create); rec.Code != http.StatusSeeOther {
			t.Fatalf("registering: %d", rec.Code)
		}
		h.held()
		rec := h.send("/inbox/decide", tap(approval.ChoiceAllow), func(challenge []byte) []byte {
			said := a.Assert(challenge)
			return append(said, strings.Repeat(" ", length-len(said))...)
		}, nil)
		if rec.Code != want {
			t.Errorf("%d bytes: %d, want %d", length, rec.Code, want)
		}
	}
}

// TestPasskeysOverTLS checks that over TLS a passkey belongs to the page loaded over TLS.
func TestPasskeysOverTLS(t *testing.T) {
	for origin, want := range map[string]int{"https://localhost:8787": http.StatusSeeOther, "http://localhost:8787": http.StatusForbidden} {
		h := newHolder(t, full())
		h.tls, h.cookie = true, &http.Cookie{Name: "__Host-" + h.cookie.Name, Value: h.cookie.Value}
		if rec := h.send("/inbox/passkeys", adding("YubiKey"), nil, webtest.NewAuthenticator("localhost", origin).Create); rec.Code != want {
			t.Errorf("%s: %d, want %d", origin, rec.Code, want)
		}
	}
}

// TestPasskeysOfThePublicAddress checks that the public address has passkeys of its own,
// whatever the proxy says about ports.
func TestPasskeysOfThePublicAddress(t *testing.T) {
	d := full()
	c := config(d)
	c.Public = "https://vaglio.example.org"
	h := &holder{inbox: inboxOf(t, d, c).signIn(), host: "vaglio.example.org", port: 8787}
	h.cookie = &http.Cookie{Name: "__Host-" + h.cookie.Name, Value: h.cookie.Value}
	a := webtest.NewAuthenticator("vaglio.example.org", "https://vaglio.example.org")
	if rec := h.send("/inbox/passkeys", adding("YubiKey"), nil, a.Create); rec.Code != http.StatusSeeOther {
		t.Fatalf("registering: %d %s", rec.Code, sound(t, rec).id(t, "failure").words())
	}
	h.held()
	if rec := h.send("/inbox/decide", tap(approval.ChoiceAllow), a.Assert, nil); rec.Code != http.StatusSeeOther || d.state("rmbuild1-1") != approval.Allowed {
		t.Errorf("got %d", rec.Code)
	}
	c.Public = "http://10.0.0.7:8787"
	h = &holder{inbox: inboxOf(t, d, c).signIn(), host: "10.0.0.7:8787", port: 8787}
	if o := h.offered(); o.Host != "" || len(o.Passkeys) != 0 {
		t.Errorf("an address in numbers offers %+v", o)
	}
}

// TestACardShowsTheDigitsForAChat checks that a card that is also on a chat shows the
// digits for a yes there to sessions that may decide, and that a yes in the inbox takes the
// chat's digits.
func TestACardShowsTheDigitsForAChat(t *testing.T) {
	d := full()
	in := inboxOf(t, d, config(d)).signIn()
	routing := approval.Routing{Routes: []approval.Route{{Name: "matched", Approvers: []string{approval.Anyone}, Match: true}}}
	voters := routing.Electorate([]approval.Active{{Route: "matched"}}, "coder", func(id string) (string, bool) { return id, true })
	voters.Match = approval.Match{Channel: web.Name, Reader: web.Owner}
	d.change(func() { d.voters = &voters })
	digits := regexp.MustCompile(`asks for these digits: [1-9][0-9]\b`)
	page := func() string { return sound(t, in.get("/inbox/ask/rmbuild1")).all("main")[0].words() }
	if said := page(); digits.MatchString(said) {
		t.Errorf("it is on no chat, and says %q", said)
	}
	d.change(func() {
		for i := range d.asks {
			d.asks[i].Cards = append(d.asks[i].Cards, approval.Shown{Channel: "telegram"})
		}
	})
	if said := page(); !digits.MatchString(said) {
		t.Errorf("the card says %q", said)
	}
	if keyless := inboxOf(t, d, config(d)).signInWith(""); digits.MatchString(sound(t, keyless.get("/inbox/ask/rmbuild1")).all("main")[0].words()) {
		t.Error("a session that may not decide is shown the digits")
	}
	form := tap(approval.ChoiceAllow)
	if rec := in.post("/inbox/decide", form); rec.Code != http.StatusForbidden || !strings.Contains(sound(t, rec).all("main")[0].words(), "two digits") {
		t.Errorf("without digits it is answered %d", rec.Code)
	}
	c := approval.NewCard(d.asks[0], "telegram", approval.NewMasker(approval.Secret{1}))
	c.ShowDigits(&voters, "telegram")
	form.Set("digits", c.Digits)
	in.post("/inbox/decide", form)
	if a, err := d.Find(t.Context(), "rmbuild1"); err != nil || a.Approvals[0].State != approval.Allowed {
		t.Errorf("allowed in the inbox it is %+v %v", a.Approvals[0].State, err)
	}
}
