package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// owned says whose something is; empty names are root's.
type owned struct {
	user, group string
	mode        fs.FileMode
}

// octal is the mode as chmod takes it.
func (o owned) octal() string {
	mode := uint32(o.mode.Perm())
	if o.mode&fs.ModeSetgid != 0 {
		mode |= syscall.S_ISGID
	}
	return fmt.Sprintf("%04o", mode)
}

// is reports whether what is at a path belongs to them, with that mode.
func (o owned) is(m machine, path string) (bool, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	uid, gid, err := m.must(o.user, o.group)
	stat, ok := info.Sys().(*syscall.Stat_t)
	// Where there is no such user yet, nothing is theirs.
	return err == nil && ok && int(stat.Uid) == uid && int(stat.Gid) == gid && info.Mode()&(fs.ModePerm|fs.ModeSetgid) == o.mode, nil
}

// give makes it so.
func (o owned) give(m machine, path string) error {
	uid, gid, err := m.must(o.user, o.group)
	if err != nil {
		return err
	}
	// The mode comes last: a change of owner takes some of it.
	return errors.Join(os.Lchown(path, uid, gid), os.Chmod(path, o.mode))
}

// makeGroup makes a group of the system.
func (m machine) makeGroup(name, what string) Step {
	return Step{
		Say:  fmt.Sprintf("make the group %s: %s", name, what),
		Done: func() (bool, error) { _, _, ok, err := m.group(name); return ok, err },
		Do:   func(ctx context.Context) error { return run(ctx, "groupadd", "--prefix", m.root, "--system", name) },
		Undo: func(ctx context.Context) error {
			if _, ok, err := m.user(name); err == nil && ok {
				return &KeptError{fmt.Sprintf("the group %s, which is the user's own", name)}
			}
			return run(ctx, "groupdel", "--prefix", m.root, name)
		},
	}
}

// makeUser makes a user of the system, who cannot log in. The group of the same name
// is there.
func (m machine) makeUser(name, home string) Step {
	return Step{
		Say:  fmt.Sprintf("make the system user %s, who cannot log in, with the home %s", name, home),
		Done: func() (bool, error) { _, ok, err := m.user(name); return ok, err },
		Do: func(ctx context.Context) error {
			return run(ctx, "useradd", "--prefix", m.root, "--system", "--gid", name,
				"--home-dir", home, "--no-create-home", "--shell", "/usr/sbin/nologin", name)
		},
		Undo: func(ctx context.Context) error {
			if _, err := os.Lstat(m.path(home)); err == nil {
				return &KeptError{fmt.Sprintf("the user %s, to whom %s belongs", name, home)}
			}
			return run(ctx, "userdel", "--prefix", m.root, name)
		},
	}
}

// join puts a user into a group.
func (m machine) join(user, group string) Step {
	return Step{
		Say: fmt.Sprintf("put %s into the group %s", user, group),
		Done: func() (bool, error) {
			_, members, ok, err := m.group(group)
			return ok && slices.Contains(members, user), err
		},
		Do: func(ctx context.Context) error {
			return run(ctx, "usermod", "--prefix", m.root, "--append", "--groups", group, user)
		},
		Undo: func(ctx context.Context) error {
			return run(ctx, "usermod", "--prefix", m.root, "--remove", "--groups", group, user)
		},
	}
}

// makeFolder makes a folder; one that holds something stays when it is undone.
func (m machine) makeFolder(name string, o owned, what string) Step {
	path := m.path(name)
	return Step{
		Say:  fmt.Sprintf("make the folder %s (%s): %s", name, o.octal(), what),
		Done: func() (bool, error) { return o.is(m, path) },
		Do: func(context.Context) error {
			err := os.MkdirAll(filepath.Dir(path), 0o755) //nolint:gosec // Folders of the system are for all to see.
			if err == nil {
				err = os.Mkdir(path, 0o700)
			}
			if err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
			if info, err := os.Lstat(path); err != nil || !info.IsDir() {
				return errors.Join(err, fmt.Errorf("%s is in the way: it is not a folder", path))
			}
			return o.give(m, path)
		},
		Undo: func(context.Context) error {
			err := os.Remove(path)
			if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST) {
				return &KeptError{fmt.Sprintf("the folder %s, which is not empty; remove it by hand once nothing in it is needed", name)}
			}
			return err
		},
	}
}

