package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func kernelAttacks() map[string]func([]string) error {
	return map[string]func([]string) error{
		"keyring": func([]string) error {
			return each(call("add_key", unix.SYS_ADD_KEY), call("keyctl", unix.SYS_KEYCTL, unix.KEYCTL_GET_KEYRING_ID, ^uintptr(2), 1), call("request_key", unix.SYS_REQUEST_KEY))
		},
		"bpf":         func([]string) error { return each(call("bpf", unix.SYS_BPF), call("perf", unix.SYS_PERF_EVENT_OPEN)) },
		"userfaultfd": func([]string) error { return call("userfaultfd", unix.SYS_USERFAULTFD, 1) },
		"io-uring": func([]string) error {
			return each(call("setup", unix.SYS_IO_URING_SETUP, 1), call("register", unix.SYS_IO_URING_REGISTER))
		},
		"machine": func([]string) error {
			return each(
				call("reboot", unix.SYS_REBOOT, 0xfee1dead, 672274793, 0), must("sethostname", unix.Sethostname([]byte("x"))),
				must("settimeofday", unix.Settimeofday(&unix.Timeval{})), call("clock_settime", unix.SYS_CLOCK_SETTIME),
				call("init_module", unix.SYS_INIT_MODULE), call("kexec", unix.SYS_KEXEC_LOAD), call("syslog", unix.SYS_SYSLOG, 3),
				call("swapoff", unix.SYS_SWAPOFF), call("acct", unix.SYS_ACCT), call("quotactl", unix.SYS_QUOTACTL), call("fanotify", unix.SYS_FANOTIFY_INIT),
			)
		},
		"hidden-memory": func([]string) error {
			_, err := unix.MemfdCreate("x", 0)
			return each(must("memfd_create", err), call("shmget", unix.SYS_SHMGET, 0, 4096, 0o1600), call("memfd_secret", unix.SYS_MEMFD_SECRET))
		},
		"priority": func([]string) error {
			priority := int32(50)
			return each(must("nice", unix.Setpriority(unix.PRIO_PROCESS, 0, -20)),
				call("sched_setscheduler", unix.SYS_SCHED_SETSCHEDULER, 0, 1, uintptr(unsafe.Pointer(&priority))))
		},
		"limits": func([]string) error {
			var ways []error
			for _, what := range []int{unix.RLIMIT_NPROC, unix.RLIMIT_FSIZE, unix.RLIMIT_CORE, unix.RLIMIT_CPU, unix.RLIMIT_DATA} {
				ways = append(ways, must(fmt.Sprint("limit ", what), unix.Setrlimit(what, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY})))
			}
			return each(ways...)
		},
		"privileges": func([]string) error {
			v, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
			if err == nil && v != 1 {
				return escaped("it may get privileges")
			}
			return each(must("take back", unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0)), must("ambient", unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, 0, 0, 0)))
		},
		"x32": func([]string) error {
			if runtime.GOARCH != "amd64" {
				return errors.New("no such architecture here")
			}
			return each(call("getpid of x32", 1<<30|39), call("ptrace of x32", 1<<30|521), call("a call to come", 900))
		},
		"i386": i386,
		"core": func([]string) error {
			var limit unix.Rlimit
			if err := unix.Getrlimit(unix.RLIMIT_CORE, &limit); err != nil || limit.Max > 1 {
				return escaped("a core of %d bytes is allowed", limit.Max)
			}
			c := exec.Command("/bin/sh", "-c", "kill -SEGV $$")
			c.Dir = "/tmp"
			err := c.Run()
			if c.ProcessState.Sys().(syscall.WaitStatus).CoreDump() {
				return escaped("a core was dumped")
			}
			if cores, _ := filepath.Glob("/tmp/core*"); len(cores) > 0 {
				return escaped("there is %v", cores)
			}
			return err
		},
	}
}

