package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/slack"
	"github.com/metnos/vaglio/channels/telegram"
	"github.com/metnos/vaglio/store/bolt"
)

// minRoom is how much room the store and the audit log need: the store grows by
// 16 MiB at a time, and needs as much again while it rewrites what it holds. It
// stops taking decisions when it cannot grow.
const minRoom = 64 << 20

// configuration tells every mistake in the environment and in the policy.
func (d *doctor) configuration() {
	const subject = "configuration"
	c, err := loadConfig()
	c.Telegram.API, c.Slack.API = d.api, d.slackAPI
	d.config = c
	if err == nil && c.DataDir != "" {
		err = checkSocketPath(c.path(adminSocket))
	}
	if err == nil {
		d.found(subject, approval.Fine, "Every setting of this terminal is right.", "")
	} else {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			d.found(subject, approval.Wrong, sentence(line), "Correct it: nothing starts with it. 'vaglio serve --help' lists the settings.")
		}
	}
	p, err := d.policy(c, err == nil)
	switch {
	case err != nil:
		d.found("policy", approval.Wrong, sentence(err.Error()), "Correct the file; 'vaglio policy check' says what it means then.")
	case p.path == "":
		d.found("policy", approval.Fine, "No file: any executor may be proposed, and the default judges follow the rules.", "")
	case p.catalog.Closed():
		d.found("policy", approval.Fine, counted(len(p.catalog.Names()), "executor is", "executors are")+" known, and any other is refused.", "")
	default:
		d.found("policy", approval.Fine, counted(len(p.catalog.Names()), "executor is", "executors are")+" known; any other may be proposed, too.", "")
	}
}

// policy reads the policy, and what it asks of Slack. Whether its channels are on
// can be told where the settings are right.
func (d *doctor) policy(c config, right bool) (policy, error) {
	p, err := loadPolicy(c.Policy, c.Home)
	if err == nil && right {
		err = p.checkChannels(c)
	}
	if err == nil && c.Slack.on() {
		d.config.Slack.Approvers = append(c.Slack.Approvers, slackIDs(&p.routing)...)
		d.config.Slack.Others = slackIDsOf(slackChannels(&p.routing))
	}
	return p, err
}

// withoutDaemon looks at what a start would find.
func (d *doctor) withoutDaemon(ctx context.Context) {
	d.found("daemon", approval.Noted, "None is serving this data folder; this is what a start would find.", "")
	if d.config.DataDir == "" || d.config.Home == "" {
		return
	}
	there := d.folder()
	d.room()
	d.writable("audit log", d.config.auditDir(), time.Now().Format("2006-01")+".jsonl")
	d.address(ctx)
	if there {
		d.privacy()
		d.sockets(false)
	}
	if notes, ok := d.store(ctx, there); ok {
		d.channelsHere(ctx, notes)
	} else {
		d.found("telegram", approval.Unseen, "Not looked at: what it has to know is in the store.", "")
	}
}

// folder finds out whether the data folder is ours alone.
func (d *doctor) folder() (there bool) {
	const subject = "data folder"
	dir := d.config.DataDir
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		above := existing(dir)
		if unix.Access(above, unix.W_OK|unix.X_OK) != nil {
			d.found(subject, approval.Wrong, dir+" is not there, and cannot be made in "+above+".", "Make it for the user who serves, with mode 0700.")
			return false
		}
		d.found(subject, approval.Noted, dir+" is not there yet; the first start makes it.", "")
		return false
	case err != nil:
		d.found(subject, approval.Wrong, plain(err).Error()+".", "Run this as the user who serves.")
		return false
	case !info.IsDir():
		d.found(subject, approval.Wrong, dir+" is not a folder.", "Move it away, or name another folder in METNOS_DATA_DIR.")
		return false
	case info.Mode().Perm()&0o022 != 0:
		d.found(subject, approval.Wrong, fmt.Sprintf("%s can be written by others (mode %04o).", dir, info.Mode().Perm()), "Run chmod 700 "+dir)
	case unix.Access(dir, unix.W_OK|unix.X_OK) != nil:
		d.found(subject, approval.Wrong, dir+" cannot be written by this user.", "Run this and the daemon as the user to whom the folder belongs, on a disk that can be written.")
	default:
		d.found(subject, approval.Fine, dir+" is yours alone to write.", "")
	}
	return true
}

