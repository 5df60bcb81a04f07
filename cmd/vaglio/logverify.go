package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/logverify"
	"github.com/metnos/vaglio/internal/terminal"
	"github.com/metnos/vaglio/store/bolt"
)

func newLogVerify(std stdio) *cobra.Command {
	v := &logVerify{std: std}
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Tell whether anything in the history was changed, left out or put in",
		Long: `Build the history's tree anew from its leaves, and hold it against the hashes that
the store keeps, against the records of the approvals, and against signed
checkpoints: the newest one, which is kept beside the store, and those that you
give, such as one copied from a digest in the chat. What is not as it was written is
told, with its place.

The store is read by this command itself, also while a daemon serves, which then
hands out a copy. --store verifies any other copy, on any machine: give the key,
which 'vaglio log key' prints, with --key.

A leaf may tell that the key was missing at a start, or that an older copy of the
store was found. If you know why, --accept it by its number.

Exit codes: 0 nothing is wrong, 1 something is, or the history cannot be read, 2 a
mistake in the command line or in the configuration.`,
		Example: `  vaglio log verify
  vaglio log verify --checkpoint 'vaglio/x7k2 4711 K5…= — vaglio/x7k2 9k…='
  vaglio log verify --store backup.db --key "$(cat vaglio-history.pub)" --checkpoint witness`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return v.run(cmd.Context()) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&v.checkpoints, "checkpoint", nil, "a checkpoint: its text, a file, or - for the input; may be repeated")
	f.StringVar(&v.key, "key", "", "the verifier key, instead of the one beside the store")
	f.StringVar(&v.store, "store", "", "file of the store, instead of the one in the data folder")
	f.Int64SliceVar(&v.accepted, "accept", nil, "leaf of a new key or of an older copy that you know of; may be repeated")
	f.BoolVar(&v.asJSON, "json", false, "print JSON")
	return cmd
}

// logVerify is one run of `vaglio log verify`.
type logVerify struct {
	std         stdio
	checkpoints []string
	key, store  string
	accepted    []int64
	asJSON      bool
}

func (v *logVerify) run(ctx context.Context) error {
	q, err := v.question()
	if err != nil {
		return err
	}
	r, err := q.Verify(ctx)
	if missing, ok := errors.AsType[*logverify.KeyError](err); ok {
		return &exitError{exitUsage, fmt.Errorf("%w; give the key with --key", missing)}
	}
	if errors.Is(err, fs.ErrNotExist) && v.store == "" {
		return fmt.Errorf("%w (looked for %s)", errNoHistory, q.Store)
	}
	if err != nil {
		return err
	}
	if v.asJSON {
		err = terminal.JSON(v.std.out, r)
	} else {
		_, err = io.WriteString(v.std.out, logverify.Text(&r))
	}
	if err == nil && !r.Whole() {
		err = &exitError{code: exitFailed}
	}
	return err
}

// question is what the command line asks.
func (v *logVerify) question() (q logverify.Question, err error) {
	q = logverify.Question{Store: v.store, Folder: filepath.Dir(v.store), Key: v.key, Accepted: v.accepted}
	if v.store == "" {
		if q.Folder, err = loadDataDir(); err != nil {
			return q, err
		}
		q.Store, q.Copy = filepath.Join(q.Folder, datafolder.StoreFile), handOutStore
	}
	if q.Given, err = logverify.Checkpoints(v.checkpoints, v.std.in); err != nil {
		return q, &exitError{exitUsage, err}
	}
	return q, nil
}

// handOutStore asks the daemon for a copy of its store.
func handOutStore(ctx context.Context) (io.ReadCloser, error) {
	return openDaemon(ctx, http.MethodGet, "/store")
}

// newCompact rewrites the store's file, where log verify only reads it.
func newCompact() *cobra.Command {
	return &cobra.Command{
		Use:   "compact",
		Short: "Give back the room that dropped records left in the store",
		Long: `Rewrite the store without the room that dropped records left in its file. The file
keeps that room for new records by itself, so this is for after a time in which there
were far more of them than usual. Nothing that is kept changes, and the journal of calls
that passed needs none of it: its room comes back by itself.

It takes the store for itself, for a second or so: where a daemon serves, it says so,
changes nothing, and the daemon has to be stopped first. The rewritten file takes the
old one's place in one step when it is whole, so that it may be ended at any time.
Meanwhile the disk needs room for both.

Exit codes: 0 done; 1 refused, with the reason in one sentence and nothing changed;
2 a mistake in the command line or in the configuration.`,
		Example: "  vaglio compact",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := loadDataDir()
			if err != nil {
				return err
			}
			before, after, err := bolt.Compact((&config{DataDir: dir}).path(datafolder.StoreFile))
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("there is no store yet in %s: 'vaglio serve' makes it", dir)
			}
			if _, locked := errors.AsType[*bolt.LockedError](err); locked {
				return fmt.Errorf("the store was not rewritten: %w", err)
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "The store's file had %d KiB and has %d KiB.\n", before>>10, after>>10)
			return err
		},
	}
}
