package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// watchEvery is how often memory and disk are checked. A limit can be exceeded by what a process
	// can take in that time.
	watchEvery = 20 * time.Millisecond
	// mostNames limits how many files a command may create in its copy, and in each of /tmp and home.
	mostNames = 200_000
)

// watch enforces the limits that the kernel alone cannot: the memory of all processes together, and
// the space on a disk that others use, too.
type watch struct {
	limits Limits
	init   *os.Process // bubblewrap's process 1; all others descend from it
	places []volume
}

// volume is a file system that a command writes to.
type volume struct {
	dir     *os.File
	scratch bool // a disk that others write to as well, so growth must be shown to be ours
	before  unix.Statfs_t
	looked  uint64 // free blocks when the copy was last measured
	size    int64  // of the copy before the command ran
}

// letGo waits until bubblewrap has created the sandbox, opens the gate, and watches until stop.
func (s *Sandbox) letGo(ctx context.Context, run *running, end context.CancelCauseFunc, stop <-chan struct{}) {
	w, err := s.arm(ctx, run)
	if err != nil {
		end(setupError(err.Error()))
		return
	}
	defer w.close()
	if _, err := run.gate.WriteString("\n"); err != nil {
		end(setupError(err.Error()))
		return
	}
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ctx.Done():
			// Bubblewrap is killed with ctx, and its process 1 with it. Kill that too, to be sure.
			_ = w.init.Kill()
			return
		case <-tick.C:
			if over := w.over(); over != "" {
				end(limitError(over))
			}
		}
	}
}

// arm waits for the script at the gate, and for everything that must hold before the gate opens.
func (s *Sandbox) arm(ctx context.Context, run *running) (*watch, error) {
	if err := run.ready.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	if _, err := run.ready.Read(make([]byte, 1)); err != nil {
		return nil, fmt.Errorf("bubblewrap did not get ready: %w", err)
	}
	w := &watch{limits: s.limits}
	monitor := run.cmd.Process.Pid
	first, err := only(monitor)
	if err != nil {
		return nil, err
	}
	if w.init, err = os.FindProcess(first); err != nil {
		return nil, err
	}
	command, err := only(first)
	if err != nil {
		return nil, err
	}
	if err := dies(ctx, first); err != nil {
		return nil, err
	}
	for _, dir := range []string{"/tmp", sandboxHome} {
		// Through the process's root, because the mounts exist nowhere else.
		if err := w.add(fmt.Sprintf("/proc/%d/root%s", command, dir), false); err != nil {
			w.close()
			return nil, err
		}
	}
	if s.scratch != nil {
		if err := w.add(s.scratch.dir, true); err != nil {
			w.close()
			return nil, err
		}
	}
	return w, nil
}

// dies waits until bubblewrap's process 1 has tied its life to ours. Right after that it installs
// the filter, which is visible from outside.
func dies(ctx context.Context, pid int) error {
	until := time.Now().Add(patience)
	for {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			return err
		}
		if bytes.Contains(status, []byte("\nSeccomp:\t2\n")) {
			return nil
		}
		if ctx.Err() != nil || time.Now().After(until) {
			return fmt.Errorf("bubblewrap did not get ready in %s", patience)
		}
		time.Sleep(50 * time.Microsecond)
	}
}

// prlimit returns the start of a command on which the kernel enforces the limits. The program that
// sets them runs inside, because from outside only a fully privileged root may set them, which root
// in a container is not.
func (l Limits) prlimit(program string) []string {
	argv := []string{program}
	for _, r := range []struct {
		what string
		most int64
	}{
		{"cpu", int64(l.Time/time.Second) + 1},
		// What a process can write to, not what it reserves: runtimes reserve terabytes.
		{"data", 2 * l.Memory},
		{"nproc", int64(l.Processes)},
		{"fsize", l.Disk},
		{"nofile", 1024},
		{"memlock", 64 << 10},
		{"msgqueue", 0},
		{"sigpending", 1024},
		// With a limit of 0, a kernel that pipes dumps to a program still does so; with 1 it does not.
		{"core", coreLimit()},
	} {
		argv = append(argv, fmt.Sprintf("--%s=%d", r.what, r.most))
	}
	return append(argv, "--")
}

// coreLimit returns 1, or 0 if our own limit is lower.
func coreLimit() int64 {
	var own unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CORE, &own) == nil && own.Max < 1 {
		return 0
	}
	return 1
}

