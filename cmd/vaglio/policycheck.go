package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/instance"
	"github.com/metnos/vaglio/internal/policyfile"
	"github.com/metnos/vaglio/vaglio/judge/llm"
)

func newPolicy() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Look at a policy file",
		Long: `Look at a policy file: what is known of executors, and which judges follow the
rules.

Exit codes: those of the command below it; 2 a mistake in the command line.`,
		Example: "  vaglio policy check policy.yaml",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPolicyCheck())
	return cmd
}

func newPolicyCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check <file>",
		Short: "Check a policy file, and say in words what it means",
		Long: `Check a policy file as serve would read it. Every mistake is told with its line
and column. A file that is right is told in words: what it knows, and who judges.

The names of agents are held against those that 'vaglio agent list' shows. Routes are
held against the channels that the environment configures, as serve
does. Where it configures no chat, what they need of chats is told instead.

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
			on, unchecked := c.chats(), ""
			if err == nil {
				unchecked, err = checkKnownAgents(cmd.Context(), &p, c.DataDir)
			}
			if err == nil && !on.None() {
				err = p.CheckChannels(on)
			}
			if err != nil {
				return errors.New(strings.ReplaceAll(err.Error(), "METNOS_POLICY: ", ""))
			}
			first := policyfile.Judging{Kind: c.Kind, Threshold: c.Threshold}
			if l := p.Thinking.Asking(); c.Kind == llm.Kind {
				first.Threshold = l.Threshold(c.Threshold)
			}
			if err := p.Describe(cmd.OutOrStdout(), first, on); err != nil {
				return err
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), unchecked)
			return err
		},
	}
}

// tellPolicy has everybody told when the policy is another than at the last start.
func (d *daemon) tellPolicy(ctx context.Context) error {
	return instance.PolicyChanged(ctx, d.store, d.rules.Text(), func(sum string) error {
		which := "none"
		if d.rules.Path != "" {
			which = d.rules.Path + ", SHA-256 " + sum
		}
		return d.dispatcher.Announce(ctx, approval.Announcement{Kind: approval.PolicyChanged, Detail: which})
	})
}
