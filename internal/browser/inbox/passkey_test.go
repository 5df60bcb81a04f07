package web_test

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/web"
)

// authenticator gives the browser a virtual authenticator, with somebody at it.
func (b tab) authenticator() {
	b.Helper()
	call(b, webauthn.Enable, webauthn.EnableParams{})
	call(b, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
		Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
		HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
	}})
}

// A real browser registers a passkey on its virtual authenticator, and allows with it once the
// server says that it takes one.
func TestBrowserAllowsWithAPasskey(t *testing.T) {
	t.Parallel()
	b := browser(t)
	d := newDesk()
	d.open("firstone", proposal("make one"))
	voters := approval.Everybody()
	in := newInbox(t, d)
	base := strings.Replace(in.serve(), "127.0.0.1", "localhost", 1)
	b.authenticator()
	b.enter(in, base)
	b.do(chromedp.Navigate(base+"/inbox/passkeys"), see("#passkey-name"), chromedp.SendKeys(chromedp.CSS("#passkey-name"), "YubiKey"))
	b.do(click("form[data-makes-passkey] button"), see("div.notice"))
	if said := b.text("div.notice"); !strings.HasPrefix(said, "The passkey YubiKey is registered") || len(in.web.Passkeys()) != 1 {
		t.Fatalf("the page says %q", said)
	}
	voters.Holder = web.Owner
	d.change(func() { d.voters = &voters })
	b.do(chromedp.Navigate(base+"/inbox?ask=firstone"), see("#live.on"))
	b.clickAllow("#ask-firstone")
	if got := d.state("firstone-1"); got != approval.Allowed || !strings.HasPrefix(b.text("#notice"), "Allowed once, ") {
		t.Errorf("the call is %s, the notice says %q", got, b.text("#notice"))
	}
	if taps := d.tapped(); len(taps) != 2 || taps[0].Passkey || !taps[1].Passkey {
		t.Errorf("it took %+v", taps)
	}
	if used := in.web.Passkeys()[0]; used.Used.IsZero() || used.Host != "localhost" {
		t.Errorf("the passkey is %+v", used)
	}
}
