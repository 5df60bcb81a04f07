package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/metnos/vaglio/gateway/far"
	"github.com/metnos/vaglio/gateway/hook"
	"github.com/metnos/vaglio/gateway/hook/hookmain"
	"github.com/metnos/vaglio/gateway/install"
	"github.com/metnos/vaglio/internal/agents"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/itself"
)

// clientKind describes a coding agent that vaglio has a hook for.
const clientKind = "client with a hook"

func newHook(std stdio) *cobra.Command {
	var s hookmain.Settings
	var to far.Gate
	var data string
	cmd := &cobra.Command{
		Use:   "hook <client>",
		Short: "Answer a coding agent's hook: JSON on stdin and stdout",
		Long: `Answer the hook that a coding agent runs before each tool call. It asks the daemon over
its socket, waits for a person if a judge denied, and answers before the agent's own
limit is over. Any failure is a denial. Run after a call, it reports how the call ended.

'vaglio install' writes it into an agent's settings, and prefers the small
program vaglio-hook, which does the same and starts faster.

Clients: ` + strings.Join(hook.Clients(), ", ") + `.

Exit codes: 0 answered, also when the answer is a denial; 2 denied, for a client that
expects this code, or the answer could not be written, or a mistake in the command line,
all of which agents take for a denial.`,
		Example: `  vaglio hook claude-code < call.json
  vaglio hook claude-code --limit 10m --approve-allows < call.json`,
		Args: asUsedOf(clientKind, hook.Clients()),
		// A shell completes these names, too.
		ValidArgs: hook.Clients(),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.Client, s.LimitSet, s.To = args[0], cmd.Flags().Changed("limit"), to.Reach()
			s.To.Data = data
			code, err := hookmain.Answer(cmd.Context(), s, hookmain.Variables(environ()), hookmain.Stdio{In: std.in, Out: std.out, Err: std.err})
			if err != nil || code != exitOK {
				return &exitError{code: code, err: err}
			}
			return nil
		},
	}
	cmd.Flags().DurationVar(&s.Limit, "limit", 0, "how long the client waits for its hook; 0s means what 'vaglio install' writes")
	addCaller(cmd.Flags(), &to)
	cmd.Flags().StringVar(&data, "data", "", "with --agent: the daemon's data folder, whatever the environment says")
	cmd.Flags().BoolVar(&s.Shadow, "shadow", false, "let every call pass, and record it for 'vaglio replay'")
	cmd.Flags().BoolVar(&s.ApproveAllows, "approve-allows", false, "tell the client to run what the judges approved, for a client that runs without a person")
	return cmd
}

// installer is one run of `vaglio install` or `vaglio uninstall`.
type installer struct {
	std              stdio
	o                install.Options
	project, managed bool
	yes              bool
	to               far.Gate
	// begin is called before the first change, once the owner has said yes.
	begin func() error
}

func newInstall(std stdio) *cobra.Command {
	i := &installer{std: std}
	cmd := i.command("install", "Have a coding agent ask vaglio before every tool call", `Write vaglio's hook into a coding agent's settings. The change is shown, and made if you
agree; a copy of the file stays beside it. Everything else in the file stays as it is,
and 'vaglio uninstall' restores it.

The limit is how long the agent waits for you, the same for the agent and the hook. Codex
runs only hooks that were trusted, so the hook's digest goes into its config.toml.

Once a daemon has run here, the client becomes an agent with a name of its own (see
'vaglio agent').

With --at the agent asks a daemon on another machine (see docs/agentnames.md). The
token that 'vaglio agent add' printed there is read from METNOS_AGENT_TOKEN,
METNOS_AGENT_TOKEN_FILE, or the first line of the input, and kept for the hook. The
daemon must know it before anything is changed.

With --shadow nothing is held and nobody is asked: the agent's calls are recorded, and
'vaglio replay' shows what would have been asked.`, true)
	cmd.Flags().DurationVar(&i.o.Limit, "limit", 0, "how long the agent waits for its hook; 0s means what suits the agent")
	cmd.Flags().BoolVar(&i.o.Shadow, "shadow", false, "only watch: every call passes and is recorded for 'vaglio replay'")
	cmd.Flags().BoolVar(&i.o.ApproveAllows, "approve-allows", false, "have the agent run what the judges approved without asking its own user, for runs without one")
	addGate(cmd.Flags(), &i.to)
	cmd.MarkFlagsMutuallyExclusive("shadow", "approve-allows")
	cmd.MarkFlagsMutuallyExclusive("shadow", "at")
	return cmd
}

func newUninstall(std stdio) *cobra.Command {
	i := &installer{std: std}
	return i.command("uninstall", "Take vaglio's hook out of a coding agent's settings", `Take vaglio's hook out of a coding agent's settings. A file that nobody has changed
since it was installed becomes what it was before, to the byte. Its agent stays: see
'vaglio agent remove'.`, false)
}

