package guard

import (
	"testing"

	"github.com/metnos/vaglio/vaglio/shell"
)

// TestBlame holds that the first place that broke a rule is kept.
func TestBlame(t *testing.T) {
	var first trouble
	first.blame(&shell.Command{})
	first.blame(&shell.Command{File: "a.sh", Line: 3})
	first.blame(&shell.Command{File: "b.sh", Line: 4})
	if first.file != "a.sh" || first.line != 3 {
		t.Errorf("it stands in %s, line %d", first.file, first.line)
	}
}
