package guard

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// labelled is one row of the labelled calls.
type labelled struct {
	Cmd      string         `json:"cmd"`
	Executor string         `json:"executor"`
	Args     map[string]any `json:"args"`
	Expect   string         `json:"expect"`
	Cat      string         `json:"cat"`
	Verified string         `json:"verified"`
}

func (r labelled) call() Call {
	if r.Executor != "" {
		return Call{Executor: r.Executor, Args: r.Args, Cwd: "/home/user/project"}
	}
	return Call{Executor: "shell_exec", Args: map[string]any{"command": r.Cmd}, Cwd: "/home/user/project"}
}

// heldOut says that a row is not to be looked at while rules are written.
func (r labelled) heldOut() bool {
	text := r.Cmd
	if text == "" {
		text = fmt.Sprint(r.Executor, r.Args) // fmt sorts the keys
	}
	return sha256.Sum256([]byte(text))[0]&1 == 1
}

// tally counts the rows of one class.
type tally struct{ rows, whole, core, beyond int }

// TestCorpora measures the guard on labelled calls and prints a table per
// class. VAGLIO_CORPORA names the folder of guard_block.jsonl,
// guard_allow.jsonl and guard_args.jsonl; VAGLIO_CORPORA_MISSES=train also
// prints the rows that went wrong, of the half that may be looked at.
func TestCorpora(t *testing.T) {
	dir := os.Getenv("VAGLIO_CORPORA")
	if dir == "" {
		t.Skip("VAGLIO_CORPORA names no folder")
	}
	g := New(Config{Home: "/home/user"})
	for _, half := range []string{"train", "held-out", "all"} {
		t.Run(half, func(t *testing.T) {
			for _, file := range []string{"guard_block", "guard_allow", "guard_args"} {
				classes := map[string]*tally{}
				for _, r := range readRows(t, filepath.Join(dir, file+".jsonl")) {
					if half == "all" || r.heldOut() == (half == "held-out") {
						count(t, g, classes, r, half)
					}
				}
				table(t, file, classes)
			}
		})
	}
}

func count(t *testing.T, g *Guard, classes map[string]*tally, r labelled, half string) {
	t.Helper()
	d, denied := g.Check(r.call())
	s := scan{g: g, executor: r.Executor, shell: isShell(r.call())}
	core := s.core(r.call()) != nil
	for _, class := range classesOf(r) {
		c := classes[class]
		if c == nil {
			c = &tally{}
			classes[class] = c
		}
		c.rows++
		c.whole += one(denied)
		c.core += one(core)
		c.beyond += one(denied && !core)
	}
	wrong := denied && !core
	if r.Expect == "block" {
		wrong = !denied
	}
	if wrong && half == "train" && os.Getenv("VAGLIO_CORPORA_MISSES") == "train" {
		t.Logf("%s %s %s: %s %q %s %v", r.Expect, r.Cat, r.Verified, d.ID, r.Cmd, r.Executor, r.Args)
	}
}

func classesOf(r labelled) []string {
	classes := []string{"(all " + r.Expect + ")", r.Cat}
	if r.Expect == "block" && (strings.HasPrefix(r.Verified, "exec") || r.Verified == "effect") {
		classes = append(classes, "(verified)")
	}
	return classes
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

func readRows(t *testing.T, name string) []labelled {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows []labelled
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var r labelled
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	return rows
}

func table(t *testing.T, file string, classes map[string]*tally) {
	t.Helper()
	percent := func(n, of int) float64 { return 100 * float64(n) / float64(of) }
	t.Logf("%-24s %5s %16s %16s %s", file, "rows", "denied", "core alone", "beyond the core")
	for _, name := range slices.SortedFunc(maps.Keys(classes), cmp.Compare[string]) {
		c := classes[name]
		t.Logf("%-24s %5d %6d (%6.2f %%) %6d (%6.2f %%) %6d (%5.2f %%)", name, c.rows, c.whole, percent(c.whole, c.rows), c.core, percent(c.core, c.rows), c.beyond, percent(c.beyond, c.rows))
	}
}
