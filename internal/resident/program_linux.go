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
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for _, m := range unchanged(string(maps), program) {
		// Advice: if it is refused, the pages stay.
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.from, m.to-m.from, syscall.MADV_DONTNEED)
	}
}

// mapping is a range of addresses; to is exclusive.
type mapping struct{ from, to uintptr }

// unchanged returns where a file is mapped, in the form of /proc/self/smaps, without what the
// process may change or has changed: dropping that would undo the changes. What a loader has
// relocated (-buildmode=pie) is only read afterwards, but its pages are no longer the file's: the
// system counts them as anonymous.
func unchanged(smaps, file string) (all []mapping) {
	var m mapping
	for line := range strings.Lines(smaps) {
		key, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case !strings.HasSuffix(key, ":"):
			m = mappingOf(key, rest, file)
		case (key == "Anonymous:" || key == "Swap:") && strings.TrimSpace(rest) != "0 kB":
			m = mapping{}
		case key == "VmFlags:" && m.from < m.to: // the last line about it
			all = append(all, m)
		}
	}
	return all
}

// mappingOf returns the range of addresses at which a file is mapped to be read; an empty one for
// another file or use.
func mappingOf(at, rest, file string) mapping {
	mode, _, _ := strings.Cut(rest, " ")
	if strings.Contains(mode, "w") || !strings.HasSuffix(rest, " "+file) {
		return mapping{}
	}
	from, to, _ := strings.Cut(at, "-")
	first, errFrom := strconv.ParseUint(from, 16, strconv.IntSize)
	end, errTo := strconv.ParseUint(to, 16, strconv.IntSize)
	if errFrom != nil || errTo != nil {
		return mapping{}
	}
	return mapping{uintptr(first), uintptr(end)}
}
