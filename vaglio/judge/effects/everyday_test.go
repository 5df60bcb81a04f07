package effects_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/golden"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// TestEveryday checks the calls in testdata, tool by tool: those in asked.txt are asked about,
// those in passed.txt are not. What each would do, and what the session remembers of it, is in
// asked.effects and passed.effects: after an intended change, run it with -update, and read what
// people are told now.
func TestEveryday(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	j := newJudge(t)
	for _, name := range []string{"asked", "passed"} {
		data, err := os.ReadFile("testdata/" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		var found strings.Builder
		for l := range strings.Lines(string(data)) {
			l = strings.TrimSpace(l)
			if l == "" || strings.HasPrefix(l, "#") {
				continue
			}
			got, err := j.Grade(t.Context(), callOf(t, l))
			if err != nil {
				t.Fatal(err)
			}
			if asked := got.Score < effects.Threshold; asked != (name == "asked") {
				t.Errorf("%s: asked is %t, score %.2f: %s", l, asked, got.Score, got.Reasoning)
			}
			found.WriteString(l + "\n" + told(&got))
		}
		golden.Check(t, "testdata/"+name+".effects", found.String())
	}
}

// told returns the effects of a call, and what the session remembers of it, line by line.
func told(r *vaglio.GradientResult) string {
	var b strings.Builder
	listed, _ := r.Metadata["effects"].([]any)
	for i, s := range r.Signals {
		does, _, _ := strings.Cut(s.Message, "; it can") // the rest says how far, as the words before do
		fmt.Fprintf(&b, "\t%.2f %s", s.Score, s.Category)
		if i < len(listed) {
			e, _ := listed[i].(map[string]any)
			fmt.Fprintf(&b, " %s %s", e["reversibility"], e["reach"])
		}
		b.WriteString(": " + does + "\n")
	}
	if r.Confidence < 1 {
		fmt.Fprintf(&b, "\tsure %.2f\n", r.Confidence)
	}
	for _, f := range r.Did {
		fmt.Fprintf(&b, "\t> %s %s", f.Deed, f.Path)
		if f.New {
			b.WriteString(" new")
		}
		if len(f.Words) > 0 {
			fmt.Fprintf(&b, " %q", f.Words)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// callOf reads a line of testdata: an executor with its arguments as JSON, or a command line.
func callOf(t *testing.T, l string) vaglio.Proposal {
	t.Helper()
	executor, rest, ok := strings.Cut(l, " {")
	if !ok || !strings.HasSuffix(l, "}") || strings.ContainsAny(executor, " '\"/") {
		return command(l)
	}
	p := command("")
	p.Executor, p.Args = executor, nil
	if err := strictjson.UnmarshalLoose([]byte("{"+rest), &p.Args); err != nil {
		t.Fatalf("%s: %v", l, err)
	}
	return p
}

// TestWorkspaces checks that a system folder or a whole home is never a workspace, whoever names
// it.
func TestWorkspaces(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	for cwd, asked := range map[string]bool{
		"/etc": true, "/etc/nginx": true, "/home": true, "/usr/local/bin": true, "/bin": true, "/boot": true, "/var/lib/x": true, "/home/bob": true, testHome: true,
		"/app": false, "/workspace": false, "/tmp/x": false, "/usr/src/app": false, "/var/www/x": false, "/srv/x": false, "/opt/x": false, "/root": false, testHome + "/x": false,
	} {
		for _, c := range []vaglio.Context{{Cwd: cwd}, {Cwd: "/srv/other", Mounts: []string{cwd}}} {
			p := command("echo x > " + cwd + "/settings")
			p.Context = c
			got, err := j.Grade(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			if (got.Score < effects.Threshold) != asked {
				t.Errorf("%+v: asked is %t, score %.2f: %s", c, !asked, got.Score, got.Reasoning)
			}
		}
	}
}
