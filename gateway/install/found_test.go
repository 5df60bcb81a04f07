package install

import (
	"bytes"
	"slices"
	"testing"
)

func TestWhoRunsTheHookIsFound(t *testing.T) {
	claude := targets()["claude-code"].files[0]
	for _, row := range []struct {
		text string
		want []string
		off  bool
	}{
		{`{"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "/usr/bin/vaglio hook claude-code --limit 1h"}]}]}}`, []string{"/usr/bin/vaglio"}, false},
		{`{"hooks": {"PreToolUse": [{"hooks": [{"command": "\"/opt/a b/vaglio-hook\" claude-code"}]}]}}`, []string{"/opt/a b/vaglio-hook"}, false},
		{`{"disableAllHooks": true, "hooks": {"PreToolUse": [{"hooks": [{"command": "'/opt/a b/vaglio' hook claude-code --limit 5m"}]}]}}`, []string{"/opt/a b/vaglio"}, true},
		{`{"hooks": {"PreToolUse": [{"hooks": [{"command": "/x/lint"}]}]}}`, nil, false},
		{`{"permissions": {}}`, nil, false},
		{`[`, nil, false},
		{``, nil, false},
	} {
		got, ok := claude.found("claude-code", "f", []byte(row.text))
		if ok != (row.want != nil) || !slices.Equal(got.Programs, row.want) || got.Off != row.off {
			t.Errorf("%s: %+v, %v", row.text, got, ok)
		}
	}
	if places := claude.everywhere("/home/u"); !slices.Contains(places, "/home/u/.claude/settings.json") || !slices.Contains(places, "/home/u/.claude/settings.local.json") {
		t.Errorf("the places are %q", places)
	}
}

// Find finds every installation, with the program that it runs.
func TestEveryInstallationIsFound(t *testing.T) {
	for _, client := range Clients() {
		t.Run(client, func(t *testing.T) {
			o := options(t, client)
			changes := apply(t, Add, o)
			if o.Scope == Project {
				t.Skip("a project's hooks are nobody's everywhere")
			}
			changes = slices.DeleteFunc(changes, func(c Change) bool { return !bytes.Contains(c.After, []byte(o.Program)) })
			all := Find(o.Home)
			if len(changes) == 0 || len(all) != len(changes) {
				t.Fatalf("found %+v of %d files", all, len(changes))
			}
			for _, f := range all {
				if f.Client != client || f.Off || !slices.Equal(f.Programs, []string{o.Program}) ||
					!slices.ContainsFunc(changes, func(c Change) bool { return c.Path == f.File }) {
					t.Errorf("found %+v", f)
				}
			}
		})
	}
}

// A path with a blank is found as a shell reads it, and never a part of it.
func TestAProgramWithABlankIsFound(t *testing.T) {
	o := options(t, "cline")
	o.Program = "/my apps/vaglio-hook"
	apply(t, Add, o)
	all := Find(o.Home)
	if len(all) != 2 || !slices.Equal(all[0].Programs, []string{o.Program}) {
		t.Errorf("found %+v", all)
	}
}
