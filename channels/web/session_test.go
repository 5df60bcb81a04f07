package web_test

import (
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/web"
)

// code extracts the code from a fresh link.
func (in *inbox) code() url.Values {
	in.Helper()
	link, err := url.Parse(in.web.LoginLink("https://vaglio.example.org/"))
	if err != nil || link.Path != "/inbox/login" || len(link.Query().Get("code")) != 26 {
		in.Fatalf("got %v, %v", link, err)
	}
	return link.Query()
}

func TestLinkWorksOnce(t *testing.T) {
	in := newInbox(t, newDesk())
	code := in.code()
	if rec := in.post("/inbox/login", code); rec.Code != http.StatusSeeOther || rec.Header().Get("Location") != "/inbox" {
		t.Fatalf("got %d to %q", rec.Code, rec.Header().Get("Location"))
	}
	for name, form := range map[string]url.Values{
		"used": code, "empty": {}, "wrong": {"code": {strings.Repeat("A", 26)}}, "long": {"code": {strings.Repeat("A", 100_000)}},
	} {
		rec := in.post("/inbox/login", form)
		if rec.Code != http.StatusForbidden || len(rec.Result().Cookies()) != 0 {
			t.Errorf("%s: got %d", name, rec.Code)
		}
		if doc := sound(t, rec); !strings.Contains(doc.words(), "vaglio inbox") {
			t.Errorf("%s: the page does not say how to get in: %s", name, doc.words())
		}
	}
}

// TestSigningInLeadsBack checks that a link to an ask leads there once the browser has
// signed in, and that nothing leads to another site.
func TestSigningInLeadsBack(t *testing.T) {
	const html = "text/html,application/xhtml+xml,*/*;q=0.8"
	turned := func(in *inbox, method, target, accept string) (door *httptest.ResponseRecorder, note *http.Cookie) {
		r := in.request(method, target, nil)
		r.Header.Set("Accept", accept)
		door = in.do(r)
		if door.Code != http.StatusUnauthorized {
			in.Fatalf("%s %s: %d", method, target, door.Code)
		}
		for _, c := range door.Result().Cookies() {
			note = c
		}
		return door, note
	}
	entered := func(in *inbox, note *http.Cookie) *httptest.ResponseRecorder {
		r := in.request(http.MethodPost, "/inbox/login", in.code())
		if note != nil {
			r.AddCookie(&http.Cookie{Name: note.Name, Value: note.Value})
		}
		return in.do(r)
	}
	in := newInbox(t, newDesk())
	for name, c := range map[string]struct{ method, target, accept, want string }{
		"an ask":          {http.MethodGet, "/inbox/ask/rmbuild1", html, "/inbox/ask/rmbuild1"},
		"an edit":         {http.MethodGet, "/inbox/edit/rmbuild1-1", html, "/inbox/edit/rmbuild1-1"},
		"a turn":          {http.MethodGet, "/inbox/turn/claude-code/t%2F81", html, "/inbox/turn/claude-code/t%2F81"},
		"with a query":    {http.MethodGet, "/inbox/history?to=https://evil.example", html, "/inbox/history"},
		"another site":    {http.MethodGet, "/inbox/https:%2F%2Fevil.example", html, "/inbox/https:%2F%2Fevil.example"},
		"a dotted path":   {http.MethodGet, "/inbox/..%2F..%2F%2Fevil.example", html, "/inbox/..%2F..%2F%2Fevil.example"},
		"what is fetched": {http.MethodGet, "/inbox/frame", "*/*", "/inbox"},
		"events":          {http.MethodGet, "/inbox/events", "text/event-stream", "/inbox"},
		"what is sent":    {http.MethodPost, "/inbox/decide", html, "/inbox"},
	} {
		t.Run(name, func(t *testing.T) {
			door, note := turned(in, c.method, c.target, c.accept)
			if (note != nil) != (c.want != "/inbox") {
				t.Errorf("the cookie is %v", note)
			}
			if note != nil && (!note.HttpOnly || note.SameSite != http.SameSiteStrictMode || note.MaxAge != 600) {
				t.Errorf("the cookie is %v", note)
			}
			if !strings.Contains(door.Body.String(), `<a href="`+c.want+`">Open the inbox</a>`) {
				t.Errorf("who is signed in is not led to %s", c.want)
			}
			got := entered(in, note)
			if got.Code != http.StatusSeeOther || got.Header().Get("Location") != c.want {
				t.Errorf("%d to %q, want %q", got.Code, got.Header().Get("Location"), c.want)
			}
			if cookies := got.Result().Cookies(); note != nil && (len(cookies) != 2 || cookies[1].Name != note.Name || cookies[1].MaxAge >= 0) {
				t.Errorf("it is not forgotten: %v", cookies)
			}
		})
	}
	_, note := turned(in, http.MethodGet, "/inbox/ask/rmbuild1", html)
	body, mac, _ := strings.Cut(note.Value, ".")
	for name, forged := range map[string]string{
		"empty": "", "bare": "https://evil.example/", "unsealed": body, "flipped": flip(note.Value, 12),
		"another path": base64.RawURLEncoding.EncodeToString([]byte(`{"to":"//evil.example"}`)) + "." + mac,
	} {
		if got := entered(in, &http.Cookie{Name: note.Name, Value: forged}); got.Code != http.StatusSeeOther || got.Header().Get("Location") != "/inbox" {
			t.Errorf("%s: %d to %q", name, got.Code, got.Header().Get("Location"))
		}
	}
}

func TestLinkWorksForTenMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := newInbox(t, newDesk())
		early, late := in.code(), in.code()
		time.Sleep(10*time.Minute - time.Second)
		if rec := in.post("/inbox/login", early); rec.Code != http.StatusSeeOther {
			t.Errorf("just in time: got %d", rec.Code)
		}
		time.Sleep(time.Second)
		if rec := in.post("/inbox/login", late); rec.Code != http.StatusForbidden {
			t.Errorf("too late: got %d", rec.Code)
		}
	})
}

// one is a listener with one connection.
type one struct{ conns chan net.Conn }

func (o *one) Accept() (net.Conn, error) {
	if c, ok := <-o.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (o *one) Close() error { return nil }

func (o *one) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// TestAFormThatNeverComes checks that without a session nobody can hold a connection for
// more than half a minute by sending a form that never ends.
func TestAFormThatNeverComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		in := newInbox(t, newDesk())
		s := &http.Server{Handler: in.web.Handler(), ReadHeaderTimeout: time.Second}
		here, there := net.Pipe()
		l := &one{make(chan net.Conn, 1)}
		l.conns <- there
		done := make(chan error, 1)
		go func() { done <- s.Serve(l) }()
		go func() {
			_, _ = io.WriteString(here, "POST /inbox/login HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://127.0.0.1\r\n"+
				"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\ncode=")
		}()
		got, err := io.ReadAll(here)
		if took := time.Since(began); err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 400 ") || took != 30*time.Second {
			t.Errorf("after %s: got %q, %v", took, got, err)
		}
		close(l.conns)
		_ = s.Close()
		<-done
	})
}

// TestAFormThatIsTooLarge checks that a form is read up to four MiB.
func TestAFormThatIsTooLarge(t *testing.T) {
	in := newInbox(t, newDesk())
	const most = 4<<20 - len("code=")
	for length, want := range map[int]int{most: http.StatusForbidden, most + 1: http.StatusRequestEntityTooLarge} {
		if rec := in.post("/inbox/login", url.Values{"code": {strings.Repeat("A", length)}}); rec.Code != want {
			t.Errorf("%d bytes: %d, want %d", length, rec.Code, want)
		}
	}
}

func TestOldLinksGiveWay(t *testing.T) {
	in := newInbox(t, newDesk())
	first := in.code()
	second := in.code()
	for range 15 {
		in.code()
	}
	if rec := in.post("/inbox/login", first); rec.Code != http.StatusForbidden {
		t.Errorf("the seventeenth link left the first: %d", rec.Code)
	}
	if rec := in.post("/inbox/login", second); rec.Code != http.StatusSeeOther {
		t.Errorf("the second of seventeen: %d", rec.Code)
	}
}

