package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/regular"
	"github.com/metnos/vaglio/internal/terminal"
	"github.com/metnos/vaglio/store/bolt"
	"github.com/metnos/vaglio/store/keyring"
)

// minRoom is how much free space the store and the audit log need, in bytes: the store grows by
// 16 MiB at a time, and needs as much again while it rewrites its contents. It stops taking
// decisions when it cannot grow.
const minRoom = 64 << 20

// Files checks what a start would find on this machine: the folders and their free space, the
// address, and the store. If the store can be opened, read is called to take from it what the
// channels need. seen reports whether the whole content of the store was seen.
func (d *Doctor) Files(ctx context.Context, read func(context.Context, *bolt.Look) error) (seen bool) {
	there := d.folder()
	d.room()
	d.writable("audit log", d.AuditDir, time.Now().Format("2006-01")+".jsonl")
	d.address(ctx)
	if there {
		d.privacy()
		d.sockets(nil)
	}
	return d.store(ctx, there, read)
}

// folder checks that the data folder is ours alone, and reports whether it exists.
func (d *Doctor) folder() (there bool) {
	const subject = "data folder"
	dir := d.DataDir
	info, err := os.Stat(dir)
	distrust, _ := errors.AsType[*regular.TrustError](regular.CheckFolder(dir))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		above := existing(dir)
		if unix.Access(above, unix.W_OK|unix.X_OK) != nil {
			d.Found(subject, approval.Wrong, dir+" is not there, and cannot be made in "+above+".", "Make it for the user who serves, with mode 0700.")
			return false
		}
		d.Found(subject, approval.Noted, dir+" is not there yet; the first start makes it.", "")
		return false
	case err != nil:
		d.Found(subject, approval.Wrong, datafolder.Plain(err).Error()+".", "Run this as the user who serves.")
		return false
	case !info.IsDir():
		d.Found(subject, approval.Wrong, dir+" is not a folder.", "Move it away, or name another folder in METNOS_DATA_DIR.")
		return false
	case distrust != nil:
		d.Found(subject, approval.Wrong, distrust.Path+" "+distrust.Problem+".", "Run "+distrust.Cure)
	case unix.Access(dir, unix.W_OK|unix.X_OK) != nil:
		d.Found(subject, approval.Wrong, dir+" cannot be written by this user.", "Run this and the daemon as the user to whom the folder belongs, on a disk that can be written.")
	default:
		d.Found(subject, approval.Fine, dir+" can be written by you alone.", "")
	}
	return true
}

// existing returns dir or, if it does not exist, the nearest folder above it that does.
func existing(dir string) string {
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

// room checks the free space on the disks.
func (d *Doctor) room() {
	const subject = "disk"
	least := ^uint64(0)
	for _, dir := range []string{d.DataDir, d.AuditDir} {
		var s unix.Statfs_t
		if err := unix.Statfs(existing(dir), &s); err != nil {
			d.Found(subject, approval.Unseen, "The free space on the disk of "+dir+" is not known.", "")
			return
		}
		free := s.Bavail * uint64(s.Bsize) //nolint:gosec // A block's size is positive.
		if free < minRoom {
			d.Found(subject, approval.Wrong, fmt.Sprintf("%s has %d MiB free, and %d MiB are needed to go on safely.", dir, free>>20, minRoom>>20),
				"Make room on that disk: without it nothing can be decided.")
			return
		}
		least = min(least, free)
	}
	d.Found(subject, approval.Fine, fmt.Sprintf("%d MiB are free.", least>>20), "")
}

// writable checks whether a file in a folder could be written, without creating either.
func (d *Doctor) writable(subject, dir, file string) {
	above := existing(dir)
	name := filepath.Join(dir, file)
	_, err := os.Stat(name)
	switch {
	case unix.Access(above, unix.W_OK|unix.X_OK) != nil:
		d.Found(subject, approval.Wrong, above+" cannot be written by this user.", "Give "+above+" to the user who serves.")
	case err == nil && unix.Access(name, unix.W_OK|unix.R_OK) != nil:
		d.Found(subject, approval.Wrong, name+" cannot be written by this user.", "Give "+name+" to the user who serves.")
	case filepath.Dir(dir) != filepath.Clean(d.DataDir):
		d.Found(subject, approval.Fine, name+" can be written; METNOS_DATA_DIR does not move it.", "")
	default:
		d.Found(subject, approval.Fine, name+" can be written.", "")
	}
}

// address checks that the address is free.
func (d *Doctor) address(ctx context.Context) {
	const subject = "address"
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", d.Listen)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		d.Found(subject, approval.Wrong, d.Listen+" is taken by another program.", "Stop that program, or set METNOS_LISTEN to another address.")
	case err != nil:
		d.Found(subject, approval.Wrong, "Nothing can listen there: "+terminal.Sentence(err.Error()), "Set METNOS_LISTEN to another loopback address, such as 127.0.0.1:8787.")
	default:
		d.Found(subject, approval.Fine, d.Listen+" is free.", "")
		_ = l.Close() // it accepted no connection
	}
}

