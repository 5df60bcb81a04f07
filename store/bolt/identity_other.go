//go:build !darwin && !freebsd && !linux

package bolt

import "os"

// identity cannot tell here.
func identity(*os.File) (is string, known bool) { return "", false }
