package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/history"
	"github.com/metnos/vaglio/gateway/owner"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/logverify"
	"github.com/metnos/vaglio/internal/terminal"
	"github.com/metnos/vaglio/store/bolt"
	"github.com/metnos/vaglio/vaglio/wording"
)

// errNoHistory means that no daemon has served the data folder yet.
var errNoHistory = errors.New("there is no history yet; 'vaglio serve' begins one")

// logWithin bounds one request for a part of the history.
const logWithin = time.Minute

func newLog(std stdio) *cobra.Command {
	var turn, agent, since string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Show the history: what happened to approvals, and every veto",
		Long: `Show the history of approvals, oldest first: what was asked, voted, allowed,
denied, expired, withdrawn and run, by whom and with which words, and every veto of
the guard, with the id that 'vaglio why' takes. A crash loses none of it. Calls that the
judges approved are not in it. Each line is one leaf of a tree that shows later changes:
see 'vaglio log verify'. Without a daemon, the store is read.

Exit codes: 0 shown, 1 the history cannot be read, 2 a mistake in the command line or
in the configuration.`,
		Example: "  vaglio log --since 24h\n  vaglio log --agent coder --turn t-81 --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f := history.Filter{Turn: turn, Agent: agent}
			if since != "" {
				var err error
				if f.Since, err = sinceWhen(since, time.Now()); err != nil {
					return &exitError{exitUsage, err}
				}
			}
			return readLog(cmd.Context(), f, logWriter(cmd.OutOrStdout(), asJSON))
		},
	}
	f := cmd.Flags()
	f.StringVar(&turn, "turn", "", "only this turn")
	f.StringVar(&agent, "agent", "", "only this agent")
	f.StringVar(&since, "since", "", "only what happened since then: 24h, 7d, 2026-11-21 or 2026-11-21T08:00:00Z")
	f.BoolVar(&asJSON, "json", false, "print JSON, one event on each line")
	cmd.AddCommand(newLogVerify(std), newLogKey(), newLogCheckpoint())
	return cmd
}

// sinceWhen parses a time: a duration ago, a day in the local calendar, or an exact time.
func sinceWhen(text string, now time.Time) (time.Time, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, text, time.Local); err == nil {
		return t, nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	return time.Time{}, fmt.Errorf("--since: %q is not a time such as 24h, 7d, 2026-11-21 or 2026-11-21T08:00:00Z", text)
}

// readLog reads the history in parts, from the daemon or, without one, from the store.
func readLog(ctx context.Context, f history.Filter, write func(history.Page) error) error {
	var look *bolt.Look
	part := func(from int64) (p history.Page, err error) {
		if look != nil {
			return history.Read(ctx, look, from, f)
		}
		q := url.Values{"from": {strconv.FormatInt(from, 10)}, "turn": {f.Turn}, "agent": {f.Agent}}
		if !f.Since.IsZero() {
			q.Set("since", f.Since.Format(time.RFC3339Nano))
		}
		err = askDaemonFor(ctx, logWithin, http.MethodGet, "/log?"+q.Encode(), &p)
		return p, err
	}
	p, err := part(0)
	if errors.Is(err, owner.ErrNoDaemon) {
		dir, mistake := loadDataDir()
		if mistake != nil {
			return mistake
		}
		none := err
		switch look, err = lookInto((&config{DataDir: dir}).path(datafolder.StoreFile)); {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("there is no history yet: %w", none)
		case err != nil:
			return err
		}
		defer func() { _ = look.Close() }() // It was only read.
		p, err = part(0)
	}
	for err == nil {
		if err = write(p); err != nil || p.Done {
			return err
		}
		p, err = part(p.Next)
	}
	return err
}

// logWriter writes events as JSON lines, or as a table with a header.
func logWriter(w io.Writer, asJSON bool) func(history.Page) error {
	if asJSON {
		return func(p history.Page) error {
			for i := range p.Entries {
				if err := terminal.JSON(w, &p.Entries[i]); err != nil {
					return err
				}
			}
			return nil
		}
	}
	dropped, told := int64(0), false
	return func(p history.Page) error {
		dropped += p.Dropped
		var b strings.Builder
		if len(p.Entries) > 0 && !told {
			told = true
			b.WriteString("LEAF\tTIME\tEVENT\tOF\tAGENT\tTOOL\tBY\tWORDS\n")
		}
		for i := range p.Entries {
			logLine(&b, &p.Entries[i])
		}
		switch {
		case !p.Done:
		case dropped > 0:
			fmt.Fprintf(&b, "%d older leaves were dropped, and have their hashes alone.\n", dropped)
		case !told:
			b.WriteString("The history has no such entry.\n")
		}
		return terminal.Table(w, b.String())
	}
}