// content is what a file is to hold.
type content func() ([]byte, error)

func text(s string) content { return func() ([]byte, error) { return []byte(s), nil } }

// makeFile makes a file hold what it should. keep leaves one alone that is there
// and holds something else, which the operator wrote.
func (m machine) makeFile(name string, o owned, what content, keep bool, say string) Step {
	path := m.path(name)
	var before []byte // what it held before this run; nil is that there was none
	same := func() (there, same bool, err error) {
		want, err := what()
		if err != nil {
			return false, false, err
		}
		have, err := os.ReadFile(path) //nolint:gosec // A path of the table.
		if errors.Is(err, fs.ErrNotExist) {
			return false, false, nil
		}
		return true, bytes.Equal(have, want), err
	}
	return Step{
		Say: fmt.Sprintf("write %s: %s", name, say),
		Done: func() (bool, error) {
			there, equal, err := same()
			if err != nil || !there || !equal && !keep {
				return false, err
			}
			return o.is(m, path)
		},
		Do: func(context.Context) error {
			there, _, err := same()
			if err != nil {
				return err
			}
			if there {
				if before, err = os.ReadFile(path); err != nil || keep { //nolint:gosec // A path of the table.
					return errors.Join(err, o.give(m, path))
				}
			}
			want, err := what()
			if err != nil {
				return err
			}
			return m.write(path, want, o)
		},
		Undo: func(context.Context) error {
			if before != nil {
				return m.write(path, before, o)
			}
			if _, equal, err := same(); err == nil && !equal && keep {
				return &KeptError{name + ", which was changed by hand"}
			}
			return os.Remove(path)
		},
	}
}

// write writes a file whole or not at all.
func (m machine) write(path string, b []byte, o owned) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // Folders of the system are for all to see.
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".vaglio-")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = o.give(m, f.Name())
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// letRead gives a user the right to read a folder and what will be in it, and to
// pass the folders above.
func (m machine) letRead(user, folder string) Step {
	path := m.path(folder)
	entry := func(rights string) (string, error) {
		uid, _, err := m.must(user, "")
		return "u:" + strconv.Itoa(uid) + rights, err
	}
	return Step{
		Say: fmt.Sprintf("let %s read %s, and what will be in it (setfacl)", user, folder),
		Done: func() (bool, error) {
			a, ok, err := m.user(user)
			if err != nil || !ok {
				return false, err
			}
			cmd := exec.Command("getfacl", "--numeric", "--absolute-names", "--omit-header", "--", path) //nolint:gosec // A folder that was checked.
			said, err := cmd.Output()
			if errors.Is(err, exec.ErrNotFound) {
				return false, nil // Doing it says so.
			}
			return strings.Contains(string(said), fmt.Sprintf("\nuser:%d:r-x", a.uid)), err
		},
		Do: func(ctx context.Context) error {
			read, err := entry(":rX")
			if err != nil {
				return err
			}
			pass, _ := entry(":--x")
			if err := run(ctx, "setfacl", "--recursive", "--physical", "-m", read, "-m", "d:"+read, "--", path); err != nil {
				return err
			}
			for _, above := range m.closed(path) {
				if err := run(ctx, "setfacl", "-m", pass, "--", above); err != nil {
					return err
				}
			}
			return nil
		},
		Undo: func(ctx context.Context) error {
			who, err := entry("")
			if err != nil {
				return err
			}
			err = run(ctx, "setfacl", "--recursive", "--physical", "-x", who, "-x", "d:"+who, "--", path)
			for above := filepath.Dir(path); len(above) > len(filepath.Clean(m.root)) && err == nil; above = filepath.Dir(above) {
				err = run(ctx, "setfacl", "-x", who, "--", above)
			}
			return err
		},
	}
}

// closed are the folders above a path that not everybody may pass.
func (m machine) closed(path string) []string {
	var all []string
	for above := filepath.Dir(path); len(above) > len(filepath.Clean(m.root)); above = filepath.Dir(above) {
		if info, err := os.Stat(above); err == nil && info.Mode().Perm()&0o001 == 0 {
			all = append(all, above)
		}
	}
	return all
}
