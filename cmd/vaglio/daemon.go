package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/slack"
	"github.com/metnos/vaglio/channels/telegram"
	"github.com/metnos/vaglio/channels/web"
	"github.com/metnos/vaglio/channels/web/passkey"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/gateway/httpapi"
	"github.com/metnos/vaglio/gateway/install"
	"github.com/metnos/vaglio/gateway/owner"
	"github.com/metnos/vaglio/gateway/resume"
	"github.com/metnos/vaglio/internal/agents"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/doctor"
	"github.com/metnos/vaglio/internal/hosts"
	"github.com/metnos/vaglio/internal/instance"
	"github.com/metnos/vaglio/internal/itself"
	"github.com/metnos/vaglio/internal/judging"
	"github.com/metnos/vaglio/internal/lineage"
	"github.com/metnos/vaglio/internal/policyfile"
	"github.com/metnos/vaglio/internal/resident"
	"github.com/metnos/vaglio/internal/seals"
	"github.com/metnos/vaglio/internal/unasked"
	"github.com/metnos/vaglio/store/bolt"
	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/audit"
	models "github.com/metnos/vaglio/vaglio/judge/model"
)

// daemon is everything that serves, wired together.
type daemon struct {
	config     config
	log        *slog.Logger
	store      *bolt.DB
	audit      *audit.Log
	agents     *agents.Agents
	meters     *models.Meters
	dispatcher *dispatcher.Dispatcher
	passkeys   *passkey.Ring
	inbox      *web.Web
	// bot is nil without a token.
	bot *telegram.Channel
	// slack is nil without a token.
	slack   *slack.Channel
	api     *httpapi.API
	resumes *resume.Webhooks
	fronts  []front
	closers []func() error
	// rules is the policy.
	rules policyfile.Policy
	// address is where the local listener listens, and remote where the one for other machines
	// does, "" if there is none.
	address, remote string
	// connections and waiters are what the system's limits leave us.
	connections, waiters int
	// watch watches the files that put the gate in front of agents.
	watch *seals.Watch
	// silences notices agents' sessions that go on without asking.
	silences *unasked.Watch
	// rotating is held while keys are rotated.
	rotating sync.Mutex
	// stopping is closed when the shutdown begins.
	stopping chan struct{}
}

// path returns the path of a file in the data folder.
func (c *config) path(file string) string { return filepath.Join(c.DataDir, file) }

// auditDir returns the folder of the audit log. It is not configurable: METNOS_DATA_DIR does not
// move it.
func (c *config) auditDir() string {
	return filepath.Join(c.Home, ".local", "share", "metnos", "vaglio")
}

// open builds the daemon. It takes the store's lock first: a second daemon must not touch the first
// one's sockets.
//
//nolint:cyclop // One step after the other; each may end it.
func open(ctx context.Context, c config, p policyfile.Policy, log *slog.Logger) (_ *daemon, err error) {
	d := &daemon{config: c, log: log, rules: p, watch: seals.New(c.itself(p.Path).Files()), silences: unasked.New(c.Home), stopping: make(chan struct{})}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.close())
		}
	}()
	if err := datafolder.Open(c.DataDir); err != nil {
		return nil, err
	}
	if d.store, err = openStore(c.path(datafolder.StoreFile)); err != nil {
		return nil, err
	}
	d.closers = append(d.closers, d.store.Close)
	if err := datafolder.RemoveOrphans(c.DataDir); err != nil {
		log.WarnContext(ctx, "the remains of a killed daemon could not be removed", "error", err)
	}
	secrets, err := instance.LoadSecrets(ctx, d.store)
	if err != nil {
		return nil, err
	}
	if err := openAgents(ctx, d, &p); err != nil {
		return nil, err
	}
	// People who decide by a route must be listened to.
	d.config.Telegram.Approvers = append(slices.Clone(c.Telegram.Approvers), policyfile.TelegramIDs(&p.Routing)...)
	if d.config.Slack.on() {
		d.config.Slack.Approvers = append(slices.Clone(c.Slack.Approvers), policyfile.SlackIDs(&p.Routing)...)
		if d.config.Slack.Others, err = policyfile.SlackOthers(ctx, d.store, &p.Routing); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(d.openTelegram(ctx), d.openSlack(ctx)); err != nil {
		return nil, err
	}
	if d.passkeys, err = passkey.Open(ctx, instance.Passkeys{Store: d.store}); err != nil {
		return nil, err
	}
	if err := d.openDispatcher(ctx, p, secrets); err != nil {
		return nil, err
	}
	if err := d.beginHistory(ctx); err != nil {
		return nil, err
	}
	if err := errors.Join(d.openFronts(ctx, p, secrets), d.tellPolicy(ctx), d.resumeRotation(ctx, secrets)); err != nil {
		return nil, err
	}
	return d, d.listen(ctx)
}

