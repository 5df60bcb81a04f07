package web

import (
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/channels/chart"
	"github.com/metnos/vaglio/templates"
)

// digestView is what the page of a digest shows.
type digestView struct {
	// Day is the day on which the digest was due; empty for the window that is not over.
	// Shown is the day in the field: for that window, the day on which it is due.
	Day, Shown string
	// Before and After are the days of the neighbouring digests; empty if there is none
	// yet.
	Before, After string
	// Week shows the day along with those before it.
	Week   part
	Rows   []digestRow
	Digest *report.Digest
}

// digestRow is one line of the table: the number now, and a week earlier.
type digestRow struct {
	Word        text
	Now, Before int
}

// digestLine is one line of the digest, escaped. Head begins a part.
type digestLine struct {
	Head bool
	// Sub says that the line adds to the one before it.
	Sub  bool
	Text template.HTML
}

func (w *Web) digest(rw http.ResponseWriter, r *http.Request) error {
	day := strings.TrimSpace(r.URL.Query().Get("date"))
	d, err := w.book.Digest(r.Context(), day)
	if early, ok := errors.AsType[*report.DayError](err); ok && early.Early {
		// The next digest is that of the open window.
		if open, fault := w.book.Digest(r.Context(), ""); fault == nil && w.dueNext(&open) == day {
			d, err, day = open, nil, ""
		}
	}
	if _, ok := errors.AsType[*report.DayError](err); ok {
		return &pageError{
			Status: http.StatusBadRequest, Title: text{Key: "web.fault.digest.title"}, Text: text{Key: "web.fault.digest"}, Link: "/inbox/digest",
		}
	}
	if err != nil {
		return err
	}
	week, err := weekOf(w.textsFor(r), &d)
	if err != nil {
		return err
	}
	v := digestView{Day: day, Shown: day, Before: d.Before, Week: week, Rows: digestRows(&d.Counts, &d.WeekAgo), Digest: &d}
	if day == "" {
		v.Shown = w.dueNext(&d)
	} else {
		due := d.Window.To
		v.Before = due.AddDate(0, 0, -1).Format(time.DateOnly)
		if next := due.AddDate(0, 0, 1); !next.After(time.Now()) {
			v.After = next.Format(time.DateOnly)
		}
	}
	return w.render(rw, r, page{Status: http.StatusOK, Name: "digest", Title: text{Key: "web.digest"}, Nav: "digest", Still: true, Body: v})
}

// dueNext returns the day on which the digest of the open window is due or, if none is
// sent, the day up to which it tells.
func (w *Web) dueNext(d *report.Digest) string {
	at := d.Next
	if at.IsZero() {
		at = d.Window.To
	}
	return at.In(w.zone).Format(time.DateOnly)
}

func digestRows(now, before *report.Counts) []digestRow {
	a, b := &now.Fates, &before.Fates
	rows := []digestRow{
		{text{Key: "web.digest.row.judged"}, now.Judged, before.Judged},
		{text{Key: "web.digest.row.approved"}, now.Approved, before.Approved},
		{text{Key: "web.digest.row.guard"}, now.Guard, before.Guard},
		{text{Key: "web.digest.row.vetoed"}, now.Vetoed, before.Vetoed},
	}
	for _, fate := range report.EveryFate() {
		rows = append(rows, digestRow{text{Key: templates.Key("web.digest.row." + fate.String())}, a.Of(fate), b.Of(fate)})
	}
	// What happened in neither window is not news.
	return slices.DeleteFunc(rows, func(r digestRow) bool { return r.Now == 0 && r.Before == 0 })
}

// digestLines puts the digest into words in the reader's language.
func digestLines(texts *templates.Texts, d *report.Digest) []digestLine {
	said := d.Lines()
	all := make([]digestLine, 0, len(said))
	for i := range said {
		l := &said[i]
		var b strings.Builder
		line, does := cardtext.Digested(texts, l, func(s string, _ bool) templates.Theirs { return templates.Theirs(s) })
		for n, part := range line {
			theirs := part.Kind == cardtext.Theirs
			switch id, _ := l.Values["id"].(report.Foreign); {
			case part.Deed():
				b.WriteString(string(saidOf(cardtext.Deed(texts, does))))
			case theirs && part.Text == string(id) && id != "":
				b.WriteString(`<a href="` + template.HTMLEscapeString("/inbox/ask/"+url.PathEscape(part.Text)) + `"><code>` + string(brief(part.Text)) + "</code></a>")
			case theirs:
				b.WriteString("<code>" + string(brief(part.Text)) + "</code>")
			case n == 0:
				b.WriteString(template.HTMLEscapeString(unmarked(part.Text)))
			default:
				b.WriteString(template.HTMLEscapeString(part.Text))
			}
		}
		all = append(all, digestLine{l.Head && l.Key != "checkpoint", strings.HasPrefix(b.String(), "· "), template.HTML(b.String())}) //nolint:gosec // Every piece was escaped.
	}
	return all
}

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
		for _, s := range c.Series {
			// What happened on no day is not news.
			if len(c.Series) == 1 || slices.ContainsFunc(s.Values, func(n int) bool { return n > 0 }) {
				p.column(texts, s.Name, func(day int) int { return s.Values[day] })
			}
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
