package regular_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/metnos/vaglio/internal/regular"
)

func TestOnlyRegularFilesAreOpened(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(
		os.WriteFile(at("file"), []byte("four"), 0o600), syscall.Mkfifo(at("pipe"), 0o600), os.Mkdir(at("folder"), 0o700),
		os.Symlink("pipe", at("to pipe")), os.Symlink("loop", at("loop")), os.Symlink("file", at("to file")),
	); err != nil {
		t.Fatal(err)
	}
	socket, err := new(net.ListenConfig).Listen(t.Context(), "unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for _, name := range []string{"pipe", "to pipe", "folder"} {
		if _, _, err := regular.Read(at(name), 10); !errors.Is(err, regular.ErrIrregular) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"socket", "loop", "absent"} {
		if _, whole, err := regular.Read(at(name), 10); err == nil || whole {
			t.Errorf("%s was read", name)
		}
	}
	if _, _, err := regular.Read(at("absent"), 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	if _, _, err := regular.Read("/dev/zero", 10); !errors.Is(err, regular.ErrIrregular) {
		t.Errorf("a device: %v", err)
	}
	for name, whole := range map[string]int64{"file": 4, "to file": 3} {
		text, all, err := regular.Read(at(name), whole)
		if err != nil || all != (whole == 4) || string(text) != "four"[:len(text)] {
			t.Errorf("%s: %q, %v, %v", name, text, all, err)
		}
	}
}

func TestAFolderOfRegularFiles(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(syscall.Mkfifo(filepath.Join(dir, "en.tmpl"), 0o600), os.WriteFile(filepath.Join(dir, "it.tmpl"), []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	folder := regular.Folder(dir)
	if list, err := fs.ReadDir(folder, "."); err != nil || len(list) != 2 {
		t.Errorf("the folder: %v, %v", list, err)
	}
	if _, err := fs.ReadFile(folder, "en.tmpl"); !errors.Is(err, regular.ErrIrregular) {
		t.Errorf("a pipe: %v", err)
	}
	if b, err := fs.ReadFile(folder, "it.tmpl"); err != nil || string(b) != "x" {
		t.Errorf("a file: %q, %v", b, err)
	}
	if _, err := folder.Open("../x"); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a name that leads out: %v", err)
	}
}
