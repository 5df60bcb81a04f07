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
			return map[string]platform.Rate{room: {Every: time.Second, AtOnce: 2}, "": {Every: time.Second / 4, AtOnce: 4}}
		}
		began := time.Now()
		sent := func(room string, want time.Duration) {
			t.Helper()
			if left := pace.Turn(t.Context(), limits(room)); left > 0 {
				t.Errorf("%s was put off for %s", room, left)
			}
			if got := time.Since(began); got != want {
				t.Errorf("a message in %s went at %s, not %s", room, got, want)
			}
		}
		for _, want := range []time.Duration{0, 0, time.Second, 2 * time.Second} {
			sent("a", want)
		}
		sent("b", 2*time.Second)
		sent("b", 2*time.Second)
		sent("c", 2*time.Second)
		sent("c", 2*time.Second+time.Second/4)
		time.Sleep(time.Hour)
		began = time.Now()
		sent("a", 0)
		sent("a", 0)
	})
}

// TestAQueueThatIsTooLong puts a message off once too many wait, even when a message that
// does not wait for its turn fills them up.
func TestAQueueThatIsTooLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var pace platform.Pace[string]
		limits := map[string]platform.Rate{"a": {Every: 4 * time.Second, AtOnce: 1}}
		pace.Turn(t.Context(), limits)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if left := pace.Turn(ended, limits); left != 4*time.Second {
			t.Errorf("a message that nobody waits for may go, or in %s", left)
		}
		pace.Ahead(limits)
		if left := pace.Turn(t.Context(), limits); left != 12*time.Second {
			t.Errorf("a message in a long queue is to come back in %s", left)
		}
	})
}
