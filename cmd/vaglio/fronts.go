package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/metnos/vaglio/gateway/httpapi"
	"github.com/metnos/vaglio/internal/datafolder"
)

// front is a listener with its server.
type front struct {
	name     string
	listener net.Listener
	server   *http.Server
}

// drainFor is how long answers that are being written may take at shutdown.
const drainFor = 10 * time.Second

// capacity returns how many connections and waiters the system's limits permit.
func capacity() (connections, waiters int) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		limit.Cur = 1024 // the usual minimum
	}
	return httpapi.Capacity(limit.Cur)
}

// listen opens the sockets and the address. It replaces the sockets of a killed daemon, which is
// safe because we hold its store.
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
	if err != nil {
		return cannotListen("METNOS_LISTEN", d.config.Listen, err)
	}
	d.address = tcp.Addr().String()
	d.front("address", limit.Wrap(tcp), d.site())
	return d.listenTLS(ctx, limit)
}

// cannotListen says why nothing can listen at a setting's address, and what would help.
func cannotListen(setting, address string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s is taken by another program: stop it, or set %s to another address", address, setting)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%s: only root may listen at %s; take a port from 1024 on", setting, address)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%s: %s is not an address of this machine; 'ip address' lists those that are", setting, address)
	}
	return fmt.Errorf("%s: %w", setting, err)
}

// remoteConfig is the listener for agents on other machines; off without an address.
type remoteConfig struct {
	listen, key string
	certificate *httpapi.Certificate
	from        []netip.Prefix
}

// remote reads these settings. An address without a certificate, or open to everybody, is a mistake.
func (m *mistakes) remote(e *environment) (r remoteConfig) {
	if !m.together(map[string]text{
		"METNOS_TLS_LISTEN": e.TLSListen, "METNOS_TLS_CERT": e.TLSCert, "METNOS_TLS_KEY": e.TLSKey, "METNOS_TLS_FROM": e.TLSFrom,
	}) {
		return r
	}
	if _, _, err := net.SplitHostPort(e.TLSListen.value); err != nil {
		m.add("METNOS_TLS_LISTEN", "%q is not an address and a port, such as 192.0.2.1:8443", e.TLSListen.value)
	}
	for one := range strings.SplitSeq(e.TLSFrom.value, ",") {
		r.from = append(r.from, m.network("METNOS_TLS_FROM", strings.TrimSpace(one)))
	}
	certificate, err := httpapi.NewCertificate(e.TLSCert.value, e.TLSKey.value)
	if err != nil {
		m.add("METNOS_TLS_CERT", "%v", datafolder.Plain(err))
	}
	r.listen, r.key, r.certificate = e.TLSListen.value, e.TLSKey.value, certificate
	return r
}

// together reports whether all of a group of settings are set. It is a mistake to set only some.
func (m *mistakes) together(all map[string]text) bool {
	names := slices.Sorted(maps.Keys(all))
	some := slices.ContainsFunc(names, func(name string) bool { return all[name].set })
	for _, name := range names {
		if some && all[name].value == "" {
			m.add(name, "is missing: %s go together", strings.Join(names, ", "))
		}
	}
	return some && !slices.ContainsFunc(names, func(name string) bool { return all[name].value == "" })
}

// network parses a network, or an address as a network of one.
func (m *mistakes) network(name, value string) netip.Prefix {
	prefix, err := netip.ParsePrefix(value)
	if addr, alone := netip.ParseAddr(value); alone == nil {
		prefix, err = netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	switch {
	case err != nil:
		m.add(name, "%q is not an address or a network, such as 192.0.2.7 or 198.51.100.0/24", value)
	case prefix.Bits() == 0:
		m.add(name, "%q is everybody; name the addresses of your agents", value)
	}
	return prefix
}

// listenTLS opens the address for agents on other machines.
func (d *daemon) listenTLS(ctx context.Context, limit *httpapi.Limiter) error {
	remote := d.config.Remote
	if remote.listen == "" {
		return nil
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", remote.listen)
	if err != nil {
		return cannotListen("METNOS_TLS_LISTEN", remote.listen, err)
	}
	d.remote = l.Addr().String()
	d.front("address for other machines", remote.certificate.Wrap(limit.Wrap(l), remote.from, d.log), d.api.Remote())
	return nil
}

// front adds a listener with its server.
func (d *daemon) front(name string, l net.Listener, h http.Handler) {
	d.fronts = append(d.fronts, front{name, l, httpapi.NewServer(h, d.log)})
	d.closers = append(d.closers, func() error {
		if err := l.Close(); !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil
	})
}

// site returns the handler of the address: the API, and the inbox beside it. It is not a ServeMux,
// because that would redirect an agent's unclean path.
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

// serveFronts serves all listeners until ctx ends, and then drains them.
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
		d.log.InfoContext(ctx, "stopping: waiting agents are told to come back")
		return d.drain(context.WithoutCancel(ctx))
	})
	return together(ctx, parts...)
}

// drain tells all waiters to come back, and lets answers be written.
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
	err := together(ctx, parts...)
	d.api.Drain(ctx)
	return err
}
