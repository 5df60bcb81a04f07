package sandbox

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// forbiddenCalls returns the system calls that a sandboxed command must not use: entry points into
// the kernel that a project's tests do not need, and those that allocate memory that nobody counts.
func forbiddenCalls() []string {
	return []string{
		// Other processes.
		"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_getfd",
		// Namespaces and mounts.
		"mount", "umount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "open_tree_attr", "fsopen", "fsconfig", "fsmount",
		"fspick", "mount_setattr", "unshare", "setns", "statmount", "listmount",
		// Keys, programs in the kernel, and its interfaces with a record.
		"add_key", "request_key", "keyctl", "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register",
		"fanotify_init", "fanotify_mark", "name_to_handle_at", "open_by_handle_at", "lookup_dcookie", "modify_ldt", "personality", "vm86", "vm86old",
		"seccomp", "landlock_create_ruleset", "lsm_set_self_attr",
		// The machine.
		"init_module", "finit_module", "delete_module", "create_module", "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff",
		"acct", "quotactl", "quotactl_fd", "syslog", "iopl", "ioperm", "settimeofday", "clock_settime", "clock_settime64", "clock_adjtime",
		"clock_adjtime64", "adjtimex", "stime", "sethostname", "setdomainname", "vhangup", "nfsservctl", "uselib", "sysfs", "_sysctl",
		// Memory that belongs to no process.
		"memfd_create", "memfd_secret", "shmget", "msgget", "mq_open",
		// Multiplexed calls of old architectures.
		"socketcall", "ipc",
	}
}

