package read

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
)

const (
	// digestReach is how long before a window a record that still concerns it may have been
	// born: a call waits a day at most, and its run may be reported a day later. The rest
	// is room for a clock that was changed.
	digestReach = 4 * 24 * time.Hour
	// digestOld is how many records from before that reach end the reading. A single one
	// proves nothing: the clock may have been wrong.
	digestOld = 1000
)

// Judgements computes the digest of a day, and passes on every verdict of its window, in no
// particular order: those the audit log should have lines for.
func (r *Reader) Judgements(ctx context.Context, day string, each func(report.Judgement)) (report.Digest, error) {
	w, err := r.Window(day)
	if err != nil {
		return report.Digest{}, err
	}
	return r.DigestOf(ctx, w, Telling{Each: each})
}

// Telling says what a digest covers.
type Telling struct {
	// Routes are the routes whose calls it covers; empty means all calls.
	Routes []string
	// Each is called with every verdict; it may be nil.
	Each func(report.Judgement)
}

// Window returns the window of a day, or the last one that is over.
func (r *Reader) Window(day string) (report.Window, error) {
	if day == "" {
		return r.hours.Last(now()), nil
	}
	w, err := r.hours.Parse(day)
	switch {
	case err != nil:
	case w.To.After(now()):
		err = &report.DayError{Day: day, Early: true}
	case w.From.Before(now().Add(-r.stepsKept)):
		err = &report.DayError{Day: day, Kept: int(r.stepsKept / (24 * time.Hour))}
	}
	return w, err
}

// OpenWindow returns the window from when the last digest was due until now.
func (r *Reader) OpenWindow() report.Window {
	at := now()
	return report.Window{From: r.hours.Last(at).To, To: at}
}

// DigestDay returns the day on which a window's digest is due.
func (r *Reader) DigestDay(w report.Window) string { return r.hours.Day(w) }

// DigestOf computes a window's digest from the store's records.
func (r *Reader) DigestOf(ctx context.Context, w report.Window, of Telling) (report.Digest, error) {
	zone := r.hours.Zone
	if zone == nil {
		zone = time.UTC
	}
	ago := func(t time.Time) time.Time { return t.In(zone).AddDate(0, 0, -7) }
	before := report.Window{From: ago(w.From), To: ago(w.To)}
	this, then := report.NewDigestBuilder(w, r.masker, r.hours.Week(w)...), report.NewDigestBuilder(before, r.masker)
	this.Of(of.Routes...)
	then.Of(of.Routes...)
	this.Tell(of.Each)
	this.Named(r.effect)
	this.Human(r.human)
	since := before.From.Add(-digestReach)
	newest := approval.Query{Newest: true}
	err := recent(r.records.Asks(ctx, newest), func(a *approval.Ask) (old bool) {
		this.Ask(a)
		then.Ask(a)
		return a.OpenedAt.Before(since)
	})
	if err != nil {
		return report.Digest{}, err
	}
	err = recent(r.records.Steps(ctx, newest), func(s *approval.Step) (old bool) {
		this.Step(s)
		then.Step(s)
		return s.At.Before(since)
	})
	if err != nil {
		return report.Digest{}, err
	}
	var unread approval.UnreadParts
	span := approval.Span{From: before.From, To: w.To, NotesOnly: of.Each == nil}
	err = r.countPassed(ctx, span, counter{
		knows:   func(c *report.Counters) bool { return this.Knows(c) && then.Knows(c) },
		counted: func(c *report.Counters) { this.Counted(c); then.Counted(c) },
		step:    func(s *approval.Step, _ uint64) { this.Step(s); then.Step(s) },
		lost:    func(e *approval.UnreadError) { unread.Add(e, w.From, w.To) },
	})
	if err != nil {
		return report.Digest{}, err
	}
	digest := this.Digest(then)
	digest.Unread = unread
	return digest, nil
}

// recent reads records, newest first, until take has called many in a row old.
func recent[T any](records iter.Seq2[Kept[T], error], take func(*T) (old bool)) error {
	aged, work := 0, startLongRead()
	for stored, err := range records {
		if err != nil {
			return fmt.Errorf("read: read records for a digest: %w", err)
		}
		work.rest()
		if !take(&stored.Is) {
			aged = 0
		} else if aged++; aged == digestOld {
			return nil
		}
	}
	return nil
}

// longRead is work that may take seconds and that nobody waits for as urgently as agents
// wait for their answers: it leaves them a processor half of the time.
type longRead struct{ since time.Time }

const (
	// readStint is how long a long read works before it rests for as long.
	readStint = time.Millisecond
	// readRest is how long it rests at most: on a busy machine a stint takes long because
	// others get the processor anyway.
	readRest = 5 * time.Millisecond
)

func startLongRead() *longRead { return &longRead{time.Now()} }

// rest is called between two records.
func (l *longRead) rest() {
	worked := time.Since(l.since)
	if worked < readStint {
		// A proposal passes through several goroutines: this lets each of them run at once.
		runtime.Gosched()
		return
	}
	time.Sleep(min(worked, readRest))
	l.since = time.Now()
}
