package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
	"github.com/metnos/vaglio/internal/race"
)

// TestCheckAndServeAgree routes to a chat that is missing, present, or a different one.
func TestCheckAndServeAgree(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	h := newHome(t)
	file := filepath.Join(h.dir, "p.yaml")
	text := "approval:\n  routes:\n    - {name: quick, channels: [telegram], approvers: [\"telegram:4712\"]}\n  rules:\n    - {route: quick}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	const mistake = `p.yaml:3:7: approval: route "quick" goes to the channel "telegram"; known: `
	slack := []string{"METNOS_SLACK_BOT_TOKEN=xoxb-1-2-abcdefghijklmnopqrstuvwx", "METNOS_SLACK_APP_TOKEN=xapp-1-A1-2-abcdef", "METNOS_SLACK_CHANNEL=C0123456789", "METNOS_SLACK_APPROVERS=U0123456789"}
	for name, tt := range map[string]struct {
		env  []string
		code int
		want string
	}{
		"no chat":      {nil, 0, `unchecked  route "quick" goes to the channel "telegram"; known: web: no chat is configured here`},
		"that chat":    {[]string{"METNOS_TELEGRAM_TOKEN=" + telegramtest.Token}, 0, "route      quick: telegram:4712, on telegram\n"},
		"another chat": {slack, 1, mistake + "web, slack"},
	} {
		h.env = tt.env
		if r := h.run("", "policy", "check", file); r.code != tt.code || !strings.Contains(r.out+r.err, tt.want) || strings.Contains(r.out, "unchecked") != (len(tt.env) == 0) {
			t.Errorf("%s: exit code %d\n%s%s\nwant %d and %q", name, r.code, r.out, r.err, tt.code, tt.want)
		}
	}
	for name, env := range map[string][]string{"no chat": nil, "another chat": slack} {
		h.env = append([]string{"METNOS_POLICY=" + file}, env...)
		if r := h.run("", "serve"); r.code != 2 || !strings.Contains(r.err, mistake) {
			t.Errorf("serve with %s: exit code %d\n%s, want 2 and %q", name, r.code, r.err, mistake)
		}
	}
}

// TestALineOfThePolicyIsShownThenWritten asks a real daemon about an unknown program, and adds the
// line to the policy that would have avoided the questions.
func TestALineOfThePolicyIsShownThenWritten(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	h := newHome(t)
	file := filepath.Join(h.dir, "policy.yaml")
	const before = "# Ours; ask Ann.\nworkspaces: # all of them\n  - /srv/app\nclosed: false\n"
	if err := os.WriteFile(file, []byte(before), 0o640); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "METNOS_POLICY="+file)
	s := h.serve()
	ask := func(turn, command string) approval.Answer {
		body := fmt.Sprintf(`{"turn_id":%q,"step":1,"executor":"shell_exec","args":{"command":%q},"context":{"capability":"code:exec","cwd":"/srv/app"}}`, turn, command)
		return s.agent("POST", "/v1/proposals", body).answer(t)
	}
	allowed := ask("t1", "tixly close 81")
	me := s.signIn(s.link)
	me.decide("allow", "")
	ask("t2", "tixly purge")
	me.decide("deny", "not that")
	ask("t3", "git push --force origin main")
	denied := ask("t4", "otherly run")
	me.decide("deny", "")
	same := func(what string) {
		t.Helper()
		if now, err := os.ReadFile(file); err != nil || string(now) != before {
			t.Errorf("%s: the file holds %v\n%s", what, err, now)
		}
	}
	for args, want := range map[string]string{
		"tixly=everywhere": "reaches \"everywhere\"", "min_score=2": "a number from 0 to 1", "zzzz": "nothing that was asked",
		string(denied.Approval.ID): "say with --reaches", "--reaches user tixly=user": "--reaches is for", "--days 0 tixly=user": "--days",
		"--policy /nowhere/p.yaml --write tixly=user": "Nothing was written",
	} {
		if r := h.run("", append([]string{"policy", "add"}, strings.Fields(args)...)...); r.code == exitOK || !strings.Contains(r.err, want) || strings.Count(r.err, "\n") > 1 {
			t.Errorf("%s: %d %s%s, want %q", args, r.code, r.out, r.err, want)
		}
	}
	same("refused")
	shown := h.run("", "policy", "add", string(allowed.Approval.ID))
	for _, want := range []string{"4 calls were asked in the last 30 days", "2 would have passed unasked; a person denied 1 of them", "passes: tixly purge\n  1 call, 1 denied", "2 would have been asked as they were", "+  tixly: workspace\n", "Nothing was written"} {
		if shown.code != exitOK || !strings.Contains(shown.out, want) {
			t.Errorf("%d %s%s, want %q", shown.code, shown.out, shown.err, want)
		}
	}
	same("shown")
	if r := h.run("", "policy", "add", "--write", string(allowed.Approval.ID)); r.code != exitOK || !strings.Contains(r.out, "Written.") {
		t.Fatalf("%d %s%s", r.code, r.out, r.err)
	}
	info, err := os.Stat(file)
	if now, _ := os.ReadFile(file); err != nil || string(now) != before+"programs:\n  tixly: workspace\n" || info.Mode().Perm() != 0o640 {
		t.Errorf("%v %v\n%s", err, info, now)
	}
	if r := h.run("", "policy", "check", file); r.code != exitOK || !strings.Contains(r.out, "tixly reaches: workspace") {
		t.Errorf("%d %s%s", r.code, r.out, r.err)
	}
	s.stop()
	s = h.serve()
	if a := ask("t5", "tixly close 82"); a.Decision != approval.RulingAllow {
		t.Errorf("after it was taught, the call is %+v", a)
	}
}

