package web_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// axed runs axe-core on the current page, and stores what it finds as text.
const axed = `axe.run(document, { resultTypes: ["violations"] }).then((found) => {
  window.axed = found.violations.map((v) => v.id + ": " + v.help + "\n" + v.nodes.map((n) => "    " + n.target.join(" ") + "\n      " + n.failureSummary.replace(/\n\s*/g, " ")).join("\n")).join("\n") || "nothing";
}, (error) => { window.axed = String(error); })`

// TestBrowserAxe runs axe-core on every page in light and dark and in both languages, on a phone or
// on a desktop, and on every other scene in one of these variants, with everything unfolded: it
// must find nothing. If axe-core is not installed (make axe), the test is skipped, except in CI.
func TestBrowserAxe(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(filepath.Join("..", "axe", "node_modules", "axe-core", "axe.min.js"))
	if err != nil && os.Getenv("CI") != "true" {
		t.Skip("axe-core is not installed: make axe")
	}
	if err != nil {
		t.Fatal(err)
	}
	for n, at := range []struct {
		lang, look string
		width      int64
	}{{"en", "light", 390}, {"it", "dark", 390}, {"it", "light", 1280}, {"en", "dark", 1280}} {
		t.Run(at.lang+" "+at.look, func(t *testing.T) {
			t.Parallel()
			b := browser(t)
			b.speak(at.lang)
			b.scheme(at.look)
			for i, s := range scenes(t) {
				if i > 0 && i%4 != n {
					continue // Each page is checked in one variant, the first page in all.
				}
				in := newInbox(t, s.desk)
				base := in.serve()
				b.enter(in, base)
				b.do(chromedp.EmulateViewport(at.width, 844))
				for _, p := range s.pages {
					b.do(chromedp.Navigate(base+p), see("#main"), unfold)
					b.do(chromedp.Evaluate[chromedp.Void](string(source)), chromedp.Evaluate[chromedp.Void](axed), until(`window.axed`))
					if found := get(b, chromedp.Evaluate[string](`window.axed`)); found != "nothing" {
						t.Errorf("%s %s:\n%s", s.name, p, found)
					}
				}
			}
		})
	}
}

// unfold opens everything that is folded.
var unfold = chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details").forEach((d) => { d.open = true; })`)

// everyPage returns the addresses of all pages, with everything they may show.
func everyPage() []string {
	return append(pages(), "/inbox?ask=longcall", "/inbox/digest", "/inbox/nothing")
}
