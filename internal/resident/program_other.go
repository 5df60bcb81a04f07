//go:build !linux

package resident

// dropProgram does nothing: other systems have no advice that is certain to keep the program's pages.
func dropProgram() {}
