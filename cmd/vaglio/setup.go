package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/setup"
)

// settingUp is one run of `vaglio setup`.
type settingUp struct {
	std            stdio
	o              setup.Options
	dry, undo, yes bool
	// judges is --judge-agents, which only counts if given.
	judges bool
}

func newSetup(std stdio) *cobra.Command {
	s := settingUp{std: std}
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Give the gate a user of its own on this machine",
		Long: `Give the gate a user of its own on this machine, out of the reach of agents: the
system user ` + setup.User + `, its folder ` + setup.Home + `, the program in /usr/local/bin, a
sandboxed systemd unit, the settings /etc/vaglio/vaglio.env, and the agents' socket
` + datafolder.SharedSocket + ` for the group ` + setup.Group + `.

Each --agent names a user whose processes are the agent of that name, each
--workspace a folder that the gate may read, to see the scripts that calls run.
--judge-agents loosens the unit so far that judge agents get a sandbox;
--judge-agents=false undoes that.

The steps are shown first, and taken if you agree. What is already in place is left
alone, so you can run it again to add agents or to install a newer program. If a step
fails, those of this run are undone. --uninstall undoes all of them, but the store and
its history stay.

Afterwards you speak to the gate as its user: sudo -H -u ` + setup.User + ` vaglio inbox

Exit codes: 0 done; 1 refused or failed, and nothing half done; 2 a mistake in the
command line.`,
		Example: "  sudo vaglio setup --agent claude --workspace /srv/app\n  vaglio setup --dry-run\n  sudo vaglio setup --uninstall",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("judge-agents") {
				s.o.JudgeAgents = &s.judges
			}
			return s.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&s.o.Agents, "agent", nil, "user who is an agent; may be repeated")
	f.StringArrayVar(&s.o.Workspaces, "workspace", nil, "folder that the gate may read; may be repeated")
	f.BoolVar(&s.judges, "judge-agents", false, "let the gate make sandboxes for judge agents")
	f.StringVar(&s.o.Root, "root", "/", "folder of another system to set up, in place of this one")
	f.BoolVar(&s.dry, "dry-run", false, "show the steps, and do nothing")
	f.BoolVar(&s.undo, "uninstall", false, "undo the steps, the last first")
	f.BoolVar(&s.yes, "yes", false, "do it without asking")
	for _, other := range []string{"agent", "workspace", "judge-agents"} {
		cmd.MarkFlagsMutuallyExclusive("uninstall", other)
	}
	return cmd
}

func (s *settingUp) run(ctx context.Context) error {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	s.o.Program = exe
	if !s.dry && os.Geteuid() != 0 {
		return errors.New("setup changes users and files of the system, which takes root: run it by sudo, or look with --dry-run")
	}
	plan, err := setup.New(s.o)
	if mistake, ok := errors.AsType[*setup.MistakeError](err); ok {
		return &exitError{exitUsage, mistake}
	}
	if err != nil {
		return err
	}
	if err := plan.Show(ctx, s.std.out, s.undo); err != nil || s.dry {
		return err
	}
	return s.carryOut(ctx, plan)
}

// carryOut does or undoes the steps shown, if the user agrees.
func (s *settingUp) carryOut(ctx context.Context, plan *setup.Plan) error {
	left, err := plan.Left(ctx, s.undo)
	if err != nil || len(left) == 0 {
		return err
	}
	if !s.yes {
		if err := agreed(s.std); err != nil {
			return err
		}
	}
	if s.undo {
		return plan.Undo(ctx, s.std.out)
	}
	return plan.Apply(ctx, s.std.out)
}
