package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/channels/slack/slacktest"
	"github.com/metnos/vaglio/internal/race"
)

// examineSlack runs the doctor and looks for secrets in its output.
func (w *workspace) examineSlack(h *home) []string {
	w.t.Helper()
	r := h.run("", "doctor", "--slack-api", w.url+"/api")
	if strings.Contains(r.out+r.err, "MustNotLeak") {
		w.t.Errorf("the doctor shows a secret:\n%s%s", r.out, r.err)
	}
	return h.doctor("--slack-api", w.url+"/api")
}

// TestTheDoctorOfATeam examines a healthy app, breaks one thing after the other, and examines it
// again after the daemon stopped.
func TestTheDoctorOfATeam(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	w := newWorkspace(t)
	h := newHome(t, slackEnv("METNOS_SLACK_APP_TOKEN="+slacktest.AppToken)...)
	s := w.serve(h)
	w.await("both sockets", func() bool { return w.Sockets() == 2 })
	look := func(when string, want ...string) {
		t.Helper()
		got := w.examineSlack(h)
		if len(got) != len(want) {
			t.Errorf("%s: %q, want %q\n%s", when, got, want, s.log)
			return
		}
		for i := range got {
			if !strings.HasPrefix(got[i], want[i]) {
				t.Errorf("%s: %q, want %q", when, got, want)
			}
		}
	}
	for _, serving := range []bool{true, false} {
		if !serving {
			s.stop()
		}
		look("when all is well")
		w.Kick(slackHome, true)
		look("out of the channel", "slack channel: The app is not in the channel")
		w.Kick(slackHome, false)
		w.Scope("files:write", false)
		look("without a scope", "slack scopes: The app lacks the scope files:write.")
		w.Scope("files:write", true)
	}
	w.Revoke("token_revoked")
	look("with a token that was revoked", "slack token: Slack refuses the app's token.")
	w.Revoke("")
	h.env = slices.DeleteFunc(h.env, func(v string) bool { return strings.HasPrefix(v, "METNOS_SLACK_APP_TOKEN=") })
	h.env = append(h.env, "METNOS_SLACK_APP_TOKEN=xapp-1-A0000000000-1234567890123-"+strings.Repeat("0", 64))
	look("with another app's token", "slack presses: Slack refuses the app-level token.")
	s = w.serve(h)
	look("with another app's token, serving", "slack presses: Slack refuses the app")
	s.stop()
	h.env = append(h.env, "METNOS_SLACK_CHANNEL=#ops")
	look("with a channel by its name", "configuration: METNOS_SLACK_CHANNEL: ")
	h.env = slices.DeleteFunc(h.env, func(v string) bool {
		return v == "METNOS_SLACK_CHANNEL=#ops" || strings.HasPrefix(v, "METNOS_SLACK_APPROVERS=")
	})
	look("without approvers", "slack: METNOS_SLACK_APPROVERS: nobody may decide on Slack")
}

// TestTheDoctorsTapOnSlack presses the test card, with a daemon and without one.
func TestTheDoctorsTapOnSlack(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	h := newHome(t, slackEnv("METNOS_SLACK_APP_TOKEN="+slacktest.AppToken)...)
	s := w.serve(h)
	tap := func() {
		t.Helper()
		done := make(chan result, 1)
		go func() { done <- h.run("", "doctor", "--tap", "--slack-api", w.url+"/api") }()
		card := w.card(func(m slacktest.Message) bool { return len(m.Buttons()) == 1 && m.Buttons()[0].Text == "It is here" })
		w.await("a socket", func() bool { return w.Sockets() > 0 })
		if _, err := w.Press(slackAnn, slackHome, card.TS, "It is here"); err != nil {
			t.Error(err)
		}
		r := <-done
		if r.code != 0 || !strings.Contains(r.out, "slack tap") || !strings.Contains(r.out, "Ann (slack:"+slackAnn+") pressed") ||
			!strings.Contains(r.err, "press its button") {
			t.Errorf("got %d\n%s%s\n%s", r.code, r.out, r.err, s.log)
		}
		if m, _ := w.Message(slackHome, card.TS); len(m.Buttons()) != 0 || !strings.Contains(m.Shown(), "The test worked") {
			t.Errorf("the test card shows %q", m.Shown())
		}
	}
	tap()
	s.stop()
	w.await("no socket", func() bool { return w.Sockets() == 0 })
	tap()
}
