// Package history is the tamper-evident history of approvals: a Merkle tree of
// RFC 6962 whose leaves are what happened, one event each. It says what a leaf
// holds, which events a change of an ask makes, how the tree's state is signed,
// and whether a history that was kept is whole. It is pure: no clock is read and
// nothing is stored; a store keeps the leaves, in the transaction of the change
// that they tell of.
//
// A leaf's value is strict JSON with a salt of its own, so that once it was
// dropped nobody can guess it back from its hash. A signed state of the tree is a
// checkpoint in the form of C2SP tlog-checkpoint: whoever has one can tell later
// whether anything before it was changed, left out or put in.
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

// The kinds of events in an approval's life. Those that name a state are about
// an approval that came into it.
const (
	Opened     Kind = "opened" // asked, with the ask that was opened for it
	Joined     Kind = "joined" // asked, on the card of an ask that was open
	Vote       Kind = "vote"   // somebody allowed it, and more people have to
	Unvote     Kind = "unvote" // a vote is worth nothing any more
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
	// Began is the first leaf. What older asks there were is in its baseline.
	Began Kind = "began"
	// Dropped says that the values of old leaves were dropped, as configured.
	Dropped Kind = "dropped"
	// Rekeyed says that the key was missing at a start, and a new one was made.
	Rekeyed Kind = "rekeyed"
	// Restored says that an older copy of the store was found at a start.
	Restored Kind = "restored"
)

// Event is what one leaf tells. Nothing in it is a secret: free texts are
// masked, and of a call it has the fingerprint and no arguments.
type Event struct {
	Version int       `json:"v"`
	Kind    Kind      `json:"kind"`
	At      time.Time `json:"at"`
	Agent   string    `json:"agent,omitempty"`
	Turn    string    `json:"turn,omitempty"`
	// Ask is set for what happens to an ask as a whole, Approval for everything
	// else that is about one, and Step for a veto: its id in the turn log.
	Ask         approval.AskID       `json:"ask,omitempty"`
	Approval    approval.ID          `json:"approval,omitempty"`
	Step        string               `json:"step,omitempty"`
	Executor    string               `json:"executor,omitempty"`
	Fingerprint approval.Fingerprint `json:"fingerprint,omitempty"`
	// From and To are the approval's states before and after. From is empty for
	// one that was just asked.
	From approval.State `json:"from,omitempty"`
	To   approval.State `json:"to,omitempty"`
	// By is the stable id of the person, Name how they are called on the channel.
	By      string `json:"by,omitempty"`
	Name    string `json:"name,omitempty"`
	Channel string `json:"channel,omitempty"`
	Words   string `json:"words,omitempty"`
	// Grant is the approval whose grant allowed the call, and Brake says that the
	// brake denied it. Until is when a grant, a brake or a snooze ends, Uses how many calls
	// a grant covers, or covered so far.
	// Form is the approval of the changed form, where a person had to allow it.
	Grant approval.ID `json:"grant,omitempty"`
	Form  approval.ID `json:"form,omitempty"`
	Brake bool        `json:"brake,omitempty"`
	Until time.Time   `json:"until,omitzero"`
	Uses  int         `json:"uses,omitempty"`
	// Route is where the ask went.
	Route string `json:"route,omitempty"`
	// Rule is the guard's, Judge and Score the judge's that denied.
	Rule  string  `json:"rule,omitempty"`
	Judge string  `json:"judge,omitempty"`
	Score float64 `json:"score,omitzero"`
	// Detail is the agent's report of how the run ended, or to whom it was handed over.
	Detail string `json:"detail,omitempty"`
	// Sum is a salted hash of the record as the event left it, so that a record
	// which was changed later is found.
	Sum string `json:"sum,omitempty"`
	// Content is the sum of an approval before its values were dropped, as a baseline
	// adds it up.
	Content string `json:"content,omitempty"`
	// Baseline is how the older asks stand, and Through before which leaf.
	Baseline *Baseline `json:"baseline,omitempty"`
	Through  int64     `json:"through,omitempty"`
	// Key is the verifier key of those who sign from here on.
	Key string `json:"key,omitempty"`
	// Lost is the checkpoint of the history that an older copy replaced.
	Lost string `json:"lost,omitempty"`
	// Salt keeps a dropped leaf from being guessed.
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

// Decode reads what [Encode] wrote. The error says why it cannot be one of ours,
// and repeats nothing of it.
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

// salts deals salts that nobody can tell from each other's, and the same ones
// for the same seed.
type salts struct {
	seed string
	n    int
}

func (s *salts) next() string {
	s.n++
	h := sha256.Sum256(fmt.Appendf(nil, "vaglio history salt %d %s", s.n, s.seed))
	return base64.RawURLEncoding.EncodeToString(h[:16])
}

// sum is the salted hash of a record.
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
