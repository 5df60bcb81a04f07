package slack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"

	slackapi "github.com/slack-go/slack"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/platform"
)

// callError is a failed call of the platform. It shows no secrets: tokens travel in bodies
// and headers, and addresses are left out.
type callError struct {
	method string
	err    error
}

func (e *callError) Error() string { return "slack: " + e.method + ": " + e.err.Error() }

func (e *callError) Unwrap() error { return e.err }

// word returns the platform's word for the failure, such as "is_archived", or "" if it gave
// none.
func word(err error) string {
	if e, ok := errors.AsType[slackapi.SlackErrorResponse](err); ok {
		return e.Err
	}
	return ""
}

// says reports whether the platform's word is one of these.
func says(err error, words ...string) bool {
	return err != nil && slices.Contains(words, word(err))
}

// meaning is what a failure means for us.
type meaning int

const (
	meansNothing meaning = iota // the platform gave no word
	meansRefused                // another word: this call is refused as it is
	meansGone                   // the message can no longer be changed
	meansShut                   // the channel is closed to us
	meansToken                  // the token, or a scope, is insufficient
	meansBlocks                 // the platform does not accept the blocks
	meansUnsure                 // the call may have had its effect
)

// means interprets the platform's word.
func means(err error) meaning {
	switch word(err) {
	case "":
		return meansNothing
	case "message_not_found", "cant_update_message", "edit_window_closed", "thread_not_found":
		return meansGone
	case "channel_not_found", "is_archived", "channel_is_archived", "not_in_channel", "restricted_action":
		return meansShut
	case "token_revoked", "token_expired", "invalid_auth", "not_authed", "account_inactive", "not_allowed_token_type", "no_permission",
		"missing_scope", "org_login_required", "ekm_access_denied", "access_denied":
		return meansToken
	case "invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long":
		return meansBlocks
	case "internal_error", "fatal_error", "request_timeout", "service_unavailable":
		return meansUnsure
	default:
		return meansRefused
	}
}

// do makes one call of the platform.
func (c *Channel) do(ctx context.Context, method string, call func(ctx context.Context) error) error {
	return c.under(ctx, limit{method: method}, call)
}

// under makes one call of the platform under a limit. While a pause that the platform asked
// for lasts, the call is not made: asking again would only prolong the pause.
func (c *Channel) under(ctx context.Context, l limit, call func(ctx context.Context) error) error {
	method := l.method
	if left := c.pace.pauses.Left(l); left > 0 {
		return &callError{method, &slackapi.RateLimitedError{RetryAfter: left}}
	}
	within, cancel := context.WithTimeout(ctx, callWithin)
	defer cancel()
	err := call(within)
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*slackapi.RateLimitedError](err); ok {
		c.pace.pauses.Begin(l, e.RetryAfter)
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return &callError{method, err}
}

// delivery says what a failure means for a card that is posted or amended.
func delivery(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*slackapi.RateLimitedError](err); ok {
		return &approval.RetryError{After: e.RetryAfter, Unsent: true, Err: err}
	}
	if e, ok := errors.AsType[slackapi.StatusCodeError](err); ok {
		return &approval.RetryError{Unsent: e.Code < http.StatusInternalServerError, Err: err}
	}
	switch means(err) {
	case meansGone:
		return fmt.Errorf("%w: %w", approval.ErrGone, err)
	case meansShut, meansToken:
		return &approval.RetryError{After: platform.LongestPause, Unsent: true, Shut: means(err) == meansShut, Err: err}
	case meansUnsure:
		return &approval.RetryError{Err: err}
	case meansNothing:
		op, ok := errors.AsType[*net.OpError](err)
		return &approval.RetryError{Unsent: ok && op.Op == "dial", Err: err}
	default:
		return &approval.RetryError{Unsent: true, Err: err}
	}
}

// final is delivery for what goes next to a message: if its channel is closed to us, nobody
// can be told any more.
func final(err error) error {
	if means(err) == meansShut {
		return fmt.Errorf("%w: %w", approval.ErrGone, err)
	}
	return delivery(err)
}
