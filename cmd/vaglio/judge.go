package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/eval"
	"github.com/metnos/vaglio/internal/judging"
	"github.com/metnos/vaglio/internal/policyfile"
	"github.com/metnos/vaglio/internal/replay"
	"github.com/metnos/vaglio/internal/terminal"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/audit"
	"github.com/metnos/vaglio/vaglio/judge"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// The exit codes of `vaglio judge`. The first three tell the result of the lines.
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
		Short: "Judge proposals without a daemon: JSON lines in, JSON lines out",
		Long: `Judge proposals without a daemon or a store. The network is used only if your judges
ask models. Each line of the input is a JSON proposal; each line of the output is its
verdict, in order. A line that cannot be read gives an error with its number, and the
run goes on; so does a call that breaks its schema or leaves its scope, which counts as
denied.

The threshold and the judge are those of the environment (METNOS_JUDGE_THRESHOLD,
METNOS_JUDGE_KIND, METNOS_POLICY).

Exit codes: 0 all approved, 1 some denied, 2 some lines unreadable, 3 a mistake
in the command line or in the configuration, or the run broke off.`,
		Example: `  vaglio judge < proposals.jsonl
  echo '{"executor":"read_file","args":{"path":"notes.md"}}' | vaglio judge`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return (&judgeRun{std: std, path: path, logged: logged}).run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&logged, "log", false, "keep the verdicts in the audit log")
	cmd.Flags().StringVar(&path, "policy", "", "path of the policy file, instead of METNOS_POLICY")
	return cmd
}

// judgeRun is one run of `vaglio judge`.
type judgeRun struct {
	std stdio
	// path is the path of the policy file, if it is not the environment's.
	path   string
	logged bool
}

