// Package privacy hides the memory of this process from other processes of the same user.
package privacy

import (
	"errors"
	"fmt"
	"syscall"
)

// Process keeps other processes of the user from attaching to this one and reading its memory, and
// keeps the system from writing a core file. Only the latter also holds for child processes.
func Process() error {
	// With a limit of 0, a kernel that pipes dumps to a program still does so. With 1 it does not, and
	// no core file is that short. Child processes, such as a sandbox, cannot raise the limit.
	none := syscall.Rlimit{Cur: 1, Max: 1}
	if err := errors.Join(syscall.Setrlimit(syscall.RLIMIT_CORE, &none), undumpable()); err != nil {
		return fmt.Errorf("the memory of the process cannot be kept private: %w", err)
	}
	return nil
}
