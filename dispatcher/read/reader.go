// Package read tells people and agents what the store's records hold: what waits and what
// was asked, the turn log, digests and statistics. It writes nothing.
package read

import (
	"cmp"
	"context"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/vaglio"
)

// Reader reads records for people and agents. It is safe for concurrent use.
type Reader struct {
	records *Records
	masker  approval.Masker
	effect  func(vaglio.Proposal) (string, bool)
	human   func(id string) string
	hours   report.Hours
	night   report.Night
	// stepsKept is how long the turn log is kept.
	stepsKept time.Duration
	// readers has a slot for each concurrent reading of statistics.
	readers chan struct{}
	counted *countedJournal
	guard   func(*approval.Card, string)
}

// Config configures a reader.
type Config struct {
	Records *Records
	// Masker hides the secrets in what people see.
	Masker approval.Masker
	// Effect returns a name for what a call would do and to what, in one form for every
	// spelling, and whether that is known. If nil, only equal calls are the same.
	Effect func(vaglio.Proposal) (effect string, known bool)
	// Human returns the name of the person behind an id, or the id if nobody is known. If
	// nil, nobody is known.
	Human func(id string) string
	// Hours say when a day's digest is due, even if none is sent.
	Hours report.Hours
	// Night is when people are not to be disturbed.
	Night report.Night
	// StepsKept is how long the turn log is kept; 0 means [StepsKept].
	StepsKept time.Duration
	// Guard removes from a card what nobody may press on that channel now; nil removes
	// nothing.
	Guard func(c *approval.Card, channel string)
}

// New returns a Reader of records.
func New(c Config) *Reader {
	return &Reader{
		records: c.Records, masker: c.Masker, effect: c.Effect, human: c.Human, hours: c.Hours, night: c.Night,
		stepsKept: cmp.Or(c.StepsKept, StepsKept),
		guard:     c.Guard,
		readers:   make(chan struct{}, statisticsReaders), counted: newCountedJournal(),
	}
}

// Unread returns the records that could not be read since the start, sorted by kind and id,
// each with its reason. Everything else goes on without them.
func (r *Reader) Unread() []*approval.UnreadError { return r.records.Unread() }

// ask reads an ask as it is now: expired if its deadline has passed, even if nobody has
// written that yet.
func (r *Reader) ask(ctx context.Context, idOrKey string) (approval.Ask, error) {
	ask, err := r.records.Ask(ctx, idOrKey)
	if err == nil {
		ask.Lapse(now())
	}
	return ask, err
}

// now returns the current time as it is stored: in UTC and without a monotonic reading.
func now() time.Time { return time.Now().Round(0).UTC() }
