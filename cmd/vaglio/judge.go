package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/audit"
)

// The exit codes of `vaglio judge`. The first three say how the lines ended.
const (
	exitDenied     = 1
	exitUnreadable = 2
	exitJudgeUsage = 3
)

func newJudge(std stdio) *cobra.Command {
	var (
		logged bool
		path   string
	)
	cmd := &cobra.Command{
		Use:   "judge",
		Short: "Judge proposals offline: one JSON proposal a line in, one verdict a line out",
		Long: `Judge proposals without a daemon, a store or a network. Each line of the input
is a JSON proposal; each line of the output is its verdict, in order. A line
that cannot be read gives an error with its number, and the run goes on; so does
a call that breaks its schema or leaves its scope, which counts as denied.

The threshold and the judge are those of the environment (METNOS_JUDGE_THRESHOLD,
METNOS_JUDGE_KIND, METNOS_POLICY).

Exit codes: 0 all approved, 1 some denied, 2 some lines unreadable, 3 a mistake
in the command line or in the configuration, or the run broke off.`,
		Example: `  vaglio judge < proposals.jsonl
  echo '{"executor":"read_file","args":{"path":"notes.md"}}' | vaglio judge`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return (&judging{std: std, path: path, logged: logged}).run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&logged, "log", false, "keep the verdicts in the audit log")
	cmd.Flags().StringVar(&path, "policy", "", "path of the policy file, instead of METNOS_POLICY")
	return cmd
}

// judging is one run of `vaglio judge`.
type judging struct {
	std stdio
	// path is the policy file's, when it is not the environment's.
	path   string
	logged bool
}

func (j *judging) run(ctx context.Context) error {
	c, err := loadConfig()
	p, mistake := loadPolicy(cmp.Or(j.path, c.Policy), c.Home)
	if err := errors.Join(err, mistake); err != nil {
		return &configError{err}
	}
	tally, err := j.stream(ctx, c, p)
	switch {
	case err != nil:
		return &exitError{exitJudgeUsage, err}
	case tally.Unreadable > 0:
		return &exitError{code: exitUnreadable}
	case tally.Denied > 0:
		return &exitError{code: exitDenied}
	}
	return nil
}

// stream judges every line, and keeps the verdicts when the run is logged.
func (j *judging) stream(ctx context.Context, c config, p policy) (tally vaglio.Tally, err error) {
	log := slog.New(slog.NewTextHandler(j.std.err, nil))
	var kept vaglio.AuditLog
	if j.logged {
		l, err := audit.Open(c.auditDir(), log)
		if err != nil {
			return tally, err
		}
		defer func() { err = errors.Join(err, l.Close()) }()
		// Its masks are this run's alone: without an instance there is no secret
		// to key them by.
		var secret approval.Secret
		_, _ = rand.Read(secret[:]) // it never fails
		kept = maskedLog{l, approval.NewMasker(secret)}
	}
	engine, err := newEngine(c, p, kept, log)
	if err != nil {
		return tally, err
	}
	return vaglio.Stream(ctx, engine, j.std.in, j.std.out)
}
