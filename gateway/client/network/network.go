// Package network is the transport to a daemon at a network address, over HTTP and TLS as in
// the standard library. It is separate from package client so that hooks, which start with
// every tool call, need not link net/http.
package network

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/internal/hosts"
)

// New returns a client of the daemon at the base URL, such as
// https://gate.example.org:8443, for the agent that holds the token. Plain http is accepted
// only for loopback addresses, so that the token is never sent in the clear.
func New(base, token string) (*client.Client, error) { return NewTrusting(base, token, nil) }

// NewTrusting is like [New] for a daemon whose certificate one of the given authorities
// signed; nil means the system's authorities.
func NewTrusting(base, token string, authorities *x509.CertPool) (*client.Client, error) {
	u, err := url.Parse(base)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "":
		return nil, errors.New("client: the address must be a URL such as https://gate.example.org:8443, without a user or a path")
	case u.Scheme == "http" && !hosts.Loopback(u.Hostname()):
		return nil, errors.New("client: the address must begin with https://, or be one of this machine: the token would be sent in the clear")
	case token == "":
		return nil, errors.New("client: the agent's token is missing")
	}
	d := &dialing{roots: authorities}
	return client.New(&transport{u.Scheme + "://" + u.Host, &http.Client{
		// No proxy: proposals go to the daemon and nowhere else.
		Transport: &http.Transport{DisableCompression: true, IdleConnTimeout: time.Minute, DialContext: d.plain, DialTLSContext: d.secure},
		// No redirects: they could take the token elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, token), nil
}

// transport reaches the daemon at the base URL.
type transport struct {
	base string
	http *http.Client
}

// Close closes idle connections.
func (t *transport) Close() { t.http.CloseIdleConnections() }

// Exchange sends one request to the daemon.
func (t *transport) Exchange(ctx context.Context, m *client.Message) (*client.Reply, error) {
	r, err := http.NewRequestWithContext(ctx, m.Method, t.base+m.Path, bytes.NewReader(m.Body))
	if err != nil {
		return nil, errors.New("the address is not a URL")
	}
	for _, f := range m.Header {
		r.Header.Set(f.Name, f.Value)
	}
	resp, err := t.http.Do(r)
	if err != nil {
		return nil, cause(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, client.MaxReply+1))
	if err != nil {
		return nil, cause(err)
	}
	if len(body) > client.MaxReply {
		return nil, client.ErrTooLarge
	}
	return &client.Reply{Status: resp.StatusCode, RetryAfter: resp.Header.Get("Retry-After"), Body: body}, nil
}

// cause strips the URL from an error of net/http, because the URL may contain a permit.
func cause(err error) error {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		return outer.Err
	}
	return err
}

// dialing opens connections, and explains a failed one to whoever configured the address.
type dialing struct {
	dialer net.Dialer
	roots  *x509.CertPool
}

// openWithin bounds each of connecting and the TLS handshake.
const openWithin = 10 * time.Second

// absentError means that nothing listens at the daemon's address.
type absentError struct{ at, why string }

func (e *absentError) Error() string { return "vaglio is not there at " + e.at + ": " + e.why }

// Is makes the error match [client.ErrNotRunning], for callers that wait out a restart.
func (*absentError) Is(target error) bool { return target == client.ErrNotRunning }

func (d *dialing) plain(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	conn, err := d.dialer.DialContext(ctx, network, address)
	unknown, lost := errors.AsType[*net.DNSError](err)
	switch {
	case err == nil:
		return conn, nil
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil, &absentError{address, "nobody listens; start it there with METNOS_TLS_LISTEN, or correct the address"}
	case lost && unknown.IsNotFound:
		return nil, fmt.Errorf("the name %s is not known; mend the address", unknown.Name)
	case lost:
		return nil, fmt.Errorf("the name %s cannot be looked up now", unknown.Name)
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return nil, fmt.Errorf("there is no route to %s; check the address and the network", address)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s does not answer; check the address and any firewall in between", address)
	}
	return nil, err
}

func (d *dialing) secure(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.plain(ctx, network, address)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	ctx, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	secure := tls.Client(conn, &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host, RootCAs: d.roots, NextProtos: []string{"http/1.1"}})
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, unmet(err, address, conn.LocalAddr())
	}
	return secure, nil
}

// unmet explains why a TLS handshake failed.
func unmet(err error, address string, from net.Addr) error {
	wrong := func(form string, args ...any) error {
		return fmt.Errorf("the certificate at %s "+form, append([]any{address}, args...)...)
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		if now := time.Now(); now.Before(invalid.Cert.NotBefore) {
			return wrong("is valid from %s on, but the clock here says %s; set the clock", day(invalid.Cert.NotBefore), day(now))
		}
		return wrong("was good until %s; have it renewed", day(invalid.Cert.NotAfter))
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return wrong("is for another name; give the address that it is for")
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return wrong("is signed by nobody whom this machine trusts; give the authority's own certificate with --ca")
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return fmt.Errorf("%s does not speak TLS; correct the address", address)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
		return fmt.Errorf("%s closed the connection; METNOS_TLS_FROM there must name this machine, which calls from %s", address, hosts.Of(from.String()))
	}
	return fmt.Errorf("no TLS with %s: %w", address, err)
}

func day(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }
