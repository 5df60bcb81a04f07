// Package logverify holds the history of a store against its tree, its records and
// signed checkpoints, wherever the files are.
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

// Question is what is to be verified, and against what.
type Question struct {
	// Store is the path of the store's file. What is beside it is its key and its
	// newest checkpoint, unless Folder names where they are.
	Store, Folder string
	// Options are those that the store is opened with.
	Options bolt.Options
	// Key is the verifier key; empty is the one in the folder.
	Key string
	// Given are checkpoints that the owner kept elsewhere.
	Given []history.Witness
	// Accepted are the leaves of a new key or an older copy that the owner knows of.
	Accepted []int64
	// Copy hands out a copy of the store where a daemon holds it; nil takes a store
	// that is held for one that cannot be read.
	Copy func(context.Context) (io.ReadCloser, error)
}

// KeyError says that the key to verify with cannot be read.
type KeyError struct{ Err error }

func (e *KeyError) Error() string { return e.Err.Error() }

// Unwrap returns why.
func (e *KeyError) Unwrap() error { return e.Err }

// Verify reads the store and returns what was found. Its error says that nothing
// could be verified; a [*KeyError] that it is for want of the key.
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

// evidence reads the key and the checkpoints. Those in the folder are read before
// the store: it may only have grown since.
func (q *Question) evidence() (c history.Case, err error) {
	c.Accepted, c.Verifier = q.Accepted, q.Key
	if c.Verifier == "" {
		if c.Verifier, err = VerifierIn(q.Folder); errors.Is(err, fs.ErrNotExist) && len(q.Given) == 0 {
			return c, nil // Only a key opens a checkpoint.
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

// open opens the store for reading: the file, or a copy of it where a daemon
// holds it. done lets go of it.
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

// CopyInto writes what is handed out into a file in the folder that only the owner
// can read, and returns the file's path.
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

// VerifierIn is the verifier key of the signing key in the folder.
func VerifierIn(dir string) (string, error) {
	path := filepath.Join(dir, datafolder.KeyFile)
	text, err := datafolder.ReadSecret(path)
	if err != nil {
		return "", err
	}
	key, err := history.ParseKey(string(text))
	if err != nil {
		return "", fmt.Errorf("%s holds no key", path)
	}
	return key.Verifier(), nil
}

// maxCheckpoint bounds a checkpoint that is read, in bytes.
const maxCheckpoint = 64 << 10

// Checkpoints reads checkpoints that the owner gives: each is its text, the path of
// a file, or - for in.
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
				return nil, fmt.Errorf("--checkpoint is no checkpoint, and no file that can be read: %w", datafolder.Plain(err))
			}
			text = string(b)
		}
		all = append(all, history.Witness{Source: source, Text: text})
	}
	return all, nil
}
