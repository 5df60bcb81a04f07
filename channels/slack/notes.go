package slack

import (
	"context"
	"time"

	"github.com/metnos/vaglio/channels/platform"
)

// Memory stores the channel's notes beyond its process.
type Memory = platform.Memory[Notes]

// Notes are what the channel must remember.
type Notes struct {
	// Heard is when people could last be heard.
	Heard time.Time `json:"heard,omitzero"`
	// Digest is the reference of the message that shows the last digest.
	Digest string `json:"digest,omitempty"`
}

// Clone returns a copy of the notes.
func (n Notes) Clone() Notes { return n }

// Equal reports whether both are equal.
func (n Notes) Equal(o Notes) bool { return n.Heard.Equal(o.Heard) && n.Digest == o.Digest }

const (
	// noteEvery is how often it is recorded that people can be heard.
	noteEvery = 30 * time.Second
	// awayFor is for how long nobody must have been heard before people are told. Presses
	// of that time are lost: the platform does not redeliver them.
	awayFor = 45 * time.Second
)

// heard records that people can be heard. After a pause it tells them that what they
// pressed is lost.
func (l *loop) heard(ctx context.Context) error {
	now := time.Now().Round(0)
	before := l.notes.Now().Heard
	if !before.IsZero() && now.Sub(before) >= awayFor {
		if err := l.away(ctx, before, now); err != nil {
			return err
		}
	}
	if now.Sub(before) < noteEvery {
		return nil
	}
	return l.notes.Change(ctx, func(n *Notes) { n.Heard = now })
}

// away says that presses are lost, in each channel where something waits for one.
func (l *loop) away(ctx context.Context, from, to time.Time) error {
	waiting := map[string]int{} // by the channel's name
	for card, err := range l.desk.Pending(ctx, Name) {
		if err != nil {
			return err
		}
		for name := range card.Places {
			waiting[name]++
		}
	}
	for _, at := range l.all() {
		n := waiting[at.name]
		if n == 0 {
			continue
		}
		p := &page{texts: l.texts}
		values := map[string]any{"from": from, "to": to, "n": n}
		p.say("away", values)
		if _, err := l.send(ctx, place{channel: at.id}, p, l.texts.Plain("away", values)); err != nil {
			l.log.WarnContext(ctx, "a channel could not be warned that presses are lost", "channel", at.name, "error", err)
		}
	}
	return nil
}
