//go:build darwin || freebsd || linux

package bolt

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// identity distinguishes the file from every other one, and from itself after any change.
// It uses the inode change time, which no program can set, unlike the modification time.
func identity(f *os.File) (is string, known bool) {
	var s unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &s); err != nil {
		return "", false
	}
	return fmt.Sprintf("%d/%d changed at %d.%09d", s.Dev, s.Ino, s.Ctim.Sec, s.Ctim.Nsec), true
}
