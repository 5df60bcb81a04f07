package web_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval/report"
)

// weekUpTo returns a digest whose week has these counts on its days: passed, refused by the guard,
// denied, allowed, expired and waiting.
func weekUpTo(days ...[6]int) *report.Digest {
	h := report.Hours{Minute: 8 * 60}
	d := &report.Digest{Window: h.Window(2026, time.November, 21)}
	for i, w := range append(h.Week(d.Window), d.Window) {
		day := report.Day{Window: w}
		if i < len(days) {
			n := days[i]
			f := report.Fates{Denied: n[2], Allowed: n[3], Expired: n[4], Waiting: n[5], Runs: report.Runs{Succeeded: n[3]}}
			day.Counts = report.Counts{Approved: n[0], Guard: n[1], Fates: f, Vetoed: f.Sum(), Judged: n[0] + n[1] + f.Sum()}
		}
		d.Week = append(d.Week, day)
	}
	d.Counts = d.Week[6].Counts
	return d
}

// The digest's page fits a phone and a desktop, in light and dark and in both languages, on the
// emptiest and the fullest day.
func TestBrowserDigest(t *testing.T) {
	t.Parallel()
	b := browser(t)
	for name, digest := range map[string]*report.Digest{
		"empty": weekUpTo(),
		"usual": weekUpTo([6]int{143, 2, 1, 4}, [6]int{37, 0, 0, 1}, [6]int{212, 3, 2, 7, 1}, [6]int{268, 1, 3, 5, 2}, [6]int{305, 6, 4, 11, 1}, [6]int{241, 2, 1, 6}, [6]int{288, 4, 3, 8, 1, 2}),
		"full":  weekUpTo([6]int{120, 2, 1, 4}, [6]int{}, [6]int{}, [6]int{}, [6]int{}, [6]int{199, 4, 1, 3, 1}, [6]int{9741, 120, 40, 98, 1}),
	} {
		d := newDesk()
		d.digest = digest
		for _, lang := range []string{"en", "it"} {
			in := newInbox(t, d)
			base := in.serve()
			b.speak(lang)
			b.enter(in, base)
			b.fitsEverywhere(base+"/inbox/digest", see("svg.chart"), fmt.Sprintf("digest-%s-%s", name, lang))
		}
	}
}
