package chart

import (
	"strconv"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/templates"
)

// OfDigest returns the picture of a digest, in the language and time zone of the texts: the
// days of its week, with what was stopped, by what became of it, and what passed. It
// depends only on the digest, not on when it is drawn.
func OfDigest(d *report.Digest, texts *templates.Texts) *Picture {
	p := &Picture{Title: texts.Plain("chart.week", nil), Charts: []Chart{ofStopped(d, texts), ofPassed(d, texts)}}
	if n := len(d.Week); n > 0 {
		first, last := d.Week[0].Window.From, lastDay(d.Week[n-1].Window)
		p.Lead = texts.Plain("chart.week.lead", templates.Values{
			"from": texts.Day(first), "to": texts.Day(last), "year": texts.Year(last), "time": texts.Clock(d.Window.From),
		})
	}
	return p
}

// Alt describes in words what the picture shows.
func (p *Picture) Alt() string {
	said := make([]string, 0, len(p.Charts))
	for i := range p.Charts {
		said = append(said, p.Charts[i].Alt())
	}
	return strings.Join(said, " ")
}

// ofStopped counts what the guard and judges refused. A day is named by the date on which
// it began.
func ofStopped(d *report.Digest, texts *templates.Texts) Chart {
	c := ofWeek(d, texts, "chart.stopped", "chart.stopped.none")
	for _, o := range Outcomes() {
		s := Series{Name: texts.Plain(o.Name, nil), Tone: o.Tone}
		for i := range d.Week {
			s.Values = append(s.Values, o.Count(d.Week[i].Counts.Guard, &d.Week[i].Counts.Fates))
		}
		c.Series = append(c.Series, s)
	}
	return c.told(texts, "chart.stopped.alt")
}

// Outcome is what became of calls that were stopped, as every chart shows it.
type Outcome struct {
	Tone Tone
	Name templates.Key
	// Fates are the fates that it stands for; none stands for what the guard refused.
	Fates []report.Fate
}

// Count returns how many there were, given what the guard refused and the fates of what
// judges vetoed.
func (o *Outcome) Count(guard int, f *report.Fates) int {
	if len(o.Fates) == 0 {
		return guard
	}
	n := 0
	for _, fate := range o.Fates {
		n += f.Of(fate)
	}
	return n
}

// Outcomes returns all outcomes, from the axis outwards. Together they count every call
// that was stopped.
func Outcomes() []Outcome {
	return []Outcome{
		{Guard, "chart.guard", nil},
		{Denied, "chart.denied", []report.Fate{report.FateDenied}},
		{Expired, "chart.expired", []report.Fate{report.FateExpired}},
		{Withdrawn, "chart.withdrawn", []report.Fate{report.FateWithdrawn, report.FateSuperseded}},
		{Unasked, "chart.unasked", []report.Fate{report.FateRepeated, report.FateUnasked}},
		{Waiting, "chart.waiting", []report.Fate{report.FateWaiting}},
		{Allowed, "chart.allowed", []report.Fate{report.FateAllowed}},
	}
}

func ofPassed(d *report.Digest, texts *templates.Texts) Chart {
	c := ofWeek(d, texts, "chart.passed", "chart.passed.none")
	s := Series{Name: c.Title, Tone: Passed}
	for i := range d.Week {
		s.Values = append(s.Values, d.Week[i].Counts.Approved)
	}
	c.Series = []Series{s}
	return c.told(texts, "chart.passed.alt")
}

func ofWeek(d *report.Digest, texts *templates.Texts, title, none templates.Key) Chart {
	c := Chart{Title: texts.Plain(title, nil), Empty: texts.Plain(none, nil), Last: true, Number: texts.Number}
	for i := range d.Week {
		w := d.Week[i].Window
		day, _, _ := strings.Cut(texts.Day(w.From), " ")
		if last, _, _ := strings.Cut(texts.Day(lastDay(w)), " "); last != day {
			day += "–" + last
		}
		c.Categories = append(c.Categories, texts.Weekday(w.From)+"\n"+day)
	}
	return c
}

// lastDay returns when the last day of a window began. A digest after a long pause has a
// window of many days.
func lastDay(w report.Window) time.Time {
	// The longest day, on which clocks are set back, has 25 hours.
	if w.To.Sub(w.From) <= 25*time.Hour {
		return w.From
	}
	return w.To.Add(-24 * time.Hour)
}

// told returns the chart with its words: the sums of the days, and the breakdown of the
// last one.
func (c Chart) told(texts *templates.Texts, key templates.Key) Chart {
	last := len(c.Categories) - 1
	if c.top() == 0 {
		c.Words = c.Empty
		return c
	}
	days, parts := make([]string, 0, last+1), []string{}
	for i, name := range c.Categories {
		days = append(days, strings.ReplaceAll(name, "\n", " ")+": "+c.number(c.Sum(i)))
	}
	for i := range c.Series {
		if n := c.Series[i].at(last); n > 0 && len(c.Series) > 1 {
			parts = append(parts, c.Series[i].Name+": "+strconv.Itoa(n))
		}
	}
	c.Words = texts.Plain(key, templates.Values{"days": strings.Join(days, ", ")})
	if len(parts) > 0 {
		c.Words += " " + texts.Plain("chart.last.alt", templates.Values{"parts": strings.Join(parts, ", ")})
	}
	return c
}
