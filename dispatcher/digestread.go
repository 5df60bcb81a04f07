package dispatcher

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
)

const (
	// digestReach is how long before a window a record may have been born that
	// still concerns it: a call waits a day at most, and its run may be reported
	// a day later. The rest is room for a clock that was set.
	digestReach = 4 * 24 * time.Hour
	// digestOld is how many records before that reach end the reading. A single
	// one says nothing: the clock may have been wrong.
	digestOld = 1000
)

// Digest returns the digest that was due on a day such as "2026-11-21"; empty
// is the last one. A day that is none, or has not come, is an
// [*report.DayError].
func (d *Dispatcher) Digest(ctx context.Context, day string) (report.Digest, error) {
	w, err := d.digestWindow(day)
	if err != nil {
		return report.Digest{}, err
	}
	return d.signed(ctx, w, telling{})
}

// signed computes a window's digest and gives it the checkpoint of now.
func (d *Dispatcher) signed(ctx context.Context, w report.Window, of telling) (report.Digest, error) {
	checkpoint, err := d.Checkpoint(ctx)
	if err != nil {
		return report.Digest{}, err
	}
	digest, err := d.digest(ctx, w, of)
	digest.Checkpoint = checkpoint
	return digest, err
}

// Judgements is [Dispatcher.Digest], and hands on every verdict of its window, in
// no order: what the audit log should have lines of.
func (d *Dispatcher) Judgements(ctx context.Context, day string, each func(report.Judgement)) (report.Digest, error) {
	w, err := d.digestWindow(day)
	if err != nil {
		return report.Digest{}, err
	}
	return d.digest(ctx, w, telling{each: each})
}

// telling is what a digest tells.
type telling struct {
	// routes are those of whose calls it tells; none means all calls.
	routes []string
	// each is handed every verdict; it may be nil.
	each func(report.Judgement)
}

// digestWindow is the window of a day, or the last one.
func (d *Dispatcher) digestWindow(day string) (report.Window, error) {
	if day == "" {
		return d.digestHours().Last(now()), nil
	}
	w, err := d.digestHours().Parse(day)
	switch {
	case err != nil:
	case w.To.After(now()):
		err = &report.DayError{Day: day, Early: true}
	case w.From.Before(now().Add(-stepsKept)):
		err = &report.DayError{Day: day, Kept: int(stepsKept / (24 * time.Hour))}
	}
	return w, err
}

// DigestDay returns the day on which a window's digest is due.
func (d *Dispatcher) DigestDay(w report.Window) string { return d.digestHours().Day(w) }

// digestHours are the hours of digests, also where none is sent.
func (d *Dispatcher) digestHours() report.Hours {
	if d.hours == nil {
		return report.Hours{Zone: d.quiet.Zone}
	}
	return *d.hours
}

// digestRoutes are those of whose calls a channel's digests tell: the routes that
// name a channel which shows nothing else. None means all calls.
func (d *Dispatcher) digestRoutes(channel string) []string {
	if approval.IsPlain(channel) {
		return nil
	}
	var names []string
	for i := range d.routing.Routes {
		if to := &d.routing.Routes[i]; slices.Contains(to.Channels, channel) {
			names = append(names, to.Name)
		}
	}
	return names
}

// digest computes a window's digest from the store's records.
func (d *Dispatcher) digest(ctx context.Context, w report.Window, of telling) (report.Digest, error) {
	zone := d.digestHours().Zone
	if zone == nil {
		zone = time.UTC
	}
	ago := func(t time.Time) time.Time { return t.In(zone).AddDate(0, 0, -7) }
	before := report.Window{From: ago(w.From), To: ago(w.To)}
	this, then := report.NewDigestBuilder(w, d.masker, d.digestHours().Week(w)...), report.NewDigestBuilder(before, d.masker)
	this.Of(of.routes...)
	then.Of(of.routes...)
	this.Tell(of.each)
	this.Named(d.effect)
	since := before.From.Add(-digestReach)
	newest := approval.Query{Newest: true}
	err := recent(d.asks(ctx, newest), func(a *approval.Ask) (old bool) {
		this.Ask(a)
		then.Ask(a)
		return a.OpenedAt.Before(since)
	})
	if err != nil {
		return report.Digest{}, err
	}
	err = recent(d.stepsOf(ctx, newest), func(s *approval.Step) (old bool) {
		this.Step(s)
		then.Step(s)
		return s.At.Before(since)
	})
	if err != nil {
		return report.Digest{}, err
	}
	return this.Digest(then), nil
}

// recent reads records, newest first, until take has called many in a row old.
func recent[T any](records iter.Seq2[kept[T], error], take func(*T) (old bool)) error {
	aged, work := 0, startLongRead()
	for r, err := range records {
		if err != nil {
			return fmt.Errorf("dispatcher: read records for a digest: %w", err)
		}
		work.rest()
		if !take(&r.is) {
			aged = 0
		} else if aged++; aged == digestOld {
			return nil
		}
	}
	return nil
}

// longRead is work that may take seconds, and that nobody waits for as agents do
// for their answers: it leaves them a processor half of the time.
type longRead struct{ since time.Time }

const (
	// readStint is how long a long read works before it rests as long.
	readStint = time.Millisecond
	// readRest is how long it rests at most: where the machine is busy, a stint
	// lasts long because others have the processor anyway.
	readRest = 5 * time.Millisecond
)

func startLongRead() *longRead { return &longRead{time.Now()} }

// rest is called between two records.
func (l *longRead) rest() {
	worked := time.Since(l.since)
	if worked < readStint {
		// A proposal takes several steps from goroutine to goroutine: each may
		// have its turn at once.
		runtime.Gosched()
		return
	}
	time.Sleep(min(worked, readRest))
	l.since = time.Now()
}

// ErrNoDigester says that no channel shows digests.
var ErrNoDigester = errors.New("no channel shows digests: set one up, such as the Telegram bot")

// DigestSending is how one channel was shown a digest.
type DigestSending struct {
	Channel string
	// Err says why it may not have been; nil says that it was.
	Err error
}

// SendDigest shows the digest of a day on every channel that shows digests, also
// where it was sent before, and returns how that ended on each. What is sent by
// the clock stays as it is.
func (d *Dispatcher) SendDigest(ctx context.Context, day string) ([]DigestSending, error) {
	if len(d.postmen) == 0 {
		return nil, ErrNoDigester
	}
	w, err := d.digestWindow(day)
	if err != nil {
		return nil, err
	}
	sent := make([]DigestSending, 0, len(d.postmen))
	for _, p := range d.postmen {
		sent = append(sent, DigestSending{p.name, p.byHand(ctx, d, w)})
	}
	return sent, nil
}

// byHand shows a window's digest in a message of its own.
func (p *postman) byHand(ctx context.Context, d *Dispatcher, w report.Window) error {
	digest, err := d.signed(ctx, w, telling{routes: d.digestRoutes(p.name)})
	if err != nil {
		return err
	}
	ref, err := p.channel.OpenDigest(ctx, "by-hand-"+rand.Text(), false)
	if err != nil {
		return err
	}
	return p.channel.ShowDigest(ctx, ref, digest)
}