// openDispatcher builds the engine and the dispatcher.
func (d *daemon) openDispatcher(ctx context.Context, p policyfile.Policy, secrets instance.Secrets) (err error) {
	if d.audit, err = audit.Open(d.config.auditDir(), d.log); err != nil {
		return err
	}
	d.closers = append(d.closers, d.audit.Close)
	masker := approval.NewMasker(secrets.Names)
	means := judging.Stored(d.store, masker.Masker)
	d.meters = means.Meters
	engine, err := newEngine(ctx, d.config, p, maskedLog{d.audit, masker}, d.log, means)
	if err != nil {
		return err
	}
	effects, err := effectsOf(d.config, p, engine)
	if err != nil {
		return err
	}
	channels := []dispatcher.Channel{web.Channel{}}
	if d.bot != nil {
		channels = append(channels, d.bot)
	}
	if d.slack != nil {
		channels = append(channels, d.slack)
		for _, at := range d.slack.Conversations() {
			channels = append(channels, at)
		}
	}
	routing := p.Routing
	if d.slack != nil {
		routing.Roster = d.slack.Roster
	}
	signer, err := d.signer()
	if err != nil {
		return err
	}
	d.dispatcher = dispatcher.New(dispatcher.Config{
		Store: d.store, Channels: channels, Engine: engine, Secret: secrets.Names,
		Deciders: dispatcher.Deciders{
			Approvers: []string{web.Owner}, MayDecide: d.mayDecide, Known: d.agents.Known, Routing: routing,
			Passkeys: dispatcher.Passkeys{Holder: web.Owner, Channel: web.Name, Registered: d.passkeys.Any},
			Match:    approval.Match{Channel: web.Name, Reader: web.Owner, Reached: d.config.PublicURL != ""},
		},
		Effects:   effects,
		Deadlines: dispatcher.Deadlines{AskFor: d.config.Deadline, DenialStands: d.config.DenialStands, ValuesFor: d.config.KeepValues},
		Hours:     dispatcher.Hours{Quiet: d.config.Quiet, Digest: d.config.Digest, QuietDays: d.config.QuietDays},
		History:   signer, Log: d.log,
	})
	d.dispatcher.Rekey(permitsOf(secrets))
	return nil
}

// mayDecide reports whether a person on one of the chats may decide.
func (d *daemon) mayDecide(id string) bool {
	return d.bot != nil && d.bot.Approves(id) || d.slack != nil && d.slack.Approves(id)
}

