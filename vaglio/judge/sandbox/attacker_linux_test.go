package sandbox

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The attacker is this test binary under another name, run inside a sandbox. An attack ends with
// escaped and what it got, or with what stopped it.

// errEscaped marks an attack that got out.
var errEscaped = errors.New("ESCAPED")

func escaped(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errEscaped, fmt.Sprintf(format, args...))
}

// attacker is main of the attacker. It never returns.
func attacker(args []string) {
	attack, known := attacks()[args[0]]
	if !known {
		fmt.Fprintln(os.Stdout, "no such attack")
		os.Exit(99)
	}
	err := attack(args[1:])
	switch {
	case errors.Is(err, errEscaped):
		fmt.Fprintln(os.Stdout, err)
		os.Exit(66)
	case err == nil:
		fmt.Fprintln(os.Stdout, "done")
	default:
		fmt.Fprintln(os.Stdout, "held:", err)
	}
	os.Exit(0)
}

// mine returns a path of the attack's own: in a sandbox in its own /tmp, outside in the test's folder.
func mine(name string) string { return filepath.Join(os.TempDir(), name) }

// must turns a system call that should have failed into an escape.
func must(what string, errno error) error {
	if errno == nil || errors.Is(errno, unix.Errno(0)) {
		return escaped("%s succeeded", what)
	}
	return fmt.Errorf("%s: %w", what, errno)
}

// call makes a system call that should fail.
func call(what string, number uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	_, _, errno := unix.RawSyscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	if errno == 0 {
		return escaped("%s succeeded", what)
	}
	return fmt.Errorf("%s: %w", what, errno)
}

// high sets bits above the 32 that the kernel reads, if the machine has any.
func high(number uint64) uintptr { return uintptr(0xdead<<32 | number) }

// each returns the first escape among several ways, or what stopped the last one.
func each(ways ...error) error {
	var held error
	for _, err := range ways {
		if errors.Is(err, errEscaped) {
			return err
		}
		held = errors.Join(held, err)
	}
	return held
}

// readCanary reads a file and looks for what only the machine's own has.
func readCanary(path string) error {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if strings.Contains(string(text), canary) {
		return escaped("%s says %q", path, canary)
	}
	return errors.Join(err, fmt.Errorf("%s has %d other bytes", path, len(text)))
}

// canary is in every secret of the tests, and in the environment of the process that creates the
// sandbox.
const canary = "canary-7d1f"

func attacks() map[string]func([]string) error {
	all := map[string]func([]string) error{}
	for _, part := range []map[string]func([]string) error{fileAttacks(), netAttacks(), processAttacks(), kernelAttacks(), resourceAttacks()} {
		maps.Copy(all, part)
	}
	return all
}

