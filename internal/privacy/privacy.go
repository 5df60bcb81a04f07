// Package privacy keeps the memory of this process from other processes of its user.
package privacy

import (
	"errors"
	"fmt"
	"syscall"
)

// Process keeps every other process of the user from attaching to this one and from
// reading its memory, and keeps the system from writing it to a core file. What it
// starts is not held to the first.
func Process() error {
	// With 0 a kernel that hands dumps to a program still does; with 1 it does not, and
	// no file is that short. What is started, such as a sandbox, may ask for no more.
	none := syscall.Rlimit{Cur: 1, Max: 1}
	if err := errors.Join(syscall.Setrlimit(syscall.RLIMIT_CORE, &none), undumpable()); err != nil {
		return fmt.Errorf("the memory of the process cannot be kept private: %w", err)
	}
	return nil
}