// openFronts builds the agents' API and the inbox.
func (d *daemon) openFronts(ctx context.Context, p policyfile.Policy, secrets instance.Secrets) (err error) {
	d.inbox, err = web.New(ctx, web.Config{
		Desk: d.dispatcher, Book: d.dispatcher, Propose: d.try, Judgement: d.dispatcher.Judgement, Samples: samples(),
		Thresholds: judging.Thresholds(d.config.judges(p, judging.Means{})),
		Texts:      d.config.Texts, Lang: d.config.Lang, Zone: d.config.Zone, Trial: d.config.shared(),
		Secret: secrets.Rights, Sessions: instance.Sessions{Store: d.store}, SignedIn: d.signedIn,
		Passkeys: d.passkeys, PasskeysChange: d.announce, Public: d.config.PublicURL, Log: d.log,
	})
	if err != nil {
		return err
	}
	if d.resumes, err = newResumes(d.config, p.ResumeURLs, d.store, d.log); err != nil {
		return err
	}
	d.connections, d.waiters = capacity()
	d.api, err = httpapi.New(httpapi.Config{
		Proposals: asking{d.dispatcher, d.silences}, Permits: d.dispatcher, Turns: d.dispatcher, Resumes: d.resumes,
		Tokens: d.agents, Peers: d.agents,
		Known: d.inbox.Known, Ready: d.ready, Warnings: d.warnings, Leaves: d.leaves, Channels: d.dispatcher.Channels, Further: d.meters.WritePrometheus, MaxWaiters: min(d.waiters, httpapi.DefaultMaxWaiters), Log: d.log,
	})
	return err
}

// newResumes builds the webhooks that report how calls ended. It creates a key only if the policy
// permits addresses.
func newResumes(c config, allowed []hosts.Prefix, store resume.Store, log *slog.Logger) (*resume.Webhooks, error) {
	var key resume.Key
	if len(allowed) > 0 {
		var err error
		if key, err = resume.LoadKey(c.path(datafolder.ResumeFile)); err != nil {
			return nil, err
		}
	}
	return resume.New(resume.Config{Store: store, Allowed: allowed, Key: key, Log: log}), nil
}

// asking notes which sessions ask before their proposals are judged.
type asking struct {
	*dispatcher.Dispatcher
	silences *unasked.Watch
}

func (a asking) ProposePlan(ctx context.Context, agent string, rs []dispatcher.Request) ([]approval.Answer, error) {
	for i := range rs {
		a.silences.Asked(agent, &rs[i].Proposal)
	}
	return a.Dispatcher.ProposePlan(ctx, agent, rs)
}

// unasked announces that a session goes on without asking.
func (d *daemon) unasked(ctx context.Context, s unasked.Silence) error { //nolint:gocritic // As the watch hands it on.
	return d.announce(ctx, approval.Announcement{Kind: approval.Unasked, Agent: s.Agent, Detail: s.Tools()})
}

// ready returns an error unless proposals can be answered and stored.
func (d *daemon) ready(ctx context.Context) error {
	select {
	case <-d.stopping:
		return dispatcher.ErrStopping
	default:
	}
	if err := d.store.Ping(ctx); err != nil {
		return err
	}
	return d.audit.Check()
}

// try proposes a call from the inbox's page Try it.
func (d *daemon) try(ctx context.Context, agent string, p vaglio.Proposal) (approval.Answer, error) {
	a, err := d.dispatcher.Propose(ctx, agent, dispatcher.Request{Proposal: p})
	if bad := vaglio.Mistake(err); bad != nil {
		return a, &web.InputError{Err: bad}
	}
	return a, err
}

// owner returns the handler of the owner's side.
func (d *daemon) owner() http.Handler {
	return owner.NewHandler(owner.Config{
		Judgements: d.dispatcher.JudgementsOf, History: d.dispatcher.History,
		Desk: d.dispatcher, Orders: d.dispatcher, By: approval.Person{ID: web.Owner, Name: "Owner"}, Channel: web.Name, Link: d.link, Pair: d.pair, Doctor: d.doctor(),
		Rotate: d.rotate, Sessions: inboxSessions{d}, Passkeys: inboxPasskeys{d.inbox}, Agents: toldAgents{agentDesk{d.agents, d.config, d.rules}, d.dispatcher},
		Above:    func(pid int) (lineage.Line, error) { return lineage.Of(lineage.System, pid) },
		Programs: install.Programs(),
		Texts:    d.config.Texts.In(d.config.Lang, d.config.Zone),
		Tree:     d.store, Crashes: d.runs().Crashes, Checkpoint: d.dispatcher.Checkpoint, Backup: d.store.Backup, Log: d.log,
	})
}