func (i *installer) command(name, short, long string, adds bool) *cobra.Command {
	cmd := &cobra.Command{
		Use: name + " <client>", Short: short,
		Long: long + "\n\nClients: " + strings.Join(install.Clients(), ", ") + `.

Exit codes: 0 done, or there was nothing to do; 1 not done, and why; 2 a mistake in
the command line.`,
		Example:   "  vaglio " + name + " claude-code\n  vaglio " + name + " codex --project --yes",
		ValidArgs: install.Clients(),
		// A client whose hook must be installed by hand gets its own error later.
		Args: asUsedOf(clientKind, hook.Clients()),
		RunE: func(cmd *cobra.Command, args []string) error { return i.run(cmd.Context(), args[0], adds) },
	}
	cmd.Flags().BoolVar(&i.project, "project", false, "in the project of this folder instead of for you everywhere")
	cmd.Flags().BoolVar(&i.managed, "managed", false, "for everybody on this machine; users cannot take it out; needs root")
	cmd.Flags().BoolVar(&i.yes, "yes", false, "do it without asking")
	cmd.MarkFlagsMutuallyExclusive("project", "managed")
	return cmd
}

func (i *installer) run(ctx context.Context, client string, adds bool) error {
	i.o.Client, i.o.Scope, i.o.At = client, i.scope(), i.to.At
	if err := locate(&i.o); err != nil {
		return err
	}
	changes, err := i.plan(ctx, adds)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(changes, func(c install.Change) bool { return c.After != nil && c.Changes() }) {
		if err := itself.Outside(i.o.Program, i.o.Home); err != nil {
			return err
		}
	}
	if err := i.apply(changes); err != nil {
		return err
	}
	if client == "codex" {
		return i.trustCodex(ctx, changes[0])
	}
	return nil
}

func (i *installer) plan(ctx context.Context, adds bool) ([]install.Change, error) {
	if !adds {
		return install.Remove(i.o)
	}
	if err := i.name(ctx); err != nil {
		return nil, err
	}
	if i.o.Agent != "" {
		dir, err := loadDataDir()
		if err != nil {
			return nil, err
		}
		i.o.Data = dir
	}
	return install.Add(i.o)
}

// name makes the client propose under its own name, if this user's daemon can know that. For another
// user's daemon, or one that never ran, the owner must add the agent. A name that is taken, with a
// token that was not stored here, belongs to somebody who sets the token in the environment.
func (i *installer) name(ctx context.Context) error {
	if i.to.Elsewhere() {
		return i.nameFar(ctx, i.o.Client)
	}
	_, elsewhere := hookmain.Variables(environ())(hookmain.SocketVariable)
	if elsewhere || i.o.Scope == install.Managed || i.o.Shadow || !slices.Contains(install.Clients(), i.o.Client) {
		return nil
	}
	dir, err := loadDataDir()
	if err != nil {
		return err
	}
	all, known, err := knownAgents(ctx, dir)
	if err != nil || !known {
		return err
	}
	_, lost := os.Stat(hookmain.TokenFile(dir, i.o.Client))
	added := slices.ContainsFunc(all, func(a agents.Agent) bool { return a.Name == i.o.Client })
	if !added || lost == nil {
		i.o.Agent = i.o.Client
	}
	if !added {
		i.begin = func() error { return i.addAgent(ctx, dir) }
	}
	return nil
}

// addAgent adds the agent for the client.
func (i *installer) addAgent(ctx context.Context, dir string) error {
	form := url.Values{"name": {i.o.Agent}}
	if i.o.Scope == install.Project && i.o.Project != i.o.Home {
		form["workspace"] = []string{i.o.Project}
	}
	token, err := addAgent(ctx, form)
	if err != nil {
		return err
	}
	if err := hookmain.KeepToken(dir, i.o.Agent, token); err != nil {
		return err
	}
	_, err = fmt.Fprintf(i.std.out, "Added the agent %s\n", i.o.Agent)
	return err //nolint:wrapcheck // The terminal's own.
}

// nameFar makes the client propose to a daemon on another machine, as an agent that the daemon knows
// already. The token is stored here, unless each user has their own.
func (i *installer) nameFar(ctx context.Context, agent string) (err error) {
	env := hookmain.Variables(environ())
	if _, here := env(hookmain.SocketVariable); here {
		return errors.New(hookmain.SocketVariable + ": is set, and goes before --at; unset it")
	}
	if i.to, err = i.to.Absolute(); err != nil {
		return err
	}
	i.o.At, i.o.CA = i.to.At, i.to.CA
	if i.o.Scope == install.Managed {
		_, err := i.to.Client("each user's own")
		return err
	}
	i.o.Agent, i.to.Agent = agent, agent
	// The rest of the input answers the next question.
	in := bufio.NewReader(i.std.in)
	i.std.in = in
	i.begin, err = i.to.Token(ctx, env, far.Asked{In: in, Out: i.std.out})
	return err
}

