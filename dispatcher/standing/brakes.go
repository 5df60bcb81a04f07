package standing

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/metnos/vaglio/approval"
)

// Brakes are the brakes that may hold, by agent, as this process last wrote or read them.
// Until they have been read once, callers wait for that.
type Brakes struct {
	// List yields the stored brakes.
	List func(context.Context) iter.Seq2[approval.Record, error]

	mu     sync.Mutex
	by     map[string]approval.Brake
	loaded bool
}

// Of returns the brake that stops the agent, or nil. An error says that it is unknown
// whether there is one.
func (s *Brakes) Of(ctx context.Context, agent string) (*approval.Brake, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.load(ctx); err != nil {
		return nil, err
	}
	for _, name := range []string{approval.Everyone, agent} {
		if b, ok := s.by[name]; ok && b.Holds(time.Now()) {
			held := b // a copy that most calls need not make
			return &held, nil
		}
	}
	return nil, nil
}

// load reads the brakes that an earlier process left. If one cannot be read, load does not
// guess: it returns the error.
func (s *Brakes) load(ctx context.Context) error {
	if s.loaded {
		return nil
	}
	by := make(map[string]approval.Brake)
	for r, err := range s.List(ctx) {
		if err != nil {
			return fmt.Errorf("read the brakes: %w", err)
		}
		b, err := approval.DecodeBrake(r.Body)
		if err != nil {
			return fmt.Errorf("read the brakes: %w", err)
		}
		by[b.Agent] = b
	}
	s.by, s.loaded = by, true
	return nil
}

// Holding returns the brakes that hold now, oldest first.
func (s *Brakes) Holding(ctx context.Context) ([]approval.Brake, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.load(ctx); err != nil {
		return nil, err
	}
	var out []approval.Brake
	for _, b := range s.by {
		if b.Holds(time.Now()) {
			out = append(out, b)
		}
	}
	slices.SortFunc(out, func(a, b approval.Brake) int { return a.At.Compare(b.At) })
	return out, nil
}

// All returns all known brakes, whether they hold or not, oldest first.
func (s *Brakes) All(ctx context.Context) ([]approval.Brake, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.load(ctx); err != nil {
		return nil, err
	}
	out := slices.Collect(maps.Values(s.by))
	slices.SortFunc(out, func(a, b approval.Brake) int { return a.At.Compare(b.At) })
	return out, nil
}

// Change writes what change makes of an agent's brake, and knows it from then on. No other change
// comes in between: change is given the brake as it is, the zero value if there is none, and
// writes what it returns. If it returns [approval.ErrKeep] it has written nothing. If writing fails
// the brake may be on disk all the same, so all are read again.
func (s *Brakes) Change(ctx context.Context, agent string, change func(known approval.Brake) (approval.Brake, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.load(ctx); err != nil {
		return err
	}
	b, err := change(s.by[agent])
	switch {
	case errors.Is(err, approval.ErrKeep):
		return err
	case err != nil:
		s.loaded = false
		return err
	}
	s.by[agent] = b
	return nil
}
