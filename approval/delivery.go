package approval

import (
	"errors"
	"time"
)

// ErrGone says that a message on a platform can no longer be shown or amended:
// it was deleted, or the chat is closed to us. There is nothing left to make
// agree, so the dispatcher stops trying.
var ErrGone = errors.New("message is gone")

// RetryError says that a delivery failed for now, and when to try again.
type RetryError struct {
	// After is how long the platform asked us to wait; 0 leaves it to us.
	After time.Duration
	Err   error
}

func (e *RetryError) Error() string { return e.Err.Error() }

func (e *RetryError) Unwrap() error { return e.Err }

// Health tells how a channel does. The zero value is a channel that does well.
type Health struct {
	// Problem is what is wrong, in one sentence; empty when nothing is.
	Problem string
	// Remedy is what the operator can do about it, in one sentence.
	Remedy string
	// Since is when the problem began.
	Since time.Time
}
