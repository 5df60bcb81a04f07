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

// owned is an ownership and mode; empty names mean root.
type owned struct {
	user, group string
	mode        fs.FileMode
}

// octal returns the mode in the form that chmod takes.
func (o owned) octal() string {
	mode := uint32(o.mode.Perm())
	if o.mode&fs.ModeSetgid != 0 {
		mode |= syscall.S_ISGID
	}
	return fmt.Sprintf("%04o", mode)
}

// is reports whether the file at path has this ownership and mode.
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
	// If the user does not exist yet, nothing belongs to it.
	return err == nil && ok && int(stat.Uid) == uid && int(stat.Gid) == gid && info.Mode()&(fs.ModePerm|fs.ModeSetgid) == o.mode, nil
}

// give sets the ownership and mode.
func (o owned) give(m machine, path string) error {
	uid, gid, err := m.must(o.user, o.group)
	if err != nil {
		return err
	}
	// The mode comes last, because a change of owner clears some bits.
	return errors.Join(os.Lchown(path, uid, gid), os.Chmod(path, o.mode))
}

// makeGroup creates a system group.
func (m machine) makeGroup(name, what string) Step {
	return Step{
		Say:  fmt.Sprintf("make the group %s: %s", name, what),
		Done: func(context.Context) (bool, error) { _, _, ok, err := m.group(name); return ok, err },
		Do:   func(ctx context.Context) error { return run(ctx, "groupadd", "--prefix", m.root, "--system", name) },
		Undo: func(ctx context.Context) error {
			if _, ok, err := m.user(name); err == nil && ok {
				return &KeptError{fmt.Sprintf("the group %s, which is the user's own", name)}
			}
			return run(ctx, "groupdel", "--prefix", m.root, name)
		},
	}
}

// makeUser creates a system user without a login. The group with the same name must exist.
func (m machine) makeUser(name, home string) Step {
	return Step{
		Say:  fmt.Sprintf("make the system user %s, who cannot log in, with the home %s", name, home),
		Done: func(context.Context) (bool, error) { _, ok, err := m.user(name); return ok, err },
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

// join adds a user to a group.
func (m machine) join(user, group string) Step {
	return Step{
		Say: fmt.Sprintf("put %s into the group %s", user, group),
		Done: func(context.Context) (bool, error) {
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

// makeFolder creates a folder. When undone, it leaves a folder that is not empty.
func (m machine) makeFolder(name string, o owned, what string) Step {
	path := m.path(name)
	return Step{
		Say:  fmt.Sprintf("make the folder %s (%s): %s", name, o.octal(), what),
		Done: func(context.Context) (bool, error) { return o.is(m, path) },
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

// content is what a file should contain.
type content func() ([]byte, error)

func text(s string) content { return func() ([]byte, error) { return []byte(s), nil } }

// made is a file with a required content.
type made struct {
	m machine
	owned
	name, path string
	what       content
	// keep leaves an existing file with other content alone, because the operator wrote it.
	keep bool
	// before is its content before this run; nil if it did not exist.
	before []byte
}

// makeFile writes a file with the given content.
func (m machine) makeFile(name string, o owned, what content, keep bool, say string) Step {
	f := &made{m: m, owned: o, name: name, path: m.path(name), what: what, keep: keep}
	return Step{Say: fmt.Sprintf("write %s: %s", name, say), Done: f.done, Do: f.do, Undo: f.undo}
}

// held returns the file's content, nil if it does not exist, and whether it is the required one.
func (f *made) held() (have []byte, same bool, err error) {
	have, err = os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	want, err := f.what()
	return have, bytes.Equal(have, want), err
}

func (f *made) done(context.Context) (bool, error) {
	have, same, err := f.held()
	if err != nil || have == nil || !same && !f.keep {
		return false, err
	}
	return f.is(f.m, f.path)
}

func (f *made) do(context.Context) error {
	have, _, err := f.held()
	if err != nil {
		return err
	}
	f.before = have
	if have != nil && f.keep {
		return f.give(f.m, f.path)
	}
	want, err := f.what()
	if err != nil {
		return err
	}
	return f.m.write(f.path, want, f.owned)
}

func (f *made) undo(context.Context) error {
	if f.before != nil {
		return f.m.write(f.path, f.before, f.owned)
	}
	if _, same, err := f.held(); err == nil && !same && f.keep {
		return &KeptError{f.name + ", which was changed by hand"}
	}
	return os.Remove(f.path)
}

// write atomically writes a file.
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

// letRead lets a user read a folder, with what will be created in it, and pass through the folders
// above it.
func (m machine) letRead(user, folder string) Step {
	path := m.path(folder)
	entry := func(rights string) (string, error) {
		uid, _, err := m.must(user, "")
		return "u:" + strconv.Itoa(uid) + rights, err
	}
	return Step{
		Say: fmt.Sprintf("let %s read %s, and what will be in it (setfacl)", user, folder),
		Done: func(ctx context.Context) (bool, error) {
			a, ok, err := m.user(user)
			if err != nil || !ok {
				return false, err
			}
			cmd := exec.CommandContext(ctx, "getfacl", "--numeric", "--absolute-names", "--omit-header", "--", path) //nolint:gosec // A folder that was checked.
			said, err := cmd.Output()
			if errors.Is(err, exec.ErrNotFound) {
				return false, nil // doing it reports that
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

// closed returns the folders above a path that not everybody may pass through.
func (m machine) closed(path string) []string {
	var all []string
	for above := filepath.Dir(path); len(above) > len(filepath.Clean(m.root)); above = filepath.Dir(above) {
		if info, err := os.Stat(above); err == nil && info.Mode().Perm()&0o001 == 0 {
			all = append(all, above)
		}
	}
	return all
}
