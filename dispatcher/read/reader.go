// Package read tells people and agents what the store's records hold: what waits
// and what was asked, the turn log, digests and statistics. It writes nothing.
package read

import (
	"cmp"
	"context"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/vaglio"
)

// Reader reads what there is to be told. It is safe for concurrent use.
type Reader struct {
	records *Records
	masker  approval.Masker
	effect  func(vaglio.Proposal) (string, bool)
	human   func(id string) string
	hours   report.Hours
	night   report.Night
	// stepsKept is how long the turn log is kept.
	stepsKept time.Duration
	// readers has a place for each that reads statistics.
	readers chan struct{}
	counted *countedJournal
	guard   func(*approval.Card, string)
}

// Config is what a reader is made of.
type Config struct {
	Records *Records
	// Masker hides the secrets in what people are told.
	Masker approval.Masker
	// Effect names what a call would do and to what, in one form for every
	// spelling, or says that it cannot tell. Nil leaves equal calls alone to be
	// the same.
	Effect func(vaglio.Proposal) (effect string, known bool)
	// Human names who is behind an id, which it returns where nobody is known to be. Nil
	// knows nobody.
	Human func(id string) string
	// Hours are when a day's digest is due, also where none is sent.
	Hours report.Hours
	// Night is when people are not to be disturbed.
	Night report.Night
	// StepsKept is how long the turn log is kept; 0 is [StepsKept].
	StepsKept time.Duration
	// Guard takes off a card what nobody may press on that channel now; nil takes
	// nothing.
	Guard func(c *approval.Card, channel string)
}

// New returns a reader of records.
func New(c Config) *Reader {
	return &Reader{
		records: c.Records, masker: c.Masker, effect: c.Effect, human: c.Human, hours: c.Hours, night: c.Night,
		stepsKept: cmp.Or(c.StepsKept, StepsKept),
		guard:     c.Guard,
		readers:   make(chan struct{}, statisticsReaders), counted: newCountedJournal(),
	}
}

// Unread returns the records that could not be read since the start, by kind and
// id, each with its reason. All else goes on without them.
func (r *Reader) Unread() []*approval.UnreadError { return r.records.Unread() }

// ask reads an ask as it is now: over where its deadline has passed, though
// nobody has written that yet.
func (r *Reader) ask(ctx context.Context, idOrKey string) (approval.Ask, error) {
	ask, err := r.records.Ask(ctx, idOrKey)
	if err == nil {
		ask.Lapse(now())
	}
	return ask, err
}

// now is the present as it is kept: in UTC and without a monotonic reading.
func now() time.Time { return time.Now().Round(0).UTC() }
