package web_test

import (
	"context"
	"errors"
	"flag"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	chromium "github.com/metnos/vaglio/internal/browser"
)

// tab is one page of a real browser.
type tab struct {
	*testing.T
	ctx context.Context
}

// browser returns a real browser in an empty home. Without one the test is
// skipped, but not in CI, where it is a failure. A short run has none.
func browser(t *testing.T) tab {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes its time; the plain run has it")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	ctx, end, err := chromium.Start(ctx, t.TempDir())
	if errors.Is(err, chromium.ErrNone) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	b := tab{t, ctx}
	b.do(chromedp.Navigate("about:blank"))
	b.complain()
	return b
}

// complain fails the test on what a page must never do: throw, or ask for what
// its policy refuses.
func (b tab) complain() {
	var wg sync.WaitGroup
	messages := chromedp.Console(b.ctx)
	wg.Go(func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			// An answer of 4xx or 5xx is no fault of the page.
			if (m.IsException() || m.Type == "error") && !strings.Contains(m.String(), "Failed to load resource") {
				b.Errorf("the page complains: %s", m)
			}
		}
	})
	b.Cleanup(func() {
		_ = chromedp.Cancel(b.ctx)
		wg.Wait()
	})
}

func (b tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.Fatal(err)
	}
}

// get runs an action for its value.
func get[T any](b tab, a chromedp.Action[T]) T {
	b.Helper()
	v, err := chromedp.Run(b.ctx, a)
	if err != nil {
		b.Fatal(err)
	}
	return v
}

// call sends one command of the protocol.
func call[P, R any](b tab, c cdp.Command[P, R], p P) R {
	b.Helper()
	v, err := chromedp.Call(b.ctx, c, p)
	if err != nil {
		b.Fatal(err)
	}
	return v
}

// see waits until the selector matches something in sight.
func see(sel string) chromedp.Action[chromedp.Void] { return chromedp.WaitVisible(chromedp.CSS(sel)) }

// click presses what the selector matches with the mouse. A live page may put another
// element in its place while that is looked for; then it is looked for again.
func click(sel string) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		for {
			v, err := chromedp.Click(chromedp.CSS(sel))(ctx, t)
			if err == nil || !strings.Contains(err.Error(), "(-32000)") {
				return v, err
			}
		}
	}
}

// shoot keeps a picture of the whole page for people to look at, when they want
// them: go test -artifacts. It takes most of the time of these tests.
func (b tab) shoot(name string) {
	b.Helper()
	if wanted := flag.Lookup("test.artifacts"); wanted == nil || wanted.Value.String() != "true" {
		return
	}
	png := get(b, chromedp.FullScreenshot(100))
	if err := os.WriteFile(filepath.Join(b.ArtifactDir(), name+".png"), png, 0o600); err != nil {
		b.Fatal(err)
	}
}

func (b tab) scheme(name string) {
	b.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
	})
}

// serve serves the inbox on a real port and returns its address.
func (in *inbox) serve() string {
	in.Helper()
	s := httptest.NewServer(in.h)
	in.Cleanup(func() {
		in.web.Stop()
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

// enter signs the browser in by the printed link, as a person does, and waits for the
// inbox: the page of the link has a footer too, where somebody is signed in.
func (b tab) enter(in *inbox, base string) {
	b.Helper()
	b.do(
		chromedp.Navigate(in.web.LoginLink(base)), chromedp.SendKeys(chromedp.CSS(`form[action="/inbox/login"] button`), kb.Enter),
		see("#split"), see("#live"),
	)
}
