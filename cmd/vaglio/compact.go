package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/store/bolt"
)

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
