package install

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/metnos/vaglio/internal/durable"
)

// Diff returns the change in the format of diff -u.
func (c *Change) Diff() string {
	from, to := c.Path, c.Path
	if c.Before == nil {
		from = "/dev/null"
	}
	if c.After == nil {
		to = "/dev/null"
	}
	return udiff.Unified(from, to, string(c.Before), string(c.After))
}

// Write makes the change: it writes a new file and renames it over the old one. It keeps a
// backup of the former content beside it. It leaves the file alone if it has changed since the
// change was planned.
func (c *Change) Write() error {
	if !c.Changes() {
		return nil
	}
	path, mode, err := c.place()
	if err != nil {
		return err
	}
	now, err := readFile(path)
	if err != nil {
		return err
	}
	if (now == nil) != (c.Before == nil) || !bytes.Equal(now, c.Before) {
		return fmt.Errorf("%s has changed meanwhile and was left alone; run the command again", path)
	}
	const owner, readers = fs.FileMode(0o700), fs.FileMode(0o044)
	// Whoever may read the file may also enter its folder.
	if err := durable.MakeFolderAs(filepath.Dir(path), owner|c.Mode&readers|c.Mode&readers>>2); err != nil {
		return err //nolint:wrapcheck // It names the folder.
	}
	if err := c.keep(path, mode); err != nil {
		return err
	}
	if c.After == nil {
		if err := durable.Remove(path); err != nil {
			return err //nolint:wrapcheck // It names the file.
		}
		c.clear()
		return nil
	}
	return durable.Replace(path, c.After, mode)
}

// clear removes the folders above a removed file that hold nothing any more.
func (c *Change) clear() {
	for dir := filepath.Dir(c.Path); c.root != "" && strings.HasPrefix(dir, strings.TrimRight(c.root, "/")+"/"); dir = filepath.Dir(dir) {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() || os.Remove(dir) != nil {
			return // It holds something, or is a link.
		}
	}
}

// place resolves links, so that they are preserved, and returns the file's mode.
func (c *Change) place() (path string, mode fs.FileMode, err error) {
	path, err = filepath.EvalSymlinks(c.Path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(c.Path); err == nil {
			return "", 0, fmt.Errorf("%s is a link to nothing; it was left alone", c.Path)
		}
		return c.Path, c.Mode, nil
	}
	if err != nil {
		return "", 0, err //nolint:wrapcheck // It names the file.
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", 0, err //nolint:wrapcheck // It names the file.
	}
	if !info.Mode().IsRegular() {
		return "", 0, fmt.Errorf("%s is not a regular file; it was left alone", c.Path)
	}
	return path, info.Mode().Perm(), nil
}

// backupInfix occurs in the name of a backup, followed by the start of the digest of the content
// that replaced it.
const backupInfix = ".before-vaglio-"

func backupOf(path string, installed []byte) string {
	sum := sha256.Sum256(installed)
	return path + backupInfix + hex.EncodeToString(sum[:6])
}

// keep saves the file without the hook as a backup, named by the digest of the new content. It
// deletes the backup of a file that is restored.
func (c *Change) keep(path string, mode fs.FileMode) error {
	old := backupOf(path, c.Before)
	first, err := readFile(old)
	if err != nil {
		return err
	}
	switch {
	case first != nil && (c.After == nil || bytes.Equal(first, c.After)):
		defer func() { _ = os.Remove(old) }()
		return nil
	case first != nil: // the hook is being installed again
		return errors.Join(durable.Replace(backupOf(path, c.After), first, mode), os.Remove(old))
	case c.bare == nil || c.After == nil:
		return nil
	}
	return durable.Replace(backupOf(path, c.After), c.bare, mode)
}

// undo returns a file as it was before the hook was installed.
func undo(path string, now []byte, f form, o Options) ([]byte, error) {
	if now == nil {
		return nil, nil
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	first, err := readFile(backupOf(path, now))
	if err != nil || first != nil {
		return first, err
	}
	return f.remove(now, o)
}
