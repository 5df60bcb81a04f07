package report_test

import (
	"errors"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval/report"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func TestRangesAreDaysOfTheZone(t *testing.T) {
	// In Rome it is already tomorrow.
	now := time.Date(2026, 11, 20, 23, 30, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		r        report.Range
		from, to string
	}{
		"Today":     {report.Range{Days: 1}, "2026-11-20T23:00Z", "2026-11-21T23:00Z"},
		"Week":      {report.Range{Days: 7}, "2026-11-14T23:00Z", "2026-11-21T23:00Z"},
		"Month":     {report.Range{Days: 30}, "2026-10-22T22:00Z", "2026-11-21T23:00Z"},
		"One":       {report.Range{From: "2026-10-25", To: " 2026-10-25 "}, "2026-10-24T22:00Z", "2026-10-25T23:00Z"},
		"UntilNow":  {report.Range{From: "2026-03-29"}, "2026-03-28T23:00Z", "2026-11-21T23:00Z"},
		"Ahead":     {report.Range{From: "2026-11-21", To: "2026-12-01"}, "2026-11-20T23:00Z", "2026-12-01T23:00Z"},
		"TenYears":  {report.Range{From: "2016-11-13", To: "2026-11-20"}, "2016-11-12T23:00Z", "2026-11-20T23:00Z"},
		"DaysFirst": {report.Range{Days: 1, From: "x"}, "2026-11-20T23:00Z", "2026-11-21T23:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := tt.r.Window(now, zone(t, "Europe/Rome"))
			const minute = "2006-01-02T15:04Z07:00"
			if err != nil || w.From.Format(minute) != tt.from || w.To.Format(minute) != tt.to {
				t.Errorf("got %v, %v", w, err)
			}
		})
	}
}

func TestRangesThatAreNone(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for r, want := range map[report.Range]report.RangeFault{
		{}:                                     report.RangeOpen,
		{To: "2026-11-01"}:                     report.RangeOpen,
		{From: "yesterday"}:                    report.RangeFrom,
		{From: "2026-02-30"}:                   report.RangeFrom,
		{From: "21.11.2026", To: "x"}:          report.RangeFrom,
		{From: "2026-11-01", To: "now"}:        report.RangeTo,
		{From: "2026-11-02", To: "2026-11-01"}: report.RangeOrder,
		{From: "2026-11-22", To: "2026-11-30"}: report.RangeAhead,
		{From: "0001-01-01", To: "9999-12-31"}: report.RangeLong,
		{From: "2016-11-12", To: "2026-11-20"}: report.RangeLong,
		{Days: -1}:                             report.RangeLong,
		{Days: 1 << 40}:                        report.RangeLong,
	} {
		_, err := r.Window(now, nil)
		e, ok := errors.AsType[*report.RangeError](err)
		if !ok || e.Fault != want || e.Error() == "" {
			t.Errorf("%+v: got %v", r, err)
		}
	}
}

