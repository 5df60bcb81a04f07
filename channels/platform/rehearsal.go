package platform

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/metnos/vaglio/approval"
)

// RehearsalLives is how long a test card waits: less than any platform keeps a press.
const RehearsalLives = 2 * time.Minute

// Rehearsals are a channel's ongoing rehearsals. Each waits for a press on a test card,
// which shows an operator whether presses come back, and decides nothing. The zero value
// has none.
type Rehearsals struct {
	mu   sync.Mutex
	open map[string]*Rehearsal
}

// Rehearsal is a test card that waits for its press.
type Rehearsal struct {
	// Token is the meaning of the card's button.
	Token   string
	all     *Rehearsals
	pressed chan approval.Person
}

// Open begins a rehearsal, which goes on until it is closed.
func (s *Rehearsals) Open() *Rehearsal {
	r := &Rehearsal{Token: rand.Text(), all: s, pressed: make(chan approval.Person, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[string]*Rehearsal{}
	}
	s.open[r.Token] = r
	return r
}

// Find returns the rehearsal whose card has the button, or nil if it is over.
func (s *Rehearsals) Find(token string) *Rehearsal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[token]
}

// Press reports who pressed. Only the first press counts.
func (r *Rehearsal) Press(by approval.Person) {
	select {
	case r.pressed <- by:
	default:
	}
}

// Wait returns who pressed first, or why ctx ended. hear, unless nil, receives presses
// until its context ends; if it fails before, Wait returns its error. Wait returns only
// after hear has.
func (r *Rehearsal) Wait(ctx context.Context, hear func(context.Context) error) (by approval.Person, err error) {
	hearing, stop := context.WithCancel(ctx)
	failed := make(chan error, 1)
	var heard sync.WaitGroup
	if hear != nil {
		heard.Go(func() { failed <- hear(hearing) })
	}
	defer func() { stop(); heard.Wait() }()
	select {
	case by = <-r.pressed:
		return by, nil
	case err = <-failed:
		if ctx.Err() == nil {
			return by, err
		}
	case <-ctx.Done():
	}
	return by, context.Cause(ctx)
}

// Close ends the rehearsal.
func (r *Rehearsal) Close() {
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	delete(r.all.open, r.Token)
}
