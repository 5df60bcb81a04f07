package hook

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
)

// A shadow stops nothing, whatever its input and even if it cannot write, and asks nobody: it has
// no gate at all.
func TestAShadowHoldsNothing(t *testing.T) {
	t.Parallel()
	for _, client := range Clients() {
		d, err := dialectOf(client)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range []string{"", "not json", bash[:80], strings.Repeat(" ", maxInput+1)} {
			for _, folder := range []string{t.TempDir(), os.DevNull} {
				var out, errs bytes.Buffer
				code, err := Run(t.Context(), Options{Client: client, In: strings.NewReader(in), Out: &out, Err: &errs, Shadow: folder})
				if code != 0 || err != nil || out.String() != string(d.passed) || errs.Len() > 0 {
					t.Errorf("%s: %d %v %q %q", client, code, err, out.String(), errs.String())
				}
			}
		}
	}
}

// A shadow's folder is private, and old files are deleted when a new day begins.
func TestAShadowsFolder(t *testing.T) {
	t.Parallel()
	h := hook{Options: Options{Shadow: filepath.Join(t.TempDir(), "shadow")}}
	h.writeDown(&event{}, time.Now())
	if info, err := os.Stat(h.Shadow); err != nil || info.Mode().Perm() != 0o700 {
		t.Fatal(info, err)
	}
	h.writeDown(&event{}, time.Now().Add(2*keepShadow))
	if all, err := os.ReadDir(h.Shadow); err != nil || len(all) != 1 {
		t.Errorf("%v %v", all, err)
	}
}

// badInput is a reader that panics.
type badInput struct{}

func (badInput) Read([]byte) (int, error) { panic("broken") }

// TestAShadowSurvivesItself checks that a shadow passes a call even if it panics.
func TestAShadowSurvivesItself(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	code, err := Run(t.Context(), Options{Client: "opencode", In: badInput{}, Out: &out, Shadow: t.TempDir()})
	if code != 0 || err != nil || out.String() != `{"decision":"allow"}`+"\n" {
		t.Errorf("%d %v %q", code, err, out.String())
	}
}

// A shadow records what would have been proposed, one call per line, in a private file, and
// deletes old files.
func TestAShadowWritesDown(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "shadow")
	old := filepath.Join(folder, time.Now().UTC().Add(-keepShadow-48*time.Hour).Format(time.DateOnly)+shadowEnding)
	kept := filepath.Join(folder, time.Now().UTC().Add(-48*time.Hour).Format(time.DateOnly)+shadowEnding)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{old, kept, filepath.Join(folder, "mine.ndjson")} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	after := strings.Replace(bash, "PreToolUse", "PostToolUse", 1)
	for _, in := range []string{bash, after, bash} {
		if _, err := Run(t.Context(), Options{Client: "claude-code", In: strings.NewReader(in), Out: &bytes.Buffer{}, Shadow: folder, Getenv: func(name string) string {
			return map[string]string{"CLAUDE_PROJECT_DIR": "/p"}[name]
		}}); err != nil {
			t.Fatal(err)
		}
	}
	all, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(all) != 3 || slices.Contains(all, old) {
		t.Fatalf("%v %v", all, err)
	}
	lines := 0
	for _, name := range all {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			lines++
			info, err := os.Stat(name)
			var got seen
			if err != nil || info.Mode().Perm() != 0o600 || strictjson.UnmarshalLoose([]byte(line), &got) != nil || time.Since(got.At) > time.Hour ||
				got.Executor != "Bash" || got.Context.Client != "claude-code" || len(got.Context.Roots) != 1 || got.Args["command"] == nil {
				t.Errorf("%v %s", err, line)
			}
		}
	}
	if lines != 2 {
		t.Errorf("%d calls", lines)
	}
}
