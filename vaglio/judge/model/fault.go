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
	// FaultUnreachable is a server that takes no connection, or breaks it off.
	FaultUnreachable Fault = "unreachable"
	// FaultBusy is a server that asks to come back later (429).
	FaultBusy Fault = "busy"
	// FaultServer is a server that failed (5xx).
	FaultServer Fault = "server"
	// FaultRefused is a server that does not take our key (401, 403).
	FaultRefused Fault = "key"
	// FaultRequest is a server that does not take our request, such as one for a
	// model that it does not have.
	FaultRequest Fault = "request"
	// FaultReply is an answer that is not in the form of its interface.
	FaultReply Fault = "reply"
	// FaultDown is a server that is not asked, because it failed again and again.
	FaultDown Fault = "down"
)

// Error says why a model did not answer.
type Error struct {
	Fault Fault
	// Status is the server's HTTP status; 0 without an answer.
	Status int
	// After is how long the server asks to wait; 0 is nothing said.
	After time.Duration
	// Since is when it began to fail, for [FaultDown].
	Since time.Time
	// NoConnection says that none was made, so that nothing was asked.
	NoConnection bool
	// Err is the cause, which may quote the server and must not be told to agents.
	Err error
}

// Error tells the class, and the status, in words that hold nothing of what the
// server or its address say.
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

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// again reports whether the same request may be made anew: the server said so,
// or did not get it.
func (e *Error) again() bool {
	return e.Fault == FaultBusy || e.Fault == FaultServer || e.NoConnection
}

// dead reports whether the server, not the request, is what failed.
func (e *Error) dead() bool {
	return e.Fault == FaultUnreachable || e.Fault == FaultServer || e.Fault == FaultBusy
}

// OfStatus is the error of an HTTP status.
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

// OfCause is the error of a request without a status: ctx's own where it ended, a
// broken connection, or an answer that cannot be read.
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
