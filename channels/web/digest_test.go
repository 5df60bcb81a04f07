package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/headline"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/vaglio/wording"
)

func TestTheDigestHasAPage(t *testing.T) {
	in := newInbox(t, full()).signIn()
	for _, lang := range []string{"en", "it"} {
		for _, address := range []string{"/inbox/digest", "/inbox/digest?date=2026-11-21"} {
			doc := in.spoken(address, lang)
			words := doc.words()
			for _, want := range []string{"41", "17", "path.auth", "ask-1", "<script>bot</script>", "Ann", "vaglio/x 41 k/+= — vaglio/x s/+="} {
				if !strings.Contains(words, want) {
					t.Errorf("%s in %s does not tell %q:\n%s", address, lang, want, words)
				}
			}
			if strings.Contains(words, "[digest") || strings.Contains(words, "[web.") || strings.Contains(words, "\u202e") {
				t.Errorf("%s in %s says\n%s", address, lang, words)
			}
			tellsItsWeek(t, doc, lang)
			if n := len(doc.all("caption")); n != 1 {
				t.Errorf("%d tables have a caption", n)
			}
			for _, th := range doc.all("th") {
				if th.attr("scope") == "" {
					t.Error("a heading of the table has no scope")
				}
			}
		}
	}
	for _, bad := range []string{"yesterday", "2999-01-01"} {
		if rec := in.get("/inbox/digest?date=" + bad); rec.Code != http.StatusBadRequest {
			t.Errorf("%s: got %d", bad, rec.Code)
		}
	}
	if rec := newInbox(t, full()).get("/inbox/digest"); rec.Code == http.StatusOK {
		t.Error("a stranger reads the digest")
	}
}

// TestTheOpenDigestHasItsDay checks that the day that is not over has a date too: that of
// the next digest. Asking for it shows what there is so far; asking for a later one is a
// mistake.
func TestTheOpenDigestHasItsDay(t *testing.T) {
	d := full()
	at := time.Date(2026, 11, 21, 15, 0, 0, 0, time.UTC)
	d.digest = &report.Digest{Window: report.Window{From: at.Add(-7 * time.Hour), To: at}, Open: true, Next: at.Add(17 * time.Hour)}
	in := newInbox(t, d).signIn()
	for _, address := range []string{"/inbox/digest", "/inbox/digest?date=2026-11-22"} {
		if got := sound(t, in.get(address)).id(t, "d-date").attr("value"); got != "2026-11-22" {
			t.Errorf("%s shows the day %q", address, got)
		}
	}
	if rec := in.get("/inbox/digest?date=2026-11-23"); rec.Code != http.StatusBadRequest {
		t.Errorf("the day after: got %d", rec.Code)
	}
}

// TestTheDigestIsInItsZone checks that days are in people's time zone, not the machine's.
func TestTheDigestIsInItsZone(t *testing.T) {
	d := full()
	c := config(d)
	c.Zone = time.FixedZone("", 13*3600+1800)
	doc := inboxOf(t, d, c).signIn().spoken("/inbox/digest", "en")
	if words := doc.words(); !strings.Contains(words, "each day begins at 21:30") || !strings.Contains(words, "20 Nov, 21:30") {
		t.Error(words)
	}
}

// tellsItsWeek checks that both charts are there, with text for those who cannot see them,
// and that the table next to them has every number.
func tellsItsWeek(t *testing.T, doc tree, lang string) {
	t.Helper()
	want := map[string][]string{
		"en": {"calls stopped: Sat 14: 3, Sun 15: 4, Mon 16: 5, Tue 17: 6, Wed 18: 7, Thu 19: 8, Fri 20: 10.", "calls passed: Sat 14: 0, Sun 15: 1,000,"},
		"it": {"azioni fermate: sab 14: 3, dom 15: 4,", "azioni passate: sab 14: 0, dom 15: 1.000,"},
	}[lang]
	drawn := 0
	for _, svg := range doc.all("svg") {
		if svg.attr("class") != "chart" {
			continue
		}
		if drawn < len(want) && (svg.attr("role") != "img" || !strings.Contains(svg.attr("aria-label"), want[drawn])) {
			t.Errorf("the chart says %q", svg.attr("aria-label"))
		}
		drawn++
	}
	if drawn != len(want) {
		t.Errorf("there are %d charts", drawn)
	}
	rows := doc.all("tr")
	if len(rows) < 8 {
		t.Fatalf("the week has %d rows", len(rows))
	}
	var cells []string
	for _, cell := range rows[7].all("th", "td") {
		cells = append(cells, cell.words())
	}
	if got := strings.Join(cells, "|"); !strings.HasSuffix(got, "|10|7|2|1|31") || !strings.Contains(got, " 20 ") {
		t.Errorf("the last day is told as %q", got)
	}
}

// TestTheIDsOfADigestLead checks that the ids of a digest link to what they name, even if
// nobody was asked.
func TestTheIDsOfADigestLead(t *testing.T) {
	in := newInbox(t, full()).signIn()
	linked := false
	for _, a := range in.spoken("/inbox/digest", "en").all("a") {
		linked = linked || a.attr("href") == "/inbox/ask/ask-1"
	}
	if !linked {
		t.Error("the id of a vetoed call leads nowhere")
	}
	for step, want := range map[string]string{"step/t-1": "/inbox/turn/bot/t-1", "step/": "/inbox/history?agent=bot&outcome=guard"} {
		if rec := in.get("/inbox/ask/" + string(approval.VetoID(step))); rec.Code != http.StatusSeeOther || rec.Header().Get("Location") != want {
			t.Errorf("%s leads to %d %s, want %s", step, rec.Code, rec.Header().Get("Location"), want)
		}
	}
	if rec := in.get("/inbox/ask/veto-none"); rec.Code != http.StatusNotFound {
		t.Errorf("a veto that there is not: %d", rec.Code)
	}
}

// TestTheDigestNamesACallAsItsCardDoes checks that a line of the page has the headline, with
// what is others' set apart and made visible, and of a call without one no more than the
// start of its command line.
func TestTheDigestNamesACallAsItsCardDoes(t *testing.T) {
	d := full()
	day, err := d.Digest(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	day.Groups = []report.VetoGroup{{Effect: "publish", Count: 2, Actions: []report.Veto{
		{ID: "ask-1", At: day.Window.From, Agent: "bot", Wanted: "echo step 1", State: approval.Denied, Headline: &headline.Headline{
			Said: wording.Sentence{wording.Say("force-pushes %s to %s", "<b>\u202e", "origin")}, Consequence: headline.Consequence{Undo: "irreversible", Reach: "shared"},
		}},
		{ID: "ask-2", At: day.Window.From, Agent: "bot", Wanted: strings.Repeat("echo step\n", 60)},
	}}}
	d.digest = &day
	in := newInbox(t, d).signIn()
	words := in.spoken("/inbox/digest", "en").words()
	for _, want := range []string{"bot: Force-pushes <b>⟨U+202E⟩ to origin · cannot be undone · touches what others use: denied", "characters in all"} {
		if !strings.Contains(words, want) {
			t.Errorf("it does not say %q:\n%s", want, words)
		}
	}
	if n := strings.Count(words, "echo step"); n > 20 {
		t.Errorf("a command line is repeated %d times", n)
	}
}
