// Package resident gives back the memory that a process needed while it was busy: one
// that serves people works for moments, and runs for months beside what they work with.
package resident

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// lookEvery is how often it is looked at whether the process came to rest.
	lookEvery = 10 * time.Second
	// atRest is how much a process allocates between two looks that has little to do, in
	// bytes, and worthwhile how much it must have allocated for something to be given back.
	atRest     = 1 << 20
	worthwhile = 16 << 20
)

// Run gives back to the system what the heap no longer holds, whenever the process
// comes to rest, until ctx ends; it returns nil then.
func Run(ctx context.Context) error {
	run(ctx, allocated, debug.FreeOSMemory)
	return nil
}

// run frees once the process allocates little, after it allocated much: to start counts.
func run(ctx context.Context, allocated func() uint64, free func()) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	freed := uint64(0)
	for before := allocated(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := allocated()
		if now-before < atRest && now-freed >= worthwhile {
			free()
			now = allocated()
			freed = now
		}
		before = now
	}
}

// allocated is how many bytes the process has allocated so far, in its whole life.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