// TestCutsAreOfTheZone checks that windows are cut where a clock or calendar unit begins in
// the zone, in every zone and on every day.
func TestCutsAreOfTheZone(t *testing.T) {
	for name, tt := range map[string]struct {
		zone, from, to string
		grain          report.Grain
		parts          int
		first          time.Duration
	}{
		"Plain":       {"Europe/Rome", "2026-11-21", "2026-11-21", report.Hourly, 24, time.Hour},
		"RomeSpring":  {"Europe/Rome", "2026-03-29", "2026-03-29", report.Hourly, 23, time.Hour},
		"RomeAutumn":  {"Europe/Rome", "2026-10-25", "2026-10-25", report.Hourly, 25, time.Hour},
		"YorkAutumn":  {"America/New_York", "2026-10-31", "2026-11-01", report.Hourly, 49, time.Hour},
		"HalfAnHour":  {"Australia/Lord_Howe", "2026-04-05", "2026-04-05", report.Hourly, 25, time.Hour},
		"Kathmandu":   {"Asia/Kathmandu", "2026-04-05", "2026-04-05", report.Hourly, 24, time.Hour},
		"RomeWeek":    {"Europe/Rome", "2026-10-19", "2026-10-25", report.Daily, 7, 24 * time.Hour},
		"Autumn":      {"Europe/Rome", "2026-10-25", "2026-10-31", report.Daily, 7, 25 * time.Hour},
		"TwoMonths":   {"Europe/Rome", "2026-03-01", "2026-05-01", report.Daily, 62, 24 * time.Hour},
		"NineWeeks":   {"UTC", "2026-03-01", "2026-05-02", report.Weekly, 10, 24 * time.Hour},
		"LongYear":    {"UTC", "2025-01-01", "2026-01-14", report.Weekly, 55, 5 * 24 * time.Hour},
		"LongerYear":  {"UTC", "2025-01-01", "2026-01-15", report.Monthly, 13, 31 * 24 * time.Hour},
		"Year":        {"Europe/Rome", "2026-01-01", "2026-12-31", report.Weekly, 53, 4 * 24 * time.Hour},
		"MidWeek":     {"UTC", "2026-08-09", "2026-11-21", report.Weekly, 16, 24 * time.Hour},
		"Years":       {"Europe/Rome", "2024-01-31", "2026-03-01", report.Monthly, 27, 24 * time.Hour},
		"LeftOutDay":  {"Pacific/Apia", "2011-12-29", "2012-01-02", report.Daily, 4, 24 * time.Hour},
		"NoMidnight":  {"America/Sao_Paulo", "2018-11-03", "2018-11-05", report.Daily, 3, 24 * time.Hour},
		"NoMidnights": {"Africa/Cairo", "2026-04-22", "2026-04-24", report.Daily, 3, 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			z := zone(t, tt.zone)
			w, err := report.Range{From: tt.from, To: tt.to}.Window(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), z)
			if err != nil {
				t.Fatal(err)
			}
			parts := w.Cut(w.Grain(), z)
			if w.Grain() != tt.grain || len(parts) != tt.parts || parts[0].To.Sub(parts[0].From) != tt.first {
				t.Errorf("%d parts by the %s, the first of %v", len(parts), w.Grain(), parts[0].To.Sub(parts[0].From))
			}
			for i, p := range parts {
				if i > 0 && p.From != parts[i-1].To || !p.From.Before(p.To) {
					t.Errorf("part %d is %v", i, p)
				}
				local := p.From.In(z)
				if local.Minute() != 0 && tt.zone != "Australia/Lord_Howe" || i > 0 && local.Day() == p.From.Add(-1).In(z).Day() && tt.grain != report.Hourly ||
					i > 0 && tt.grain == report.Weekly && local.Weekday() != time.Monday ||
					i > 0 && tt.grain == report.Monthly && local.Day() != 1 {
					t.Errorf("part %d begins at %v", i, local)
				}
			}
			if parts[0].From != w.From || parts[len(parts)-1].To != w.To {
				t.Errorf("%v is cut from %v to %v", w, parts[0].From, parts[len(parts)-1].To)
			}
		})
	}
}

// FuzzRange checks that whatever somebody types is either a range that can be cut and
// charted, or refused with a reason.
func FuzzRange(f *testing.F) {
	for _, seed := range []struct {
		days     int
		from, to string
		zone     uint8
	}{
		{7, "", "", 0},
		{0, "2026-03-29", "2026-03-29", 0},
		{0, "2011-12-30", "2011-12-30", 1},
		{0, "2018-11-04", "2018-11-04", 2},
		{0, "9999-12-31", "9999-12-31", 3},
		{0, "0000-01-01", "", 0},
		{3660, "x", "\x00", 4},
		{0, "2016-02-29", "2026-02-29", 4},
	} {
		f.Add(seed.days, seed.from, seed.to, seed.zone)
	}
	now := time.Date(2026, 11, 21, 23, 30, 0, 0, time.UTC)
	var zones []*time.Location
	for _, name := range []string{"Europe/Rome", "Pacific/Apia", "America/Sao_Paulo", "Africa/Cairo", "Australia/Lord_Howe"} {
		z, err := time.LoadLocation(name)
		if err != nil {
			f.Fatal(err)
		}
		zones = append(zones, z)
	}
	f.Fuzz(func(t *testing.T, days int, from, to string, zone uint8) {
		z := zones[int(zone)%len(zones)]
		w, err := report.Range{Days: days, From: from, To: to}.Window(now, z)
		if err != nil {
			if e, ok := errors.AsType[*report.RangeError](err); !ok || e.Error() == "" {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		// A day that a zone skipped has no part.
		parts := w.Cut(w.Grain(), z)
		if w.To.Before(w.From) || len(parts) > 125 {
			t.Fatalf("%v has %d parts", w, len(parts))
		}
		at := w.From
		for _, p := range parts {
			if p.From != at || !p.From.Before(p.To) {
				t.Fatalf("%v follows %v", p, at)
			}
			at = p.To
		}
		if at != w.To {
			t.Fatalf("the parts of %v end at %v", w, at)
		}
	})
}
