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

func TestPlacesOfMistakes(t *testing.T) {
	t.Parallel()
	const text = "# a table\nab b\n\n  cd b,\n# more\n    x b\n"
	for token, want := range map[string]string{
		"b":  "t.txt:2:4: no b",
		"cd": "t.txt:4:3: no cd",
		"x":  "t.txt:6:5: no x",
		"d":  "t.txt:4:4: no d",
		"":   "t.txt:2:1: no ",
	} {
		find := func(row string) error {
			if strings.Contains(row, token) {
				return rows.Wrong(token, "no %s", token)
			}
			return nil
		}
		if err := rows.Read("t.txt", text, find); err == nil || err.Error() != want {
			t.Errorf("Read: %v, want %s", err, want)
		}
		if err := rows.ReadJoined("t.txt", text, find); err == nil || err.Error() != want {
			t.Errorf("ReadJoined: %v, want %s", err, want)
		}
	}
	var got []string
	if err := rows.ReadJoined("t.txt", text+"y\n", func(row string) error { got = append(got, row); return nil }); err != nil || strings.Join(got, ";") != "ab b cd b,x b;y" {
		t.Errorf("%q, %v", got, err)
	}
}
