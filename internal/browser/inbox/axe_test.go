package web_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// axed runs axe-core on the page as it stands, and leaves what it finds in words.
const axed = `axe.run(document, { resultTypes: ["violations"] }).then((found) => {
  window.axed = found.violations.map((v) => v.id + ": " + v.help + "\n" + v.nodes.map((n) => "    " + n.target.join(" ") + "\n      " + n.failureSummary.replace(/\n\s*/g, " ")).join("\n")).join("\n") || "nothing";
}, (error) => { window.axed = String(error); })`

// TestBrowserAxe lets axe-core look at every page, light and dark, in both languages, and
// each of these on a phone or on a desk: it finds nothing. Where axe-core is not installed (make axe) the
// test is skipped, but not in CI.
func TestBrowserAxe(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(filepath.Join("..", "axe", "node_modules", "axe-core", "axe.min.js"))
	if err != nil && os.Getenv("CI") != "true" {
		t.Skip("axe-core is not installed: make axe")
	}
	if err != nil {
		t.Fatal(err)
	}
	for lang, widths := range map[string]map[string]int64{"en": {"light": 390, "dark": 1280}, "it": {"light": 1280, "dark": 390}} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			b := browser(t)
			d := full()
			d.open("longcall", proposal(script()))
			in := newInbox(t, d)
			base := in.serve()
			b.speak(lang)
			b.enter(in, base)
			for look, width := range widths {
				b.scheme(look)
				b.do(chromedp.EmulateViewport(width, 844))
				for _, p := range everyPage() {
					b.do(chromedp.Navigate(base+p), see("#main"))
					b.do(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details").forEach((d) => { d.open = true; })`))
					b.do(chromedp.Evaluate[chromedp.Void](string(source)), chromedp.Evaluate[chromedp.Void](axed), until(`window.axed`))
					if found := get(b, chromedp.Evaluate[string](`window.axed`)); found != "nothing" {
						t.Errorf("%s, %s, %d wide:\n%s", p, look, width, found)
					}
				}
			}
		})
	}
}

// everyPage are the addresses of all pages, with what they may show.
func everyPage() []string {
	return append(pages(), "/inbox?ask=longcall", "/inbox/digest", "/inbox/nothing")
}
