package main

import (
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/slack"
	"github.com/metnos/vaglio/channels/slack/slacktest"
)

const (
	slackHome = "C0000000001"
	slackAnn  = "U00000000A1"
)

// workspace is a Slack on this machine, with Ann and the app in a channel.
type workspace struct {
	*slacktest.Server
	t   testing.TB
	url string
}

func newWorkspace(t testing.TB) *workspace {
	t.Helper()
	w := &workspace{Server: slacktest.New(), t: t}
	w.AddUser(slacktest.User{ID: slackAnn, Name: "ann", RealName: "Ann"})
	w.AddChannel(slackHome, slackAnn)
	web := httptest.NewServer(w.Server)
	t.Cleanup(func() { w.Drop(); web.CloseClientConnections(); web.Close() })
	w.url = web.URL
	return w
}

// serve starts a daemon whose app is in the workspace.
func (w *workspace) serve(h *home) *served {
	w.t.Helper()
	return h.start(func(c *exec.Cmd) { c.Args = append(c.Args, "--slack-api", w.url+"/api") })
}

// await waits until is is true.
func (w *workspace) await(what string, is func() bool) {
	w.t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-deadline:
			w.t.Fatalf("waited in vain for %s; there is %+v", what, w.Messages(slackHome))
		case <-tick.C:
		}
	}
}

// card waits for a message that fits.
func (w *workspace) card(fits func(m slacktest.Message) bool) (found slacktest.Message) {
	w.t.Helper()
	w.await("a card", func() bool {
		all := w.Messages(slackHome)
		i := slices.IndexFunc(all, fits)
		if i >= 0 {
			found = all[i]
		}
		return i >= 0
	})
	return found
}

func slackEnv(more ...string) []string {
	return append([]string{
		"METNOS_SLACK_BOT_TOKEN=" + slacktest.BotToken, "METNOS_SLACK_CHANNEL=" + slackHome, "METNOS_SLACK_APPROVERS=" + slackAnn,
		"METNOS_JUDGE_THRESHOLD=0.75",
	}, more...)
}

// TestSlackFromTheCardToTheClick is asked over sockets, clicks, and kills the daemon after the
// click is committed.
func TestSlackFromTheCardToTheClick(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	h := newHome(t, slackEnv("METNOS_SLACK_APP_TOKEN="+slacktest.AppToken)...)
	s := w.serve(h)
	answer := s.agent("POST", "/v1/proposals", forcePush).answer(t)
	if answer.Decision != approval.RulingPending {
		t.Fatalf("the agent is told %+v", answer)
	}
	card := w.card(func(m slacktest.Message) bool { return len(m.Buttons()) > 0 })
	w.await("a socket", func() bool { return w.Sockets() > 0 })
	id, err := w.Press(slackAnn, slackHome, card.TS, "Allow once")
	if err != nil {
		t.Fatal(err)
	}
	w.await("the acknowledgement", func() bool { return !w.Delivery(id).Acked.IsZero() })
	s.kill()
	s = w.serve(h)
	answer = s.agent("GET", "/v1/approvals/"+string(answer.Approval.ID)+"?wait=55s", "").answer(t)
	if answer.Decision != approval.RulingAllow || answer.Permit == nil {
		t.Errorf("after the click the agent is told %+v\n%s", answer, s.log)
	}
	w.card(func(m slacktest.Message) bool {
		return m.TS == card.TS && len(m.Buttons()) == 0 && strings.Contains(m.Shown(), "Allowed once by Ann")
	})
	w.await("both sockets", func() bool { return w.Sockets() == 2 })
	s.stop()
	for _, secret := range []string{slacktest.BotToken, slacktest.AppToken} {
		if strings.Contains(s.log.String()+s.out.String(), secret) {
			t.Error("a token is in the output")
		}
	}
}

