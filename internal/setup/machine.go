package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/metnos/vaglio/internal/regular"
)

// machine is the system to set up, whose root is a folder.
type machine struct{ root string }

// path returns where a path on the machine is for this process.
func (m machine) path(name string) string { return filepath.Join(m.root, name) }

// here reports whether it is the running machine.
func (m machine) here() bool { return m.root == "/" }

// account is a line of /etc/passwd.
type account struct {
	name, home string
	uid, gid   int
}

// maxAccounts is the maximum size of a list of accounts, in bytes.
const maxAccounts = 16 << 20

// lines returns the fields of each line of a file such as /etc/passwd. It skips lines with fewer.
func (m machine) lines(file string, fields int) ([][]string, error) {
	text, whole, err := regular.Read(m.path(file), maxAccounts)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil || !whole {
		return nil, errors.Join(err, fmt.Errorf("%s cannot be read whole", m.path(file)))
	}
	var all [][]string
	for line := range strings.Lines(string(text)) {
		if f := strings.Split(strings.TrimSuffix(line, "\n"), ":"); len(f) >= fields {
			all = append(all, f)
		}
	}
	return all, nil
}

// user returns a user of the machine; ok reports whether there is one.
func (m machine) user(name string) (a account, ok bool, err error) {
	all, err := m.lines("/etc/passwd", 7)
	for _, f := range all {
		if f[0] != name {
			continue
		}
		a.name, a.home = f[0], f[5]
		if a.uid, err = strconv.Atoi(f[2]); err == nil {
			a.gid, err = strconv.Atoi(f[3])
		}
		return a, err == nil, err
	}
	return a, false, err
}

// group returns a group's ID and its members.
func (m machine) group(name string) (gid int, members []string, ok bool, err error) {
	all, err := m.lines("/etc/group", 4)
	for _, f := range all {
		if f[0] == name {
			gid, err = strconv.Atoi(f[2])
			return gid, strings.Split(f[3], ","), err == nil, err
		}
	}
	return 0, nil, false, err
}

// memberOf returns those of the groups that list the user as a member.
func (m machine) memberOf(user string, groups ...string) []string {
	var in []string
	for _, g := range groups {
		if _, members, ok, err := m.group(g); err == nil && ok && slices.Contains(members, user) {
			in = append(in, g)
		}
	}
	return in
}

// must returns the IDs of a user and a group that must exist by now; empty names mean root.
func (m machine) must(user, group string) (uid, gid int, err error) {
	if user != "" {
		a, ok, err := m.user(user)
		if err != nil || !ok {
			return 0, 0, errors.Join(err, fmt.Errorf("there is no user %q", user))
		}
		uid = a.uid
	}
	if group != "" {
		var ok bool
		if gid, _, ok, err = m.group(group); err != nil || !ok {
			return 0, 0, errors.Join(err, fmt.Errorf("there is no group %q", group))
		}
	}
	return uid, gid, nil
}

// as returns the attributes for running a program as a user of the machine.
func (m machine) as(name string) (*syscall.SysProcAttr, error) {
	a, ok, err := m.user(name)
	if err != nil || !ok {
		return nil, errors.Join(err, fmt.Errorf("there is no user %q", name))
	}
	c := &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)} //nolint:gosec // Numbers of users are that wide.
	return &syscall.SysProcAttr{Credential: c}, nil
}

// run runs a program. Its error contains what the program printed to stderr.
func run(ctx context.Context, name string, args ...string) error {
	return ran(exec.CommandContext(ctx, name, args...)) //nolint:gosec // The programs are named here.
}

func ran(cmd *exec.Cmd) error {
	var said bytes.Buffer
	cmd.Stderr = &said
	err := cmd.Run()
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%s is not installed on this machine; install it, and run this again", filepath.Base(cmd.Path))
	}
	if text := strings.TrimSpace(said.String()); err != nil && text != "" {
		return errors.New(strings.ReplaceAll(text, "\n", "; "))
	}
	return err
}