// existing is the folder itself, or the nearest above it that is there.
func existing(dir string) string {
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

// room finds out whether the disks have room.
func (d *doctor) room() {
	const subject = "disk"
	least := ^uint64(0)
	for _, dir := range []string{d.config.DataDir, d.config.auditDir()} {
		var s unix.Statfs_t
		if err := unix.Statfs(existing(dir), &s); err != nil {
			d.found(subject, approval.Unseen, "The room on the disk of "+dir+" cannot be told.", "")
			return
		}
		free := s.Bavail * uint64(s.Bsize) //nolint:gosec // A block's size is positive.
		if free < minRoom {
			d.found(subject, approval.Wrong, fmt.Sprintf("%s has room for %d MiB, and %d MiB are needed to go on safely.", dir, free>>20, minRoom>>20),
				"Make room on that disk: without it nothing can be decided.")
			return
		}
		least = min(least, free)
	}
	d.found(subject, approval.Fine, fmt.Sprintf("There is room for %d MiB.", least>>20), "")
}

// writable finds out whether a file in a folder could be written, without
// making either.
func (d *doctor) writable(subject, dir, file string) {
	above := existing(dir)
	name := filepath.Join(dir, file)
	_, err := os.Stat(name)
	switch {
	case unix.Access(above, unix.W_OK|unix.X_OK) != nil:
		d.found(subject, approval.Wrong, above+" cannot be written by this user.", "Give "+above+" to the user who serves.")
	case err == nil && unix.Access(name, unix.W_OK|unix.R_OK) != nil:
		d.found(subject, approval.Wrong, name+" cannot be written by this user.", "Give "+name+" to the user who serves.")
	case filepath.Dir(dir) != filepath.Clean(d.config.DataDir):
		d.found(subject, approval.Fine, name+" can be written; METNOS_DATA_DIR does not move it.", "")
	default:
		d.found(subject, approval.Fine, name+" can be written.", "")
	}
}

// address finds out whether the address is free.
func (d *doctor) address(ctx context.Context) {
	const subject = "address"
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", d.config.Listen)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		d.found(subject, approval.Wrong, d.config.Listen+" is taken by another program.", "Stop that program, or set METNOS_LISTEN to another address.")
	case err != nil:
		d.found(subject, approval.Wrong, "Nothing can listen there: "+sentence(err.Error()), "Set METNOS_LISTEN to another loopback address, such as 127.0.0.1:8787.")
	default:
		d.found(subject, approval.Fine, d.config.Listen+" is free.", "")
		_ = l.Close() // it took no connection
	}
}

// privacy finds out whether others can read what is ours alone.
func (d *doctor) privacy() {
	const subject = "files"
	well := true
	for _, file := range []struct {
		name   string
		others fs.FileMode // what they may not
	}{{storeFile, 0o077}, {tokenFile, 0o027}, {keyFile, 0o027}} {
		path := d.config.path(file.name)
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm()&file.others == 0 {
			continue // what is not there is made at the start
		}
		well = false
		d.found(subject, approval.Wrong, fmt.Sprintf("%s can be read or written by others (mode %04o).", path, info.Mode().Perm()), "Run chmod 600 "+path)
	}
	if well {
		d.found(subject, approval.Fine, "What is secret is yours alone to read.", "")
	}
	if rolledBack(&d.config) {
		d.found("history", approval.Wrong, rolledBackText, rolledBackRemedy(&d.config))
	}
}

// sockets finds out whether the sockets are there, and ours alone.
func (d *doctor) sockets(serving bool) {
	const subject = "sockets"
	left := 0
	for _, file := range []string{agentSocket, adminSocket} {
		path := d.config.path(file)
		info, err := os.Lstat(path)
		switch {
		case err != nil && serving:
			d.found(subject, approval.Wrong, path+" is not there, though a daemon serves.", "Restart the daemon, which makes it.")
		case err != nil:
			continue
		case info.Mode().Type() != fs.ModeSocket:
			d.found(subject, approval.Wrong, path+" is in the way: it is not a socket.", "Move it away; the daemon leaves it alone.")
		case serving && info.Mode().Perm()&0o077 != 0:
			d.found(subject, approval.Wrong, fmt.Sprintf("%s is open to others (mode %04o).", path, info.Mode().Perm()), "Run chmod 600 "+path)
		default:
			left++
			continue
		}
		return
	}
	switch {
	case serving:
		d.found(subject, approval.Fine, "They are there, and yours alone.", "")
	case left > 0:
		d.found(subject, approval.Noted, "A killed daemon left some; the next start replaces them.", "")
	}
}

