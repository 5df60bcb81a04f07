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

// otherMachine marks the context of a request that another machine sends.
type otherMachine struct{}

// Remote returns the handler for listeners that other machines can reach: each agent shows
// its token, what asks for none is not there, and a call would run on another machine than
// this one.
func (a *API) Remote() http.Handler {
	api := a.Network()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/v1/") {
			r.URL.Path, r.URL.RawPath = "/", ""
		}
		api.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), otherMachine{}, true)))
	})
}

// Certificate is the pair of files by which a listener shows who it is. It is read anew
// for each connection, so that one that is renewed needs no new start.
type Certificate struct {
	cert, key string

	mu   sync.Mutex
	last *tls.Certificate
}

// NewCertificate reads a certificate's chain and its key, in PEM. The key's file may be
// read by its group at most, and both be written by nobody else.
func NewCertificate(cert, key string) (*Certificate, error) {
	c := &Certificate{cert: cert, key: key}
	pair, err := c.read()
	c.last = pair
	return c, err
}

// mostPEM bounds the files, in bytes: longer ones are others.
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
		return nil, fmt.Errorf("%s and %s are no certificate and its key in PEM: %w", c.cert, c.key, err)
	}
	return &pair, nil
}

// Wrap returns a listener that speaks TLS over l, to addresses of a list alone: others are
// cut off before a byte of theirs is read.
func (c *Certificate) Wrap(l net.Listener, from []netip.Prefix, log *slog.Logger) net.Listener {
	return tls.NewListener(&listed{Listener: l, from: from, log: log, told: map[netip.Addr]bool{}}, &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			pair, err := c.read()
			c.mu.Lock()
			defer c.mu.Unlock()
			if err != nil {
				log.Warn("the certificate cannot be read anew; the one of before is shown", "error", err)
				return c.last, nil
			}
			c.last = pair
			return pair, nil
		},
	})
}

// listed is a listener for a list of addresses.
type listed struct {
	net.Listener

	from []netip.Prefix
	log  *slog.Logger
	told map[netip.Addr]bool // by the one who accepts
}

// Accept returns the next connection from an address of the list.
func (l *listed) Accept() (net.Conn, error) {
	const most = 64 // addresses that are told, once each: a log is not theirs to fill
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
			l.log.Warn("a connection is cut off: its address is not in METNOS_TLS_FROM", "address", from.String())
		}
		_ = c.Close() // nothing was said on it
	}
}
