package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckAndServeAgree has a route to a chat, with no chat, that one, and another.
func TestCheckAndServeAgree(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	file := filepath.Join(h.dir, "p.yaml")
	text := "approval:\n  routes:\n    - {name: quick, channels: [telegram], approvers: [\"telegram:4712\"]}\n  rules:\n    - {route: quick}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	const mistake = `p.yaml:3:7: approval: route "quick" goes to the channel "telegram"; there is `
	slack := []string{"METNOS_SLACK_BOT_TOKEN=xoxb-1-2-abcdefghijklmnopqrstuvwx", "METNOS_SLACK_APP_TOKEN=xapp-1-A1-2-abcdef", "METNOS_SLACK_CHANNEL=C0123456789", "METNOS_SLACK_APPROVERS=U0123456789"}
	for name, tt := range map[string]struct {
		env  []string
		code int
		want string
	}{
		"no chat":      {nil, 0, `unchecked  route "quick" goes to the channel "telegram"; there is web: no chat is configured here`},
		"that chat":    {[]string{"METNOS_TELEGRAM_TOKEN=1:x"}, 0, "route      quick: telegram:4712, on telegram\n"},
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
