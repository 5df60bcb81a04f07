package web

import (
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/channels/chart"
	"github.com/metnos/vaglio/templates"
)

// weekOf shows the digest's picture, with a table of all its numbers.
func weekOf(texts *templates.Texts, d *report.Digest) (part, error) {
	picture := chart.OfDigest(d, texts)
	p := part{
		ID: "week", Title: said(picture.Title), Says: []string{picture.Lead}, Charts: picture.Charts,
		Table: table{Head: []string{texts.Plain("web.stats.when", nil)}},
	}
	for i := range d.Week {
		from := d.Week[i].Window.From
		p.Table.Rows = append(p.Table.Rows, row{Name: said(texts.Weekday(from) + " " + texts.Day(from))})
	}
	for i := range p.Charts {
		c := &p.Charts[i]
		if len(c.Series) > 1 {
			p.column(texts, c.Title, c.Sum)
		}
		for j := range c.Series {
			p.column(texts, c.Series[j].Name, func(day int) int { return c.Series[j].Values[day] })
		}
	}
	return p, p.draw()
}

// column adds a column of numbers to the table.
func (p *part) column(texts *templates.Texts, head string, of func(row int) int) {
	p.Table.Head = append(p.Table.Head, head)
	for i := range p.Table.Rows {
		p.Table.Rows[i].Cells = append(p.Table.Rows[i].Cells, cell{Text: texts.Number(of(i))})
	}
}