// namespaceFlags are the flags of clone that create a namespace.
const namespaceFlags = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// seccompProgram returns the filter for a sandboxed command in the form that bubblewrap reads.
// Calls that the filter's table does not know, and those of other architectures, do not exist:
// i386's calls, for example, have numbers of their own.
func seccompProgram(unixSockets bool) ([]byte, error) {
	machine, err := arch.GetInfo("")
	if err != nil {
		return nil, err
	}
	forbidden := forbiddenCalls()
	// clone3 passes its flags in memory, which filters cannot read. Without it, libraries fall back
	// to clone.
	missing := []string{"clone3"}
	var known, denied []string
	for name := range machine.SyscallNames {
		switch {
		case slices.Contains(missing, name):
		case slices.Contains(forbidden, name):
			denied = append(denied, name)
		default:
			known = append(known, name)
		}
	}
	slices.Sort(known)
	slices.Sort(denied)
	policy := seccomp.Policy{
		DefaultAction: seccomp.ActionErrno,
		Syscalls: []seccomp.SyscallGroup{
			{Names: missing, Action: refuse(unix.ENOSYS)},
			{Names: denied, Action: refuse(unix.EPERM)},
			{Names: known, Action: seccomp.ActionAllow},
		},
	}
	program, err := policy.Assemble()
	if err != nil {
		return nil, err
	}
	first := onlyOurs(machine)
	for _, c := range conditionalCalls() {
		first = append(first, c.program(machine)...)
	}
	first = append(first, sockets(machine, unixSockets)...)
	raw, err := bpf.Assemble(append(first, program...))
	if err != nil {
		return nil, err
	}
	if len(raw) > 4096 {
		return nil, fmt.Errorf("the filter has %d instructions, and a kernel takes 4096", len(raw))
	}
	var out bytes.Buffer
	for _, i := range raw {
		if err := binary.Write(&out, binary.NativeEndian, unix.SockFilter{Code: i.Op, Jt: i.Jt, Jf: i.Jf, K: i.K}); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// Offsets in the data that a filter sees.
const (
	atNumber       = 0
	atArchitecture = 4
	atArguments    = 16
)

// onlyOurs returns the start of a filter: calls from another architecture, or added to the kernel
// after the table was made, do not exist. The library would apply its default to both.
func onlyOurs(machine *arch.Info) []bpf.Instruction {
	last := slices.Max(slices.Collect(maps.Keys(machine.SyscallNumbers)))
	return []bpf.Instruction{
		bpf.LoadAbsolute{Off: atArchitecture, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(machine.ID), SkipFalse: 2},
		bpf.LoadAbsolute{Off: atNumber, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpGreaterThan, Val: uint32(last), SkipFalse: 1}, //nolint:gosec // a number of a call
		bpf.RetConstant{Val: uint32(refuse(unix.ENOSYS))},
	}
}

// refuse returns the action that fails a call with an error.
func refuse(errno unix.Errno) seccomp.Action {
	return seccomp.ActionErrno | seccomp.Action(errno) //nolint:gosec // a small number
}

// conditional is a call that is refused depending on one of its arguments. It only tests the low 32
// bits, because the kernel reads no more of these arguments.
//
// The library supports conditions, too, but loses the call's number if one does not hold, and then
// decides the call by its argument.
type conditional struct {
	name     string
	argument uint32
	test     bpf.JumpTest
	values   []uint32 // the call is refused if the test holds for any of them
}

// conditionalCalls returns the calls that are refused for some of their arguments.
func conditionalCalls() []conditional {
	setID := []uint32{unix.S_ISUID | unix.S_ISGID}
	// This bit is set for both kinds of device, but not for files, pipes and sockets.
	device := []uint32{unix.S_IFCHR}
	return []conditional{
		{"clone", 0, bpf.JumpBitsSet, []uint32{namespaceFlags}},
		// These make a terminal take their data as typed input.
		{"ioctl", 1, bpf.JumpEqual, []uint32{unix.TIOCSTI, unix.TIOCLINUX}},
		{"chmod", 1, bpf.JumpBitsSet, setID},
		{"fchmod", 1, bpf.JumpBitsSet, setID},
		{"fchmodat", 2, bpf.JumpBitsSet, setID},
		{"fchmodat2", 2, bpf.JumpBitsSet, setID},
		{"mknod", 1, bpf.JumpBitsSet, device},
		{"mknodat", 2, bpf.JumpBitsSet, device},
	}
}

// program returns the instructions, none if the architecture has no such call.
func (c conditional) program(machine *arch.Info) []bpf.Instruction {
	var tests []bpf.Instruction
	for i, value := range c.values {
		tests = append(tests, bpf.JumpIf{Cond: c.test, Val: value, SkipTrue: uint8(len(c.values) - i)}) //nolint:gosec // a few
	}
	tests = append(tests, bpf.Jump{Skip: 1}, bpf.RetConstant{Val: uint32(refuse(unix.EPERM))})
	return when(machine, c.name, c.argument, tests)
}

// when returns instructions that run then with an argument of a call loaded, and skip it for other
// calls.
func when(machine *arch.Info, name string, argument uint32, then []bpf.Instruction) []bpf.Instruction {
	number, there := machine.SyscallNames[name]
	if !there {
		return nil
	}
	low := atArguments + 8*argument
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
		low += 4
	}
	return append([]bpf.Instruction{
		bpf.LoadAbsolute{Off: atNumber, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: uint32(number), SkipTrue: uint8(len(then) + 1)}, //nolint:gosec // a number of a call; a few
		bpf.LoadAbsolute{Off: low, Size: 4},
	}, then...)
}

// sockets lets a command open sockets of some families. Those for hypervisors, kernel cryptography
// and packets are in no namespace. A Unix socket may be in a mount, where somebody outside listens.
func sockets(machine *arch.Info, unixSockets bool) []bpf.Instruction {
	families := []uint32{unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}
	if unixSockets {
		families = append(families, unix.AF_UNIX)
	}
	var tests []bpf.Instruction
	for i, family := range families {
		tests = append(tests, bpf.JumpIf{Cond: bpf.JumpEqual, Val: family, SkipTrue: uint8(len(families) - i)}) //nolint:gosec // a few
	}
	tests = append(tests, bpf.RetConstant{Val: uint32(refuse(unix.EAFNOSUPPORT))}, bpf.RetConstant{Val: uint32(seccomp.ActionAllow)})
	return when(machine, "socket", 0, tests)
}
