package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/web"
	"github.com/metnos/vaglio/channels/web/passkey"
	"github.com/metnos/vaglio/gateway/owner"
	"github.com/metnos/vaglio/internal/terminal"
	"github.com/metnos/vaglio/vaglio"
)

func newInbox() *cobra.Command {
	return &cobra.Command{
		Use:   "inbox",
		Short: "Print a one-time link into the inbox of the running daemon",
		Long: `Print a link that signs you in to the inbox, once, within ten minutes.

Exit codes: 0 printed, 1 no daemon, 2 a mistake in the command line or in the
configuration.`,
		Example: "  vaglio inbox\n  chromium \"$(vaglio inbox)\"",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var a owner.Link
			if err := askDaemon(cmd.Context(), http.MethodPost, "/inbox-link", &a); err != nil {
				return err
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), a.Link)
			return err
		},
	}
}

// inboxSessions manages the inbox's sessions, and announces those that the owner ends.
type inboxSessions struct{ d *daemon }

// List returns the sessions.
func (s inboxSessions) List() []owner.SessionAccount {
	all := s.d.inbox.Sessions()
	told := make([]owner.SessionAccount, len(all))
	for i, one := range all {
		told[i] = owner.SessionAccount{ID: one.ID, Made: one.Made, Until: one.Until, From: one.From, Browser: one.Browser}
	}
	return told
}

// End ends sessions.
func (s inboxSessions) End(ctx context.Context, prefix string) (int, error) {
	n, err := s.d.inbox.EndSessions(ctx, prefix)
	if err != nil || n == 0 {
		return n, err
	}
	return n, s.d.dispatcher.Announce(ctx, approval.Announcement{Kind: approval.SessionsEnded, Detail: strconv.Itoa(n)})
}

// signedIn announces a sign-in on every channel.
func (d *daemon) signedIn(ctx context.Context, one web.Session) error { //nolint:gocritic // As the configuration wants it.
	return d.dispatcher.Announce(ctx, approval.Announcement{Kind: approval.SignedIn, By: web.Owner, Detail: one.From + ", " + one.Browser})
}

// announce announces a change of the gate on every channel. The dispatcher exists before anything
// can change.
func (d *daemon) announce(ctx context.Context, a approval.Announcement) error {
	return d.dispatcher.Announce(ctx, a)
}

func newSession() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "session",
		Short: "List the browsers that are signed in, or sign them out",
		Long: `List the browsers that are signed in to the inbox, and sign them out. A session
ends 12 hours after its last use, and 7 days after it was made.

Exit codes: 0 done, 1 no daemon or no such session, 2 a mistake in the command line
or in the configuration.`,
		Example: "  vaglio session list\n  vaglio session end --all",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSessionList(), newSessionEnd())
	return cmd
}

func newSessionList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the browsers that are signed in",
		Long: `List the browsers that are signed in to the inbox, the oldest first. A browser may lie
about what it is.

Exit codes: 0 listed, 1 no daemon, 2 a mistake in the command line or in the
configuration.`,
		Example: "  vaglio session list\n  vaglio session list --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var a owner.SessionList
			if err := askDaemon(cmd.Context(), http.MethodGet, "/sessions", &a); err != nil {
				return err
			}
			if asJSON {
				return terminal.JSON(cmd.OutOrStdout(), a)
			}
			return owner.WriteSessions(cmd.OutOrStdout(), a.Sessions)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, with whole ids")
	return cmd
}

// leastSession is the minimum length of the prefix that identifies a session.
const leastSession = 8

func newSessionEnd() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "end <id>",
		Short: "Sign a browser out, or all of them",
		Long: `Sign a browser out, by the first characters of its session's id, eight at least, or
all browsers with --all. It takes effect at once, and every chat reports it.

Exit codes: 0 ended, 1 no daemon or no such session, 2 a mistake in the command line
or in the configuration.`,
		Example: "  vaglio session end 3f9a0c1d\n  vaglio session end --all",
		Args: func(cmd *cobra.Command, args []string) error {
			if all {
				return noArgs(cmd, args)
			}
			if err := asUsed(cmd, args); err != nil {
				return err
			}
			if len(args[0]) < leastSession {
				return fmt.Errorf("%q is too short for a session's id; give its first %d characters", args[0], leastSession)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			path := "/sessions"
			if !all {
				path += "/" + url.PathEscape(args[0])
			}
			var a owner.EndedSessions
			if err := askDaemon(cmd.Context(), http.MethodDelete, path, &a); err != nil {
				return err
			}
			if a.Ended == 0 && !all {
				return fmt.Errorf("no browser is signed in whose session's id begins with %q", args[0])
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), terminal.Counted(a.Ended, "session ended", "sessions ended"))
			return err
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "sign every browser out")
	return cmd
}

