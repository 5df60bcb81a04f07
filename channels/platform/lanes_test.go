package platform_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/metnos/vaglio/channels/platform"
)

// TestLanes checks that a lane keeps its order, delays no other lane, and is bounded.
func TestLanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l platform.Lanes
		slow, did := make(chan struct{}), []int{}
		l.Do("slow", func() { <-slow })
		for i := range 3 {
			l.Do("slow", func() { did = append(did, i) })
		}
		quick := false
		l.Do("quick", func() { quick = true })
		synctest.Wait()
		if !quick || len(did) > 0 {
			t.Errorf("the quick lane did its work: %v; behind the slow one was done: %v", quick, did)
		}
		room := 0
		for l.Do("slow", func() {}) {
			room++
		}
		if room != 97 {
			t.Errorf("%d more found room behind three", room)
		}
		close(slow)
		l.Wait()
		if !slices.Equal(did, []int{0, 1, 2}) {
			t.Errorf("done in the order %v", did)
		}
		hold := make(chan struct{})
		lanes := 0
		for l.Do(string(rune('a'+lanes)), func() { <-hold }) {
			lanes++
		}
		if lanes != 100 {
			t.Errorf("%d lanes", lanes)
		}
		close(hold)
		l.Wait()
		if !l.Do("slow", func() {}) {
			t.Error("lanes that are empty take room")
		}
		l.Wait()
	})
}
