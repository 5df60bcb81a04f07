package web

import (
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/channels/chart"
	"github.com/metnos/vaglio/templates"
)

// part is one part of the statistics: charts, and a table of all their numbers.
type part struct {
	ID    string
	Title template.HTML
	Says  []string
	// Charts become Drawings.
	Charts   []chart.Chart
	Drawings []drawing
	Table    table
	// Beside says that the table is narrow enough to go next to the charts.
	Beside bool
	// Long says that the table is too long to be shown open.
	Long bool
}

// drawing is a chart in the form a page holds it.
type drawing struct {
	// Title is empty if the part has only this one.
	Title string
	SVG   template.HTML
}

// table has the numbers of a part.
type table struct {
	Head []string
	Rows []row
}

// count adds a row that counts n calls. One that counts none is left out: the chart beside
// the table shows it.
func (t *table) count(r row, n int) {
	if n > 0 {
		t.Rows = append(t.Rows, r)
	}
}

// row is a line of a table. It links to the calls that it counts.
type row struct {
	Name  template.HTML
	Link  string
	Cells []cell
}

type cell struct{ Text, Link string }

const (
	// longTable is how many rows are shown open.
	longTable = 14
	// narrowTable is how many columns fit next to a chart.
	narrowTable = 3
)

// draw draws the charts.
func (p *part) draw() error {
	for i := range p.Charts {
		svg, err := p.Charts[i].SVG()
		if err != nil {
			return err
		}
		d := drawing{SVG: template.HTML(svg)} //nolint:gosec // The chart escapes what it writes.
		if len(p.Charts) > 1 {
			d.Title = p.Charts[i].Title
		}
		p.Drawings = append(p.Drawings, d)
	}
	p.Long, p.Beside = len(p.Table.Rows) > longTable, len(p.Table.Head) <= narrowTable
	return nil
}

// said returns a text of ours as markup.
func said(text string) template.HTML {
	return template.HTML(template.HTMLEscapeString(text)) //nolint:gosec // It was escaped.
}

// markedUp returns a text of ours that contains text from others.
func markedUp(parts []templates.Part) template.HTML {
	var b strings.Builder
	for _, p := range parts {
		if p.Theirs {
			b.WriteString("<code>" + string(brief(p.Text)) + "</code>")
		} else {
			b.WriteString(template.HTMLEscapeString(p.Text))
		}
	}
	return template.HTML(b.String()) //nolint:gosec // Every piece was escaped.
}

// over shows the verdicts over time.
func (t teller) over(s *report.Statistics) part {
	p := part{Title: said(t.Plain("web.stats.over", nil)), Says: []string{t.Plain("web.stats.over.lead", nil)}, Table: table{Head: []string{
		t.Plain("web.stats.when", nil), t.Plain("web.digest.row.judged", nil), t.Plain("chart.passed", nil),
	}}}
	stopped := chart.Chart{Title: t.Plain("chart.stopped", nil), Empty: t.Plain("chart.stopped.none", nil), Number: t.Number}
	passed := chart.Chart{Title: t.Plain("chart.passed", nil), Empty: t.Plain("chart.passed.none", nil), Number: t.Number}
	through := chart.Series{Name: passed.Title, Tone: chart.Passed}
	names := t.spans(s)
	for i := range s.Spans {
		span := &s.Spans[i]
		stopped.Categories, passed.Categories = append(stopped.Categories, names[i].short), append(passed.Categories, names[i].short)
		through.Values = append(through.Values, span.Approved)
		p.Table.Rows = append(p.Table.Rows, row{Name: said(names[i].long), Link: backFrom(span.Newest), Cells: []cell{{Text: t.Number(span.Judged())}, {Text: t.Number(span.Approved)}}})
	}
	passed.Series = []chart.Series{through}
	for _, o := range chart.Outcomes() {
		series := chart.Series{Name: t.Plain(o.Name, nil), Tone: o.Tone}
		for i := range s.Spans {
			series.Values = append(series.Values, o.Count(s.Spans[i].Guard, &s.Spans[i].Fates))
		}
		if series.Sum() == 0 {
			continue
		}
		p.Table.Head = append(p.Table.Head, series.Name)
		for i, n := range series.Values {
			p.Table.Rows[i].Cells = append(p.Table.Rows[i].Cells, cell{Text: t.Number(n)})
		}
		stopped.Series = append(stopped.Series, series)
	}
	p.Table.Head = append(p.Table.Head, t.Plain("web.stats.share", nil))
	for i := range s.Spans {
		f := &s.Spans[i].Fates
		p.Table.Rows[i].Cells = append(p.Table.Rows[i].Cells, cell{Text: share(f.Allowed, f.Allowed+f.Denied)})
	}
	for _, c := range []*chart.Chart{&stopped, &passed} {
		c.Words = t.overAlt(c)
	}
	rows := p.Table.Rows
	p.Table.Rows = nil
	for i := range s.Spans {
		p.Table.count(rows[i], s.Spans[i].Judged())
	}
	p.Charts = []chart.Chart{stopped, passed}
	return p
}

// backFrom returns the address of the history from an entry backwards, or "" if there is
// none.
func backFrom(cursor uint64) string {
	if cursor == 0 {
		return ""
	}
	return "/inbox/history?before=" + strconv.FormatUint(cursor+1, 10)
}

// overAlt describes the sums of a chart over time.
func (t teller) overAlt(c *chart.Chart) string {
	var sums []string
	for i := range c.Series {
		sums = append(sums, c.Series[i].Name+": "+t.Number(c.Series[i].Sum()))
	}
	return t.Plain("web.stats.over.alt", templates.Values{"what": strings.ToLower(c.Title), "sums": strings.Join(sums, ", ")})
}

