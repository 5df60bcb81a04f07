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
	"net/url"
	"strings"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
)

// Client proposes calls and waits for answers. It is safe for concurrent use.
type Client struct {
	token     string
	transport Transport
}

// Unix returns a client of the daemon that listens on the socket at the path, for
// the agent that holds the token; without one, for the agent of this user.
func Unix(socket, token string) *Client { return New(&unix{path: socket}, token) }

// New returns a client that reaches the daemon by the transport, for the agent that
// holds the token; package network has one for addresses.
func New(t Transport, token string) *Client { return &Client{token: token, transport: t} }

// Close closes the connections that no call uses.
func (c *Client) Close() { c.transport.Close() }

// Check finds out whether the daemon is there and knows the agent. It asks for nothing.
func (c *Client) Check(ctx context.Context) error {
	_, err := c.answer(ctx, exchange{what: "check", method: "GET", path: approvalPath("none")})
	if p, ok := errors.AsType[*ProblemError](err); ok && p.Type == typeNotFound {
		return nil
	}
	return err
}

// typeNotFound is the type of the problem that the daemon has about an approval which is
// not there, for an agent that it knows.
const typeNotFound = "/problems/not-found"

// Withdraw says that the call is no longer wanted.
func (c *Client) Withdraw(ctx context.Context, id ID) (Answer, error) {
	return c.answer(ctx, exchange{what: "withdraw", method: "DELETE", path: approvalPath(id)})
}

// Redeem spends the permit on the call. Only nil means that the call may run,
// once: after any error, also one of transport, it must not.
func (c *Client) Redeem(ctx context.Context, permit string, call Proposal) error {
	body, err := strictjson.Marshal(call)
	if err != nil {
		return fmt.Errorf("client: encode a proposal: %w", err)
	}
	path := "/v1/permits/" + url.PathEscape(permit) + "/redeem"
	return c.done(ctx, exchange{what: "redeem", method: "POST", path: path, body: body})
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
	return c.done(ctx, exchange{what: "report", method: "POST", path: approvalPath(id) + "/outcome", body: body})
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
	if status != statusOK || strictjson.UnmarshalLoose(body, &a) != nil {
		return Answer{}, &TransportError{What: x.what, Err: fmt.Errorf("an answer of status %d that cannot be read", status)}
	}
	return a, nil
}

// done sends x and wants nothing back but that it is done.
func (c *Client) done(ctx context.Context, x exchange) error {
	status, _, err := c.send(ctx, x)
	if err == nil && status != statusNoContent {
		return &TransportError{What: x.what, Err: fmt.Errorf("an answer of unexpected status %d", status)}
	}
	return err
}
