package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
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

Routes are held against the channels that the environment configures, as serve
does. Where it configures no chat, what they need of chats is told instead.

Exit codes: 0 the file is right, 1 it has a mistake, 2 a mistake in the command
line.`,
		Example: "  vaglio policy check ~/.config/vaglio/policy.yaml",
		Args:    oneArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := loadConfig()
			if err != nil {
				return &configError{err}
			}
			if info, err := os.Stat(args[0]); err != nil {
				return &exitError{exitUsage, plain(err)}
			} else if info.IsDir() {
				return &exitError{exitUsage, fmt.Errorf("%s is a folder, not a policy file", args[0])}
			}
			p, err := readPolicy(args[0], c.Home)
			open := c.Telegram.Token == "" && !c.Slack.on()
			if err == nil && !open {
				err = p.checkChannels(c)
			}
			if err != nil {
				return errors.New(strings.ReplaceAll(err.Error(), "METNOS_POLICY: ", ""))
			}
			if err := describePolicy(cmd.OutOrStdout(), c, p); err != nil || !open {
				return err
			}
			return describeUnchecked(cmd.OutOrStdout(), &p.routing)
		},
	}
}

// describePolicy says in words what a policy means.
func describePolicy(w io.Writer, c config, p policy) error {
	var b strings.Builder
	known := p.catalog.Names()
	switch {
	case p.catalog.Closed():
		fmt.Fprintf(&b, "executors  %d known; any other is refused\n", len(known))
	case len(known) == 0:
		b.WriteString("executors  none known; any may be proposed\n")
	default:
		fmt.Fprintf(&b, "executors  %d known; any other may be proposed, too\n", len(known))
	}
	for _, name := range known {
		ex, _ := p.catalog.Find(name)
		if ex.SkipJudge {
			fmt.Fprintf(&b, "           %s skips the judges, not the guard\n", name)
		}
	}
	fmt.Fprintf(&b, "judges     %s, from %.2f\n", c.Kind, c.Threshold)
	for i := range p.judges {
		v := &p.judges[i]
		switch v.Type {
		case typeSemantic:
			fmt.Fprintf(&b, "           then semantic by %s, from %.2f: serve does not start with it, "+
				"for this version cannot run judge agents\n", v.JudgeAgent, v.minScore())
		default:
			fmt.Fprintf(&b, "           then %s, from %.2f\n", v.Type, v.minScore())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.programs)) {
		fmt.Fprintf(&b, "programs   %s reaches: %s\n", name, p.programs[name])
	}
	describeRouting(&b, &p.routing)
	_, err := io.WriteString(w, b.String())
	return err
}
