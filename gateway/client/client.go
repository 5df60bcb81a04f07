// Package client speaks the agent's side of vaglio's API over a Unix socket or the
// network. It is deliberately small, because a coding agent starts it for every tool call.
//
// Errors never contain a token or a permit.
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

// Unix returns a client of the daemon that listens on the socket at the given path, for the
// agent that holds the token. Without a token, it acts as the agent of the current user.
func Unix(socket, token string) *Client { return New(&unix{path: socket}, token) }

// New returns a client that reaches the daemon over the transport, for the agent that holds
// the token. Package network has a transport for network addresses.
func New(t Transport, token string) *Client { return &Client{token: token, transport: t} }

// Close closes idle connections.
func (c *Client) Close() { c.transport.Close() }

// Check reports whether the daemon is running and knows the agent. It proposes nothing.
func (c *Client) Check(ctx context.Context) error {
	_, err := c.answer(ctx, exchange{what: "check", method: "GET", path: approvalPath("none")})
	if p, ok := errors.AsType[*ProblemError](err); ok && p.Type == typeNotFound {
		return nil
	}
	return err
}

// typeNotFound is the problem type that the daemon returns for an approval that does not
// exist, once it knows the agent.
const typeNotFound = "/problems/not-found"

// Withdraw tells the daemon that the call is no longer wanted.
func (c *Client) Withdraw(ctx context.Context, id ID) (Answer, error) {
	return c.answer(ctx, exchange{what: "withdraw", method: "DELETE", path: approvalPath(id)})
}

// Redeem spends the permit on the call. The call may run, once, only if Redeem returns nil.
// After any error, including one of transport, it must not run.
func (c *Client) Redeem(ctx context.Context, permit string, call Proposal) error {
	body, err := strictjson.Marshal(call)
	if err != nil {
		return fmt.Errorf("client: encode a proposal: %w", err)
	}
	path := "/v1/permits/" + url.PathEscape(permit) + "/redeem"
	return c.done(ctx, exchange{what: "redeem", method: "POST", path: path, body: body})
}

// maxDetail is the maximum length of an outcome's detail, in bytes.
const maxDetail = 4000

// Report reports how the run of a permitted call ended.
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

// cut makes detail acceptable to the daemon: valid UTF-8 without NUL, at most maxDetail bytes.
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

// answer sends x and decodes the answer.
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

// done sends x and expects an empty success.
func (c *Client) done(ctx context.Context, x exchange) error {
	status, _, err := c.send(ctx, x)
	if err == nil && status != statusNoContent {
		return &TransportError{What: x.what, Err: fmt.Errorf("an answer of unexpected status %d", status)}
	}
	return err
}