// add starts watching a file system.
func (w *watch) add(dir string, scratch bool) error {
	f, err := os.OpenFile(dir, unix.O_PATH|unix.O_DIRECTORY, 0) //nolint:gosec // of our own making
	if err != nil {
		return err
	}
	p := volume{dir: f, scratch: scratch}
	w.places = append(w.places, p)
	at := &w.places[len(w.places)-1]
	if err := unix.Fstatfs(int(f.Fd()), &at.before); err != nil {
		return err
	}
	at.looked = at.before.Bfree
	if scratch {
		at.size, _ = measure(dir)
	}
	return nil
}

// close releases the file systems.
func (w *watch) close() {
	for _, p := range w.places {
		_ = p.dir.Close()
	}
	_ = w.init.Release()
}

// over returns which limit is exceeded, "" if none.
func (w *watch) over() string {
	all := descendants(w.init.Pid)
	if held := resident(all); held > w.limits.Memory {
		// This counts shared memory once for each process.
		if held := proportional(all); held > w.limits.Memory {
			return fmt.Sprintf("its processes held more than %d MiB of memory", w.limits.Memory/mib)
		}
	}
	for i := range w.places {
		if over := w.places[i].over(w.limits.Disk); over != "" {
			return over
		}
	}
	return ""
}

// over returns how a file system exceeds its limit, "" if it does not.
func (p *volume) over(most int64) string {
	var now unix.Statfs_t
	if unix.Fstatfs(int(p.dir.Fd()), &now) != nil {
		return ""
	}
	block := int64(now.Bsize) // 32 bits on some machines
	if !p.scratch {
		if now.Files-now.Ffree > mostNames {
			return fmt.Sprintf("it made more than %d files", mostNames)
		}
		return ""
	}
	// A walk costs more than checking the whole disk, so the copy is only measured if the growth
	// could be ours: by a sixteenth of the limit since the last time.
	grown := (int64(p.looked) - int64(now.Bfree)) * block                                        //nolint:gosec // blocks of a disk
	if names := int64(p.before.Ffree) - int64(now.Ffree); grown < most/16 && names < mostNames { //nolint:gosec // as above
		return ""
	}
	p.looked = now.Bfree
	size, names := measure(p.dir.Name())
	switch {
	case size-p.size > most:
		return fmt.Sprintf("it wrote more than %d MiB", most/mib)
	case names > mostEntries+mostNames:
		return fmt.Sprintf("it made more than %d files", mostNames)
	}
	return ""
}

// measure returns how much a folder holds, as far as it can be read.
func measure(dir string) (size int64, names int) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, 0
	}
	defer root.Close()
	_ = fs.WalkDir(root.FS(), ".", func(_ string, d fs.DirEntry, err error) error {
		names++
		if err != nil {
			return skipEntry(d)
		}
		if info, err := d.Info(); err == nil {
			if st, ok := info.Sys().(*syscall.Stat_t); ok {
				size += st.Blocks * 512
			} else {
				size += info.Size()
			}
		}
		return nil
	})
	return size, names
}

// only returns the only child of a process.
func only(pid int) (int, error) {
	all := children(pid)
	if len(all) != 1 {
		return 0, fmt.Errorf("bubblewrap's process %d has %d children, not 1", pid, len(all))
	}
	return all[0], nil
}

// children returns the living children of a process.
func children(pid int) []int {
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil
	}
	var all []int
	for _, task := range tasks {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		if err != nil {
			continue
		}
		for word := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}

// descendants returns a process and everything below it.
func descendants(pid int) []int {
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		all = append(all, children(all[i])...)
	}
	return all
}

// resident returns how much memory processes hold, counting shared memory for each.
func resident(all []int) int64 {
	sum := int64(0)
	for _, pid := range all {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
		if words := strings.Fields(string(text)); err == nil && len(words) > 1 {
			pages, _ := strconv.ParseInt(words[1], 10, 64)
			sum += pages * int64(os.Getpagesize())
		}
	}
	return sum
}

// proportional returns how much memory processes hold, dividing shared memory among them. A process
// that cannot be read counts as in [resident].
func proportional(all []int) int64 {
	sum := int64(0)
	for _, pid := range all {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		_, rest, found := strings.Cut(string(text), "\nPss:")
		words := strings.Fields(rest)
		if err != nil || !found || len(words) == 0 {
			sum += resident([]int{pid})
			continue
		}
		kib, _ := strconv.ParseInt(words[0], 10, 64)
		sum += kib << 10
	}
	return sum
}
