package web

import (
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/templates"
)

// digestView is what the page of a digest shows.
type digestView struct {
	// Day is the chosen day; empty for the window that is not over.
	Day string
	// Week shows the day among those before it.
	Week   part
	Rows   []digestRow
	Digest *report.Digest
}

// digestRow is one line of the table: how many now, and a week before.
type digestRow struct {
	Word        text
	Now, Before int
}

// digestLine is one line of the digest, escaped. Head begins a part.
type digestLine struct {
	Head bool
	Text template.HTML
}

func (w *Web) digest(rw http.ResponseWriter, r *http.Request) error {
	day := strings.TrimSpace(r.URL.Query().Get("date"))
	d, err := w.book.Digest(r.Context(), day)
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
	v := digestView{Day: day, Week: week, Rows: digestRows(&d.Counts, &d.WeekAgo), Digest: &d}
	return w.render(rw, r, page{Status: http.StatusOK, Name: "digest", Title: text{Key: "web.digest"}, Nav: "digest", Still: true, Body: v})
}

func digestRows(now, before *report.Counts) []digestRow {
	a, b := &now.Fates, &before.Fates
	return []digestRow{
		{text{Key: "web.digest.row.judged"}, now.Judged, before.Judged},
		{text{Key: "web.digest.row.approved"}, now.Approved, before.Approved},
		{text{Key: "web.digest.row.guard"}, now.Guard, before.Guard},
		{text{Key: "web.digest.row.vetoed"}, now.Vetoed, before.Vetoed},
		{text{Key: "web.digest.row.allowed"}, a.Allowed, b.Allowed},
		{text{Key: "web.digest.row.denied"}, a.Denied, b.Denied},
		{text{Key: "web.digest.row.expired"}, a.Expired, b.Expired},
		{text{Key: "web.digest.row.withdrawn"}, a.Withdrawn, b.Withdrawn},
		{text{Key: "web.digest.row.superseded"}, a.Superseded, b.Superseded},
		{text{Key: "web.digest.row.waiting"}, a.Waiting, b.Waiting},
		{text{Key: "web.digest.row.repeated"}, a.Repeated, b.Repeated},
		{text{Key: "web.digest.row.unasked"}, a.Unasked, b.Unasked},
	}
}

// digestLines says the digest in the reader's language.
func digestLines(texts *templates.Texts, d *report.Digest) []digestLine {
	said := d.Lines()
	all := make([]digestLine, 0, len(said))
	for i := range said {
		l := &said[i]
		var b strings.Builder
		for _, part := range texts.Say(templates.Key("digest."+l.Key), l.Fill(texts.Word, func(s string, _ bool) any { return templates.Theirs(s) })) {
			switch id, _ := l.Values["id"].(report.Foreign); {
			case part.Theirs && part.Text == string(id) && id != "":
				b.WriteString(`<a href="` + template.HTMLEscapeString("/inbox/ask/"+url.PathEscape(part.Text)) + `"><code>` + string(brief(part.Text)) + "</code></a>")
			case part.Theirs:
				b.WriteString("<code>" + string(brief(part.Text)) + "</code>")
			default:
				b.WriteString(template.HTMLEscapeString(part.Text))
			}
		}
		all = append(all, digestLine{l.Head, template.HTML(b.String())}) //nolint:gosec // Every piece was escaped.
	}
	return all
}
