package golden_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/golden"
)

// recorder is a test that may fail.
type recorder struct {
	testing.TB
	said string
}

func (r *recorder) Helper()                        {}
func (r *recorder) Errorf(format string, a ...any) { r.said += fmt.Sprintf(format, a...) }

func TestCheck(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "page")
	if err := os.WriteFile(path, []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, path, "one\ntwo\n")
	r := &recorder{TB: t}
	if golden.Check(r, path, "one\nthree\n"); !strings.Contains(r.said, path) || !strings.Contains(r.said, "three") {
		t.Errorf("another text is told as %q", r.said)
	}
}
