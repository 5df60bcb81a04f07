package code_test

import (
	"os"
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio/code"
)

// TestLooksOnly checks that scripts of web pages that only look at the page are told apart from
// those that do more: lines of testdata/page.txt begin with "looks" or "acts".
func TestLooksOnly(t *testing.T) {
	for _, row := range pageRows(t) {
		if got := code.Default().LooksOnly(row.script); got != row.looks {
			t.Errorf("LooksOnly(%s) = %v, want %v", row.script, got, row.looks)
		}
	}
}

type pageRow struct {
	looks  bool
	script string
}

func pageRows(t *testing.T) []pageRow {
	t.Helper()
	text, err := os.ReadFile("testdata/page.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []pageRow
	for line := range strings.Lines(string(text)) {
		verdict, script, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok || verdict != "looks" && verdict != "acts" {
			t.Fatalf("%q is not a row", line)
		}
		out = append(out, pageRow{verdict == "looks", strings.ReplaceAll(script, `\n`, "\n")})
	}
	return out
}
