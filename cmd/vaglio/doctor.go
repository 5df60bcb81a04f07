package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/visible"
	"github.com/metnos/vaglio/channels/telegram"
)

func newDoctor(std stdio) *cobra.Command {
	d := &doctor{std: std}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find out what keeps you from being asked, and what helps",
		Long: `Look at everything between an agent's call and your answer: the configuration,
the policy, the files and the room for them, the store, the audit log, the sockets
and the address, and each channel: the tokens and scopes, who is paired, whether the chat takes
messages, who may decide and can see the cards, where presses go, and the clock.

A running daemon is asked to look at what only it can, with the settings that it
was started with. Without one the store is opened for reading, and each channel is
looked at with the settings here.

Nothing is changed, and no secret is shown. The chat sees for a moment that the bot
is typing; without a daemon another program that polls with the same token may be
interrupted once. --tap sends a test card and waits two minutes for a press of its
button; it decides nothing.

Exit codes: 0 nothing is wrong, 1 something is, also in the configuration, 2 a
mistake in the command line.`,
		Example: "  vaglio doctor\n  vaglio doctor --tap\n  vaglio doctor --json",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return d.run(cmd.Context()) },
	}
	f := cmd.Flags()
	f.BoolVar(&d.asJSON, "json", false, "print JSON")
	f.BoolVar(&d.tap, "tap", false, "send a test card and wait for a press of its button")
	f.StringVar(&d.api, "telegram-api", "", "address of the Bot API when no daemon runs, for trying and testing")
	f.StringVar(&d.slackAPI, "slack-api", "", "address of Slack's Web API when no daemon runs, for trying and testing")
	f.Lookup("telegram-api").Hidden = true
	f.Lookup("slack-api").Hidden = true
	return cmd
}

// doctor is one run of `vaglio doctor`.
type doctor struct {
	std         stdio
	asJSON, tap bool
	api         string
	slackAPI    string

	config config
	chart
	// rehearse sends a test card on a channel; channels are those that there are.
	rehearse func(ctx context.Context, channel string) approval.Finding
	channels []string
}

// patient is a channel that can be looked at.
type patient interface {
	// Name is the channel's name in records.
	Name() string
	// Examine looks at how the channel stands, and changes nothing. alone says
	// that no daemon uses it.
	Examine(ctx context.Context, alone bool) []approval.Finding
	// Rehearse sends a test card and returns who pressed its button.
	Rehearse(ctx context.Context, alone bool) (approval.Person, error)
}

const (
	// examineFor bounds how long the daemon may look; its calls to a platform
	// have limits of their own.
	examineFor = time.Minute
	// rehearseFor bounds how long a test card takes, with its way there and back.
	rehearseFor = telegram.RehearsalLives + 30*time.Second
)

// chart is what was found so far.
type chart struct {
	Findings []approval.Finding `json:"findings"`
}

func (c *chart) found(subject string, g approval.Grade, text, remedy string) {
	c.Findings = append(c.Findings, approval.Finding{Subject: subject, Grade: g, Text: text, Remedy: remedy})
}

// wrong counts the problems.
func (c *chart) wrong() int {
	n := 0
	for _, f := range c.Findings {
		if f.Grade == approval.Wrong {
			n++
		}
	}
	return n
}

