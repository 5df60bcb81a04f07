package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/visible"
	"github.com/metnos/vaglio/internal/strictjson"
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
			var a linkAnswer
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
			var a approvalsAnswer
			if err := askDaemon(cmd.Context(), http.MethodGet, "/pending", &a); err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), a)
			}
			return writePending(cmd.OutOrStdout(), a.Approvals, time.Now())
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
		Args:    oneArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			var a approvalsAnswer
			if err := askDaemon(cmd.Context(), http.MethodGet, "/why/"+url.PathEscape(args[0]), &a); err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), a)
			}
			return writeWhy(cmd.OutOrStdout(), a.Approvals)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func writeJSON(w io.Writer, v any) error {
	b, err := strictjson.Marshal(v)
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// oneLine is an agent's text on a line of a table: made visible, and cut where
// a table has to cut. `why` shows the whole.
func oneLine(s string, most int) string {
	r := []rune(visible.Text(strings.Join(strings.Fields(s), " ")))
	if len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return string(r)
}

func writePending(w io.Writer, waiting []account, now time.Time) error {
	if len(waiting) == 0 {
		_, err := fmt.Fprintln(w, "Nothing waits for you.")
		return err
	}
	var b strings.Builder
	b.WriteString("ID\tAGENT\tTOOL\tCALL\tWHY\tLEFT\n")
	for i := range waiting {
		a := &waiting[i]
		call := a.Command
		if call == "" {
			call = a.Args
		}
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\t%s\t%s\n", a.ID, oneLine(a.Agent, 16), oneLine(a.Executor, 20),
			oneLine(call, 44), oneLine(a.Verdict.Reason, 44), max(0, a.ExpiresAt.Sub(now)).Round(time.Second))
	}
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	if _, err := io.WriteString(table, b.String()); err != nil {
		return err
	}
	return table.Flush()
}

// writeWhy writes each account in full.
func writeWhy(w io.Writer, all []account) error {
	var b strings.Builder
	for i := range all {
		if i > 0 {
			b.WriteByte('\n')
		}
		all[i].write(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// write writes the account as lines "name  value". Everything that an agent, a
// judge or a person wrote is made visible, and its lines are indented, so that
// none of it can pass for a line of ours.
func (a *account) write(b *strings.Builder) {
	field := func(name, value string) {
		if value == "" {
			return
		}
		for line := range strings.SplitSeq(visible.Text(value), "\n") {
			fmt.Fprintf(b, "%-10s %s\n", name, line)
			name = ""
		}
	}
	field("id", string(a.ID))
	field("state", string(a.State))
	field("agent", a.Agent)
	field("turn", a.TurnID)
	field("intent", a.Intent)
	field("tool", a.Executor)
	field("command", a.Command)
	field("arguments", a.Args)
	field("folder", a.Cwd)
	field("mounts", strings.Join(a.Mounts, "\n"))
	if a.State == stateRefused {
		field("refused", stamp(a.OpenedAt))
	} else {
		field("asked", stamp(a.OpenedAt)+", until "+stamp(a.ExpiresAt))
	}
	if r := a.Verdict.Rule; r != nil {
		field("denied by", "the guard, for good, by its rule "+r.ID)
	} else {
		field("denied by", fmt.Sprintf("%s, score %.2f", a.Verdict.JudgeKind, a.Verdict.Score))
	}
	field("because", a.Verdict.Reason)
	for _, r := range a.Verdict.Results {
		field("judge", fmt.Sprintf("%s, score %.2f, confidence %.2f", r.Judge, r.Score, r.Confidence))
		field("", r.Reasoning)
		for _, s := range r.Signals {
			field("", fmt.Sprintf("- %s %+.2f %s", s.Category, s.Score, s.Message))
		}
	}
	field("instead", strings.Join(a.Refusal.Alternatives, "\n"))
	if d := a.Decision; d != nil {
		field("decided", fmt.Sprintf("%s by %s (%s) on %s, %s", d.Choice, d.By.Name, d.By.ID, d.Channel, stamp(d.At)))
		field("words", d.Words)
	}
	if p := a.Permit; p != nil {
		field("permit", permitLine(p))
	}
	if o := a.Outcome; o != nil {
		field("run", map[bool]string{true: "succeeded", false: "failed"}[o.Succeeded]+", "+stamp(o.At))
		field("", o.Detail)
	}
}

func permitLine(p *approval.Permit) string {
	if !p.SpentAt.IsZero() {
		return "spent " + stamp(p.SpentAt)
	}
	return "unspent, lapses " + stamp(p.LapsesAt)
}

func stamp(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }
