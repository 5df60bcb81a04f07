package patch

import (
	"slices"
	"strings"
	"testing"
)

// TestNamesOfHeaders checks that every name which a program may read from a header line is found.
func TestNamesOfHeaders(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"":                               nil,
		"   ":                            nil,
		"a":                              {"a"},
		"  a  ":                          {"a"},
		"a b":                            {"a", "a b"},
		"a b\t2026-01-01":                {"a b"},
		"a\tb":                           {"a"},
		"a 2026-01-09 10:00":             {"a", "a 2026-01-09 10:00"},
		"a  2026-01-09":                  {"a", "a  2026-01-09"},
		"a Mon Jan":                      {"a", "a Mon Jan"},
		"a Zon Aan":                      {"a", "a Zon Aan"},
		"a (revision 5)":                 {"a", "a (revision 5)"},
		"a (working copy)":               {"a", "a (working copy)"},
		"\"a\\tb\" c":                    {"a\tb"},
		"\"a":                            {"\"a"},
		"`a` b":                          {"`a`", "`a` b"},
		"a 2026-01-01 and (working copy": {"a", "a 2026-01-01 and (working copy"},
	} {
		if got, null := namesIn(line); !slices.Equal(got, want) || null {
			t.Errorf("%q names %q (none: %v), want %q", line, got, null, want)
		}
	}
	for _, line := range []string{"/dev/null", "/dev/null 2026-01-01", "/dev/null\tx", "\"/dev/null\""} {
		if got, null := namesIn(line); !null {
			t.Errorf("%q names %q", line, got)
		}
	}
	for text, want := range map[string]string{`"a\"b"`: `a"b`, ` "a" `: "a", `"`: `"`, `"a`: `"a`, "": "", `a"`: `a"`, `""`: ""} {
		if got := unquoted(text); got != want {
			t.Errorf("%q without quotes is %q", text, got)
		}
	}
	for text, want := range map[string][2]string{
		`"a b" "c"`: {"a b", "c"}, `"a" c`: {"a", "c"}, `a "c d"`: {"a", "c d"}, `a c`: {}, "": {}, `a "c`: {}, `"a`: {}, ` "a"`: {"", "a"},
	} {
		a, b, ok := quotedPair(text)
		if got := [2]string{a, b}; got != want || ok != (want != [2]string{}) {
			t.Errorf("%q is the pair %q (%v), want %q", text, got, ok, want)
		}
	}
}

// TestPathsOfNames checks that folders are stripped as git and patch do by default.
func TestPathsOfNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"a/x": "x", "b/x/y": "x/y y", "d/x": "d/x x", "x": "x", "a/": "a/ a", "ab/x": "ab/x x", "2/x": "x", "/x": "/x x"} {
		r := &reader{o: Options{Strip: StripBase}}
		if got := strings.Join(r.stripped(name), " "); got != want {
			t.Errorf("%s stands for %q, want %q", name, got, want)
		}
		r.o.Strip = 0
		if got := r.stripped(name); len(got) != 1 || got[0] != name {
			t.Errorf("%s with nothing taken off is %q", name, got)
		}
	}
}

// TestRanges checks the sizes read from the first line of a hunk.
func TestRanges(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][2]int{
		"@@ -1 +1 @@": {1, 1}, "@@ -1,2 +3,4 @@": {2, 4}, "@@ -0,0 +1 @@ f()": {0, 1}, "@@ -2147483647 +1,2147483647 @@": {1, 2147483647},
	} {
		if olds, news, ok := hunkSize(line); !ok || [2]int{olds, news} != want {
			t.Errorf("%q has %d and %d lines (%v), want %v", line, olds, news, ok, want)
		}
	}
	for _, line := range []string{
		"@@ -1 +1", "@@ 1 +1 @@", "@@ -1 1 @@", "@@ -1 +1 x", "@@ -x +1 @@", "@@ -1,x +1 @@", "@@ -1 +1,x @@", "@@ -0x1 +1 @@", "@@ -2147483648 +1 @@",
		"@@ -1,2147483648 +1 @@", "@@ -1 +1,-1 @@",
	} {
		if _, _, ok := hunkSize(line); ok {
			t.Errorf("%q begins a hunk", line)
		}
	}
	for line, want := range map[string]bool{
		"1a": true, "1,2c": true, "3d4": true, "1,2c3,4": true, "s": false, "1s/a/b/": true, "1s": true, "1i": true, "a": false, "1": false, "": false, "1x": false,
		"1a b": false, "1a/": false, "1sx": false, ",a": true,
	} {
		if edCommand.MatchString(line) != want {
			t.Errorf("%q is a command of ed: %v", line, !want)
		}
	}
}

// TestNamesOfTools checks that tools that apply patches are told apart from those that only look.
func TestNamesOfTools(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]bool{
		"patch": {true}, "diff": {true}, "apply patch": {true}, "patch apply": {true}, "fs apply diff": {true}, "applypatch": {true}, "git patch": {}, "patch x": {},
		"x diff y": {}, "apply x patch": {}, "apply": {}, "": {}, "read patch": {false, true}, "apply x": {}, "lint diff": {false, true},
	} {
		words := strings.Fields(name)
		if got := [2]bool{NamesApplier(words), NamesReader(words)}; got != want {
			t.Errorf("%q applies and reads: %v, want %v", name, got, want)
		}
	}
}