// store finds out whether the store can be read, and reads the bot's notes. ok
// says that the notes are known: a store that is not there has none.
func (d *doctor) store(ctx context.Context, there bool) (notes telegram.Notes, ok bool) {
	const subject = "store"
	path := d.config.path(storeFile)
	look, err := bolt.LookInto(path)
	_, locked := errors.AsType[*bolt.LockedError](err)
	switch {
	case !there, errors.Is(err, fs.ErrNotExist):
		d.found(subject, approval.Noted, "There is none yet; the first start makes it.", "")
		return notes, true
	case locked:
		d.found(subject, approval.Wrong, "A process holds "+path+", and does not answer on "+d.config.path(adminSocket)+".",
			"Stop that process; if it was just starting, run this again.")
		return notes, false
	case errors.Is(err, fs.ErrPermission):
		d.found(subject, approval.Wrong, sentence(err.Error()), "Run this as the user who serves.")
		return notes, false
	case err != nil:
		d.found(subject, approval.Wrong, sentence(err.Error()), "Restore the file from a backup, or move it away to begin anew.")
		return notes, false
	}
	notes, err = botNotes(ctx, look)
	unread, mistake := unreadIn(ctx, look)
	if err := errors.Join(err, mistake, look.Close()); err != nil {
		d.found(subject, approval.Wrong, sentence(err.Error()), "Restore the file from a backup, or use the newer vaglio that wrote it.")
		return notes, false
	}
	d.found(subject, approval.Fine, path+" can be read.", "")
	d.unread(unread)
	return notes, true
}

// notebook is a memory that keeps nothing.
type notebook struct{ notes telegram.Notes }

// Load returns the notes.
func (n notebook) Load(context.Context) (telegram.Notes, error) { return n.notes, nil }

// Save keeps nothing: the doctor changes nothing.
func (notebook) Save(context.Context, telegram.Notes) error { return nil }

// blankSlack is a memory that keeps nothing.
type blankSlack struct{}

// Load returns no notes: a look needs none.
func (blankSlack) Load(context.Context) (slack.Notes, error) { return slack.Notes{}, nil }

// Save keeps nothing: the doctor changes nothing.
func (blankSlack) Save(context.Context, slack.Notes) error { return nil }

// channelsHere looks at the channels with the settings here.
func (d *doctor) channelsHere(ctx context.Context, notes telegram.Notes) {
	var patients []patient
	if d.config.Telegram.Token == "" {
		d.found("telegram", approval.Noted, "It is off: METNOS_TELEGRAM_TOKEN is not set.", "")
	} else if bot, err := newBot(ctx, &d.config, notebook{notes}, slog.New(slog.DiscardHandler)); err != nil {
		d.found("telegram token", approval.Wrong, sentence(err.Error()), "Take the token from BotFather, whole.")
	} else {
		patients = append(patients, bot)
	}
	if !d.config.Slack.on() {
		d.found("slack", approval.Noted, "It is off: METNOS_SLACK_BOT_TOKEN is not set.", "")
	} else if d.wrong() > 0 && d.config.Slack.check() != nil {
		d.found("slack", approval.Unseen, "Not looked at: its settings are wrong.", "")
	} else if app, err := newTeam(ctx, &d.config, blankSlack{}, slog.New(slog.DiscardHandler)); err != nil {
		d.found("slack", approval.Wrong, sentence(err.Error()), "Correct it: nothing starts with it. docs/slack.md says where each setting comes from.")
	} else {
		patients = append(patients, app)
	}
	for _, p := range patients {
		d.channels = append(d.channels, p.Name())
		d.Findings = append(d.Findings, p.Examine(ctx, true)...)
	}
	d.rehearse = func(ctx context.Context, channel string) approval.Finding {
		return rehearse(ctx, patients, channel, true)
	}
}

// rehearse sends a test card on one of the channels.
func rehearse(ctx context.Context, patients []patient, channel string, alone bool) approval.Finding {
	for _, p := range patients {
		if p.Name() == channel {
			began := time.Now()
			by, err := p.Rehearse(ctx, alone)
			return rehearsed(channel, by, time.Since(began), err)
		}
	}
	return rehearsed(channel, approval.Person{}, 0, approval.ErrUnpaired)
}
