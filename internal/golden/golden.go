// Package golden holds what tests got against files. With -update a test writes
// its files anew.
package golden

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

//nolint:gochecknoglobals // A flag is known before the first test runs.
var update = flag.Bool("update", false, "write the golden files anew")

// Check fails the test when the file at path, below the test's own folder, does
// not hold what it got. With -update it writes the file first.
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
		t.Errorf("%s (-want +got; -update writes it anew):\n%s", path, diff)
	}
}
