// Package browser starts a real browser, for tests that look at pages as people do.
package browser

import (
	"context"
	"errors"
	"os/exec"

	"github.com/chromedp/chromedp"
)

// ErrNone means that Chromium was not found on this machine.
var ErrNone = errors.New("no Chromium was found: install the package chromium")

// Path returns the path of Chromium, or [ErrNone].
func Path() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrNone
}

// Start starts Chromium headless, with a new profile in the folder home and without background
// traffic. It returns the context of a page, and a function that closes the browser.
func Start(ctx context.Context, home string) (context.Context, context.CancelFunc, error) {
	path, err := Path()
	if err != nil {
		return nil, nil, err
	}
	ctx, end := chromedp.NewExecAllocator(
		ctx, chromedp.ExecPath(path), chromedp.UserDataDir(home),
		chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("hide-scrollbars", true), chromedp.WindowSize(1280, 1000),
	)
	page, leave := chromedp.NewContext(ctx)
	return page, func() { leave(); end() }, nil
}
