package web_test

import (
	"context"
	"errors"
	"fmt"
	"image/png"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/web"
)

func TestPagesAreSound(t *testing.T) {
	in := newInbox(t, full()).signIn()
	for _, p := range pages() {
		t.Run(strings.ReplaceAll(strings.Trim(p, "/"), "/", "-"), func(t *testing.T) {
			rec := in.get(p)
			if rec.Code != http.StatusOK {
				t.Fatalf("got %d: %s", rec.Code, rec.Body)
			}
			doc := sound(t, rec)
			title := doc.all("title")[0].text()
			if !strings.HasPrefix(title, "(3) ") || !strings.HasSuffix(title, " · vaglio") {
				t.Errorf("title: got %q", title)
			}
		})
	}
}

func TestNoGETChangesAnything(t *testing.T) {
	d := full()
	in := newInbox(t, d).signIn()
	before := fmt.Sprint(d.asks, d.entries)
	d.frozen = t
	allow := url.QueryEscape(string(token("rmbuild1-1", "rmbuild1", approval.ChoiceAllow)))
	link, err := url.Parse(in.web.LoginLink("http://127.0.0.1:8787"))
	if err != nil {
		t.Fatal(err)
	}
	addresses := append(
		pages(), link.RequestURI(), "/inbox/decide?token="+allow, "/inbox?token="+allow, "/inbox/ask/rmbuild1?token="+allow,
		"/inbox/try?sample=remove", "/inbox/logout", "/inbox/", "/inbox/assets/app.js", "/inbox/nothing",
	)
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodOptions} {
		for _, a := range addresses {
			rec := in.do(in.request(method, a, nil))
			if c := rec.Result().Cookies(); len(c) != 0 {
				t.Errorf("%s %s sets a cookie: %v", method, a, c)
			}
		}
	}
	d.frozen = nil
	if diff := cmp.Diff(before, fmt.Sprint(d.asks, d.entries)); diff != "" {
		t.Error(diff)
	}
	if rec := in.post("/inbox/login", link.Query()); rec.Code != http.StatusSeeOther {
		t.Errorf("looking at the link used it up: %d", rec.Code)
	}
}

func TestStrangersSeeNothing(t *testing.T) {
	d := full()
	in := newInbox(t, d)
	d.frozen = t
	allow := string(token("rmbuild1-1", "rmbuild1", approval.ChoiceAllow))
	for _, p := range append(pages(), "/inbox/events", "/inbox/nonce", "/inbox/nothing") {
		if strings.HasPrefix(p, "/inbox/login") {
			continue
		}
		rec := in.get(p)
		if rec.Code != http.StatusUnauthorized {
			t.Errorf("GET %s: got %d", p, rec.Code)
		}
		doc := sound(t, rec)
		if text := doc.words(); strings.Contains(text, "rm -rf") || !strings.Contains(text, "vaglio inbox") {
			t.Errorf("GET %s shows %q", p, text)
		}
	}
	for p, form := range map[string]url.Values{
		"/inbox/decide": {"token": {allow}}, "/inbox/try": {"sample": {"read"}},
	} {
		if rec := in.post(p, form); rec.Code != http.StatusUnauthorized {
			t.Errorf("POST %s: got %d", p, rec.Code)
		}
	}
}

func TestForeignFormsAreRefused(t *testing.T) {
	d := full()
	in := newInbox(t, d).signIn()
	d.frozen = t
	form := url.Values{"token": {string(token("rmbuild1-1", "rmbuild1", approval.ChoiceAllow))}}
	for name, header := range map[string][2]string{
		"other_site":           {"https://evil.example", "cross-site"},
		"other_port":           {"http://127.0.0.1:9999", "same-site"},
		"origin_alone":         {"https://evil.example", ""},
		"opaque_origin":        {"null", ""},
		"fetch_metadata_alone": {"", "cross-site"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, p := range []string{"/inbox/decide", "/inbox/try", "/inbox/login", "/inbox/logout"} {
				r := in.request(http.MethodPost, p, form)
				r.Header.Del("Origin")
				r.Header.Del("Sec-Fetch-Site")
				if header[0] != "" {
					r.Header.Set("Origin", header[0])
				}
				if header[1] != "" {
					r.Header.Set("Sec-Fetch-Site", header[1])
				}
				rec := in.do(r)
				if rec.Code != http.StatusForbidden || len(rec.Result().Cookies()) != 0 {
					t.Errorf("%s: got %d, cookies %v", p, rec.Code, rec.Result().Cookies())
				}
				sound(t, rec)
			}
		})
	}
}