// locate sets the program, the home folder and the project.
func locate(o *install.Options) error {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	o.Program, o.Args = exe, []string{"hook"}
	small := filepath.Join(filepath.Dir(exe), "vaglio-hook")
	if info, err := os.Stat(small); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
		o.Program, o.Args = small, nil
	}
	if o.At != "" {
		o.Program, o.Args = exe, []string{"hook"} // the small program only speaks over the socket
	}
	if o.Home, err = os.UserHomeDir(); err != nil || !filepath.IsAbs(o.Home) {
		return &configError{datafolder.ErrNoHome}
	}
	if o.Project, err = os.Getwd(); err != nil {
		return fmt.Errorf("find this folder: %w", err)
	}
	return nil
}

// errUnanswered means that the owner has not said yes.
var errUnanswered = errors.New("nothing was changed: say yes, or give --yes")

// agreed asks whether to make the changes shown.
func agreed(std stdio) error {
	if _, err := io.WriteString(std.out, "Change this? [y/N] "); err != nil {
		return err //nolint:wrapcheck // The terminal's own.
	}
	answer, _ := bufio.NewReader(std.in).ReadString('\n')
	if !slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer))) {
		return errUnanswered
	}
	return nil
}

// apply shows the changes, asks, and makes them.
func (i *installer) apply(changes []install.Change) error {
	changes = slices.DeleteFunc(slices.Clone(changes), func(c install.Change) bool { return !c.Changes() })
	if len(changes) == 0 && i.begin == nil {
		_, err := fmt.Fprintf(i.std.out, "Nothing to change for %s.\n", i.o.Client)
		return err //nolint:wrapcheck // The terminal's own.
	}
	for n := range changes {
		if _, err := io.WriteString(i.std.out, changes[n].Diff()); err != nil {
			return err //nolint:wrapcheck // The terminal's own.
		}
	}
	if err := i.confirm(); err != nil {
		return err
	}
	for n := range changes {
		if err := changes[n].Write(); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(i.std.out, "Changed %s\n", changes[n].Path); err != nil {
			return err //nolint:wrapcheck // The terminal's own.
		}
	}
	return nil
}

// confirm asks, unless --yes was given, and calls begin.
func (i *installer) confirm() error {
	if !i.yes {
		if err := agreed(i.std); err != nil {
			return err
		}
	}
	begin := i.begin
	if i.begin = nil; begin != nil {
		return begin()
	}
	return nil
}

// trustCodex tells Codex which digests to trust. Codex silently skips a hook that is not trusted,
// so a failure here is a failure of the installation.
func (i *installer) trustCodex(ctx context.Context, hooks install.Change) error {
	var trusted []install.Trusted
	if hooks.After != nil {
		program, err := exec.LookPath("codex")
		if err != nil {
			return errors.New("codex is not found, so nobody could tell it to trust the hook: it will not run it. Start codex and trust the hook there in /hooks, or run this again where codex is on the PATH")
		}
		if trusted, err = install.CodexHooks(ctx, program, i.o.Project, environ()); err != nil {
			return fmt.Errorf("%w; start codex and trust the hook there in /hooks", err)
		}
		if hooks.Changes() && len(trusted) == 0 {
			trusted = nil // the hook was removed
		}
	}
	c, err := install.TrustCodex(i.o.Home, hooks.Path, trusted)
	if err != nil || !c.Changes() {
		return err
	}
	return i.apply([]install.Change{c})
}

func newStatus(std stdio) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show which coding agents ask vaglio",
		Long: `Show, for each coding agent that is on the PATH or has vaglio's hook: its version,
where the hook is installed, how long the agent waits for it, whether it is trusted
(Codex, Hermes), when it last asked, and what keeps it from running.

Exit codes: 0 shown; 1 something keeps an installed hook from doing its work; 2 a
mistake in the command line or in the configuration.`,
		Example: "  vaglio status",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return showStatus(cmd.Context(), std) },
	}
}

func showStatus(ctx context.Context, std stdio) error {
	o := install.Options{}
	if err := locate(&o); err != nil {
		return err
	}
	wrong, err := install.WriteStatus(ctx, std.out, o, install.Looks{
		LastAsked: lastAsked, Gate: reaches,
		Codex: func(ctx context.Context) install.Trust { return install.CodexTrust(ctx, o.Project, environ()) },
	})
	if err == nil && wrong {
		return &exitError{code: exitFailed}
	}
	return err
}

// lastAsked returns when a client's hook last ran here.
func lastAsked(client string) time.Time {
	dir, err := loadDataDir()
	if err != nil {
		return time.Time{}
	}
	info, err := os.Stat(filepath.Join(dir, hookmain.SeenFolder, client))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// reaches returns what keeps an installed hook from reaching its daemon on another machine.
func reaches(ctx context.Context, l install.Limits) error {
	return far.Gate{Agent: l.Agent, At: l.At, CA: l.CA}.Check(ctx, hookmain.Variables(environ()))
}
