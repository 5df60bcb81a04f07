package approval

import "errors"

// Finding is the result of examining one thing, in words without secrets.
type Finding struct {
	// Subject names what was looked at, such as "telegram chat".
	Subject string `json:"subject"`
	Grade   Grade  `json:"grade"`
	// Text describes the state, in one sentence.
	Text string `json:"text"`
	// Remedy is what the operator can do about a problem, in one sentence.
	Remedy string `json:"remedy,omitempty"`
}

// Grade says what a finding means.
type Grade string

// The grades.
const (
	// Fine is as it should be.
	Fine Grade = "ok"
	// Noted is worth knowing, but no reason to act.
	Noted Grade = "note"
	// Wrong keeps something from working now or later.
	Wrong Grade = "problem"
	// Unseen could not be examined, because something else is wrong.
	Unseen Grade = "unseen"
)

// ErrUntapped says that nobody who may decide pressed the button of a test card in time.
var ErrUntapped = errors.New("nobody who may decide pressed the button of the test card in time")

// ErrUnpaired says that a channel knows no place to send cards to.
var ErrUnpaired = errors.New("nobody has paired yet, so there is no place that cards go to")
