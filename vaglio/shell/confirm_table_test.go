package shell

import (
	"os"
	"strings"
	"testing"
)

// TestConfirmTable compares what bash runs, word for word, with what the reader finds in the
// sources of testdata/confirm.txt, which run only probes and the core utilities in an empty
// folder.
func TestConfirmTable(t *testing.T) {
	text, err := os.ReadFile("testdata/confirm.txt")
	if err != nil {
		t.Fatal(err)
	}
	for src := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n"), "\n---\n") {
		compareWithBash(t, setting+src)
	}
}