// privacy checks that others cannot read what is ours alone.
func (d *Doctor) privacy() {
	const subject = "files"
	well := true
	for _, file := range []struct {
		name   string
		others fs.FileMode // what others may not do
	}{{datafolder.StoreFile, 0o077}, {datafolder.ValueKeys, 0o077}, {datafolder.TokenFile, 0o027}, {datafolder.KeyFile, 0o027}, {datafolder.ResumeFile, 0o027}} {
		path := d.path(file.name)
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm()&file.others == 0 {
			continue // a missing file is created at the start
		}
		well = false
		d.Found(subject, approval.Wrong, fmt.Sprintf("%s can be read or written by others (mode %04o).", path, info.Mode().Perm()), "Run chmod 600 "+path)
	}
	if well {
		d.Found(subject, approval.Fine, "Only you can read what is secret.", "")
	}
	if RolledBack(d.DataDir) {
		d.Found("history", approval.Wrong, RolledBackText, RolledBackRemedy(d.DataDir))
	}
}

// sockets checks that the sockets exist and are closed to others; seen is nil without a daemon.
func (d *Doctor) sockets(seen *Examination) {
	const subject = "sockets"
	const others, agents = fs.FileMode(0o077), fs.FileMode(0o007) // those who may not connect
	agent, admin, shared := d.path(datafolder.AgentSocket), d.path(datafolder.AdminSocket), seen != nil && seen.Shared
	if seen != nil && seen.AgentSocket != "" {
		agent = seen.AgentSocket
	}
	var there int
	var well bool
	if shared {
		there, well = d.socket(agent, agents, "chmod 660 ", seen != nil)
	} else {
		there, well = d.socket(agent, others, "chmod 600 ", seen != nil)
	}
	if !well {
		return
	}
	n, well := d.socket(admin, others, "chmod 600 ", seen != nil)
	if there += n; !well {
		return
	}
	switch {
	case shared:
		d.Found(subject, approval.Fine, "They are there: the agents' for its group, the owner's for this user alone.", "")
	case seen != nil:
		d.Found(subject, approval.Fine, "They are there, and only you can open them.", "")
	case there > 0:
		d.Found(subject, approval.Noted, "A daemon that was killed left some behind; the next start replaces them.", "")
	}
}

// socket checks that a socket exists, in which case there is 1, and that it is closed to others. It
// reports any problem and then returns false.
func (d *Doctor) socket(path string, others fs.FileMode, cure string, serving bool) (there int, well bool) {
	const subject = "sockets"
	info, err := os.Lstat(path)
	switch {
	case err != nil && serving:
		d.Found(subject, approval.Wrong, path+" is not there, though a daemon serves.", "Restart the daemon, which makes it.")
	case err != nil:
		return 0, true
	case info.Mode().Type() != fs.ModeSocket:
		d.Found(subject, approval.Wrong, path+" is in the way: it is not a socket.", "Move it away; the daemon leaves it alone.")
	case serving && info.Mode().Perm()&others != 0:
		d.Found(subject, approval.Wrong, fmt.Sprintf("%s is open to others (mode %04o).", path, info.Mode().Perm()), "Run "+cure+path)
	default:
		return 1, true
	}
	return 0, false
}

// store checks that the store can be read. A missing store is empty, and so counts as seen.
func (d *Doctor) store(ctx context.Context, there bool, read func(context.Context, *bolt.Look) error) (seen bool) {
	const subject = "store"
	path := d.path(datafolder.StoreFile)
	look, err := bolt.LookInto(path, d.Options)
	_, locked := errors.AsType[*bolt.LockedError](err)
	switch {
	case !there, errors.Is(err, fs.ErrNotExist):
		d.Found(subject, approval.Noted, "There is none yet; the first start makes it.", "")
		return true
	case locked:
		d.Found(subject, approval.Wrong, "A process holds "+path+", and does not answer on "+d.path(datafolder.AdminSocket)+".",
			"Stop that process; if it was just starting, run this again.")
		return false
	case errors.Is(err, fs.ErrPermission):
		d.Found(subject, approval.Wrong, terminal.Sentence(err.Error()), "Run this as the user who serves.")
		return false
	case asKeys(err):
		d.Found(subject, approval.Wrong, terminal.Sentence(err.Error()), "Restore store and key file from the same backup, or move both away, and the journal with them, to start afresh.")
		return false
	case err != nil:
		d.Found(subject, approval.Wrong, terminal.Sentence(err.Error()), "Restore the file from a backup, or move it away to start afresh.")
		return false
	}
	err = read(ctx, look)
	unread, mistake := UnreadIn(ctx, look)
	if err := errors.Join(err, mistake, look.Close()); err != nil {
		d.Found(subject, approval.Wrong, terminal.Sentence(err.Error()), "Restore the file from a backup, or use the newer vaglio that wrote it.")
		return false
	}
	d.Found(subject, approval.Fine, path+" can be read.", "")
	d.unread(unread)
	return true
}

// asKeys reports whether the keys are why the store cannot be read.
func asKeys(err error) bool {
	_, file := errors.AsType[*keyring.FileError](err)
	_, other := errors.AsType[*bolt.KeyError](err)
	return file || other
}
