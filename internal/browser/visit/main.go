// Command visit performs one action of a person in a real browser. It serves tests of programs
// that cannot link the browser's packages.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/metnos/vaglio/internal/browser"
)

// noBrowser is the exit code if the machine has no Chromium.
const noBrowser = 3

// patience bounds the wait for a page that has loaded.
const patience = time.Minute

const usage = `usage: visit find                            says where Chromium is; exit code 3 where it is not
       visit -home FOLDER allow LINK         signs in by the link, and allows the card that waits
       visit -home FOLDER passkey LINK       signs in by the link, registers a passkey, and allows with it the card that waits
       visit -home FOLDER draw PAGE PICTURE  writes what of the file PAGE is in #chat, as a PNG
`

func main() {
	home := flag.String("home", "", "the empty folder of the browser's profile")
	flag.Usage = func() { _, _ = io.WriteString(flag.CommandLine.Output(), usage) } // There is nobody left to tell about an error.
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	err := run(ctx, *home, flag.Args(), os.Stdout)
	stop()
	switch {
	case errors.Is(err, browser.ErrNone):
		fmt.Fprintln(os.Stderr, err)
		os.Exit(noBrowser)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, home string, args []string, out io.Writer) error {
	if len(args) == 1 && args[0] == "find" {
		path, err := browser.Path()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(out, path)
		return err
	}
	visits := map[string]func(context.Context, []string) error{"allow": allow, "passkey": passkey, "draw": draw}
	operands := map[string]int{"allow": 1, "passkey": 1, "draw": 2}
	if len(args) == 0 || visits[args[0]] == nil || len(args)-1 != operands[args[0]] || home == "" {
		flag.Usage()
		return fmt.Errorf("none of these is %q", args)
	}
	page, end, err := browser.Start(ctx, home)
	if err != nil {
		return err
	}
	defer end()
	return visits[args[0]](page, args[1:])
}

// allow signs in with a link and allows the one card, as soon as it is there.
func allow(page context.Context, args []string) error {
	if err := chromedp.Do(page, chromedp.Navigate(args[0])); err != nil {
		return err
	}
	return within(page, append([]chromedp.Action[chromedp.Void]{signIn()}, press()...))
}

// passkey does the same as allow with a passkey, which it first registers on a virtual
// authenticator of the browser.
func passkey(page context.Context, args []string) error {
	inbox, err := url.Parse(args[0])
	if err != nil {
		return err
	}
	if err := chromedp.Do(page, chromedp.Navigate(args[0])); err != nil {
		return err
	}
	if _, err := chromedp.Call(page, webauthn.Enable, webauthn.EnableParams{}); err != nil {
		return err
	}
	if _, err := chromedp.Call(page, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
		Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
		HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
	}}); err != nil {
		return err
	}
	inbox.Path, inbox.RawQuery = "/inbox", ""
	return within(page, append([]chromedp.Action[chromedp.Void]{
		signIn(), chromedp.WaitVisible(chromedp.CSS("#live")),
		chromedp.Navigate(inbox.String() + "/passkeys"), chromedp.SendKeys(chromedp.CSS("#passkey-name"), "Laptop"),
		chromedp.Click(chromedp.CSS("form[data-makes-passkey] button")), chromedp.WaitVisible(chromedp.CSS("div.notice")),
		chromedp.Navigate(inbox.String()),
	}, press()...))
}

// signIn presses the button on a link's page.
func signIn() chromedp.Action[chromedp.Void] {
	return chromedp.Click(chromedp.CSS(`form[action="/inbox/login"] button`))
}

// press allows the card.
func press() []chromedp.Action[chromedp.Void] {
	// The button works once the page has noticed that the whole call is visible.
	button := chromedp.CSS(`button[data-choice="allow"]:not([data-unread])`)
	// Right after a card appears, the page ignores mouse clicks, which may have been meant for
	// what was there before. It does not ignore keys.
	return []chromedp.Action[chromedp.Void]{chromedp.WaitVisible(button), chromedp.SendKeys(button, kb.Enter), chromedp.WaitNotPresent(button)}
}

// within runs the steps, and says where one failed.
func within(page context.Context, steps []chromedp.Action[chromedp.Void]) error {
	soon, cancel := context.WithTimeout(page, patience)
	defer cancel()
	err := chromedp.Do(soon, steps...)
	if err == nil {
		return nil
	}
	// The page may still be able to tell where it failed.
	text, _ := chromedp.Run(page, chromedp.Evaluate[string]("location.href + document.body.innerText"))
	return fmt.Errorf("%w\n%s", err, text)
}

// draw writes a picture of the element #chat in a file.
func draw(page context.Context, args []string) error {
	source, err := filepath.Abs(args[0])
	if err != nil {
		return err
	}
	if err := chromedp.Do(page, chromedp.Navigate((&url.URL{Scheme: "file", Path: source}).String())); err != nil {
		return err
	}
	const scale = 1.5
	picture, err := chromedp.Run(page, chromedp.ScreenshotScale(chromedp.CSS("#chat"), scale))
	if err != nil {
		return err
	}
	return os.WriteFile(args[1], picture, 0o600)
}