func fileAttacks() map[string]func([]string) error {
	return map[string]func([]string) error{
		"create": func(a []string) error { return must("create", os.WriteFile(a[0]+"/new", nil, 0o600)) },
		"overwrite": func(a []string) error {
			_, err := os.OpenFile(a[0]+"/code.go", os.O_WRONLY|os.O_TRUNC, 0)
			return must("open for writing", err)
		},
		"unlink": func(a []string) error { return must("unlink", os.Remove(a[0]+"/code.go")) },
		"rename": func(a []string) error { return must("rename", os.Rename(a[0]+"/code.go", a[0]+"/x.go")) },
		"chmod":  func(a []string) error { return must("chmod", os.Chmod(a[0]+"/code.go", 0o777)) },
		"utimes": func(a []string) error { return must("utimes", os.Chtimes(a[0]+"/code.go", time.Now(), time.Now())) },
		"xattr": func(a []string) error {
			return must("setxattr", unix.Setxattr(a[0]+"/code.go", "user.x", []byte("x"), 0))
		},
		"link-in": func(a []string) error {
			return each(must("link", os.Link(a[0]+"/.env", mine("x"))), readCanary(mine("x")))
		},
		"proc-root": func(a []string) error {
			return each(
				readCanary("/proc/1/root"+a[1]), readCanary("/proc/self/root"+a[1]), readCanary("/proc/1/cwd/../../../../../.."+a[1]),
				must("write", os.WriteFile("/proc/1/root"+a[0]+"/new", nil, 0o600)), must("write", os.WriteFile("/proc/self/cwd/new", nil, 0o600)),
			)
		},
		"outside": func(a []string) error {
			up := strings.Repeat("../", 30)
			return each(readCanary(a[1]), readCanary(up+strings.TrimPrefix(a[1], "/")), readCanary("/root/.ssh/id_rsa"), readCanary("/etc/shadow"))
		},
		"symlink-out": func(a []string) error {
			if err := os.Symlink(a[1], mine("l")); err != nil {
				return err
			}
			return each(readCanary(mine("l")), readCanary(a[0]+"/out"))
		},
		"hidden": func(a []string) error {
			return each(readCanary(a[0]+"/.env"), readCanary(a[0]+"/sub/../.env"), readCanary(a[0]+"/to-env"),
				readCanary(a[0]+"/.ssh/id_rsa"), readCanary(a[0]+"/sub/.ssh/id_rsa"), readCanary(a[0]+"/keys.real"), readCanary("/proc/self/root"+a[0]+"/.env"))
		},
		"unmask": func(a []string) error {
			return each(must("umount", unix.Unmount(a[0]+"/.env", unix.MNT_DETACH)), must("umount", unix.Unmount(a[0]+"/.ssh", 0)), readCanary(a[0]+"/.env"))
		},
		"remount": func(a []string) error {
			return each(
				must("remount", unix.Mount("", a[0], "", unix.MS_REMOUNT|unix.MS_BIND, "")),
				must("mount tmpfs", unix.Mount("tmpfs", "/tmp", "tmpfs", 0, "")),
				must("bind", unix.Mount("/usr", "/tmp", "", unix.MS_BIND, "")),
				must("mount proc", unix.Mount("proc", "/proc", "proc", 0, "")),
				call("open_tree", unix.SYS_OPEN_TREE, 0, 0, 1), call("fsopen", unix.SYS_FSOPEN), call("mount_setattr", unix.SYS_MOUNT_SETATTR),
			)
		},
		"chroot": func([]string) error {
			return each(must("chroot", unix.Chroot("/tmp")), must("pivot_root", unix.PivotRoot("/", "/tmp")))
		},
		"handle": func([]string) error {
			_, _, err := unix.NameToHandleAt(unix.AT_FDCWD, "/usr", 0)
			return each(must("name_to_handle_at", err), call("open_by_handle_at", unix.SYS_OPEN_BY_HANDLE_AT, ^uintptr(0), 0, 0))
		},
		"system": func([]string) error {
			return each(
				must("/usr", os.WriteFile("/usr/bin/x", nil, 0o700)), must("/", os.WriteFile("/x", nil, 0o600)), must("/etc", os.WriteFile("/etc/x", nil, 0o600)),
				must("passwd", os.WriteFile("/etc/passwd", nil, 0o600)), must("/dev", os.WriteFile("/dev/x", nil, 0o600)),
			)
		},
		"devices": func([]string) error {
			ways := []error{
				must("mknod", unix.Mknod(mine("mem"), unix.S_IFCHR|0o600, int(unix.Mkdev(1, 1)))),
				must("mknod", unix.Mknod(mine("disk"), unix.S_IFBLK|0o600, int(unix.Mkdev(254, 0)))),
			}
			for _, dev := range []string{"/dev/mem", "/dev/kmsg", "/dev/vda", "/dev/sda", "/dev/kvm", "/dev/fuse", "/dev/net/tun"} {
				_, err := os.OpenFile(dev, os.O_RDWR, 0)
				ways = append(ways, must(dev, err))
			}
			return each(ways...)
		},
		"setuid-file": func([]string) error {
			if err := os.WriteFile(mine("x"), []byte("#!/bin/sh\n"), 0o700); err != nil {
				return err
			}
			return each(must("chmod u+s", unix.Chmod(mine("x"), 0o4755)), must("chmod g+s", unix.Fchmodat(unix.AT_FDCWD, mine("x"), 0o2755, 0)))
		},
		// A copy may be written to, but must not keep rights that outlive the sandbox.
		"scratch": func(a []string) error {
			if err := os.WriteFile(a[0]+"/new", []byte("x"), 0o600); err != nil {
				return err
			}
			return each(must("chmod u+s", unix.Chmod(a[0]+"/new", 0o4755)), readCanary(a[0]+"/.env"), readCanary(a[0]+"/out"), readCanary(a[0]+"/../../../.env"))
		},
		"kernel-files": func([]string) error {
			var ways []error
			for path, text := range map[string]string{
				"/proc/sys/kernel/core_pattern": "|/tmp/x", "/proc/sys/kernel/hostname": "x", "/proc/sysrq-trigger": "h",
				"/proc/sys/vm/drop_caches": "1", "/proc/1/oom_score_adj": "-1000", "/sys/power/state": "mem",
				"/sys/fs/cgroup/cgroup.procs": "1", "/proc/sys/user/max_user_namespaces": "100",
			} {
				ways = append(ways, must(path, os.WriteFile(path, []byte(text), 0)))
			}
			return each(ways...)
		},
	}
}

