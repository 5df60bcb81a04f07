package shell

import (
	"os"
	"strings"
	"testing"
)

// TestConfirmTable compares the sources of testdata/confirm.txt, which run
// nothing but probes and the core utilities in an empty folder, word for word
// with what bash runs.
func TestConfirmTable(t *testing.T) {
	text, err := os.ReadFile("testdata/confirm.txt")
	if err != nil {
		t.Fatal(err)
	}
	for src := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n"), "\n---\n") {
		compareWithBash(t, setting+src)
	}
}
