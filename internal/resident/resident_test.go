package resident

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestMemoryIsGivenBackAtRest simulates allocations and checks when memory is freed.
func TestMemoryIsGivenBackAtRest(t *testing.T) {
	const mebi = 1 << 20
	for _, c := range []struct {
		name string
		// started is what was allocated at the start.
		started uint64
		// each is what is allocated between two checks.
		each []uint64
		// freed lists the checks at which memory is freed, counted from 1.
		freed []int
	}{
		{"nothing happens", 0, []uint64{0, 0, 0}, nil},
		{"a little happens", 0, []uint64{mebi / 2, 0, mebi / 2, 0}, nil},
		{"it is busy", 0, []uint64{100 * mebi, 100 * mebi, 2 * mebi}, nil},
		{"it was busy", 0, []uint64{100 * mebi, mebi / 2, 0, 0}, []int{2}},
		{"it is busy again", 0, []uint64{20 * mebi, 0, 0, 20 * mebi, 20 * mebi, 0}, []int{2, 6}},
		{"little adds up", 0, []uint64{mebi - 1, mebi - 1, mebi - 1, mebi - 1, mebi - 1, mebi - 1, mebi - 1, mebi - 1, mebi - 1, mebi - 1, mebi - 1, mebi - 1, mebi - 1, mebi - 1, mebi - 1, mebi - 1, mebi - 1, 0}, []int{6, 12, 18}},
		{"little happens, and then nothing", 0, []uint64{2 * mebi, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, []int{7}},
		{"little happens now and then", 0, []uint64{2 * mebi, 0, 0, 2 * mebi, 0, 0, 0, 0, 2 * mebi}, nil},
		{"it has started", 1000 * mebi, []uint64{0, 0}, []int{1}},
		{"it has started, and is busy", 1000 * mebi, []uint64{2 * mebi, mebi / 2, 0}, []int{2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				var total, look atomic.Uint64
				total.Store(c.started)
				var freed []int
				done := make(chan struct{})
				go func() {
					defer close(done)
					run(ctx, total.Load, func() { freed = append(freed, int(look.Load())) })
				}()
				synctest.Wait()
				for i, n := range c.each {
					total.Add(n)
					look.Store(uint64(i + 1))
					time.Sleep(lookEvery)
					synctest.Wait()
				}
				cancel()
				<-done
				if len(freed) != len(c.freed) {
					t.Fatalf("freed at %v, want %v", freed, c.freed)
				}
				for i := range freed {
					if freed[i] != c.freed[i] {
						t.Errorf("freed at %v, want %v", freed, c.freed)
					}
				}
			})
		})
	}
}

// room keeps the allocation from being optimised away.
var room []byte

// TestAllocatedGrows checks that the runtime has a metric with the name that we use.
func TestAllocatedGrows(t *testing.T) {
	before := allocated()
	room = make([]byte, 8<<20)
	if after := allocated(); after-before < 8<<20 || before == 0 {
		t.Errorf("%d bytes before, %d after 8 MiB more", before, after)
	}
}
