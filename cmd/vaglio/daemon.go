package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/slack"
	"github.com/metnos/vaglio/channels/telegram"
	"github.com/metnos/vaglio/channels/web"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/gateway/httpapi"
	"github.com/metnos/vaglio/store/bolt"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/audit"
)

// webChannel is the channel whose buttons the owner's side reads past.
const webChannel = web.Name

// drainFor is how long answers that are being written may take at the end.
const drainFor = 10 * time.Second

// daemon is everything that serves, wired.
type daemon struct {
	config     config
	log        *slog.Logger
	store      *bolt.DB
	audit      *audit.Log
	dispatcher *dispatcher.Dispatcher
	inbox      *web.Web
	// bot is nil without a token.
	bot *telegram.Channel
	// slack is nil without a token.
	slack   *slack.Channel
	api     *httpapi.API
	fronts  []front
	closers []func() error
	// policy is the path of the policy file, and began when it was read.
	policy string
	began  time.Time
	// address is where the network front listens.
	address string
	// connections and waiters are what the system's limits leave us.
	connections, waiters int
	// stopping is closed when the end begins.
	stopping chan struct{}
}

// front is one listener with the server behind it.
type front struct {
	name     string
	listener net.Listener
	server   *http.Server
}

// path returns the path of a file in the data folder.
func (c *config) path(file string) string { return filepath.Join(c.DataDir, file) }

// auditDir is where the audit log is. It is not a parameter: METNOS_DATA_DIR
// does not move it.
func (c *config) auditDir() string {
	return filepath.Join(c.Home, ".local", "share", "metnos", "vaglio")
}

// open builds the daemon. The store's lock comes first: a second daemon must
// not touch the first one's sockets.
//
//nolint:cyclop // One step after the other; each may end it.
func open(ctx context.Context, c config, p policy, log *slog.Logger) (_ *daemon, err error) {
	d := &daemon{config: c, log: log, policy: p.path, began: time.Now(), stopping: make(chan struct{})}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.close())
		}
	}()
	if err := openDataDir(c.DataDir); err != nil {
		return nil, err
	}
	if d.store, err = bolt.Open(c.path(storeFile), bolt.Options{}); err != nil {
		return nil, err
	}
	d.closers = append(d.closers, d.store.Close)
	if err := removeOrphans(c.DataDir); err != nil {
		log.WarnContext(ctx, "what a killed daemon left could not be removed", "error", err)
	}
	secret, err := instanceSecret(ctx, d.store)
	if err != nil {
		return nil, err
	}
	hash, err := agentToken(ctx, d.store, c, log)
	if err != nil {
		return nil, err
	}
	// Who decides by a route must be listened to.
	d.config.Telegram.Approvers = append(slices.Clone(c.Telegram.Approvers), telegramIDs(&p.routing)...)
	if d.config.Slack.on() {
		d.config.Slack.Approvers = append(slices.Clone(c.Slack.Approvers), slackIDs(&p.routing)...)
		if d.config.Slack.Others, err = slackOthers(ctx, d.store, &p.routing); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(d.talk(ctx), d.team(ctx)); err != nil {
		return nil, err
	}
	if err := d.think(p, secret); err != nil {
		return nil, err
	}
	if err := d.beginHistory(ctx); err != nil {
		return nil, err
	}
	if err := d.face(ctx, p, secret, hash); err != nil {
		return nil, err
	}
	return d, d.listen(ctx)
}

// think builds the engine and the dispatcher over it.
func (d *daemon) think(p policy, secret approval.Secret) (err error) {
	if d.audit, err = audit.Open(d.config.auditDir(), d.log); err != nil {
		return err
	}
	d.closers = append(d.closers, d.audit.Close)
	engine, err := newEngine(d.config, p, maskedLog{d.audit, approval.NewMasker(secret)}, d.log)
	if err != nil {
		return err
	}
	reader, err := newEffects(d.config, p)
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
	routing := p.routing
	if d.slack != nil {
		routing.Roster = d.slack.Roster
	}
	signer, err := d.signer()
	if err != nil {
		return err
	}
	d.dispatcher = dispatcher.New(dispatcher.Config{
		Store: d.store, Channels: channels, Engine: engine, Secret: secret,
		Deciders:  dispatcher.Deciders{Approvers: []string{web.Owner}, MayDecide: d.mayDecide, Routing: routing},
		Effects:   dispatcher.Effects{Traits: traitsOf(reader), Name: reader.Key},
		Deadlines: dispatcher.Deadlines{AskFor: d.config.Deadline},
		Hours:     dispatcher.Hours{Quiet: d.config.Quiet, Digest: d.config.Digest, QuietDays: d.config.QuietDays},
		History:   signer, Log: d.log,
	})
	return nil
}

