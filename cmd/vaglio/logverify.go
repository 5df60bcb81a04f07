package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/metnos/vaglio/approval/history"
	"github.com/metnos/vaglio/approval/visible"
	"github.com/metnos/vaglio/store/bolt"
)

// copyWithin bounds how long a daemon may take to hand out a copy of its store.
const copyWithin = 10 * time.Minute

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
	c, err := v.prepare()
	if err != nil {
		return err
	}
	look, done, err := v.open(ctx)
	if err != nil {
		return err
	}
	c.Tree, c.Records = look, look
	r, err := history.Verify(ctx, c)
	if err := errors.Join(err, done()); err != nil {
		return err
	}
	if v.asJSON {
		err = writeJSON(v.std.out, r)
	} else {
		_, err = io.WriteString(v.std.out, reportText(&r))
	}
	if err == nil && !r.Whole() {
		err = &exitError{code: exitFailed}
	}
	return err
}

// prepare reads the key and the checkpoints. Those beside the store are read
// before the store: it may only have grown since.
func (v *logVerify) prepare() (c history.Case, err error) {
	c.Accepted = v.accepted
	dir := ""
	if v.store != "" {
		dir = filepath.Dir(v.store)
	} else if dir, err = loadDataDir(); err != nil {
		return c, err
	}
	given, err := v.given()
	if err != nil {
		return c, &exitError{exitUsage, err}
	}
	c.Verifier = v.key
	if c.Verifier == "" {
		if c.Verifier, err = verifierBeside(dir); errors.Is(err, fs.ErrNotExist) && len(given) == 0 {
			return c, nil // Only a key opens a checkpoint.
		}
	}
	if err != nil {
		return c, &exitError{exitUsage, fmt.Errorf("%w; give the key with --key", err)}
	}
	for _, file := range []struct{ name, source string }{
		{checkpointFile, "the checkpoint kept beside the store"},
		{lostFile, "the checkpoint that was set aside when an older store was found"},
	} {
		text, err := os.ReadFile(filepath.Join(dir, file.name))
		if err == nil {
			c.Witnesses = append(c.Witnesses, history.Witness{Source: file.source, Text: string(text)})
		} else if !errors.Is(err, fs.ErrNotExist) {
			return c, plain(err)
		}
	}
	c.Witnesses = append(c.Witnesses, given...)
	return c, nil
}

// maxCheckpoint bounds a checkpoint that is read, in bytes.
const maxCheckpoint = 64 << 10

// given reads the checkpoints of the command line.
func (v *logVerify) given() ([]history.Witness, error) {
	all := make([]history.Witness, 0, len(v.checkpoints))
	for i, text := range v.checkpoints {
		source := "the checkpoint given"
		if len(v.checkpoints) > 1 {
			source = fmt.Sprintf("the checkpoint given as number %d", i+1)
		}
		switch {
		case text == "-":
			b, err := io.ReadAll(io.LimitReader(v.std.in, maxCheckpoint))
			if err != nil {
				return nil, plain(err)
			}
			text = string(b)
		case !strings.ContainsAny(strings.TrimSpace(text), " \n\t\u00a0"):
			b, err := os.ReadFile(text)
			if err != nil {
				return nil, fmt.Errorf("--checkpoint is no checkpoint, and no file that can be read: %w", plain(err))
			}
			text = string(b)
		}
		all = append(all, history.Witness{Source: source, Text: text})
	}
	return all, nil
}

// open opens the store for reading: the file, or a copy of it where a daemon
// holds it. done lets go of it.
func (v *logVerify) open(ctx context.Context) (look *bolt.Look, done func() error, err error) {
	path := v.store
	if path == "" {
		dir, err := loadDataDir()
		if err != nil {
			return nil, nil, err
		}
		path = filepath.Join(dir, storeFile)
	}
	look, err = bolt.LookInto(path)
	if _, held := errors.AsType[*bolt.LockedError](err); !held || v.store != "" {
		if err != nil {
			return nil, nil, err
		}
		return look, look.Close, nil
	}
	fresh, err := storeCopy(ctx, filepath.Dir(path))
	if err != nil {
		return nil, nil, err
	}
	if look, err = bolt.LookInto(fresh); err != nil {
		return nil, nil, errors.Join(err, os.Remove(fresh))
	}
	return look, func() error { return errors.Join(look.Close(), os.Remove(fresh)) }, nil
}

// storeCopy asks the daemon for a copy of its store, in a file that only the owner
// can read, and returns the file's path.
func storeCopy(ctx context.Context, dir string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, copyWithin)
	defer cancel()
	body, err := openDaemon(ctx, http.MethodGet, "/store")
	if err != nil {
		return "", err
	}
	defer body.Close()
	f, err := os.CreateTemp(dir, ".verify-*") // mode 0600
	if err != nil {
		return "", plain(err)
	}
	_, err = io.Copy(f, body)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("copy the store: %w", plain(err)), os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// verifierBeside is the verifier key of the signing key in the folder.
func verifierBeside(dir string) (string, error) {
	path := filepath.Join(dir, keyFile)
	text, err := readSecret(path)
	if err != nil {
		return "", err
	}
	key, err := history.ParseKey(string(text))
	if err != nil {
		return "", fmt.Errorf("%s holds no key", path)
	}
	return key.Verifier(), nil
}

// reportText says a report to a person. What others wrote is made visible.
func reportText(r *history.Report) string {
	var b strings.Builder
	field := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-11s %s\n", name, oneLine(fmt.Sprintf(format, args...), 1000))
	}
	leaves := counted(int(r.Size), "leaf", "leaves")
	if r.Since.IsZero() {
		field("history", "%s", leaves)
	} else {
		field("history", "%s, from %s to %s", leaves, stamp(r.Since), stamp(r.Until))
	}
	if r.Dropped > 0 {
		field("", "%d of them have their hashes alone", r.Dropped)
	}
	field("tree", "%s", r.Root)
	field("records", "%s with it", counted(r.Approvals, "approval agrees", "approvals agree"))
	for _, p := range r.Proved {
		field("checkpoint", "%s agrees with the tree, up to leaf %d", p.Source, p.Size-1)
	}
	if len(r.Proved) == 0 {
		field("checkpoint", "none agrees with the tree; one from a digest would prove it, with --checkpoint")
	}
	b.WriteByte('\n')
	for _, f := range r.Findings {
		b.WriteString("! " + visible.Text(oneLine(f.Text, 1000)) + ".\n")
	}
	switch n := len(r.Findings) + r.More; {
	case n == 0:
		b.WriteString("Nothing was changed, left out or put in.\n")
	case r.More > 0:
		fmt.Fprintf(&b, "The history is not as it was written: %d findings, of which the first %d are told.\n", n, len(r.Findings))
	default:
		fmt.Fprintf(&b, "The history is not as it was written: %s.\n", counted(n, "finding", "findings"))
	}
	return b.String()
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}
