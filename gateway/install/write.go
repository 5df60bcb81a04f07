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

	"github.com/aymanbagabas/go-udiff"

	"github.com/metnos/vaglio/internal/durable"
)

// Diff shows what a change does, as diff -u writes it.
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

// Write makes the change, by a file of its own that takes the place of the old one
// in one step. What was there before stays beside it. A file that somebody has
// changed since it was planned is left alone.
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
	// Whoever may read the file may go through its folder.
	if err := durable.MakeFolderAs(filepath.Dir(path), owner|c.Mode&readers|c.Mode&readers>>2); err != nil {
		return err //nolint:wrapcheck // It names the folder.
	}
	if err := c.keep(path, mode); err != nil {
		return err
	}
	if c.After == nil {
		return durable.Remove(path)
	}
	return durable.Replace(path, c.After, mode)
}

// place follows links, so that they stay, and gives the mode that the file has.
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
		return "", 0, fmt.Errorf("%s is no file; it was left alone", c.Path)
	}
	return path, info.Mode().Perm(), nil
}

// backupInfix stands in the name of a backup, before the beginning of the digest of
// what took its place.
const backupInfix = ".before-vaglio-"

func backupOf(path string, installed []byte) string {
	sum := sha256.Sum256(installed)
	return path + backupInfix + hex.EncodeToString(sum[:6])
}

// keep keeps what the file is without a hook beside it, under the digest of the new
// bytes, and drops the backup of a file that becomes what it was.
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
	case first != nil: // the hook is installed anew
		return errors.Join(durable.Replace(backupOf(path, c.After), first, mode), os.Remove(old))
	case c.bare == nil || c.After == nil:
		return nil
	}
	return durable.Replace(backupOf(path, c.After), c.bare, mode)
}

// undo returns what a file was before the hook was installed.
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
