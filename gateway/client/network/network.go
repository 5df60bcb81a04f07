// Package network carries what a client says to a daemon at an address of the
// network, over HTTP and TLS as the standard library speaks them. It is apart from
// package client so that a hook, which every tool call starts, need not link it.
package network

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/metnos/vaglio/gateway/client"
)

// New returns a client of the daemon at the base URL, such as http://127.0.0.1:8787,
// for the agent that holds the token.
func New(base, token string) (*client.Client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.User != nil || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, errors.New("client: the address must be a URL such as http://127.0.0.1:8787, without a user")
	}
	if token == "" {
		return nil, errors.New("client: the agent's token is missing")
	}
	return client.New(&transport{u.Scheme + "://" + u.Host, &http.Client{
		// No proxy: what is proposed goes to the daemon and nowhere else.
		Transport: &http.Transport{DisableCompression: true, IdleConnTimeout: time.Minute},
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
