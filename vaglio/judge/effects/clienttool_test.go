package effects_test

import (
	"os"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/golden"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// TestClientTools checks that calls of clients' own tools are judged by their tables, and what no client's
// consoles are given by the code. What each would do is in the files that end in .effects, as in [TestEveryday].
func TestClientTools(t *testing.T) {
	t.Parallel()
	j, err := effects.New(effects.Options{Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	for file, least := range map[string]int{"claude-code": 90, "openclaw": 60, "cursor": 20, "consoles": 40} {
		client := file
		if file == "consoles" {
			client = ""
		}
		data, err := os.ReadFile("testdata/" + file + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		var found strings.Builder
		n := 0
		for row := range strings.Lines(string(data)) {
			const fields = 3
			words := strings.SplitN(strings.TrimSpace(row), " ", fields)
			if words[0] == "#" {
				continue
			}
			n++
			p := vaglio.Proposal{Executor: words[1], Context: vaglio.Context{Client: client, Cwd: "/home/u/app"}}
			if err := strictjson.Unmarshal([]byte(words[2]), &p.Args); err != nil {
				t.Fatalf("%s: %v", row, err)
			}
			got, err := j.Grade(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			if asked := got.Score < effects.Threshold; asked != (words[0] == "ask") {
				t.Errorf("%s: %sscore %.2f: %s", client, row, got.Score, got.Reasoning)
			}
			found.WriteString(strings.TrimSpace(row) + "\n" + told(&got))
		}
		if n < least {
			t.Errorf("%s: %d rows, want at least %d", file, n, least)
		}
		golden.Check(t, "testdata/"+file+".effects", found.String())
	}
}

// TestUnknownClient checks that every call of an unknown client is asked about, and that without a
// client its tables do not count.
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
