package web_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/web"
)

// pages are all addresses that a signed-in person can look at.
func pages() []string {
	return []string{
		"/inbox", "/inbox?keep=answered&keep=nothing&keep=rmbuild1", "/inbox/ask/rmbuild1", "/inbox/ask/plan4711-2",
		"/inbox/ask/look", "/inbox/ask/worked01", "/inbox/history", "/inbox/history?agent=claude-code&executor=fs_read&outcome=guard",
		"/inbox/history?before=3", "/inbox/turn/claude-code/t-81", "/inbox/turn?agent=claude-code&turn=t-81", "/inbox/try",
		"/inbox/login", "/inbox/login?code=X",
	}
}

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
	for _, p := range append(pages(), "/inbox/events", "/inbox/nothing") {
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
		if rec.Code != http.StatusOK || rec.Body.Len() == 0 || !strings.Contains(rec.Header().Get("Cache-Control"), "immutable") {
			t.Errorf("%s: got %d, %s", address, rec.Code, rec.Header())
		}
		if strings.Contains(rec.Body.String(), "http://") && !strings.Contains(address, "icon.svg") || strings.Contains(rec.Body.String(), "https://") {
			t.Errorf("%s names another site", address)
		}
	}
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
	rec := in.post("/inbox/decide", url.Values{"token": {"T"}, "ask": {"rmbuild1"}})
	if doc := sound(t, rec); rec.Code != http.StatusInternalServerError || !strings.Contains(doc.words(), "may not have been kept") {
		t.Errorf("got %d: %s", rec.Code, doc.words())
	}
}

