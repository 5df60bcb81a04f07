package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/gateway/owner"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/durable"
	"github.com/metnos/vaglio/internal/instance"
	"github.com/metnos/vaglio/internal/policyfile"
	"github.com/metnos/vaglio/internal/replay"
	"github.com/metnos/vaglio/internal/terminal"
	"github.com/metnos/vaglio/vaglio/judge/llm"
	"github.com/metnos/vaglio/vaglio/operation"
)

func newPolicy() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Check a policy file, or add a line to it",
		Long: `Check a policy file, or add a line to it that would spare questions.

Exit codes: those of the command below it; 2 a mistake in the command line.`,
		Example: "  vaglio policy check policy.yaml\n  vaglio policy add tix=workspace",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPolicyCheck(), newPolicyAdd())
	return cmd
}

func newPolicyCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check <file>",
		Short: "Check a policy file, and say what it means",
		Long: `Check a policy file as serve would read it. Every mistake is shown with its line and
column. If there is none, it says in words what the file means.

Agents' names are compared with 'vaglio agent list', and routes with the channels that
the environment configures. If it configures no chat, it says what chats the routes
need.

Exit codes: 0 the file is right, 1 it has a mistake, 2 a mistake in the command
line.`,
		Example: "  vaglio policy check ~/.config/vaglio/policy.yaml",
		Args:    asUsed,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := loadConfig()
			if err != nil {
				return &configError{err}
			}
			if info, err := os.Stat(args[0]); err != nil {
				return &exitError{exitUsage, datafolder.Plain(err)}
			} else if info.IsDir() {
				return &exitError{exitUsage, fmt.Errorf("%s is a folder, not a policy file", args[0])}
			}
			p, err := policyfile.Read(args[0], c.Home)
			unchecked := ""
			if err == nil {
				unchecked, err = checkPolicy(cmd.Context(), &c, &p)
			}
			if err != nil {
				return errors.New(strings.ReplaceAll(err.Error(), "METNOS_POLICY: ", ""))
			}
			first := policyfile.Judging{Kind: c.Kind, Threshold: c.Threshold}
			if l := p.Thinking.Asking(); c.Kind == llm.Kind {
				first.Threshold = l.Threshold(c.Threshold)
			}
			if err := p.Describe(cmd.OutOrStdout(), first, c.chats()); err != nil {
				return err
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), unchecked)
			return err
		},
	}
}

func newPolicyAdd() *cobra.Command {
	var (
		file, reaches string
		days          int
		write         bool
	)
	cmd := &cobra.Command{
		Use:   "add <rule|id...>",
		Short: "Show which questions a policy line would have spared, and write it",
		Long: `Show which questions of the last 30 days a line of the policy would have spared, and,
with --write, put it into the policy file. A rule is one of

- tix=workspace: a program, and how far it reaches (workspace, user, system, shared,
  public)
- min_score=0.4: the score that a call needs from effects
- route=quick agents=coder executors=Bash effects=publish,send reaches=shared: a route,
  and at least one condition for the calls that go there before all other rules

or the id of a call that was allowed or granted. The rule is then about its unknown
program or, with route=quick after the id, about the same agent, effect and tool. For a
call that was denied, give --reaches, except for a route.

Secrets are masked, and scripts are read as they are now. Everything else in the file
stays as it is, comments included. What 'vaglio policy check' refuses is not written, and
the file is replaced in one step. The daemon reads it at its next start, and reports in
every chat that it changed.

Exit codes: 0 shown or written, 1 it cannot be written or nobody serves, 2 a mistake in the
command line or in the configuration.`,
		Example: "  vaglio policy add tix=workspace\n  vaglio policy add --write 3f2a\n  vaglio policy add --days 7 min_score=0.4\n  vaglio policy add route=quick agents=coder effects=publish",
		Args:    asUsed,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := loadConfig()
			if err == nil && days < 1 {
				err = errors.New("--days must be 1 or more")
			}
			if err != nil {
				return &configError{err}
			}
			a := policyAdd{config: c, path: cmp.Or(file, c.Policy), reaches: operation.Reach(reaches), days: days}
			if a.path == "" {
				return &exitError{exitUsage, errors.New("there is no policy file: set METNOS_POLICY, or name one with --policy")}
			}
			return a.run(cmd.Context(), cmd.OutOrStdout(), args, write)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&write, "write", false, "write it into the policy file")
	f.StringVar(&file, "policy", "", "path of the policy file, instead of METNOS_POLICY")
	f.StringVar(&reaches, "reaches", "", "what the program of the call reaches: workspace, user, system, shared or public")
	f.IntVar(&days, "days", 30, "how many days back")
	return cmd
}

// policyAdd is one run of `vaglio policy add`.
type policyAdd struct {
	config  config
	path    string
	reaches operation.Reach
	days    int
}

