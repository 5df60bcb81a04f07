package instance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/internal/strictjson"
)

// runsRecord is the record of the daemon's runs.
const runsRecord = "runs"

// crashesKept is how many crashes are remembered, the newest ones. The turn log, in which they may
// have left gaps, is kept for some weeks.
const crashesKept = 100

// Runs records in the store whether the last run of the daemon ended cleanly, and which runs did
// not.
type Runs struct{ Store Store }

// runsBody is the body of the record.
type runsBody struct {
	Version int `json:"v"`
	// Began is when the last run began, and Ended says that it ended cleanly.
	Began   time.Time      `json:"began"`
	Ended   bool           `json:"ended"`
	Crashes []report.Crash `json:"crashes"`
}

// Begin records that a run begins. crashed reports whether the previous one did not end cleanly.
func (r Runs) Begin(ctx context.Context, now time.Time) (crashed bool, err error) {
	now = now.UTC().Round(0)
	err = r.change(ctx, func(b *runsBody) {
		crashed = !b.Began.IsZero() && !b.Ended
		if crashed {
			b.Crashes = append(b.Crashes, report.Crash{Began: b.Began, Noticed: now})
			b.Crashes = b.Crashes[max(0, len(b.Crashes)-crashesKept):]
		}
		b.Began, b.Ended = now, false
	})
	return crashed, err
}

// End records that the run ended cleanly: everything that it had to write is on disk.
func (r Runs) End(ctx context.Context) error {
	return r.change(ctx, func(b *runsBody) { b.Ended = true })
}

// Crashes returns the runs that did not end cleanly, oldest first.
func (r Runs) Crashes(ctx context.Context) ([]report.Crash, error) {
	record, err := r.Store.Get(ctx, approval.KindMeta, runsRecord)
	if errors.Is(err, approval.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	b, err := decodeRuns(record.Body)
	return b.Crashes, err
}

func (r Runs) change(ctx context.Context, change func(*runsBody)) error {
	_, err := r.Store.Update(ctx, approval.KindMeta, runsRecord, func(record approval.Record) (approval.Record, error) {
		b := runsBody{Version: 1, Crashes: []report.Crash{}}
		var err error
		if record.Exists() {
			if b, err = decodeRuns(record.Body); err != nil {
				return record, err
			}
		}
		change(&b)
		record.ID = runsRecord
		record.Body, err = strictjson.Marshal(b)
		return record, err
	})
	if err != nil {
		return fmt.Errorf("note the run: %w", err)
	}
	return nil
}

func decodeRuns(body []byte) (b runsBody, err error) {
	if err := strictjson.Unmarshal(body, &b); err != nil {
		return b, fmt.Errorf("the record of the runs: %w", err)
	}
	if b.Version != 1 {
		return b, errors.New("the record of the runs is from a newer vaglio")
	}
	return b, nil
}
