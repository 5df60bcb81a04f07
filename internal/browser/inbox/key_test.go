package web_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/chromedp"

	"github.com/metnos/vaglio/approval"
)

// clickAllow clicks Allow, again if the page says that it has just changed, and waits for the
// answer to be confirmed.
func (b tab) clickAllow(card string) {
	b.Helper()
	for {
		b.do(see(card+" .dock .allow:not([data-unread])"), chromedp.Evaluate[chromedp.Void](`document.querySelector("#say").textContent = ""`))
		b.do(click(card+" .dock .allow"), until(`document.querySelector("#say").textContent !== ""`))
		if !strings.Contains(b.text("#say"), "has just changed") {
			return
		}
	}
}

// A real browser signs clicks, orders and trials. A page on another port of the same machine is sent
// the cookie, but can do nothing with it. Nor can a browser that lost the key, which says so.
func TestBrowserSigns(t *testing.T) {
	t.Parallel()
	b := browser(t)
	d := newDesk()
	d.answers["fs_read"] = full().answers["fs_read"]
	d.open("firstone", proposal("make one"))
	d.open("lastone1", proposal("make two"))
	in := newInbox(t, d)
	base := in.serve()
	b.enter(in, base)
	b.do(see("#live.on"))
	b.clickAllow("#ask-firstone")
	if got := d.state("firstone-1"); got != approval.Allowed || !strings.HasPrefix(b.text("#notice"), "Allowed once, ") {
		t.Errorf("the call is %s, the notice says %q", got, b.text("#notice"))
	}
	if one := in.web.Sessions()[0]; one.Key == "" || one.Keyless {
		t.Errorf("the session is %+v", one)
	}

	b.do(click("#brake summary"), see("#brake button"))
	b.press("#brake button")
	b.do(see("#holds .notice"))
	d.change(func() {
		if len(d.orders) != 1 || d.orders[0].Verb != approval.VerbStop {
			t.Errorf("orders: %+v", d.orders)
		}
	})

	b.do(chromedp.Navigate(base+"/inbox/try"), see(`button[value="read"]`), click(`button[value="read"]`), see("#result"))
	d.change(func() {
		if len(d.proposed) != 1 {
			t.Errorf("proposed: %+v", d.proposed)
		}
	})

	// A page on another port gets the cookie, but no key.
	stolen := make(chan string, 8)
	thief := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/inbox/x" {
			stolen <- r.Header.Get("Cookie")
		}
		rw.Header().Set("Content-Type", "text/html")
		_, _ = rw.Write([]byte("<title>thief</title>")) // The browser may be gone.
	}))
	t.Cleanup(thief.Close)
	b.do(chromedp.Navigate(thief.URL + "/inbox/x"))
	b.do(chromedp.Evaluate[chromedp.Void](`indexedDB.databases().then((all) => { window.found = all.length; }); undefined`), until(`window.found >= 0`))
	if n := get(b, chromedp.Evaluate[int](`window.found`)); n != 0 {
		t.Errorf("another port sees %d databases", n)
	}
	cookie := <-stolen
	form := strings.NewReader(tapOf("lastone1", approval.ChoiceAllow).Encode())
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/inbox/decide", form)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Cookie", cookie)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusForbidden || cookie == "" || d.state("lastone1-1") != approval.Pending {
		t.Errorf("the cookie %.20q gets %d, %v", cookie, res.StatusCode, err)
	}

	b.do(chromedp.Navigate(base+"/inbox"), see("#ask-lastone1 .deny"))
	b.do(chromedp.Evaluate[chromedp.Void](`indexedDB.deleteDatabase("vaglio").onsuccess = () => { window.lost = true; }; undefined`), until(`window.lost === true`))
	b.do(click("#ask-lastone1 .deny"), see(".notice.fault"))
	if got := b.text(".notice.fault"); !strings.Contains(got, "does not hold the key") || d.state("lastone1-1") != approval.Pending {
		t.Errorf("without the key the page says %q", got)
	}
}

// A page that is requested with a cookie that is too old is renewed with the key, and its reader
// only sees the page. A browser with the cookie but without the key is not let in.
func TestBrowserRenews(t *testing.T) {
	t.Parallel()
	b := browser(t)
	d := newDesk()
	d.open("firstone", proposal("make one"))
	in := newInbox(t, d)
	base := in.serve()
	b.enter(in, base)
	b.do(see("#live.on"))
	b.old()
	b.do(chromedp.Navigate(base+"/inbox?ask=firstone"), see("#ask-firstone .dock"))
	if at := get(b, chromedp.Evaluate[string](`location.pathname + location.search`)); at != "/inbox?ask=firstone" {
		t.Errorf("it came up at %s", at)
	}
	// An open page goes on, and what has been typed is preserved.
	b.do(see("#live.on"), click("#ask-firstone details.say summary"), chromedp.SendKeys(chromedp.CSS("#ask-firstone textarea[name=words]"), "halfway"))
	b.old()
	d.open("secondone", proposal("make two"))
	b.do(see(`[data-row="secondone"]`))
	if got := get(b, chromedp.Evaluate[string](`document.querySelector("#ask-firstone textarea[name=words]").value`)); got != "halfway" {
		t.Errorf("what was typed is %q", got)
	}
	b.do(chromedp.Evaluate[chromedp.Void](`indexedDB.deleteDatabase("vaglio").onsuccess = () => { window.lost = true; }; undefined`), until(`window.lost === true`))
	b.old()
	b.do(chromedp.Navigate(base+"/inbox"), see(".door"), until(`!document.body.hasAttribute("data-renews")`))
	if got := b.text("main"); strings.Contains(got, "make") || !strings.Contains(got, "vaglio inbox") {
		t.Errorf("without the key it reads %q", got)
	}
}

// old makes the browser's cookie too old to read with.
func (b tab) old() {
	b.Helper()
	all := slices.DeleteFunc(call(b, storage.GetCookies, storage.GetCookiesParams{}).Cookies, func(c *network.Cookie) bool {
		return strings.HasSuffix(c.Name, "_to") // where the sign-in leads
	})
	if len(all) != 1 {
		b.Fatalf("there are %d cookies", len(all))
	}
	value, _, _ := strings.Cut(all[0].Value, ".")
	call(b, storage.SetCookies, storage.SetCookiesParams{Cookies: []*network.CookieParam{{
		Name: all[0].Name, Value: value + ".1.00", Domain: all[0].Domain, Path: all[0].Path, HTTPOnly: true, SameSite: network.CookieSameSiteStrict,
	}}})
}