func (d *doctor) run(ctx context.Context) error {
	if err := errors.Join(telegramAPI(d.api), slackAPI(d.slackAPI)); err != nil {
		return err
	}
	d.configuration()
	var seen examination
	err := askDaemonFor(ctx, examineFor, http.MethodPost, "/doctor", &seen)
	_, misplaced := errors.AsType[*configError](err)
	switch {
	case err == nil:
		d.besideDaemon(ctx, &seen)
	case errors.Is(err, errNoDaemon):
		d.withoutDaemon(ctx)
	case !misplaced: // told as a mistake in the configuration already
		d.found("daemon", approval.Wrong, "The daemon does not answer: "+sentence(err.Error()),
			"Run this as the user who serves; if that is you, restart the daemon, which may be another version.")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return d.report(ctx)
}

// report tells what was found, and rehearses where that is wanted.
func (d *doctor) report(ctx context.Context) error {
	told := 0
	tell := func() error {
		if d.asJSON {
			return nil
		}
		defer func() { told = len(d.Findings) }()
		return writeFindings(d.std.out, d.Findings[told:])
	}
	if err := tell(); err != nil {
		return err
	}
	if d.tap {
		if err := d.tapAll(ctx); err != nil {
			return err
		}
		if err := tell(); err != nil {
			return err
		}
	}
	if err := d.conclude(); err != nil {
		return err
	}
	if d.wrong() > 0 {
		return &exitError{exitFailed, nil}
	}
	return nil
}

// tapAll sends a test card on each channel, one after the other.
func (d *doctor) tapAll(ctx context.Context) error {
	if len(d.channels) == 0 {
		d.found("tap", approval.Wrong, "There is no channel that a test card could go to.",
			"Set METNOS_TELEGRAM_TOKEN or METNOS_SLACK_BOT_TOKEN where the daemon is started; docs/telegram.md and docs/slack.md tell how.")
		return nil
	}
	for _, channel := range d.channels {
		tell(d.std.err, fmt.Sprintf("A test card goes to you on %s: press its button within %.0f minutes.", channel, telegram.RehearsalLives.Minutes()))
		f := d.rehearse(ctx, channel)
		if err := ctx.Err(); err != nil {
			return err
		}
		d.Findings = append(d.Findings, f)
	}
	return nil
}

// rehearsed says how a test card fared.
func rehearsed(channel string, by approval.Person, took time.Duration, err error) approval.Finding {
	f := approval.Finding{Subject: channel + " tap", Grade: approval.Wrong}
	switch {
	case err == nil:
		f.Grade = approval.Fine
		f.Text = fmt.Sprintf("%s (%s) pressed the test card's button, and it was heard after %s.",
			visible.Text(by.Name), by.ID, took.Round(100*time.Millisecond))
	case errors.Is(err, approval.ErrUntapped):
		f.Text = "Nobody who may decide pressed the test card's button in time, or the press went elsewhere."
		f.Remedy = "If you did press it, look for who may decide and where presses go above; else run it again and press."
	case errors.Is(err, approval.ErrUnpaired):
		f.Text = "There is no chat yet that a test card could go to."
		f.Remedy = "Run 'vaglio pair' while the daemon serves, and send the bot what it prints."
	default:
		f.Text = "The test card could not be sent, or its press not be fetched: " + err.Error() + "."
		f.Remedy = "Mend what is wrong above, and run it again."
	}
	return f
}

// conclude tells how many problems there are, or writes everything as JSON.
func (d *doctor) conclude() error {
	if d.asJSON {
		return writeJSON(d.std.out, struct {
			OK       bool               `json:"ok"`
			Findings []approval.Finding `json:"findings"`
		}{d.wrong() == 0, slices.Clip(d.Findings)})
	}
	text := "Nothing is wrong."
	switch n := d.wrong(); n {
	case 0:
	case 1:
		text = "One problem."
	default:
		text = fmt.Sprintf("%d problems.", n)
	}
	_, err := fmt.Fprintln(d.std.out, text)
	return err
}

// writeFindings writes one line each, and the remedies below the problems.
func writeFindings(w io.Writer, all []approval.Finding) error {
	var b strings.Builder
	for _, f := range all {
		label := fmt.Sprintf("%-8s %-17s ", f.Grade, f.Subject)
		for line := range strings.SplitSeq(visible.Text(f.Text), "\n") {
			b.WriteString(label + line + "\n")
			label = strings.Repeat(" ", len(label))
		}
		if f.Remedy != "" {
			b.WriteString(strings.Repeat(" ", 27) + "→ " + visible.Text(f.Remedy) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sentence ends a text as one.
func sentence(s string) string {
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}
