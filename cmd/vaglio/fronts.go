package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/metnos/vaglio/gateway/httpapi"
	"github.com/metnos/vaglio/internal/datafolder"
)

// front is one listener with the server behind it.
type front struct {
	name     string
	listener net.Listener
	server   *http.Server
}

// drainFor is how long answers that are being written may take at the end.
const drainFor = 10 * time.Second

// capacity asks the system how many connections fit.
func capacity() (connections, waiters int) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		limit.Cur = 1024 // what systems give at least
	}
	return httpapi.Capacity(limit.Cur)
}

// listen opens the sockets and the address. The sockets of a killed daemon are
// replaced: we hold its store.
func (d *daemon) listen(ctx context.Context) error {
	agents, err := datafolder.Listen(ctx, d.config.AgentSocket, d.config.AgentGroup)
	if err != nil {
		return err
	}
	limit := httpapi.NewLimiter(d.connections)
	d.front("agents' socket", limit.Wrap(agents), d.api.Local())
	owners, err := datafolder.Listen(ctx, d.config.path(datafolder.AdminSocket), datafolder.Owner)
	if err != nil {
		return err
	}
	d.front("owner's socket", owners, d.owner())
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
