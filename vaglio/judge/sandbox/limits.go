package sandbox

import (
	"fmt"
	"time"
)

// Limits limit one call of a tool. A call that exceeds them is ended or cut, and the result says so.
type Limits struct {
	Time      time.Duration // until a command is ended; default [DefaultTime], at most 1 hour
	Memory    int64         // bytes that all processes of a command hold; default 2 GiB
	Processes int           // processes and threads of a command; default 256
	Disk      int64         // bytes that a command writes in its copy, and in each of /tmp and home; default 512 MiB
	Output    int           // bytes of each stream and of each answer; default 64 KiB, at most 1 MiB
	Copy      int64         // bytes of the private copies; default and maximum 512 MiB
}

// DefaultTime is how long a command may take by default.
const DefaultTime = 2 * time.Minute

const (
	mib = 1 << 20
	gib = 1 << 30
	// mostEntries limits how many files and folders a private copy may have, and how many are
	// searched for secrets.
	mostEntries = 1_000_000
)

// filled returns the limits with defaults filled in, or a [ConfigError].
func (l Limits) filled() (Limits, error) {
	var wrong error
	bound := func(name string, value, usual, least, most int64) int64 {
		switch {
		case value == 0:
			return usual
		case wrong == nil && (value < least || value > most):
			wrong = ConfigError{"Limits." + name, fmt.Sprintf("is %d; it is from %d to %d", value, least, most)}
		}
		return value
	}
	l.Time = time.Duration(bound("Time", int64(l.Time), int64(DefaultTime), int64(time.Millisecond), int64(time.Hour)))
	l.Memory = bound("Memory", l.Memory, 2*gib, 16*mib, 1024*gib)
	l.Processes = int(bound("Processes", int64(l.Processes), 256, 1, 65_536))
	l.Disk = bound("Disk", l.Disk, 512*mib, mib, 1024*gib)
	l.Output = int(bound("Output", int64(l.Output), 64<<10, 256, mib))
	l.Copy = bound("Copy", l.Copy, 512*mib, 1, 512*mib)
	return l, wrong
}