func TestNewNamesWhatIsMissing(t *testing.T) {
	_, err := web.New(web.Config{})
	for _, name := range []string{"Desk", "Book", "Propose", "Secret", "Log"} {
		if err == nil || !strings.Contains(err.Error(), "web: "+name+": must be set") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for _, public := range []string{"vaglio.example.org", "ftp://vaglio.example.org", "https://", "https://%zz"} {
		c := config(newDesk())
		c.Public = public
		if _, err := web.New(c); err == nil {
			t.Errorf("%q is no address, and was taken", public)
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

func TestInboxShowsTheWholeCall(t *testing.T) {
	in := newInbox(t, full()).signIn()
	doc := sound(t, in.get("/inbox"))
	card := doc.id(t, "ask-rmbuild1")
	for _, want := range []string{
		"Waiting for you", "claude-code wants to run shell_exec", "rm -rf ./build", `"command": "rm -rf ./build"`, "/home/u/app",
		"score 0.40 is below the threshold 0.75", "rule-based-v1 said no", "Score 0.40 of 1, needs 0.75",
		"capability", "no word of the request names what is removed", "0.20", "Ask for a narrower call",
		"Your request, as the agent relays it", "clean the old build", "expires in about 29 minutes", "3 lines, 33 characters",
	} {
		if !strings.Contains(card.words(), want) {
			t.Errorf("the card does not show %q:\n%s", want, card.words())
		}
	}
	want := map[string]string{
		"TOKEN-rmbuild1-1-rmbuild1-allow": "Allow once: shell_exec rm -rf ./build",
		"TOKEN-rmbuild1-1-rmbuild1-deny":  "Deny and send words: shell_exec rm -rf ./build",
	}
	if diff := cmp.Diff(want, card.tokens()); diff != "" {
		t.Error(diff)
	}
	var order []string
	for _, c := range doc.id(t, "cards").all("article") {
		order = append(order, c.attr("data-ask"))
	}
	if diff := cmp.Diff([]string{"rmbuild1", "lookalike", "plan4711"}, order); diff != "" {
		t.Error(diff)
	}
}

func TestPlanIsAnsweredTogetherOrOneByOne(t *testing.T) {
	in := newInbox(t, full()).signIn()
	buttons := func() []string {
		card := sound(t, in.get("/inbox")).id(t, "ask-plan4711")
		return slices.Sorted(maps.Keys(card.tokens()))
	}
	want := []string{
		"TOKEN-all-plan4711-allow", "TOKEN-all-plan4711-deny", "TOKEN-plan4711-1-plan4711-allow", "TOKEN-plan4711-1-plan4711-deny",
		"TOKEN-plan4711-2-plan4711-allow", "TOKEN-plan4711-2-plan4711-deny", "TOKEN-plan4711-3-plan4711-allow", "TOKEN-plan4711-3-plan4711-deny",
	}
	if diff := cmp.Diff(want, buttons()); diff != "" {
		t.Error(diff)
	}
	in.post("/inbox/decide", url.Values{"token": {want[4]}})
	rec := in.post("/inbox/decide", url.Values{"token": {want[3]}})
	if diff := cmp.Diff([]string{"TOKEN-plan4711-3-plan4711-allow", "TOKEN-plan4711-3-plan4711-deny"}, buttons()); diff != "" {
		t.Error(diff)
	}
	card := parse(t, in.get(rec.Header().Get("Location"))).id(t, "ask-plan4711")
	for _, want := range []string{"1 of 3 wait for you", "Allowed once", "Denied"} {
		if !strings.Contains(card.words(), want) {
			t.Errorf("the card does not say %q: %s", want, card.words())
		}
	}
	rec = in.post("/inbox/decide", url.Values{"token": {want[0]}})
	doc := parse(t, in.get(rec.Header().Get("Location")))
	if got := doc.id(t, "notice").words(); strings.Count(got, "Allowed once") != 2 || strings.Count(got, "Denied") != 1 {
		t.Errorf("got %q", got)
	}
	if !strings.Contains(doc.id(t, "ask-plan4711").words(), "All answered") {
		t.Error("a plan that is answered does not say so")
	}
}

// A call that is too long to stand among others is offered for Allow only
// where all of it is shown.
func TestLongCallIsAllowedOnlyWhereItIsWhole(t *testing.T) {
	d := newDesk()
	long := "echo BEGIN; " + strings.Repeat("echo ünïcode and more; ", 5000) + "echo END"
	d.open("longcall", proposal(long))
	in := newInbox(t, d).signIn()
	card := sound(t, in.get("/inbox")).id(t, "ask-longcall")
	if got := slices.Collect(maps.Keys(card.tokens())); len(got) != 1 || !strings.HasSuffix(got[0], "-deny") {
		t.Errorf("buttons: %v", got)
	}
	text := card.words()
	for _, want := range []string{"BEGIN", "END", "Only the beginning and the end are shown here", "Show all of it", "115,020 characters"} {
		if !strings.Contains(text, want) {
			t.Errorf("the card does not show %q", want)
		}
	}
	if len(text) > 20_000 {
		t.Errorf("the card shows %d characters among others", len(text))
	}
	card = sound(t, in.get("/inbox/ask/longcall")).id(t, "ask-longcall")
	if len(card.tokens()) != 2 || !strings.Contains(card.text(), long) {
		t.Errorf("the ask's own page shows %d characters and %v", len(card.text()), card.tokens())
	}
}

func TestManyAsksAreListed(t *testing.T) {
	d := newDesk()
	for i := range 30 {
		d.open(approval.AskID(fmt.Sprintf("ask%04d", i)), proposal(fmt.Sprintf("make target-%d", i)))
	}
	in := newInbox(t, d).signIn()
	doc := sound(t, in.get("/inbox"))
	if n := len(doc.all("article")); n != 25 {
		t.Errorf("%d cards are shown whole", n)
	}
	list := doc.class("rest-list")[0]
	if n := len(list.all("a")); n != 5 || !strings.Contains(list.words(), "make target-29") {
		t.Errorf("%d are listed: %s", n, list.words())
	}
	if got := doc.all("title")[0].text(); got != "(30) Inbox · vaglio" {
		t.Errorf("title: %q", got)
	}
}

func TestEmptyInboxHelps(t *testing.T) {
	in := newInbox(t, newDesk()).signIn()
	doc := sound(t, in.get("/inbox"))
	text := doc.id(t, "cards").words()
	if !strings.Contains(text, "Nothing waits for you") || !strings.Contains(text, "Try it") {
		t.Errorf("got %q", text)
	}
	if got := doc.all("title")[0].text(); got != "Inbox · vaglio" {
		t.Errorf("title: %q", got)
	}
}

// A guard's denial is shown, says that it is final, and holds nothing to press.
func TestGuardDenialHasNoAllow(t *testing.T) {
	d := newDesk()
	s := guarded()
	s.ID = "guarded"
	d.log(s)
	in := newInbox(t, d).signIn()
	for _, p := range []string{"/inbox", "/inbox/history", "/inbox/turn/claude-code/t-81"} {
		doc := sound(t, in.get(p))
		entry := doc.id(t, "step-guarded")
		for _, want := range []string{"Stopped by the guard", "This is final", "path.ssh-key", "Private keys give away", "Name the public key"} {
			if !strings.Contains(entry.words(), want) {
				t.Errorf("%s does not say %q: %s", p, want, entry.words())
			}
		}
		if n := len(entry.all("form", "button", "input", "textarea")); n != 0 {
			t.Errorf("%s: the entry holds %d things to press", p, n)
		}
		for _, b := range doc.all("button", "input", "a") {
			if strings.HasPrefix(b.name(), "Allow") || b.attr("name") == "token" || strings.Contains(b.attr("href"), "/ask/") {
				t.Errorf("%s holds %q", p, b.name())
			}
		}
	}
}

func TestHistoryFiltersAndPages(t *testing.T) {
	d := newDesk()
	for i := range 120 {
		s := passed()
		s.ID = fmt.Sprintf("s%d", i)
		if i%2 == 0 {
			s.Proposal.Agent = "other agent&co"
		}
		d.log(s)
	}
	in := newInbox(t, d).signIn()
	var seen []string
	next := "/inbox/history?agent=other+agent%26co&executor=fs_read&outcome=approved"
	for range 5 {
		doc := sound(t, in.get(next))
		for _, e := range doc.class("entry") {
			seen = append(seen, e.attr("id"))
		}
		next = ""
		for _, a := range doc.all("a") {
			if a.attr("rel") == "next" {
				next = a.attr("href")
			}
		}
		if next == "" {
			break
		}
	}
	if len(seen) != 60 || seen[0] != "step-s118" || seen[59] != "step-s0" {
		t.Errorf("got %d entries: %v", len(seen), seen)
	}
	doc := sound(t, in.get("/inbox/history?outcome=guard"))
	if !strings.Contains(doc.words(), "Nothing fits this filter") {
		t.Error("an empty page does not say why")
	}
}

func TestTurnsWithOddNames(t *testing.T) {
	for _, turn := range []string{"t-1", "a/b", "..", ".", "a b?c=d#e", "%2e%2e", "türn", "//"} {
		t.Run(url.PathEscape(turn), func(t *testing.T) {
			d := newDesk()
			s := passed()
			s.Proposal.TurnID = turn
			s.ID = "odd"
			d.log(s)
			in := newInbox(t, d).signIn()
			links := sound(t, in.get("/inbox")).id(t, "step-odd").all("a")
			rec := in.get(links[0].attr("href"))
			if rec.Code != http.StatusOK {
				t.Fatalf("%s: got %d", links[0].attr("href"), rec.Code)
			}
			sound(t, rec).id(t, "step-odd")
		})
	}
}

func TestTurnShowsHowItsStepsEnded(t *testing.T) {
	in := newInbox(t, full()).signIn()
	text := sound(t, in.get("/inbox/turn/claude-code/t-81")).id(t, "steps").words()
	for _, want := range []string{"Approved", "Waiting for you", "Stopped by the guard", "Denied", "Ran: worked", "Not before the changelog is written."} {
		if !strings.Contains(text, want) {
			t.Errorf("the turn does not show %q: %s", want, text)
		}
	}
}

func TestEveryStateIsSaid(t *testing.T) {
	for _, s := range []approval.State{
		approval.Allowed, approval.Denied, approval.Expired, approval.Withdrawn, approval.Superseded, approval.Spent,
		approval.Lapsed, approval.Succeeded, approval.Failed, approval.Unknown,
	} {
		d := newDesk()
		d.open("oneask", proposal("make"))
		d.change(func() {
			a := &d.asks[0].Approvals[0]
			a.State, a.EndedAt = s, time.Now()
		})
		in := newInbox(t, d).signIn()
		doc := sound(t, in.get("/inbox/ask/oneask"))
		card := doc.id(t, "ask-oneask")
		if len(card.tokens()) != 0 {
			t.Errorf("%s: a final card holds buttons", s)
		}
		if text := card.words(); strings.Contains(text, "Unclear") || strings.Contains(text, "Waiting") {
			t.Errorf("%s: got %q", s, text)
		}
	}
}
