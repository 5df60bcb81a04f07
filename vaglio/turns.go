package vaglio

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// Only a few large calls are read at a time, so that many at once need no more memory than a
// few. Sizes are in bytes of the arguments' text.
const (
	// smallCall is the largest call that never waits for its turn.
	smallCall = 32 << 10
	// readAtOnce is the total size of the large calls that are read at a time. A larger call
	// is read alone.
	readAtOnce = 2 << 20
)

// turns makes large calls wait for their turn to be read. Its zero value is not ready to use.
type turns struct{ weighted *semaphore.Weighted }

func newTurns() turns { return turns{semaphore.NewWeighted(readAtOnce)} }

// take waits until a call of that size may be read, and returns a function that ends its
// turn. Its error is ctx's.
func (t turns) take(ctx context.Context, size int) (done func(), err error) {
	if size <= smallCall {
		return func() {}, nil
	}
	weight := int64(min(size, readAtOnce))
	if err := t.weighted.Acquire(ctx, weight); err != nil {
		return nil, err
	}
	return func() { t.weighted.Release(weight) }, nil
}
