package chart_test

import (
	"bytes"
	"flag"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/channels/chart"
	"github.com/metnos/vaglio/templates"
)

var keep = flag.String("pictures", "", "folder in which to leave the pictures, to be looked at")

// digest returns a digest with the week's counts. Its days begin at 08:00 in Rome, and the
// clock is set back on the last day.
func digest(t *testing.T, days ...report.Counts) *report.Digest {
	t.Helper()
	zone := rome(t)
	h := report.Hours{Minute: 8 * 60, Zone: zone}
	d := &report.Digest{Window: h.Window(2026, time.October, 25)}
	for i, w := range append(h.Week(d.Window), d.Window) {
		day := report.Day{Window: w}
		if i < len(days) {
			day.Counts = days[i]
		}
		d.Week = append(d.Week, day)
	}
	d.Counts = d.Week[6].Counts
	return d
}

func rome(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Rome")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func texts(t *testing.T, lang templates.Lang) *templates.Texts {
	t.Helper()
	set, err := templates.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	return set.In(lang, rome(t))
}

func counts(passed, guard, denied, allowed, expired, waiting int) report.Counts {
	return report.Counts{Approved: passed, Guard: guard, Fates: report.Fates{
		Denied: denied, Allowed: allowed, Expired: expired, Waiting: waiting,
	}}
}

func usual() []report.Counts {
	return []report.Counts{
		counts(120, 2, 1, 4, 0, 0), counts(340, 3, 3, 2, 1, 0), counts(0, 0, 0, 0, 0, 0), counts(512, 1, 3, 5, 3, 0),
		counts(410, 8, 5, 12, 2, 0), counts(199, 4, 1, 3, 1, 0), counts(288, 6, 4, 9, 3, 2),
	}
}