func TestOtherHostsAreRefused(t *testing.T) {
	c := config(full())
	c.Public = "https://vaglio.example.org"
	in := inboxOf(t, full(), c).signIn()
	for host, want := range map[string]int{
		"127.0.0.1:8787": http.StatusOK, "localhost:8787": http.StatusOK, "LOCALHOST": http.StatusOK, "[::1]:8787": http.StatusOK,
		"[::1]": http.StatusOK, "127.0.0.1": http.StatusOK, "vaglio.example.org": http.StatusOK, "Vaglio.Example.org:443": http.StatusOK,
		"evil.example": http.StatusMisdirectedRequest, "127.0.0.1.evil.example:8787": http.StatusMisdirectedRequest,
		"10.0.0.1": http.StatusMisdirectedRequest, "": http.StatusMisdirectedRequest, "localhost.evil.example": http.StatusMisdirectedRequest,
		"vaglio.example.org.evil.example": http.StatusMisdirectedRequest,
	} {
		r := in.request(http.MethodGet, "/inbox", nil)
		r.Host = host
		r.AddCookie(&http.Cookie{Name: "__Host-" + in.cookie.Name, Value: in.cookie.Value})
		rec := in.do(r)
		if rec.Code != want {
			t.Errorf("%q: got %d, want %d", host, rec.Code, want)
		}
		if want != http.StatusOK && strings.Contains(rec.Body.String(), "rm -rf") {
			t.Errorf("%q is shown a card", host)
		}
	}
}

func TestUnknownMethodsAndPages(t *testing.T) {
	in := newInbox(t, full()).signIn()
	for _, row := range []struct {
		method, path string
		want         int
	}{
		{http.MethodGet, "/inbox/", http.StatusSeeOther},
		{http.MethodGet, "/inbox/nothing", http.StatusNotFound},
		{http.MethodGet, "/inbox/ask/nothing", http.StatusNotFound},
		{http.MethodGet, "/inbox/ask/" + strings.Repeat("x", 5000), http.StatusNotFound},
		{http.MethodGet, "/inbox/turn/claude-code/other", http.StatusNotFound},
		{http.MethodGet, "/inbox/turn", http.StatusNotFound},
		{http.MethodGet, "/inbox/history?before=x", http.StatusBadRequest},
		{http.MethodGet, "/inbox/history?outcome=maybe", http.StatusBadRequest},
		{http.MethodGet, "/inbox/assets/nothing", http.StatusNotFound},
		{http.MethodGet, "/inbox/assets/..%2fpages%2finbox.html", http.StatusNotFound},
		{http.MethodPost, "/inbox", http.StatusMethodNotAllowed},
		{http.MethodPost, "/inbox/history", http.StatusMethodNotAllowed},
		{http.MethodDelete, "/inbox/ask/rmbuild1", http.StatusMethodNotAllowed},
	} {
		if rec := in.do(in.request(row.method, row.path, nil)); rec.Code != row.want {
			t.Errorf("%s %.40s: got %d, want %d", row.method, row.path, rec.Code, row.want)
		}
	}
}

func TestAssets(t *testing.T) {
	in := newInbox(t, newDesk())
	page := parse(t, in.get("/inbox/login"))
	for _, l := range page.all("link", "script") {
		address := l.attr("href") + l.attr("src")
		rec := in.get(address)
		// The manifest is in the reader's language, so it is not cached.
		kept := strings.Contains(rec.Header().Get("Cache-Control"), "immutable")
		if rec.Code != http.StatusOK || rec.Body.Len() == 0 || kept == (l.attr("rel") == "manifest") {
			t.Errorf("%s: got %d, %s", address, rec.Code, rec.Header())
		}
		if strings.Contains(rec.Body.String(), "http://") && !strings.Contains(address, "icon.svg") || strings.Contains(rec.Body.String(), "https://") {
			t.Errorf("%s names another site", address)
		}
	}
}

