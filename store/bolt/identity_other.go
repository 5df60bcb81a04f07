//go:build !darwin && !freebsd && !linux

package bolt

import "os"

// identity is not available on this system.
func identity(*os.File) (is string, known bool) { return "", false }
