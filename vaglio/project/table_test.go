package project

import (
	"strings"
	"testing"
)

// TestWrongLinesOfTheTable holds that the error names the line of a mistake.
func TestWrongLinesOfTheTable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"make | | makefile: Makefile": "", "make | makefile: x": "tools.txt:1:1: want programs", "\n# x\nmake | | nobody: x": `tools.txt:3:10: there is no reader "nobody"`, "make | a b | data": "",
	} {
		if _, err := parseTable(text); (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
