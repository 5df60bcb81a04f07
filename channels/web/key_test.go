package web_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/web/webtest"
)

// forged sends a form with the inbox's cookie, and with what sign puts into its header.
func (in *inbox) forged(path, body string, sign func(h http.Header)) *httptest.ResponseRecorder {
	in.Helper()
	r := in.unsigned(http.MethodPost, path, body)
	if sign != nil {
		sign(r.Header)
	}
	return in.do(r)
}

// mustOffer returns what the page gets to sign with.
func (in *inbox) mustOffer() webtest.Offer {
	in.Helper()
	o, ok := in.offer()
	if !ok {
		in.Fatal("the session is not good")
	}
	return o
}

// TestTheCookieAloneDecidesNothing checks that whoever has the cookie, and anything the
// page ever sent, decides nothing with it. The answer says what was wrong, and the same
// request from the page decides.
func TestTheCookieAloneDecidesNothing(t *testing.T) {
	allow, deny := tap(approval.ChoiceAllow).Encode(), tap(approval.ChoiceDeny).Encode()
	const unsigned, altered, foreign = "carries no signature", "does not match what was sent", "made for another session"
	rows := []struct {
		name, want string
		send       func(in, other, before *inbox) *httptest.ResponseRecorder
	}{
		{"stolen cookie", unsigned, func(in, _, _ *inbox) *httptest.ResponseRecorder {
			return in.forged("/inbox/decide", allow, nil)
		}},
		{"stolen cookie that denies", unsigned, func(in, _, _ *inbox) *httptest.ResponseRecorder {
			return in.forged("/inbox/decide", deny, nil)
		}},
		{"stolen cookie that stops", unsigned, func(in, _, _ *inbox) *httptest.ResponseRecorder {
			return in.forged("/inbox/order", "verb=stop", nil)
		}},
		{"stolen cookie that lets go", unsigned, func(in, _, _ *inbox) *httptest.ResponseRecorder {
			return in.forged("/inbox/order", "verb=go", nil)
		}},
		{"stolen cookie that tries", unsigned, func(in, _, _ *inbox) *httptest.ResponseRecorder {
			return in.forged("/inbox/try", "sample=read", nil)
		}},
		{"stolen cookie that edits", unsigned, func(in, _, _ *inbox) *httptest.ResponseRecorder {
			return in.forged("/inbox/edit", "id=rmbuild1-1&arg.command=ls", nil)
		}},
		{"stolen cookie that looks behind a mask", unsigned, func(in, _, _ *inbox) *httptest.ResponseRecorder {
			return in.forged("/inbox/reveal", "ask=rmbuild1", nil)
		}},
		{"a key of the thief's", altered, func(in, _, _ *inbox) *httptest.ResponseRecorder {
			return in.forged("/inbox/decide", allow, func(h http.Header) { webtest.NewKey().Sign(h, in.mustOffer(), "/inbox/decide", allow) })
		}},
		{"signature for another ask", altered, func(in, _, _ *inbox) *httptest.ResponseRecorder {
			return in.forged("/inbox/decide", allow, func(h http.Header) {
				in.key.Sign(h, in.mustOffer(), "/inbox/decide", strings.ReplaceAll(allow, "rmbuild1", "plan4711"))
			})
		}},
		{"signature for another choice", altered, func(in, _, _ *inbox) *httptest.ResponseRecorder {
			return in.forged("/inbox/decide", allow, func(h http.Header) { in.key.Sign(h, in.mustOffer(), "/inbox/decide", deny) })
		}},
		{"signature for another address", altered, func(in, _, _ *inbox) *httptest.ResponseRecorder {
			return in.forged("/inbox/decide", allow, func(h http.Header) { in.key.Sign(h, in.mustOffer(), "/inbox/order", allow) })
		}},
		{"words put in", altered, func(in, _, _ *inbox) *httptest.ResponseRecorder {
			return in.forged("/inbox/decide", deny+"&words=Push+to+main", func(h http.Header) { in.key.Sign(h, in.mustOffer(), "/inbox/decide", deny) })
		}},
		{"signature of another session", foreign, func(in, other, _ *inbox) *httptest.ResponseRecorder {
			return in.forged("/inbox/decide", allow, func(h http.Header) { other.key.Sign(h, other.mustOffer(), "/inbox/decide", allow) })
		}},
		{"signature for another session", foreign, func(in, other, _ *inbox) *httptest.ResponseRecorder {
			return in.forged("/inbox/decide", allow, func(h http.Header) { in.key.Sign(h, other.mustOffer(), "/inbox/decide", allow) })
		}},
		{"nonce of before a restart", foreign, func(in, _, before *inbox) *httptest.ResponseRecorder {
			o := in.mustOffer()
			o.Nonce = before.mustOffer().Nonce
			return in.forged("/inbox/decide", allow, func(h http.Header) { in.key.Sign(h, o, "/inbox/decide", allow) })
		}},
		{"expired nonce", "more than two minutes ago", func(in, _, _ *inbox) *httptest.ResponseRecorder {
			o := in.mustOffer()
			time.Sleep(2 * time.Minute)
			return in.forged("/inbox/decide", allow, func(h http.Header) { in.key.Sign(h, o, "/inbox/decide", allow) })
		}},
		{"replayed signature", "was used before", func(in, _, _ *inbox) *httptest.ResponseRecorder {
			// Its first use is an answer that means nothing, but that uses it up too.
			form := url.Values{"ask": {"rmbuild1"}, "choice": {"allow"}, "token": {"none"}}.Encode()
			header := http.Header{}
			in.key.Sign(header, in.mustOffer(), "/inbox/decide", form)
			put := func(h http.Header) { maps.Copy(h, header) }
			if rec := in.forged("/inbox/decide", form, put); rec.Code != http.StatusNotFound {
				in.Errorf("the first use: %d", rec.Code)
			}
			return in.forged("/inbox/decide", form, put)
		}},
	}
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		in := newInbox(t, d).signIn()
		other := (&inbox{T: t, desk: d, web: in.web, h: in.h}).signIn()
		before := newInbox(t, newDesk()).signIn()
		for _, row := range rows {
			d.renew()
			rec := row.send(in, other, before)
			said := sound(t, rec).id(t, "failure").words()
			if rec.Code != http.StatusForbidden || !strings.Contains(said, row.want) {
				t.Errorf("%s: got %d: %s", row.name, rec.Code, said)
			}
			if d.state("rmbuild1-1") != approval.Pending || d.state("plan4711-1") != approval.Pending || len(d.orders)+len(d.proposed)+len(d.edits) != 0 {
				t.Errorf("%s: it did something", row.name)
			}
			if rec := in.post("/inbox/decide", tap(approval.ChoiceAllow)); rec.Code != http.StatusSeeOther || d.state("rmbuild1-1") != approval.Allowed {
				t.Errorf("%s: the page itself gets %d", row.name, rec.Code)
			}
		}
	})
}

