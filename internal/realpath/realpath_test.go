package realpath

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestResolve(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	mk := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	mk(os.MkdirAll(dir+"/real/deep", 0o700))
	mk(os.WriteFile(dir+"/real/deep/f", nil, 0o600))
	mk(os.Symlink("real/deep", dir+"/rel"))
	mk(os.Symlink("/etc", dir+"/abs"))
	mk(os.Symlink("../rel", dir+"/real/up"))
	mk(os.Symlink("loop", dir+"/loop"))
	mk(os.Symlink("/proc/self", dir+"/me"))
	tests := map[string][2]string{
		"plain":               {dir + "/real/deep/f", dir + "/real/deep/f"},
		"missing":             {dir + "/real/none/f", dir + "/real/none/f"},
		"link_at_the_end":     {dir + "/rel", dir + "/real/deep"},
		"relative":            {dir + "/rel/f", dir + "/real/deep/f"},
		"absolute":            {dir + "/abs/shadow", "/etc/shadow"},
		"chain":               {dir + "/real/up/new/file", dir + "/real/deep/new/file"},
		"dots_after_link":     {dir + "/abs/../x", "/x"},
		"dots_after_none":     {dir + "/none/../rel/f", dir + "/real/deep/f"},
		"above_root":          {"/../../" + dir[1:] + "//./rel", dir + "/real/deep"},
		"root":                {"/", "/"},
		"dots_to_root":        {"/..", "/"},
		"proc_untouched":      {"/proc/self/environ", "/proc/self/environ"},
		"link_into_proc":      {dir + "/me/environ", "/proc/self/environ"},
		"loop_ends":           {dir + "/loop/x", dir + "/loop/x"},
		"trailing_slash":      {dir + "/rel/", dir + "/real/deep"},
		"too_long_is_lexical": {"/abs/" + strings.Repeat("a/../", 2000) + "b", "/abs/b"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Resolve(tt[0]); got != tt[1] {
				t.Errorf("Resolve(%q) = %q, want %q", tt[0], got, tt[1])
			}
		})
	}
	if got := Join(Here{}, dir, "rel/f"); got != dir+"/real/deep/f" {
		t.Errorf("Join follows below its base: got %q", got)
	}
	if got := Join(Here{}, dir+"/real", "../abs/x"); got != "/etc/x" {
		t.Errorf("Join steps out of its base: got %q", got)
	}
	if got := Join(Here{}, dir, "/etc/x"); got != "/etc/x" {
		t.Errorf("an absolute name forgets the base: got %q", got)
	}
}

// machine is an imaginary machine with links and missing names; everything else exists. It records
// what it is asked.
type machine struct {
	links   map[string]string
	missing string
	asked   []string
}

func (m *machine) Readlink(name string) (target string, kind Kind) {
	m.asked = append(m.asked, name)
	if to, ok := m.links[name]; ok {
		return to, Link
	}
	if name == m.missing {
		return "", Missing
	}
	return "", Other
}

func (m *machine) HomeOf(string) string { return "" }

// A path is looked up from its first unknown component to its end or its first missing component,
// once if there are no links, and never below /proc.
func TestWhatIsAsked(t *testing.T) {
	for _, tt := range []struct{ base, name, want, asked string }{
		{"/", "/a/b/c", "/a/b/c", "/a /a/b /a/b/c"},
		{"/", "/gone/b/c", "/gone/b/c", "/gone"},
		{"/", "/gone/./b//c", "/gone/b/c", "/gone"},
		{"/", "/gone/../a/link", "/to", "/gone /a /a/link /to"},
		{"/", "/proc/self/environ", "/proc/self/environ", ""},
		{"/", "a/b", "/a/b", "/a /a/b"},
		{"/base", "a", "/base/a", "/base/a"},
		{"/base", "/a", "/a", "/a"},
		{"/base", "", "/base", ""},
		{"/base", "x/../a", "/base/a", "/base/x /base/a"},
		{"/", "/a/link/z", "/to/z", "/a /a/link /a /a/link /to /to/z"},
		{"/", "/a/link", "/to", "/a /a/link /a /a/link /to"},
	} {
		m := &machine{links: map[string]string{"/a/link": "/to"}, missing: "/gone"}
		if got := Join(m, tt.base, tt.name); got != tt.want || strings.Join(m.asked, " ") != tt.asked {
			t.Errorf("Join(%q, %q) = %q, want %q; asked %q, want %q", tt.base, tt.name, got, tt.want, m.asked, tt.asked)
		}
	}
}

// What a kernel would not follow is not followed: a path of more than 4096 bytes, or more than forty
// links.
func TestBounds(t *testing.T) {
	long := strings.Repeat("a", 4093)
	m := &machine{links: map[string]string{"/l": "/t", "/t/" + long: "/end"}}
	for i := range 41 {
		m.links["/n"+strconv.Itoa(i+1)] = "/n" + strconv.Itoa(i)
	}
	for name, want := range map[string]string{
		"/l/" + long: "/end", "/l/" + long + "a": "/l/" + long + "a", "/n40": "/n0", "/n41": "/n1",
	} {
		if got := On(m, name); got != want {
			t.Errorf("%.9s… of %d bytes leads to %.9s…, want %.9s…", name, len(name), got, want)
		}
	}
}

func TestHomes(t *testing.T) {
	if me, err := user.Current(); err == nil && (Here{}).HomeOf(me.Username) != me.HomeDir {
		t.Errorf("the home of %s is %q, want %q", me.Username, Here{}.HomeOf(me.Username), me.HomeDir)
	}
	if home := (Here{}).HomeOf("nobody of that name"); home != "" {
		t.Errorf("nobody's home is %q", home)
	}
}

func FuzzResolve(f *testing.F) {
	f.Add("/tmp/../x")
	f.Add("/proc/self/../..")
	f.Fuzz(func(t *testing.T, name string) {
		got := Resolve("/" + name)
		if !strings.HasPrefix(got, "/") || strings.Contains(got, "//") {
			t.Errorf("Resolve(%q) = %q is not a clean absolute path", name, got)
		}
	})
}

func BenchmarkResolve(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Resolve("/tmp/n.txt")
	}
}
