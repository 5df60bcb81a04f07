package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// in returns the names in the folder.
func in(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestAFileIsReplacedWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, ".settings.json")
	for _, f := range []struct {
		text string
		mode fs.FileMode
	}{{"first", 0o600}, {"second, and longer", 0o755}, {"", 0o640}} {
		if err := Replace(path, []byte(f.text), f.mode); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != f.text || info.Mode() != f.mode {
			t.Errorf("%q with mode %v, %v; want %q with mode %v", got, info.Mode(), err, f.text, f.mode)
		}
	}
	if names := in(t, dir); len(names) != 1 {
		t.Errorf("beside the file there is %q", names)
	}
}

// TestWhoHasTheFileOpenKeepsTheOldOne reads a file that is being replaced: the new file is another
// one, and the old one is not overwritten.
func TestWhoHasTheFileOpenKeepsTheOldOne(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	if err := Replace(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := Replace(path, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	var b [3]byte
	if _, err := f.Read(b[:]); err != nil || string(b[:]) != "old" {
		t.Errorf("the open file has %q, %v", b, err)
	}
}

// TestWhatCannotBeReplacedStays fails at each step: what was there is still there, and nothing else.
func TestWhatCannotBeReplacedStays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := Replace(filepath.Join(dir, "none", "f"), nil, 0o600); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in no folder: %v", err)
	}
	taken := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(taken, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Replace(taken, []byte("x"), 0o600); err == nil {
		t.Error("a folder was replaced by a file")
	}
	if names := in(t, dir); len(names) != 1 || names[0] != "taken" {
		t.Errorf("left are %q", names)
	}
	if err := Remove(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("remove what is not there: %v", err)
	}
	f := filepath.Join(dir, "f")
	if err := errors.Join(Replace(f, nil, 0o600), Remove(f)); err != nil {
		t.Error(err)
	}
	if names := in(t, dir); len(names) != 1 {
		t.Errorf("after it was removed: %q", names)
	}
}

func TestFoldersAreTheOwnersAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	deep := filepath.Join(dir, "a", "b", "c")
	for range 2 { // existing folders stay as they are
		if err := MakeFolder(deep); err != nil {
			t.Fatal(err)
		}
	}
	for d := deep; d != dir; d = filepath.Dir(d) {
		if info, err := os.Stat(d); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", d, info.Mode(), err)
		}
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := MakeFolder(filepath.Join(file, "below")); err == nil {
		t.Error("a folder was made below a file")
	}
}

// TestWhatIsMadeIsPutOnDisk checks which folders must be synced.
func TestWhatIsMadeIsPutOnDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "a", "b")
	if got := missing(b); !slices.Equal(got, []string{b, a}) {
		t.Errorf("of two that there are not: %q", got)
	}
	if err := MakeFolder(b); err != nil {
		t.Fatal(err)
	}
	if got := missing(b); len(got) != 0 {
		t.Errorf("of what there is: %q", got)
	}
	if err := SyncFolder(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that there is not is on disk: %v", err)
	}
	if err := SyncFolder(dir); err != nil {
		t.Error(err)
	}
}

// TestAFileSystemMayRefuseToBeAsked distinguishes harmless errors from others.
func TestAFileSystemMayRefuseToBeAsked(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err             error
		trouble, noRoom bool
	}{
		{nil, false, false},
		{&fs.PathError{Err: syscall.EINVAL}, false, false},
		{&fs.PathError{Err: syscall.ENOTSUP}, false, false},
		{&fs.PathError{Err: syscall.EIO}, true, false},
		{&fs.PathError{Err: syscall.ENOSPC}, true, true},
		{&fs.PathError{Err: syscall.EDQUOT}, true, true},
		{&fs.PathError{Err: syscall.EFBIG}, true, true},
	} {
		if got := unlessRefused(tt.err); (got != nil) != tt.trouble || tt.trouble && !errors.Is(got, tt.err) {
			t.Errorf("%v: %v", tt.err, got)
		}
		if got := NoRoom(tt.err); got != tt.noRoom {
			t.Errorf("%v is for want of room: %t", tt.err, got)
		}
	}
}
