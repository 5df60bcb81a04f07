package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/web"
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

func newPending() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "pending",
		Short: "List the calls that wait for a person",
		Long: `List the calls that wait for a person, oldest first.

Exit codes: 0 listed, also when nothing waits; 1 no daemon; 2 a mistake in the
command line or in the configuration.`,
		Example: "  vaglio pending\n  vaglio pending --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var a owner.Approvals
			if err := askDaemon(cmd.Context(), http.MethodGet, "/pending", &a); err != nil {
				return err
			}
			if asJSON {
				return terminal.JSON(cmd.OutOrStdout(), a)
			}
			return owner.WritePending(cmd.OutOrStdout(), a.Approvals, time.Now())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, with everything that a card shows")
	return cmd
}

func newWhy() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "why <id>",
		Short: "Tell why a call was put to a person or refused, and what became of it",
		Long: `Tell why a call was put to a person: what the agent wanted, what each judge
saw, what the person decided, and how the run ended. Of a call that was refused
without one, such as by the guard, the digest has an id that begins with "veto-".
The first characters of an id do, four at least, when no other id begins with them.

Exit codes: 0 told, 1 nothing has this id or no daemon, 2 a mistake in the command
line or in the configuration.`,
		Example: "  vaglio why 7kq2\n  vaglio why veto-m4ab\n  vaglio why --json 7kq2m4ab6cd2xyzw-1",
		Args:    asUsed,

		ValidArgsFunction: waitingIDs,
		RunE: func(cmd *cobra.Command, args []string) error {
			var a owner.Approvals
			if err := askDaemon(cmd.Context(), http.MethodGet, "/why/"+url.PathEscape(args[0]), &a); err != nil {
				return err
			}
			if asJSON {
				return terminal.JSON(cmd.OutOrStdout(), a)
			}
			return owner.WriteWhy(cmd.OutOrStdout(), a.Approvals)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// orderExits is what every order says of its exit codes.
const orderExits = "\n\nExit codes: 0 done, 1 not done, with the reason, or no daemon; 2 a mistake in the\ncommand line or in the configuration."

// ordered asks the daemon and prints what it did.
func ordered(cmd *cobra.Command, method, path string, values url.Values) error {
	var said owner.Said
	if err := askDaemon(cmd.Context(), method, path+"?"+values.Encode(), &said); err != nil {
		return err
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), strings.TrimRight(said.Text, "\n"))
	return err
}

func newStop() *cobra.Command {
	var all bool
	var span time.Duration
	var words string
	cmd := &cobra.Command{
		Use:   "stop [agent]",
		Short: "Stop an agent, or all of them: deny what waits, and what is asked meanwhile",
		Long: `Pull the brake. What waits for a person is denied, what an agent would ask meanwhile
is denied at once, and grants end, until 'vaglio go' or until the time is over. It
holds across a restart, and is told on every channel. What needs nobody goes on,
unless --all is given; that also takes permits back that are not used yet.` + orderExits,
		Example: "  vaglio stop\n  vaglio stop coder --for 1h --words \"I am on the bus\"\n  vaglio stop --all",
		Args:    asUsed,
		RunE: func(cmd *cobra.Command, args []string) error {
			values := url.Values{"verb": {"stop"}, "words": {words}, "agent": {strings.Join(args, "")}}
			if cmd.Flags().Changed("for") {
				values.Set("for", span.String())
			}
			if all {
				values.Set("all", "1")
			}
			return ordered(cmd, http.MethodPost, "/order", values)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "also stop what needs nobody, and take unused permits back")
	cmd.Flags().DurationVar(&span, "for", 0, "for how long, such as 30m or 8h; without it until 'vaglio go'")
	cmd.Flags().StringVar(&words, "words", "", "what the agent is told")
	return cmd
}

func newGo() *cobra.Command {
	return &cobra.Command{
		Use:     "go [agent]",
		Short:   "Let a stopped agent go on, or all of them",
		Long:    `Let go of the brake that 'vaglio stop' or /stop pulled.` + orderExits,
		Example: "  vaglio go\n  vaglio go coder",
		Args:    asUsed,
		RunE: func(cmd *cobra.Command, args []string) error {
			return ordered(cmd, http.MethodPost, "/order", url.Values{"verb": {"go"}, "agent": {strings.Join(args, "")}})
		},
	}
}

func newGrants() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "grants [agent]",
		Short: "List what is granted for more than one call",
		Long: `List the grants that are in force: what was allowed for a few equal calls, how many
of them were used, and until when. 'vaglio grants end ID' ends one.` + orderExits,
		Example: "  vaglio grants\n  vaglio grants end 7kq2",
		Args:    asUsed,
		RunE: func(cmd *cobra.Command, args []string) error {
			return ordered(cmd, http.MethodGet, "/grants", url.Values{"agent": {strings.Join(args, "")}})
		},
	}
	cmd.AddCommand(onOne("end", "End a grant", "End a grant: the next equal call is asked again.", "  vaglio grants end 7kq2"))
	return cmd
}

