package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/web"
	"github.com/metnos/vaglio/gateway/hook/hookmain"
	"github.com/metnos/vaglio/gateway/owner"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/instance"
	"github.com/metnos/vaglio/internal/regular"
	"github.com/metnos/vaglio/internal/terminal"
	"github.com/metnos/vaglio/store/bolt"
	"github.com/metnos/vaglio/store/keyring"
)

// credentialLeast and credentialMost bound the size of a credential, in bytes.
const (
	credentialLeast = 16
	credentialMost  = 4 << 10
)

// storeOptions returns the options to open stores with. They include the credential that systemd
// passes to a service through LoadCredential, if there is one.
func storeOptions() (o bolt.Options, err error) {
	dir, _ := hookmain.Variables(environ())("CREDENTIALS_DIRECTORY")
	if dir == "" {
		return o, nil
	}
	path := filepath.Join(dir, keyring.Credential)
	b, whole, err := regular.Read(path, credentialMost)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return o, nil
	case err != nil:
		return o, &configError{fmt.Errorf("credential: %w", err)}
	case !whole || len(b) < credentialLeast:
		return o, &configError{fmt.Errorf("credential: %s should hold %d to %d random bytes", path, credentialLeast, credentialMost)}
	}
	o.Credential = b
	return o, nil
}

// openStore opens the store in a file for writing.
func openStore(path string) (*bolt.DB, error) {
	o, err := storeOptions()
	if err != nil {
		return nil, err
	}
	return bolt.Open(path, o)
}

// lookInto opens the store in a file for reading.
func lookInto(path string) (*bolt.Look, error) {
	o, err := storeOptions()
	if err != nil {
		return nil, err
	}
	return bolt.LookInto(path, o)
}

func newRotate() *cobra.Command {
	return &cobra.Command{
		Use:   "rotate",
		Short: "Make new keys: end every session, and void unused permits",
		Long: `Make new keys, for instance after somebody may have copied the data folder. Every
session of the inbox and every one-time link ends, and every unused permit is void: its
agent is told to propose the call again. What waits for a person goes on waiting. The
history and a line in every chat report it. From now on the store encrypts with a new
key; the next start encrypts the rest anew, and drops the old key once nothing needs it.

The key that names calls and masks secrets gives no right and stays, and so does the one
that signs the history. For agents' tokens, see 'vaglio agent rotate'.

Without a daemon the new keys are made at once, and the next 'vaglio serve' does the
rest before it serves. Whatever is interrupted is finished by the next start, or by
this command again.

Exit codes: 0 done, 1 not done, with the reason, 2 a mistake in the command line or in
the configuration.`,
		Example: "  vaglio rotate",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var done owner.Rotation
			err := askDaemon(cmd.Context(), http.MethodPost, "/rotate", &done)
			if errors.Is(err, owner.ErrNoDaemon) {
				if err := rotateStore(cmd.Context()); err != nil {
					return err
				}
				_, err = fmt.Fprintln(cmd.OutOrStdout(), "New keys are made. Old sessions and permits end when 'vaglio serve' starts, and every chat is told.")
				return err
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "New keys are made: %s, %s void.\n",
				terminal.Counted(done.Sessions, "session ended", "sessions ended"), terminal.Counted(done.Permits, "permit is", "permits are"))
			return err
		},
	}
}

// rotateStore creates new keys in a store that no daemon is using.
func rotateStore(ctx context.Context) (err error) {
	dir, err := loadDataDir()
	if err != nil {
		return err
	}
	path := filepath.Join(dir, datafolder.StoreFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w (looked for %s)", instance.ErrNoSecrets, path)
	}
	if err := datafolder.Open(dir); err != nil {
		return err
	}
	store, err := openStore(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := store.RotateKeys(); err != nil {
		return err
	}
	_, err = instance.Rotate(ctx, store)
	return err
}

// permitsOf returns how an instance makes and recognises permits.
func permitsOf(s instance.Secrets) approval.Permits {
	return approval.Permits{Secret: s.Rights, Former: s.Former}
}

// rotate creates new keys while the daemon serves. It first records on disk that the keys are new,
// so that the next start finishes a rotation that fails or is killed.
func (d *daemon) rotate(ctx context.Context) (owner.Rotation, error) {
	d.rotating.Lock()
	defer d.rotating.Unlock()
	if err := d.store.RotateKeys(); err != nil {
		return owner.Rotation{}, err
	}
	secrets, err := instance.Rotate(ctx, d.store)
	if err != nil {
		return owner.Rotation{}, err
	}
	d.dispatcher.Rekey(permitsOf(secrets))
	if err := d.inbox.Rekey(secrets.Rights); err != nil {
		return owner.Rotation{}, err
	}
	return d.finishRotation(ctx)
}

// resumeRotation finishes a rotation that was made without a daemon, or was interrupted.
func (d *daemon) resumeRotation(ctx context.Context, s instance.Secrets) error {
	if !s.Unfinished {
		return nil
	}
	_, err := d.finishRotation(ctx)
	return err
}

// finishRotation invalidates what the former keys were good for. Each step may be repeated, and the
// last one records that none is left.
func (d *daemon) finishRotation(ctx context.Context) (done owner.Rotation, err error) {
	if done.Sessions, err = d.inbox.EndSessions(ctx, ""); err != nil {
		return done, err
	}
	if done.Permits, err = d.dispatcher.VoidPermits(ctx, approval.Person{ID: web.Owner, Name: "Owner"}, "terminal"); err != nil {
		return done, err
	}
	if err := d.dispatcher.Announce(ctx, approval.Announcement{Kind: approval.KeysRotated}); err != nil {
		return done, err
	}
	return done, instance.FinishRotation(ctx, d.store)
}

// newCompact returns the command that rewrites the store's file.
func newCompact() *cobra.Command {
	return &cobra.Command{
		Use:   "compact",
		Short: "Shrink the store to what it still holds",
		Long: `Rewrite the store without the space that dropped records left in its file. The file
reuses that space by itself, so this is only worthwhile after a time with far more
records than usual. Nothing that is kept changes. The journal of calls that passed
shrinks by itself.

Stop the daemon first: while one is running, this command changes nothing. The
rewritten file replaces the old one in one step, so you can break off at any time.
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
			o, err := storeOptions()
			if err != nil {
				return err
			}
			before, after, err := bolt.Compact((&config{DataDir: dir}).path(datafolder.StoreFile), o)
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
