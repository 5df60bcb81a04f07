package platform_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/channels/platform"
)

// TestPace sends as much as it may in some rooms at once, and checks that no limit is
// exceeded, that nobody waits for nothing, and that a room that is busy holds up no other.
func TestPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var pace platform.Pace[string]
		limits := func(room string) map[string]platform.Rate {
			return map[string]platform.Rate{room: {Most: 2, In: time.Second}, "": {Most: 5, In: time.Second}}
		}
		began := time.Now()
		at := func(room string) time.Duration {
			t.Helper()
			if left := pace.Turn(t.Context(), limits(room)); left > 0 {
				t.Errorf("%s was put off for %s", room, left)
			}
			return time.Since(began)
		}
		for i, want := range []time.Duration{0, 0, time.Second, time.Second, 2 * time.Second} {
			if got := at("a"); got != want {
				t.Errorf("message %d went at %s, not %s", i, got, want)
			}
		}
		if got := at("b"); got != 2*time.Second {
			t.Errorf("another room's message went at %s", got)
		}
		for _, room := range []string{"c", "c", "d", "d"} {
			at(room)
		}
		if got := time.Since(began); got != 3*time.Second {
			t.Errorf("more than all rooms accept together went at %s", got)
		}
		time.Sleep(time.Hour)
		began = time.Now()
		if got := at("a"); got != 0 {
			t.Errorf("after an hour a message waited %s", got)
		}
	})
}

// TestAQueueThatIsTooLong puts a message off once too many wait, even when a message that
// does not wait for its turn fills them up.
func TestAQueueThatIsTooLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var pace platform.Pace[string]
		limits := map[string]platform.Rate{"a": {Most: 1, In: 4 * time.Second}}
		pace.Turn(t.Context(), limits)
		pace.Turn(t.Context(), limits)
		pace.Ahead(limits)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if left := pace.Turn(ended, limits); left != 4*time.Second {
			t.Errorf("a message that nobody waits for may go, or in %s", left)
		}
		if left := pace.Turn(t.Context(), limits); left != 8*time.Second {
			t.Errorf("a message in a long queue is to come back in %s", left)
		}
	})
}
