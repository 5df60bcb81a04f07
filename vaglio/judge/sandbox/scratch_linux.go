package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// scratch is the folder of one sandbox's private copies, which only its user may enter, with a lock
// beside it. The kernel releases the lock when the process ends, however it ends, so that abandoned
// copies can be recognised and removed.
type scratch struct {
	dir   string
	lock  *os.File
	owner int // the user that commands run as, -1 for our own
	count int
}

const lockSuffix = ".lock"

// newScratch creates an empty one.
func (h *Host) newScratch() (*scratch, error) {
	if h.unshared != "" {
		return nil, errors.New(h.unshared)
	}
	lock, err := os.CreateTemp(h.scratch, "*"+lockSuffix)
	if err != nil {
		return nil, err
	}
	s := &scratch{dir: strings.TrimSuffix(lock.Name(), lockSuffix), lock: lock, owner: sandboxUser()}
	err = flock(lock)
	if err == nil {
		err = os.Mkdir(s.dir, 0o700)
	}
	if err == nil {
		err = s.own(s.dir)
	}
	if err != nil {
		return nil, errors.Join(err, s.remove())
	}
	return s, nil
}

// folder creates a folder for the copy of one mount.
func (s *scratch) folder() (*os.Root, error) {
	s.count++
	dir := filepath.Join(s.dir, fmt.Sprint(s.count))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	if err := s.own(dir); err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}

// own gives a file to the user that commands run as.
func (s *scratch) own(path string) error {
	if s.owner < 0 {
		return nil
	}
	return os.Lchown(path, s.owner, s.owner)
}

// remove removes the copies, then the lock.
func (s *scratch) remove() error {
	err := removeAll(s.dir)
	if err == nil {
		err = os.Remove(s.lock.Name())
	}
	return errors.Join(err, s.lock.Close())
}

// removeAll removes a folder even if sandboxed commands have taken away our permissions on it.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	// A folder is visited before it is read.
	_ = fs.WalkDir(root.FS(), ".", func(rel string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = root.Chmod(rel, 0o700)
		}
		if err != nil {
			return skipEntry(d)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// sweep creates the folder for private copies, and removes those that no process holds.
func sweep(dir string) error {
	mode := fs.FileMode(0o700)
	if sandboxUser() >= 0 {
		// Another user's commands must be able to pass through it.
		mode = 0o711
	}
	if err := os.MkdirAll(dir, mode); err != nil {
		return err
	}
	locks, err := filepath.Glob(filepath.Join(strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir), "*"+lockSuffix))
	if err != nil {
		return err
	}
	for _, name := range locks {
		lock, err := os.Open(name) //nolint:gosec // a name in our own folder
		if err != nil {
			continue
		}
		if flock(lock) == nil {
			// If that fails, the next start tries again.
			_ = (&scratch{dir: strings.TrimSuffix(name, lockSuffix), lock: lock}).remove()
			continue
		}
		_ = lock.Close()
	}
	return nil
}

// flock takes a lock, or returns an error if somebody else holds it.
func flock(f *os.File) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}

// copyMounts replaces the mounts by private copies.
func (s *Sandbox) copyMounts(ctx context.Context) (err error) {
	if s.scratch, err = s.host.newScratch(); err != nil {
		return fmt.Errorf("no private copy can be made: %w", err)
	}
	if err := s.findHidden(ctx); err != nil {
		return err
	}
	left := s.limits.Copy
	entries := mostEntries
	for i := range s.mounts {
		m := &s.mounts[i]
		root, err := s.scratch.folder()
		if err != nil {
			return fmt.Errorf("no private copy can be made: %w", err)
		}
		c := copying{ctx: ctx, sandbox: s, mount: m, to: root, left: left, entries: entries, most: s.limits.Copy}
		if err := fs.WalkDir(m.root.FS(), ".", c.entry); err != nil {
			_ = root.Close()
			return err
		}
		left, entries = c.left, c.entries
		_ = m.root.Close()
		m.root, m.source, m.hidden = root, root.Name(), nil // hidden entries are not in the copy
	}
	return nil
}

// copying is the copying of one mount in progress.
type copying struct {
	ctx     context.Context //nolint:containedctx // of one walk
	sandbox *Sandbox
	mount   *mount
	to      *os.Root
	left    int64 // bytes
	entries int
	most    int64
}

// entry copies one file, folder or symlink. It leaves out secrets, symlinks that lead outside, and
// files of any other type.
func (c *copying) entry(rel string, d fs.DirEntry, err error) error {
	c.entries--
	switch {
	case c.ctx.Err() != nil:
		return c.ctx.Err()
	case rel == "." && err == nil:
		return nil
	case err != nil && rel != "." && closed(err):
		return skipEntry(d)
	case err != nil:
		return MountError{c.mount.asked, "cannot be copied: " + reason(err)}
	case c.entries < 0:
		return MountError{c.mount.asked, fmt.Sprintf("has more than %d files and folders to copy", mostEntries)}
	case c.sandbox.isHidden(c.mount, filepath.Join(c.mount.path, rel)):
		return skipEntry(d)
	}
	return c.made(rel, c.make(rel, d.Type()))
}

// make creates the copy of one entry.
func (c *copying) make(rel string, kind fs.FileMode) error {
	switch kind {
	case fs.ModeDir:
		return c.to.Mkdir(rel, 0o700)
	case fs.ModeSymlink:
		return c.link(rel)
	case 0:
		return c.file(rel)
	default:
		return errLeftOut
	}
}

// made gives a copied entry to its user, or returns why there is none.
func (c *copying) made(rel string, err error) error {
	if _, is := errors.AsType[MountError](err); is {
		return err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errLeftOut):
		return nil
	case err != nil:
		return MountError{c.mount.asked, fmt.Sprintf("cannot be copied: %s: %s", rel, reason(err))}
	}
	return c.sandbox.scratch.own(filepath.Join(c.to.Name(), rel))
}

// errLeftOut marks an entry that is not copied.
var errLeftOut = errors.New("left out")

// link copies a symlink whose target, as text, is in the mount.
func (c *copying) link(rel string) error {
	target, err := c.mount.root.Readlink(rel)
	if err != nil {
		return errLeftOut // it has changed since the folder was read
	}
	at := target
	if !filepath.IsAbs(at) {
		at = filepath.Join(c.mount.path, filepath.Dir(rel), target)
	}
	if _, in := below(filepath.Clean(at), c.mount.path); !in {
		return errLeftOut
	}
	return c.to.Symlink(target, rel)
}

// file copies a file.
func (c *copying) file(rel string) error {
	from, at, err := c.sandbox.open("copy", c.mount, rel)
	if err != nil {
		return errLeftOut
	}
	defer from.Close()
	info, err := from.Stat()
	// It may have become a symlink, or something else, since the folder was read.
	if err != nil || !info.Mode().IsRegular() || at != filepath.Join(c.mount.path, rel) {
		return errLeftOut
	}
	to, err := c.to.OpenFile(rel, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(to, io.LimitReader(from, c.left+1))
	if err = errors.Join(err, to.Close()); err != nil {
		return err
	}
	if c.left -= n; c.left < 0 {
		return MountError{c.mount.asked, fmt.Sprintf("has more than %d MiB, too much for a private copy", c.most/mib)}
	}
	return nil
}
