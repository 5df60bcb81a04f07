// Package history is the tamper-evident history of approvals: a Merkle tree (RFC 6962)
// whose leaves are one event each. It defines what a leaf holds, which events a change of
// an ask produces, how the tree's state is signed, and how a stored history is verified. It
// is pure: it reads no clock and stores nothing. A store keeps the leaves, in the same
// transaction as the change they record.
//
// The value of a leaf is strict JSON with its own salt, so that once it is dropped nobody
// can guess it from its hash. A signed state of the tree is a checkpoint in the form of
// C2SP tlog-checkpoint: anyone who has one can later tell whether anything before it was
// changed, left out or inserted.
package history

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
)

// form is the form of the leaves that this program writes.
const form = 1

// Kind says what happened.
type Kind string

// The kinds of events in an approval's life. Those that name a state say that an approval
// entered it.
const (
	Opened     Kind = "opened" // asked, opening a new ask
	Joined     Kind = "joined" // asked, on the card of an open ask
	Vote       Kind = "vote"   // somebody allowed it, and more people have to
	Unvote     Kind = "unvote" // a vote no longer counts
	Escalated  Kind = "escalated"
	Allowed    Kind = Kind(approval.Allowed)
	Denied     Kind = Kind(approval.Denied)
	Expired    Kind = Kind(approval.Expired)
	Withdrawn  Kind = Kind(approval.Withdrawn)
	Superseded Kind = Kind(approval.Superseded)
	Spent      Kind = Kind(approval.Spent)
	Lapsed     Kind = Kind(approval.Lapsed)
	Succeeded  Kind = Kind(approval.Succeeded)
	Failed     Kind = Kind(approval.Failed)
	Unknown    Kind = Kind(approval.Unknown)
)

// The other kinds of events.
const (
	// Vetoed is a denial by the guard.
	Vetoed Kind = "vetoed"
	// Began is the first leaf. Its baseline covers the asks that are older.
	Began Kind = "began"
	// Dropped says that the values of old leaves were dropped, as configured.
	Dropped Kind = "dropped"
	// Rekeyed says that the key was missing at startup, and a new one was made.
	Rekeyed Kind = "rekeyed"
	// Restored says that an older copy of the store was found at startup.
	Restored Kind = "restored"
)

// Event is what one leaf records. It contains no secrets: free text is masked, and a call
// is represented by its fingerprint, without arguments.
type Event struct {
	Version int       `json:"v"`
	Kind    Kind      `json:"kind"`
	At      time.Time `json:"at"`
	Agent   string    `json:"agent,omitempty"`
	Turn    string    `json:"turn,omitempty"`
	// Ask is set for events about an ask as a whole, Approval for other events about an
	// approval, and Step, the id in the turn log, for a veto.
	Ask         approval.AskID       `json:"ask,omitempty"`
	Approval    approval.ID          `json:"approval,omitempty"`
	Step        string               `json:"step,omitempty"`
	Executor    string               `json:"executor,omitempty"`
	Fingerprint approval.Fingerprint `json:"fingerprint,omitempty"`
	// From and To are the approval's states before and after. From is empty for a new one.
	From approval.State `json:"from,omitempty"`
	To   approval.State `json:"to,omitempty"`
	// By is the stable id of the person, Name their display name on the channel.
	By      string `json:"by,omitempty"`
	Name    string `json:"name,omitempty"`
	Channel string `json:"channel,omitempty"`
	Words   string `json:"words,omitempty"`
	// Grant is the approval whose grant allowed the call, Form the approval of the changed
	// call if a person had to allow it. Brake says that the brake denied the call. Until is
	// when a grant, a brake or a snooze ends. Uses is how many calls a grant covers, or has
	// covered so far.
	Grant approval.ID `json:"grant,omitempty"`
	Form  approval.ID `json:"form,omitempty"`
	Brake bool        `json:"brake,omitempty"`
	Until time.Time   `json:"until,omitzero"`
	Uses  int         `json:"uses,omitempty"`
	// Route is the route the ask went to.
	Route string `json:"route,omitempty"`
	// Rule is the guard's, if it denied; Judge and Score are from the judge that denied.
	Rule  string  `json:"rule,omitempty"`
	Judge string  `json:"judge,omitempty"`
	Score float64 `json:"score,omitzero"`
	// Detail is the agent's report of how the run ended, or who an ask was handed over to.
	Detail string `json:"detail,omitempty"`
	// Sum is a salted hash of the record after the event, so that a later change to the
	// record is detected.
	Sum string `json:"sum,omitempty"`
	// Content is the sum of an approval before its values were dropped, in the form that a
	// baseline adds up.
	Content string `json:"content,omitempty"`
	// Baseline is the state of the older asks, and Through the leaf before which it
	// applies.
	Baseline *Baseline `json:"baseline,omitempty"`
	Through  int64     `json:"through,omitempty"`
	// Key is the verifier key that applies from here on.
	Key string `json:"key,omitempty"`
	// Lost is the checkpoint of the history that an older copy replaced.
	Lost string `json:"lost,omitempty"`
	// Salt prevents guessing a dropped leaf from its hash.
	Salt string `json:"salt"`
}

// Encode returns the event as the value of a leaf.
func Encode(e *Event) ([]byte, error) {
	value, err := strictjson.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("history: write an event: %w", err)
	}
	return value, nil
}

// Decode reads what [Encode] wrote. The error says why value is not one of our events, and
// quotes nothing of it.
func Decode(value []byte) (Event, error) {
	var e Event
	if err := strictjson.Unmarshal(value, &e); err != nil {
		return Event{}, fmt.Errorf("history: read an event: %w", err)
	}
	switch {
	case e.Version > form:
		return Event{}, fmt.Errorf("history: an event has form %d and this vaglio reads up to %d: use the newer vaglio that wrote it", e.Version, form)
	case e.Version < 1 || e.Kind == "" || e.Salt == "":
		return Event{}, errors.New("history: an event lacks its form, its kind or its salt")
	}
	return e, nil
}

// salts generates salts that nobody can predict without the seed; the same seed gives the
// same salts.
type salts struct {
	seed string
	n    int
}

func (s *salts) next() string {
	s.n++
	h := sha256.Sum256(fmt.Appendf(nil, "vaglio history salt %d %s", s.n, s.seed))
	return base64.RawURLEncoding.EncodeToString(h[:16])
}

// sum returns the salted hash of a record.
func sum(salt string, record any) (string, error) {
	b, err := strictjson.Marshal(record)
	if err != nil {
		return "", fmt.Errorf("history: sum up a record: %w", err)
	}
	h := sha256.New()
	h.Write([]byte(salt))
	h.Write(b)
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)), nil
}
