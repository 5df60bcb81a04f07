package dispatcher

import (
	"testing"
	"time"
)

// TestWhicheverClockIsFirstRings simulates setting the wall clock: it gives the alarm a
// wall-clock deadline that has moved relative to the monotonic one.
func TestWhicheverClockIsFirstRings(t *testing.T) {
	now := time.Now()
	for name, tt := range map[string]struct {
		wall, monotonic time.Duration // until the alarm's instant
		held            time.Duration
		rings           bool
	}{
		"neither":        {time.Hour, time.Hour, 0, false},
		"both":           {-time.Second, -time.Second, 0, true},
		"clock set back": {time.Hour, -time.Second, 0, true},
		"machine slept":  {-time.Second, time.Hour, 0, true},
		"held":           {-time.Second, -time.Second, time.Minute, false},
		"held long ago":  {-time.Hour, -time.Hour, -time.Second, true},
	} {
		al := alarm{ask: "a", deadline: now.Round(0).Add(tt.wall), rings: now.Add(tt.monotonic)}
		if tt.held != 0 {
			al.held = now.Add(tt.held)
		}
		if left := al.left(now); (left <= 0) != tt.rings {
			t.Errorf("%s: %v are left", name, left)
		}
	}
}

// TestAnAlarmIsOnBothClocks sets an alarm as the dispatcher does.
func TestAnAlarmIsOnBothClocks(t *testing.T) {
	a := alarms{kick: make(chan struct{}, 1)}
	before := time.Now()
	for range 2 {
		if a.set("a", before.Round(0).Add(time.Hour)); len(a.queue) != 1 {
			t.Fatalf("%d alarms wait", len(a.queue))
		}
	}
	al := a.queue[0]
	if al.deadline.Sub(before.Round(0)) != time.Hour || al.rings.String() == al.rings.Round(0).String() { // String shows both clocks
		t.Errorf("got %v and %v: the second must be on the monotonic clock", al.deadline, al.rings)
	}
	if in := al.rings.Sub(before); in < 59*time.Minute || in > 61*time.Minute {
		t.Errorf("it rings after %v", in)
	}
	if _, rings, nap := a.next(before); rings || nap != 30*time.Second { // A machine's sleep can go unnoticed for that long.
		t.Errorf("it rang, or naps for %v", nap)
	}
	if got, rings, _ := a.next(before.Add(2 * time.Hour)); !rings || got.ask != "a" {
		t.Errorf("it did not ring")
	}
	if _, rings, _ := a.next(before.Add(2 * time.Hour)); rings {
		t.Error("it rang twice")
	}
}

// TestDeadlinesThatNobodySet checks that the default deadlines are the documented ones.
func TestDeadlinesThatNobodySet(t *testing.T) {
	want := Deadlines{30 * time.Minute, 10 * time.Minute, 10 * time.Minute, 30 * 24 * time.Hour}
	if got := (Deadlines{}).orDefault(); got != want {
		t.Errorf("they are %+v, want %+v", got, want)
	}
	own := Deadlines{1, 2, 3, 4}
	if got := own.orDefault(); got != own {
		t.Errorf("%+v became %+v", own, got)
	}
}

// TestAHeldAlarmRingsAgain checks that an alarm whose store failed rings again after a
// pause, unless a newer one was set.
func TestAHeldAlarmRingsAgain(t *testing.T) {
	now := time.Now()
	for name, tt := range map[string]struct{ newer bool }{"the only one": {false}, "with a newer one": {true}} {
		a := newAlarms()
		a.set("a", now.Add(-time.Second))
		al, rings, _ := a.next(now)
		if !rings {
			t.Fatalf("%s: it did not ring", name)
		}
		if tt.newer {
			a.set("a", now.Add(time.Hour))
		}
		a.hold(al)
		if _, rings, _ := a.next(now); rings {
			t.Errorf("%s: it rings without a pause", name)
		}
		if got, rings, _ := a.next(now.Add(time.Minute)); rings == tt.newer || rings && got.ask != "a" {
			t.Errorf("%s: after the pause it rings: %t", name, rings)
		}
	}
}

// TestAHeldAlarmHoldsUpNone checks that a postponed alarm does not delay one that is due.
func TestAHeldAlarmHoldsUpNone(t *testing.T) {
	now := time.Now()
	a := newAlarms()
	a.set("a", now.Add(-time.Minute))
	al, _, _ := a.next(now)
	a.hold(al)
	a.set("b", now.Add(-time.Second))
	if got, rings, _ := a.next(now); !rings || got.ask != "b" {
		t.Errorf("%+v rings: %t", got, rings)
	}
}