// i386 runs a program of the other architecture, whose calls have other numbers. It calls
// unshare(CLONE_NEWUSER), and exits with 42 if that succeeds.
func i386([]string) error {
	if runtime.GOARCH != "amd64" {
		return errors.New("no such architecture here")
	}
	code := []byte{
		0xb8, 0x36, 0x01, 0, 0, // mov eax, 310: unshare
		0xbb, 0, 0, 0, 0x10, // mov ebx, CLONE_NEWUSER
		0xcd, 0x80, // int 0x80
		0x85, 0xc0, // test eax, eax
		0x75, 0x0c, // jnz to the fault
		0xb8, 1, 0, 0, 0, // mov eax, 1: exit
		0xbb, 42, 0, 0, 0, // mov ebx, 42
		0xcd, 0x80, // int 0x80
		0x0f, 0x0b, // fault
	}
	const base, headers = 0x08048000, 52 + 32
	le := func(v uint32, n int) (b []byte) {
		for range n {
			b, v = append(b, byte(v)), v>>8
		}
		return b
	}
	elf := append([]byte("\x7fELF\x01\x01\x01"), make([]byte, 9)...)
	size := uint32(headers + len(code))
	// The values of the two headers, and how many bytes each has.
	values := []uint32{2, 3, 1, base + headers, 52, 0, 0, 52, 32, 1, 0, 0, 0, 1, 0, base, base, size, size, 5, 0x1000}
	for i, n := range []int{2, 2, 4, 4, 4, 4, 4, 2, 2, 2, 2, 2, 2, 4, 4, 4, 4, 4, 4, 4, 4} {
		elf = append(elf, le(values[i], n)...)
	}
	if err := os.WriteFile(mine("i386"), append(elf, code...), 0o700); err != nil {
		return err
	}
	err := exec.Command(mine("i386")).Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 42 {
		return escaped("i386 has calls of its own")
	}
	return fmt.Errorf("i386: %w", err)
}

// resourceAttacks take resources until something stops them; the host checks what does.
func resourceAttacks() map[string]func([]string) error {
	return map[string]func([]string) error{
		"fork-bomb": func([]string) error {
			n := 0
			for {
				c := exec.Command("/bin/sleep", "7777")
				if err := c.Start(); err != nil {
					return fmt.Errorf("after %d processes: %w", n, err)
				}
				if n++; n > 2000 {
					return escaped("%d processes", n)
				}
			}
		},
		"fork-shell": func([]string) error {
			// Replaces us: a Go runtime that cannot get a thread ends in ways of its own.
			return unix.Exec("/bin/sh", []string{"sh", "-c", "f() { f | f & }; f; wait; sleep 7777"}, nil)
		},
		"memory": func([]string) error {
			var held [][]byte
			for {
				b := make([]byte, 16<<20)
				for i := 0; i < len(b); i += 4096 {
					b[i] = 1
				}
				held = append(held, b)
				if len(held) > 1024 {
					return escaped("%d MiB", len(held)*16)
				}
			}
		},
		"memory-many": func([]string) error {
			for range 16 {
				if err := exec.Command("/proc/self/exe", "memory").Start(); err != nil {
					return err
				}
			}
			time.Sleep(time.Hour)
			return nil
		},
		"memory-shared": func([]string) error {
			for n := 0; ; n += 16 {
				b, err := unix.Mmap(-1, 0, 16<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON)
				if err != nil {
					return err
				}
				for i := 0; i < len(b); i += 4096 {
					b[i] = 1
				}
				if n > 16<<10 {
					return escaped("%d MiB", n)
				}
			}
		},
		"fill": func(a []string) error {
			total := 0
			block := []byte(strings.Repeat("x", 1<<20))
			for n := 0; ; n++ {
				f, err := os.Create(fmt.Sprintf("%s/fill%d", a[0], n))
				if err != nil {
					return fmt.Errorf("after %d MiB: %w", total, err)
				}
				for range 8 {
					if _, err := f.Write(block); err != nil {
						return fmt.Errorf("after %d MiB: %w", total, err)
					}
					total++
				}
				f.Close()
				if total > 4096 {
					return escaped("%d MiB were written", total)
				}
			}
		},
		"fill-one": func(a []string) error {
			f, err := os.Create(a[0] + "/one")
			if err != nil {
				return err
			}
			block := []byte(strings.Repeat("x", 1<<20))
			for n := range 4096 {
				if _, err := f.Write(block); err != nil {
					return fmt.Errorf("after %d MiB: %w", n, err)
				}
			}
			return escaped("4096 MiB were written")
		},
		"names": func(a []string) error {
			for n := range 4_000_000 {
				if f, err := os.Create(fmt.Sprintf("%s/%d", a[0], n)); err == nil {
					f.Close()
				} else {
					return fmt.Errorf("after %d files: %w", n, err)
				}
			}
			return escaped("4,000,000 files were made")
		},
		"flood": func([]string) error {
			block := []byte(strings.Repeat("y", 1<<20))
			for range 512 {
				if _, err := os.Stdout.Write(block); err != nil {
					return err
				}
			}
			return errors.New("the end of the flood")
		},
		"spin": func([]string) error {
			for {
				runtime.Gosched()
			}
		},
		"open-network": func(a []string) error {
			c, err := net.Dial("tcp", a[2])
			if err != nil {
				return err
			}
			return c.Close()
		},
	}
}
