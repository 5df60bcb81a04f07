package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/metnos/vaglio/gateway/owner"
	"github.com/metnos/vaglio/internal/terminal"
)

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
			texts, err := loadTexts()
			if err != nil {
				return err
			}
			return owner.WritePending(cmd.OutOrStdout(), texts, a.Approvals, time.Now())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, with everything that a card shows")
	return cmd
}

func newWhy() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "why <id>",
		Short: "Show why a call was asked about or denied, and what became of it",
		Long: `Show why a call was asked about: what the agent wanted, what each judge saw, what the
person decided, and how the run ended. A call that was denied without asking anybody,
such as by the guard, has an id that begins with "veto-", which the digest shows. The
first four characters of an id are enough, if no other id begins with them.

Exit codes: 0 shown, 1 nothing has this id or no daemon, 2 a mistake in the command
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
			texts, err := loadTexts()
			if err != nil {
				return err
			}
			return owner.WriteWhy(cmd.OutOrStdout(), texts, a.Approvals)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newShow(std stdio) *cobra.Command {
	return &cobra.Command{
		Use:   "show <id>",
		Short: "Show a waiting call in full; 'vaglio allow' needs that",
		Long: `Show everything that is asked under an id: each call in full, what it would do, why it was
denied, and what was answered. Afterwards 'vaglio allow' can allow it at the same
terminal, as long as nothing of it changes.` + orderExits,
		Example:           "  vaglio show 7kq2",
		ValidArgsFunction: waitingIDs,
		Args:              asUsed,
		RunE: func(cmd *cobra.Command, args []string) error {
			var s owner.Showing
			if err := askDaemon(cmd.Context(), http.MethodGet, "/show/"+url.PathEscape(args[0]), &s); err != nil {
				return err
			}
			texts, err := loadTexts()
			if err != nil {
				return err
			}
			if err := owner.WriteWhy(cmd.OutOrStdout(), texts, s.Approvals); err != nil {
				return err
			}
			if !terminal.Is(std.out) {
				return nil // Nobody has seen it.
			}
			var said owner.Said
			seen := url.Values{"id": {string(s.Ask)}, "view": {string(s.View)}}
			if err := askDaemon(cmd.Context(), http.MethodPost, "/shown?"+seen.Encode(), &said); err != nil {
				tell(std.err, prefixLines("vaglio: ", "it cannot be allowed from here: "+err.Error()))
			}
			return nil
		},
	}
}

func newAllow(std stdio) *cobra.Command {
	var digits string
	cmd := &cobra.Command{
		Use:   "allow <id>",
		Short: "Allow a waiting call, once, after 'vaglio show'",
		Long: `Allow the waiting calls of an ask, or the one call that the id names, once. 'vaglio
show' must have shown them at the same terminal, and they must not have changed since. If
a call cannot be undone, or nobody knows whether it can, type the agent's name. If it also
reaches others, and there is a chat, type the two digits that its card there shows.

It works only at a terminal, on Linux, and not below an agent's program. Elsewhere
use the inbox or a chat.` + orderExits,
		Example:           "  vaglio show 7kq2\n  vaglio allow 7kq2\n  vaglio allow 7kq2 --digits 47",
		ValidArgsFunction: waitingIDs,
		Args:              asUsed,
		RunE: func(cmd *cobra.Command, args []string) error {
			if in, ok := std.in.(io.Writer); !ok || !terminal.Is(in) || !terminal.Is(std.out) {
				return errors.New("a call can be allowed only at the terminal where it was shown: answer there, in the inbox or in a chat")
			}
			var s owner.Showing
			if err := askDaemon(cmd.Context(), http.MethodGet, "/show/"+url.PathEscape(args[0]), &s); err != nil {
				return err
			}
			values := url.Values{"id": {args[0]}, "digits": {digits}}
			if err := askFurther(std, &s, values); err != nil {
				return err
			}
			return ordered(cmd, http.MethodPost, "/allow", values)
		},
	}
	cmd.Flags().StringVar(&digits, "digits", "", "the two digits on its card in a chat, if allowing it takes them")
	return cmd
}

// askFurther asks for what allowing the call takes besides the command.
func askFurther(std stdio, s *owner.Showing, values url.Values) error {
	questions := []struct{ name, text string }{{"name", s.Sure}, {"digits", s.Match}}
	typed := bufio.NewReader(std.in)
	for _, q := range questions {
		if !s.Seen || q.text == "" || values.Get(q.name) != "" {
			continue
		}
		if _, err := fmt.Fprint(std.out, q.text+" "); err != nil {
			return err
		}
		line, err := typed.ReadString('\n')
		if err != nil {
			return fmt.Errorf("nothing was allowed: %w", err)
		}
		values.Set(q.name, strings.TrimSpace(line))
	}
	return nil
}

func newDeny() *cobra.Command {
	return &cobra.Command{
		Use:   "deny <id> [words...]",
		Short: "Deny a waiting call, with words for the agent",
		Long: `Deny the waiting calls of an ask, or the one call that the id names. Words after the id
