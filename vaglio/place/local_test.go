package place

import (
	"slices"
	"strings"
	"testing"
)

func TestLocal(t *testing.T) {
	t.Parallel()
	eachRow(t, "local.txt", func(p, want string) {
		if got := Local(p, "/home/ann"); got != want {
			t.Errorf("%q is %q, not %q", p, got, want)
		}
	})
	if got := Local("~/x", ""); got != "~/x" {
		t.Errorf("without a home ~/x is %q", got)
	}
}

func TestJoin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ cwd, path, want string }{
		{"/w", "x", "/w/x"}, {"/w", "../x", "/x"}, {"/w", "/x", "/x"}, {"", "x", "x"}, {"", "./x", "x"}, {"w", "x", "w/x"}, {"/w", "", "."},
	} {
		if got := Join(c.cwd, c.path); got != c.want {
			t.Errorf("%q from %q is %q, not %q", c.path, c.cwd, got, c.want)
		}
	}
}

func TestByProcess(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, cwd, want string }{
		{"/proc/self/root/etc/x", "", "/etc/x"},
		{"/proc/1/root", "", "/"},
		{"/proc/1/cwd/etc", "", "/etc"},
		{"/proc/self/cwd/x", "/w", "/w/x"},
		{"/proc/thread-self/cwd", "/w", "/w"},
		{"/proc/self/cwd/x", "", "/proc/self/cwd/x"},
		{"/proc/self/cwdx/x", "/w", "/proc/self/cwdx/x"},
		{"/proc/self/rootx/x", "/w", "/proc/self/rootx/x"},
		{"/proc/self/root/proc/self/root/etc", "", "/etc"},
		{strings.Repeat("/proc/self/root", 9) + "/etc", "", "/etc"},
		{"/proc/self/cwd", "/proc/self/cwd", "/proc/self/cwd"},
		{"/proc/42/cwd/x", "/w", "/proc/42/cwd/x"},
		{"/srv/x", "/w", "/srv/x"},
	} {
		if got := ByProcess(c.path, c.cwd); got != c.want {
			t.Errorf("%s from %q is %s, not %s", c.path, c.cwd, got, c.want)
		}
	}
}

func TestDecodings(t *testing.T) {
	t.Parallel()
	eachRow(t, "decodings.txt", func(p, want string) {
		text := strings.ReplaceAll(p, "<nul>", "\x00")
		if got := slices.Collect(Decodings(text, true, false)); !slices.Contains(got, want) {
			t.Errorf("%q is never %q, but %q", text, want, got)
		}
	})
	if got := slices.Collect(Decodings(`a\u002fb`, false, false)); len(got) != 0 {
		t.Errorf("escapes in data are decoded: %q", got)
	}
	if got := slices.Collect(Decodings(`a\u002fb\c`, true, true)); !slices.Contains(got, "a/b/c") {
		t.Errorf("where a backslash is a slash: %q", got)
	}
	for _, text := range []string{`a\x00b`, `\x2`, `\u002`, `\05`, `\x+f`, "file:", "file:a"} {
		if got := slices.Collect(Decodings(text, true, false)); len(got) != 0 {
			t.Errorf("%q is decoded: %q", text, got)
		}
	}
	for text, want := range map[string]string{"a\x00b": "ab", "%41b": "Ab"} { // no escapes of a language
		if got := slices.Collect(Decodings(text, false, false)); !slices.Contains(got, want) {
			t.Errorf("%q in data is never %q, but %q", text, want, got)
		}
	}
	if got := slices.Collect(Decodings("%25252e", true, false)); got[len(got)-1] != "." {
		t.Errorf("three layers end in %q", got)
	}
	if got := slices.Collect(Decodings("%2525252e", true, false)); slices.Contains(got, ".") {
		t.Errorf("four layers are decoded: %q", got)
	}
}

// TestPercent decodes escapes, and leaves what only looks like one.
func TestPercent(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"%2f": "/", "%2F": "/", "%aa%AA": "\xaa\xaa", "%09": "\t", "%99": "\x99", "%ff%FF": "\xff\xff", "%%41": "%A", "%4": "%4", "%41": "A", "%c0%af%C0%AE": "/.",
		"%2g": "%2g", "%g2": "%g2", "%2G": "%2G", "%G2": "%G2", "%2z": "%2z", "%2:": "%2:", "%/2": "%/2", "%2@": "%2@", "%`2": "%`2",
		"%u002f": "/", "%U002F": "/", "%u002": "%u002", "%u00zf": "%u00zf",
	} {
		if got := unpercent(text); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
}

// TestGlobbed replaces wildcards by marks. A bracket that is not closed in its step is
// literal, and the first character in a bracket does not close it.
func TestGlobbed(t *testing.T) {
	t.Parallel()
	one, more := string(AnyByte), string(AnyText)
	for text, want := range map[string]string{
		"a": "a", "a*b?c": "a" + more + "b" + one + "c", "a[bc]d": "a" + one + "d", "[a]": one, "[ab][c]": one + one, "[a": "[a", "[": "[", "[]": "[]", "[]a]": one, "[]]": one, "[!]": "[!]", "[!a]": one, "[^]": "[^]", "[^a]b": one + "b", "[!]a]": one, "[]/]": "[]/]", "[!/a]": "[!/a]", "a[": "a[", "a[!": "a[!",
		"[a/b]": "[a/b]", "[a/[b]": "[a/" + one, "[[a]": one, "[/]": "[/]", "[]/[a]": "[]/" + one, "[ab/c[d]e": "[ab/c" + one + "e",
	} {
		if got := Globbed(text); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
}

// TestWhatNobodySees removes invisible characters from a text, and nothing else.
func TestWhatNobodySees(t *testing.T) {
	t.Parallel()
	for _, r := range []rune{
		0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x3164, 0xffa0, 0x180b, 0x180c, 0x180f, 0xfe00, 0xfe0f, 0xe0000, 0xe0fff, 0x200b, 0xfeff, 0x00ad,
	} {
		if got := Visible("a" + string(r) + "b"); got != "ab" {
			t.Errorf("%U leaves %q", r, got)
		}
	}
	for _, r := range []rune{0x180a, 0x1810, 0xfdfc + 1, 0xfe20, 0xe1000, 0x3165, 0x00e9} {
		if got := Visible("a" + string(r) + "b"); got == "ab" {
			t.Errorf("%U is taken out", r)
		}
	}
	for text, want := range map[string]int{"c:": 0, "c": 0, "": 0, `c:\`: 2} {
		if got := slices.Collect(Decodings(text, true, false)); len(got) != want {
			t.Errorf("%q may be %q", text, got)
		}
	}
}

// TestStreams extracts the path from the name of a stream.
func TestStreams(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"php://filter/resource=/etc/x": "/etc/x", "PHP://=a": "a", "php://": "php://", "php://a": "php://a", "file:///a": "/a", "x://~/a": "~/a",
		"x://h/a=/b": "x://h/a=/b", "php://x=php://y=/a": "/a", "a b://x": "a b://x", "/x://y": "/x://y", "x": "x",
	} {
		if got := streamed(text); got != want {
			t.Errorf("%s is the stream %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{"%USERPROFILE%": "$HOME", "%home%/x": "$HOME/x", "%homedrive%%homepath%": "$HOME", "%hom": "%hom", "a%home%": "a%home%"} {
		if got := windowsHome(text); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
}

func TestMeet(t *testing.T) {
	t.Parallel()
	eachRow(t, "meet.txt", func(p, want string) {
		step, pattern, _ := strings.Cut(p, " ")
		if got := Meet(marks(step), pattern); got != (want == "yes") {
			t.Errorf("%s meets %s: %t", step, pattern, got)
		}
	})
}

// TestMeetOfLongNames matches names and patterns of the maximum length. Longer ones match
// only if they are vague.
func TestMeetOfLongNames(t *testing.T) {
	t.Parallel()
	a := func(n int) string { return strings.Repeat("a", n) }
	for _, tt := range []struct {
		step, pattern string
		want          bool
	}{
		{a(4096), "a*a", true},
		{a(4097), "a*a", false},
		{a(4096) + string(AnyByte), "a*bb", true},
		{a(4095) + string(AnyByte), "a*bb", false},
		{a(255), a(254) + "?", true},
		{a(256), a(255) + "?", false},
		{a(3) + string(AnyByte), a(254) + "?", false},
		{a(3) + string(AnyByte), a(255) + "?", true},
		{a(5000) + string(AnyText), "b", false},
	} {
		if got := Meet(tt.step, tt.pattern); got != tt.want {
			t.Errorf("%d bytes and a pattern of %d: %v", len(tt.step), len(tt.pattern), got)
		}
	}
}

func TestVariants(t *testing.T) {
	t.Parallel()
	if got := Variants("/a\x05/\x05"); !slices.Equal(got, []string{"/a/", "/a/\x04", "/a\x04/", "/a\x04/\x04"}) {
		t.Errorf("two unknowns give %q", got)
	}
	if got := Variants("a\x05b\x05c\x05"); len(got) != 8 {
		t.Errorf("three unknowns give %q", got)
	}
	if got := Variants("\x05\x05\x05\x05"); !slices.Equal(got, []string{"", "\x04\x04\x04\x04"}) {
		t.Errorf("four unknowns give %q", got)
	}
}

// FuzzNormal checks that the normal form of a path is its own normal form, and that no text
// breaks a lookup.
func FuzzNormal(f *testing.F) {
	table, err := Load("/home/ann", false)
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{
		"~/.ssh/id_rsa", "$HOME/x", "file:///etc/shadow", "file:%2fetc", `C:\Users\x`,
		`\\?\C:\x`, `\\.\PhysicalDrive0`, "/a//b/../c", "\x05/\x01", "/proc/self/root/etc", "/{a,b}/**",
		"/dev/\x01", "**/*", "/mnt/c/x", "%25252e", "&#47;etc", `\u{2f}`, "php://filter/resource=/etc/passwd", "/\u200bx",
	} {
		f.Add(s, "/w")
	}
	f.Fuzz(func(t *testing.T, p, cwd string) {
		once := ByProcess(Join(Local(cwd, "/home/ann"), Local(p, "/home/ann")), "/w")
		if strings.HasPrefix(once, "/") {
			if again := ByProcess(Join("/w", Local(once, "/home/ann")), "/w"); again != once && !strings.HasPrefix(once, "/proc/") {
				t.Errorf("%q is %q, and that is %q", p, once, again)
			}
		}
		for _, q := range append(Variants(once), Globbed(once)) {
			_, _, _, _ = table.Classes(q), table.Below(q), table.TreeAt(q), table.IsDisk(q)
			_, _, _ = table.Rule(q, Empties), table.Rebuilt(q), table.Variable(q)
		}
		for form := range Decodings(p, true, true) {
			_ = form
		}
	})
}

// TestHostilePaths looks up paths that are made to be expensive. The test's own deadline is
// the limit.
func TestHostilePaths(t *testing.T) {
	t.Parallel()
	table := load(t)
	for _, p := range []string{
		"/" + strings.Repeat("\x01a\x01b/", 2000),
		"/home/ann/" + strings.Repeat("a\x01", 4000),
		"/" + strings.Repeat("\x01", 1<<20),
		"/" + strings.Repeat("a/", 1<<19),
		"/" + strings.Repeat("a", 1<<20) + ".pem",
		strings.Repeat("\x05/", 1<<15),
	} {
		_, _, _, _ = table.Rule(p, Empties), table.Classes(p), table.Below(p), table.TreeAt(p)
	}
}

func TestIsTelling(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]bool{
		"*": false, "*.*": false, "[abc]*": false, "?": false, "\x01\x04": false, "*.log": true, "[ab]x": true, "a": true, "": false,
	} {
		if got := IsTelling(pattern); got != want {
			t.Errorf("%q tells: %t", pattern, got)
		}
	}
}

// TestInside tells what lies in a folder from what only has a name that begins alike.
func TestInside(t *testing.T) {
	for _, row := range []struct {
		root, clean string
		in          bool
	}{
		{"/a", "/a", true},
		{"/a", "/a/b", true},
		{"/a", "/ab", false},
		{"/a", "/b", false},
		{"/a", "/", false},
		{"/a/b", "/a", false},
		{"/a/b", "/a/b/c", true},
		{"/", "/", true},
		{"/", "/a", true},
		{"/", "a", false},
		{"/abc", "/x", false},
	} {
		for _, roots := range [][]string{{row.root}, {"/z", row.root}, {row.root, "/z/longer/than/it"}} {
			if Inside(roots, row.clean) != row.in {
				t.Errorf("%s in %v: %v", row.clean, roots, !row.in)
			}
		}
	}
	if Inside(nil, "/a") {
		t.Error("in no folder")
	}
}
