package dispatcher

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/history"
	"github.com/metnos/vaglio/internal/strictjson"
)

// Announcer is a channel that tells people about changes to the gate itself.
type Announcer interface {
	// Announce shows the announcement as a message of its own.
	Announce(ctx context.Context, a approval.Announcement) error
}

// announcer tells announcements on one channel.
type announcer struct {
	name    string
	channel Announcer
	kick    chan struct{}
}

const (
	// announceRecord is the record of what is still to be told.
	announceRecord = "announcements"
	// announceFor is how long telling a channel is tried; older announcements are only in
	// the history.
	announceFor = 24 * time.Hour
	// mostAnnounced is the most announcements that wait to be told; the oldest are dropped.
	mostAnnounced = 200
)

// announceBody is the body of the record.
type announceBody struct {
	Version int    `json:"v"`
	Last    int    `json:"last"`
	Owed    []owed `json:"owed"`
}

// owed is one announcement, and the channels that have not told it yet.
type owed struct {
	N        int                   `json:"n"`
	What     approval.Announcement `json:"what"`
	Channels []string              `json:"channels"`
}

// Announce records a change to the gate in the history and has every chat tell it. When it
// returns nil, the announcement is on disk, and the chats will be told, if need be by the
// next process.
func (d *Dispatcher) Announce(ctx context.Context, a approval.Announcement) error {
	a.At = now()
	names := make([]string, len(d.outlets.announcers))
	for i, c := range d.outlets.announcers {
		names[i] = c.name
	}
	leaves, err := d.leaves.Note(history.Event{
		Kind: history.Kind(a.Kind), At: a.At, By: a.By, Agent: a.Agent, Detail: a.Detail,
	}, rand.Text())
	if err != nil {
		return err
	}
	err = d.changeOwed(ctx, leaves, func(b *announceBody) {
		b.Last++
		if len(names) > 0 {
			b.Owed = append(b.Owed, owed{b.Last, a, names})
			b.Owed = b.Owed[max(0, len(b.Owed)-mostAnnounced):]
		}
	})
	if err != nil {
		return err
	}
	for _, c := range d.outlets.announcers {
		select {
		case c.kick <- struct{}{}:
		default:
		}
	}
	return nil
}

// changeOwed changes what is still to be told, together with leaves of the history.
func (d *Dispatcher) changeOwed(ctx context.Context, leaves [][]byte, change func(*announceBody)) error {
	_, err := d.store.Update(ctx, approval.KindMeta, announceRecord, func(r approval.Record) (approval.Record, error) {
		b, err := decodeOwed(r)
		if err != nil {
			return r, err
		}
		change(&b)
		r.ID, r.Leaves = announceRecord, leaves
		r.Body, err = strictjson.Marshal(b)
		return r, err
	})
	if err != nil {
		return fmt.Errorf("dispatcher: keep an announcement: %w", err)
	}
	return nil
}

func decodeOwed(r approval.Record) (announceBody, error) { //nolint:gocritic // A record is handed on as it is.
	b := announceBody{Version: 1, Owed: []owed{}}
	if r.Body == nil {
		return b, nil
	}
	if err := strictjson.Unmarshal(r.Body, &b); err != nil {
		return b, fmt.Errorf("dispatcher: read the announcements: %w", err)
	}
	if b.Version != 1 {
		return b, errors.New("dispatcher: the record of the announcements is from a newer vaglio")
	}
	return b, nil
}

// run tells what is owed until ctx ends.
func (c *announcer) run(ctx context.Context, d *Dispatcher) error {
	tries := 0
	for ctx.Err() == nil {
		pause, err := c.tellNext(ctx, d)
		switch {
		case err != nil && ctx.Err() == nil:
			if pause == 0 {
				pause = backoff(tries)
			}
			tries++
			d.log.With("channel", c.name).WarnContext(ctx, "an announcement failed; trying again", "pause", pause, "error", err)
		case pause == 0:
			tries = 0
			continue
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-c.kick:
		}
		timer.Stop()
	}
	return nil
}

// tellNext tells the oldest announcement that the channel owes. It returns how long to wait
// before the next one; 0 means not at all.
func (c *announcer) tellNext(ctx context.Context, d *Dispatcher) (time.Duration, error) {
	r, err := d.store.Get(ctx, approval.KindMeta, announceRecord)
	if errors.Is(err, approval.ErrNotFound) {
		return announceFor, nil
	}
	if err != nil {
		return 0, err
	}
	b, err := decodeOwed(r)
	if err != nil {
		return 0, err
	}
	at := slices.IndexFunc(b.Owed, func(o owed) bool { return slices.Contains(o.Channels, c.name) })
	if at < 0 {
		return announceFor, nil
	}
	one := b.Owed[at]
	if now().Sub(one.What.At) < announceFor {
		err = c.channel.Announce(ctx, one.What)
	}
	if retry, ok := errors.AsType[*approval.RetryError](err); ok && retry.After > 0 {
		return retry.After, err
	}
	if err != nil && !errors.Is(err, approval.ErrGone) {
		return 0, err
	}
	return 0, d.changeOwed(ctx, nil, func(b *announceBody) {
		for i := range b.Owed {
			if b.Owed[i].N == one.N {
				b.Owed[i].Channels = slices.DeleteFunc(b.Owed[i].Channels, func(name string) bool { return name == c.name })
			}
		}
		b.Owed = slices.DeleteFunc(b.Owed, func(o owed) bool { return len(o.Channels) == 0 })
	})
}
