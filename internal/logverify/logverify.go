// Package logverify verifies the history in a store against its tree, its records and signed
// checkpoints, wherever the files are.
package logverify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval/history"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/store/bolt"
)

// Question is what to verify, and against what.
type Question struct {
	// Store is the path of the store's file. The key and the newest checkpoint are in Folder.
	Store, Folder string
	// Options are the options to open the store with.
	Options bolt.Options
	// Key is the verifier key; empty means the one in the folder.
	Key string
	// Given are checkpoints that the owner kept elsewhere.
	Given []history.Witness
	// Accepted are the leaves at which the owner knows of a new key or an older copy.
	Accepted []int64
	// Copy returns a copy of the store if a daemon holds it. If Copy is nil, a store that is
	// held cannot be read.
	Copy func(context.Context) (io.ReadCloser, error)
}

// KeyError means that the key to verify with cannot be read.
type KeyError struct{ Err error }

func (e *KeyError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *KeyError) Unwrap() error { return e.Err }

// Verify reads the store and returns what it found. An error means that nothing could be verified; a
// [*KeyError] that the key is missing or unreadable.
func (q *Question) Verify(ctx context.Context) (r history.Report, err error) {
	c, err := q.evidence()
	if err != nil {
		return r, err
	}
	look, done, err := q.open(ctx)
	if err != nil {
		return r, err
	}
	c.Tree, c.Records = look, look
	r, err = history.Verify(ctx, c)
	return r, errors.Join(err, done())
}

// evidence reads the key and the checkpoints. It reads those in the folder before the store is
// read, so that the store can only be newer.
func (q *Question) evidence() (c history.Case, err error) {
	c.Accepted, c.Verifier = q.Accepted, q.Key
	if c.Verifier == "" {
		if c.Verifier, err = VerifierIn(q.Folder); errors.Is(err, fs.ErrNotExist) && len(q.Given) == 0 {
			return c, nil // Without a key no checkpoint can be verified.
		}
	}
	if err != nil {
		return c, &KeyError{err}
	}
	for _, file := range []struct{ name, source string }{
		{datafolder.CheckpointFile, "the checkpoint kept beside the store"},
		{datafolder.LostFile, "the checkpoint that was set aside when an older store was found"},
	} {
		text, err := os.ReadFile(filepath.Join(q.Folder, file.name))
		if err == nil {
			c.Witnesses = append(c.Witnesses, history.Witness{Source: file.source, Text: string(text)})
		} else if !errors.Is(err, fs.ErrNotExist) {
			return c, datafolder.Plain(err)
		}
	}
	c.Witnesses = append(c.Witnesses, q.Given...)
	return c, nil
}

// open opens the store for reading: the file, or a copy of it if a daemon holds the file. done
// releases it.
func (q *Question) open(ctx context.Context) (look *bolt.Look, done func() error, err error) {
	look, err = bolt.LookInto(q.Store, q.Options)
	if _, held := errors.AsType[*bolt.LockedError](err); !held || q.Copy == nil {
		if err != nil {
			return nil, nil, err
		}
		return look, look.Close, nil
	}
	fresh, err := CopyInto(ctx, q.Folder, q.Copy)
	if err != nil {
		return nil, nil, err
	}
	o := q.Options
	o.KeyFile = bolt.KeyFileOf(q.Store)
	if look, err = bolt.LookInto(fresh, o); err != nil {
		return nil, nil, errors.Join(err, os.Remove(fresh))
	}
	return look, func() error { return errors.Join(look.Close(), os.Remove(fresh)) }, nil
}

// copyWithin bounds how long a daemon may take to hand out a copy of its store.
const copyWithin = 10 * time.Minute

// CopyInto writes what open returns to a new file in the folder that only the owner can read, and
// returns its path.
func CopyInto(ctx context.Context, dir string, open func(context.Context) (io.ReadCloser, error)) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, copyWithin)
	defer cancel()
	body, err := open(ctx)
	if err != nil {
		return "", err
	}
	defer body.Close()
	f, err := os.CreateTemp(dir, ".verify-*") // mode 0600
	if err != nil {
		return "", datafolder.Plain(err)
	}
	_, err = io.Copy(f, body)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("copy the store: %w", datafolder.Plain(err)), os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// VerifierIn returns the verifier key of the signing key in the folder.
func VerifierIn(dir string) (string, error) {
	path := filepath.Join(dir, datafolder.KeyFile)
	text, err := datafolder.ReadSecret(path)
	if err != nil {
		return "", err
	}
	key, err := history.ParseKey(string(text))
	if err != nil {
		return "", fmt.Errorf("%s contains no key", path)
	}
	return key.Verifier(), nil
}

// maxCheckpoint is the maximum size of a checkpoint that is read from in, in bytes.
const maxCheckpoint = 64 << 10

// Checkpoints reads the checkpoints that the owner gives. Each is the checkpoint's text, the path
// of a file, or - for in.
func Checkpoints(written []string, in io.Reader) ([]history.Witness, error) {
	all := make([]history.Witness, 0, len(written))
	for i, text := range written {
		source := "the checkpoint given"
		if len(written) > 1 {
			source = fmt.Sprintf("the checkpoint given as number %d", i+1)
		}
		switch {
		case text == "-":
			b, err := io.ReadAll(io.LimitReader(in, maxCheckpoint))
			if err != nil {
				return nil, datafolder.Plain(err)
			}
			text = string(b)
		case !strings.ContainsAny(strings.TrimSpace(text), " \n\t\u00a0"):
			b, err := os.ReadFile(text)
			if err != nil {
				return nil, fmt.Errorf("--checkpoint is neither a checkpoint nor a file that can be read: %w", datafolder.Plain(err))
			}
			text = string(b)
		}
		all = append(all, history.Witness{Source: source, Text: text})
	}
	return all, nil
}