func TestSessionCookie(t *testing.T) {
	c := config(newDesk())
	c.Public = "https://vaglio.example.org"
	in := inboxOf(t, newDesk(), c)
	for host, secure := range map[string]bool{"127.0.0.1:8787": false, "vaglio.example.org": true} {
		r := in.request(http.MethodPost, "/inbox/login", in.code())
		r.Host = host
		r.Header.Set("Origin", "https://"+host)
		got := in.do(r).Result().Cookies()[0]
		path := "/inbox"
		if secure {
			path = "/"
		}
		// The prefix keeps every other host from setting or reading it.
		if !got.HttpOnly || got.SameSite != http.SameSiteStrictMode || got.Path != path || got.Secure != secure ||
			strings.HasPrefix(got.Name, "__Host-") != secure || got.Domain != "" || got.MaxAge != 7*24*3600 {
			t.Errorf("%s: got %v", host, got)
		}
		// A cookie for one way in is worthless for the other.
		for other, want := range map[string]int{host: http.StatusOK, map[bool]string{true: "127.0.0.1:8787", false: "vaglio.example.org"}[secure]: http.StatusUnauthorized} {
			r := in.request(http.MethodGet, "/inbox", nil)
			r.Host = other
			r.AddCookie(got)
			if rec := in.do(r); rec.Code != want {
				t.Errorf("signed in at %s, %s gives %d, want %d", host, other, rec.Code, want)
			}
		}
	}
}

func TestSessionOutlivesARestart(t *testing.T) {
	kept := new(memory)
	in := inboxOf(t, newDesk(), kept.on(config(newDesk()))).signIn()
	again := inboxOf(t, newDesk(), kept.on(config(newDesk())))
	again.cookie = in.cookie
	if rec := again.get("/inbox"); rec.Code != http.StatusOK {
		t.Errorf("after a restart: got %d", rec.Code)
	}
	c := config(newDesk())
	c.Secret = [32]byte{9}
	other := inboxOf(t, newDesk(), c).signIn()
	if other.cookie.Name == in.cookie.Name {
		t.Error("two instances on one machine share a cookie's name")
	}
	forged := *in.cookie
	forged.Name = other.cookie.Name
	other.cookie = &forged
	if rec := other.get("/inbox"); rec.Code != http.StatusUnauthorized {
		t.Errorf("a session of another instance: got %d", rec.Code)
	}
}

func TestSessionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := newInbox(t, newDesk()).signIn()
		const week = 7 * 24 * time.Hour
		began := time.Now()
		for time.Since(began) < week-12*time.Hour {
			time.Sleep(11 * time.Hour)
			in.renew()
		}
		time.Sleep(week - time.Since(began) - time.Second)
		in.renew()
		if rec := in.get("/inbox"); rec.Code != http.StatusOK {
			t.Errorf("used each day, on the last day: got %d", rec.Code)
		}
		time.Sleep(time.Second)
		if rec := in.get("/inbox"); rec.Code != http.StatusUnauthorized {
			t.Errorf("after a week: got %d", rec.Code)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		in := newInbox(t, newDesk()).signIn()
		time.Sleep(12 * time.Hour)
		if rec := in.get("/inbox"); rec.Code != http.StatusUnauthorized {
			t.Errorf("after twelve hours without use: got %d", rec.Code)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		in := newInbox(t, newDesk()).signIn()
		time.Sleep(12*time.Hour - time.Second)
		if all := in.web.Sessions(); len(all) != 1 {
			t.Errorf("a second before its end there are %d sessions", len(all))
		}
		time.Sleep(time.Second)
		if all := in.web.Sessions(); len(all) != 0 {
			t.Errorf("after twelve hours without use there are %d sessions", len(all))
		}
	})
}

// TestTheOldestSessionGivesWay checks that with more than 64 sessions, the oldest is
// dropped.
func TestTheOldestSessionGivesWay(t *testing.T) {
	in := newInbox(t, newDesk())
	var all []*http.Cookie
	for range 65 {
		rec := in.post("/inbox/login", in.code())
		all = append(all, rec.Result().Cookies()[0])
	}
	for i, want := range map[int]int{0: http.StatusUnauthorized, 1: http.StatusOK, 64: http.StatusOK} {
		in.cookie = all[i]
		if rec := in.get("/inbox"); rec.Code != want {
			t.Errorf("session %d gets %d, want %d", i+1, rec.Code, want)
		}
	}
	if n := len(in.web.Sessions()); n != 64 {
		t.Errorf("there are %d", n)
	}
}