func netAttacks() map[string]func([]string) error {
	dial := func(network, address string) error {
		c, err := net.DialTimeout(network, address, time.Second)
		if err != nil {
			return err
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(time.Second))
		_, _ = c.Write([]byte("x"))
		if n, _ := c.Read(make([]byte, 1)); n > 0 || network == "tcp" {
			return escaped("%s to %s", network, address)
		}
		return errors.New("no answer")
	}
	return map[string]func([]string) error{
		"tcp": func(a []string) error { return dial("tcp", a[2]) },
		"udp": func(a []string) error { return dial("udp", a[3]) },
		"internet": func([]string) error {
			return each(dial("tcp", "1.1.1.1:53"), dial("tcp", "169.254.169.254:80"), dial("udp", "8.8.8.8:53"))
		},
		"abstract-socket": func(a []string) error { return dial("unix", "@"+a[4]) },
		"path-socket":     func(a []string) error { return dial("unix", a[0]+"/agent.sock") },
		"families": func([]string) error {
			var ways []error
			for _, family := range []int{unix.AF_VSOCK, unix.AF_PACKET, unix.AF_ALG, unix.AF_BLUETOOTH, unix.AF_KEY, unix.AF_TIPC, unix.AF_XDP} {
				fd, err := unix.Socket(family, unix.SOCK_DGRAM, 0)
				if err == nil {
					unix.Close(fd)
				}
				ways = append(ways, must(fmt.Sprint("family ", family), err))
			}
			// The kernel reads 32 bits of the family.
			ways = append(ways, call("family with more bits", unix.SYS_SOCKET, high(unix.AF_VSOCK), unix.SOCK_STREAM, 0))
			ways = append(ways, call("unix with more bits", unix.SYS_SOCKET, high(unix.AF_UNIX), unix.SOCK_STREAM, 0))
			_, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP)
			return each(append(ways, must("raw socket", err))...)
		},
		// It has its own loopback, and nobody else's.
		"loopback": func([]string) error {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return escaped("no loopback of its own: %v", err)
			}
			defer l.Close()
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				return escaped("no loopback of its own: %v", err)
			}
			return c.Close()
		},
	}
}