// mayDecide reports whether somebody on one of the chats may.
func (d *daemon) mayDecide(id string) bool {
	return d.bot != nil && d.bot.Approves(id) || d.slack != nil && d.slack.Approves(id)
}

// face builds the two sides that are spoken to: the agents' API and the inbox.
func (d *daemon) face(ctx context.Context, p policy, secret approval.Secret, token [32]byte) (err error) {
	memory := endedMemory{d.store}
	ended, err := memory.load(ctx)
	if err != nil {
		return fmt.Errorf("read the ended sessions: %w", err)
	}
	d.inbox, err = web.New(web.Config{
		Desk: d.dispatcher, Book: d.dispatcher, Propose: d.try, Samples: samples(),
		Thresholds: thresholds(d.config, p),
		Texts:      d.config.Texts, Lang: d.config.Lang, Zone: d.config.Zone,
		Secret: secret, Ended: ended, KeepEnded: memory.save, Public: d.config.PublicURL, Log: d.log,
	})
	if err != nil {
		return err
	}
	d.connections, d.waiters = capacity()
	d.api, err = httpapi.New(httpapi.Config{
		Proposals: d.dispatcher, Permits: d.dispatcher, Turns: d.dispatcher,
		Tokens: httpapi.Tokens{{Agent: tokenAgent, Hash: token}},
		Ready:  d.ready, Warnings: d.warnings, Leaves: d.leaves, Channels: d.dispatcher.Channels, MaxWaiters: min(d.waiters, httpapi.DefaultMaxWaiters), Log: d.log,
	})
	return err
}

// capacity asks the system how many connections fit.
func capacity() (connections, waiters int) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		limit.Cur = 1024 // what systems give at least
	}
	return httpapi.Capacity(limit.Cur)
}

// ready tells whether proposals can be answered and kept.
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

// try proposes a call of the inbox's page Try it.
func (d *daemon) try(ctx context.Context, agent string, p vaglio.Proposal) (approval.Answer, error) {
	a, err := d.dispatcher.Propose(ctx, agent, dispatcher.Request{Proposal: p})
	if bad := mistakeOf(err); bad != nil {
		return a, &web.InputError{Err: bad}
	}
	return a, err
}

// listen opens the sockets and the address. The sockets of a killed daemon are
// replaced: we hold its store.
func (d *daemon) listen(ctx context.Context) error {
	agents, err := listenUnix(ctx, d.config.path(agentSocket))
	if err != nil {
		return err
	}
	limit := httpapi.NewLimiter(d.connections)
	d.front("agents' socket", limit.Wrap(agents), d.api.Local())
	owners, err := listenUnix(ctx, d.config.path(adminSocket))
	if err != nil {
		return err
	}
	d.front("owner's socket", owners, d.admin().handler())
	tcp, err := new(net.ListenConfig).Listen(ctx, "tcp", d.config.Listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s is taken by another program: stop it, or set METNOS_LISTEN to another address", d.config.Listen)
	}
	if err != nil {
		return fmt.Errorf("METNOS_LISTEN: %w", err)
	}
	d.address = tcp.Addr().String()
	d.front("address", limit.Wrap(tcp), d.site())
	return nil
}

// admin is the owner's side.
func (d *daemon) admin() *admin {
	return &admin{
		desk: d.dispatcher, link: d.link, pair: d.pair, examine: d.examine, rehearse: d.rehearse,
		texts: d.config.Texts.In(d.config.Lang, d.config.Zone),
		tree:  d.store, checkpoint: d.dispatcher.Checkpoint, backup: d.store.Backup, log: d.log,
	}
}

