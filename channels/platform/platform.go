// Package platform is what every channel needs that talks to a chat platform: notes that
// outlive the process, pauses that the platform asks for, the reading of its requests, and
// trouble described in words. It knows no particular platform.
package platform

import (
	"context"
	"time"

	"github.com/metnos/vaglio/templates"
)

// Locale is how a channel talks to people: the texts, the language of those who chose none,
// and the time zone.
type Locale struct {
	// Texts are what people read; nil means the embedded ones.
	Texts *templates.Set
	Lang  templates.Lang
	// Zone is the time zone of what people read; nil means UTC.
	Zone *time.Location
}

// Load sets the unset fields, and the form in which orders are given where the texts are
// read. The error is about the embedded texts.
func (l *Locale) Load(form templates.Form) (err error) {
	if l.Zone == nil {
		l.Zone = time.UTC
	}
	if l.Texts == nil {
		if l.Texts, err = templates.Load(nil); err != nil {
			return err
		}
	}
	l.Texts = l.Texts.By(form)
	return nil
}

// In returns the texts in a language.
func (l *Locale) In(lang templates.Lang) *templates.Texts { return l.Texts.In(lang, l.Zone) }

// English returns the texts for logs and the operator's commands.
func (l *Locale) English() *templates.Texts { return l.In(templates.English) }

// Sleep waits for d, or until ctx ends.
func Sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

const (
	// FirstPause is how long to wait after the first failure.
	FirstPause = time.Second
	// LongestPause is the longest wait, so that a recovery is noticed.
	LongestPause = time.Minute
)

// Backoff returns how long to wait after the given number of earlier failures: first, and
// twice as long each time, up to longest.
func Backoff(first, longest time.Duration, failures int) time.Duration {
	return min(first<<min(failures, 10), longest)
}
