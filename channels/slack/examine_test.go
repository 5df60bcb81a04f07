package slack_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/channeltest"
	"github.com/metnos/vaglio/channels/slack"
	"github.com/metnos/vaglio/channels/slack/slacktest"
)

// wrong returns the problems among the findings, as "subject: text → remedy".
func wrong(t *testing.T, all []approval.Finding) []string {
	t.Helper()
	return channeltest.Wrong(t, all, "MustNotLeak", slacktest.SigningSecret)
}

func TestExamine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		arrange func(w *world)
		// running reports that the app runs during the examination.
		running bool
		want    []string
	}{
		"Well":         {},
		"WellRunning":  {running: true},
		"OverHTTP":     {arrange: func(w *world) { w.config.AppToken, w.config.SigningSecret = "", slacktest.SigningSecret }, running: true},
		"TokenRevoked": {func(w *world) { w.server.Revoke("token_revoked") }, false, []string{"slack token: Slack refuses the app's token. → Take the current token"}},
		"Unreachable":  {func(w *world) { w.server.Stop() }, false, []string{"slack token: Slack cannot be reached: slack: auth.test: "}},
		"Down": {func(w *world) { w.server.Fail("auth.test", 1, slacktest.Fault{Code: 503}) }, false, []string{
			"slack token: Slack answers with errors: ",
		}},
		"Proxy": {func(w *world) { w.server.Fail("auth.test", 1, slacktest.Fault{Code: 403, Body: "<html>"}) }, false, []string{
			"slack token: Slack gave an unexpected answer: ",
		}},
		"Pause": {func(w *world) {
			w.server.Fail("auth.test", 1, slacktest.Fault{Code: http.StatusTooManyRequests, RetryAfter: 30 * time.Second})
		}, false, []string{"slack token: Slack asks for a pause. → Ask again in 30s."}},
		"Scope": {func(w *world) { w.server.Scope("files:write", false) }, false, []string{
			"slack scopes: The app lacks the scope files:write. → Install the app again from deploy/slack/manifest.yaml.",
		}},
		"AppTokenScope": {func(w *world) { w.server.Scope("connections:write", false) }, false, []string{
			"slack presses: Slack refuses the app-level token. → Take one with the scope connections:write",
		}},
		"AppTokenOfAnother": {func(w *world) { w.config.AppToken = "xapp-1-A0000000009-1-another" }, false, []string{
			"slack presses: Slack refuses the app-level token.",
		}},
		"Full": {func(w *world) {
			w.server.Fail("apps.connections.open", 1, slacktest.Fault{Error: "too_many_websockets"})
		}, false, []string{"slack presses: Other programs hold all connections"}},
		"NotInChannel": {func(w *world) { w.server.Kick(home, true) }, false, []string{"slack channel: The app is not in the channel C0000000001, where cards are to go. → Invite it"}},
		"NoChannel":    {func(w *world) { w.config.Channel = "C0000000099" }, false, []string{"slack channel: The app is not in the channel C0000000099, where cards are to go."}},
		"Archived":     {func(w *world) { w.server.Archive(home, true) }, false, []string{"slack channel: The channel C0000000001, where cards are to go, is archived."}},
		"CardsRefused": {func(w *world) {
			w.server.Fail("blocks.validate", 2, slacktest.Fault{Body: `{"ok":false,"error":"invalid_blocks","errors":[{"pointer":"/blocks/0/text","message":"too long"}]}`})
		}, false, []string{"slack cards: Slack would refuse them: too long at /blocks/0/text. → Report it"}},
		"CardsOfBefore": {arrange: func(w *world) { w.server.Older() }},
		"NoValidation":  {arrange: func(w *world) { w.server.Fail("blocks.validate", 1, slacktest.Fault{Error: "unknown_method"}) }},
		"GroupEmpty":    {func(w *world) { w.server.SetGroup(group) }, false, []string{"slack groups: The user group " + group + " is empty"}},
		"GroupGone":     {func(w *world) { w.config.Approvers = []string{ann, "S0000000099"} }, false, []string{"slack groups: There is no user group S0000000099"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				if c.arrange != nil {
					c.arrange(w)
				}
				w.build()
				if c.running {
					w.start()
					defer w.stop()
				}
				from := len(w.server.Calls(""))
				got := wrong(t, w.channel.Examine(t.Context(), !c.running))
				if len(got) != len(c.want) {
					t.Fatalf("wrong is %q, want %q", got, c.want)
				}
				for i := range got {
					if !strings.HasPrefix(got[i], c.want[i]) {
						t.Errorf("wrong is %q, want %q…", got[i], c.want[i])
					}
				}
				for _, call := range w.server.Calls("")[from:] {
					switch call.Method {
					case "blocks.validate", "auth.test", "apps.connections.open", "conversations.info", "usergroups.users.list":
					default:
						t.Errorf("a look called %s", call.Method)
					}
				}
			})
		})
	}
}

