//go:build linux

package bolt_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/metnos/vaglio/store/bolt"
)

func TestFolderWithoutRightsIsOneClearSentence(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer asNobody(t)()
	for _, path := range []string{filepath.Join(dir, "vaglio.db"), filepath.Join(dir, "data", "vaglio.db")} {
		_, err := bolt.Open(path, bolt.Options{})
		if !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "writable") {
			t.Errorf("got %v", err)
		}
	}
}

// asNobody takes root's file permissions away from this goroutine, and returns a function
// that restores them. A test run by another user has none to lose.
func asNobody(t *testing.T) func() {
	t.Helper()
	if os.Geteuid() != 0 {
		return func() {}
	}
	runtime.LockOSThread()
	if err := syscall.Setfsuid(65534); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := syscall.Setfsuid(0); err != nil {
			t.Error(err)
		}
		runtime.UnlockOSThread()
	}
}

// ownMounts gives the process its own mounts, which end with it.
func ownMounts(cmd *exec.Cmd) bool {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	return true
}

func mountSmall(dir string) error { return syscall.Mount("vaglio", dir, "tmpfs", 0, "size=4m") }
