package web_test

import (
	"context"
	"fmt"
	"net/url"
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
	source := axeCore(t)
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
						found, err := b.axe(source, base+p, looks(lang))
						if err != nil {
							t.Logf("%s %s: %v; a new browser looks again", s.name, p, err)
							b = browser(t)
							b.speak(lang)
							b.enter(in, base)
							found, err = b.axe(source, base+p, looks(lang))
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

// axeCore returns axe-core's source. If it is not installed, the test is skipped, except in CI.
func axeCore(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("..", "axe", "node_modules", "axe-core", "axe.min.js"))
	if err != nil && os.Getenv("CI") != "true" {
		t.Skip("axe-core is not installed: make axe")
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

// TestBrowserAxeOfForms does the same on what has no address: an edit before it is made, in both
// languages, and the list of passkeys with one on it.
func TestBrowserAxeOfForms(t *testing.T) {
	t.Parallel()
	source := axeCore(t)
	for _, lang := range []string{"en", "it"} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			b := browser(t)
			b.speak(lang)
			in := newInbox(t, full())
			base := strings.Replace(in.serve(), "127.0.0.1", "localhost", 1) // passkeys take a name
			b.authenticator()
			b.enter(in, base)
			clean := func(what string) {
				t.Helper()
				ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
				defer cancel()
				if found, err := examine(ctx, source, looks(lang)); err != nil || found != "" {
					t.Errorf("%s: %v %s", what, err, found)
				}
			}
			b.do(chromedp.Navigate(base+"/inbox/edit/rmbuild1-1"), see("#edits-0"), chromedp.SendKeys(chromedp.CSS("#edits-0"), "/old"))
			b.do(click("#main form button"), see("#main pre.args"))
			clean("an edit before it is made")
			b.do(chromedp.Navigate(base+"/inbox/passkeys"), see("#passkey-name"), chromedp.SendKeys(chromedp.CSS("#passkey-name"), "YubiKey"))
			b.do(click("form[data-makes-passkey] button"), see("div.notice"))
			clean("the list of passkeys")
		})
	}
}

// axe loads a page, runs axe-core on it in each of the looks, and returns what was found. An error
// says nothing about the page: its browser did not answer.
func (b tab) axe(source, address string, looks []look) (string, error) {
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(address), see("#main")); err != nil {
		return "", err
	}
	return examine(ctx, source, looks)
}

// examine does what [tab.axe] does on the page that is there.
func examine(ctx context.Context, source string, looks []look) (string, error) {
	var found []string
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
	return append(pages(), "/inbox?ask=longcall", "/inbox?ask=byagent", "/inbox/judgement/"+url.PathEscape(judgement), "/inbox/digest", "/inbox/passkeys", "/inbox/edit/rmbuild1-1",
		// What went wrong:
		"/inbox/nothing", "/inbox/ask/nothing", "/inbox/judgement/none", "/inbox/history?outcome=x", "/inbox/digest?date=x")
}