func logLine(b *strings.Builder, e *history.Entry) {
	of, by := string(e.Approval), e.By
	switch {
	case e.Ask != "":
		of = string(e.Ask)
	case e.Step != "":
		of = string(approval.VetoID(e.Step))
	}
	switch {
	case e.Name != "":
		by = e.Name + " (" + e.By + ")"
	case e.Rule != "":
		by = "rule " + e.Rule
	case e.Kind == history.Opened || e.Kind == history.Joined:
		by = e.Judge + " " + wording.Score(e.Score)
	case e.Route != "":
		by = "route " + e.Route
	}
	words := e.Words
	if words == "" {
		words = e.Detail
	}
	fmt.Fprintf(b, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", e.Leaf, terminal.Stamp(e.At), e.Kind, terminal.OneLine(of, 40), terminal.OneLine(e.Agent, 16),
		terminal.OneLine(e.Executor, 20), terminal.OneLine(by, 40), terminal.OneLine(words, 60))
}

func newLogKey() *cobra.Command {
	return &cobra.Command{
		Use:   "key",
		Short: "Print the public key that verifies the history's checkpoints",
		Long: `Print the public key, which is not a secret. Keep it where this machine cannot change it:
with it, 'vaglio log verify --key' verifies a checkpoint and a copy of the store on any
machine.

Exit codes: 0 printed, 1 there is no key yet, 2 a mistake in the command line or in
the configuration.`,
		Example: "  vaglio log key > vaglio-history.pub",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := loadDataDir()
			if err != nil {
				return err
			}
			verifier, err := logverify.VerifierIn(dir)
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%w (looked for %s)", errNoHistory, filepath.Join(dir, datafolder.KeyFile))
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), verifier)
			return err
		},
	}
}

func newLogCheckpoint() *cobra.Command {
	return &cobra.Command{
		Use:   "checkpoint",
		Short: "Print a signed checkpoint of the history",
		Long: `Print the size of the history and the hash of its tree, signed, as a C2SP
tlog-checkpoint. Every digest carries one. With it, 'vaglio log verify --checkpoint'
shows later whether anything before it was changed.

Exit codes: 0 printed, 1 no daemon, 2 a mistake in the command line or in the
configuration.`,
		Example: "  vaglio log checkpoint | tee -a ~/witness",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var a owner.Checkpoint
			if err := askDaemon(cmd.Context(), http.MethodGet, "/checkpoint", &a); err != nil {
				return err
			}
			_, err := fmt.Fprint(cmd.OutOrStdout(), a.Checkpoint)
			return err
		},
	}
}

func newLogVerify(std stdio) *cobra.Command {
	v := &logVerify{std: std}
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Verify that nobody changed the history",
		Long: `Verify that nobody changed the history. Its tree is built anew from its leaves and
compared with the hashes in the store, with the records of the approvals, and with
signed checkpoints: the newest one, which is kept beside the store, and those that you
give, such as one copied from a digest in a chat. Every difference is shown with its
place.

This command reads the store itself. A running daemon hands out a copy. --store verifies
any other copy, on any machine, with the key that 'vaglio log key' prints (--key).

A leaf may say that the key was missing at a start, or that an older copy of the store
was found. If you know why, --accept it by its number.

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
	f.StringVar(&v.key, "key", "", "public key, instead of the one beside the store")
	f.StringVar(&v.store, "store", "", "file of the store, instead of the one in the data folder")
	f.Int64SliceVar(&v.accepted, "accept", nil, "number of a leaf, about a new key or an older copy, that you know of; may be repeated")
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

// question returns what the command line asks to verify.
func (v *logVerify) question() (q logverify.Question, err error) {
	o, err := storeOptions()
	if err != nil {
		return q, err
	}
	q = logverify.Question{Options: o, Store: v.store, Folder: filepath.Dir(v.store), Key: v.key, Accepted: v.accepted}
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
