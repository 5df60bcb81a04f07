package dispatcher

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/dispatcher/read"
	"github.com/metnos/vaglio/internal/strictjson"
)

// Digester is a channel that shows people a digest. A message is opened first and filled
// once its reference is on disk, so that a crash in between leaves one that says nothing,
// and never two that say the same.
type Digester interface {
	// OpenDigest posts a message that says that a digest is coming, and returns its
	// reference. The key identifies the digest, in ASCII letters, digits, colons and
	// hyphens; no other digest has it on the channel.
	OpenDigest(ctx context.Context, key string, silent bool) (ref string, err error)
	// ShowDigest makes the message show the digest; it is repeated until it succeeds.
	// [approval.ErrGone] asks for a new message.
	ShowDigest(ctx context.Context, ref string, d report.Digest) error
}

// DigestFinder is a Digester that can look for a message left by an OpenDigest that may
// never have returned.
type DigestFinder interface {
	// FindDigest returns the reference of the message that was opened with the key; ok is
	// false if there is none, or if that cannot be determined.
	FindDigest(ctx context.Context, key string) (ref string, ok bool, err error)
}

// digestSender sends one channel its digests, each window once. What was sent is read from
// the store, never deduced from the ticks that wake it.
type digestSender struct {
	name    string
	channel Digester
	kick    chan struct{}
}

// digestsBody is the record of a channel's digests. Windows adjoin because each begins
// where the last one sent ended.
type digestsBody struct {
	Version int `json:"v"`
	// Through is the end of the last window that was sent.
	Through time.Time `json:"through"`
	// Due is the end of the window that is being sent; zero if none is.
	Due time.Time `json:"due,omitzero"`
	// Begun says that its message may exist although Ref is empty.
	Begun bool `json:"begun,omitempty"`
	// Ref is the message that is to show the digest; empty until it is opened.
	Ref string `json:"ref,omitempty"`
	// Checkpoint is the history's checkpoint when the digest was begun, so that a repeat
	// shows the same one.
	Checkpoint string `json:"checkpoint,omitempty"`
}

const (
	// digestLate is how long after its time a digest counts as late.
	digestLate = 15 * time.Minute
	// digestsMissed is how many missed days get a digest each. Everything older comes as
	// one digest.
	digestsMissed = 7
	// digestAhead is how far in the future the last digest may be. Beyond that, the clock
	// was wrong when it was sent, and it no longer counts.
	digestAhead = 25 * time.Hour
)

// tickDigests wakes the digestSenders at the configured time of day, and every minute for
// what that misses: a day on which the clock skips the time, a machine that slept, a
// channel that was down.
func (d *Dispatcher) tickDigests(ctx context.Context) error {
	if d.hours.Digest == nil || len(d.outlets.digestSenders) == 0 {
		return d.forgetDigests(ctx)
	}
	zone := d.hours.Digest.Zone
	if zone == nil {
		zone = time.UTC
	}
	clock := cron.New(cron.WithLocation(zone), cron.WithLogger(cron.DiscardLogger))
	wake := func() {
		for _, p := range d.outlets.digestSenders {
			select {
			case p.kick <- struct{}{}:
			default:
			}
		}
	}
	for _, spec := range []string{fmt.Sprintf("%d %d * * *", d.hours.Digest.Minute%60, d.hours.Digest.Minute/60), "@every 1m"} {
		if _, err := clock.AddFunc(spec, wake); err != nil {
			return fmt.Errorf("dispatcher: schedule digests: %w", err)
		}
	}
	wake()
	clock.Start()
	<-ctx.Done()
	<-clock.Stop().Done()
	return nil
}

// forgetDigests drops the records of what was sent while digests are off: if they are
// turned on again, nobody is told about the time in between.
func (d *Dispatcher) forgetDigests(ctx context.Context) error {
	for _, p := range d.outlets.digestSenders {
		_, err := d.store.Update(ctx, approval.KindMeta, p.record(), func(r approval.Record) (approval.Record, error) {
			if !r.Exists() {
				return r, approval.ErrKeep
			}
			r.Drop = true
			return r, nil
		})
		if err != nil && ctx.Err() == nil {
			d.log.WarnContext(ctx, "the record of sent digests cannot be dropped", "channel", p.name, "error", err)
		}
	}
	return nil
}

func (p *digestSender) record() string { return "digest/" + p.name }

