package effects_test

import (
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// TestEveryday checks the calls in testdata, tool by tool: those in asked.txt
// are asked, those in passed.txt are not.
func TestEveryday(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	for _, name := range []string{"asked", "passed"} {
		data, err := os.ReadFile("testdata/" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
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
		}
	}
}

// callOf reads a line of testdata: an executor and its arguments as JSON, or a
// command line.
func callOf(t *testing.T, l string) vaglio.Proposal {
	t.Helper()
	executor, rest, ok := strings.Cut(l, " {")
	if !ok || !strings.HasSuffix(l, "}") || strings.ContainsAny(executor, " '\"/") {
		return command(l)
	}
	p := command("")
	p.Executor, p.Args = executor, nil
	if err := json.Unmarshal([]byte("{"+rest), &p.Args); err != nil {
		t.Fatalf("%s: %v", l, err)
	}
	return p
}
