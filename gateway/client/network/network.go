// Package network carries what a client says to a daemon at an address of the
// network, over HTTP and TLS as the standard library speaks them. It is apart from
// package client so that a hook, which every tool call starts, need not link it.
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
// https://gate.example.org:8443, for the agent that holds the token. Without TLS a
// daemon is spoken to on this machine alone: a token is not sent in the clear.
func New(base, token string) (*client.Client, error) { return NewTrusting(base, token, nil) }

// NewTrusting is [New] for a daemon whose certificate one of these authorities signed;
// nil are those that the system trusts.
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
		// No proxy: what is proposed goes to the daemon and nowhere else.
		Transport: &http.Transport{DisableCompression: true, IdleConnTimeout: time.Minute, DialContext: d.plain, DialTLSContext: d.secure},
		// Nor does a redirect lead the token elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, token), nil
}

// transport is the daemon at the base URL.
type transport struct {
	base string
	http *http.Client
}

// Close closes the connections that nothing uses.
func (t *transport) Close() { t.http.CloseIdleConnections() }

// Exchange speaks to the daemon.
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

// cause is what an error of the library is about. The library's own names the URL,
// which may hold a permit.
func cause(err error) error {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		return outer.Err
	}
	return err
}

// dialing opens connections, and says of one that does not come about why, for whoever
// set the address.
type dialing struct {
	dialer net.Dialer
	roots  *x509.CertPool
}

// openWithin bounds how long a connection may take to come about.
const openWithin = 10 * time.Second

// absentError is about a daemon that nobody met at its address.
type absentError struct{ at, why string }

func (e *absentError) Error() string { return "vaglio is not there at " + e.at + ": " + e.why }

// Is has it be [client.ErrNotRunning], for those who wait for a restart.
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
		return nil, &absentError{address, "nobody listens; start it there with METNOS_TLS_LISTEN, or mend the address"}
	case lost && unknown.IsNotFound:
		return nil, fmt.Errorf("the name %s is not known; mend the address", unknown.Name)
	case lost:
		return nil, fmt.Errorf("the name %s cannot be looked up now", unknown.Name)
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return nil, fmt.Errorf("no way leads to %s; mend the address, or the network", address)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s does not answer; mend the address, or the firewall before it", address)
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

// unmet says why TLS did not come about.
func unmet(err error, address string, from net.Addr) error {
	wrong := func(form string, args ...any) error {
		return fmt.Errorf("the certificate at %s "+form, append([]any{address}, args...)...)
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		if now := time.Now(); now.Before(invalid.Cert.NotBefore) {
			return wrong("is good from %s on, and here it is %s; set the clock", day(invalid.Cert.NotBefore), day(now))
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
		return fmt.Errorf("%s does not speak TLS; mend the address", address)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
		return fmt.Errorf("%s cut the connection off; METNOS_TLS_FROM there must name this machine, which calls from %s", address, hosts.Of(from.String()))
	}
	return fmt.Errorf("no TLS with %s: %w", address, err)
}

func day(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }
