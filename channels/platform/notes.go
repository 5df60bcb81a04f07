package platform

import (
	"context"
	"fmt"
	"sync"
)

// Notes holds what a channel must remember beyond its process. Changes go to disk first,
// then to memory. It is safe for concurrent use.
type Notes[N Note[N]] struct {
	channel string
	memory  Memory[N]
	// keeping is held while the notes change. Reading takes only mu, which is not held
	// while waiting for the disk: the store's own writer asks who may decide.
	keeping sync.Mutex
	mu      sync.Mutex
	now     N
}

// Memory stores a channel's notes beyond its process.
type Memory[N any] interface {
	// Load returns the notes that were last saved, or the zero N.
	Load(ctx context.Context) (N, error)
	// Save stores the notes. If it returns nil, they are on disk.
	Save(ctx context.Context, n N) error
}

// Note is the type of the notes.
type Note[N any] interface {
	// Clone returns a copy that can be changed independently.
	Clone() N
	// Equal reports whether both are equal, so that nothing needs to be saved.
	Equal(other N) bool
}

// Open reads a channel's notes.
func Open[N Note[N]](ctx context.Context, channel string, m Memory[N]) (*Notes[N], error) {
	now, err := m.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: read the notes: %w", channel, err)
	}
	return &Notes[N]{channel: channel, memory: m, now: now}, nil
}

// Now returns the current notes. Callers must not modify them.
func (n *Notes[N]) Now() N {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.now
}

// Change changes the notes, on disk first. If the disk fails they stay as they were.
func (n *Notes[N]) Change(ctx context.Context, change func(*N)) error {
	n.keeping.Lock()
	defer n.keeping.Unlock()
	before := n.Now()
	after := before.Clone()
	change(&after)
	if after.Equal(before) {
		return nil
	}
	if err := n.memory.Save(ctx, after); err != nil {
		return fmt.Errorf("%s: keep the notes: %w", n.channel, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.now = after
	return nil
}
