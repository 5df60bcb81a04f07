package effects_test

import (
	"bufio"
	"crypto/sha256"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// corporaEnv names the folder with effects_ask.jsonl and effects_pass.jsonl.
const corporaEnv = "VAGLIO_CORPORA"

// row is one labelled call.
type row struct {
	Executor string      `json:"executor"`
	Args     vaglio.Args `json:"args"`
	Intent   string      `json:"intent"`
	Cwd      string      `json:"cwd"`
	Category string      `json:"category"`
	line     string
}

// TestCorpora prints how often the judge asks, per class, on labelled calls in
// a folder, with the intents and without. Half of the rows, told apart by a
// hash, are held out: they are never looked at, so theirs are the figures to
// trust. VAGLIO_CORPORA_MISSES=train also prints the rows that went wrong, of
// the half that may be looked at.
func TestCorpora(t *testing.T) {
	dir := os.Getenv(corporaEnv)
	if dir == "" {
		t.Skip(corporaEnv + " is not set")
	}
	j, err := effects.New(effects.Options{Home: "/home/u", User: "u"})
	if err != nil {
		t.Fatal(err)
	}
	show := os.Getenv(corporaEnv+"_MISSES") == "train"
	for _, label := range []string{"ask", "pass"} {
		rows := readRows(t, filepath.Join(dir, "effects_"+label+".jsonl"))
		for _, half := range []string{"train", "held-out"} {
			for _, bare := range []bool{false, true} {
				report(t, j, label, half, rows, bare, show && half == "train")
			}
		}
	}
}

func report(t *testing.T, j *effects.Judge, label, half string, rows []row, bare, show bool) {
	t.Helper()
	right, all := map[string]int{}, map[string]int{}
	good, n := 0, 0
	for _, r := range rows {
		if (sha256.Sum256([]byte(r.line))[0]%2 == 0) != (half == "train") {
			continue
		}
		if bare {
			r.Intent = ""
		}
		got, err := j.Grade(t.Context(), vaglio.Proposal{Executor: r.Executor, Args: r.Args, Intent: r.Intent, Context: vaglio.Context{Cwd: r.Cwd}})
		if err != nil {
			t.Fatal(err)
		}
		all[r.Category]++
		n++
		if asked := got.Score < effects.Threshold; asked == (label == "ask") {
			right[r.Category]++
			good++
		} else if show && !bare {
			text, _ := json.Marshal(r.Args)
			t.Logf("WRONG %s %s %s | %s | %.2f %s", label, r.Category, r.Executor, text, got.Score, got.Reasoning)
		}
	}
	intent := "with intent"
	if bare {
		intent = "without intent"
	}
	t.Logf("%s rows, %s half, %s: %d of %d as labelled (%.1f %%)", label, half, intent, good, n, 100*float64(good)/float64(max(n, 1)))
	if bare {
		return
	}
	var b strings.Builder
	keys := make([]string, 0, len(all))
	for k := range all {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		if right[k] != all[k] || show {
			b.WriteString(" " + k + " " + strings.Repeat("x", all[k]-right[k]))
		}
	}
	t.Log("misses by class:" + b.String())
}

func readRows(t *testing.T, name string) []row {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []row
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		r := row{line: s.Text()}
		if r.line == "" {
			continue
		}
		if err := json.Unmarshal([]byte(r.line), &r); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out = append(out, r)
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
