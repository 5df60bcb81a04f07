package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/judging"
	"github.com/metnos/vaglio/internal/policyfile"
	"github.com/metnos/vaglio/internal/replay"
	"github.com/metnos/vaglio/internal/terminal"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

func newReplay() *cobra.Command {
	var (
		asJSON bool
		policy string
		days   int
	)
	cmd := &cobra.Command{
		Use:   "replay <file or folder>",
		Short: "Tell what would have been asked and denied of calls that agents have made",
		Long: `Judge the calls of the last 30 days that stand in agents' own transcripts: Claude
Code's (~/.claude/projects), Codex's (~/.codex/sessions), what 'vaglio install --shadow'
has watched, or the proposals of 'vaglio judge', one a line. It tells what would have
been asked and denied, what of it ran then, and what somebody refused then that would
pass; and which lines of the policy would spare questions, as a diff.

Nothing is run, asked, sent or kept, and secrets are masked. Judges that ask models are
left out. Scripts are read as they are now, not as they were then.

Exit codes: 0 told, 1 it broke off, 2 a mistake in the command line or in the
configuration.`,
		Example: "  vaglio replay ~/.claude/projects\n  vaglio replay --json --days 7 ~/.codex/sessions",
		Args:    oneArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			if days < 1 {
				return &exitError{exitUsage, errors.New("--days must be 1 or more")}
			}
			const day = 24 * time.Hour
			r, err := replayed(cmd.Context(), args[0], policy, time.Now().Add(-time.Duration(days)*day))
			if err != nil {
				return err
			}
			if asJSON {
				return terminal.JSON(cmd.OutOrStdout(), r)
			}
			_, err = io.WriteString(cmd.OutOrStdout(), r.Text())
			return err //nolint:wrapcheck // The terminal's own.
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&policy, "policy", "", "path of the policy file, instead of METNOS_POLICY")
	cmd.Flags().IntVar(&days, "days", 30, "how many days back")
	return cmd
}

func replayed(ctx context.Context, path, policy string, since time.Time) (*replay.Result, error) {
	c, err := loadConfig()
	if err == nil && policy != "" {
		c.Policy = policy
	}
	p, mistake := policyfile.Load(c.Policy, c.Home)
	if err := errors.Join(err, mistake); err != nil {
		return nil, &configError{err}
	}
	// What asks a model is neither offline nor free.
	c.Kind = judge.KindRules
	p.Judges = slices.DeleteFunc(slices.Clone(p.Judges), func(v policyfile.Validation) bool { return v.Type == policyfile.TypeSemantic })
	masker := passingMasker()
	r, err := replay.Run(ctx, replay.Options{
		Path: path, Since: since, Policy: p, Home: c.Home, Mask: masker.Mask,
		Build: func(p policyfile.Policy) (*vaglio.Engine, *effects.Judge, error) {
			engine, err := newEngine(ctx, c, p, nil, nil, judging.Offline(masker.Masker))
			if err != nil {
				return nil, nil, err
			}
			reader, err := newEffects(c, p)
			return engine, reader, err
		},
	})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, &exitError{exitUsage, fmt.Errorf("%s: %w", path, datafolder.Plain(err))}
	}
	return r, err
}