// onOne is an order about one thing that was answered before.
func onOne(verb, short, long, example string) *cobra.Command {
	return &cobra.Command{
		Use: verb + " <id>", Short: short, Long: long + orderExits, Example: example, Args: asUsed,
		RunE: func(cmd *cobra.Command, args []string) error {
			return ordered(cmd, http.MethodPost, "/order", url.Values{"verb": {verb}, "id": {args[0]}})
		},
	}
}

func newLift() *cobra.Command {
	return onOne("lift", "Take a standing denial back", `Take a denial back for the time to come: a call that would do the same is asked
again instead of getting the old answer. What was denied stays denied.`, "  vaglio lift 7kq2")
}

func newRevoke() *cobra.Command {
	return onOne("revoke", "Take a permit back that is not used yet", `Take a permit back that the agent has not used yet. A call that began already is
not stopped by it.`, "  vaglio revoke 7kq2")
}

// completeWithin bounds how long a shell waits for what it could complete.
const completeWithin = 2 * time.Second

// waitingIDs completes the ids of the calls that wait for a person, each with what
// it is. Without a daemon there is nothing to complete.
func waitingIDs(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var a owner.Approvals
	if err := askDaemonFor(cmd.Context(), completeWithin, http.MethodGet, "/pending", &a); err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ids := make([]cobra.Completion, len(a.Approvals))
	for i := range a.Approvals {
		ids[i] = cobra.CompletionWithDesc(string(a.Approvals[i].ID), terminal.OneLine(a.Approvals[i].Call(), 60))
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// inboxSessions are the inbox's sessions, and what the owner ends of them is told.
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

// signedIn has everybody told of a sign-in.
func (d *daemon) signedIn(ctx context.Context, one web.Session) error { //nolint:gocritic // As the configuration wants it.
	return d.dispatcher.Announce(ctx, approval.Announcement{Kind: approval.SignedIn, By: web.Owner, Detail: one.From + ", " + one.Browser})
}

// announce has everybody told of a change of the gate. The dispatcher is there before
// anything can change.
func (d *daemon) announce(ctx context.Context, a approval.Announcement) error {
	return d.dispatcher.Announce(ctx, a)
}

func newSession() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "session",
		Short: "List the browsers that are signed in to the inbox, and sign them out",
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
		Long: `List the browsers that are signed in to the inbox, the oldest first. What a browser
says of itself is not to be relied on.

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

// leastSession is how much of a session's id names it.
const leastSession = 8

func newSessionEnd() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "end <id>",
		Short: "Sign a browser out, or all of them",
		Long: `Sign a browser out, by the first characters of its session's id, eight at least, or
all browsers with --all. It holds at once, and every chat is told.

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

// samples are the ready-made calls of the inbox's page Try it: one of each
// ending, so that a newcomer sees the whole path in a minute.
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
