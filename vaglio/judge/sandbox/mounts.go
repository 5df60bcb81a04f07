package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// mount is one folder that the tools see.
type mount struct {
	asked  string   // as requested
	path   string   // symlinks resolved: where the tools see it
	source string   // what they see there: path, or a private copy
	root   *os.Root // source, opened once, so that it cannot be exchanged afterwards
	hidden []string // absolute paths below path that nobody must see
}

// MountError says why a mount is not shown.
type MountError struct {
	Mount string // as requested
	Why   string
}

// Error names the mount.
func (e MountError) Error() string { return fmt.Sprintf("mount %q %s", e.Mount, e.Why) }

// mostHidden limits how many secrets are masked individually for a command.
const mostHidden = 4096

// openMounts checks and opens every mount. It drops a mount that lies within another one.
func openMounts(asked, roots []string, hide func(string) bool) (all []mount, err error) {
	defer func() {
		if err != nil {
			for _, m := range all {
				_ = m.root.Close()
			}
			all = nil
		}
	}()
	var resolved []string
	for _, root := range roots {
		// A workspace that does not exist now has nothing to show.
		if path, err := filepath.EvalSymlinks(root); err == nil && filepath.IsAbs(path) {
			resolved = append(resolved, path)
		}
	}
	for _, path := range asked {
		m, err := openMount(path, resolved, hide)
		if err != nil {
			return all, err
		}
		all = append(all, m)
	}
	slices.SortStableFunc(all, func(a, b mount) int { return len(a.path) - len(b.path) })
	kept := all[:0:0]
	for _, m := range all {
		if slices.ContainsFunc(kept, func(k mount) bool { _, in := below(m.path, k.path); return in && m.asked == m.path }) {
			_ = m.root.Close()
			continue
		}
		kept = append(kept, m)
	}
	return kept, nil
}

// openMount checks one mount against the resolved roots.
func openMount(asked string, roots []string, hide func(string) bool) (mount, error) {
	refuse := func(format string, args ...any) (mount, error) {
		return mount{}, MountError{asked, fmt.Sprintf(format, args...)}
	}
	if !filepath.IsAbs(asked) || strings.ContainsRune(asked, 0) {
		return refuse("is not an absolute path")
	}
	path, err := filepath.EvalSymlinks(asked)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return refuse("does not exist")
	case err != nil:
		return refuse("cannot be read: %s", reason(err))
	}
	if why := misplaced(filepath.Clean(asked), path, roots); why != "" {
		return refuse("%s", why)
	}
	if hide(path) {
		return refuse("is a place of secrets")
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return refuse("cannot be opened: %s", reason(err))
	}
	// Between the check and the opening the folder may have become a symlink.
	if now, err := placeOf(root); err != nil || now != path {
		_ = root.Close()
		return refuse("changed while it was looked at")
	}
	return mount{asked: filepath.Clean(asked), path: path, source: path, root: root}, nil
}

// misplaced returns why a folder may not be shown, given its requested and its real path; "" if it
// may.
func misplaced(asked, path string, roots []string) string {
	if !slices.ContainsFunc(roots, func(root string) bool { _, in := below(path, root); return in }) {
		if path != asked {
			return fmt.Sprintf("leads to %q, which is outside of the policy's workspaces", path)
		}
		return "is outside of the policy's workspaces"
	}
	for _, dir := range []string{"/bin", "/dev", "/etc", "/lib", "/lib64", "/proc", "/sbin", "/sys", "/tmp", "/usr", sandboxHome} {
		_, over := below(dir, path)
		_, overAsked := below(dir, asked)
		if over || overAsked {
			return fmt.Sprintf("would lie over %s of the sandbox; mount a folder below it", dir)
		}
	}
	return ""
}

// findHidden finds what must not be visible in the mounts.
func (s *Sandbox) findHidden(ctx context.Context) error {
	left := mostEntries
	for i := range s.mounts {
		m := &s.mounts[i]
		err := fs.WalkDir(m.root.FS(), ".", func(rel string, d fs.DirEntry, err error) error {
			if left--; left < 0 {
				return MountError{m.asked, fmt.Sprintf("has more than %d files and folders", mostEntries)}
			}
			if err == nil {
				err = ctx.Err()
			} else if rel != "." && closed(err) {
				// A command cannot look into what we cannot, either.
				return skipEntry(d)
			}
			if err != nil || rel == "." {
				return err
			}
			return m.hideEntry(rel, d, s.hide)
		})
		if err != nil {
			return err
		}
		if len(m.hidden) > mostHidden {
			return MountError{m.asked, fmt.Sprintf("has more than %d places of secrets", mostHidden)}
		}
		slices.Sort(m.hidden)
	}
	return nil
}

// hideEntry records a file or folder that must not be visible. For a symlink, it records the target
// within the mount.
func (m *mount) hideEntry(rel string, d fs.DirEntry, hide func(string) bool) error {
	path := filepath.Join(m.path, rel)
	if !hide(path) {
		return nil
	}
	if d.Type()&fs.ModeSymlink == 0 {
		m.hidden = append(m.hidden, path)
		return skipEntry(d)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		if _, in := below(target, m.path); in && target != m.path {
			m.hidden = append(m.hidden, target)
		}
	}
	return nil
}

// closed reports whether a walk failed at a folder that we may not enter, or that disappeared or
// changed its type since its parent was read.
func closed(err error) bool {
	return slices.ContainsFunc([]error{fs.ErrPermission, fs.ErrNotExist, syscall.ELOOP, syscall.ENOTDIR},
		func(target error) bool { return errors.Is(err, target) })
}

// skipEntry leaves a folder out of a walk.
func skipEntry(d fs.DirEntry) error {
	if d != nil && d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// reason returns a system error without the path, which the sentence names.
func reason(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}
