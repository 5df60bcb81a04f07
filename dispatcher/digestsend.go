package dispatcher

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/dispatcher/read"
)

// Digest returns the digest that was due on a day such as "2026-11-21"; an empty day means
// the window that is not over, as it stands so far. A day that is invalid or still to come
// gives an [*report.DayError].
func (d *Dispatcher) Digest(ctx context.Context, day string) (report.Digest, error) {
	if day == "" {
		return d.soFar(ctx)
	}
	w, err := d.Window(day)
	if err != nil {
		return report.Digest{}, err
	}
	return d.signed(ctx, w, read.Telling{})
}

// soFar returns the digest of the window that is not over.
func (d *Dispatcher) soFar(ctx context.Context) (report.Digest, error) {
	w := d.OpenWindow()
	digest, err := d.signed(ctx, w, read.Telling{})
	if digest.Open = true; d.hours.Digest != nil {
		digest.Next = d.hours.Digest.After(w.To)
	}
	if last, lost := d.Window(""); lost == nil {
		digest.Before = d.DigestDay(last)
	}
	return digest, err
}

// signed computes a window's digest and adds the current checkpoint.
func (d *Dispatcher) signed(ctx context.Context, w report.Window, of read.Telling) (report.Digest, error) {
	checkpoint, err := d.Checkpoint(ctx)
	if err != nil {
		return report.Digest{}, err
	}
	digest, err := d.DigestOf(ctx, w, of)
	digest.Checkpoint = checkpoint
	return digest, err
}

// digestRoutes returns the routes whose calls a channel's digests cover: those that name a
// channel which shows nothing else. None means all calls.
func (d *Dispatcher) digestRoutes(channel string) []string {
	if approval.IsPlain(channel) {
		return nil
	}
	var names []string
	for i := range d.deciders.Routing.Routes {
		if to := &d.deciders.Routing.Routes[i]; slices.Contains(to.Channels, channel) {
			names = append(names, to.Name)
		}
	}
	return names
}

// ErrNoDigester says that no channel shows digests.
var ErrNoDigester = errors.New("no channel shows digests: set one up, such as the Telegram bot")

// DigestSending is the result of showing a digest on one channel.
type DigestSending struct {
	Channel string
	// Err says why it may not have been shown; nil means that it was.
	Err error
}

// SendDigest shows the digest of a day, or the last one, on every channel that shows
// digests, even if it was sent there before, and returns the result for each. It does not
// affect what the clock sends.
func (d *Dispatcher) SendDigest(ctx context.Context, day string) ([]DigestSending, error) {
	if len(d.outlets.digestSenders) == 0 {
		return nil, ErrNoDigester
	}
	w, err := d.Window(day)
	if err != nil {
		return nil, err
	}
	sent := make([]DigestSending, 0, len(d.outlets.digestSenders))
	for _, p := range d.outlets.digestSenders {
		sent = append(sent, DigestSending{p.name, p.byHand(ctx, d, w)})
	}
	return sent, nil
}

// byHand shows a window's digest in a message of its own.
func (p *digestSender) byHand(ctx context.Context, d *Dispatcher, w report.Window) error {
	digest, err := d.signed(ctx, w, read.Telling{Routes: d.digestRoutes(p.name)})
	if err != nil {
		return err
	}
	ref, err := p.channel.OpenDigest(ctx, "by-hand-"+rand.Text(), false)
	if err != nil {
		return err
	}
	return p.channel.ShowDigest(ctx, ref, digest)
}