func (j *judgeRun) run(ctx context.Context) error {
	c, err := loadConfig()
	p, mistake := policyfile.Load(cmp.Or(j.path, c.Policy), c.Home)
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

// passingMasker returns a masker whose masks are only valid in this run: without an instance there
// is not a secret to key them with.
func passingMasker() approval.Masker {
	var secret approval.Secret
	_, _ = rand.Read(secret[:]) // it never returns an error
	return approval.NewMasker(secret)
}

// stream judges every line, and logs the verdicts if the run is logged.
func (j *judgeRun) stream(ctx context.Context, c config, p policyfile.Policy) (tally vaglio.Tally, err error) {
	log := slog.New(slog.NewTextHandler(j.std.err, nil))
	var kept vaglio.AuditLog
	masker := passingMasker()
	if j.logged {
		l, err := audit.Open(c.auditDir(), log)
		if err != nil {
			return tally, err
		}
		defer func() { err = errors.Join(err, l.Close()) }()
		kept = maskedLog{l, masker}
	}
	engine, err := newEngine(ctx, c, p, kept, log, judging.Offline(masker.Masker))
	if err != nil {
		return tally, err
	}
	return vaglio.Stream(ctx, engine, j.std.in, j.std.out)
}

func newEval(std stdio) *cobra.Command {
	var (
		asJSON    bool
		path, png string
	)
	cmd := &cobra.Command{
		Use:   "eval <file>",
		Short: "Measure how often the judges agree with labelled calls",
		Long: `Measure the judges that environment and policy configure on labelled calls, without a
daemon or a store. Each line of the file is a JSON proposal with the result that it
should have: "expect" (or "label") is "block", "ask" or "pass". It shows how the calls of
each label ended, the scores of each judge, how long that took and what models cost.

Judges that ask models do ask them, which may cost money.

Exit codes: 0 shown, 1 it broke off, 2 a mistake in the command line, in the
configuration or in the file.`,
		Example: "  vaglio eval calls.jsonl\n  vaglio eval --json --png scores.png calls.jsonl",
		Args:    asUsed,
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := os.Open(args[0])
			if err != nil {
				return &exitError{exitUsage, datafolder.Plain(err)}
			}
			defer f.Close()
			r, err := evaluate(cmd.Context(), path, f, std.err)
			if _, mistaken := errors.AsType[*eval.LineError](err); mistaken {
				return &exitError{exitUsage, fmt.Errorf("%s: %w", args[0], err)}
			}
			if err != nil {
				return err
			}
			if png != "" {
				picture, err := r.Picture().PNG()
				if err != nil {
					return err
				}
				if err := writePicture(png, picture); err != nil {
					return fmt.Errorf("--png %s: %w", png, err)
				}
			}
			if asJSON {
				return terminal.JSON(cmd.OutOrStdout(), r)
			}
			_, err = io.WriteString(cmd.OutOrStdout(), r.Text())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&png, "png", "", "draw the scores into this file")
	cmd.Flags().StringVar(&path, "policy", "", "path of the policy file, instead of METNOS_POLICY")
	return cmd
}

// evaluate puts labelled calls to the configured judges.
func evaluate(ctx context.Context, path string, in io.Reader, errs io.Writer) (*eval.Result, error) {
	c, err := loadConfig()
	p, mistake := policyfile.Load(cmp.Or(path, c.Policy), c.Home)
	if err := errors.Join(err, mistake); err != nil {
		return nil, &configError{err}
	}
	means := judging.Offline(passingMasker().Masker)
	engine, err := newEngine(ctx, c, p, nil, slog.New(slog.NewTextHandler(errs, nil)), means)
	if err != nil {
		return nil, err
	}
	r, err := eval.Run(ctx, engine, in)
	if err != nil {
		return nil, err
	}
	tokens, cost := means.Meters.Spent()
	r.Tokens, r.Cost = int(tokens), float64(cost)/1e6
	return r, nil
}

func newReplay() *cobra.Command {
	var (
		asJSON       bool
		policy, html string
		days         int
	)
	cmd := &cobra.Command{
		Use:   "replay <file or folder>",
		Short: "Show what would have been asked and denied in past sessions",
		Long: `Judge the calls of the last 30 days in agents' own transcripts: Claude Code's
(~/.claude/projects), Codex's (~/.codex/sessions), what 'vaglio install --shadow' has
recorded, or proposals as for 'vaglio judge', one per line. It shows what would have
been asked and denied, what of that ran, what somebody refused then that would pass, and
which lines of the policy would spare questions, as a diff. Lines that cannot be read
are named by file and number. --html writes the same as a page, in the language of
METNOS_LANG.

Nothing is run, asked, sent or kept, and secrets are masked. Judges that ask models are
left out. Scripts are read as they are now, not as they were then.

Exit codes: 0 shown, 1 it broke off, 2 a mistake in the command line or in the
configuration.`,
		Example: "  vaglio replay ~/.claude/projects\n  vaglio replay --json --days 7 ~/.codex/sessions\n  vaglio replay --html replay.html ~/.claude/projects",
		Args:    asUsed,
		RunE: func(cmd *cobra.Command, args []string) error {
			if days < 1 {
				return &exitError{exitUsage, errors.New("--days must be 1 or more")}
			}
			const day = 24 * time.Hour
			if cmd.Flags().Changed("html") && html == "" {
				return &exitError{exitUsage, errors.New("--html: name a file, such as replay.html")}
			}
			c, err := loadConfig()
			if err == nil && policy != "" {
				c.Policy = policy
			}
			r, err := replayed(cmd.Context(), c, err, args[0], time.Now().Add(-time.Duration(days)*day))
			if err != nil {
				return err
			}
			if html != "" {
				page, err := r.Page(c.Texts.In(c.Lang, c.Zone))
				if err != nil {
					return err
				}
				if err := writePicture(html, page); err != nil {
					return &exitError{exitUsage, fmt.Errorf("--html %s: %w", html, err)}
				}
			}
			if asJSON {
				return terminal.JSON(cmd.OutOrStdout(), r)
			}
			_, err = io.WriteString(cmd.OutOrStdout(), r.Text())
			return err //nolint:wrapcheck // The terminal's own.
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&html, "html", "", "write a page into this file, too")
	cmd.Flags().StringVar(&policy, "policy", "", "path of the policy file, instead of METNOS_POLICY")
	cmd.Flags().IntVar(&days, "days", 30, "how many days back")
	return cmd
}

// replaying returns the options of a replay under a policy. It leaves out the judges that ask a
// model, which are neither offline nor free.
func replaying(ctx context.Context, c config, p policyfile.Policy) replay.Options {
	c.Kind = judge.KindRules
	masker := passingMasker()
	alone := func(p policyfile.Policy) policyfile.Policy {
		p.Judges = slices.DeleteFunc(slices.Clone(p.Judges), func(v policyfile.Validation) bool { return v.Type == policyfile.TypeSemantic })
		return p
	}
	return replay.Options{
		Policy: alone(p), Home: c.Home, Mask: masker.Mask,
		Build: func(p policyfile.Policy) (*vaglio.Engine, *effects.Judge, error) {
			p = alone(p)
			engine, err := newEngine(ctx, c, p, nil, nil, judging.Offline(masker.Masker))
			if err != nil {
				return nil, nil, err
			}
			reader, err := newEffects(c, p)
			return engine, reader, err
		},
	}
}

// replayed replays calls under a configuration; wrong is the error from loading it.
func replayed(ctx context.Context, c config, wrong error, path string, since time.Time) (*replay.Result, error) {
	p, mistake := policyfile.Load(c.Policy, c.Home)
	if err := errors.Join(wrong, mistake); err != nil {
		return nil, &configError{err}
	}
	o := replaying(ctx, c, p)
	o.Path, o.Since = path, since
	r, err := replay.Run(ctx, o)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, &exitError{exitUsage, datafolder.Plain(err)}
	}
	return r, err
}
