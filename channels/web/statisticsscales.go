package web

import (
	"strconv"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/channels/chart"
	"github.com/metnos/vaglio/templates"
)

// scoreStep is how many hundredths a column of scores covers.
const scoreStep = 10

// scores shows how a judge graded. If its threshold is known the columns are cut there.
func (t teller) scores(s *report.Scores, thresholds map[string]float64) part {
	p := part{Title: said(t.Plain("web.stats.scores.others", nil)), Says: []string{
		t.Plain("web.stats.scores.lead", templates.Values{"n": s.Graded, "refused": t.Number(s.Refused)}),
	}}
	if s.Judge != "" {
		p.Title = markedUp(t.Say("web.stats.scores", templates.Values{"judge": templates.Theirs(s.Judge)}))
	}
	c := chart.Chart{Title: t.Plain("web.stats.scores", templates.Values{"judge": plain(s.Judge)}), Number: t.Number}
	need, known := thresholds[s.Judge]
	if known {
		const near = 0.05
		p.Says = append(p.Says, t.Plain("web.stats.scores.need", templates.Values{
			"score": t.Score(need), "step": t.Score(near),
			"below": t.Number(s.Below(need) - s.Below(need-near)), "above": t.Number(s.Below(need+near) - s.Below(need)),
		}))
		c.Mark = &chart.Mark{At: need * 100 / scoreStep, Text: t.Plain("web.stats.scores.mark", templates.Values{"score": t.Score(need)})}
		c.Series = []chart.Series{
			{Name: t.Plain("web.stats.scores.low", nil), Tone: chart.Denied}, {Name: t.Plain("web.stats.scores.high", nil), Tone: chart.Passed},
		}
	} else {
		c.Series = []chart.Series{{Name: t.Plain("web.stats.calls", nil)}}
	}
	p.Table.Head = []string{t.Plain("web.stats.scores.column", nil)}
	for i := range c.Series {
		p.Table.Head = append(p.Table.Head, c.Series[i].Name)
	}
	low := s.Below(need)
	for from := 0; from < len(s.Bins); from += scoreStep {
		first, end := float64(from)/100, float64(from+scoreStep)/100
		below := 0
		for _, n := range s.Bins[:from] {
			below += n
		}
		all := 0
		for _, n := range s.Bins[from : from+scoreStep] {
			all += n
		}
		values := []int{all}
		if known {
			n := min(all, max(0, low-below))
			values = []int{n, all - n}
		}
		r := row{Name: said(t.Score(first) + " – " + t.Score(end))}
		for j, n := range values {
			c.Series[j].Values = append(c.Series[j].Values, n)
			r.Cells = append(r.Cells, cell{Text: t.Number(n)})
		}
		c.Categories = append(c.Categories, t.Score(first))
		p.Table.count(r, all)
	}
	p.Charts = []chart.Chart{c}
	return p
}

// delays shows how long people take.
func (t teller) delays(s *report.Statistics) part {
	d := &s.Delays
	p := part{Title: said(t.Plain("web.stats.delays", nil))}
	if d.Answers == 0 {
		return p
	}
	p.Says = []string{t.Plain("web.stats.delays.lead", templates.Values{"n": d.Answers, "median": took(d.Median), "p90": took(d.P90)})}
	if d.Hasty > 0 {
		p.Says = append(p.Says, t.Plain("web.stats.delays.hasty", templates.Values{"n": d.Hasty}))
	}
	if d.AtNight > 0 {
		p.Says = append(p.Says, t.Plain("web.stats.delays.night", templates.Values{"n": d.AtNight, "from": clock(s.Night.From), "to": clock(s.Night.To)}))
	}
	p.Table.Head = []string{t.Plain("web.stats.delays.column", nil), t.Plain("web.stats.delays.count", nil), "%"}
	c := chart.Chart{Title: t.Plain("web.stats.delays", nil), Number: t.Number, Series: []chart.Series{{Name: p.Table.Head[1]}}}
	from := time.Duration(0)
	for _, w := range d.Within {
		short, long := "<"+twoLines(took(w.Limit)), took(from)+" – "+took(w.Limit)
		switch {
		case from == 0:
			long = t.Plain("web.stats.delays.under", templates.Values{"to": took(w.Limit)})
		case w.Limit == 0:
			short, long = "≥"+twoLines(took(from)), t.Plain("web.stats.delays.over", templates.Values{"from": took(from)})
		}
		from = w.Limit
		c.Categories, c.Series[0].Values = append(c.Categories, short), append(c.Series[0].Values, w.Count)
		p.Table.count(row{Name: said(long), Cells: []cell{{Text: t.Number(w.Count)}, {Text: share(w.Count, d.Answers)}}}, w.Count)
	}
	p.Charts = []chart.Chart{c}
	return p
}

// twoLines puts a unit below its number.
func twoLines(s string) string { return strings.ReplaceAll(s, " ", "\n") }

// clock returns the time of day at a minute.
func clock(minute int) string {
	return time.Date(2000, 1, 1, 0, minute, 0, 0, time.UTC).Format("15:04")
}

// turns shows how many cards a turn causes. Turns without cards are mentioned but not
// drawn: they would hide the others.
func (t teller) turns(s *report.Statistics) part {
	n := &s.Turns
	p := part{Title: said(t.Plain("web.stats.turns", nil))}
	if n.Turns == 0 || n.Cards == 0 {
		return p
	}
	p.Says = []string{t.Plain("web.stats.turns.lead", templates.Values{
		"turns": n.Turns, "cards": n.Cards - n.Loose, "most": t.Number(n.Most), "none": t.Number(n.With[0].Count),
	})}
	if n.Loose > 0 {
		p.Says = append(p.Says, t.Plain("web.stats.turns.loose", templates.Values{"n": n.Loose}))
	}
	if n.AtNight > 0 {
		p.Says = append(p.Says, t.Plain("web.stats.turns.night", templates.Values{"n": n.AtNight, "from": clock(s.Night.From), "to": clock(s.Night.To)}))
	}
	p.Table.Head = []string{t.Plain("web.stats.turns.column", nil), t.Plain("web.stats.turns.count", nil), "%"}
	c := chart.Chart{Title: t.Plain("web.stats.turns", nil), Number: t.Number, Series: []chart.Series{{Name: p.Table.Head[1]}}}
	for i, w := range n.With {
		short := strconv.Itoa(w.From)
		name := short
		switch {
		case i == len(n.With)-1:
			name = t.Plain("web.stats.turns.more", templates.Values{"n": short})
			short += "+"
		case n.With[i+1].From > w.From+1:
			name += " – " + strconv.Itoa(n.With[i+1].From-1)
			short = strings.ReplaceAll(name, " ", "")
		}
		if i > 0 {
			c.Categories, c.Series[0].Values = append(c.Categories, short), append(c.Series[0].Values, w.Count)
		}
		p.Table.count(row{Name: said(name), Cells: []cell{{Text: t.Number(w.Count)}, {Text: share(w.Count, n.Turns)}}}, w.Count)
	}
	p.Charts = []chart.Chart{c}
	return p
}
