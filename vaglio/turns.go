package vaglio

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// Large calls are read a few at a time, so that many of them side by side need
// no more memory than a few. Sizes are in bytes of the arguments' text.
const (
	// smallCall is the largest call that never waits for its turn.
	smallCall = 32 << 10
	// readAtOnce is how much of large calls is read at a time. A call that is
	// larger is read alone.
	readAtOnce = 2 << 20
)

// turns lets large calls be read in turn. Its zero value is not ready for use.
type turns struct{ weighted *semaphore.Weighted }

func newTurns() turns { return turns{semaphore.NewWeighted(readAtOnce)} }

// take waits until a call of that size may be read, and gives what ends its
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
