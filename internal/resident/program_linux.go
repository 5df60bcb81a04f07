package resident

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// dropProgram unmaps the pages of the program's own file. The process reads most of them only once,
// at its start: the embedded tables, and the code that parses them. What it needs again comes back
// from the system's cache of the file, at the cost of a fault.
func dropProgram() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	for _, m := range readOnly(string(maps), program) {
		// Advice: if it is refused, the pages stay.
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.from, m.to-m.from, syscall.MADV_DONTNEED)
	}
}

// mapping is a range of addresses; to is exclusive.
type mapping struct{ from, to uintptr }

// readOnly returns where a file is mapped, in the form of /proc/self/maps, without what the process
// may have changed: dropping that would undo the changes.
func readOnly(maps, file string) (all []mapping) {
	for line := range strings.Lines(maps) {
		at, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		mode, _, _ := strings.Cut(rest, " ")
		from, to, _ := strings.Cut(at, "-")
		if strings.Contains(mode, "w") || !strings.HasSuffix(rest, " "+file) {
			continue
		}
		first, errFrom := strconv.ParseUint(from, 16, strconv.IntSize)
		end, errTo := strconv.ParseUint(to, 16, strconv.IntSize)
		if errFrom == nil && errTo == nil && first < end {
			all = append(all, mapping{uintptr(first), uintptr(end)})
		}
	}
	return all
}
