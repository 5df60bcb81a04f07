package place

import (
	"slices"
	"strings"
	"testing"
)

// TestSpellingsOfTexts checks what texts may name besides what they literally say.
func TestSpellingsOfTexts(t *testing.T) {
	for _, tt := range []struct {
		text string
		hint Hint
		want []string
	}{
		{"/a", 0, nil},
		{"/a,/b", 0, nil},
		{"/a,/b", Named, []string{"/a", "/b"}},
		{"/a:/b", Named, []string{"/a", "/b"}},
		{"/a /b", Named, []string{"/a", "/b"}},
		{"x /b", Named, nil},
		{"/a,/b", Named | Content, nil},
		{"/a,/b", Named | Key, nil},
		{"/a,/b", Named | Line, nil},
		{"[/a,/b]", 0, []string{"/a", "/b"}},
		{"<~/a>", 0, []string{"~/a"}},
		{"@/a", 0, []string{"/a"}},
		{"see file:///a", 0, []string{"/a"}},
		{"file:///a,x,file:///b", Named, []string{"/a", "/b", "/a,x,file:///b"}},
		{"file:/a:/b", Named, []string{"/a:/b", "/a:/b"}},
		{"xy://h:/b", Named, nil},
		{"[x:/b]", 0, []string{"/b"}},
		{"\x00/a", 0, []string{"", "/a"}},
		{"/{a,b}", 0, []string{"/b", "/a"}},
		{"/{a b,c}", 0, nil},
		{"/%61", 0, []string{"/a"}},
		{`"/a"`, 0, []string{"/a"}},
		{"'/a'", 0, []string{"/a"}},
		{"`/a`", 0, []string{"/a"}},
		{`"/a'`, 0, nil},
		{`"`, 0, nil},
		{`""`, 0, []string{""}},
		{`\x2fa`, 0, []string{"/a"}},
		{`\x2fa`, Content, nil},
		{`\x2fa`, Line, nil},
		{"/é", 0, nil},
	} {
		var got []string
		for s := range Spellings(tt.text, tt.hint, false) {
			got = append(got, s)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q with %b: %q, want %q", tt.text, tt.hint, got, tt.want)
		}
	}
	for _, text := range []string{"/a,/b", "/{a,b}", "/%61"} {
		for range Spellings(text, Named, false) {
			break // a caller that has seen enough stops
		}
	}
}

// TestNamesInTexts finds a name where it is whole steps of a path.
func TestNamesInTexts(t *testing.T) {
	for text, want := range map[string]bool{
		"/a": true, "x=/a;": true, "'/a'": true, "/a/b": true, "": false, "/": false, "/ab": false, "b/a": false, "b/a /a": true, "/ab/a /a": true,
		"/a0": false, "/a9": false, "/aA": false, "/az": false, "/a.": false, "/a-": false, "/a_": false, "/aé": false, "/a:": true, "/a\x7f": true,
		"0/a": false, "9/a": false, "Z/a": false, ":/a": true,
	} {
		if Mentions(text, "/a") != want {
			t.Errorf("%q mentions /a: %v", text, !want)
		}
	}
	for text, want := range map[string]string{
		"$HOME": "~", "$HOME/a$HOME": "~/a~", "$HOMER": "$HOMER", "$HOME0 $HOME": "$HOME0 ~", "$HOME_": "$HOME_", "$HOME.": "~.", "$HOME-": "~-", "$HOM": "$HOM",
	} {
		if got := ReplaceHome(text, "~"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestPlain(t *testing.T) {
	for _, text := range []string{"", "a", "a b", "a.b-c_d", "!"} {
		if !IsPlain(text) {
			t.Errorf("%q is not plain", text)
		}
	}
	for _, text := range []string{"/", "{", "(", "%", "&", `\`, ":", "\x00", "$", "~", "é", "'a", "`a", `"a`, " a", "a ", "a\n", "\x1f"} {
		if IsPlain(text) {
			t.Errorf("%q is plain", text)
		}
	}
}

func TestPathsOfSteps(t *testing.T) {
	for want, steps := range map[string][]string{
		"/etc/shadow": {"/", "etc", "shadow"}, "~/x": {"~", "x"}, "/a": {"", "a"}, "/a/b": {"/a/", "b"},
	} {
		if got := OfSteps(steps); got != want {
			t.Errorf("%q: %q, want %q", steps, got, want)
		}
	}
	longest := append([]string{"~"}, strings.Split(strings.Repeat("a", 31), "")...)
	if got := OfSteps(longest); got != "~"+strings.Repeat("/a", 31) {
		t.Errorf("of as many steps as are read: %q", got)
	}
	for _, steps := range [][]string{append(longest, "a"), nil, {"/"}, {"a", "b"}, {"/", ""}, {"/", "a/b"}, {"/", "a b"}, make([]string, 33)} {
		if got := OfSteps(steps); got != "" {
			t.Errorf("%q: %q", steps, got)
		}
	}
}

// TestNamesInWords checks what a word of a command may name.
func TestNamesInWords(t *testing.T) {
	for word, want := range map[string][]string{
		"": nil, "a": {"a"}, "--x": {""}, "-o/a": {"/a"}, "-o~": {"~"}, "-o@/a": {"/a", "/a"}, "-oa": {""}, "--a=/b": {"", "/b"}, "a=b": {"a=b", ""},
		"a=/b:/c": {"a=/b:/c", "/b", "/c"}, "@/a": {"@/a", "/a"}, "x,./y;z": {"x,./y;z", "./y"}, "h:file:/a": {"h:file:/a", "file:/a", "/a"},
		"--/a": {""}, "--exclude=/a": nil, "--include=/a": nil, "--ignore=/a": nil, "u=//h/x": {"u=//h/x", ""},
		"a b=/c": {"a b=/c", ""}, "a b,c=/d": {"a b,c=/d", "", "/d"}, "a=/b c:/d": {"a=/b c:/d", "/b c", ""},
	} {
		var got []string
		for s := range InWord(word) {
			got = append(got, s)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	for s, want := range map[string]bool{
		"": false, "/": true, "/a": true, "//a": false, "~": true, "./a": true, "../a": true, ".a/b": true, ".a": false, "a/b": false, "file:/a": true,
		"file:a": false,
	} {
		if IsMeant(s) != want {
			t.Errorf("%q is meant as a path: %v", s, !want)
		}
	}
}

func TestPlainLines(t *testing.T) {
	for line, want := range map[string]string{
		"rm -rf //": "rm -rf /", "rm /./././x": "rm /x", "rm $HOME": "rm ~", "rm ${HOME}/": "rm ~/", "rm $HOME/x": "rm $HOME/x", "rm $HOME-x": "rm ~-x",
		"rm $HOME/-x": "rm $HOME/-x", "$HOMER": "$HOMER", "r\u200bm": "rm", "a/b": "a/b", "//": "/", "echo $X": "echo $X",
	} {
		if got := PlainLine(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
