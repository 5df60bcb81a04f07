//go:build darwin || freebsd || linux

package bolt

import (
	"os"

	"golang.org/x/sys/unix"
)

// roomFor returns how many bytes the file's file system has left for us.
func roomFor(f *os.File) (free uint64, known bool) {
	var s unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &s); err != nil {
		return 0, false
	}
	return uint64(max(s.Bavail, 0)) * uint64(s.Bsize), true //nolint:gosec,unconvert // Their types differ between systems.
}
