package mask_test

import (
	"bufio"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/strictjson"
)

// TestCorpora reports what is masked in labeled calls, whose folder VAGLIO_CORPORA names.
// Fewer than one in 200 of them hold a secret, so more masks than that are false alarms,
// which hide from people what would run.
func TestCorpora(t *testing.T) {
	folder := os.Getenv("VAGLIO_CORPORA")
	if folder == "" {
		t.Skip("VAGLIO_CORPORA is not set: see 'make corpora'")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no corpora in %s: name a folder of labelled calls, a JSON object on each line of its *.jsonl, with make corpora CORPORA=folder", folder)
	}
	for _, name := range files {
		rows, touched := 0, 0
		for args := range calls(t, name) {
			rows++
			before, err := strictjson.Canonical(args)
			if err != nil {
				continue
			}
			after, err := strictjson.Canonical(masker.Object(args))
			if err != nil {
				t.Error(err)
			}
			if strings.Contains(string(after), "‹masked ") {
				touched++
				t.Logf("%.300s\n  => %.300s", before, after)
			}
		}
		if touched*200 > rows+199 {
			t.Errorf("%s: too much is masked", filepath.Base(name))
		}
		t.Logf("%s: of %d rows %d have something masked", filepath.Base(name), rows, touched)
	}
}

// calls yields the arguments of the calls of a file.
func calls(t *testing.T, name string) func(func(map[string]any) bool) {
	return func(yield func(map[string]any) bool) {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<22)
		for lines.Scan() {
			var row struct {
				Cmd  string         `json:"cmd"`
				Args map[string]any `json:"args"`
			}
			if err := strictjson.UnmarshalLoose(lines.Bytes(), &row); err != nil {
				t.Fatal(err)
			}
			args := maps.Clone(row.Args)
			if args == nil {
				args = map[string]any{"command": row.Cmd}
			}
			for k, v := range args {
				if _, number := v.(float64); number {
					delete(args, k) // only texts are examined here
				}
			}
			if !yield(args) {
				return
			}
		}
	}
}
