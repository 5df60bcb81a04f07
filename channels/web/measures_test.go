package web

import (
	"testing"
	"time"
)

// TestShares checks that a share is called none or all only if it is.
func TestShares(t *testing.T) {
	for _, tt := range []struct {
		part, of int
		want     string
	}{
		{0, 0, "–"},
		{0, 7, "0%"},
		{7, 7, "100%"},
		{1, 3, "33%"},
		{2, 3, "67%"},
		{1, 200, "1%"},
		{1, 201, "<1%"},
		{1, 1_000_000, "<1%"},
		{199, 200, ">99%"},
		{999_999, 1_000_000, ">99%"},
		{1, 8, "13%"},
	} {
		if got := share(tt.part, tt.of); got != tt.want {
			t.Errorf("%d of %d: got %s, want %s", tt.part, tt.of, got, tt.want)
		}
	}
}

// TestTimesTaken checks that a time is never reported shorter than it was.
func TestTimesTaken(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 1: "1 s", time.Second: "1 s", 1001 * time.Millisecond: "2 s", 59 * time.Second: "59 s",
		59*time.Second + 1: "1 min", time.Minute: "1 min", 61 * time.Second: "1 min 1 s", 10 * time.Minute: "10 min",
		10*time.Minute + 1: "11 min", 59 * time.Minute: "59 min", 59*time.Minute + 1: "1 h", time.Hour: "1 h",
		time.Hour + time.Second: "1 h 1 min", 50*time.Hour + 30*time.Minute: "50 h 30 min",
	} {
		if got := took(d); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}