// inboxPasskeys manages the inbox's passkeys.
type inboxPasskeys struct{ inbox *web.Web }

// List returns the passkeys.
func (p inboxPasskeys) List() []owner.PasskeyAccount {
	all := p.inbox.Passkeys()
	told := make([]owner.PasskeyAccount, len(all))
	for i := range all {
		told[i] = owner.PasskeyAccount{Name: all[i].Name, Host: all[i].Host, Made: all[i].Made, Used: all[i].Used}
	}
	return told
}

// Remove removes a passkey.
func (p inboxPasskeys) Remove(ctx context.Context, name string) error {
	err := p.inbox.RemovePasskey(ctx, name)
	if errors.Is(err, passkey.ErrNone) {
		return approval.ErrNotFound
	}
	return err
}

func newPasskeys() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "passkeys",
		Short: "List the passkeys of the inbox, or remove a lost one",
		Long: `List the passkeys of the inbox, and remove one that was lost. They are registered in
the inbox, on its page Passkeys. Once there is one, a call that may be impossible to undo or
reaches others is allowed only in the inbox, with a passkey.

Exit codes: 0 done, 1 no daemon or no such passkey, 2 a mistake in the command line
or in the configuration.`,
		Example: "  vaglio passkeys list\n  vaglio passkeys remove phone",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPasskeysList(), newPasskeysRemove())
	return cmd
}

func newPasskeysList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the passkeys of the inbox",
		Long: `List the passkeys of the inbox, the oldest first, and where each can be used.

Exit codes: 0 listed, 1 no daemon, 2 a mistake in the command line or in the
configuration.`,
		Example: "  vaglio passkeys list\n  vaglio passkeys list --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var a owner.PasskeyList
			if err := askDaemon(cmd.Context(), http.MethodGet, "/passkeys", &a); err != nil {
				return err
			}
			if asJSON {
				return terminal.JSON(cmd.OutOrStdout(), a)
			}
			return owner.WritePasskeys(cmd.OutOrStdout(), a.Passkeys)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newPasskeysRemove() *cobra.Command {
	return &cobra.Command{
		Use:   "remove <name>",
		Short: "Remove a lost passkey",
		Long: `Remove a passkey without using it. This needs a terminal with no agent's program above
it, and every chat reports it. Without any passkey, calls are allowed as before there
was one.

Exit codes: 0 removed, 1 no daemon, no such passkey or no terminal, 2 a mistake in
the command line or in the configuration.`,
		Example: "  vaglio passkeys remove phone",
		Args:    asUsed,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := askDaemon(cmd.Context(), http.MethodDelete, "/passkeys/"+url.PathEscape(args[0]), &owner.Said{}); err != nil {
				return err
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "removed; every chat is told")
			return err
		},
	}
}

// samples returns the ready-made calls for the inbox's page Try it: one for each outcome, so that a
// newcomer sees the whole path in a minute.
func samples() []web.Sample {
	return []web.Sample{
		{
			Name: "approved", Title: "Read a file",
			Explain: "The tool does what the user asked for and changes nothing, so the call is approved and nobody is asked.",
			Proposal: vaglio.Proposal{
				Intent: "read the notes of the last meeting", Executor: "read_file",
				Args: vaglio.Args{"path": "notes/meeting.md"},
			},
		},
		{
			Name: "asked", Title: "Rewrite a shared branch",
			Explain: "It replaces what others work on and cannot be undone, so you are asked, although the user wants it.",
			Proposal: vaglio.Proposal{
				Intent: "clean up the history of main", Executor: "shell_exec",
				Args:    vaglio.Args{"command": "git push --force origin main"},
				Context: vaglio.Context{Capability: vaglio.Capabilities{"code:exec"}, Cwd: "/home/you/app"},
			},
		},
		{
			Name: "guard", Title: "Read the password hashes",
			Explain: "The guard denies it. That is final: nobody is asked, and nobody can allow it.",
			Proposal: vaglio.Proposal{
				Intent: "check who has an account", Executor: "read_file",
				Args: vaglio.Args{"path": "/etc/shadow"},
			},
		},
	}
}
