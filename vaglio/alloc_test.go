package vaglio_test

import (
	"testing"

	"github.com/metnos/vaglio/vaglio"
)

// TestNeedsCostNothing holds that asking what judges need is free if no judge needs anything.
func TestNeedsCostNothing(t *testing.T) {
	e := newEngine(t, 0.3)
	if n := testing.AllocsPerRun(100, func() {
		if e.Needed("read_file") != (vaglio.Needs{}) {
			t.Error("rules need nothing")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