// TestSlackOverHTTP clicks where the platform delivers signed requests.
func TestSlackOverHTTP(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	s := w.serve(newHome(t, slackEnv("METNOS_SLACK_SIGNING_SECRET="+slacktest.SigningSecret)...))
	w.Serve(toDaemon{s.base})
	answer := s.agent("POST", "/v1/proposals", forcePush).answer(t)
	card := w.card(func(m slacktest.Message) bool { return len(m.Buttons()) > 0 })
	if _, err := w.Press(slackAnn, slackHome, card.TS, "Deny"); err != nil {
		t.Fatal(err)
	}
	answer = s.agent("GET", "/v1/approvals/"+string(answer.Approval.ID)+"?wait=55s", "").answer(t)
	if answer.Decision != approval.RulingDeny {
		t.Errorf("after the click the agent is told %+v\n%s", answer, s.log)
	}
	if w.Sockets() != 0 {
		t.Error("there are sockets beside HTTP")
	}
	forged := httptest.NewRequestWithContext(context.Background(), "POST", s.base+"/slack/commands", strings.NewReader("command=x"))
	forged.RequestURI = ""
	res, err := toDaemon{s.base}.RoundTrip(forged)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != 401 {
		t.Errorf("a forged request gets %d", res.StatusCode)
	}
	s.stop()
}

// TestTheManifestAsksForWhatIsUsed compares its scopes with the fake's methods and with the events:
// no more and no fewer.
func TestTheManifestAsksForWhatIsUsed(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../deploy/slack/manifest.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		OAuth struct {
			Scopes struct {
				Bot []string `yaml:"bot"`
			} `yaml:"scopes"`
		} `yaml:"oauth_config"`
		Settings struct {
			Interactivity struct {
				On bool `yaml:"is_enabled"`
			} `yaml:"interactivity"`
			Sockets bool `yaml:"socket_mode_enabled"`
			Events  struct {
				Bot []string `yaml:"bot_events"`
			} `yaml:"event_subscriptions"`
		} `yaml:"settings"`
	}
	if err := yaml.Unmarshal(raw, &manifest); err != nil {
		t.Fatal(err)
	}
	// Private channels have a name of their own for each scope, and the commands' scope belongs to no
	// method.
	want := append(slacktest.Scopes(), "commands", "groups:read", "groups:history")
	got := manifest.OAuth.Scopes.Bot
	slices.Sort(want)
	slices.Sort(got)
	if want = slices.Compact(want); !slices.Equal(got, want) {
		t.Errorf("the scopes are %v, want %v", got, want)
	}
	if !slices.Equal(got, slack.Scopes()) {
		t.Errorf("the doctor wants %v", slack.Scopes())
	}
	if s := manifest.Settings; !s.Interactivity.On || !s.Sockets || !slices.Equal(s.Events.Bot, []string{"app_home_opened", "message.channels", "message.groups"}) {
		t.Errorf("the settings are %+v", s)
	}
}

func TestMistakesInTheAppsSettings(t *testing.T) {
	t.Parallel()
	good := slackEnv("METNOS_SLACK_APP_TOKEN=" + slacktest.AppToken)
	for name, c := range map[string]struct {
		env  []string
		want string
	}{
		"NoMode":         {slackEnv(), "METNOS_SLACK_APP_TOKEN: set it for Socket Mode"},
		"BothModes":      {append(slices.Clone(good), "METNOS_SLACK_SIGNING_SECRET="+slacktest.SigningSecret), "and not both"},
		"NoBotToken":     {[]string{"METNOS_SLACK_CHANNEL=" + slackHome}, "METNOS_SLACK_BOT_TOKEN: is not set"},
		"OtherToken":     {append(slices.Clone(good), "METNOS_SLACK_BOT_TOKEN=hunter2"), "METNOS_SLACK_BOT_TOKEN: the token is not a bot token"},
		"ChannelByName":  {append(slices.Clone(good), "METNOS_SLACK_CHANNEL=#ops"), "METNOS_SLACK_CHANNEL: the channel is not a channel's id"},
		"ApproverByName": {append(slices.Clone(good), "METNOS_SLACK_APPROVERS=@ann"), `METNOS_SLACK_APPROVERS: "@ann" is neither`},
		"NoApprovers":    {append(slices.Clone(good), "METNOS_SLACK_APPROVERS="), "METNOS_SLACK_APPROVERS: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newHome(t, c.env...).run("", "serve")
			if r.code != 2 || strings.Count(r.err, "\n") != 1 || !strings.Contains(r.err, c.want) || strings.Contains(r.err, "hunter2") {
				t.Errorf("exit code %d, want 2 and one line with %q; got\n%s", r.code, c.want, r.err)
			}
		})
	}
	if r := newHome(t).run("", "serve", "--slack-api", "nowhere"); r.code != 2 || !strings.Contains(r.err, "--slack-api") {
		t.Errorf("a bad address: %d %s", r.code, r.err)
	}
}
