package platform

import (
	"context"
	"fmt"
	"sync"
)

// Notes keeps what a channel must remember past the process: in memory, and on
// disk first. It is safe for concurrent use.
type Notes[N Note[N]] struct {
	channel string
	memory  Memory[N]
	// keeping is held while the notes change. Reading takes only mu, which is not
	// held while the disk is waited for: the store's own writer asks who may decide.
	keeping sync.Mutex
	mu      sync.Mutex
	now     N
}

// Memory keeps a channel's notes past the process.
type Memory[N any] interface {
	// Load returns the notes that were saved last, or the zero N.
	Load(ctx context.Context) (N, error)
	// Save stores the notes. What it returned nil for is on disk.
	Save(ctx context.Context, n N) error
}

// Note is what notes are made of.
type Note[N any] interface {
	// Clone returns notes that can be changed without changing these.
	Clone() N
	// Equal reports whether both say the same, so that nothing needs to be saved.
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

// Now returns the notes as they are. Whoever reads them writes nothing in them.
func (n *Notes[N]) Now() N {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.now
}

// Change changes the notes, on disk first. Where the disk fails they stay as
// they were.
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
