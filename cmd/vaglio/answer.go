package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/metnos/vaglio/gateway/owner"
	"github.com/metnos/vaglio/internal/terminal"
)

func newShow(std stdio) *cobra.Command {
	return &cobra.Command{
		Use:   "show <id>",
		Short: "Show the whole of what waits, as it has to be seen to allow it",
		Long: `Show all that is asked under an id: every call whole, what it would do, why it was
denied, and what was answered. What was shown at a terminal can be allowed there with
'vaglio allow', as long as it is still that.` + orderExits,
		Example:           "  vaglio show 7kq2",
		ValidArgsFunction: waitingIDs,
		Args:              asUsed,
		RunE: func(cmd *cobra.Command, args []string) error {
			var s owner.Showing
			if err := askDaemon(cmd.Context(), http.MethodGet, "/show/"+url.PathEscape(args[0]), &s); err != nil {
				return err
			}
			if err := owner.WriteWhy(cmd.OutOrStdout(), s.Approvals); err != nil {
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
	return &cobra.Command{
		Use:   "allow <id>",
		Short: "Allow a call that was shown at this terminal, once",
		Long: `Allow what waits of an ask, or the one call that the id names, once. It must have been
shown at the same terminal by 'vaglio show', and be still what was shown. What cannot
be undone, as far as anybody knows, is allowed only after you type the agent's name.

It works at a terminal alone, on Linux, and not below an agent's program: use the
inbox or a chat elsewhere.` + orderExits,
		Example:           "  vaglio show 7kq2\n  vaglio allow 7kq2",
		ValidArgsFunction: waitingIDs,
		Args:              asUsed,
		RunE: func(cmd *cobra.Command, args []string) error {
			if in, ok := std.in.(io.Writer); !ok || !terminal.Is(in) || !terminal.Is(std.out) {
				return errors.New("a call is allowed at a terminal alone, where it was shown: answer there, in the inbox or in a chat")
			}
			values := url.Values{"id": {args[0]}}
			var s owner.Showing
			if err := askDaemon(cmd.Context(), http.MethodGet, "/show/"+url.PathEscape(args[0]), &s); err != nil {
				return err
			}
			if s.Seen && s.Sure != "" {
				if _, err := fmt.Fprint(cmd.OutOrStdout(), s.Sure+" "); err != nil {
					return err
				}
				typed, err := bufio.NewReader(std.in).ReadString('\n')
				if err != nil {
					return fmt.Errorf("nothing was allowed: %w", err)
				}
				values.Set("name", strings.TrimSpace(typed))
			}
			return ordered(cmd, http.MethodPost, "/allow", values)
		},
	}
}

func newDeny() *cobra.Command {
	return &cobra.Command{
		Use:   "deny <id> [words...]",
		Short: "Deny a call that waits, with words for the agent",
		Long: `Deny what waits of an ask, or the one call that the id names. Words behind the id
reach the agent. An agent's program cannot deny in your name: what runs below one is
refused. 'vaglio show' shows the whole of a call, and 'vaglio allow' allows it then.` + orderExits,
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
		Short: "Ask the agent something before you decide",
		Long: `Ask the agent whose call waits something. It is told at once, the call waits on, and
its deadline stays; what it answers comes onto the card, and 'vaglio why ID' shows
it. Two questions at most.` + orderExits,
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
		Short: "Put the reminder of a call that waits off",
		Long: `Put the reminder of an ask off, for ten minutes or as long as you say. Nothing is
decided by it, and its deadline stays.` + orderExits,
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
		Short: "Hand a call that waits over to another approver",
		Long: `Hand an ask over to another approver, by the name that the policy gives them or by
their id. They are told, and can answer it where one person is enough; where several
have to allow, they must be among those whom the route names. Its deadline stays.` + orderExits,
		Example:           "  vaglio hand 7kq2 ada",
		ValidArgsFunction: waitingIDs,
		Args:              asUsed,
		RunE: func(cmd *cobra.Command, args []string) error {
			return ordered(cmd, http.MethodPost, "/order", url.Values{"verb": {"hand"}, "id": {args[0]}, "to": {strings.Join(args[1:], " ")}})
		},
	}
}
