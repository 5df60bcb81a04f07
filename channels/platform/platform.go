// Package platform is what every channel needs that speaks to a chat platform:
// notes that outlive the process, pauses that the platform asks for, the reading
// of its requests, and trouble told in words. It knows no platform.
package platform

import (
	"context"
	"time"

	"github.com/metnos/vaglio/templates"
)

// Locale is how a channel speaks to people: the texts, the language of those who
// chose none, and the time zone.
type Locale struct {
	// Texts are what people read; nil means the embedded ones.
	Texts *templates.Set
	Lang  templates.Lang
	// Zone is the time zone of what people read; nil means UTC.
	Zone *time.Location
}

// Load sets what is not set, and how orders are given where the texts are read. The
// error is the embedded texts'.
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

// English returns the texts as logs and the operator's commands have them.
func (l *Locale) English() *templates.Texts { return l.In(templates.English) }

// Sleep waits for d, or until ctx ends.
func Sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

const (
	// FirstPause is how long to wait after a first failure.
	FirstPause = time.Second
	// LongestPause is how long at most, so that what works again is noticed.
	LongestPause = time.Minute
)

// Backoff is how long to wait after so many failures in a row, the first being
// 0: first, and twice as long each time up to longest.
func Backoff(first, longest time.Duration, failures int) time.Duration {
	return min(first<<min(failures, 10), longest)
}