// TestExamineTellsForgedRequests delivers over HTTP, with the right secret and with
// another.
func TestExamineTellsForgedRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.config.AppToken, w.config.SigningSecret = "", slacktest.SigningSecret
		w.build()
		w.start()
		defer w.stop()
		deliver := func(secret string) {
			const body = "command=%2Fvaglio"
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/slack/commands", strings.NewReader(body))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			slacktest.Sign(r, []byte(body), secret, time.Now())
			w.channel.Handler().ServeHTTP(httptest.NewRecorder(), r)
			time.Sleep(time.Second)
		}
		deliver(slacktest.SigningSecret)
		if got := wrong(t, w.channel.Examine(t.Context(), false)); len(got) != 0 {
			t.Errorf("after a signed request: %q", got)
		}
		deliver(strings.Repeat("f", 32))
		if got := wrong(t, w.channel.Examine(t.Context(), false)); len(got) != 1 || !strings.HasPrefix(got[0], "slack presses: The last request") {
			t.Errorf("after a forged request: %q", got)
		}
	})
}

// testCard returns the message with a test card's button.
func testCard(w *world) slacktest.Message {
	w.t.Helper()
	synctest.Wait()
	for _, m := range w.server.Messages(home) {
		if b := m.Buttons(); len(b) == 1 && b[0].Text == "It is here" {
			return m
		}
	}
	w.t.Fatal("there is no test card")
	return slacktest.Message{}
}

func TestRehearse(t *testing.T) {
	t.Parallel()
	for name, alone := range map[string]bool{"Alone": true, "Running": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				if !alone {
					w.start()
					defer w.stop()
				}
				waiting := w.ask(command("make build"))
				rehearse := func() <-chan error {
					done := make(chan error, 1)
					go func() {
						by, err := w.channel.Rehearse(t.Context(), alone)
						if err == nil && by != (approval.Person{ID: "slack:" + ann, Name: "Ann"}) {
							err = errors.New("pressed by " + by.Name + " " + by.ID)
						}
						done <- err
					}()
					time.Sleep(time.Second)
					return done
				}
				done := rehearse()
				card := testCard(w)
				press := func(user string) {
					if _, err := w.server.Press(user, home, card.TS, "It is here"); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
				}
				if alone {
					// Nobody is there who could decide, and the person must see that.
					if d := w.press(ann, waiting, "Deny"); !d.Acked.IsZero() {
						t.Error("a press of a card was acknowledged, and lost")
					}
				}
				press(eve)
				w.wants(w.whispered(eve), "not among those who may decide")
				press(ann)
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				w.wants(w.whispered(ann), "came back")
				if m, _ := w.server.Message(home, card.TS); len(m.Buttons()) != 0 || !strings.Contains(m.Shown(), "Ann") {
					t.Errorf("the test card shows %q", m.Shown())
				}
				done = rehearse()
				card = testCard(w)
				if err := <-done; !errors.Is(err, approval.ErrUntapped) {
					t.Errorf("when nobody presses: %v", err)
				}
				if m, _ := w.server.Message(home, card.TS); len(m.Buttons()) != 0 {
					t.Error("the test card kept its button")
				}
				if len(w.desk.Taps()) != 0 {
					t.Errorf("a test card decided: %+v", w.desk.Taps())
				}
				w.discreet()
			})
		})
	}
}

func TestRehearseOverHTTPNeedsADaemon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.config.AppToken, w.config.SigningSecret = "", slacktest.SigningSecret
		w.build()
		if _, err := w.channel.Rehearse(context.Background(), true); !errors.Is(err, slack.ErrUnheard) || len(w.server.Messages(home)) != 0 {
			t.Errorf("got %v", err)
		}
	})
}