// doctor returns what the doctor can examine from within the daemon.
func (d *daemon) doctor() *doctor.Daemon {
	x := &doctor.Daemon{
		Version: version(), Address: func() string { return d.address }, Public: d.config.PublicURL, AuditDir: d.config.auditDir(),
		Policy: d.rules.Path, Rules: d.rules.Text(), Store: d.store, Audit: d.audit,
		Unread: d.dispatcher.Unread, Health: d.dispatcher.Channels,
		Telegram: d.bot != nil, Slack: d.slack != nil, Stopping: d.stopping,
		Gate: d.watch, Off: func() []string { return itself.Off(d.config.Home) }, Silences: d.silences.Found,
		Trial: d.config.trial(templates.English), AgentSocket: d.config.AgentSocket,
	}
	if d.bot != nil {
		x.Patients = append(x.Patients, d.bot)
	}
	if d.slack != nil {
		x.Patients = append(x.Patients, d.slack)
	}
	return x
}

// base returns the address at which people reach the inbox: the proxy's if there is one, else the
// one on this machine.
func (d *daemon) base() string {
	if d.config.PublicURL != "" {
		return d.config.PublicURL
	}
	return "http://" + d.address
}

// link returns a one-time link to the inbox.
func (d *daemon) link() string { return d.inbox.LoginLink(d.base()) }

// runs returns the record of this store's runs.
func (d *daemon) runs() instance.Runs { return instance.Runs{Store: d.store} }

// run serves until ctx ends or a part fails, and then shuts down in order: it stops being ready,
// tells waiters, drains answers, and stops the dispatcher last.
func (d *daemon) run(ctx context.Context) error {
	// The dispatcher outlives the fronts, because answers in flight need it.
	working, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	err := together(ctx,
		func(ctx context.Context) error { return d.dispatch(ctx, working) },
		d.mindStore,
		d.resumes.Run,
		resident.Run,
		func(context.Context) error { return d.audit.Run(working) },
		func(ctx context.Context) error { return d.watch.Run(ctx, d.log) },
		func(ctx context.Context) error { return d.silences.Run(ctx, d.log, d.unasked) },
		func(ctx context.Context) error {
			if d.bot == nil {
				return nil
			}
			return d.bot.Run(ctx, d.dispatcher)
		},
		func(ctx context.Context) error {
			if d.slack == nil {
				return nil
			}
			return d.slack.Run(ctx, d.dispatcher)
		},
		func(ctx context.Context) error {
			defer end()
			return d.serveFronts(ctx)
		},
	)
	// Either mindStore or a part that was about to write noticed it first.
	if broken, ok := errors.AsType[*bolt.BrokenError](err); ok {
		return &exitError{exitBroken, broken}
	}
	return err
}

// dispatch runs the dispatcher, and records whether it ended cleanly. The gate works even if that
// cannot be recorded.
func (d *daemon) dispatch(ctx, working context.Context) error {
	crashed, err := d.runs().Begin(ctx, time.Now())
	if err != nil {
		d.log.ErrorContext(ctx, "the start could not be recorded, so a crash of this daemon would go unnoticed", "error", err)
	}
	if crashed {
		d.log.WarnContext(ctx, "the daemon before did not end in order: calls that were under way are only in the audit log")
	}
	if failed := d.dispatcher.Run(working); failed != nil || err != nil {
		return failed
	}
	return d.runs().End(context.WithoutCancel(ctx)) // Everything queued has been written.
}

// mindStore ends the process if the store has stopped: only reopening the file shows what is on
// disk.
func (d *daemon) mindStore(ctx context.Context) error {
	select {
	case <-d.store.Broken():
		return d.store.Ping(context.WithoutCancel(ctx))
	case <-ctx.Done():
		return nil
	}
}

// close releases everything that open acquired, in reverse order.
func (d *daemon) close() error {
	var errs []error
	for _, c := range slices.Backward(d.closers) {
		errs = append(errs, c())
	}
	d.closers = nil
	return errors.Join(errs...)
}
