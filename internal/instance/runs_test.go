package instance

import (
	"testing"
	"time"

	"github.com/metnos/vaglio/store/storetest"
)

// TestACrashIsRemembered goes through runs of which some end cleanly.
func TestACrashIsRemembered(t *testing.T) {
	t.Parallel()
	r := Runs{storetest.NewMemory()}
	start := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	for hour, tt := range []struct{ crashed, ends bool }{
		{false, true}, {false, false}, {true, false}, {true, true}, {false, true},
	} {
		crashed, err := r.Begin(t.Context(), start.Add(time.Duration(hour)*time.Hour))
		if err != nil || crashed != tt.crashed {
			t.Errorf("run %d begins after a crash: %t, %v; want %t", hour, crashed, err, tt.crashed)
		}
		if !tt.ends {
			continue
		}
		if err := r.End(t.Context()); err != nil {
			t.Error(err)
		}
	}
	all, err := r.Crashes(t.Context())
	if err != nil || len(all) != 2 || !all[0].Began.Equal(start.Add(time.Hour)) || !all[0].Noticed.Equal(start.Add(2*time.Hour)) || !all[1].Noticed.Equal(start.Add(3*time.Hour)) {
		t.Errorf("remembered are %+v, %v", all, err)
	}
	for range 2 * crashesKept {
		if _, err := r.Begin(t.Context(), start.AddDate(0, 0, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := r.Crashes(t.Context()); err != nil || len(all) != crashesKept {
		t.Errorf("after very many %d are remembered, %v", len(all), err)
	}
}
