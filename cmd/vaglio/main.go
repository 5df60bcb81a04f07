// Command vaglio is the gate between an AI agent and the world: it judges the calls that agents
// propose, asks a person about those that it denies, and issues permits that work once.
//
// The package may import all others and is imported by none. It alone reads the environment, the
// arguments and the home folder.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/metnos/vaglio/gateway/owner"
)

// The usual exit codes. A command that uses one for something else, or has further ones, says so in
// its help.
const (
	// exitOK is for success.
	exitOK = 0
	// exitFailed is for a refusal or a failure; the command says why.
	exitFailed = 1
	// exitUsage is for a mistake in the command line or the configuration. Coding agents treat a
	// hook's exit code 2 as a denial, so a misconfigured hook denies.
	exitUsage = 2
	// exitBroken is for a store that stopped because it cannot know what is on disk. The
	// supervisor restarts the process.
	exitBroken = 3
)

// stdio holds a command's standard streams.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}

// exitError carries an exit code and an optional error to print.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

// Unwrap returns the error to print.
func (e *exitError) Unwrap() error { return e.err }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	// The first signal asks for an orderly shutdown; the second, no longer caught, ends the process
	// at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], stdio{os.Stdin, os.Stdout, os.Stderr}))
}

// endings returns the signals that ask for a shutdown. SIGHUP is not one of them if we were started
// with nohup.
func endings() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// run runs the command that args name, and returns the exit code.
func run(ctx context.Context, args []string, std stdio) int {
	root := newRoot(std) //nolint:contextcheck // Cobra hands ctx to the command that runs.
	root.SetArgs(args)
	root.SetIn(std.in)
	root.SetOut(std.out)
	root.SetErr(std.err)
	began := false
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := onlyOne(cmd); err != nil {
			return err
		}
		began = true
		return nil
	}
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	e, coded := errors.AsType[*exitError](err)
	if !coded || e.err != nil {
		tell(std.err, prefixLines("vaglio: ", err.Error()))
	}
	_, mistaken := errors.AsType[*configError](err)
	switch {
	case coded:
		return e.code
	case began && !mistaken:
		return exitFailed
	case !began:
		tell(std.err, "Run '"+cmd.CommandPath()+" --help' to see how it is used.")
	}
	if cmd.Name() == "judge" {
		return exitJudgeUsage
	}
	return exitUsage
}

// tell writes a line for the person at the terminal. If that fails, there is nobody to tell.
func tell(w io.Writer, line string) { _, _ = io.WriteString(w, line+"\n") }

// prefixLines adds the prefix to each line of the text.
func prefixLines(prefix, text string) string {
	return prefix + strings.ReplaceAll(text, "\n", "\n"+prefix)
}

func newRoot(std stdio) *cobra.Command {
	root := &cobra.Command{
		Use:   "vaglio",
		Short: "The gate between an AI agent and the world",
		Long: `Vaglio is a gate between an AI agent and the world. It judges each call before
it runs. A guard denies what is never right. Judges grade the rest. What they
deny goes to a person, whose yes is a permit for that one call.

Exit codes: 0 done, 1 failed, 2 a mistake in the command line or in the
configuration. 'vaglio judge' has its own; see its help.`,
		Example: `  vaglio serve
  vaglio judge < proposals.jsonl`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		// A missing command is a mistake, like an unknown one.
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(mistakenFlag)
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddCommand(
		newServe(std), newJudge(std), newEval(std), newExplain(std), newReplay(), newPolicy(), newHook(std), newAgent(std), newSetup(std),
		newInstall(std), newUninstall(std), newStatus(std), newMCP(std), newACP(std),
		newInbox(), newSession(), newPasskeys(), newRotate(), newPending(), newWhy(), newShow(std), newAllow(std), newDeny(), newAsk(), newSnooze(), newHand(), newStop(), newGo(), newGrants(), newLift(),
		newRevoke(), newDigest(), newLog(std), newCompact(), newPair(), newDoctor(std), newTexts(), newVersion(),
	)
	if doctor, _, err := root.Find([]string{"doctor"}); err == nil {
		addTrials(doctor, std)
	}
	inOurWords(root)
	group(root)
	return root
}

// group puts the commands under headings in the help, in the order in which a newcomer needs them.
func group(root *cobra.Command) {
	for _, g := range []struct{ title, commands string }{
		{"Run the gate:", "serve setup doctor pair"},
		{"Put it before agents:", "install uninstall status replay agent mcp acp hook"},
		{"Answer:", "inbox pending show allow deny ask snooze hand stop go grants lift revoke"},
		{"See what happened:", "why digest log"},
		{"Choose what passes:", "policy explain judge eval"},
		{"Look after it:", "texts passkeys session rotate compact"},
	} {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		names := strings.Fields(g.commands)
		for _, c := range root.Commands() {
			if slices.Contains(names, c.Name()) {
				c.GroupID = g.title
			}
		}
	}
}

// askDaemon calls the owner's side of the daemon and decodes its answer.
func askDaemon(ctx context.Context, method, path string, answer any) error {
	return askDaemonFor(ctx, owner.AskWithin, method, path, answer)
}

// askDaemonFor is askDaemon for calls that take longer.
func askDaemonFor(ctx context.Context, within time.Duration, method, path string, answer any) error {
	dir, err := loadDataDir()
	if err != nil {
		return err
	}
	return owner.Client{Dir: dir}.Ask(ctx, within, method, path, answer)
}

// openDaemon calls the daemon likewise, and returns the body of the answer.
func openDaemon(ctx context.Context, method, path string) (io.ReadCloser, error) {
	dir, err := loadDataDir()
	if err != nil {
		return nil, err
	}
	return owner.Client{Dir: dir}.Open(ctx, method, path)
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit and the Go release it was built with",
		Long: `Print the version, the commit and the Go release it was built with.

Exit codes: 0 printed, 2 a mistake in the command line.`,
		Example: "  vaglio version",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), version())
			return err
		},
	}
}

// version returns what the build recorded about itself.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "vaglio (built without module information)"
	}
	setting := map[string]string{}
	for _, s := range info.Settings {
		setting[s.Key] = s.Value
	}
	commit := cmp.Or(setting["vcs.revision"], "unknown")
	if setting["vcs.modified"] == "true" {
		commit += " with changes"
	}
	return fmt.Sprintf("vaglio %s\ncommit %s\n%s", cmp.Or(info.Main.Version, "(devel)"), commit, info.GoVersion)
}
