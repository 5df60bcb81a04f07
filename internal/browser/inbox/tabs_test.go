package web_test

import (
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
