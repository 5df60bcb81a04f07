package install

import (
	"os"
	"path/filepath"
	"testing"
)

// TestNoEmptyFoldersStay removes the hook of every client: no folder stays that holds nothing, and
// none goes that holds something, is a link, or is the home itself.
func TestNoEmptyFoldersStay(t *testing.T) {
	for _, name := range Clients() {
		o := options(t, name)
		apply(t, Add, o)
		apply(t, Remove, o)
		if left, err := os.ReadDir(o.Home); err != nil || len(left) != 0 {
			t.Errorf("%s leaves %v %v", name, left, err)
		}
	}
	o := options(t, "copilot")
	kept := filepath.Join(o.Home, ".copilot", "config.json")
	write(t, kept, "{}", 0o600)
	apply(t, Add, o)
	apply(t, Remove, o)
	if left, err := os.ReadDir(filepath.Dir(kept)); err != nil || len(left) != 1 {
		t.Errorf("beside another file: %v %v", left, err)
	}
	o = options(t, "claude-code")
	link, elsewhere := filepath.Join(o.Home, ".claude"), t.TempDir()
	if err := os.Symlink(elsewhere, link); err != nil {
		t.Fatal(err)
	}
	apply(t, Add, o)
	apply(t, Remove, o)
	if to, err := os.Readlink(link); err != nil || to != elsewhere {
		t.Errorf("the link leads to %q, %v", to, err)
	}
}