// renew resets the desk, as [full] fills it.
func (d *desk) renew() {
	fresh := full()
	d.change(func() {
		d.asks, d.entries, d.taps, d.orders, d.proposed, d.edits = fresh.asks, fresh.entries, nil, nil, nil, nil
	})
}

// TestSessionsWithoutAKey checks that a session without a key, from a browser without
// scripts, can deny and stop with its cookie, and nothing else.
func TestSessionsWithoutAKey(t *testing.T) {
	deny := tap(approval.ChoiceDeny)
	with := func(form url.Values, key, value string) url.Values {
		out := url.Values{key: {value}}
		for k, v := range form {
			if k != key {
				out[k] = v
			}
		}
		return out
	}
	d := newDesk()
	keyless := newInbox(t, d).signInWith("")
	hidden := with(tap(approval.ChoiceAllow), "choice", "deny")
	for _, row := range []struct {
		name, path string
		form       url.Values
		none       int
	}{
		{"allow", "/inbox/decide", tap(approval.ChoiceAllow), 403},
		{"an allowance that says it denies", "/inbox/decide", hidden, 404},
		{"a choice that is left out", "/inbox/decide", with(deny, "choice", ""), 403},
		{"words", "/inbox/decide", with(deny, "words", "Push to main."), 403},
		{"let go", "/inbox/order", url.Values{"verb": {"go"}}, 403},
		{"stop with words", "/inbox/order", url.Values{"verb": {"stop"}, "words": {"Push."}}, 403},
		{"lift", "/inbox/order", url.Values{"verb": {"lift"}, "id": {"answered-1"}}, 403},
		{"end", "/inbox/order", url.Values{"verb": {"end"}, "id": {"answered-1"}}, 403},
		{"ask", "/inbox/order", url.Values{"verb": {"ask"}, "id": {"rmbuild1"}, "words": {"Why?"}}, 403},
		{"try", "/inbox/try", url.Values{"sample": {"read"}}, 403},
		{"deny", "/inbox/decide", deny, 303},
		{"stop", "/inbox/order", url.Values{"verb": {"stop"}}, 303},
	} {
		t.Run(row.name, func(t *testing.T) {
			d.renew()
			keyless.T = t
			in := keyless
			if rec := in.post(row.path, row.form); rec.Code != row.none {
				t.Errorf("signed in without scripts: %d, want %d", rec.Code, row.none)
			}
			if did := d.state("rmbuild1-1") == approval.Denied || len(d.orders) == 1; did != (row.none == 303) || d.state("rmbuild1-1") == approval.Allowed || len(d.proposed) != 0 {
				t.Errorf("it did something: %t", did)
			}
		})
	}
}

// TestSessionsOfBeforeKeys checks that a session from before keys is invalid: its owner
// signs in again.
func TestSessionsOfBeforeKeys(t *testing.T) {
	d, kept := newDesk(), new(memory)
	first := inboxOf(t, d, kept.on(config(d))).signIn()
	kept.all[0].Key = ""
	in := inboxOf(t, d, kept.on(config(d)))
	in.cookie = first.cookie
	d.renew()
	if rec := in.get("/inbox"); rec.Code != http.StatusUnauthorized || len(in.web.Sessions()) != 0 {
		t.Errorf("reading: %d, and %d are signed in", rec.Code, len(in.web.Sessions()))
	}
	if rec := in.post("/inbox/decide", tap(approval.ChoiceDeny)); rec.Code != http.StatusUnauthorized || d.state("rmbuild1-1") != approval.Pending {
		t.Errorf("denying: %d", rec.Code)
	}
}

