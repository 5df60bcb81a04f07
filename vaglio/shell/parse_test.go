package shell

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// parseRows returns the rows of testdata/parse.txt by kind: "read"; "refused", by bash as well; or
// "unread", where bash parses what our parser does not. In a row \n stands for a newline.
func parseRows(t *testing.T) map[string][]string {
	t.Helper()
	raw, err := os.ReadFile("testdata/parse.txt")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for row := range strings.Lines(string(raw)) {
		kind, line, ok := strings.Cut(strings.TrimSuffix(row, "\n"), "\t")
		if !ok {
			t.Fatalf("%q has no tab", row)
		}
		rows[kind] = append(rows[kind], strings.ReplaceAll(line, `\n`, "\n"))
	}
	return rows
}

// TestParse checks that a line is only called unparsable if bash would not parse it either.
func TestParse(t *testing.T) {
	for kind, rows := range parseRows(t) {
		want := map[string]ProblemKind{"read": "", "refused": ProblemUnparsable, "unread": ProblemUnread}[kind]
		for _, line := range rows {
			got := kinds(Read(line, testOptions()))
			unparsable, unread := slices.Contains(got, ProblemUnparsable), slices.Contains(got, ProblemUnread)
			if unparsable != (want == ProblemUnparsable) || unread != (want == ProblemUnread) {
				t.Errorf("%q is %s, but has %q", line, kind, got)
			}
		}
	}
}

// TestParseAsBash checks the rows against bash itself.
func TestParseAsBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	for kind, rows := range parseRows(t) {
		for _, line := range rows {
			err := exec.CommandContext(t.Context(), bash, "-n", "-c", line).Run()
			if (err != nil) != (kind == "refused") {
				t.Errorf("%q is %s, but bash says %v", line, kind, err)
			}
		}
	}
}