// TestTouchIcon checks the icon's size, which the pages and the manifest state.
func TestTouchIcon(t *testing.T) {
	in := newInbox(t, newDesk())
	for _, l := range parse(t, in.get("/inbox/login")).all("link") {
		if l.attr("rel") != "apple-touch-icon" {
			continue
		}
		picture, err := png.DecodeConfig(in.get(l.attr("href")).Body)
		if size := fmt.Sprintf("%dx%d", picture.Width, picture.Height); err != nil || size != l.attr("sizes") || size != "180x180" {
			t.Errorf("%v, %s, and the page says %s", err, size, l.attr("sizes"))
		}
		return
	}
	t.Error("the page names no icon for phones")
}

func TestTroubleOfOursIsToldWithoutDetail(t *testing.T) {
	d := full()
	in := newInbox(t, d).signIn()
	d.fail = errors.New("bolt: secret path /var/lib/s3cr3t")
	for _, p := range []string{"/inbox", "/inbox/history", "/inbox/ask/rmbuild1", "/inbox/turn/claude-code/t-81"} {
		rec := in.get(p)
		if doc := sound(t, rec); rec.Code != http.StatusInternalServerError || strings.Contains(doc.text(), "s3cr3t") {
			t.Errorf("%s: got %d: %s", p, rec.Code, doc.words())
		}
	}
	rec := in.post("/inbox/decide", url.Values{"token": {"T"}, "ask": {"rmbuild1"}, "choice": {"deny"}})
	if doc := sound(t, rec); rec.Code != http.StatusInternalServerError || !strings.Contains(doc.words(), "may not have been saved") {
		t.Errorf("got %d: %s", rec.Code, doc.words())
	}
}

// forgetful is a desk that cannot tell which grants hold.
type forgetful struct{ *desk }

func (f forgetful) Granted(context.Context, string) ([]approval.Approval, error) {
	return nil, errors.New("damaged")
}

// TestNoGrantIsLeftOutInSilence checks that a page that lists what holds does not show a
// list that could not be read as an empty one.
func TestNoGrantIsLeftOutInSilence(t *testing.T) {
	d := newDesk()
	c := config(d)
	c.Desk = forgetful{d}
	in := inboxOf(t, d, c).signIn()
	if rec := in.get("/inbox"); rec.Code != http.StatusInternalServerError {
		t.Errorf("got %d: %s", rec.Code, sound(t, rec).words())
	}
}

func TestNewNamesWhatIsMissing(t *testing.T) {
	_, err := web.New(t.Context(), web.Config{})
	for _, name := range []string{"Desk", "Book", "Propose", "Secret", "Log"} {
		if err == nil || !strings.Contains(err.Error(), "web: "+name+": must be set") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for _, public := range []string{"vaglio.example.org", "ftp://vaglio.example.org", "https://", "https://%zz"} {
		c := config(newDesk())
		c.Public = public
		if _, err := web.New(t.Context(), c); err == nil {
			t.Errorf("%q is not an address, and was taken", public)
		}
	}
}

func TestChannel(t *testing.T) {
	var ch web.Channel
	ref, err := ch.Post(t.Context(), approval.Card{Ask: "rmbuild1"})
	if ref != "rmbuild1" || err != nil || ch.Name() != "web" || ch.Amend(t.Context(), ref, approval.Card{}) != nil {
		t.Errorf("got %q, %v", ref, err)
	}
}

// TestATrialSaysWhatItDoesNotStop reads the footer in both languages.
func TestATrialSaysWhatItDoesNotStop(t *testing.T) {
	c := config(full())
	for _, c.Trial = range []bool{true, false} {
		in := inboxOf(t, full(), c).signIn()
		for lang, want := range map[string]string{"en": "it stops mistakes, not malice", "it": "ferma gli errori, non la malafede"} {
			for _, page := range []string{"/inbox", "/inbox/history"} {
				if told := strings.Contains(in.spoken(page, lang).text(), want); told != c.Trial {
					t.Errorf("trial %v, %s in %s: the footer says it: %v", c.Trial, page, lang, told)
				}
			}
		}
	}
}

// TestAnInboxThatCannotBeReadIsNotEmpty has the store fail: the page says so, instead of showing that
// nothing waits.
func TestAnInboxThatCannotBeReadIsNotEmpty(t *testing.T) {
	d := full()
	in := newInbox(t, d)
	in.signIn()
	d.change(func() { d.fail = errors.New("disk") })
	if rec := in.get("/inbox"); rec.Code < http.StatusInternalServerError {
		t.Errorf("the inbox answers %d", rec.Code)
	}
}
