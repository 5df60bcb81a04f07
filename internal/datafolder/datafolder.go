// Package datafolder protects what belongs to the owner alone: the data folder with its files and
// sockets, and files with secrets.
package datafolder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/metnos/vaglio/internal/durable"
	"github.com/metnos/vaglio/internal/regular"
)

// The files in the data folder. Agents and the owner have separate sockets, so that nobody who
// may propose can create a login.
const (
	StoreFile   = "vaglio.db"
	ValueKeys   = "vaglio.keys" // encrypts the values in the store
	TokenFile   = "agent.token"
	ResumeFile  = "resume.key"
	AgentSocket = "agent.sock"
	AdminSocket = "admin.sock"
)

// SharedSocket is where agents find a daemon that runs as a user of its own.
const SharedSocket = "/run/vaglio/agent.sock"

// The files of the history. They are kept outside the store, so that restoring an older copy of
// the store does not also restore older versions of them.
const (
	KeyFile        = "history.key"
	CheckpointFile = "history.checkpoint"
	// LostFile is the checkpoint of a history that an older copy has replaced.
	LostFile = "history.lost"
)

// maxSocketPath is the longest path that fits every system's socket addresses, with room for the
// dot that the name starts with at first.
const maxSocketPath = 102

// Open creates the folder if it is missing, and rejects a folder in which others could replace our
// files.
func Open(dir string) error {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err := durable.MakeFolder(dir); err != nil {
			return elsewhere(Plain(err))
		}
		info, err = os.Stat(dir)
	}
	if err != nil {
		return elsewhere(Plain(err))
	}
	if !info.IsDir() {
		return elsewhere(fmt.Errorf("%s is not a folder", dir))
	}
	if err := regular.CheckFolder(dir); err != nil {
		return fmt.Errorf("data folder: %w", Plain(err))
	}
	// A write test finds more than the mode shows: read-only mounts, full disks.
	probe, err := os.CreateTemp(dir, probeFile+"*")
	if err != nil {
		return elsewhere(Plain(err))
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// elsewhere says why a folder cannot hold our data, and which setting names another.
func elsewhere(err error) error {
	return fmt.Errorf("data folder: %w; set METNOS_DATA_DIR to a folder that only this user may write", err)
}

// probeFile is the prefix of short-lived test files.
const probeFile = ".probe-"

// RemoveOrphans removes probe files and unfinished files that a killed daemon left behind. The
// caller must hold the store's lock, so that no running daemon is writing one.
func RemoveOrphans(dir string) error {
	entries, err := os.ReadDir(dir)
	errs := []error{err}
	for _, e := range entries {
		if name := e.Name(); e.Type().IsRegular() && (strings.HasPrefix(name, probeFile) || strings.HasPrefix(name, durable.Unfinished)) {
			errs = append(errs, os.Remove(filepath.Join(dir, name)))
		}
	}
	return errors.Join(errs...)
}

// CheckSocketPath rejects a path that is too long for a socket.
func CheckSocketPath(path string) error {
	if len(path) > maxSocketPath {
		return fmt.Errorf("%s has %d characters, and a socket's path may have %d; choose a shorter METNOS_DATA_DIR",
			path, len(path), maxSocketPath)
	}
	return nil
}

// Owner means that only the owner may connect to a socket.
const Owner = -1

// Listen opens a socket that only the owner and the group may connect to, replacing one that a
// killed daemon left behind. The caller must hold the store's lock, so that no running daemon is
// using it.
func Listen(ctx context.Context, path string, group int) (net.Listener, error) {
	if err := CheckSocketPath(path); err != nil {
		return nil, err
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, Plain(err)
	case info.Mode().Type() != fs.ModeSocket:
		return nil, fmt.Errorf("%s is in the way: it is not a socket, so it was left alone", path)
	}
	// The socket is created under an unknown name and moved into place once its permissions are
	// set.
	fresh := filepath.Join(filepath.Dir(path), "."+filepath.Base(path))
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, Plain(err)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "unix", fresh)
	if err != nil {
		if no, ok := errors.AsType[syscall.Errno](err); ok {
			err = no // without the name under which the socket begins
		}
		return nil, fmt.Errorf("socket %s: %w; it takes a folder that is there and that this user may write", path, err)
	}
	if u, ok := l.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false)
	}
	if err = admit(fresh, group); err == nil {
		err = os.Rename(fresh, path) // over the old one, if there is one
	}
	if err != nil {
		return nil, errors.Join(Plain(err), l.Close(), os.Remove(fresh))
	}
	return &unixListener{l, path}, nil
}

// admit sets who may connect to a socket.
func admit(socket string, group int) error {
	if group == Owner {
		return os.Chmod(socket, 0o600)
	}
	// In a setgid folder the socket has the group already, so a daemon that may not change
	// ownership can serve there.
	if info, err := os.Stat(socket); err != nil {
		return err
	} else if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int64(stat.Gid) != int64(group) {
		if err := os.Chown(socket, -1, group); err != nil {
			return err
		}
	}
	return os.Chmod(socket, 0o660) //nolint:gosec // It is for that group.
}

// unixListener removes its socket when it is closed.
type unixListener struct {
	net.Listener
	path string
}

// Close stops listening and removes the socket.
func (l *unixListener) Close() error {
	err := l.Listener.Close()
	if rm := os.Remove(l.path); rm != nil && !errors.Is(rm, fs.ErrNotExist) {
		err = errors.Join(err, rm)
	}
	return err
}
