// Package rehearsal waits for the press of a test card, which tells an operator
// whether presses come back. It decides nothing.
package rehearsal

import (
	"context"
	"crypto/rand"
	"sync"

	"github.com/metnos/vaglio/approval"
)

// Stage holds a channel's rehearsals that go on. The zero Stage has none.
type Stage struct {
	mu   sync.Mutex
	open map[string]*Rehearsal
}

// Rehearsal is a test card that waits for its press.
type Rehearsal struct {
	// Token is the meaning of the card's button.
	Token   string
	stage   *Stage
	pressed chan approval.Person
}

// Open begins a rehearsal, which goes on until it is closed.
func (s *Stage) Open() *Rehearsal {
	r := &Rehearsal{Token: rand.Text(), stage: s, pressed: make(chan approval.Person, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[string]*Rehearsal{}
	}
	s.open[r.Token] = r
	return r
}

// Find returns the rehearsal whose card has the button, or nil when it is over.
func (s *Stage) Find(token string) *Rehearsal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[token]
}

// Press tells who pressed. A second press says nothing new.
func (r *Rehearsal) Press(by approval.Person) {
	select {
	case r.pressed <- by:
	default:
	}
}

// Wait returns who pressed first, or why ctx ended. hear, if there is one, hears
// presses until its context ends; when it fails before, Wait returns its error.
// Wait returns after hear has.
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
	r.stage.mu.Lock()
	defer r.stage.mu.Unlock()
	delete(r.stage.open, r.Token)
}
