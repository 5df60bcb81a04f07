package web

import (
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/templates"
)

// statisticsView is what the page of statistics shows.
type statisticsView struct {
	Form rangeForm
	// Says tells which days the numbers are for; empty if there are none.
	Says    []string
	Figures []figure
	Hints   []template.HTML
	Parts   []part
}

// figure is one number for the whole range.
type figure struct{ Name, Value, Note string }

// rangeForm is the form that asks for a range, as it was filled in.
type rangeForm struct {
	Presets  []preset
	From, To rangeField
	// Own says that the range is none of the presets: the form is unfolded.
	Own bool
	// Fault says in a sentence what is wrong with it; empty if nothing is.
	Fault string
}

// rangeField is one day of the form. An invalid day is shown in a text field, because a
// date field would hide it.
type rangeField struct {
	Kind, Value string
	Bad         bool
}

func fieldOf(value string) rangeField {
	if _, err := time.Parse(time.DateOnly, strings.TrimSpace(value)); err != nil && value != "" {
		return rangeField{Kind: "text", Value: plain(value)}
	}
	return rangeField{Kind: "date", Value: strings.TrimSpace(value)}
}

// preset is a range that takes one press.
type preset struct {
	Days   int
	Name   string
	Chosen bool
}

// usualDays is the number of days if the page names none.
const usualDays = 7

// statistics shows how the gate was used in a range of days.
func (w *Web) statistics(rw http.ResponseWriter, r *http.Request) error {
	texts, q := w.textsFor(r), r.URL.Query()
	asked, form := rangeOf(texts, q)
	p := page{Status: http.StatusOK, Name: "statistics", Title: text{Key: "web.stats"}, Nav: "statistics", Still: true}
	if form.Fault == "" {
		s, err := w.book.Statistics(r.Context(), asked)
		fault, wrong := errors.AsType[*report.RangeError](err)
		switch {
		case wrong:
			form.refuse(texts, fault)
		case r.Context().Err() != nil:
			return nil // the reader has left; there is nobody to tell
		case err != nil:
			return err
		default:
			v, err := w.statisticsOf(w.texts.In(texts.Lang(), s.Window.From.Location()), &s)
			if err != nil {
				return err
			}
			last := s.Window.To.Add(-time.Nanosecond)
			form.From, form.To = fieldOf(s.Window.From.Format(time.DateOnly)), fieldOf(last.Format(time.DateOnly))
			v.Form = form
			p.Body = v
		}
	}
	if form.Fault != "" {
		p.Status, p.Body = http.StatusBadRequest, statisticsView{Form: form}
	}
	return w.render(rw, r, p)
}

// rangeOf reads the range from the page's address, and returns the form as it was filled
// in.
func rangeOf(texts *templates.Texts, q url.Values) (report.Range, rangeForm) {
	asked := report.Range{From: q.Get("from"), To: q.Get("to")}
	form := rangeForm{From: fieldOf(asked.From), To: fieldOf(asked.To)}
	if !q.Has("from") && !q.Has("to") {
		days := strings.TrimSpace(q.Get("days"))
		n, err := strconv.Atoi(days)
		switch {
		case days == "":
			asked.Days = usualDays
		case err != nil || n < 1:
			form.Fault = texts.Plain("web.fault.range.days", templates.Values{"days": plain(days)})
		default:
			asked.Days = n
		}
	}
	for _, n := range []int{1, usualDays, 30, 365} {
		name := texts.Plain(templates.Key("web.stats.days."+strconv.Itoa(n)), nil)
		form.Presets = append(form.Presets, preset{n, name, n == asked.Days})
	}
	form.Own = asked.Days == 0 || !slices.ContainsFunc(form.Presets, func(p preset) bool { return p.Chosen })
	return asked, form
}

// refuse says what is wrong, and with which field.
func (f *rangeForm) refuse(texts *templates.Texts, e *report.RangeError) {
	f.From.Bad = e.Fault != report.RangeTo
	f.To.Bad = e.Fault == report.RangeTo || e.Fault == report.RangeOrder
	from, to := plain(strings.TrimSpace(e.Range.From)), plain(strings.TrimSpace(e.Range.To))
	switch e.Fault {
	case report.RangeOpen:
		f.Fault = texts.Plain("web.fault.range.open", nil)
	case report.RangeFrom:
		f.Fault = texts.Plain("web.fault.range.from", templates.Values{"from": from})
	case report.RangeTo:
		f.Fault = texts.Plain("web.fault.range.to", templates.Values{"to": to})
	case report.RangeOrder:
		f.Fault = texts.Plain("web.fault.range.order", templates.Values{"from": from, "to": to})
	case report.RangeAhead:
		f.Fault = texts.Plain("web.fault.range.ahead", templates.Values{"from": from})
	case report.RangeLong:
		f.Fault = texts.Plain("web.fault.range.long", templates.Values{"most": texts.Number(report.MaxRange)})
	}
}

