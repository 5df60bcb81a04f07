package eval

import (
	"fmt"
	"maps"
	"slices"

	"github.com/metnos/vaglio/channels/chart"
)

// Picture draws the outcomes of the calls by label, and each judge's scores.
func (r *Result) Picture() *chart.Picture {
	p := &chart.Picture{
		Title: fmt.Sprintf("%d labelled calls", r.Calls),
		Lead:  fmt.Sprintf("agreement %.1f %%, between %.1f and %.1f with 95 %%", 100*r.Agreement, 100*r.Low, 100*r.High),
	}
	matrix := chart.Chart{Title: "What came of them, by label", Kind: chart.Rows, Empty: "none"}
	var labels []string
	for _, label := range outcomes()[:3] {
		if r.Matrix[label] != nil {
			labels = append(labels, label)
		}
	}
	matrix.Categories = labels
	tones := map[string]chart.Tone{Block: chart.Guard, Ask: chart.Denied, Pass: chart.Passed, Error: chart.Plain}
	names := map[string]string{Block: "blocked", Ask: "asked", Pass: "passed", Error: "error"}
	for _, got := range outcomes() {
		s := chart.Series{Name: names[got], Tone: tones[got]}
		for _, label := range labels {
			s.Values = append(s.Values, r.Matrix[label][got])
		}
		matrix.Series = append(matrix.Series, s)
	}
	p.Charts = append(p.Charts, matrix)
	for _, kind := range slices.Sorted(maps.Keys(r.Judges)) {
		c := chart.Chart{Title: "Scores of " + kind + ", by label", Empty: "none"}
		for tenth := range 10 {
			c.Categories = append(c.Categories, fmt.Sprintf("%.1f", float64(tenth)/10))
		}
		for _, label := range labels {
			if s := r.Judges[kind].Scores[label]; s != nil {
				c.Series = append(c.Series, chart.Series{Name: label, Tone: tones[label], Values: s.Tenths[:]})
			}
		}
		if len(c.Series) > 0 {
			p.Charts = append(p.Charts, c)
		}
	}
	return p
}