// spanName is the label below a column, and the name in the table.
type spanName struct{ short, long string }

// spans names the parts of the window. An hour that a change of clocks repeats is given
// with its zone.
func (t teller) spans(s *report.Statistics) []spanName {
	names := make([]spanName, 0, len(s.Spans))
	before := ""
	for i := range s.Spans {
		at, last := s.Spans[i].From, s.Spans[i].To.Add(-time.Nanosecond)
		var short, long string
		switch s.Grain {
		case report.Hourly:
			short, long = at.Format("15"), t.Day(at)+", "+at.Format("15:04")
			if long == before {
				long += " " + at.Format("MST")
			} else {
				before = long
			}
		case report.Daily:
			day, month, _ := strings.Cut(t.Day(at), " ")
			short, long = day+"\n"+month, t.Weekday(at)+" "+t.Day(at)
		case report.Weekly:
			day, month, _ := strings.Cut(t.Day(at), " ")
			short, long = day+"\n"+month, t.Day(at)+" – "+t.Day(last)+" "+t.Year(last)
		case report.Monthly:
			_, month, _ := strings.Cut(t.Day(at), " ")
			short, long = month+"\n"+t.Year(at), month+" "+t.Year(at)
		}
		names = append(names, spanName{short, long})
	}
	return names
}

// usageColumns are the columns of a part about names, in addition to the names.
type usageColumns struct{ calls, guard, judges bool }

// usage shows names with what became of their calls. what is the part's name among the
// texts.
func (t teller) usage(what string, all []report.Usage) part {
	key := func(k string) string { return t.Plain(templates.Key("web.stats."+k), nil) }
	has := usageColumns{what == "executors" || what == "agents", what != "effects", what != "rules"}
	p := part{Title: said(key(what)), Says: []string{key(what + ".lead")}}
	c := chart.Chart{Kind: chart.Rows, Title: key(what), Number: t.Number, Empty: t.Plain("chart.stopped.none", nil)}
	outcomes := outcomesOf(has)
	for _, o := range outcomes {
		c.Series = append(c.Series, chart.Series{Name: t.Plain(o.Name, nil), Tone: o.Tone})
	}
	p.Table.Head = []string{key("name." + what)}
	if has.calls {
		p.Table.Head = append(p.Table.Head, t.Plain("web.digest.row.judged", nil))
	}
	if has.guard {
		p.Table.Head = append(p.Table.Head, t.Plain("chart.guard", nil))
	}
	if has.judges {
		p.Table.Head = append(p.Table.Head, t.Plain("web.digest.row.vetoed", nil), t.Plain("chart.denied", nil), t.Plain("chart.allowed", nil), key("share"))
	}
	for i := range all {
		u := &all[i]
		p.Table.Rows = append(p.Table.Rows, t.usageRow(what, u, has))
		if u.Guard+u.Vetoed() == 0 {
			continue
		}
		c.Categories = append(c.Categories, t.label(what, u.Name))
		for j, o := range outcomes {
			c.Series[j].Values = append(c.Series[j].Values, o.Count(u.Guard, &u.Fates))
		}
	}
	p.Charts = []chart.Chart{c}
	return p
}

// outcomesOf returns the outcomes that a part about names can know: all that charts have,
// so that none is the remainder of the others.
func outcomesOf(has usageColumns) []chart.Outcome {
	return slices.DeleteFunc(chart.Outcomes(), func(o chart.Outcome) bool {
		return o.Tone == chart.Guard && !has.guard || o.Tone != chart.Guard && !has.judges
	})
}

func (t teller) usageRow(what string, u *report.Usage, has usageColumns) row {
	r := row{Name: t.name(what, u.Name), Link: historyOf(what, u, "")}
	if has.calls {
		r.Cells = append(r.Cells, cell{Text: t.Number(u.Judged)})
	}
	if has.guard {
		r.Cells = append(r.Cells, cell{t.Number(u.Guard), linkIf(u.Guard, historyOf(what, u, "guard"))})
	}
	if has.judges {
		denied := cell{t.Number(u.Fates.Denied), linkIf(u.Fates.Denied, historyOf(what, u, "denied"))}
		r.Cells = append(r.Cells, cell{Text: t.Number(u.Vetoed())}, denied, cell{Text: t.Number(u.Fates.Allowed)}, cell{Text: share(u.Fates.Allowed, u.Fates.Allowed+u.Fates.Denied)})
	}
	return r
}

// name returns what a row is about; label returns the same for use below a chart.
func (t teller) name(what, name string) template.HTML {
	switch {
	case name == "":
		return said(t.Plain("web.stats.others", nil))
	case what == "effects":
		return effect(t.Texts, name)
	default:
		return "<code>" + brief(name) + "</code>"
	}
}

func (t teller) label(what, name string) string {
	switch {
	case name == "":
		return t.Plain("web.stats.others", nil)
	case what == "effects":
		return plain(t.EffectName(name))
	default:
		return plain(name)
	}
}

// historyOf returns the address of a name's calls in the history, or "" if the history has
// no filter for it.
func historyOf(what string, u *report.Usage, outcome string) string {
	field := map[string]string{"executors": "executor", "agents": "agent"}[what]
	if field == "" || !u.Whole {
		return ""
	}
	q := url.Values{field: {u.Name}}
	if outcome != "" {
		q.Set("outcome", outcome)
	}
	return "/inbox/history?" + q.Encode()
}

func linkIf(n int, link string) string {
	if n == 0 {
		return ""
	}
	return link
}
