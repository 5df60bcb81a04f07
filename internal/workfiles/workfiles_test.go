package workfiles_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/metnos/vaglio/internal/workfiles"
	"github.com/metnos/vaglio/vaglio"
)

// TestHostileFolder fills a workspace with everything that must not be read or waited for.
func TestHostileFolder(t *testing.T) {
	t.Parallel()
	outside, dir := t.TempDir(), t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const limit = 100
	must(os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600))
	must(os.WriteFile(filepath.Join(dir, "plain"), []byte("plain"), 0o600))
	must(os.WriteFile(filepath.Join(dir, "full"), []byte(strings.Repeat("x", limit)), 0o600))
	must(os.WriteFile(filepath.Join(dir, "large"), []byte(strings.Repeat("x", limit+1)), 0o600))
	must(os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	must(os.Symlink("plain", filepath.Join(dir, "inner")))
	must(os.Symlink(filepath.Join(outside, "secret"), filepath.Join(dir, "out")))
	must(os.Symlink(outside, filepath.Join(dir, "elsewhere")))
	must(os.Symlink("loop", filepath.Join(dir, "loop")))
	must(os.Symlink("/dev/zero", filepath.Join(dir, "device")))
	must(syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	must(os.WriteFile(filepath.Join(dir, "program"), []byte("\x7fELF\x02\x01\x01\x00"+strings.Repeat("x", limit)), 0o600))
	short := filepath.Join(os.TempDir(), fmt.Sprintf("vaglio-%d", os.Getpid())) // a socket's path is short
	must(os.Symlink(dir, short))
	t.Cleanup(func() { _ = os.Remove(short) })
	socket, err := new(net.ListenConfig).Listen(t.Context(), "unix", filepath.Join(short, "socket"))
	must(err)
	t.Cleanup(func() { _ = socket.Close() })
	for name, want := range map[string]string{
		"plain": "plain", "full": strings.Repeat("x", limit), "inner": "plain",
		"large": "! is too large to be read", "folder": "! is a folder", "fifo": "! is a pipe, a device or a socket", "socket": "! is a pipe, a device or a socket",
		"program": "! is a program made for the machine",
		"out":     "! leads out of the workspace", "elsewhere/secret": "! leads out of the workspace", "elsewhere/none": "! leads out of the workspace",
		"loop": "! is a link that leads nowhere", "device": "! leads out of the workspace",
		"none": "absent", "plain/x": "absent", "../" + filepath.Base(outside) + "/secret": "absent", "a\x00b": "! has a name that no file can have",
	} {
		data, err := workfiles.Disk{}.Read([]string{"relative", filepath.Join(dir, "nowhere"), dir}, dir+"/"+name, limit)
		got := string(data)
		switch {
		case errors.Is(err, vaglio.ErrAbsent):
			got = "absent"
		case err != nil:
			got = "! " + err.Error()
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	if _, err := (workfiles.Disk{}).Read([]string{filepath.Join(dir, "gone")}, filepath.Join(dir, "gone", "x"), limit); !errors.Is(err, vaglio.ErrAbsent) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// TestLook checks what Look returns for what is in a workspace, without opening it.
func TestLook(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700), os.WriteFile(filepath.Join(dir, "a", "f"), nil, 0o600),
		os.Symlink("a", filepath.Join(dir, "link")), os.Symlink("loop", filepath.Join(dir, "loop")), syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	long := strings.Repeat("x", 300)
	for name, want := range map[string]struct {
		at   string
		kind vaglio.FileKind
	}{
		"a": {"a", vaglio.Folder}, "a/f": {"a/f", vaglio.RegularFile}, "link": {"a", vaglio.Folder}, "link/f": {"a/f", vaglio.RegularFile},
		"fifo": {"fifo", vaglio.OtherFile}, "loop": {"loop", vaglio.HiddenFile}, "none": {"none", vaglio.NoFile}, "a/f/x": {"a/f/x", vaglio.NoFile},
		"a\x00": {"a\x00", vaglio.NoFile}, long: {long, vaglio.NoFile},
	} {
		if at, kind := (workfiles.Disk{}).Look(dir + "/" + name); at != dir+"/"+want.at || kind != want.kind {
			t.Errorf("%q: %q, %d; want %q, %d", name, at, kind, want.at, want.kind)
		}
	}
	got, whole := workfiles.Disk{}.List(dir, 10)
	want := []vaglio.Entry{{Name: "a", Kind: vaglio.Folder}, {Name: "fifo", Kind: vaglio.OtherFile}, {Name: "link", Kind: vaglio.OtherFile}, {Name: "loop", Kind: vaglio.OtherFile}}
	if !slices.Equal(got, want) || !whole {
		t.Errorf("in the folder: %v, %v; want %v", got, whole, want)
	}
	if got, whole := (workfiles.Disk{}).List(dir, len(want)); len(got) != len(want) || !whole {
		t.Errorf("as many as may be: %v, %v", got, whole)
	}
	if got, whole := (workfiles.Disk{}).List(dir+"/a/b", 0); len(got) > 0 || !whole {
		t.Errorf("none, of none: %v, %v", got, whole)
	}
	for _, tt := range []struct {
		name       string
		most, want int
	}{
		{dir, 3, 3}, {dir, 0, 0}, {dir, -1, 0}, {dir + "/fifo", 10, 0}, {dir + "/none", 10, 0}, {dir + "/\x00", 10, 0},
	} {
		if got, whole := (workfiles.Disk{}).List(tt.name, tt.most); whole || len(got) != tt.want {
			t.Errorf("%q, at most %d: %v, %v; want %d, and more", tt.name, tt.most, got, whole, tt.want)
		}
	}
}

// TestNamesThatAreRelative tries relative names of files in the folder in which the gate runs.
func TestNamesThatAreRelative(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := errors.Join(os.Mkdir("a", 0o700), os.WriteFile("a/f", []byte("text"), 0o600)); err != nil {
		t.Fatal(err)
	}
	disk := workfiles.Disk{}
	if at, kind := disk.Look("a"); at != "a" || kind != vaglio.NoFile {
		t.Errorf("a folder: %q, %d", at, kind)
	}
	if got, whole := disk.List("a", 10); len(got) > 0 || whole {
		t.Errorf("its files: %v, %v", got, whole)
	}
	if got, err := disk.Read([]string{"a"}, "a/f", 10); !errors.Is(err, vaglio.ErrAbsent) {
		t.Errorf("a file: %q, %v", got, err)
	}
}
