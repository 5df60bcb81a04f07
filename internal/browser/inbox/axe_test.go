package web_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"
)

// axed runs axe-core on the current page, and stores what it finds as text. It waits for the frame
// after a change of the page's size, in which the page learns of it.
const axed = `window.axed = "";
new Promise(requestAnimationFrame).then(() => new Promise(requestAnimationFrame))
  .then(() => axe.run(document, { resultTypes: ["violations"] })).then((found) => {
  window.axed = found.violations.map((v) => v.id + ": " + v.help + "\n" + v.nodes.map((n) => "    " + n.target.join(" ") + "\n      " + n.failureSummary.replace(/\n\s*/g, " ")).join("\n")).join("\n") || "nothing";
}, (error) => { window.axed = String(error); })`

// overlaid lists the answers that lie over another one.
const overlaid = `[...document.querySelectorAll(".actions")].flatMap((actions) => {
  const all = [...actions.querySelectorAll("button, summary")].filter((e) => e.offsetParent).map((e) => [e.textContent.trim(), e.getBoundingClientRect()]);
  const over = (p, q) => p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 1 && q.top < p.bottom - 1;
  return all.flatMap(([one, p], i) => all.slice(i + 1).filter(([, q]) => over(p, q)).map(([other]) => one + " / " + other));
}).join("; ")`

// looks are the ways in which each page is looked at, by language: together both themes, on a phone
// and on a desktop.
func looks(lang string) []look {
	if lang == "en" {
		return []look{{"light", 390}, {"dark", 1280}}
	}
	return []look{{"dark", 390}, {"light", 1280}}
}

// look is a theme and a width.
type look struct {
	scheme string
	width  int64
}

// TestBrowserAxe runs axe-core on every page in both languages, and in each of them in light and in
// dark, with everything unfolded: it must find nothing. Before that, no answer may lie over another
// one. A page is loaded once in each language: its theme and its width change where it stands. If
// axe-core is not installed (make axe), the test is skipped, except in CI.
func TestBrowserAxe(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(filepath.Join("..", "axe", "node_modules", "axe-core", "axe.min.js"))
	if err != nil && os.Getenv("CI") != "true" {
		t.Skip("axe-core is not installed: make axe")
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, lang := range []string{"en", "it"} {
		for half := range 2 {
			t.Run(lang+" "+strconv.Itoa(half), func(t *testing.T) {
				t.Parallel()
				b := browser(t)
				b.speak(lang)
				n := 0
				for _, s := range scenes(t) {
					in := newInbox(t, s.desk)
					base := in.serve()
					b.enter(in, base)
					for _, p := range s.pages {
						if n++; n%2 == half {
							b.axe(string(source), base+p, s.name+" "+p, looks(lang))
						}
					}
				}
			})
		}
	}
}

// axe loads a page, and runs axe-core on it in each of the looks.
func (b tab) axe(source, address, name string, looks []look) {
	b.Helper()
	b.do(chromedp.Navigate(address), see("#main"))
	for _, at := range looks {
		b.do(chromedp.EmulateViewport(at.width, 844))
		if found := get(b, chromedp.Evaluate[string](overlaid)); found != "" {
			b.Errorf("%s, %d wide: these lie over each other: %s", name, at.width, found)
		}
	}
	b.do(unfold, chromedp.Evaluate[chromedp.Void](source))
	for _, at := range looks {
		b.scheme(at.scheme)
		b.do(chromedp.EmulateViewport(at.width, 844), chromedp.Evaluate[chromedp.Void](axed), until(`window.axed`))
		if found := get(b, chromedp.Evaluate[string](`window.axed`)); found != "nothing" {
			b.Errorf("%s, %s, %d wide:\n%s", name, at.scheme, at.width, found)
		}
	}
}

// unfold opens everything that is folded.
var unfold = chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details").forEach((d) => { d.open = true; })`)

// everyPage returns the addresses of all pages, with everything they may show.
func everyPage() []string {
	return append(pages(), "/inbox?ask=longcall", "/inbox/digest", "/inbox/nothing")
}
