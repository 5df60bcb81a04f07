package httpapi

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/metnos/vaglio/internal/regular"
)

// otherMachine marks the context of a request from another machine.
type otherMachine struct{}

// Remote returns the handler for listeners that other machines can reach. Each agent must
// present its token, public routes are not served, and proposals are marked as running on
// another machine.
func (a *API) Remote() http.Handler {
	api := a.Network()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/v1/") {
			r.URL.Path, r.URL.RawPath = "/", ""
		}
		api.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), otherMachine{}, true)))
	})
}

// Certificate is the certificate and key of a listener. The files are read again for each
// connection, so that a renewed certificate needs no restart.
type Certificate struct {
	cert, key string

	mu   sync.Mutex
	last *tls.Certificate
}

// NewCertificate reads a certificate chain and its key, in PEM. The key may be readable by its
// owner and group at most, and neither file may be writable by anybody else.
func NewCertificate(cert, key string) (*Certificate, error) {
	c := &Certificate{cert: cert, key: key}
	pair, err := c.read()
	c.last = pair
	return c, err
}

// mostPEM is the maximum size of each file, in bytes. A larger file is not PEM.
const mostPEM = 1 << 20

func (c *Certificate) read() (*tls.Certificate, error) {
	cert, whole, err := regular.ReadTrusted(c.cert, mostPEM)
	if err != nil {
		return nil, err
	}
	f, err := regular.OpenTrusted(c.key, regular.NotRead)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	key, err := io.ReadAll(io.LimitReader(f, mostPEM))
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil || !whole {
		return nil, fmt.Errorf("%s and %s are not a certificate and its key in PEM: %w", c.cert, c.key, err)
	}
	return &pair, nil
}

// Wrap returns a listener that speaks TLS over l, to the addresses in from alone. Connections
// from others are closed before anything is read from them.
func (c *Certificate) Wrap(l net.Listener, from []netip.Prefix, log *slog.Logger) net.Listener {
	return tls.NewListener(&listed{Listener: l, from: from, log: log, told: map[netip.Addr]bool{}}, &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			pair, err := c.read()
			c.mu.Lock()
			defer c.mu.Unlock()
			if err != nil {
				log.Warn("the certificate cannot be reloaded; the previous one stays in use", "error", err)
				return c.last, nil
			}
			c.last = pair
			return pair, nil
		},
	})
}

// listed is a listener that accepts only addresses in from.
type listed struct {
	net.Listener

	from []netip.Prefix
	log  *slog.Logger
	told map[netip.Addr]bool // only the goroutine that calls Accept uses it
}

// Accept returns the next connection from an address on the list.
func (l *listed) Accept() (net.Conn, error) {
	const most = 64 // addresses to log, each once: strangers must not be able to fill the log
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		at, err := netip.ParseAddrPort(c.RemoteAddr().String())
		from := at.Addr().Unmap().WithZone("")
		if err == nil && slices.ContainsFunc(l.from, func(p netip.Prefix) bool { return p.Contains(from) }) {
			return c, nil
		}
		if !l.told[from] && len(l.told) < most {
			l.told[from] = true
			l.log.Warn("a connection was closed: its address is not in METNOS_TLS_FROM", "address", from.String())
		}
		_ = c.Close() // nothing was exchanged on it
	}
}
