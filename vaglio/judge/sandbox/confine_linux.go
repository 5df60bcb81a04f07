package sandbox

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// confined runs do on a thread of its own that can open nothing outside the mount, and that ends
// with do. If the kernel has no Landlock, bubblewrap is available (see [Open]), and os.Root alone
// keeps do inside the mount.
//
// Landlock only restricts this thread and what it starts, so do must not start goroutines.
func (s *Sandbox) confined(ctx context.Context, m *mount, do func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		// Never unlocked: a confined thread is of no use to others, and exits with its goroutine.
		runtime.LockOSThread()
		var err error
		defer func() {
			// A panic here would end the process: nobody above can recover it.
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v", p)
			}
			done <- err
		}()
		if s.host.landlock > 0 {
			if err = confineThread(s.host.landlock, m.root); err != nil {
				err = fmt.Errorf("no sandbox: Landlock: %w", err)
				return
			}
		}
		err = do()
	}()
	return <-done
}

// confineThread permanently takes away this thread's access to all files except those in root, which
// it may read.
func confineThread(abi int, root *os.Root) error {
	const read = ll.AccessFSReadFile | ll.AccessFSReadDir
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	rules := ll.RulesetAttr{HandledAccessFS: fileRights(abi), HandledAccessNet: netRights(abi), Scoped: scopes(abi)}
	set, err := ll.LandlockCreateRuleset(&rules, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(set) }()
	beneath := ll.PathBeneathAttr{AllowedAccess: read, ParentFd: int(dir.Fd())}
	if err := ll.LandlockAddPathBeneathRule(set, &beneath, 0); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	return ll.LandlockRestrictSelf(set, 0)
}

// fileRights returns the rights over files that this version of Landlock knows.
func fileRights(abi int) uint64 {
	switch {
	case abi >= 5:
		return 1<<16 - 1 // up to ioctl on devices
	case abi >= 3:
		return 1<<15 - 1 // up to truncate
	case abi == 2:
		return 1<<14 - 1 // up to refer
	default:
		return 1<<13 - 1
	}
}

// netRights returns the rights over the network that this version of Landlock knows.
func netRights(abi int) uint64 {
	if abi >= 4 {
		return ll.AccessNetBindTCP | ll.AccessNetConnectTCP
	}
	return 0
}

// scopes returns what this version of Landlock can restrict to the confined processes.
func scopes(abi int) uint64 {
	if abi >= 6 {
		return ll.ScopeAbstractUnixSocket | ll.ScopeSignal
	}
	return 0
}

// landlockVersion returns the kernel's version of Landlock, 0 if it has none.
func landlockVersion() int {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return abi
}

// placeOfFile returns the path of an open file according to the kernel.
func placeOfFile(f *os.File) (string, error) {
	c, err := f.SyscallConn()
	if err != nil {
		return "", err
	}
	var place string
	var failed error
	if err := c.Control(func(fd uintptr) { place, failed = os.Readlink("/proc/self/fd/" + strconv.Itoa(int(fd))) }); err != nil {
		return "", err
	}
	return place, failed
}

// placeOf returns the path of an opened folder.
func placeOf(root *os.Root) (string, error) {
	dir, err := root.Open(".")
	if err != nil {
		return "", err
	}
	defer dir.Close()
	return placeOfFile(dir)
}
