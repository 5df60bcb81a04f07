package chart

import (
	"image/color"
	"math"
	"testing"

	"github.com/metnos/vaglio/approval/report"
)

// TestContrastOnPaper checks the contrast with paper that WCAG demands: 4.5 to 1 for words,
// and 3 to 1 for what carries a meaning.
func TestContrastOnPaper(t *testing.T) {
	for _, p := range []paint{ink(), dim()} {
		if got := contrast(p.color, paper().color); got < 4.5 {
			t.Errorf("%s has a contrast of %.2f", p.class, got)
		}
	}
	for tone := Plain; tone <= Allowed; tone++ {
		if got := contrast(tone.look().paint.color, paper().color); got < 3 {
			t.Errorf("%s has a contrast of %.2f", tone.look().paint.class, got)
		}
	}
}

// TestOutcomesDifferWithoutColors checks that no two outcomes look the same without colors.
func TestOutcomesDifferWithoutColors(t *testing.T) {
	seen := map[pattern]string{}
	for _, o := range Outcomes() {
		l := o.Tone.look()
		if other, ok := seen[l.pattern]; ok {
			t.Errorf("%s has the pattern of %s", o.Name, other)
		}
		seen[l.pattern] = string(o.Name)
	}
}

// TestEveryFateIsOfOneOutcome checks that every fate is drawn exactly once: no outcome is a
// remainder.
func TestEveryFateIsOfOneOutcome(t *testing.T) {
	drawn := map[report.Fate]int{}
	for _, o := range Outcomes() {
		for _, fate := range o.Fates {
			drawn[fate]++
		}
		if (len(o.Fates) == 0) != (o.Tone == Guard) {
			t.Errorf("%s stands for %v", o.Name, o.Fates)
		}
	}
	for _, fate := range report.EveryFate() {
		if drawn[fate] != 1 {
			t.Errorf("the fate %d is drawn %d times", fate, drawn[fate])
		}
	}
}

// TestPatternsStayInside checks that a pattern stays in its box, and appears in every box
// that is large enough.
func TestPatternsStayInside(t *testing.T) {
	for _, b := range []box{{0, 0, 12, 12}, {100.3, 7.7, 33, 150}, {18, 300, 240, 14}, {5, 5, 6, 6}} {
		for p := rising; p <= crossed; p++ {
			all := hatch(b, p)
			if len(all) == 0 && b.h > 8 {
				t.Errorf("the pattern %d is not in %v", p, b)
			}
			for _, l := range all {
				for _, at := range [][2]float64{{l.x1, l.y1}, {l.x2, l.y2}} {
					const slack = 1e-9
					if at[0] < b.x-slack || at[0] > b.x+b.w+slack || at[1] < b.y-slack || at[1] > b.y+b.h+slack {
						t.Fatalf("the pattern %d leaves %v at %v", p, b, at)
					}
				}
			}
		}
	}
}

func luminance(c color.NRGBA) float64 {
	linear := func(b uint8) float64 {
		v := float64(b) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}

func contrast(a, b color.NRGBA) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}
