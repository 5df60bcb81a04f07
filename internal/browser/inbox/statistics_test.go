package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The statistics page fits a phone and a desktop, in light and dark and in both languages, when
// empty and with ten thousand calls.
func TestBrowserStatistics(t *testing.T) {
	t.Parallel()
	b := browser(t)
	for name, d := range map[string]*desk{"none": newDesk(), "busy": busy(10_000, 30)} {
		for _, lang := range []string{"en", "it"} {
			c := config(d)
			in := inboxOf(t, d, c)
			base := in.serve()
			b.speak(lang)
			b.enter(in, base)
			b.fitsEverywhere(base+"/inbox/statistics?days=30", see(".range summary"), fmt.Sprintf("statistics-%s-%s", name, lang))
		}
	}
}

// fitsEverywhere checks a page of charts in light and dark, on a small phone, a phone and a
// desktop: it is no wider than the screen, and its charts stand out.
func (b tab) fitsEverywhere(url string, ready chromedp.Action[chromedp.Void], name string) {
	b.Helper()
	for _, look := range []string{"light", "dark"} {
		b.scheme(look)
		for _, width := range []int64{320, 360, 1100} {
			b.do(chromedp.EmulateViewport(width, 800), chromedp.Navigate(url), ready)
			if over := get(b, chromedp.Evaluate[int](`document.documentElement.scrollWidth - document.documentElement.clientWidth`)); over > 0 {
				b.Errorf("%s is %d pixels too wide at width %d", name, over, width)
			}
			if faint := get(b, chromedp.Evaluate[string](contrastOfCharts)); faint != "" {
				b.Errorf("%s %s: %s", name, look, faint)
			}
			if width != 320 {
				b.shoot(fmt.Sprintf("%s-%d-%s", name, width, look))
			}
		}
	}
}

// speak sets the browser's preferred language.
func (b tab) speak(lang string) {
	b.Helper()
	call(b, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": lang}})
}

// contrastOfCharts returns the parts of a chart whose contrast with the page is below 3 to 1, for
// text below 4.5.
const contrastOfCharts = `(() => {
  const light = (c) => {
    const [r, g, b] = c.match(/[\d.]+/g).map((n) => { const v = n / 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const bad = new Set();
  for (const chart of document.querySelectorAll(".chart")) {
    const back = light(getComputedStyle(chart.closest(".pair")).backgroundColor);
    for (const el of chart.querySelectorAll("rect:not(.chart-paper), text")) {
      const least = el.localName === "text" ? 4.5 : 3;
      if (ratio(light(getComputedStyle(el).fill), back) < least) bad.add(el.getAttribute("class"));
    }
  }
  return [...bad].join();
})()`

// On a phone, the days that people seldom type wait behind a word, and the figures stand on the first
// screen. A range of one's own is unfolded.
func TestBrowserStatisticsFoldDays(t *testing.T) {
	t.Parallel()
	b := browser(t)
	in := newInbox(t, busy(500, 20))
	base := in.serve()
	b.enter(in, base)
	b.do(chromedp.EmulateViewport(390, 844), chromedp.Navigate(base+"/inbox/statistics"), see(".range summary"))
	for _, lang := range []string{"en", "it"} {
		b.speak(lang)
		b.do(chromedp.Navigate(base+"/inbox/statistics"), see(".range summary"))
		if got := get(b, chromedp.Evaluate[bool](`document.querySelector("#r-from").checkVisibility()`)); got {
			t.Errorf("%s: the days are unfolded", lang)
		}
		if end := get(b, chromedp.Evaluate[float64](`document.querySelector(".figures div").getBoundingClientRect().bottom`)); end > 844 {
			t.Errorf("%s: the first figure ends at %.0f", lang, end)
		}
		b.shoot("statistics-folded-" + lang)
	}
	b.do(chromedp.Navigate(base+"/inbox/statistics?from=2020-01-01&to=2020-01-02"), see("#r-from"), see("#r-to"))
}

// The keyboard alone suffices to choose a range, open a table and reach the calls behind a number.
// What happens meanwhile is not counted again.
func TestBrowserStatisticsByKeyboard(t *testing.T) {
	t.Parallel()
	b := browser(t)
	d := busy(500, 20)
	in := newInbox(t, d)
	base := in.serve()
	b.enter(in, base)
	tab := func(until string) {
		t.Helper()
		for range 60 {
			b.do(chromedp.KeyEvent(kb.Tab))
			if strings.HasPrefix(b.focus(), until) {
				return
			}
		}
		t.Fatalf("the key Tab does not come to %q", until)
	}
	tab("Statistics")
	b.do(chromedp.KeyEvent(kb.Enter), see(".range summary"), see("#live.on"))
	tab("30 days")
	b.do(chromedp.KeyEvent(kb.Enter), see(`a[href$="days=30"][aria-current]`), see("#live.on"))
	tab("Other days")
	b.do(chromedp.KeyEvent(kb.Enter), see("#r-from"))
	tab("In numbers: Verdicts over time")
	b.do(chromedp.KeyEvent(kb.Enter), until(`document.activeElement.parentElement.open`))
	tab("When") // The table can be scrolled.
	before := func() int {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.readings
	}
	n := before()
	d.open("meanwhil", proposal("make"))
	b.do(until(`document.title.startsWith("(") && document.title.endsWith("Statistics · vaglio")`), until(`document.querySelector("#nav-count").textContent.includes("waiting")`))
	if before() != n {
		t.Error("a change let the statistics be read again")
	}
	if got := b.text("#live-text"); got != "Reload the page to see what is new." {
		t.Errorf("the page says %q", got)
	}
	tab("git_push")
	b.do(chromedp.KeyEvent(kb.Enter), see("#f-executor"))
	if got := get(b, chromedp.Evaluate[string](`document.querySelector("#f-executor").value`)); got == "" {
		t.Error("the history is not filtered")
	}
	// A wrong range keeps the form's values, and the error is announced with its field.
	b.do(chromedp.Navigate(base+"/inbox/statistics?from=yesterday&to=2020-01-01"), see("#mistake"))
	if got := get(b, chromedp.Evaluate[string](`document.querySelector("#r-from").value + " " + document.querySelector("#r-to").value`)); got != "yesterday 2020-01-01" {
		t.Errorf("the form shows %q", got)
	}
	b.shoot("statistics-mistake")
}
