//go:build !darwin && !freebsd && !linux

package bolt

import "os"

// roomFor is not available on this system.
func roomFor(*os.File) (free uint64, known bool) { return 0, false }
