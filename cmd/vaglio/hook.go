package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/gateway/hook"
	"github.com/metnos/vaglio/vaglio"
)

func newHook(std stdio) *cobra.Command {
	var (
		limit    time.Duration
		settings bool
	)
	cmd := &cobra.Command{
		Use:   "hook <client>",
		Short: "Answer a coding agent's pre-tool hook: stdin JSON, stdout JSON",
		Long: `Answer the hook that a coding agent runs before each tool call. It asks the
daemon over its socket, waits for the person when a judge denied, and answers
before the agent's own limit is over. Whatever fails is a denial.

Clients: ` + strings.Join(hook.Clients(), ", ") + `.

Exit codes: 0 answered, also when the answer is a denial; 2 the answer could not
be told or the command line is wrong, which the agents take for a denial.`,
		Example: `  vaglio hook claude-code --print-settings
  vaglio hook claude-code < call.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := oneArg(cmd, args); err != nil || slices.Contains(cmd.ValidArgs, args[0]) {
				return err
			}
			return fmt.Errorf("%q is no client that there is a hook for; there is %s", args[0], strings.Join(cmd.ValidArgs, ", "))
		},
		// These are the names that a shell completes, too.
		ValidArgs: hook.Clients(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if settings {
				return printSettings(std, args[0])
			}
			if err := answerHook(cmd.Context(), std, args[0], limit); err != nil {
				return &exitError{code: exitUsage, err: err}
			}
			return nil
		},
	}
	cmd.Flags().DurationVar(&limit, "limit", hook.DefaultLimit, "how long the client waits for its hook")
	cmd.Flags().BoolVar(&settings, "print-settings", false, "print what to install in the client's settings, and end")
	return cmd
}

func printSettings(std stdio, name string) error {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	b, err := hook.Settings(name, exe)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(std.out, "%s\n", strings.TrimRight(string(b), "\n"))
	return err
}

// answerHook answers one call. A mistake in the configuration is a denial in
// the client's own words, because most clients run the tool when a hook fails.
func answerHook(ctx context.Context, std stdio, name string, limit time.Duration) error {
	return hook.Run(ctx, hook.Options{
		Client: name, Gate: hookGate(limit), In: std.in, Out: std.out, Limit: limit,
	})
}

func hookGate(limit time.Duration) hook.Gate {
	dir, err := loadDataDir()
	if err == nil && limit <= 0 {
		err = errors.New("--limit must be more than 0, such as 1h")
	}
	if err == nil {
		err = checkSocketPath(filepath.Join(dir, agentSocket))
	}
	if err != nil {
		return shut{fmt.Errorf("vaglio is not set up right: %s", strings.ReplaceAll(err.Error(), "\n", "; "))}
	}
	return client.Unix(filepath.Join(dir, agentSocket))
}

// shut is the gate that lets nothing through, and says why.
type shut struct{ why error }

// Propose refuses.
func (s shut) Propose(context.Context, client.Request) (approval.Answer, error) {
	return approval.Answer{}, s.why
}

// Await refuses.
func (s shut) Await(context.Context, approval.ID, time.Duration) (approval.Answer, error) {
	return approval.Answer{}, s.why
}

// Withdraw refuses.
func (s shut) Withdraw(context.Context, approval.ID) (approval.Answer, error) {
	return approval.Answer{}, s.why
}

// Redeem refuses.
func (s shut) Redeem(context.Context, string, vaglio.Proposal) error { return s.why }
