package rows_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/rows"
)

func TestRowsAreNumberedLines(t *testing.T) {
	t.Parallel()
	var got []string
	for n, line := range rows.Of("# a table\n\n a\n\t# more\nb # c\n  \nd") {
		got = append(got, fmt.Sprintf("%d%q", n, line))
	}
	if want := `3" a\n" 5"b # c\n" 7"d"`; strings.Join(got, " ") != want {
		t.Errorf("%s, want %s", got, want)
	}
	for n := range rows.Of("a\nb\n") {
		if n != 1 {
			t.Errorf("row %d comes after the end", n)
		}
		break
	}
}