// statisticsOf puts statistics into words in the reader's language, in the zone of the
// texts.
func (w *Web) statisticsOf(texts *templates.Texts, s *report.Statistics) (statisticsView, error) {
	says := teller{texts}
	v := statisticsView{Says: says.days(s)}
	if s.Counts.Judged+s.Counts.Errors+s.Delays.Answers == 0 {
		v.Says = append(v.Says, texts.Plain("web.stats.none", nil))
		return v, nil
	}
	v.Figures = says.figures(s)
	for _, h := range s.Hints() {
		v.Hints = append(v.Hints, says.hint(&h))
	}
	v.Parts = append(v.Parts, says.over(s), says.usage("executors", s.Executors), says.usage("effects", s.Effects))
	for i := range s.Judges {
		v.Parts = append(v.Parts, says.scores(&s.Judges[i], w.thresholds))
	}
	v.Parts = append(v.Parts, says.delays(s), says.turns(s), says.usage("agents", s.Agents), says.usage("rules", s.Rules))
	full := v.Parts[:0]
	for _, p := range v.Parts {
		if len(p.Table.Rows) == 0 {
			continue
		}
		p.ID = "s-" + strconv.Itoa(len(full)+1)
		if err := p.draw(); err != nil {
			return v, err
		}
		full = append(full, p)
	}
	v.Parts = full
	return v, nil
}

// teller puts statistics into words in a language and zone.
type teller struct{ *templates.Texts }

// days says which days the numbers are for.
func (t teller) days(s *report.Statistics) []string {
	day := func(at time.Time) string { return t.Day(at) + " " + t.Year(at) }
	told, last := day(s.Window.From), day(s.Window.To.Add(-time.Nanosecond))
	if told != last {
		told += " – " + last
	}
	says := []string{t.Plain(templates.Key("web.stats.by."+string(s.Grain)), templates.Values{"days": told})}
	if !s.Since.IsZero() {
		says = append(says, t.Plain("web.stats.since", templates.Values{"day": day(s.Since)}))
	}
	for _, u := range s.Unread {
		says = append(says, t.Plain("web.stats.unread", templates.Values{"from": u.From, "to": u.To, "part": u.Part}))
	}
	return says
}

// figures returns the numbers that a person wants first.
func (t teller) figures(s *report.Statistics) []figure {
	c, f := &s.Counts, &s.Counts.Fates
	of := func(n int) string {
		return t.Plain("web.stats.of", templates.Values{"share": share(n, c.Judged)})
	}
	all := []figure{
		{t.Plain("web.digest.row.judged", nil), t.Number(c.Judged), ""},
		{t.Plain("web.digest.row.approved", nil), t.Number(c.Approved), of(c.Approved)},
		{t.Plain("web.digest.row.guard", nil), t.Number(c.Guard), of(c.Guard)},
		{t.Plain("web.digest.row.vetoed", nil), t.Number(c.Vetoed), of(c.Vetoed)},
	}
	if n := f.Allowed + f.Denied; n > 0 {
		all = append(all, figure{
			t.Plain("web.stats.answered", nil), share(f.Allowed, n), t.Plain("web.stats.answered.of", templates.Values{"n": n}),
		})
	}
	if s.Delays.Answers > 0 {
		all = append(all, figure{t.Plain("web.stats.median", nil), took(s.Delays.Median), ""})
	}
	if c.Errors > 0 {
		all = append(all, figure{t.Plain("web.stats.errors", nil), t.Number(c.Errors), ""})
	}
	return all
}

// hint says what the numbers suggest.
func (t teller) hint(h *report.Hint) template.HTML {
	values := templates.Values{"n": t.Number(h.N)}
	switch h.Kind {
	case report.HintSpare:
		values["name"] = templates.Theirs(h.Name)
	case report.HintLax:
	case report.HintStrict, report.HintUnanswered, report.HintHasty, report.HintNight:
		values["share"] = strconv.Itoa(h.Share)
	}
	return markedUp(t.Say(templates.Key("web.stats.hint."+string(h.Kind)), values))
}

// share formats a percentage so that it never says none or all where that is not so.
func share(part, of int) string {
	if of == 0 {
		return "–"
	}
	switch n := (200*part + of) / (2 * of); {
	case n == 0 && part > 0:
		return "<1%"
	case n == 100 && part < of:
		return ">99%"
	default:
		return strconv.Itoa(n) + "%"
	}
}

// took formats a duration, rounded up, in units that read the same in every language.
func took(d time.Duration) string {
	up := func(unit time.Duration) int { return int((d + unit - 1) / unit) }
	unit := func(n, m int, big, small string) string {
		if m == 0 {
			return strconv.Itoa(n) + " " + big
		}
		return strconv.Itoa(n) + " " + big + " " + strconv.Itoa(m) + " " + small
	}
	switch {
	case d <= 59*time.Second:
		return strconv.Itoa(up(time.Second)) + " s"
	case d <= 10*time.Minute:
		n := up(time.Second)
		return unit(n/60, n%60, "min", "s")
	case d <= 59*time.Minute:
		return strconv.Itoa(up(time.Minute)) + " min"
	default:
		n := up(time.Minute)
		return unit(n/60, n%60, "h", "min")
	}
}
