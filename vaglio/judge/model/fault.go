package model

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"
)

// Fault is the class of an [Error].
type Fault string

// The classes of errors.
const (
	// FaultUnreachable means that the server refuses or breaks connections.
	FaultUnreachable Fault = "unreachable"
	// FaultBusy means that the server asks us to come back later (429).
	FaultBusy Fault = "busy"
	// FaultServer means that the server failed (5xx).
	FaultServer Fault = "server"
	// FaultRefused means that the server does not accept our key (401, 403).
	FaultRefused Fault = "key"
	// FaultRequest means that the server does not accept our request, for example because it does
	// not have the model.
	FaultRequest Fault = "request"
	// FaultReply means that the response does not conform to the API.
	FaultReply Fault = "reply"
	// FaultDown means that the server was not asked, because it failed repeatedly.
	FaultDown Fault = "down"
)

// Error says why a model did not answer.
type Error struct {
	Fault Fault
	// Status is the HTTP status; 0 if there was no response.
	Status int
	// After is how long the server asks to wait; 0 if it did not say.
	After time.Duration
	// Since is when the server began to fail, for [FaultDown].
	Since time.Time
	// NoConnection says that no connection was made, so nothing was asked.
	NoConnection bool
	// Err is the cause, which may quote the server and must not be shown to agents.
	Err error
}

// Error returns the class and the status, without anything that the server or its address says.
func (e *Error) Error() string {
	switch e.Fault {
	case FaultUnreachable:
		return "the model's server cannot be reached"
	case FaultBusy:
		return "the model's server is busy (429)"
	case FaultServer:
		return fmt.Sprintf("the model's server failed (%d)", e.Status)
	case FaultRefused:
		return fmt.Sprintf("the model's server does not take the key (%d)", e.Status)
	case FaultRequest:
		return fmt.Sprintf("the model's server does not take the request (%d)", e.Status)
	case FaultDown:
		return "the model's server has failed since " + e.Since.UTC().Format("2006-01-02 15:04:05 MST") + " and is not asked for now"
	case FaultReply:
	}
	return "the model's server gave no answer that can be read"
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// again reports whether the same request may be retried: the server said so, or did not get it.
func (e *Error) again() bool {
	return e.Fault == FaultBusy || e.Fault == FaultServer || e.NoConnection
}

// OfStatus returns the error for an HTTP status.
func OfStatus(status int, after time.Duration, cause error) *Error {
	e := &Error{Status: status, After: after, Err: cause}
	switch {
	case status == 429:
		e.Fault = FaultBusy
	case status >= 500:
		e.Fault = FaultServer
	case status == 401 || status == 403:
		e.Fault = FaultRefused
	default:
		e.Fault = FaultRequest
	}
	return e
}

// OfCause returns the error for a request without a status: ctx's own if it has ended, else a broken
// connection or an unreadable response.
func OfCause(ctx context.Context, cause error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e := &Error{Fault: FaultReply, Err: cause}
	if _, broken := errors.AsType[net.Error](cause); broken {
		e.Fault = FaultUnreachable
		e.NoConnection = errors.Is(cause, syscall.ECONNREFUSED)
	}
	return e
}
