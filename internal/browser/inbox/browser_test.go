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

// tab is a page in a real browser.
type tab struct {
	*testing.T
	ctx context.Context
}

// browser returns a real browser with an empty profile. Without a browser, the test is skipped,
// except in CI, where it fails.
func browser(t *testing.T) tab {
	t.Helper()
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

// complain fails the test if the page does what it never must: throw, or request what its policy
// refuses.
func (b tab) complain() {
	var wg sync.WaitGroup
	messages := chromedp.Console(b.ctx)
	wg.Go(func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			// A 4xx or 5xx response is not the page's fault.
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

// get runs an action and returns its value.
func get[T any](b tab, a chromedp.Action[T]) T {
	b.Helper()
	v, err := chromedp.Run(b.ctx, a)
	if err != nil {
		b.Fatal(err)
	}
	return v
}

// call sends one command of the DevTools protocol.
func call[P, R any](b tab, c cdp.Command[P, R], p P) R {
	b.Helper()
	v, err := chromedp.Call(b.ctx, c, p)
	if err != nil {
		b.Fatal(err)
	}
	return v
}

// see waits until the selector matches something visible.
func see(sel string) chromedp.Action[chromedp.Void] { return chromedp.WaitVisible(chromedp.CSS(sel)) }

func click(sel string) chromedp.Action[chromedp.Void] {
	return again(chromedp.Click(chromedp.CSS(sel)))
}

// again repeats an action on an element for as long as a live page replaces the element during the
// search.
func again[T any](action chromedp.Action[T]) chromedp.Action[T] {
	return func(ctx context.Context, t *chromedp.Target) (T, error) {
		for {
			v, err := action(ctx, t)
			if err == nil || !strings.Contains(err.Error(), "(-32000)") {
				return v, err
			}
		}
	}
}

// shoot stores a picture of the whole page if the test runs with -artifacts. Pictures take most of
// the time of these tests.
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
	call(b, emulation.SetEmulatedMedia, scheme(name))
}

// scheme has a page show itself in light or in dark.
func scheme(name string) emulation.SetEmulatedMediaParams {
	return emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
	}
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

// enter signs the browser in with the printed link, as a person does, and waits for the inbox. It
// must not take the link's page for the inbox, because both have a footer.
func (b tab) enter(in *inbox, base string) {
	b.Helper()
	b.do(
		chromedp.Navigate(in.web.LoginLink(base)), chromedp.SendKeys(chromedp.CSS(`form[action="/inbox/login"] button`), kb.Enter),
		see("#split"), see("#live"),
	)
}

// entered returns a browser in which the owner of an empty inbox has signed in, its desk and its address.
func entered(t *testing.T) (tab, *desk, string) {
	t.Helper()
	b, d := browser(t), newDesk()
	in := newInbox(t, d)
	base := in.serve()
	b.enter(in, base)
	return b, d, base
}
