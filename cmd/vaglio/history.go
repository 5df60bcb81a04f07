package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/metnos/vaglio/approval/history"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/doctor"
	"github.com/metnos/vaglio/internal/durable"
)

// historyKey reads the key that signs the history, and creates it at the first start.
func historyKey(path string) (history.Key, error) {
	text, err := datafolder.ReadSecret(path)
	if err == nil {
		key, err := history.ParseKey(string(text))
		if err != nil {
			return key, fmt.Errorf("%s holds no key: put the right one there, or move it away, and a new one is made; "+
				"what was signed before is then proved by the old one alone", path)
		}
		return key, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return history.Key{}, err
	}
	key, err := history.NewKey()
	if err != nil {
		return key, err
	}
	return key, datafolder.Write(path, key.Secret()+"\n")
}

// signer returns what the dispatcher needs to sign the history.
func (d *daemon) signer() (*dispatcher.History, error) {
	key, err := historyKey(d.config.path(datafolder.KeyFile))
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	return &dispatcher.History{
		Tree: d.store, Key: key, Keep: d.config.HistoryFor,
		Save: func(checkpoint string) error {
			return datafolder.Write(d.config.path(datafolder.CheckpointFile), checkpoint)
		},
	}, nil
}

// beginHistory resumes the history. An older copy of the store does not keep the gate from working,
// but it is reported loudly until the owner says that it is known.
func (d *daemon) beginHistory(ctx context.Context) error {
	last, err := os.ReadFile(d.config.path(datafolder.CheckpointFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("history: %w", datafolder.Plain(err))
	}
	err = d.dispatcher.BeginHistory(ctx, string(last))
	if rolled, ok := errors.AsType[*dispatcher.RollbackError](err); ok {
		err = d.setAside(rolled)
	}
	if err != nil {
		return err
	}
	if doctor.RolledBack(d.config.DataDir) {
		d.log.ErrorContext(ctx, "the store does not fit the checkpoint that was signed last", "problem", doctor.RolledBackText, "remedy", doctor.RolledBackRemedy(d.config.DataDir))
	}
	return nil
}

// setAside keeps the checkpoint that does not match the store, and logs why. If there is one
// already, it stays, because the first one covers the most.
func (d *daemon) setAside(e *dispatcher.RollbackError) error {
	d.log.Error("the history is not the one that was signed last", "problem", e.Problem)
	lost := d.config.path(datafolder.LostFile)
	if _, err := os.Stat(lost); err == nil {
		return datafolder.Plain(durable.Remove(d.config.path(datafolder.CheckpointFile)))
	}
	if err := os.Rename(d.config.path(datafolder.CheckpointFile), lost); err != nil {
		return fmt.Errorf("history: %w", datafolder.Plain(err))
	}
	return datafolder.Plain(durable.SyncFolder(d.config.DataDir))
}

// warnings returns what the owner must know although vaglio can do its work.
func (d *daemon) warnings() []string {
	var all []string
	if doctor.RolledBack(d.config.DataDir) {
		all = append(all, doctor.RolledBackText)
	}
	if text := doctor.UnreadWarning(d.dispatcher.Unread()); text != "" {
		all = append(all, text)
	}
	return slices.Concat(all, d.watch.Changes(), d.silences.Found())
}

// leaves returns the size of the history.
func (d *daemon) leaves(ctx context.Context) (int64, error) { return d.store.TreeSize(ctx) }

// historyDays reads how long the history keeps the contents of its leaves.
func (m *mistakes) historyDays(name, value string) time.Duration {
	if value == "forever" {
		return 0
	}
	return m.days(name, value, "such as 365, and not forever")
}

// days reads a number of days; example completes the error with a valid one.
func (m *mistakes) days(name, value, example string) time.Duration {
	const most = 36500 // a hundred years
	days, err := strconv.Atoi(value)
	if err != nil || days < 1 || days > most {
		m.add(name, "%q is not a number of days from 1 to %d, %s", value, most, example)
	}
	return time.Duration(days) * 24 * time.Hour
}
