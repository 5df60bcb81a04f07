// Package golden compares test results with files. With -update, a test rewrites its files.
package golden

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

//nolint:gochecknoglobals // A flag is known before the first test runs.
var update = flag.Bool("update", false, "rewrite the golden files")

// Check fails the test if the file at path, relative to the test's folder, differs from got. With
// -update, it writes the file first.
func Check(t testing.TB, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path) //nolint:gosec // The test names it.
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; -update rewrites it):\n%s", path, diff)
	}
}
