package channeltest

import (
	"context"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
)

// Remember sets the desk's history.
func (d *Desk) Remember(past ...approval.Entry) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.past = past
}

// History returns the desk's history, page by page.
func (d *Desk) History(_ context.Context, f approval.Filter) (approval.Page, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var page approval.Page
	for _, e := range d.past {
		if f.Before > 0 && e.Cursor >= f.Before {
			continue
		}
		if f.Limit > 0 && len(page.Entries) == f.Limit {
			page.Older = page.Entries[f.Limit-1].Cursor
			break
		}
		page.Entries = append(page.Entries, e)
	}
	return page, d.fail
}

// DigestDay is the one day for which the desk has a digest.
const DigestDay = "2000-01-01"

// Account sets the desk's digest, for DigestDay and for now, and how long it takes to make.
func (d *Desk) Account(digest report.Digest, takes time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.digest, d.takes = digest, takes
}

// Digest returns the digest of now, which is the empty day, or of DigestDay.
func (d *Desk) Digest(_ context.Context, day string) (report.Digest, error) {
	d.mu.Lock()
	takes := d.takes
	d.mu.Unlock()
	time.Sleep(takes)
	d.mu.Lock()
	defer d.mu.Unlock()
	if day != "" && day != DigestDay {
		return report.Digest{}, &report.DayError{Day: day}
	}
	return d.digest, d.fail
}
