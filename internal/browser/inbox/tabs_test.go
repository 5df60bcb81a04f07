package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/metnos/vaglio/approval"
)

// TestBrowserTwoTabsDecideOnce attacks one inbox in two tabs of one browser: while a person types
// words in one, the other decides. The first shows what was decided, sends nothing of its own, and
// keeps the words that were being typed; pressed at once, both
// end on the one decision.
func TestBrowserTwoTabsDecideOnce(t *testing.T) {
	t.Parallel()
	b := browser(t)
	d := newDesk()
	d.open("firstone", proposal("make one"))
	d.open("secondone", proposal("make two"))
	in := newInbox(t, d)
	base := in.serve()
	b.enter(in, base)
	ctx, cancel := chromedp.NewContext(b.ctx)
	defer cancel()
	other := tab{t, ctx}
	for _, one := range []tab{b, other} {
		one.do(chromedp.Navigate(base+"/inbox?ask=firstone"), see(".live.on"), see("#ask-firstone .deny"))
	}
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#ask-firstone details.say").open = true; document.querySelector("#ask-firstone textarea").focus()`))
	b.do(chromedp.KeyEvent("Use the other folder"))
	other.do(chromedp.Focus(chromedp.CSS("#ask-firstone .deny")), chromedp.KeyEvent(kb.Enter), see("#notice .notice"))
	b.do(see("#ask-firstone .badge.no"))
	kept := get(b, chromedp.Evaluate[string](`document.activeElement.value ?? document.querySelector("#ask-firstone textarea")?.value ?? document.body.innerText`))
	if kept != "Use the other folder" {
		t.Errorf("the words that were being typed became %q", kept)
	}
	if got := d.tapped(); len(got) != 1 || got[0].Words != "" {
		t.Errorf("%d answers: %+v", len(got), got)
	}
	if got := get(b, chromedp.Evaluate[string](`document.querySelector(".unsent label").textContent`)); !strings.Contains(got, "not sent") {
		t.Errorf("what stands above them is %q", got)
	}
	// Both at once: each tab holds a button that it made before the other pressed.
	for _, one := range []tab{b, other} {
		one.do(chromedp.Navigate(base+"/inbox?ask=secondone"), see(".live.on"), see("#ask-secondone .deny"))
	}
	press := chromedp.Evaluate[chromedp.Void](`document.querySelector("#ask-secondone .deny").click()`)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = chromedp.Do(other.ctx, press)
	}()
	b.do(press)
	<-done
	for _, one := range []tab{b, other} {
		one.do(until(`!document.querySelector("#ask-secondone .deny")`))
	}
	if got := d.state("secondone-1"); got != approval.Denied {
		t.Errorf("the call is %s", got)
	}
}

// TestBrowserLateWordsAreKept checks that words which a person sends after another has decided, from a
// page that was not told of it, stay where they can be copied, under what is true: they were not sent.
func TestBrowserLateWordsAreKept(t *testing.T) {
	t.Parallel()
	b, d, base := entered(t)
	ada := approval.Person{ID: "telegram:1", Name: "Ada"}
	d.open("lastone1", proposal("make last"))
	for id, row := range map[approval.AskID]struct {
		page   string
		choice approval.Choice
		says   string
	}{
		"firstone": {"/inbox?ask=", approval.ChoiceAllow, "Your answer came second: already allowed once by Ada (telegram)"},
		"nextone1": {"/inbox?ask=", approval.ChoiceDeny, "Your answer came second: already denied by Ada (telegram)"},
		"pageone1": {"/inbox/ask/", approval.ChoiceAllow, "Your answer came second: already allowed once by Ada (telegram)"},
	} {
		d.open(id, proposal("make "+string(id)))
		at, form := "#ask-"+string(id), "[id^=say-"+string(id)+"]"
		b.do(chromedp.Navigate(base+row.page+string(id)), see(".live.on"), see(at+" .deny"))
		// The page reads nothing more, so it is not told.
		b.do(chromedp.Evaluate[chromedp.Void](`{
		  const real = fetch;
		  window.fetch = (to, how) => how?.headers?.Accept === "text/html" ? Promise.reject(new Error("away")) : real(to, how);
		}`))
		if _, err := d.Decide(t.Context(), approval.Tap{Token: token(approval.ID(id)+"-1", id, row.choice), By: ada, Channel: "telegram"}); err != nil {
			t.Fatal(err)
		}
		b.do(chromedp.Evaluate[chromedp.Void](typed(form)))
		b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("`+form+` button").click()`), see("#notice .notice.late"))
		if got := b.text("#notice"); !strings.Contains(got, row.says) || strings.Contains(got, "words go to the agent") {
			t.Errorf("%s: the notice says %q", id, got)
		}
		if got := get(b, chromedp.Evaluate[string](`document.querySelector("`+at+` .unsent textarea")?.value ?? ""`)); got != "Use the other folder" {
			t.Errorf("%s: the words became %q", id, got)
		}
		decided, err := d.Find(t.Context(), string(id)+"-1")
		if err != nil || decided.Approvals[0].Decision.Choice != row.choice || decided.Approvals[0].Decision.Words != "" {
			t.Errorf("%s: %+v, %v", id, decided.Approvals[0].Decision, err)
		}
	}
}

// typed unfolds a form for words, and fills it in.
func typed(form string) string {
	return fmt.Sprintf(`{ const say = document.querySelector(%q); say.open = true; say.querySelector("textarea").value = "Use the other folder"; }`, form)
}

// TestBrowserSentWordsAreNotCalledUnsent checks that a page which hears of the change that its own answer
// made before the answer comes back does not call the words unsent.
func TestBrowserSentWordsAreNotCalledUnsent(t *testing.T) {
	t.Parallel()
	b, d, base := entered(t)
	d.open("firstone", proposal("make one"))
	b.do(chromedp.Navigate(base+"/inbox/ask/firstone"), see(".live.on"), see("#ask-firstone .deny"))
	// The answer is held back until the page has looked at the change, if it looks.
	b.do(chromedp.Evaluate[chromedp.Void](`{
	  const real = fetch, later = setTimeout, gets = [];
	  let looked;
	  const look = new Promise((done) => { looked = done; });
	  window.fetch = async (to, how) => {
	    const answer = real(to, how);
	    if (how?.method === "POST") { await answer; await look; } else gets.push(answer);
	    return answer;
	  };
	  window.setTimeout = (f, ms, ...rest) => f.name !== "refresh" ? later(f, ms, ...rest)
	    : later(() => { f(); Promise.allSettled(gets).then(() => later(looked, 0)); }, 0);
	}`))
	b.do(chromedp.Evaluate[chromedp.Void](typed("[id^=say-firstone]")))
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("[id^=say-firstone] button").click()`), see("#notice .notice"))
	if got := b.text("#notice"); !strings.Contains(got, "Your words go to the agent.") {
		t.Errorf("the notice says %q", got)
	}
	if got := get(b, chromedp.Evaluate[int](`document.querySelectorAll(".unsent").length`)); got != 0 {
		t.Error("the words that were sent are called unsent")
	}
	b.do(see("#ask-firstone .badge.no"))
}