func processAttacks() map[string]func([]string) error {
	return map[string]func([]string) error{
		"environ": func(a []string) error {
			pids, _ := filepath.Glob("/proc/[0-9]*")
			ways := []error{readCanary("/proc/" + a[5] + "/environ")}
			for _, pid := range pids {
				ways = append(ways, readCanary(pid+"/environ"), readCanary(pid+"/cmdline"))
			}
			if len(pids) > 20 {
				ways = append(ways, escaped("%d processes are seen", len(pids)))
			}
			for _, v := range os.Environ() {
				if name, _, _ := strings.Cut(v, "="); !strings.Contains(" HOME LANG PATH TMPDIR PWD OLDPWD _ SHLVL ", " "+name+" ") {
					ways = append(ways, escaped("the environment has %s", v))
				}
			}
			return each(ways...)
		},
		"kill": func(a []string) error {
			pid, _ := strconv.Atoi(a[5])
			return must("kill", unix.Kill(pid, 0))
		},
		"kill-all": func([]string) error { return unix.Kill(-1, unix.SIGKILL) },
		"ptrace": func([]string) error {
			return each(
				call("ptrace attach", unix.SYS_PTRACE, unix.PTRACE_ATTACH, 1), call("ptrace seize", unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(os.Getppid())),
				call("process_vm_readv", unix.SYS_PROCESS_VM_READV, 1), call("process_vm_writev", unix.SYS_PROCESS_VM_WRITEV, 1),
				call("pidfd_getfd", unix.SYS_PIDFD_GETFD, 0, 0), call("kcmp", unix.SYS_KCMP, 1, 1),
			)
		},
		"mem": func([]string) error {
			_, err := os.OpenFile("/proc/1/mem", os.O_RDWR, 0)
			return must("/proc/1/mem", err)
		},
		"setuid": func([]string) error {
			return each(must("setuid", unix.Setuid(0)), must("setgid", unix.Setgid(0)), must("setgroups", unix.Setgroups([]int{0})),
				must("setresuid", unix.Setresuid(0, 0, 0)), call("setfsuid", unix.SYS_CAPSET, 0, 0))
		},
		"setuid-program": func(a []string) error {
			out, err := exec.Command(a[6], "whoami").CombinedOutput()
			if strings.Contains(string(out), "uid 0") {
				return escaped("%s", out)
			}
			return errors.Join(err, fmt.Errorf("%s", out))
		},
		"whoami": func([]string) error { return fmt.Errorf("uid %d", os.Geteuid()) },
		"namespaces": func([]string) error {
			ways := []error{
				must("unshare user", unix.Unshare(unix.CLONE_NEWUSER)), must("unshare net", unix.Unshare(unix.CLONE_NEWNET)),
				call("clone3", unix.SYS_CLONE3, 0, 0), call("clone", unix.SYS_CLONE, unix.CLONE_NEWUSER|uintptr(unix.SIGCHLD)),
			}
			for _, ns := range []string{"mnt", "pid", "net", "user"} {
				f, err := os.Open("/proc/1/ns/" + ns)
				if err == nil {
					err = unix.Setns(int(f.Fd()), 0)
				}
				ways = append(ways, must("setns "+ns, err))
			}
			return each(ways...)
		},
		"descriptors": func([]string) error {
			entries, err := os.ReadDir("/proc/self/fd")
			if err != nil {
				return err
			}
			for _, e := range entries {
				to, _ := os.Readlink("/proc/self/fd/" + e.Name())
				fd, _ := strconv.Atoi(e.Name())
				if fd > 2 && !strings.HasPrefix(to, "anon_inode:") && !strings.HasPrefix(to, "/proc/") && to != "" && to != "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size" {
					return escaped("descriptor %d is %s", fd, to)
				}
			}
			return errors.New("nothing but its streams")
		},
		"terminal": func([]string) error {
			tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
			ways := []error{must("/dev/tty", err)}
			if master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0); err == nil {
				b := byte('x')
				for _, request := range []uintptr{unix.TIOCSTI, high(unix.TIOCSTI), unix.TIOCLINUX, high(unix.TIOCLINUX)} {
					ways = append(ways, call(fmt.Sprintf("ioctl %x", request), unix.SYS_IOCTL, master.Fd(), request, uintptr(unsafe.Pointer(&b))))
				}
			}
			_ = tty
			return each(ways...)
		},
		"outlive": func([]string) error {
			// A grandchild in a session of its own that holds no streams, and one that does.
			for _, streams := range []bool{false, true} {
				c := exec.Command("/bin/sh", "-c", "trap '' TERM HUP INT; sleep 7777 & sleep 7777")
				if streams {
					c.Stdout, c.Stderr = os.Stdout, os.Stderr
				}
				c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
				if err := c.Start(); err != nil {
					return err
				}
			}
			return errors.New("left")
		},
		"deadline": func([]string) error {
			c := exec.Command("/bin/sh", "-c", "trap '' TERM HUP INT; sleep 7777 & sleep 7777")
			c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			if err := c.Start(); err != nil {
				return err
			}
			return c.Wait()
		},
	}
}
