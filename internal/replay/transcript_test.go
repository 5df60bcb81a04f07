package replay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/metnos/vaglio/templates"
)

// The transcripts in testdata were written by the pinned clients: a listing, a push, a command that
// fails, and a file that the client did not let them write. An unreadable line was added to each,
// and an incomplete one to Claude Code's.
func TestTranscriptsOfTheClients(t *testing.T) {
	t.Parallel()
	const malformed = "is not a JSON object of a form that is known"
	tests := map[string]struct {
		want   Result
		unread []Unread
	}{
		"claude-code-2.1.330.jsonl": {
			Result{Files: 1, Sessions: 1, Unread: 2, Calls: 4, Passed: 3, Asked: 1, Ran: 1, Missed: 1},
			[]Unread{{"claude-code-2.1.330.jsonl", 4, malformed}, {"claude-code-2.1.330.jsonl", 22, malformed}},
		},
		"codex-0.169.0.jsonl": {
			Result{Files: 1, Sessions: 1, Unread: 1, Calls: 4, Passed: 3, Asked: 1, Ran: 1, Missed: 1},
			[]Unread{{"codex-0.169.0.jsonl", 21, ""}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			r := replayed(t, "", map[string]string{name: string(data)})
			got := Result{
				Files: r.Files, Sessions: r.Sessions, Unread: r.Unread, Calls: r.Calls, Passed: r.Passed, Asked: r.Asked, Denied: r.Denied, Ran: r.Ran, Missed: r.Missed,
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			for i := range r.UnreadAt {
				if tt.unread[i].Why == "" && r.UnreadAt[i].Why != "" {
					tt.unread[i].Why = r.UnreadAt[i].Why
				}
			}
			if diff := cmp.Diff(tt.unread, r.UnreadAt); diff != "" {
				t.Error(diff)
			}
			for _, u := range r.UnreadAt {
				if !strings.Contains(r.Text(), u.Place()+": ") {
					t.Errorf("%s is not told:\n%s", u.Place(), r.Text())
				}
			}
		})
	}
}

// A call in an unknown format is not silently ignored, and only the first of many unreadable lines
// are listed.
func TestLinesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	lines := []string{
		"", `{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":{"command":["ls"]},"call_id":"1"}}`,
		`{"type":"event_msg","payload":{"type":"other","output":{"a":1},"action":7}}`, `{"executor":"x","hunter2":1}`,
	}
	for range 9 {
		lines = append(lines, "{")
	}
	r := replayed(t, "", map[string]string{"a/s.jsonl": strings.Join(lines, "\n")})
	if r.Unread != 11 || r.UnreadAt[0].Place() != "a/s.jsonl:2" || r.UnreadAt[1].Line != 4 || strings.Contains(r.UnreadAt[1].Why, "hunter2") {
		t.Errorf("%+v", r.UnreadAt)
	}
	if said := r.Text(); !strings.Contains(said, "a/s.jsonl:2: is not a call") || !strings.Contains(said, "and 6 more") {
		t.Error(said)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "s.jsonl"), []byte("{\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir + "/", filepath.Join(dir, "s.jsonl")} {
		if r, err := Run(t.Context(), options(t, path, "")); err != nil || r.Unread != 1 || !strings.HasSuffix(r.UnreadAt[0].Place(), "s.jsonl:1") {
			t.Errorf("%s: %+v %v", path, r, err)
		}
	}
}

// The page shows everything in either language, is self-contained, and escapes what agents wrote.
func TestPage(t *testing.T) {
	t.Parallel()
	var c claude
	c.call("Bash", `{"command":"echo '<script>alert(1)</script>' && git push --force origin main # hunter2"}`, "ok")
	for range 4 {
		c.call("Bash", `{"command":"frobnicate --sync db"}`, "ok")
	}
	r := replayed(t, "", map[string]string{"<b>.jsonl": c.String() + "{"})
	set, err := templates.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	for lang, heading := range map[templates.Lang]string{templates.English: "What would have been asked", templates.Italian: "Che cosa sarebbe stato chiesto"} {
		page, err := r.Page(set.In(lang, time.UTC))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := html.Parse(strings.NewReader(string(page)))
		if err != nil {
			t.Fatal(err)
		}
		var words strings.Builder
		for n := range doc.Descendants() {
			switch {
			case n.Type == html.TextNode:
				words.WriteString(n.Data)
			case n.Data == "script" || n.Data == "b" || n.Data == "link" || n.Data == "img":
				t.Errorf("%s: an element %s", lang, n.Data)
			}
		}
		for _, want := range []string{heading, "<script>alert(1)</script>", "# ***", "<b>.jsonl:11", "+  frobnicate: workspace"} {
			if !strings.Contains(words.String(), want) {
				t.Errorf("%s: %q is missing:\n%s", lang, want, page)
			}
		}
		if strings.Contains(string(page), "hunter2") || strings.Contains(string(page), "[web.") {
			t.Errorf("%s: %s", lang, page)
		}
	}
}