func (a *policyAdd) run(ctx context.Context, out io.Writer, what []string, write bool) error {
	p, err := a.read()
	if err != nil {
		return err
	}
	since := time.Now().AddDate(0, 0, -a.days)
	var asked owner.AskedCalls
	if err := askDaemonFor(ctx, time.Minute, http.MethodGet, "/asked?"+url.Values{"since": {since.Format(time.RFC3339Nano)}}.Encode(), &asked); err != nil {
		return err
	}
	o := replaying(ctx, a.config, p)
	rule, err := a.rule(o, what, asked.Calls)
	if err != nil {
		return err
	}
	better, err := p.With(rule, a.path, a.config.Home)
	if err == nil {
		_, err = checkPolicy(ctx, &a.config, &better)
	}
	if err != nil {
		return errors.New(strings.ReplaceAll(err.Error(), "METNOS_POLICY: ", ""))
	}
	var past []replay.Past
	for _, c := range slices.Backward(asked.Calls) {
		past = append(past, replay.Past{Proposal: c.Proposal, At: c.At, Denied: c.State == approval.Denied, Ran: c.Ran})
	}
	var tried replay.Tried
	if rule.Sends.Route != "" {
		tried, err = replay.TrySending(o, better, rule.Sends.Route, past)
	} else {
		tried, err = replay.Try(ctx, o, better, past)
	}
	if err != nil {
		return err
	}
	said := tried.Text(a.days, asked.Dropped, asked.More) + "\n" + replay.Diff(a.path, string(p.Text()), string(better.Text()))
	if write {
		if err := a.write(&p, &better); err != nil {
			return err
		}
		said += "\nWritten. 'vaglio serve' takes it at its next start.\n"
	} else {
		said += "\nNothing was written; --write does.\n"
	}
	_, err = io.WriteString(out, said)
	return err //nolint:wrapcheck // The terminal's own.
}

// read reads the policy file; a missing file counts as empty.
func (a *policyAdd) read() (policyfile.Policy, error) {
	p, err := policyfile.Read(a.path, a.config.Home)
	if errors.Is(err, fs.ErrNotExist) {
		p = policyfile.Default()
		p.Path, err = filepath.Abs(a.path)
	}
	if err != nil {
		return p, errors.New(strings.ReplaceAll(err.Error(), "METNOS_POLICY: ", ""))
	}
	return p, nil
}

// rule parses a rule, or derives one from a call that people were asked about.
func (a *policyAdd) rule(o replay.Options, what []string, asked []owner.Asked) (policyfile.Rule, error) {
	id := what[0]
	if strings.Contains(id, "=") {
		if a.reaches != "" {
			return policyfile.Rule{}, &exitError{exitUsage, errors.New("--reaches is for the id of a call; the rule says by itself what its program reaches")}
		}
		return policyfile.ParseRule(what...)
	}
	var of []owner.Asked
	for _, c := range asked {
		if strings.HasPrefix(string(c.ID), id) {
			of = append(of, c)
		}
	}
	if len(of) != 1 {
		return policyfile.Rule{}, fmt.Errorf("nothing that was asked in these days has the id %s, or several begin like it. Nothing was written", terminal.OneLine(id, 60))
	}
	if len(what) > 1 {
		return a.sending(o, &of[0], what[1:])
	}
	names, err := replay.Strangers(o, of[0].Proposal)
	switch {
	case err != nil:
		return policyfile.Rule{}, err
	case len(names) != 1:
		return policyfile.Rule{}, fmt.Errorf("this call has %s that vaglio does not know, so no line follows from it: name a rule, such as tix=workspace or min_score=0.4. Nothing was written",
			terminal.Counted(len(names), "program", "programs"))
	case a.reaches == "" && !of[0].Allowed:
		return policyfile.Rule{}, fmt.Errorf("this call is %s, not allowed: say with --reaches how far %s reaches. Nothing was written", of[0].State, names[0])
	}
	return policyfile.Rule{Program: names[0], Reach: cmp.Or(a.reaches, operation.ReachWorkspace)}, nil
}

// sending returns a rule that sends calls similar to a given one to a route: those with which the
// same agent has the same effects through the same tool.
func (a *policyAdd) sending(o replay.Options, of *owner.Asked, what []string) (policyfile.Rule, error) {
	if a.reaches != "" || len(what) > 1 || !strings.HasPrefix(what[0], "route=") {
		return policyfile.Rule{}, &exitError{exitUsage, errors.New("only one route may follow the id of a call, as in: vaglio policy add 3f2a route=quick")}
	}
	rule, err := policyfile.ParseRule(what[0], "agents="+of.Proposal.Agent, "executors="+of.Proposal.Executor)
	if err != nil {
		return rule, err
	}
	rule.Sends.Effects, err = replay.Effects(o, of.Proposal)
	return rule, err
}

// write atomically replaces the file if it is still what was read.
func (a *policyAdd) write(was, now *policyfile.Policy) error {
	again, err := a.read()
	if err != nil {
		return err
	}
	if !bytes.Equal(again.Text(), was.Text()) {
		return fmt.Errorf("%s changed meanwhile; run this again. Nothing was written", a.path)
	}
	path, mode := was.Path, fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return datafolder.Plain(err)
		}
	}
	if err := durable.Replace(path, now.Text(), mode); err != nil {
		return fmt.Errorf("%w. Nothing was written", datafolder.Plain(err))
	}
	return nil
}

// checkPolicy checks a policy against the existing agents and channels, and returns what it could
// not check.
func checkPolicy(ctx context.Context, c *config, p *policyfile.Policy) (unchecked string, err error) {
	unchecked, err = checkKnownAgents(ctx, p, c.DataDir)
	if on := c.chats(); err == nil && !on.None() {
		err = p.CheckChannels(on)
	}
	return unchecked, err
}

// tellPolicy announces a policy that differs from the one at the last start.
func (d *daemon) tellPolicy(ctx context.Context) error {
	return instance.PolicyChanged(ctx, d.store, d.rules.Text(), func(sum string) error {
		which := "none"
		if d.rules.Path != "" {
			which = d.rules.Path + ", SHA-256 " + sum
		}
		return d.dispatcher.Announce(ctx, approval.Announcement{Kind: approval.PolicyChanged, Detail: which})
	})
}