// TestARouteIsShownThenWritten shows the line of a route with the past calls that it would have
// routed, and inserts it before the other rules.
func TestARouteIsShownThenWritten(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	h := newHome(t)
	file := filepath.Join(h.dir, "policy.yaml")
	const head = "approval:\n  routes:\n    - {name: careful, approvers: [\"web:owner\"]}\n    - {name: quick, approvers: [anyone]}\n  rules:\n"
	const before = head + "    # Everything.\n    - route: careful\n"
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "METNOS_POLICY="+file)
	s := h.serve()
	me := s.signIn(s.link)
	var id string
	for turn, command := range []string{"rm -rf /srv/shop", "npm publish", "rm -rf /srv/depot"} {
		body := fmt.Sprintf(`{"turn_id":"t%d","step":1,"executor":"shell_exec","args":{"command":%q},"context":{"capability":"code:exec","cwd":"/srv/app"}}`, turn, command)
		a := s.agent("POST", "/v1/proposals", body).answer(t)
		id = string(a.Approval.ID)
		me.decide("deny", "")
	}
	for args, want := range map[string]string{
		"route=quick": "it fits every call", "route=fast effects=publish": `there is no route "fast"; known: careful, quick`,
		"route=quick effects=publsh": `asks for the effect "publsh"`, "--reaches user " + id + " route=quick": "only one route may follow the id of a call",
		"--write route=quick agents=nobody": `"nobody"`, "tixly=user min_score=0.4": "only a route has conditions", id + " route=": "names nothing",
	} {
		if r := h.run("", append([]string{"policy", "add"}, strings.Fields(args)...)...); r.code == exitOK || !strings.Contains(r.err, want) || strings.Count(r.err, "\n") > 1 {
			t.Errorf("%s: %d %s%s, want %q", args, r.code, r.out, r.err, want)
		}
	}
	of := h.run("", "policy", "add", id, "route=quick")
	if of.code != exitOK || !strings.Contains(of.out, "2 would have gone to quick") || !strings.Contains(of.out, "], effects: [delete], executors: [shell_exec], route: quick}\n") {
		t.Errorf("%d %s%s", of.code, of.out, of.err)
	}
	shown := h.run("", "policy", "add", "--write", "route=quick", "effects=publish", "executors=shell_exec")
	for _, want := range []string{"3 calls were asked in the last 30 days", "1 would have gone to quick; a person denied 1 of them", "2 would have gone where they went", "goes there: npm publish", "Written."} {
		if shown.code != exitOK || !strings.Contains(shown.out, want) {
			t.Errorf("%d %s%s, want %q", shown.code, shown.out, shown.err, want)
		}
	}
	if now, err := os.ReadFile(file); err != nil || string(now) != head+"    - {effects: [publish], executors: [shell_exec], route: quick}\n    # Everything.\n    - route: careful\n" {
		t.Errorf("%v\n%s", err, now)
	}
	if r := h.run("", "policy", "check", file); r.code != exitOK {
		t.Errorf("%d %s%s", r.code, r.out, r.err)
	}
}
