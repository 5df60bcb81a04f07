//go:build !linux

package privacy

// undumpable does nothing: other systems demand privileges before one process may attach to another.
func undumpable() error { return nil }
