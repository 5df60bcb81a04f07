package effects_test

import (
	"os"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// TestClientTools judges calls of a client's own tools by its table.
func TestClientTools(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/claude-code.txt")
	if err != nil {
		t.Fatal(err)
	}
	j, err := effects.New(effects.Options{Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for row := range strings.Lines(string(data)) {
		const fields = 3
		words := strings.SplitN(strings.TrimSpace(row), " ", fields)
		if words[0] == "#" {
			continue
		}
		n++
		p := vaglio.Proposal{Executor: words[1], Context: vaglio.Context{Client: "claude-code", Cwd: "/home/u/app"}}
		if err := strictjson.Unmarshal([]byte(words[2]), &p.Args); err != nil {
			t.Fatalf("%s: %v", row, err)
		}
		got, err := j.Grade(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if asked := got.Score < effects.Threshold; asked != (words[0] == "ask") {
			t.Errorf("%sscore %.2f: %s", row, got.Score, got.Reasoning)
		}
	}
	if least := 90; n < least {
		t.Errorf("%d rows, want at least %d", n, least)
	}
}

// TestUnknownClient checks that a client of which nothing is known has every
// call asked, and that without one nothing of its tools counts.
func TestUnknownClient(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	for client, asked := range map[string]bool{"": false, "claude-code": false, "vim": true} {
		p := vaglio.Proposal{Executor: "Read", Args: vaglio.Args{"file_path": "a.go"}, Context: vaglio.Context{Client: client, Cwd: testCwd}}
		got, err := j.Grade(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if (got.Score < effects.Threshold) != asked {
			t.Errorf("client %q: score %.2f: %s", client, got.Score, got.Reasoning)
		}
	}
}
