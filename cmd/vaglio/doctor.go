package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/platform"
	"github.com/metnos/vaglio/channels/slack"
	"github.com/metnos/vaglio/channels/telegram"
	"github.com/metnos/vaglio/gateway/install"
	"github.com/metnos/vaglio/gateway/owner"
	"github.com/metnos/vaglio/gateway/trial"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/doctor"
	"github.com/metnos/vaglio/internal/instance"
	"github.com/metnos/vaglio/internal/judging"
	"github.com/metnos/vaglio/internal/policyfile"
	"github.com/metnos/vaglio/internal/terminal"
	"github.com/metnos/vaglio/store/bolt"
	"github.com/metnos/vaglio/templates"
)

func newDoctor(std stdio) *cobra.Command {
	d := &examining{std: std}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find out what keeps you from being asked, and how to fix it",
		Long: `Check everything between an agent's call and your answer: the configuration, the
policy, files and disk space, the store, the audit log, the sockets and the address.
For each channel: tokens and scopes, who is paired, whether the chat takes messages,
who may decide and can see the cards, where presses go, and the clock.

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

// examining is one run of `vaglio doctor`.
type examining struct {
	std         stdio
	asJSON, tap bool
	api         string
	slackAPI    string

	config config
	doctor.Doctor
	// rehearse sends a test card on a channel; channels are the names of the available ones.
	rehearse func(ctx context.Context, channel string) approval.Finding
	channels []string
}

const (
	// examineFor bounds how long the daemon may examine itself; its calls to a platform have
	// limits of their own.
	examineFor = time.Minute
	// rehearseFor bounds how long a test card may take, including the way there and back.
	rehearseFor = platform.RehearsalLives + 30*time.Second
)

func (d *examining) run(ctx context.Context) error {
	if err := errors.Join(telegramAPI(d.api), slackAPI(d.slackAPI)); err != nil {
		return err
	}
	d.configuration()
	var seen doctor.Examination
	err := askDaemonFor(ctx, examineFor, http.MethodPost, "/doctor", &seen)
	_, misplaced := errors.AsType[*configError](err)
	switch {
	case err == nil:
		d.BesideDaemon(ctx, &seen)
		d.channels, d.rehearse = seen.Channels, rehearseThere
	case errors.Is(err, owner.ErrNoDaemon):
		d.withoutDaemon(ctx)
	case !misplaced: // otherwise reported as a mistake in the configuration already
		d.Found("daemon", approval.Wrong, "The daemon does not answer: "+terminal.Sentence(err.Error()),
			"Run this as the user who serves; if that is you, restart the daemon, which may be another version.")
	}
	if err != nil {
		d.Sandbox(ctx)
	}
	d.hooks(&seen)
	d.models(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	return d.report(ctx)
}

// hooks notes that no coding agent asks. Where the gate has a user of its own, the agents' hooks are
// in other homes.
func (d *examining) hooks(seen *doctor.Examination) {
	if d.config.Home != "" && !seen.Shared && len(install.Find(d.config.Home)) == 0 {
		d.Found("agents", approval.Noted, "No coding agent of this user has vaglio's hook; 'vaglio install claude-code' and the like add it.", "")
	}
}

// models probes the policy's models. An unreadable policy has been reported already.
func (d *examining) models(ctx context.Context) {
	p, err := policyfile.Load(d.config.Policy, d.config.Home)
	if err != nil {
		return
	}
	for _, f := range judging.Probe(ctx, d.config.judges(p, judging.Offline(passingMasker().Masker))) {
		d.Found(f.Subject, f.Grade, terminal.Sentence(f.Text), f.Remedy)
	}
}

// report writes the findings, and rehearses if requested.
func (d *examining) report(ctx context.Context) error {
	told := 0
	tell := func() error {
		if d.asJSON {
			return nil
		}
		defer func() { told = len(d.Findings) }()
		return doctor.Write(d.std.out, d.Findings[told:])
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
	if d.Wrong() > 0 {
		return &exitError{exitFailed, nil}
	}
	return nil
}

// tapAll sends a test card on each channel, one after another.
func (d *examining) tapAll(ctx context.Context) error {
	if len(d.channels) == 0 {
		d.Found("tap", approval.Wrong, "There is no channel that a test card could go to.",
			"Set METNOS_TELEGRAM_TOKEN or METNOS_SLACK_BOT_TOKEN where the daemon is started; docs/telegram.md and docs/slack.md say how.")
		return nil
	}
	for _, channel := range d.channels {
		tell(d.std.err, fmt.Sprintf("A test card goes to you on %s: press its button within %.0f minutes.", channel, platform.RehearsalLives.Minutes()))
		f := d.rehearse(ctx, channel)
		if err := ctx.Err(); err != nil {
			return err
		}
		d.Findings = append(d.Findings, f)
	}
	return nil
}

// conclude writes the number of problems, or everything as JSON.
func (d *examining) conclude() error {
	if d.asJSON {
		return terminal.JSON(d.std.out, struct {
			OK       bool               `json:"ok"`
			Findings []approval.Finding `json:"findings"`
		}{d.Wrong() == 0, slices.Clip(d.Findings)})
	}
	text := "Nothing is wrong."
	switch n := d.Wrong(); n {
	case 0:
	case 1:
		text = "One problem."
	default:
		text = fmt.Sprintf("%d problems.", n)
	}
	_, err := fmt.Fprintln(d.std.out, text)
	return err
}

// configuration reports every mistake in the environment and in the policy.
func (d *examining) configuration() {
	const subject = "configuration"
	c, err := loadConfig()
	c.Telegram.API, c.Slack.API = d.api, d.slackAPI
	d.config = c
	d.Doctor = doctor.Doctor{
		Version: version(), DataDir: c.DataDir, AuditDir: c.auditDir(), Listen: c.Listen,
		Telegram: c.Telegram.Token != "", Slack: c.Slack.on(),
	}
	o, mistake := storeOptions()
	d.Options, err = o, errors.Join(err, mistake)
	if err == nil && c.DataDir != "" {
		err = datafolder.CheckSocketPath(c.path(datafolder.AdminSocket))
	}
	if err == nil {
		d.Found(subject, approval.Fine, "Every setting of this terminal is right.", "")
	} else {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			d.Found(subject, approval.Wrong, terminal.Sentence(line), "Correct it: nothing starts with it. 'vaglio serve --help' lists the settings.")
		}
	}
	p, err := d.policy(c, err == nil)
	switch {
	case err != nil:
		d.Found("policy", approval.Wrong, terminal.Sentence(err.Error()), "Correct the file; 'vaglio policy check' says what it means then.")
	case p.Path == "":
		d.Found("policy", approval.Fine, "No file: any executor may be proposed, and the default judges follow the rules.", "")
	case p.Catalog.Closed():
		d.Found("policy", approval.Fine, terminal.Counted(len(p.Catalog.Names()), "executor is", "executors are")+" known, and any other is refused.", "")
	default:
		d.Found("policy", approval.Fine, terminal.Counted(len(p.Catalog.Names()), "executor is", "executors are")+" known; any other may be proposed, too.", "")
	}
}

// policy reads the policy, and the settings for Slack that follow from it. It checks the policy's
// channels only if the settings are right.
func (d *examining) policy(c config, right bool) (policyfile.Policy, error) {
	p, err := policyfile.Load(c.Policy, c.Home)
	if err == nil && right {
		err = p.CheckChannels(c.chats())
	}
	if err == nil && c.Slack.on() {
		d.config.Slack.Approvers = append(c.Slack.Approvers, policyfile.SlackIDs(&p.Routing)...)
		d.config.Slack.Others = policyfile.RoutedSlackChannels(&p.Routing)
	}
	return p, err
}

// withoutDaemon checks what a start would find.
func (d *examining) withoutDaemon(ctx context.Context) {
	d.Found("daemon", approval.Noted, "None is serving this data folder; this is what a start would find.", "")
	if d.DataDir == "" || d.config.Home == "" {
		return
	}
	if d.config.Texts != nil {
		d.Boundary(d.config.trial(templates.English))
	}
	var notes telegram.Notes
	if d.Files(ctx, func(ctx context.Context, look *bolt.Look) (err error) {
		notes, err = instance.ReadTelegramNotes(ctx, look)
		return err
	}) {
		d.channelsHere(ctx, notes)
	} else {
		d.Found("telegram", approval.Unseen, "Not checked: what it needs is in the store.", "")
	}
}

// notebook holds notes and stores no changes.
type notebook struct{ notes telegram.Notes }

// Load returns the notes.
func (n notebook) Load(context.Context) (telegram.Notes, error) { return n.notes, nil }

// Save does nothing: the doctor changes nothing.
func (notebook) Save(context.Context, telegram.Notes) error { return nil }

// blankSlack is empty and stores nothing.
type blankSlack struct{}

// Load returns no notes: an examination needs none.
func (blankSlack) Load(context.Context) (slack.Notes, error) { return slack.Notes{}, nil }

// Save does nothing: the doctor changes nothing.
func (blankSlack) Save(context.Context, slack.Notes) error { return nil }

// channelsHere examines the channels with this terminal's settings.
func (d *examining) channelsHere(ctx context.Context, notes telegram.Notes) {
	var patients []doctor.Patient
	if d.config.Telegram.Token == "" {
		d.Found("telegram", approval.Noted, "It is off: METNOS_TELEGRAM_TOKEN is not set.", "")
	} else if telegram.CheckToken(string(d.config.Telegram.Token)) != nil {
		d.Found("telegram", approval.Unseen, "Not looked at: its settings are wrong.", "")
	} else if bot, err := newBot(ctx, &d.config, notebook{notes}, slog.New(slog.DiscardHandler)); err != nil {
		d.Found("telegram token", approval.Wrong, terminal.Sentence(err.Error()), "Take the token from BotFather, whole.")
	} else {
		patients = append(patients, bot)
	}
	if !d.config.Slack.on() {
		d.Found("slack", approval.Noted, "It is off: METNOS_SLACK_BOT_TOKEN is not set.", "")
	} else if d.Wrong() > 0 && d.config.Slack.check() != nil {
		d.Found("slack", approval.Unseen, "Not looked at: its settings are wrong.", "")
	} else if app, err := newSlack(ctx, &d.config, blankSlack{}, slog.New(slog.DiscardHandler)); err != nil {
		d.Found("slack", approval.Wrong, terminal.Sentence(err.Error()), "Correct it: nothing starts with it. docs/slack.md says where each setting comes from.")
	} else {
		patients = append(patients, app)
	}
	for _, p := range patients {
		d.channels = append(d.channels, p.Name())
		d.Findings = append(d.Findings, p.Examine(ctx, true)...)
	}
	d.rehearse = func(ctx context.Context, channel string) approval.Finding {
		return doctor.Rehearse(ctx, patients, channel, true)
	}
}

// rehearseThere makes the daemon send a test card.
func rehearseThere(ctx context.Context, channel string) approval.Finding {
	var r doctor.Rehearsal
	if err := askDaemonFor(ctx, rehearseFor, http.MethodPost, "/doctor/tap/"+channel, &r); err != nil {
		return doctor.Rehearsed(channel, approval.Person{}, 0, err)
	}
	return r.Finding
}

// addTrials adds a subcommand for each client that can be tried.
func addTrials(doctor *cobra.Command, std stdio) {
	for _, r := range trial.Recipes() {
		doctor.AddCommand(&cobra.Command{
			Use: r.Client, Short: "Run " + r.Client + " against a scripted model, and check its hook",
			Long: `Run ` + r.Program + ` with your own settings, against a model that says what it was
told to and a daemon that is there for that alone: an approved call must run, a
denied one must not, and one that waits ten seconds for its answer must wait.
Nobody is asked, and nothing happens outside of a folder that is removed.

Exit codes: 0 the hook does its work, 1 it does not, or the client cannot be run, 2 a
mistake in the command line.`,
			Example: "  vaglio doctor " + r.Client,
			Args:    noArgs,
			RunE:    func(cmd *cobra.Command, _ []string) error { return tryClient(cmd.Context(), std, r) },
		})
	}
}

func tryClient(ctx context.Context, std stdio, r trial.Recipe) error {
	program, err := exec.LookPath(r.Program)
	if err != nil {
		return fmt.Errorf("%s is not on the PATH: install it, or add its folder to PATH", r.Program)
	}
	const patience = 2 * time.Minute
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	findings, err := trial.Examine(ctx, r, program, tokenHere(r.Client), environ())
	if err != nil {
		return err
	}
	more, err := farGates(ctx, r.Client)
	if err != nil {
		return err
	}
	code := exitOK
	for _, f := range append(findings, more...) {
		line := "ok     " + f.What
		if f.Wrong != "" {
			line, code = "WRONG  "+f.What+": "+f.Wrong, exitFailed
		}
		tell(std.out, line)
	}
	if code != exitOK {
		return &exitError{code: code}
	}
	return nil
}

// farGates checks that the daemon on another machine that a client's hook asks, if any, can be
// reached.
func farGates(ctx context.Context, client string) (found []trial.Finding, err error) {
	o := install.Options{Client: client}
	if err := locate(&o); err != nil {
		return nil, err
	}
	for _, o.Scope = range []install.Scope{install.User, install.Project, install.Managed} {
		s, err := install.Look(o)
		if err != nil || !s.Installed || s.Limits.At == "" {
			continue
		}
		f := trial.Finding{What: "the daemon at " + s.Limits.At + " knows the agent"}
		if err := reaches(ctx, s.Limits); err != nil {
			f.Wrong = err.Error()
		}
		found = append(found, f)
	}
	return found, nil
}
