//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package bolt

import "os"

// lock leaves locking to bbolt, which does it when it opens the file.
func lock(*os.File) error { return nil }

// lockShared leaves it to bbolt, too.
func lockShared(*os.File) error { return nil }