// TestSessionsThatCannotBeRead checks that nothing is served if it is unknown who is signed
// in.
func TestSessionsThatCannotBeRead(t *testing.T) {
	kept := &memory{fail: errors.New("the disk is away")}
	if _, err := web.New(t.Context(), kept.on(config(newDesk()))); !errors.Is(err, kept.fail) {
		t.Errorf("got %v", err)
	}
}

// TestUseStretchesASession checks that a session is extended after an hour of use, and not
// at each use.
func TestUseStretchesASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := newInbox(t, newDesk()).signIn()
		until := in.web.Sessions()[0].Until
		time.Sleep(time.Hour - time.Second)
		if in.renew(); !in.web.Sessions()[0].Until.Equal(until) {
			t.Error("it is stretched within the hour")
		}
		time.Sleep(time.Second)
		if in.renew(); !in.web.Sessions()[0].Until.Equal(until.Add(time.Hour)) {
			t.Errorf("after an hour it lasts until %s, and did until %s", in.web.Sessions()[0].Until, until)
		}
	})
}

// TestWhatABrowserSays checks that of what a browser says about itself, one printable line
// is stored.
func TestWhatABrowserSays(t *testing.T) {
	for said, want := range map[string]string{"A b~c": "A b~c", "A\x1fb\x7fc\u00e9\td": "Abcd", strings.Repeat("a", 201): strings.Repeat("a", 200)} {
		in := newInbox(t, newDesk())
		r := in.request(http.MethodPost, "/inbox/login", in.code())
		r.Header.Set("User-Agent", said)
		in.do(r)
		if all := in.web.Sessions(); len(all) != 1 || all[0].Browser != want {
			t.Errorf("%q: %+v", said, all)
		}
	}
}

// renew has the page's cookie renewed with its key, as its script does.
func (in *inbox) renew() {
	in.Helper()
	rec := in.post("/inbox/renew", nil)
	if rec.Code != http.StatusNoContent || len(rec.Result().Cookies()) != 1 {
		in.Fatalf("renewing: %d %s", rec.Code, rec.Body)
	}
	in.cookie = rec.Result().Cookies()[0]
}

