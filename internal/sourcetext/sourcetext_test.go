package sourcetext

import (
	"regexp"
	"strings"
	"testing"
)

var blanks, lineEnds = regexp.MustCompile(`\s+`), regexp.MustCompile(`\n\s*(\w)`)

// FuzzPatterns compares the fast ways with those that leave everything to the regular expressions.
func FuzzPatterns(f *testing.F) {
	list := []string{`\.Args(\[|=[^=]|,)`, `(^|\W)self\.\w+=[^=]`, `SetArgs`, `[^\w)]\*\w+=`, `(?i)env`, `(set)+\(`, `argv$`}
	for _, seed := range []string{"a := os.Args\n\n  [1]", "x\r\n\tself.y = 1", "\n\n }\n \f z", "", "SETENV", "\xff\n é", "p(*x = 1)", "a\n _b argv", "self.x = 1", "f(os.Args, 1) env"} {
		f.Add(seed)
	}
	p, err := Compile(list)
	if err != nil {
		f.Fatal(err)
	}
	plain, err := Compile([]string{`self\.x=\d`, `os\.Args,`})
	if err != nil {
		f.Fatal(err)
	}
	without := regexp.MustCompile(`self\.x=\d|os\.Args,`)
	whole := regexp.MustCompile("(?:" + strings.Join(list, ")|(?:") + ")")
	f.Fuzz(func(t *testing.T, text string) {
		want := blanks.ReplaceAllString(lineEnds.ReplaceAllString(text, ";$1"), "")
		if got := squeezed(text); got != want {
			t.Fatalf("%q squeezed is %q, want %q", text, got, want)
		}
		for range 2 { // looked for, then kept
			if got := p.In(text, nil); got != whole.MatchString(want) {
				t.Errorf("%q: %v", want, got)
			}
			if got := p.In(text, plain); got != (whole.MatchString(want) && whole.MatchString(without.ReplaceAllString(want, ""))) {
				t.Errorf("%q, apart from what is plain: %v", want, got)
			}
		}
	})
}

func TestMistake(t *testing.T) {
	if _, err := Compile([]string{"a", "("}); err == nil {
		t.Error("an open group is no pattern")
	}
}
