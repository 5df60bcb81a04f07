package slack_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/slack/slacktest"
)

// findings returns what the doctor finds about a subject, with the grades.
func findings(all []approval.Finding, subject string) string {
	var b strings.Builder
	for _, f := range all {
		if f.Subject == subject {
			b.WriteString(string(f.Grade) + ": " + f.Text + " " + f.Remedy + "\n")
		}
	}
	return b.String()
}

// TestExamineOverHTTP checks what the doctor says about HTTP deliveries: none at all,
// commands without presses, presses, somebody else's requests, and requests of another
// time.
func TestExamineOverHTTP(t *testing.T) {
	const (
		command = "command=%2Fvaglio"
		forged  = "ffffffffffffffffffffffffffffffff"
	)
	press := "payload=" + url.QueryEscape(`{"type":"block_actions","user":{"id":"U1"},"actions":[]}`)
	type delivery struct {
		body, secret string
		off          time.Duration
	}
	for name, c := range map[string]struct {
		came  []delivery
		alone bool
		want  []string
	}{
		"Nothing":   {nil, false, []string{"note: No request of Slack's came"}},
		"NoDaemon":  {nil, true, []string{"unseen: Slack delivers them by HTTP"}},
		"NoPresses": {[]delivery{{command, slacktest.SigningSecret, 0}}, false, []string{"note: Slack delivers commands and events, the last at 00:00:05", "Interactivity is off"}},
		"Presses":   {[]delivery{{command, slacktest.SigningSecret, 0}, {press, slacktest.SigningSecret, 0}}, false, []string{"ok: Slack delivers them, the last at 00:00:06."}},
		"Forged": {[]delivery{{press, slacktest.SigningSecret, 0}, {press, forged, 0}, {press, forged, 0}}, false, []string{
			"problem: The last request, at 00:00:07, was not signed with the app's secret; so were 2", "METNOS_SLACK_SIGNING_SECRET",
		}},
		"ForgedBefore": {[]delivery{{press, forged, 0}, {press, slacktest.SigningSecret, 0}}, false, []string{
			"ok: Slack delivers them", "note: 1 requests that Slack did not sign were refused since the daemon started, the last at 00:00:05.",
		}},
		"Late": {[]delivery{{press, slacktest.SigningSecret, -7 * time.Minute}}, false, []string{
			"problem: The last request, at 00:00:05, was signed by Slack 7m0s off by this machine's clock", "Let the system keep its time",
		}},
		"Early":         {[]delivery{{press, slacktest.SigningSecret, 7 * time.Minute}}, false, []string{"problem: The last request, at 00:00:05, was signed by Slack 7m0s off"}},
		"LateAndForged": {[]delivery{{press, forged, -7 * time.Minute}}, false, []string{"problem: The last request, at 00:00:05, was not signed with the app's secret; so were 1"}},
		"LateBefore":    {[]delivery{{press, slacktest.SigningSecret, -7 * time.Minute}, {press, slacktest.SigningSecret, 0}}, false, []string{"ok: Slack delivers them"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.config.AppToken, w.config.SigningSecret = "", slacktest.SigningSecret
				w.build()
				w.start()
				defer w.stop()
				for _, d := range c.came {
					r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/slack/x", strings.NewReader(d.body))
					r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
					slacktest.Sign(r, []byte(d.body), d.secret, time.Now().Add(d.off))
					answer := httptest.NewRecorder()
					w.channel.Handler().ServeHTTP(answer, r)
					if ok := d.secret == slacktest.SigningSecret && d.off == 0; ok != (answer.Code == http.StatusOK) {
						t.Errorf("%+v is answered %d", d, answer.Code)
					}
					time.Sleep(time.Second)
				}
				said := findings(w.channel.Examine(t.Context(), c.alone), "slack presses")
				w.wants(said, c.want...)
				if n := strings.Count(said, "\n"); n > 2 || name != "ForgedBefore" && n != 1 {
					t.Errorf("it finds\n%s", said)
				}
			})
		})
	}
}

// atAnotherTime makes the platform's answers claim another time.
type atAnotherTime struct {
	http.RoundTripper
	off time.Duration
}

func (a atAnotherTime) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := a.RoundTripper.RoundTrip(r)
	if err == nil {
		res.Header.Set("Date", time.Now().Add(a.off).UTC().Format(http.TimeFormat))
	}
	return res, err
}

// TestExamineTheClock lets the clock go wrong, in both modes.
func TestExamineTheClock(t *testing.T) {
	for name, c := range map[string]struct {
		off  time.Duration
		http bool
		want string
	}{
		"Right":      {0, true, "ok: This machine's clock agrees with Slack's."},
		"ALittle":    {-2 * time.Minute, true, "note: This machine's clock is 2m0s off Slack's."},
		"TooMuch":    {6 * time.Minute, true, "problem: This machine's clock is 6m0s off Slack's. What Slack signs is refused from five minutes on. Let the system keep its time."},
		"OverSocket": {-6 * time.Minute, false, "note: This machine's clock is 6m0s off Slack's."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				if c.http {
					w.config.AppToken, w.config.SigningSecret = "", slacktest.SigningSecret
				}
				w.config.Client.Transport = atAnotherTime{w.config.Client.Transport, c.off}
				w.build()
				w.wants(findings(w.channel.Examine(t.Context(), true), "slack clock"), c.want)
			})
		})
	}
}