// TestAStolenCookieReadsForAnHour checks that a copy of the cookie can read for an hour at
// most, whatever the signed-in page does meanwhile, and then only the page that says how to
// sign in. The original page continues with its key, even after sleeping.
func TestAStolenCookieReadsForAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := full()
		in := newInbox(t, d).signIn()
		thief := &inbox{T: t, desk: d, web: in.web, h: in.h, cookie: in.cookie}
		time.Sleep(30 * time.Minute)
		in.renew()
		time.Sleep(30*time.Minute - time.Second)
		if rec := thief.get("/inbox"); rec.Code != http.StatusOK {
			t.Errorf("within the hour: %d", rec.Code)
		}
		time.Sleep(time.Second)
		stamp := *in.cookie // the stolen value with the time of a later stamp, and with its own
		value, _, _ := strings.Cut(thief.cookie.Value, ".")
		_, later, _ := strings.Cut(in.cookie.Value, ".")
		stamp.Value = value + "." + later
		if rec := in.get("/inbox"); rec.Code != http.StatusOK || stamp.Value != in.cookie.Value {
			t.Errorf("the page itself: %d", rec.Code)
		}
		far := strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)
		_, mac, _ := strings.Cut(later, ".")
		for name, forged := range map[string]string{
			"stolen": thief.cookie.Value, "without a stamp": value, "a stamp of its own": value + "." + far + "." + mac, "no number": value + ".x." + mac, "no proof": value + "." + far,
		} {
			c := *thief.cookie
			c.Value = forged
			by := &inbox{T: t, desk: d, web: in.web, h: in.h, cookie: &c}
			for _, p := range append(pages(), "/inbox/events", "/inbox/history/export?format=csv", "/inbox/passkeys", "/inbox/edit/rmbuild1") {
				rec := by.get(p)
				if strings.HasPrefix(p, "/inbox/login") {
					continue
				}
				if doc := sound(t, rec); rec.Code != http.StatusUnauthorized || !strings.Contains(doc.words(), "Sign in") || strings.Contains(rec.Body.String(), "rmbuild1") || strings.Contains(rec.Body.String(), "data-signed") {
					t.Errorf("%s: %s gives %d", name, p, rec.Code)
				}
			}
			for _, p := range []string{"/inbox/decide", "/inbox/order", "/inbox/reveal", "/inbox/renew", "/inbox/try"} {
				if rec := by.post(p, tap(approval.ChoiceDeny)); rec.Code != http.StatusForbidden || len(rec.Result().Cookies()) != 0 {
					t.Errorf("%s: %s gives %d", name, p, rec.Code)
				}
			}
			if o := by.mustOffer(); len(o.Passkeys) != 0 || o.Host != "" {
				t.Errorf("%s: the nonce comes with %+v", name, o)
			}
		}
		if d.state("rmbuild1-1") != approval.Pending {
			t.Error("it did something")
		}

		time.Sleep(3 * time.Hour)
		rec := in.get("/inbox/history")
		if rec.Code != http.StatusUnauthorized || !strings.Contains(rec.Body.String(), "data-renews") || !strings.Contains(rec.Body.String(), "key.js") {
			t.Errorf("the page itself, after it slept: %d", rec.Code)
		}
		in.renew()
		if rec := in.get("/inbox/history"); rec.Code != http.StatusOK {
			t.Errorf("with its key: %d", rec.Code)
		}
		time.Sleep(3 * time.Hour)
		// What is pressed on the page needs no other renewal.
		d.renew()
		rec = in.post("/inbox/decide", tap(approval.ChoiceAllow))
		if rec.Code != http.StatusSeeOther || d.state("rmbuild1-1") != approval.Allowed || len(rec.Result().Cookies()) != 1 {
			t.Errorf("an act of the page: %d", rec.Code)
		}

		keyless := (&inbox{T: t, desk: d, web: in.web, h: in.h}).signInWith("")
		time.Sleep(time.Hour)
		if rec := keyless.get("/inbox"); rec.Code != http.StatusUnauthorized || strings.Contains(rec.Body.String(), "data-renews") {
			t.Errorf("without a key: %d", rec.Code)
		}
		if rec := keyless.post("/inbox/decide", tap(approval.ChoiceDeny)); rec.Code != http.StatusUnauthorized {
			t.Errorf("without a key, denying: %d", rec.Code)
		}
	})
}

// TestForgedSessions checks that nothing in the store, and nothing close to a cookie's
// value, signs in.
func TestForgedSessions(t *testing.T) {
	kept := new(memory)
	in := inboxOf(t, newDesk(), kept.on(config(newDesk()))).signIn()
	good := in.cookie.Value
	for name, value := range map[string]string{
		"empty": "", "the id": kept.all[0].ID, "longer": good + "A", "shorter": good[1:], "flipped": flip(good, 3), "long": strings.Repeat("A", 1<<16),
	} {
		c := *in.cookie
		c.Value = value
		other := &inbox{T: t, desk: in.desk, web: in.web, h: in.h, cookie: &c}
		if rec := other.get("/inbox"); rec.Code != http.StatusUnauthorized {
			t.Errorf("%s: got %d", name, rec.Code)
		}
	}
}

func flip(s string, i int) string {
	b := []byte(s)
	if b[i] == 'A' {
		b[i] = 'B'
	} else {
		b[i] = 'A'
	}
	return string(b)
}

func TestSignOut(t *testing.T) {
	in := newInbox(t, newDesk()).signIn()
	rec := in.post("/inbox/logout", nil)
	got := rec.Result().Cookies()[0]
	if rec.Code != http.StatusSeeOther || got.Name != in.cookie.Name || got.Value != "" || got.MaxAge >= 0 || got.Path != "/inbox" {
		t.Errorf("got %d, %v", rec.Code, got)
	}
}
