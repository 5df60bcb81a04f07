package web_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/internal/race"
)

// numbers returns the table under a heading: its rows by name.
func (n tree) numbers(t *testing.T, heading string) map[string][]string {
	t.Helper()
	for _, section := range n.class("stat") {
		if section.all("h2")[0].words() != heading {
			continue
		}
		rows := map[string][]string{}
		for _, tr := range section.all("table")[0].all("tr") {
			cells := []string{}
			for _, td := range tr.all("td") {
				cells = append(cells, td.words())
			}
			if len(cells) > 0 {
				rows[tr.all("th")[0].words()] = cells
			}
		}
		return rows
	}
	t.Fatalf("the page has no part %q", heading)
	return nil
}

func TestStatisticsHaveAPage(t *testing.T) {
	race.Alone(t)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(12 * time.Hour)
		d := busy(10_000, 30)
		in := newInbox(t, d).signIn()
		for _, lang := range []string{"en", "it"} {
			for i, address := range []string{"?days=7", "?days=3660", "", "?days=1", "?days=30", "?from=1999-12-24&to=1999-12-26", "?from=1999-12-24&to="} {
				if testing.Short() && i >= 2 {
					break // the other spans differ in their numbers alone
				}
				doc := in.spoken("/inbox/statistics"+address, lang)
				if words := doc.words(); strings.Contains(words, "[web.") || strings.Contains(words, "[chart.") {
					t.Errorf("%s in %s: a text is missing: %s", address, lang, words)
				}
				parts := doc.class("stat")
				if len(parts) != 9 {
					t.Errorf("%s has %d parts", address, len(parts))
				}
				for _, p := range parts {
					for _, svg := range p.class("chart") {
						if svg.attr("role") != "img" || len(svg.attr("aria-label")) < 10 {
							t.Errorf("%s: a chart has no words: %q", address, svg.attr("aria-label"))
						}
					}
					if len(p.class("chart")) == 0 || len(p.all("table")) != 1 {
						t.Errorf("%s: a part has %d charts and %d tables", address, len(p.class("chart")), len(p.all("table")))
					}
					for _, th := range p.all("th") {
						if th.attr("scope") == "" {
							t.Errorf("%s: a heading of a table has no scope", address)
						}
					}
				}
			}
		}
		doc := in.spoken("/inbox/statistics?from=1999-12-24&to=1999-12-26", "en")
		day := doc.class("stat")[0].all("tbody")[0].all("a")[1]
		if entries := sound(t, in.get(day.attr("href"))).class("entry"); day.words() != "Sat 25 Dec" || len(entries) != 50 || !strings.Contains(entries[0].words(), "25 Dec 1999, 2") {
			t.Errorf("%s leads to %q", day.words(), entries[0].words())
		}
		over := doc.numbers(t, "Verdicts over time")
		if got := over["Sat 25 Dec"]; len(over) != 3 || len(got) != 8 || got[0] == "0" {
			t.Errorf("the table has %v", over)
		}
		if from := doc.id(t, "r-from"); from.attr("value") != "1999-12-24" || doc.id(t, "r-to").attr("value") != "1999-12-26" || from.attr("type") != "date" {
			t.Errorf("the form forgets the range: %v %v", from.Attr, doc.id(t, "r-to").Attr)
		}
		month := in.spoken("/inbox/statistics?days=30", "it")
		if rows := month.numbers(t, "I verdetti nel tempo"); len(rows) != 30 || len(month.all("details")) != 2 { // the other days, and the long table
			t.Errorf("%d days, %d long tables", len(rows), len(month.all("details")))
		}
		for _, a := range month.id(t, "main").all("a") {
			if strings.HasPrefix(a.attr("href"), "/inbox/history?") && in.get(a.attr("href")).Code != http.StatusOK {
				t.Errorf("%s leads nowhere", a.attr("href"))
			}
		}
	})
}

func TestStatisticsOfNothing(t *testing.T) {
	in := newInbox(t, newDesk()).signIn()
	doc := in.spoken("/inbox/statistics", "en")
	if words := doc.id(t, "main").words(); !strings.Contains(words, "Nothing was proposed in this time.") || len(doc.class("stat")) != 0 {
		t.Errorf("the page says %q", words)
	}
}

// TestStatisticsOfNoRange checks that an invalid range is answered with one sentence and
// the form as it was typed.
func TestStatisticsOfNoRange(t *testing.T) {
	in := newInbox(t, busy(20, 2)).signIn()
	for q, want := range map[string][2]string{
		"days=-1":                        {"“-1” is not a number of days", "r-from"},
		"days=1e3":                       {"“1e3” is not a number of days", ""},
		"days=99999":                     {"A range has 3,660 days at most", "r-from"},
		"from=&to=":                      {"Say from which day on", "r-from"},
		"to=2026-11-21":                  {"Say from which day on", "r-from"},
		"from=yesterday&to=":             {"“yesterday” is not a day: write the first day", "r-from"},
		"from=2026-01-01&to=2026-02-30":  {"“2026-02-30” is not a day: write the last day", "r-to"},
		"from=2020-02-02&to=2020-02-01":  {"The last day, 2020-02-01, is before the first one, 2020-02-02", "r-from"},
		"from=9999-01-01&to=":            {"The first day, 9999-01-01, has not come yet", "r-from"},
		"from=0001-01-01&to=":            {"A range has 3,660 days at most", "r-from"},
		"from=%3Cscript%3E%e2%80%ae&to=": {"“<script>⟨U+202E⟩” is not a day", "r-from"},
	} {
		rec := in.get("/inbox/statistics?" + q)
		if rec.Code != http.StatusBadRequest {
			t.Errorf("%s: got %d", q, rec.Code)
			continue
		}
		doc := sound(t, rec)
		if got := doc.id(t, "mistake"); !strings.HasPrefix(got.words(), want[0]) || got.attr("role") != "alert" || strings.Count(got.words(), ". ") > 0 {
			t.Errorf("%s: the page says %q", q, got.words())
		}
		typed, _ := url.ParseQuery(q)
		for name := range typed {
			if name == "days" || strings.Contains(q, "script") {
				continue
			}
			if field := doc.id(t, "r-"+name); field.attr("value") != typed.Get(name) {
				t.Errorf("%s: the field %s holds %q", q, name, field.attr("value"))
			}
		}
		if want[1] != "" && !strings.Contains(q, "days") && doc.id(t, want[1]).attr("aria-invalid") != "true" {
			t.Errorf("%s: the field %s does not say that it is wrong", q, want[1])
		}
		if len(doc.class("stat")) != 0 {
			t.Errorf("%s has numbers", q)
		}
		if it := in.spoken("/inbox/statistics?"+q, "it").id(t, "mistake").words(); strings.Contains(it, "[") || it == doc.id(t, "mistake").words() {
			t.Errorf("%s in Italian: %q", q, it)
		}
	}
}

// TestStatisticsForNobody checks that somebody who leaves while the records are read gets
// no answer, and that nothing is logged.
func TestStatisticsForNobody(t *testing.T) {
	in := newInbox(t, busy(20, 2)).signIn()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if rec := in.do(in.request(http.MethodGet, "/inbox/statistics", nil).WithContext(ctx)); rec.Body.Len() != 0 {
		t.Errorf("got %s", rec.Body)
	}
}
