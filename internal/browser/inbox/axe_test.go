package web_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// axed runs axe-core on the current page, and gives what it finds as text. It waits for the frame
// after a change of the page's size, in which the page learns of it.
const axed = `new Promise(requestAnimationFrame).then(() => new Promise(requestAnimationFrame))
  .then(() => axe.run(document, { resultTypes: ["violations"] })).then((found) =>
  found.violations.map((v) => v.id + ": " + v.help + "\n" + v.nodes.map((n) => "    " + n.target.join(" ") + "\n      " + n.failureSummary.replace(/\n\s*/g, " ")).join("\n")).join("\n"))`

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
						if n++; n%2 != half {
							continue
						}
						found, err := b.axe(string(source), base+p, looks(lang))
						if err != nil {
							t.Logf("%s %s: %v; a new browser looks again", s.name, p, err)
							b = browser(t)
							b.speak(lang)
							b.enter(in, base)
							found, err = b.axe(string(source), base+p, looks(lang))
						}
						if err != nil || found != "" {
							t.Errorf("%s %s: %v %s", s.name, p, err, found)
						}
					}
				}
			})
		}
	}
}

// axe loads a page, runs axe-core on it in each of the looks, and returns what was found. An error
// says nothing about the page: its browser did not answer.
func (b tab) axe(source, address string, looks []look) (string, error) {
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	var found []string
	if err := chromedp.Do(ctx, chromedp.Navigate(address), see("#main")); err != nil {
		return "", err
	}
	for _, at := range looks {
		over, err := find(ctx, at, chromedp.Evaluate[string](overlaid))
		if err != nil {
			return "", err
		}
		if over != "" {
			found = append(found, fmt.Sprintf("%d wide: these lie over each other: %s", at.width, over))
		}
	}
	if err := chromedp.Do(ctx, unfold, chromedp.Evaluate[chromedp.Void](source)); err != nil {
		return "", err
	}
	for _, at := range looks {
		violations, err := find(ctx, at, chromedp.Evaluate[string](axed, chromedp.EvalAwaitPromise))
		if err != nil {
			return "", err
		}
		if violations != "" {
			found = append(found, fmt.Sprintf("%s, %d wide:\n%s", at.scheme, at.width, violations))
		}
	}
	return strings.Join(found, "\n"), nil
}

// find gives the page one of its looks, and returns what a search on it says.
func find(ctx context.Context, at look, search chromedp.Action[string]) (string, error) {
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, scheme(at.scheme)); err != nil {
		return "", err
	}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(at.width, 844)); err != nil {
		return "", err
	}
	return chromedp.Run(ctx, search)
}

// unfold opens everything that is folded.
var unfold = chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details").forEach((d) => { d.open = true; })`)

// everyPage returns the addresses of all pages, with everything they may show.
func everyPage() []string {
	return append(pages(), "/inbox?ask=longcall", "/inbox/digest", "/inbox/nothing")
}
