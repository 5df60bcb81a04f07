// Package client speaks the agent's side of vaglio's API, over the Unix socket
// or over the network. It is small on purpose: a coding agent starts it for
// every tool call.
//
// No method's error holds a token or a permit.
package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
)

// Client proposes calls and waits for answers. It is safe for concurrent use.
type Client struct {
	base  string
	token string
	http  *http.Client
}

// Unix returns a client of the daemon that listens on the socket at the path, for
// the agent that holds the token; without one, for the agent of this user.
func Unix(socket, token string) *Client {
	var d net.Dialer
	return newClient("http://vaglio", token, func(ctx context.Context, _, _ string) (net.Conn, error) {
		return d.DialContext(ctx, "unix", socket)
	})
}

// Network returns a client of the daemon at the base URL, such as
// http://127.0.0.1:8787, for the agent that holds the token.
func Network(base, token string) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.User != nil || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, errors.New("client: the address must be a URL such as http://127.0.0.1:8787, without a user")
	}
	if token == "" {
		return nil, errors.New("client: the agent's token is missing")
	}
	var d net.Dialer
	return newClient(u.Scheme+"://"+u.Host, token, d.DialContext), nil
}

type dialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

func newClient(base, token string, dial dialFunc) *Client {
	return &Client{
		base: base, token: token,
		http: &http.Client{
			// No proxy: what is proposed goes to the daemon and nowhere else.
			Transport: &http.Transport{DialContext: dial, DisableCompression: true, IdleConnTimeout: time.Minute},
			// Nor does a redirect lead the token elsewhere.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Close closes the connections that no call uses.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Withdraw says that the call is no longer wanted.
func (c *Client) Withdraw(ctx context.Context, id ID) (Answer, error) {
	return c.answer(ctx, exchange{what: "withdraw", method: http.MethodDelete, path: approvalPath(id)})
}

// Redeem spends the permit on the call. Only nil means that the call may run,
// once: after any error, also one of transport, it must not.
func (c *Client) Redeem(ctx context.Context, permit string, call Proposal) error {
	body, err := strictjson.Marshal(call)
	if err != nil {
		return fmt.Errorf("client: encode a proposal: %w", err)
	}
	path := "/v1/permits/" + url.PathEscape(permit) + "/redeem"
	return c.done(ctx, exchange{what: "redeem", method: http.MethodPost, path: path, body: body})
}

// maxDetail is the greatest length of an outcome's detail, in bytes.
const maxDetail = 4000

// Report tells how the run of a permitted call ended.
func (c *Client) Report(ctx context.Context, id ID, o Outcome) error {
	told := map[string]any{"succeeded": o.Succeeded, "detail": cut(o.Detail)}
	if o.NotRun {
		told["ran"] = false
	}
	body, err := strictjson.Marshal(told)
	if err != nil {
		return fmt.Errorf("client: encode an outcome: %w", err)
	}
	return c.done(ctx, exchange{what: "report", method: http.MethodPost, path: approvalPath(id) + "/outcome", body: body})
}

// cut makes a detail one that the daemon takes.
func cut(detail string) string {
	detail = strings.ReplaceAll(strings.ToValidUTF8(detail, "\uFFFD"), "\x00", "\uFFFD")
	if len(detail) <= maxDetail {
		return detail
	}
	const remark = " [cut]"
	return strings.ToValidUTF8(detail[:maxDetail-len(remark)], "") + remark
}

func approvalPath(id ID) string { return "/v1/approvals/" + url.PathEscape(string(id)) }

func query(wait time.Duration) string {
	wait = wait.Round(time.Millisecond)
	if wait <= 0 {
		return ""
	}
	return "?wait=" + wait.String()
}

// answer sends x and decodes the answer to it.
func (c *Client) answer(ctx context.Context, x exchange) (Answer, error) {
	status, body, err := c.send(ctx, x)
	if err != nil {
		return Answer{}, err
	}
	var a Answer
	if status != http.StatusOK || strictjson.UnmarshalLoose(body, &a) != nil {
		return Answer{}, &TransportError{What: x.what, Err: fmt.Errorf("an answer of status %d that cannot be read", status)}
	}
	return a, nil
}

// done sends x and wants nothing back but that it is done.
func (c *Client) done(ctx context.Context, x exchange) error {
	status, _, err := c.send(ctx, x)
	if err == nil && status != http.StatusNoContent {
		return &TransportError{What: x.what, Err: fmt.Errorf("an answer of unexpected status %d", status)}
	}
	return err
}
