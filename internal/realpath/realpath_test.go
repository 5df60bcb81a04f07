package realpath

import (
	"os"
	"path/filepath"
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

func FuzzResolve(f *testing.F) {
	f.Add("/tmp/../x")
	f.Add("/proc/self/../..")
	f.Fuzz(func(t *testing.T, name string) {
		got := Resolve("/" + name)
		if !strings.HasPrefix(got, "/") || strings.Contains(got, "//") {
			t.Errorf("Resolve(%q) = %q is no clean absolute path", name, got)
		}
	})
}

func BenchmarkResolve(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Resolve("/tmp/n.txt")
	}
}
