package unixtext

import (
	"slices"
	"strings"
	"testing"
)

// TestBraced expands braces and alternatives, the innermost first.
func TestBraced(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"/a": nil, "${a,b}": nil, "/a}": nil, "/a)": nil, "/a{b": nil, "/{a}": nil, "/${a,b}": nil, "/(a|b)": nil, "/}{a,b}": {"/}b", "/}a"}, "/{a,b}": {"/b", "/a"},
		"/@(a|b)": {"/b", "/a"}, "/+(a|b)": {"/b", "/a"}, "/?(a)": {"/a"}, "/*(a|b)c": {"/bc", "/ac"}, "/{a,{b,c}}": {"/c", "/a", "/b", "/a"}, "(a|b)": nil,
		"/{a,b}/@(c|d)": {"/b/d", "/b/c", "/a/d", "/a/c"}, "{/a,/b}/c": {"/b/c", "/a/c"},
	} {
		if got := Braced(text); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if got := Braced("/" + strings.Repeat("{a,b}", 10)); len(got) != maxBraced+1 {
		t.Errorf("a thousand paths are tried as %d", len(got))
	}
}