// front adds a listener and the server for it.
func (d *daemon) front(name string, l net.Listener, h http.Handler) {
	d.fronts = append(d.fronts, front{name, l, httpapi.NewServer(h, d.log)})
	d.closers = append(d.closers, func() error {
		if err := l.Close(); !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil
	})
}

// site is what the address serves: the API, and the inbox beside it. It is no
// ServeMux, which would answer an agent's unclean path with a redirect.
func (d *daemon) site() http.Handler {
	inbox, api := d.inbox.Handler(), d.api.Network()
	var bot http.Handler
	if d.config.Telegram.Webhook != "" {
		bot = d.bot.Webhook()
	}
	team := d.slackFront()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case path == "/" && r.Method == http.MethodGet:
			http.Redirect(w, r, "/inbox", http.StatusSeeOther)
		case path == "/inbox" || strings.HasPrefix(path, "/inbox/"):
			inbox.ServeHTTP(w, r)
		case path == telegramPath && bot != nil:
			bot.ServeHTTP(w, r)
		case isSlackPath(path) && team != nil:
			team.ServeHTTP(w, r)
		default:
			api.ServeHTTP(w, r)
		}
	})
}

// base is the address at which a person on this machine reaches us, or the
// proxy's when there is one.
func (d *daemon) base() string {
	if d.config.PublicURL != "" {
		return d.config.PublicURL
	}
	return "http://" + d.address
}

// link makes a one-time link into the inbox.
func (d *daemon) link() string { return d.inbox.LoginLink(d.base()) }

// run serves until ctx ends or a part fails, and then ends in order: not ready,
// waiters told, answers drained, the dispatcher last.
func (d *daemon) run(ctx context.Context) error {
	// The dispatcher outlives the fronts: an answer in flight needs it.
	working, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	return together(ctx,
		func(context.Context) error { return d.dispatcher.Run(working) },
		d.mindStore,
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
}

// mindStore ends the process when the store stopped: what is on disk is known only
// to whoever opens the file anew.
func (d *daemon) mindStore(ctx context.Context) error {
	select {
	case <-d.store.Broken():
		return &exitError{exitBroken, d.store.Ping(context.WithoutCancel(ctx))}
	case <-ctx.Done():
		return nil
	}
}

// serveFronts serves every listener until ctx ends, and then drains them.
func (d *daemon) serveFronts(ctx context.Context) error {
	parts := make([]func(context.Context) error, 0, len(d.fronts)+1)
	for _, f := range d.fronts {
		parts = append(parts, func(context.Context) error {
			if err := f.server.Serve(f.listener); !errors.Is(err, http.ErrServerClosed) {
				return fmt.Errorf("%s: %w", f.name, err)
			}
			return nil
		})
	}
	parts = append(parts, func(ctx context.Context) error {
		<-ctx.Done()
		d.log.InfoContext(ctx, "stopping: agents that wait are told to come back")
		return d.drain(context.WithoutCancel(ctx))
	})
	return together(ctx, parts...)
}

// drain tells everybody who waits to come back and lets answers be written.
func (d *daemon) drain(ctx context.Context) error {
	close(d.stopping)
	d.dispatcher.Stop()
	d.inbox.Stop()
	ctx, cancel := context.WithTimeout(ctx, drainFor)
	defer cancel()
	parts := make([]func(context.Context) error, 0, len(d.fronts))
	for _, f := range d.fronts {
		parts = append(parts, func(ctx context.Context) error {
			if err := f.server.Shutdown(ctx); err != nil {
				d.log.WarnContext(ctx, "connections were cut", "front", f.name, "error", err)
				return f.server.Close()
			}
			return nil
		})
	}
	return together(ctx, parts...)
}

// close lets go of everything that open took, the last first.
func (d *daemon) close() error {
	var errs []error
	for _, c := range slices.Backward(d.closers) {
		errs = append(errs, c())
	}
	d.closers = nil
	return errors.Join(errs...)
}