// run sends what is due at every tick until ctx ends.
func (p *digestSender) run(ctx context.Context, d *Dispatcher) error {
	if d.hours.Digest == nil {
		return nil
	}
	for tries := 0; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-p.kick:
		}
		err := p.send(ctx, d)
		if err == nil || ctx.Err() != nil {
			tries = 0
			continue
		}
		pause := backoff(tries)
		if retry, ok := errors.AsType[*approval.RetryError](err); ok && retry.After > 0 {
			pause = retry.After
		}
		tries++
		d.log.With("channel", p.name).WarnContext(ctx, "a digest failed; trying again", "pause", pause, "error", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// send sends every digest that is due, oldest first.
func (p *digestSender) send(ctx context.Context, d *Dispatcher) error {
	for {
		body, err := p.begin(ctx, d)
		if err != nil || body.Due.IsZero() {
			return err
		}
		if err := p.deliver(ctx, d, body); err != nil {
			return err
		}
	}
}

// begin records which window is to be sent next, if one is over.
func (p *digestSender) begin(ctx context.Context, d *Dispatcher) (digestsBody, error) {
	at := now()
	return p.update(ctx, d, func(b *digestsBody) error {
		if b.Through.IsZero() || b.Through.Sub(at) > digestAhead {
			*b = digestsBody{Version: b.Version, Through: d.hours.Digest.Last(at).To}
			return nil
		}
		if !b.Due.IsZero() {
			return approval.ErrKeep
		}
		last := d.hours.Digest.Last(at)
		due := later(d.hours.Digest.After(b.Through), d.hours.Digest.Last(last.To.AddDate(0, 0, 1-digestsMissed)).To)
		if due.After(at) || !due.After(b.Through) {
			return approval.ErrKeep
		}
		b.Due = due
		return nil
	})
}

// deliver opens a message, shows the digest in it and records that it is sent. A window
// with nothing to tell counts as sent, too.
func (p *digestSender) deliver(ctx context.Context, d *Dispatcher, body digestsBody) error {
	// Another process may have gone on in the meantime.
	mine := func(change func(*digestsBody)) func(*digestsBody) error {
		return func(b *digestsBody) error {
			if b.Due.Equal(body.Due) {
				change(b)
				return nil
			}
			return approval.ErrKeep
		}
	}
	tell := func() (report.Digest, error) {
		return d.DigestOf(ctx, report.Window{From: body.Through, To: body.Due}, read.Telling{Routes: d.digestRoutes(p.name)})
	}
	done := func() error {
		_, err := p.update(ctx, d, mine(func(b *digestsBody) {
			b.Through, b.Due, b.Ref, b.Begun, b.Checkpoint = b.Due, time.Time{}, "", false, ""
		}))
		return err
	}
	// A call may belong to the window without a record of it yet.
	patient, cancel := context.WithTimeout(ctx, digestLate)
	defer cancel()
	d.underway.settled(patient, body.Due)
	if d.hours.QuietDays && body.Ref == "" && !body.Begun {
		if digest, err := tell(); err != nil {
			return err
		} else if digest.Empty() {
			return done()
		}
	}
	body, err := p.open(ctx, d, body, mine)
	if err != nil {
		return err
	}
	if body, err = p.witness(ctx, d, body, mine); err != nil {
		return err
	}
	digest, err := tell()
	if err != nil {
		return err
	}
	digest.Checkpoint = body.Checkpoint
	digest.Late = now().Sub(body.Due) > digestLate
	err = p.channel.ShowDigest(ctx, body.Ref, digest)
	if errors.Is(err, approval.ErrGone) {
		_, kept := p.update(ctx, d, mine(func(b *digestsBody) { b.Ref = "" }))
		return errors.Join(err, kept)
	}
	if err != nil {
		return err
	}
	return done()
}

// open returns the record with the message that is to show the digest: an existing one, one
// that an earlier try left, or a new one.
func (p *digestSender) open(ctx context.Context, d *Dispatcher, body digestsBody, mine func(func(*digestsBody)) func(*digestsBody) error) (digestsBody, error) {
	if body.Ref != "" {
		return body, nil
	}
	ref, key := "", body.Due.UTC().Format(time.RFC3339)
	if f, ok := p.channel.(DigestFinder); ok && body.Begun {
		var err error
		if ref, _, err = f.FindDigest(ctx, key); err != nil {
			return body, err
		}
	}
	if ref == "" {
		_, err := p.update(ctx, d, mine(func(b *digestsBody) { b.Begun = true }))
		if err == nil {
			ref, err = p.channel.OpenDigest(ctx, key, d.hours.Quiet.at(time.Now()))
		}
		if err != nil {
			return body, err
		}
	}
	return p.update(ctx, d, mine(func(b *digestsBody) { b.Ref, b.Begun = ref, false }))
}

// update changes the channel's record in one compare-and-swap, and returns what is kept.
func (p *digestSender) update(ctx context.Context, d *Dispatcher, change func(*digestsBody) error) (digestsBody, error) {
	var body digestsBody
	_, err := d.store.Update(ctx, approval.KindMeta, p.record(), func(r approval.Record) (approval.Record, error) {
		body = digestsBody{Version: 1}
		if r.Exists() {
			if err := strictjson.Unmarshal(r.Body, &body); err != nil {
				return r, err
			}
		}
		if body.Version != 1 {
			return r, errors.New("dispatcher: what was sent of digests is from a newer vaglio")
		}
		if err := change(&body); err != nil {
			return r, err
		}
		var err error
		r.Body, err = strictjson.Marshal(body)
		return r, err
	})
	if err != nil {
		return body, fmt.Errorf("dispatcher: keep what was sent of digests: %w", err)
	}
	return body, nil
}
