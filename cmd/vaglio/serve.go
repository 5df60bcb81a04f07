package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/policyfile"
	"github.com/metnos/vaglio/internal/privacy"
	"github.com/metnos/vaglio/internal/repeats"
	"github.com/metnos/vaglio/internal/resident"
	"github.com/metnos/vaglio/internal/terminal"
	"github.com/metnos/vaglio/templates"
)

func newServe(std stdio) *cobra.Command {
	var api platforms
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the gate: the agents' API and the inbox",
		Long:  serveAbout + "\n\n" + serveExits,
		Example: `  vaglio serve
  METNOS_JUDGE_THRESHOLD=0.75 METNOS_POLICY=/etc/vaglio/policy.yaml vaglio serve`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(cmd.Context(), std, api) },
	}
	cmd.Flags().StringVar(&api.telegram, "telegram-api", "", "address of the Bot API, for trying and testing")
	cmd.Flags().StringVar(&api.slack, "slack-api", "", "address of Slack's Web API, for trying and testing")
	for _, name := range []string{"telegram-api", "slack-api"} {
		cmd.Flags().Lookup(name).Hidden = true
	}
	// The settings are added when help is requested: a hook, which builds every command for each
	// tool call, should not pay for them.
	help := cmd.HelpFunc()
	cmd.SetHelpFunc(func(c *cobra.Command, args []string) {
		c.Long = serveHelp()
		help(c, args)
	})
	return cmd
}

const (
	serveAbout = `Run the gate: serve the agents' API and the inbox. The inbox's one-time link is
printed to a terminal, never into a log; 'vaglio inbox' prints another.

Everything is on this machine: the API and the inbox on a loopback address, and two
sockets in the data folder that only you can open, agent.sock for agents and admin.sock
for the commands that ask the daemon, such as pending and why. What was denied, asked or
decided is in vaglio.db there, and survives a crash at any instant. It is encrypted with
the keys in vaglio.keys: if that file is missing, another store's or open to others, nothing
starts, and the store stays as it is. The audit log is
~/.local/share/metnos/vaglio/YYYY-MM.jsonl, wherever the data folder is.

The first SIGINT, SIGTERM or SIGHUP ends the daemon in order: waiting agents are told to
come back. The second ends it at once. If the store cannot know what is on disk, the
daemon ends, too: have a supervisor restart it.`
	serveExits = `Exit codes: 0 ended by a signal, 1 could not start or go on, as without the store's key
file, 2 a mistake in the command line or in the configuration, 3 the store must be
reopened.`
)

func serveHelp() string {
	var b strings.Builder
	b.WriteString(serveAbout + "\n\nEnvironment:\n")
	if err := writeVariables(&b); err != nil {
		b.WriteString("  (cannot be listed: " + err.Error() + ")\n")
	}
	b.WriteString("\n" + serveExits)
	return b.String()
}

// platforms are the addresses of the chat platforms; empty means their own.
type platforms struct{ telegram, slack string }

// serve runs the daemon until ctx ends.
func serve(ctx context.Context, std stdio, api platforms) error {
	c, err := loadConfig()
	c.Telegram.API, c.Slack.API = api.telegram, api.slack
	p, mistake := policyfile.Load(c.Policy, c.Home)
	if mistake == nil {
		mistake = p.CheckChannels(c.chats())
	}
	if mistake == nil && c.DataDir != "" {
		mistake = datafolder.CheckSocketPath(c.path(datafolder.AdminSocket))
	}
	if err := errors.Join(err, mistake, telegramAPI(api.telegram), slackAPI(api.slack)); err != nil {
		return &configError{err}
	}
	// Nothing that the daemon creates, or has in memory, is for others.
	syscall.Umask(0o077)
	if err := privacy.Process(); err != nil {
		return err
	}
	resident.Spare()
	lines := repeats.New(slog.NewTextHandler(std.err, nil))
	defer func() { _ = lines.Flush(context.WithoutCancel(ctx)) }() // there is nowhere else to report an error
	d, err := open(ctx, c, p, slog.New(lines))
	if err != nil {
		return err
	}
	if err := d.greet(std.out); err != nil {
		return errors.Join(err, d.close())
	}
	resident.Free() // The text from which tables and templates were parsed is no longer needed.
	return errors.Join(d.run(ctx), d.close())
}

// greet prints where the daemon listens.
func (d *daemon) greet(w io.Writer) error {
	token := "the token in " + d.config.path(datafolder.TokenFile)
	if d.config.AgentToken != "" {
		token = "the token of METNOS_AGENT_TOKEN"
	}
	// A link that signs somebody in must not end up in a log.
	link, good := d.base()+"/inbox", "'vaglio inbox' prints a link that signs you in"
	if terminal.Is(w) {
		link, good = d.link(), "opens once, within ten minutes; 'vaglio inbox' prints another"
	}
	trial := ""
	if said := d.config.trial(d.config.Lang); said != "" {
		trial = "\n  " + said + " docs/security.md says more.\n"
	}
	if d.remote != "" {
		token += "\n          https://" + d.remote + "/v1 for other machines, with a token"
	}
	_, err := fmt.Fprintf(w, `vaglio is up.

  inbox   %s
          (%s)
  agents  %s/v1, with %s
          %s, as the agent of the user who calls
%s%s
`, link, good, "http://"+d.address, token, d.config.AgentSocket, d.pairing(), trial)
	return err
}

// shared reports whether agents may run as the user who runs the daemon: no group of other users may
// connect to their socket.
func (c *config) shared() bool { return c.AgentGroup == datafolder.Owner }

// trial returns what that means, or "" if it is not the case.
func (c *config) trial(lang templates.Lang) string {
	if !c.shared() {
		return ""
	}
	return c.Texts.In(lang, c.Zone).Plain("web.trial", nil)
}

// together runs the parts until all have returned. The first failure, or the end of ctx, tells the
// others to end. It returns the first failure.
func together(ctx context.Context, parts ...func(context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, part := range parts {
		group.Go(func() error { return part(ctx) })
	}
	return group.Wait()
}
