package search

import (
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio/shell/word"
)

// TestFound holds what find passes on to what stands behind its tests: starts | tests up to what acts.
func TestFound(t *testing.T) {
	for command, want := range map[string]string{
		"src | -delete":                                    "src src/$(find)",
		" | -delete":                                       ". ./$(find)",
		"a b | -mindepth 1 -delete":                        "a/$(find) b/$(find)",
		"a | -maxdepth 0 -delete":                          "a",
		"a | -name *.o -delete":                            "a/*.o a/$(find)/*.o",
		"a | -type f -iname x -delete":                     "a/x a/$(find)/x",
		"a | ! -name x -delete":                            "a a/$(find)",
		"a | -not ( -name x ) -delete":                     "a a/$(find)",
		"a | -name x -o -name y -delete":                   "a/x a/$(find)/x a/y a/$(find)/y",
		"a | ( -name x -o -iname y ) -type f -delete":      "a/x a/$(find)/x a/y a/$(find)/y",
		"a | -name x -o -type f -delete":                   "a a/$(find)",
		"a | ( -name x -o ! -name y ) -delete":             "a a/$(find)",
		"a | -name x -newer ( -o -newer ) -delete":         "a a/$(find)",
		"a | -name x -newer ) -o -newer ( -type f -delete": "a a/$(find)",
		"a | -name x -o -delete":                           "a a/$(find)",
		"a | -name x -delete -o -delete":                   "a a/$(find)",
		"a | -path ./b -prune -o -name x -delete":          "a/x a/$(find)/x",
		"a | ( -name n -o -name m ) -prune -o -name x -rm": "a/x a/$(find)/x",
		"a | -name n , -name x -delete":                    "a a/$(find)",
	} {
		before, behind, _ := strings.Cut(command, "|")
		var starts, tests []word.Word
		for w := range strings.FieldsSeq(before) {
			starts = append(starts, word.Text(w))
		}
		for w := range strings.FieldsSeq(behind) {
			tests = append(tests, word.Text(w))
		}
		acts := slices.IndexFunc(tests, func(w word.Word) bool { return w.Is("-delete") || w.Is("-rm") })
		var got []string
		for _, w := range Found(starts, tests, acts) {
			got = append(got, w.String())
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s passes on %s, want %s", command, s, want)
		}
	}
	if n := len(Found(make([]word.Word, maxStarts+4), nil, 0)); n != 2*(maxStarts+1) {
		t.Errorf("%d names are passed on from many starting points", n)
	}
}