reach the agent. Below an agent's program this command is refused.` + orderExits,
		Example:           "  vaglio deny 7kq2\n  vaglio deny 7kq2 use the staging bucket",
		ValidArgsFunction: waitingIDs,
		Args:              asUsed,
		RunE: func(cmd *cobra.Command, args []string) error {
			return ordered(cmd, http.MethodPost, "/deny", url.Values{"id": {args[0]}, "words": {strings.Join(args[1:], " ")}})
		},
	}
}

func newAsk() *cobra.Command {
	return &cobra.Command{
		Use:   "ask <id> <question...>",
		Short: "Ask the agent a question before you decide",
		Long: `Ask the agent whose call waits a question. The agent gets it at once, the call keeps
waiting, and its deadline stays. The answer appears on the card, and in 'vaglio why
ID'. You can ask twice.` + orderExits,
		Example:           "  vaglio ask 7kq2 which bucket is that",
		ValidArgsFunction: waitingIDs,
		Args:              asUsed,
		RunE: func(cmd *cobra.Command, args []string) error {
			return ordered(cmd, http.MethodPost, "/order", url.Values{"verb": {"ask"}, "id": {args[0]}, "words": {strings.Join(args[1:], " ")}})
		},
	}
}

func newSnooze() *cobra.Command {
	return &cobra.Command{
		Use:   "snooze <id> [time]",
		Short: "Postpone the reminder of a waiting call",
		Long: `Postpone the reminder of an ask, for ten minutes or as long as you say. This decides
nothing, and the deadline stays.` + orderExits,
		Example:           "  vaglio snooze 7kq2\n  vaglio snooze 7kq2 1h",
		ValidArgsFunction: waitingIDs,
		Args:              asUsed,
		RunE: func(cmd *cobra.Command, args []string) error {
			return ordered(cmd, http.MethodPost, "/order", url.Values{"verb": {"snooze"}, "id": {args[0]}, "for": {strings.Join(args[1:], "")}})
		},
	}
}

func newHand() *cobra.Command {
	return &cobra.Command{
		Use:   "hand <id> <name>",
		Short: "Hand a waiting call over to another approver",
		Long: `Hand an ask over to another approver, by the name that the policy gives them or by
their id. They are notified, and can answer it where one person is enough; where
several have to allow, they must be among those whom the route names. Its deadline
stays.` + orderExits,
		Example:           "  vaglio hand 7kq2 ada",
		ValidArgsFunction: waitingIDs,
		Args:              asUsed,
		RunE: func(cmd *cobra.Command, args []string) error {
			return ordered(cmd, http.MethodPost, "/order", url.Values{"verb": {"hand"}, "id": {args[0]}, "to": {strings.Join(args[1:], " ")}})
		},
	}
}

// orderExits describes the exit codes of every order.
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
		Short: "Stop an agent, or all: deny what waits and what would be asked",
		Long: `Pull the brake. What waits for a person is denied, what an agent would ask meanwhile
is denied at once, and grants end, until 'vaglio go' or until the time is over. The
brake holds across a restart, and every channel reports it. Calls that pass unasked go on,
unless --all is given, which also revokes unused permits.` + orderExits,
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
	cmd.Flags().BoolVar(&all, "all", false, "also stop calls that would pass unasked, and revoke unused permits")
	cmd.Flags().DurationVar(&span, "for", 0, "for how long, such as 30m or 8h; if left out, until 'vaglio go'")
	cmd.Flags().StringVar(&words, "words", "", "what the agent is told")
	return cmd
}

func newGo() *cobra.Command {
	return &cobra.Command{
		Use:     "go [agent]",
		Short:   "Release a stopped agent, or all",
		Long:    `Release the brake that 'vaglio stop' or /stop pulled.` + orderExits,
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
		Short: "List the grants: what is allowed for several calls",
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

// onOne returns a command for an order about one thing that was decided before.
func onOne(verb, short, long, example string) *cobra.Command {
	return &cobra.Command{
		Use: verb + " <id>", Short: short, Long: long + orderExits, Example: example, Args: asUsed,
		RunE: func(cmd *cobra.Command, args []string) error {
			return ordered(cmd, http.MethodPost, "/order", url.Values{"verb": {verb}, "id": {args[0]}})
		},
	}
}

func newLift() *cobra.Command {
	return onOne("lift", "Lift a denial: the same call is asked about again", `Lift a denial: from now on, a call that would do the same is asked about again instead
of getting the old answer. The call that was denied stays denied.`, "  vaglio lift 7kq2")
}

func newRevoke() *cobra.Command {
	return onOne("revoke", "Revoke a permit that was not used yet", `Revoke a permit that the agent has not used yet. A call that has begun already goes
on.`, "  vaglio revoke 7kq2")
}

// completeWithin bounds how long a shell waits for completions.
const completeWithin = 2 * time.Second

// waitingIDs completes the IDs of the calls that wait for a person, each with a description.
// Without a daemon there are none.
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