// TestPagesOfSessionsWithoutAKey checks that pages omit what a session may not do, and say
// why.
func TestPagesOfSessionsWithoutAKey(t *testing.T) {
	d := full()
	d.brakes = []approval.Brake{{Agent: "coder", At: time.Now()}}
	in := newInbox(t, d).signInWith("")
	const why = "but not allow: this browser signed in without a signing key"
	for _, p := range []string{"/inbox", "/inbox?ask=plan4711", "/inbox/ask/plan4711", "/inbox/ask/rmbuild1", "/inbox/ask/answered", "/inbox/try"} {
		doc := sound(t, in.get(p))
		if said := strings.Count(doc.words(), why); said != 1 && p != "/inbox/ask/answered" {
			t.Errorf("%s says why %d times", p, said)
		}
		denies := false
		for _, form := range doc.all("form") {
			values := url.Values{}
			for _, f := range form.all("input", "button", "textarea") {
				values.Set(f.attr("name"), f.attr("value"))
			}
			switch form.attr("action") {
			case "/inbox/decide":
				denies = true
				if values.Get("choice") != "deny" && values.Get("choice") != "deny-kind" || values.Has("words") {
					t.Errorf("%s offers %v", p, values)
				}
			case "/inbox/order":
				if values.Get("verb") != "stop" || values.Has("words") {
					t.Errorf("%s offers %v", p, values)
				}
			case "/inbox/try":
				t.Errorf("%s offers to try", p)
			}
		}
		if wants := p != "/inbox/try" && p != "/inbox/ask/answered"; denies != wants {
			t.Errorf("%s offers to deny: %t", p, denies)
		}
	}
}

// TestAKeyIsKeptWithItsSession checks that a key is accepted once, at sign-in, and is
// stored with the session beyond the process. An invalid key signs nobody in and does not
// use up the link.
func TestAKeyIsKeptWithItsSession(t *testing.T) {
	d, kept := full(), new(memory)
	in := inboxOf(t, d, kept.on(config(d)))
	code := in.code()
	for _, bad := range []string{"x", strings.Repeat("A", 87), strings.Repeat("A", 200), "BA==\n"} {
		rec := in.post("/inbox/login", url.Values{"code": code["code"], "key": {bad}})
		if doc := sound(t, rec); rec.Code != http.StatusBadRequest || len(rec.Result().Cookies()) != 0 || !strings.Contains(doc.words(), "vaglio expects a point on P-256") {
			t.Errorf("%q: got %d", bad, rec.Code)
		}
	}
	in.key = nil
	key := webtest.NewKey()
	rec := in.post("/inbox/login", url.Values{"code": code["code"], "key": {key.Public()}})
	if rec.Code != http.StatusSeeOther || len(kept.all) != 1 || kept.all[0].Key != key.Public() || kept.all[0].Keyless {
		t.Fatalf("got %d, kept %+v", rec.Code, kept.all)
	}
	again := inboxOf(t, d, kept.on(config(d)))
	again.cookie, again.key = rec.Result().Cookies()[0], key
	if rec := again.post("/inbox/decide", tap(approval.ChoiceAllow)); rec.Code != http.StatusSeeOther || d.state("rmbuild1-1") != approval.Allowed {
		t.Errorf("after a restart: %d", rec.Code)
	}
}

// TestARevealIsOfOneSession checks that masked values are shown only to the session that
// asked for them, for that ask, and for a limited time.
func TestARevealIsOfOneSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := full()
		in := newInbox(t, d).signIn()
		other := (&inbox{T: t, desk: d, web: in.web, h: in.h}).signIn()
		led := in.post("/inbox/reveal", url.Values{"ask": {"rmbuild1"}}).Header().Get("Location")
		if len(d.seers) != 1 || d.seers[0] != (approval.Person{ID: "web:owner", Name: "owner"}) {
			t.Errorf("shown to %+v", d.seers)
		}
		if rec := in.post("/inbox/reveal", url.Values{"ask": {"none"}}); rec.Code != http.StatusNotFound {
			t.Errorf("an ask that is not there: %d", rec.Code)
		}
		at, search, _ := strings.Cut(led, "?")
		shows := func(by *inbox, address string, want bool) {
			t.Helper()
			before := d.revealed
			if rec := by.get(address); rec.Code != http.StatusOK || (d.revealed > before) != want {
				t.Errorf("%s: got %d, shown %t, want %t", address, rec.Code, d.revealed > before, want)
			}
		}
		shows(in, led, true)
		shows(other, led, false)
		shows(in, at, false)
		shows(in, at+"?reveal=1", false)
		shows(in, "/inbox/ask/plan4711?"+search, false)
		time.Sleep(10 * time.Minute)
		shows(in, led, false)
	})
}
