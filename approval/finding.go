package approval

import "errors"

// Finding is what a look at one thing showed, in words without secrets.
type Finding struct {
	// Subject names what was looked at, such as "telegram chat".
	Subject string `json:"subject"`
	Grade   Grade  `json:"grade"`
	// Text says how it stands, in a sentence.
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
	// Noted is worth knowing, and no reason to do anything.
	Noted Grade = "note"
	// Wrong keeps something from working, or will.
	Wrong Grade = "problem"
	// Unseen could not be looked at, because something else is wrong.
	Unseen Grade = "unseen"
)

// ErrUntapped says that nobody who may decide pressed a test card's button in
// time.
var ErrUntapped = errors.New("nobody who may decide pressed the button of the test card in time")

// ErrUnpaired says that a channel knows no place that cards go to.
var ErrUnpaired = errors.New("nobody has paired yet, so there is no place that cards go to")
