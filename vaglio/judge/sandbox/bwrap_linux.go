package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// box is one invocation of bubblewrap: its arguments, and the files that it inherits.
type box struct {
	args  []string
	files []*os.File // from descriptor 3 on
	owned []*os.File // those of files that nobody else closes
}

const (
	// nobody is the user that commands run as if we are root: bubblewrap's read-only mounts do not
	// restrict root everywhere, and limits on processes do not restrict root at all.
	nobody = 65534
	// insideUser is the user ID that commands see as their own.
	insideUser = 1000
	// smallMount limits the memory of mounts that hold little, in bytes.
	smallMount = 64 * mib
)

// sandboxUser returns the user that commands run as, -1 for our own.
func sandboxUser() int {
	if os.Geteuid() == 0 {
		return nobody
	}
	return -1
}

// newBox returns the arguments. The gate and the ready pipe get descriptors 3 and 4, which the
// shell's script refers to.
func (s *Sandbox) newBox(gate, ready *os.File, dir string) (b *box, err error) {
	b = &box{files: []*os.File{gate, ready}}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	b.isolate(s.network)
	b.system(s.host, s.network, s.limits.Disk)
	if err := b.identity(); err != nil {
		return b, err
	}
	for i := range s.mounts {
		if err := b.mount(&s.mounts[i], s.scratch != nil); err != nil {
			return b, err
		}
	}
	b.add("--remount-ro", "/", "--chdir", dir)
	filter := s.host.seccomp.closed
	if s.unixSockets() {
		filter = s.host.seccomp.withUnix
	}
	if err := b.data("--seccomp", filter); err != nil {
		return b, err
	}
	args, err := dataFile([]byte(strings.Join(b.args, "\x00") + "\x00"))
	if err != nil {
		return b, err
	}
	b.owned = append(b.owned, args)
	b.args = []string{"--args", b.fd(args), "--"}
	return b, nil
}

// unixSockets reports whether commands may use Unix sockets: only if every folder is a copy, in
// which nobody else listens, and the network namespace is their own.
func (s *Sandbox) unixSockets() bool { return s.scratch != nil && s.network == NoNetwork }

func (b *box) add(args ...string) { b.args = append(b.args, args...) }

// fd passes a file on, and returns the number of the descriptor that it becomes.
func (b *box) fd(f *os.File) string {
	b.files = append(b.files, f)
	return strconv.Itoa(len(b.files) + 2)
}

// data passes content on for an option whose first argument is a descriptor.
func (b *box) data(option string, content []byte, more ...string) error {
	f, err := dataFile(content)
	if err != nil {
		return err
	}
	b.owned = append(b.owned, f)
	b.add(append([]string{option, b.fd(f)}, more...)...)
	return nil
}

// close closes our side of the files that were passed on.
func (b *box) close() {
	for _, f := range b.owned {
		_ = f.Close()
	}
}

// isolate adds namespaces, no capabilities, no environment, and a session without a terminal.
func (b *box) isolate(network Network) {
	b.add("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try")
	if network == NoNetwork {
		b.add("--unshare-net")
	}
	user := strconv.Itoa(insideUser)
	b.add("--disable-userns", "--uid", user, "--gid", user, "--hostname", "judge", "--cap-drop", "ALL",
		"--new-session", "--die-with-parent", "--clearenv",
		"--setenv", "HOME", sandboxHome, "--setenv", "LANG", "C.UTF-8", "--setenv", "TMPDIR", "/tmp")
}

// system shows programs and libraries, and creates the rest of a system.
func (b *box) system(h *Host, network Network, disk int64) {
	size := strconv.FormatInt(disk, 10)
	small := strconv.Itoa(smallMount)
	b.add("--setenv", "PATH", strings.Join(h.folders, ":"))
	// Process 1 is bubblewrap's and has the same user: whoever can write its memory could make it
	// outlive us.
	b.add("--proc", "/proc", "--size", "4096", "--tmpfs", "/proc/1", "--remount-ro", "/proc/1", "--dev", "/dev", "--size", small, "--tmpfs", "/dev/shm", "--remount-ro", "/dev",
		"--size", size, "--tmpfs", "/tmp", "--size", size, "--tmpfs", sandboxHome,
		"--ro-bind", "/usr", "/usr")
	for _, dir := range []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64"} {
		if target, err := os.Readlink(dir); err == nil {
			b.add("--symlink", target, dir)
		} else if _, err := os.Stat(dir); err == nil {
			b.add("--ro-bind", dir, dir)
		}
	}
	shown := []string{"/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/etc/nsswitch.conf"}
	if network == OpenNetwork {
		shown = append(shown, "/etc/resolv.conf", "/etc/ssl/certs", "/etc/hosts")
	}
	for _, path := range slices.Concat(shown, h.shown) {
		b.add("--ro-bind-try", path, path)
	}
}

// identity creates tables of users and groups that reveal nothing about ours.
func (b *box) identity() error {
	user := strconv.Itoa(insideUser)
	return firstError(
		b.data("--ro-bind-data", fmt.Appendf(nil, "judge:x:%s:%s::%s:/bin/sh\nnobody:x:%d:%d::/:/bin/false\n", user, user, sandboxHome, nobody, nobody), "/etc/passwd"),
		b.data("--ro-bind-data", fmt.Appendf(nil, "judge:x:%s:\nnogroup:x:%d:\n", user, nobody), "/etc/group"),
	)
}

// mount shows a folder and masks the secrets in it. Bubblewrap compares what it mounts with the
// descriptor, so that the folder cannot be exchanged meanwhile.
func (b *box) mount(m *mount, writable bool) error {
	option := "--ro-bind-fd"
	if writable {
		option = "--bind-fd"
	}
	at := []string{m.path}
	if m.asked != m.path {
		at = append(at, m.asked)
	}
	for _, dir := range at {
		// Each mount needs its own descriptor, because bubblewrap closes it.
		f, err := os.OpenFile(m.source, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		if err != nil {
			return fmt.Errorf("mount %q: %w", m.asked, err)
		}
		b.owned = append(b.owned, f)
		if place, err := placeOfFile(f); err != nil || place != m.source {
			return MountError{m.asked, "changed while it was looked at"}
		}
		b.add(option, b.fd(f), dir)
		for _, hidden := range m.hidden {
			rel, _ := below(hidden, m.path)
			b.mask(filepath.Join(dir, rel), hidden)
		}
	}
	return nil
}

// mask covers a secret with something empty.
func (b *box) mask(at, hidden string) {
	info, err := os.Lstat(hidden)
	switch {
	case err != nil:
		// It has disappeared.
	case info.IsDir():
		b.add("--perms", "0555", "--size", "4096", "--tmpfs", at, "--remount-ro", at)
	default:
		b.add("--ro-bind", "/dev/null", at)
	}
}

// dataFile returns a file in memory with the given content, positioned at its start.
func dataFile(content []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("vaglio", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "memfd")
	if _, err = f.Write(content); err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// firstError returns the first error that is not nil.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
