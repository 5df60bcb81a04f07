package channeltest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEveryEventNamesItsTests checks that the tests in EVENTS.md are there: the cases in the
// contract, the others in the packages of their channels.
func TestEveryEventNamesItsTests(t *testing.T) {
	t.Parallel()
	contract, named := source(t, ".", "*.go"), regexp.MustCompile("`(\\w+)`")
	channels := []string{"telegram", "slack", "web"}
	found := 0
	for line := range strings.Lines(source(t, ".", "EVENTS.md")) {
		cells := strings.Split(line, "|")
		if len(cells) != len(channels)+3 {
			continue
		}
		for i, channel := range channels {
			tests := source(t, filepath.Join("..", channel), "*_test.go")
			for _, m := range named.FindAllStringSubmatch(cells[i+2], -1) {
				is := strings.Contains(contract, `"`+m[1]+`"`)
				if strings.HasPrefix(m[1], "Test") {
					is = strings.Contains(tests, "\nfunc "+m[1]+"(t *testing.T)")
				}
				if found++; !is {
					t.Errorf("%s: there is no %s", channel, m[1])
				}
			}
		}
	}
	if found == 0 {
		t.Error("EVENTS.md names no test")
	}
}

// source returns the files of a folder that match, one after another.
func source(t *testing.T, dir, match string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, match))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v, %v", dir, files, err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}
