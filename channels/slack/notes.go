package slack

import (
	"context"
	"fmt"
	"time"
)

// Memory keeps the channel's notes past the process.
type Memory interface {
	// Load returns the notes that were saved last, or the zero Notes.
	Load(ctx context.Context) (Notes, error)
	// Save stores the notes. What it returned nil for is on disk.
	Save(ctx context.Context, n Notes) error
}

// Notes are what the channel must remember.
type Notes struct {
	// Heard is when people could last be heard.
	Heard time.Time `json:"heard,omitzero"`
	// Digest is the reference of the message that shows the last digest.
	Digest string `json:"digest,omitempty"`
}

const (
	// noteEvery is how often it is written down that people can be heard.
	noteEvery = 30 * time.Second
	// awayFor is how long nobody was heard before people are told. Presses of
	// that time are lost: the platform does not bring them again.
	awayFor = 45 * time.Second
)

// heard notes that people can be heard. After a pause it tells them that what
// they pressed is lost.
func (l *loop) heard(ctx context.Context) error {
	now := time.Now().Round(0)
	l.mu.Lock()
	before := l.notes.Heard
	l.mu.Unlock()
	if !before.IsZero() && now.Sub(before) >= awayFor {
		if err := l.away(ctx, before, now); err != nil {
			return err
		}
	}
	if now.Sub(before) < noteEvery {
		return nil
	}
	return l.note(ctx, func(n *Notes) { n.Heard = now })
}

// note changes the notes, on disk first.
func (c *Channel) note(ctx context.Context, change func(*Notes)) error {
	c.noting.Lock()
	defer c.noting.Unlock()
	c.mu.Lock()
	n := c.notes
	c.mu.Unlock()
	change(&n)
	if err := c.config.Memory.Save(ctx, n); err != nil {
		return fmt.Errorf("slack: keep the notes: %w", err)
	}
	c.mu.Lock()
	c.notes = n
	c.mu.Unlock()
	return nil
}

// away tells that presses are lost, in each channel where something waits for
// one.
func (l *loop) away(ctx context.Context, from, to time.Time) error {
	waiting := map[string]int{} // by channel's name
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
			l.log.WarnContext(ctx, "a channel could not be told that presses are lost", "channel", at.name, "error", err)
		}
	}
	return nil
}