func TestDigestPicture(t *testing.T) {
	for name, tt := range map[string]struct {
		days   []report.Counts
		lang   templates.Lang
		lead   string
		alt    []string
		words  []string
		colors bool
	}{
		"empty-en": {nil, templates.English, "18 Oct – 24 Oct 2026 · each day begins at 08:00", []string{"Nothing was stopped. Nothing passed."}, nil, false},
		"empty-it": {nil, templates.Italian, "18 ott – 24 ott 2026 · ogni giorno comincia alle 08:00", []string{"Non è stato fermato nulla. Non è passato nulla."}, []string{"Non è stato fermato nulla."}, false},
		"usual-en": {
			usual(), templates.English, "18 Oct – 24 Oct 2026 · each day begins at 08:00",
			[]string{"calls stopped: Sun 18: 7, Mon 19: 9, Tue 20: 0, Wed 21: 12, Thu 22: 27, Fri 23: 9, Sat 24: 24.", "The last day: Refused by the guard: 6, Denied: 4, Expired: 3, Still waiting: 2, Allowed once: 9.", "calls passed: Sun 18: 120"},
			[]string{"24", "27", "Refused by the guard", "Expired", "Sat"},
			true,
		},
		"usual-it": {
			usual(), templates.Italian, "18 ott – 24 ott 2026 · ogni giorno comincia alle 08:00",
			[]string{"azioni fermate: dom 18: 7, lun 19: 9", "L’ultimo giorno: Rifiutate dal guardiano: 6"},
			[]string{"24", "Scadute", "sab"},
			true,
		},
		"full-en": {
			append(usual()[:6], counts(9741, 120, 40, 98, 1, 0)), templates.English, "18 Oct – 24 Oct 2026 · each day begins at 08:00",
			[]string{"Sat 24: 259", "Sat 24: 9,741"},
			[]string{"259", "120", "98", "40"},
			true,
		},
		"full-it": {
			[]report.Counts{6: counts(0, 9999, 0, 0, 1, 0)},
			templates.Italian, "18 ott – 24 ott 2026 · ogni giorno comincia alle 08:00",
			[]string{"sab 24: 10.000", "Non è passato nulla."},
			[]string{"10.000", "0"},
			false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "full-en" {
				t.Skip("a picture takes its time; the plain run has them all")
			}
			p := chart.OfDigest(digest(t, tt.days...), texts(t, tt.lang))
			if p.Lead != tt.lead {
				t.Errorf("the lead is %q", p.Lead)
			}
			for _, want := range tt.alt {
				if !strings.Contains(p.Alt(), want) {
					t.Errorf("%q is missing from %q", want, p.Alt())
				}
			}
			said := strings.Join(told(t, svg(t, p.Charts[0])), "|")
			for _, want := range tt.words {
				if !strings.Contains("|"+said+"|", "|"+want+"|") {
					t.Errorf("%q is missing from %q", want, said)
				}
			}
			img := picture(t, *p)
			if got := dots(img, green) > 5000; got != tt.colors {
				t.Errorf("%d dots are green", dots(img, green))
			}
			// Nothing is cut off: all sides are paper, as wide as a margin.
			size := img.Bounds()
			for x := range size.Dx() {
				for _, y := range []int{0, 20, size.Dy() - 20, size.Dy() - 1} {
					if !isPaper(img.At(x, y)) {
						t.Fatalf("the picture's margin is not free at %d, %d", x, y)
					}
				}
			}
			for y := range size.Dy() {
				for _, x := range []int{0, 40, size.Dx() - 40, size.Dx() - 1} {
					if !isPaper(img.At(x, y)) {
						t.Fatalf("the picture's margin is not free at %d, %d", x, y)
					}
				}
			}
			if *keep != "" {
				var b bytes.Buffer
				if err := png.Encode(&b, img); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(*keep, name+".png"), b.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestDigestPictureOfManyDays checks a digest that covers a long outage, so that its last
// day is many days.
func TestDigestPictureOfManyDays(t *testing.T) {
	d := digest(t, usual()...)
	last := &d.Week[6].Window
	last.To = last.To.AddDate(0, 0, 9)
	p := chart.OfDigest(d, texts(t, templates.English))
	if got := p.Charts[0].Categories; p.Lead != "18 Oct – 2 Nov 2026 · each day begins at 08:00" || got[5] != "Fri\n23" || got[6] != "Sat\n24–2" {
		t.Errorf("%q %q", p.Lead, got)
	}
}

// TestOutcomesAddUp checks that every call that was stopped is in the picture, whatever its
// outcome.
func TestOutcomesAddUp(t *testing.T) {
	f := report.Fates{Allowed: 1, Denied: 2, Expired: 4, Withdrawn: 8, Superseded: 16, Waiting: 32, Repeated: 64, Unasked: 128}
	n := 0
	for _, o := range chart.Outcomes() {
		n += o.Count(256, &f)
	}
	if n != 256+f.Sum() {
		t.Errorf("%d calls of %d have an outcome", n, 256+f.Sum())
	}
}

// TestDigestPictureOfNoWeek checks that a digest without a week still has a picture, which
// depends on the digest and not on the day on which it is drawn.
func TestDigestPictureOfNoWeek(t *testing.T) {
	p := chart.OfDigest(&report.Digest{}, texts(t, templates.English))
	picture(t, *p)
	if p.Alt() != "Nothing was stopped. Nothing passed." {
		t.Error(p.Alt())
	}
}

func BenchmarkDigestPicture(b *testing.B) {
	set, err := templates.Load(nil)
	if err != nil {
		b.Fatal(err)
	}
	d := &report.Digest{}
	for i, c := range usual() {
		at := time.Date(2026, 11, 15+i, 8, 0, 0, 0, time.UTC)
		d.Week = append(d.Week, report.Day{Window: report.Window{From: at, To: at.AddDate(0, 0, 1)}, Counts: c})
	}
	n := 0
	for b.Loop() {
		png, err := chart.OfDigest(d, set.In(templates.English, time.UTC)).PNG()
		if err != nil {
			b.Fatal(err)
		}
		n = len(png)
	}
	b.ReportMetric(float64(n), "png-bytes")
}
